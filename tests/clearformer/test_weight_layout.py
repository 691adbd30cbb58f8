"""``prepare_for_generation`` turns wide weights in memory; they stay so wherever they go, and only strides tell it."""

import copy
import inspect
import io
from dataclasses import replace
from functools import partial

import pytest
import torch
from clearformer import from_pretrained, save_pretrained
from clearformer.checkpoint import load_model
from clearformer.experts import MixtureOfExperts
from clearformer.generation import generate, prepare_for_generation
from clearformer.losses import next_token_loss
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.optimization import adamw
from clearformer.training import TrainConfig, train
from torch import nn

CONFIG = GPTConfig(19, 12, 8, 2, 2)
TRAINING = TrainConfig(n_steps=4, batch_size=2, learning_rate=1e-2, warmup_steps=0, min_lr_ratio=1.0)


def wide_layers(model: nn.Module) -> list[nn.Linear]:
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    return [layer for layer in layers if layer.out_features > layer.in_features]


def assert_turned(model: nn.Module, n_layers: int) -> None:
    layers = wide_layers(model)
    assert len(layers) == n_layers
    assert all(layer.weight.t().is_contiguous() for layer in layers)
    narrow = {id(p) for p in model.parameters()} - {id(layer.weight) for layer in layers}
    assert all(p.is_contiguous() for p in model.parameters() if id(p) in narrow)


def row_by_row(model: nn.Module) -> nn.Module:
    for parameter in model.parameters():
        parameter.data = parameter.data.contiguous()
    return model


def batch(n: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    rows = torch.randint(CONFIG.n_vocab, (n, 9), generator=generator)
    return rows[:, :-1], rows[:, 1:]


def prepared_gpt(config: GPTConfig = CONFIG) -> GPT:
    return prepare_for_generation(GPT(config).eval())


def test_wide_weights_are_turned_and_others_are_not():
    """Catches a layer that is left out: qkv and the hidden layer of each block, and the head; in groups and experts."""
    assert_turned(prepared_gpt(), 2 * 2 + 1)
    assert_turned(prepare_for_generation(Seq2Seq(Seq2SeqConfig(19, 12, 8, 2, 1))), 2 + 3 + 1)
    experts = replace(CONFIG, n_kv_heads=1, feed_forward=partial(MixtureOfExperts, n_experts=3), tied=False)
    assert_turned(prepared_gpt(experts), 2 * (1 + 3) + 1)


def test_no_value_and_no_logit_changes():
    """Catches turned shapes or values, and a tied weight that becomes two."""
    model, ids = GPT(CONFIG).eval(), torch.randint(19, (2, 7))
    before, logits = {name: w.clone() for name, w in model.state_dict().items()}, model(ids)
    assert prepare_for_generation(model) is model
    after = model.state_dict()
    assert list(after) == list(before) and all(after[name].equal(weight) for name, weight in before.items())
    assert model.head.weight is model.tokens.weight
    torch.testing.assert_close(model(ids), logits)
    assert torch.equal(generate(model, ids, 5), generate(row_by_row(copy.deepcopy(model)), ids, 5))


def test_what_is_no_module_is_refused():
    unchecked = inspect.unwrap(prepare_for_generation)  # without the types that the suite checks
    with pytest.raises(TypeError, match=r"prepare_for_generation: model='gpt2', expected a torch\.nn\.Module"):
        unchecked("gpt2")


@pytest.mark.parametrize(
    "travel",
    [
        copy.deepcopy,
        lambda model: model.to(torch.bfloat16),
        lambda model: (model.load_state_dict(row_by_row(GPT(CONFIG)).state_dict()), model)[1],
    ],
    ids=["copied", "converted", "loaded"],
)
def test_the_layout_is_kept(travel):
    """Catches a way of weights by which they come to lie row by row again, and generation is slow without a word."""
    model = travel(prepared_gpt())
    assert_turned(model, 5)
    assert model.head.weight is model.tokens.weight


def test_the_layout_is_kept_in_pickles_and_leaves_folders_as_they_are(tmp_path):
    """Catches files that depend on how weights lie in memory."""
    model = prepared_gpt()
    save_pretrained(model, tmp_path / "turned")
    save_pretrained(row_by_row(copy.deepcopy(model)), tmp_path / "rows")
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("turned", "rows")]
    assert files[0] == files[1]
    stream = io.BytesIO()
    torch.save(model, stream)
    unpickled = torch.load(io.BytesIO(stream.getvalue()), weights_only=False)
    assert_turned(unpickled, 5)
    for other in (unpickled, from_pretrained(tmp_path / "turned")):
        assert all(a.equal(b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_a_run_goes_on_exactly_with_turned_weights(tmp_path):
    """Catches a resumed run whose moments lie row by row under turned weights: the fused kernel mixes them up."""
    whole, half = prepared_gpt(), prepared_gpt()
    half.load_state_dict(whole.state_dict())
    resumed, fresh = prepared_gpt(), prepared_gpt()
    expected = train(whole, next_token_loss, batch, TRAINING, progress=False)
    run = {"loss": next_token_loss, "batch": batch, "folder": tmp_path, "progress": False}
    train(half, config=replace(TRAINING, n_steps=2), **run)
    history = train(resumed, config=TRAINING, resume=True, **run)
    assert history.losses == expected.losses
    load_model(tmp_path, fresh)
    for model in (resumed, fresh):
        assert_turned(model, 5)
        assert all(a.equal(b) for a, b in zip(whole.parameters(), model.parameters(), strict=True))


@pytest.mark.parametrize("of", ["gradients", "moments"])
def test_the_fused_optimizer_meets_numbers_in_one_order(of):
    """Catches numbers that lie otherwise than their weight: PyTorch's fused AdamW pairs them wrongly, in silence."""
    results = []
    for prepare in (nn.Module.train, prepare_for_generation):
        torch.manual_seed(0)
        model = prepare(nn.Linear(3, 5))
        optimizer = adamw(model, TRAINING)
        for _ in range(2):
            for parameter in model.parameters():
                gradient = torch.randn(parameter.shape)
                like = torch.empty_like(parameter).copy_(gradient)
                parameter.grad = gradient if of == "gradients" else like
            optimizer.step()
            if of == "moments":
                state = optimizer.state[model.weight]
                state["exp_avg"] = state["exp_avg"].contiguous()
        results.append([p.detach().contiguous() for p in model.parameters()])
    torch.testing.assert_close(*results, rtol=0, atol=0)


def test_gradients_lie_as_their_weights_and_add_up():
    """Catches gradients, of a tied weight from two places, that are copied at each step or added up wrongly."""
    model, ids = prepared_gpt().double(), torch.randint(19, (2, 7))
    rows = row_by_row(copy.deepcopy(model))
    for either in (model, rows):
        for _ in range(2):
            next_token_loss(either, ids, ids).backward()
    for (name, p), q in zip(model.named_parameters(), rows.parameters(), strict=True):
        assert p.grad.stride() == p.stride(), name
        torch.testing.assert_close(p.grad, q.grad)
