"""What holds for all models: input that none of them accepts, named in the message."""

import copy
import pickle

import pytest
import torch
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.validate import check_ids, check_images
from torch import nn

from tests.library.models import on_meta

B, N, V, POSITIONS = 3, 7, 37, 11
IDS = torch.zeros(B, N, dtype=torch.long)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (IDS + V, ValueError, "id 37 is outside the vocabulary, expected 0 to 36"),
        (IDS - 1, ValueError, "id -1 is outside the vocabulary"),
        (IDS.float(), TypeError, r"ids are torch\.float32"),
        (IDS.bool(), TypeError, r"ids are torch\.bool"),
        (IDS[:0], ValueError, r"shape \(0, 7\)"),
        (IDS[:, :0], ValueError, r"shape \(3, 0\)"),
        (IDS[0], ValueError, r"shape \(7,\)"),
        (IDS.repeat(1, 2), ValueError, "14 tokens, but the model has n_positions=11"),
    ],
)
def test_bad_ids_are_named(ids, error, message):
    with pytest.raises(error, match=f"GPT: .*{message}"):
        check_ids("GPT", ids, V, POSITIONS)


def test_good_ids_pass_and_a_cache_takes_room():
    check_ids("GPT", IDS.int() + V - 1, V, N)
    check_ids("GPT", IDS, V, POSITIONS, start=4)
    check_ids("GPT", IDS.to("meta"), V, N)
    with pytest.raises(ValueError, match="12 tokens, but the model has n_positions=11"):
        check_ids("GPT", IDS, V, POSITIONS, start=5)


IMAGES = torch.zeros(B, 2, 12, 12)


@pytest.mark.parametrize(
    ("images", "error", "message"),
    [
        (IMAGES.byte(), TypeError, r"images are torch\.uint8"),
        (IMAGES[0], ValueError, r"shape \(2, 12, 12\), expected .* \(at least 1, 2, 12, 12\)"),
        (IMAGES[:0], ValueError, r"shape \(0, 2, 12, 12\)"),
        (IMAGES[:, :1], ValueError, r"shape \(3, 1, 12, 12\)"),
        (IMAGES[..., 1:], ValueError, r"shape \(3, 2, 12, 11\)"),
    ],
)
def test_bad_images_are_named(images, error, message):
    with pytest.raises(error, match=f"ViT: .*{message}"):
        check_images("ViT", images, 2, 12)
    check_images("ViT", IMAGES, 2, 12)


TIED = {
    "GPT": lambda: GPT(GPTConfig(V, POSITIONS, 8, 2, 1)),
    "BERT": lambda: BERT(BERTConfig(V, POSITIONS, 8, 2, 1)),
    "Seq2Seq": lambda: Seq2Seq(Seq2SeqConfig(V, POSITIONS, 8, 2, 1)),
}


@pytest.mark.parametrize("name", TIED)
def test_weights_that_are_assigned_stay_tied(name):
    """Catches an embedding and a head that are trained apart once a model was built on "meta", and copies of it."""
    built, weights = on_meta(TIED[name]), TIED[name]().state_dict()
    for model in (built, copy.deepcopy(built), pickle.loads(pickle.dumps(built))):
        model.load_state_dict(weights, assign=True)
        assert model.head.weight is model.tokens.weight and not model.head.weight.is_meta
        model.head.weight = nn.Parameter(model.head.weight + 1)  # untied by its owner
        model.load_state_dict(model.state_dict())
        assert torch.equal(model.head.weight, model.tokens.weight + 1)
        model.head = nn.Sequential(model.head)
        model.load_state_dict(model.state_dict())


def test_a_gpt_that_is_not_tied_is_loaded_as_it_is():
    model = GPT(GPTConfig(V, POSITIONS, 8, 2, 1, tied=False))
    model.head.weight.data.copy_(model.tokens.weight)
    model.load_state_dict(model.state_dict(), assign=True)
    assert model.head.weight is not model.tokens.weight
