"""The weights that plots show are those of the model's own run, for every model."""

from functools import partial

import pytest
import torch
from clearbook.attention_maps import attention_weights
from clearbook.head_scores import diagonal_score
from clearformer.attention import attend_fused, attend_linear, attend_recurrent
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.pretrained.convert import NoHead
from clearformer.pretrained.folders import ARCHITECTURES
from torch import nn

B, N, S = 2, 5, 7
IDS, SOURCE, IMAGES = torch.randint(0, 37, (B, N)), torch.randint(0, 37, (B, S)), torch.randn(B, 2, 12, 12)
SELF = {f"encoder.blocks.{i}.attention": (B, 4, N, N) for i in range(2)}
CASES = {
    "GPT": (lambda: GPT(GPTConfig(37, 11, 24, 4, 2)), (IDS,), {k.replace("en", "de", 1): v for k, v in SELF.items()}),
    "BERT": (lambda: BERT(BERTConfig(37, 11, 24, 4, 2)), (IDS,), SELF),
    "ViT": (lambda: ViT(ViTConfig(12, 4, 2, 3, 24, 4, 2)), (IMAGES,), {k: (B, 4, 10, 10) for k in SELF}),
    "MAE": (
        lambda: MAE(MAEConfig(12, 4, 2, 24, 4, 2, 20, 5, 1)),
        (IMAGES,),
        {k: (B, 4, 3, 3) for k in SELF} | {"decoder.blocks.0.attention": (B, 5, 10, 10)},
    ),
    "Seq2Seq": (
        lambda: Seq2Seq(Seq2SeqConfig(37, 11, 24, 4, 2, n_decoder_layers=1)),
        (SOURCE, IDS),
        {k: (B, 4, S, S) for k in SELF}
        | {"decoder.blocks.0.attention": (B, 4, N, N), "decoder.blocks.0.cross": (B, 4, N, S)},
    ),
}


@pytest.mark.parametrize("kind", ["BERT", "GPT"])
def test_a_model_without_a_head_has_maps_of_its_body(kind):
    """Catches a call that a model loaded without a head refuses."""
    build, inputs, shapes = CASES[kind]
    model = build()
    model.head = NoHead(model, ARCHITECTURES["bert" if kind == "BERT" else "gpt2"])
    assert {name: tuple(w.shape) for name, w in attention_weights(model, *inputs).items()} == shapes


@pytest.mark.parametrize("name", CASES)
def test_every_attention_of_a_model_is_seen(name):
    build, inputs, shapes = CASES[name]
    model = build()
    weights = attention_weights(model, *inputs)
    assert {key: tuple(A.shape) for key, A in weights.items()} == shapes and list(weights) == list(shapes)
    for A in weights.values():
        torch.testing.assert_close(A.sum(-1), torch.ones(A.shape[:-1]))
    layers = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    assert all(layer.attend is attend_fused and not layer._forward_hooks for layer in layers)


def test_the_weights_are_those_that_made_the_output():
    model = BERT(BERTConfig(37, 11, 24, 4, 1)).double()
    layer, inputs = model.encoder.blocks[0].attention, []
    handle = layer.register_forward_pre_hook(lambda module, args: inputs.append(args[0]))
    (A,) = attention_weights(model, IDS).values()
    handle.remove()
    v = layer.qkv(inputs[0])[..., 48:].unflatten(-1, (4, 6)).transpose(1, 2)
    torch.testing.assert_close(layer.out((A @ v).transpose(1, 2).flatten(2)), layer(inputs[0])[0])


def gpt(attend):
    torch.manual_seed(0)
    return GPT(GPTConfig(37, 11, 24, 4, 2, n_kv_heads=2), attention=partial(MultiHeadAttention, attend=attend))


def test_the_weights_of_another_attention_are_its_own():
    """Catches a softmax that is shown where the model has none, and the output of another model with it."""
    seen, model = [], gpt(attend_linear)
    for block in model.decoder.blocks:
        block.attention.register_forward_hook(lambda module, args, output: seen.append(output[1]))
    model(IDS)
    for attend in (attend_linear, attend_recurrent):
        for A, expected in zip(attention_weights(gpt(attend), IDS).values(), seen, strict=True):
            torch.testing.assert_close(A, expected)


def test_an_attention_without_weights_is_named():
    model = gpt(lambda *args, **options: attend_fused(*args, **options))
    before = model.decoder.blocks[0].attention.attend
    with pytest.raises(ValueError, match=r"lambda.* in decoder\.blocks\.0\.attention gave None, expected the weights"):
        attention_weights(model, IDS)
    assert model.decoder.blocks[0].attention.attend is before


def test_a_failed_run_leaves_the_model_as_it_was():
    model = BERT(BERTConfig(37, 11, 24, 4, 1))
    with pytest.raises(ValueError, match="id 99"):
        attention_weights(model, IDS * 0 + 99)
    assert model.encoder.blocks[0].attention.attend is attend_fused


def test_a_model_without_attention_is_named():
    with pytest.raises(ValueError, match="Linear holds no MultiHeadAttention"):
        attention_weights(nn.Linear(2, 3), torch.ones(1, 2))


def test_the_diagonal_score_finds_the_head_that_does():
    """Catches an offset that is one too large or small, rows and columns swapped, and targets that do not count."""
    A = torch.rand(2, 3, 6, 6).tril().softmax(-1)
    for n in range(6):
        A[:, 1, n] = torch.eye(6)[max(n - 2, 0)]  # this head always looks two back
    scores = diagonal_score({"first": torch.rand(2, 3, 6, 6), "second": A}, 2, 3)
    assert scores.shape == (2, 3) and scores[1].argmax() == 1 and scores[1, 1] == 1
    by_hand = torch.stack([A[:, 0, n, n - 2] for n in range(3, 6)]).mean()
    torch.testing.assert_close(scores[1, 0], by_hand)
    assert diagonal_score({"": A}, 3, 3)[0, 1] == 0 and diagonal_score({"": A}, 1, 1)[0, 1] == pytest.approx(1 / 5)


def test_the_diagonal_score_leaves_out_what_has_no_source_so_far_back():
    A = torch.rand(2, 3, 6, 6)
    assert torch.equal(diagonal_score({"": A}, 4, 1), diagonal_score({"": A}, 4, 4))
    with pytest.raises(ValueError, match="with 3 targets and 8 sources, expected as many"):
        diagonal_score({"": torch.rand(1, 2, 3, 8)}, 5)


@pytest.mark.parametrize(("distance", "first"), [(6, 0), (-1, 0), (1, 6)])
def test_the_diagonal_score_refuses_a_distance_without_targets(distance, first):
    with pytest.raises(ValueError, match=f"distance={distance}, first={first} with 6 targets and 6 sources"):
        diagonal_score({"": torch.eye(6)[None, None]}, distance, first)
