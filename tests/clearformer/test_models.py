"""What holds for all models: input that none of them accepts, named in the message."""

import copy
import dataclasses
import math
import pickle

import pytest
import torch
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAEConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.validate import check_ids, check_images
from clearformer.models.vit import ViTConfig
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.models import on_meta
from tests.clearformer.refusals import refusal

B, N, V, POSITIONS = 3, 7, 37, 11
IDS = torch.zeros(B, N, dtype=torch.long)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (IDS + V, ValueError, r"id 37 .*\b0 to 36\b"),
        (IDS - 1, ValueError, "id -1 is outside"),
        (IDS.float(), TypeError, r"ids are torch\.float32"),
        (IDS.bool(), TypeError, r"ids are torch\.bool"),
        (IDS.byte(), TypeError, r"torch\.uint8, .*int64 or int32"),
        (IDS[:0], ValueError, r"shape \(0, 7\)"),
        (IDS[:, :0], ValueError, r"shape \(3, 0\)"),
        (IDS[0], ValueError, r"shape \(7,\)"),
        (IDS.repeat(1, 2), ValueError, "14 tokens, .*n_positions=11"),
    ],
)
def test_bad_ids_are_named(ids, error, message):
    with pytest.raises(error, match=f"GPT: .*{message}"):
        check_ids("GPT", ids, V, POSITIONS)


@pytest.mark.parametrize(
    "model", [GPT(GPTConfig(V, 9, 8, 2, 1)), BERT(BERTConfig(V, 9, 8, 2, 1)).encode], ids=["GPT", "BERT"]
)
def test_ids_on_another_device_are_refused(model):
    """Catches memory that nobody has written, which PyTorch returns for ids on "meta"."""
    with pytest.raises(ValueError, match=r'on meta, .*on cpu\b.*ids\.to\("cpu"\)'):
        model(IDS.to("meta"))


SIZES = {"n_vocab": 7, "n_positions": 8, "d_model": 8, "n_heads": 2, "n_layers": 1}
CONFIGS = {
    GPTConfig: SIZES,
    BERTConfig: SIZES,
    Seq2SeqConfig: SIZES,
    ViTConfig: SIZES | {"image_size": 8, "patch_size": 4, "n_channels": 1, "n_classes": 3},
    MAEConfig: SIZES
    | {"image_size": 8, "patch_size": 4, "n_channels": 1}
    | {"d_decoder": 8, "n_decoder_heads": 2, "n_decoder_layers": 1},
}


def config_of(kind, **changes):
    """A configuration without the checks of types that the tests add."""
    names = [field.name for field in dataclasses.fields(kind)]
    config = kind(**{name: value for name, value in CONFIGS[kind].items() if name in names})
    for name, value in changes.items():
        object.__setattr__(config, name, value)
    config.__post_init__()
    return config


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("wrong", [0, -1, 2.5, "7", None, True, [1]])
def test_a_size_that_is_no_whole_number_from_1_on_is_named(kind, wrong):
    """Catches an error of PyTorch's, a model of nothing, and one that is built from True."""
    for name, value in CONFIGS[kind].items():
        if name in {field.name for field in dataclasses.fields(kind)}:
            assert isinstance(value, int)
            message = f"{kind.__name__}: {name}=.*a whole number of at least 1"
            with pytest.raises((TypeError, ValueError), match=message):
                config_of(kind, **{name: wrong})


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (GPTConfig, {"eps": -1.0}, r"eps=-1\.0, .*at least 0"),
        (GPTConfig, {"eps": math.nan}, "eps=nan"),
        (GPTConfig, {"d_ff": 0}, "d_ff=0, .*at least 1"),
        (GPTConfig, {"tied": 1}, "tied=1, expected True or False"),
        (GPTConfig, {"rope": True}, "rope=True .*bool, .*to call"),
        (GPTConfig, {"activation": "gelu"}, "activation='gelu' is of type str"),
        (ViTConfig, {"n_class_tokens": -1}, "n_class_tokens=-1, .*at least 0"),
        (ViTConfig, {"position_std": -0.1}, "position_std=-0.1"),
        (MAEConfig, {"mask_ratio": 1.5}, r"mask_ratio=1\.5, .*0 and 1"),
        (Seq2SeqConfig, {"padding": 7}, r"padding=7, .*\b0 to 6\b"),
        (Seq2SeqConfig, {"scale": math.inf}, "scale=inf"),
    ],
)
def test_what_else_a_configuration_refuses(kind, changes, message):
    """Catches norms of NaN, a width of 0 that is taken for 4 D, and a token that is not in the vocabulary."""
    with pytest.raises((TypeError, ValueError), match=message):
        config_of(kind, **changes)


@pytest.mark.parametrize("kind", CONFIGS)
def test_what_a_configuration_leaves_open_is_filled_in_the_model_and_stays_open_in_it(kind):
    """Catches a width that stays what it was when the model's width is changed."""
    config = config_of(kind)
    assert config.d_ff is None and config.filled().d_ff == 32
    assert dataclasses.replace(config, d_model=16).filled().d_ff == 64


def test_good_ids_pass_and_a_cache_takes_room():
    check_ids("GPT", IDS.int() + V - 1, V, N)
    check_ids("GPT", IDS, V, POSITIONS, start=4)
    check_ids("GPT", IDS.to("meta"), V, N)
    assert refusal(ValueError, check_ids, "GPT", IDS, V, POSITIONS, start=5) == snapshot(
        "GPT: 12 tokens, but the model has n_positions=11. Keep the last 11, or build the model with more positions."
    )


IMAGES = torch.zeros(B, 2, 12, 12)


@pytest.mark.parametrize(
    ("images", "error", "message"),
    [
        (IMAGES.byte(), TypeError, r"images are torch\.uint8"),
        (IMAGES[0], ValueError, r"shape \(2, 12, 12\).*at least 1, 2, 12, 12\)"),
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
