"""Adapters: beside which maps they stand, what learns, what a checkpoint holds, and that merging changes nothing."""

import copy
import dataclasses
import inspect

import pytest
import torch
from clearformer import checkpoint
from clearformer.generation import generate
from clearformer.lora import LowRank, adapters, add_lora, merge_lora
from clearformer.losses import next_token_loss
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.training import TrainConfig, train
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal

V, N, D = 13, 9, 24
CONFIG = TrainConfig(5, 4, learning_rate=0.01)


def model_of(**changes):
    torch.manual_seed(1)
    return random_module(GPT(GPTConfig(V, N, D, 4, 2, **changes)))


def adapted(rank=3, **options):
    model = model_of()
    add_lora(model, rank, **options)
    for layer in adapters(model).values():
        nn.init.normal_(layer.B, std=0.2)
    return model


def rows(n, generator):
    ids = torch.randint(V, (n, N), generator=generator)
    return ids, ids.roll(-1, 1)


def test_an_adapter_begins_as_the_map_and_merges_into_one():
    """Catches a B that is not zero, a base that is trained, and a product added the wrong way round."""
    base, x = nn.Linear(5, 7), torch.randn(3, 5)
    before = base(x)
    layer = LowRank(base, 2)
    torch.testing.assert_close(layer(x), before)
    assert {name for name, p in layer.named_parameters() if p.requires_grad} == {"A", "B"}
    nn.init.normal_(layer.B)
    adapted = layer(x)
    torch.testing.assert_close(layer.merged()(x), adapted)
    assert torch.equal(layer(x), adapted) and torch.equal(base(x), before)  # merging is no change of either


@pytest.mark.parametrize("bias", [True, False])
def test_cross_attention_takes_an_adapter_too(bias):
    """Catches an adapter without a weight, of which cross-attention takes the rows of queries, keys and values."""
    layer, x, source = MultiHeadAttention(6, 2, bias=bias), torch.randn(2, 3, 6), torch.randn(2, 5, 6)
    layer.qkv = LowRank(layer.qkv, 2)
    nn.init.normal_(layer.qkv.B)
    output, _ = layer(x, source)
    assert all(g.abs().max() > 0 for g in torch.autograd.grad(output.sum(), (layer.qkv.A, layer.qkv.B)))
    layer.qkv = layer.qkv.merged()
    torch.testing.assert_close(output, layer(x, source)[0])


def test_an_adapter_has_the_precision_of_its_map():
    layer = LowRank(nn.Linear(5, 7).bfloat16(), 2)
    assert layer(torch.randn(3, 5).bfloat16()).dtype == layer.merged().weight.dtype == torch.bfloat16


def test_every_linear_map_of_the_blocks_and_nothing_else_learns():
    """Catches a head or an embedding that still learns, and a block that is left out."""
    model = model_of()
    before, x = copy.deepcopy(model), torch.randint(V, (2, N))
    names = add_lora(model, 3)
    parts = ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.down")
    assert names == [f"decoder.blocks.{i}.{part}" for i in range(2) for part in parts]
    assert {n for n, p in model.named_parameters() if p.requires_grad} == {f"{n}.{m}" for n in names for m in "AB"}
    assert torch.equal(model(x), before(x))


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["qkv"], ["decoder.blocks.0.attention.qkv", "decoder.blocks.1.attention.qkv"]),
        (
            ["attention.out", "1.feed_forward.up"],
            [f"decoder.blocks.{i}.attention.out" for i in (0, 1)] + ["decoder.blocks.1.feed_forward.up"],
        ),
        (["decoder.blocks.0.feed_forward.down"], ["decoder.blocks.0.feed_forward.down"]),
    ],
)
def test_targets_are_the_ends_of_names(targets, expected):
    model = model_of()
    assert add_lora(model, 2, targets=targets) == expected == list(adapters(model))


def test_a_scale_multiplies_what_is_added():
    torch.manual_seed(0)
    layer = LowRank(nn.Linear(5, 7), 2, scale=2.5)
    nn.init.normal_(layer.B)
    x = torch.randn(3, 5)
    torch.testing.assert_close(layer(x), layer.linear(x) + 2.5 * (x @ (layer.B @ layer.A).T))
    torch.testing.assert_close(layer(x), layer.merged()(x))


