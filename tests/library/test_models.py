"""What holds for all models: no graph breaks, and input that none of them accepts, named in the message."""

import subprocess
import sys

import pytest
import torch
from clearformer.models.validate import check_ids, check_images

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


@pytest.mark.slow
def test_the_compiler_finds_no_graph_break():
    """In a process of its own: the shape checks of the test run are not part of the library."""
    script = """
import torch
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig
ids, images = torch.randint(1, 37, (3, 7)), torch.randn(3, 2, 12, 12)
models = {
    GPT(GPTConfig(37, 11, 24, 4, 2)): (ids,),
    BERT(BERTConfig(37, 11, 24, 4, 2)): (ids, (ids != 0)[:, None, None], torch.zeros_like(ids)),
    ViT(ViTConfig(12, 4, 2, 5, 24, 6, 3)): (images,),
    MAE(MAEConfig(12, 4, 2, 24, 6, 2, 20, 5, 3)): (images,),
    Seq2Seq(Seq2SeqConfig(37, 11, 24, 4, 2, padding=0)): (ids, ids),
}
for model, inputs in models.items():
    found = torch._dynamo.explain(model)(*inputs)
    print(type(model).__name__, found.graph_count, found.graph_break_count)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    expected = [f"{name} 1 0" for name in ("GPT", "BERT", "ViT", "MAE", "Seq2Seq")]
    assert done.stdout.splitlines() == expected, done.stdout + done.stderr