def test_merged_the_model_is_one_of_its_kind_and_gives_the_same():
    """Catches an adapter that is left, and a weight whose name has changed."""
    model, x = adapted(scale=0.7), torch.randint(V, (2, N))
    expected, written = model(x), generate(model, x[:, :3], 4)
    merge_lora(model)
    torch.testing.assert_close(model(x), expected, rtol=0, atol=1e-10)
    assert torch.equal(generate(model, x[:, :3], 4), written)
    assert model.state_dict().keys() == model_of().state_dict().keys() and not adapters(model)


def test_a_checkpoint_of_adapters_holds_them_alone_and_resumes_bitwise(tmp_path):
    """Catches a run of a few numbers whose checkpoints weigh as much as the model."""
    config = dataclasses.replace(CONFIG, save_every=2)
    whole = train(adapted(), next_token_loss, rows, config, progress=False)
    stops = lambda n_done, loss: n_done == 3  # noqa: E731
    train(adapted(), next_token_loss, rows, config, folder=tmp_path, after_step=stops, progress=False)
    model = adapted()
    history = train(model, next_token_loss, rows, config, folder=tmp_path, resume=True, progress=False)
    assert history.losses == whole.losses
    held = {name for name in checkpoint.load(tmp_path)[0] if name.startswith("model.")}
    assert held == {f"model.{name}.{letter}" for name in adapters(model) for letter in "AB"}


def test_a_map_that_stands_in_two_places_has_one_adapter():
    """Catches two adapters for one weight, of which merging would keep one."""
    model = model_of()
    model.decoder.blocks.append(model.decoder.blocks[0])
    add_lora(model, 2, targets=["qkv"])
    first, _, again = (block.attention.qkv for block in model.decoder.blocks)
    assert first is again
    x = torch.randint(V, (2, N))
    nn.init.normal_(first.B)
    expected = model(x)
    merge_lora(model)
    torch.testing.assert_close(model(x), expected, rtol=0, atol=1e-10)


def test_a_model_of_another_kind_takes_adapters():
    model = random_module(BERT(BERTConfig(V, N, D, 4, 2)))
    assert len(add_lora(model, 2, targets=["qkv"])) == 2


def test_what_cannot_be_adapted_is_named():
    plain = inspect.unwrap(add_lora)
    assert refusal(ValueError, plain, model_of(), 2, targets=["q_proj"]) == snapshot(
        "add_lora: no linear map is called 'q_proj', expected some of down, head, out, qkv, up."
    )
    assert refusal(ValueError, plain, model_of(), 2, targets=[]) == snapshot(
        "add_lora: targets=[] names no linear map, expected at least one."
    )
    assert refusal(ValueError, plain, model_of(), 2, targets=["head"]) == snapshot(
        "add_lora: the weight of head is tied to that of another module, expected maps with a weight of their own. Leave it out."
    )
    assert refusal(ValueError, plain, model_of(), 0) == snapshot(
        "LowRank: rank=0, expected a whole number of at least 1."
    )
    assert refusal(ValueError, plain, adapted(), 2) == snapshot(
        "add_lora: the model has adapters already, expected none. Call merge_lora(model) before."
    )
    assert refusal(ValueError, plain, nn.Linear(2, 3), 2) == snapshot(
        "add_lora: the model has no blocks with linear maps. Name some: targets=[...]."
    )
    assert refusal(TypeError, plain, "gpt2", 2) == snapshot(
        "add_lora: model='gpt2', expected a torch.nn.Module, such as GPT(config)."
    )
    assert refusal(TypeError, plain, model_of(), 2, targets="qkv") == snapshot(
        "add_lora: targets='qkv' is of type str, expected the ends of names, such as ['qkv']."
    )
    assert refusal(ValueError, plain, model_of(), 2, scale=float("nan")) == snapshot(
        "LowRank: scale=nan, expected finite."
    )
    assert refusal(ValueError, merge_lora, model_of()) == snapshot(
        "merge_lora: the model has no adapters, expected some of add_lora or load_lora."
    )
    assert refusal(TypeError, inspect.unwrap(LowRank.__init__), LowRank.__new__(LowRank), 3, 2) == snapshot(
        "LowRank: linear=3, expected a torch.nn.Linear."
    )


def test_an_untied_head_takes_an_adapter():
    model = model_of(tied=False)
    assert add_lora(model, 2, targets=["head"]) == ["head"]


def test_a_map_that_stands_in_two_places_gets_one_adapter_in_both():
    """Catches a second place that keeps the map alone, whichever of its names is the target."""
    shared = nn.Linear(3, 3)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    assert add_lora(model, 2, targets=["2", "0"]) == ["0", "2"]
    assert isinstance(model[2], LowRank) and model[0] is model[2]
