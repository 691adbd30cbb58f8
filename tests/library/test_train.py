"""The training loop: learning rate, decay groups, clipping, accumulation, evaluation, and what it refuses."""

import dataclasses
import math
import random
import re

import numpy as np
import pytest
import torch
from clearformer import checkpoint
from clearformer.training import TrainConfig, adamw, learning_rate, train
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

CONFIG = TrainConfig(n_steps=7, batch_size=6, learning_rate=0.02, warmup_steps=3)


def network(n_hidden=5, dropout=0.0, dtype=torch.float64):
    torch.manual_seed(2)
    return nn.Sequential(
        nn.Linear(3, n_hidden), nn.LayerNorm(n_hidden), nn.Tanh(), nn.Dropout(dropout), nn.Linear(n_hidden, 2)
    ).to(dtype)


def batch(n, generator):
    x = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    return x, x[:, :2].sin()


def loss(model, x, y):
    return (model(x) - y).square().mean()


def run(config=CONFIG, model=None, **options):
    model = network() if model is None else model
    return model, train(model, loss, batch, config, **{"progress": False} | options)


def test_the_learning_rate_is_the_formula():
    config = TrainConfig(n_steps=11, batch_size=1, learning_rate=0.4, warmup_steps=3, min_lr_ratio=0.25)
    expected = [0.4 / 3, 0.8 / 3, 0.4] + [0.1 + 0.15 * (1 + math.cos(math.pi * i / 8)) for i in range(8)]
    assert [learning_rate(step, config) for step in range(11)] == pytest.approx(expected, abs=1e-15)
    assert [learning_rate(step, config) for step in (11, 16, 22)] == pytest.approx([0.1] * 3)  # it does not rise again
    assert learning_rate(0, dataclasses.replace(config, warmup_steps=0)) == 0.4


def test_only_what_has_two_axes_decays_and_every_parameter_is_there_once():
    model = network()
    model[4].weight.requires_grad_(False)
    decayed, spared = adamw(model, dataclasses.replace(CONFIG, weight_decay=0.3)).param_groups
    assert [decayed["weight_decay"], spared["weight_decay"]] == [0.3, 0.0]
    assert [p is model[0].weight for p in decayed["params"]] == [True]
    assert {id(p) for p in spared["params"]} == {id(p) for p in model.parameters() if p.dim() == 1}


def test_each_step_has_its_learning_rate_and_no_gradient_above_the_clip():
    """Catches a schedule that is never applied, one group forgotten, and clipping after the step or not at all."""
    seen = []

    def look(optimizer, *_):
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        norm = torch.stack([p.grad.norm() for p in parameters]).norm()
        seen.append(([group["lr"] for group in optimizer.param_groups], float(norm)))

    hook = register_optimizer_step_pre_hook(look)
    try:
        run(dataclasses.replace(CONFIG, max_grad_norm=0.01))
    finally:
        hook.remove()
    assert [rates for rates, _ in seen] == [[learning_rate(step, CONFIG)] * 2 for step in range(7)]
    assert [norm for _, norm in seen] == pytest.approx([0.01] * 7, rel=1e-3)


def test_accumulated_parts_are_the_whole_batch():
    whole, parts = (run(dataclasses.replace(CONFIG, batch_size=b, grad_accum_steps=a)) for b, a in ((6, 1), (2, 3)))
    assert parts[1].losses == pytest.approx(whole[1].losses, abs=1e-12)
    for a, b in zip(whole[0].parameters(), parts[0].parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_every_step_and_every_seed_has_rows_of_its_own():
    seen = []

    def recorded(n, generator):
        seen.append(batch(n, generator))
        return seen[-1]

    for seed in (0, 1, 0):
        train(network(), loss, recorded, dataclasses.replace(CONFIG, seed=seed), progress=False)
    first_rows = [tuple(x[0].tolist()) for x, _ in seen]
    assert len(set(first_rows[:14])) == 14 and first_rows[14:] == first_rows[:7]


def test_it_learns_and_leaves_the_callers_random_numbers_alone():
    torch.manual_seed(8)
    expected = torch.rand(4)
    model = network(dropout=0.2)
    torch.manual_seed(8)
    losses = run(dataclasses.replace(CONFIG, n_steps=120), model)[1].losses
    assert torch.equal(torch.rand(4), expected)
    assert sum(losses[-10:]) < 0.7 * sum(losses[:10])
    assert not model.training
    assert losses == run(dataclasses.replace(CONFIG, n_steps=120), network(dropout=0.2))[1].losses
    assert losses != run(dataclasses.replace(CONFIG, n_steps=120, seed=1), network(dropout=0.2))[1].losses


def test_evaluation_comes_every_n_steps_and_at_the_end_without_changing_the_run():
    def evaluate(model):
        assert not model.training and not torch.is_grad_enabled()
        return torch.rand(()).item()

    plain = run(model=network(dropout=0.2))[1]
    history = run(dataclasses.replace(CONFIG, eval_every=3), network(dropout=0.2), evaluate=evaluate)[1]
    assert list(history.evaluations) == [3, 6, 7] and history.losses == plain.losses
    assert plain.evaluations == {}


def test_the_bar_shows_loss_and_tokens_per_second(capsys):
    history = run(progress=True, tokens_per_row=9)[1]
    text = capsys.readouterr().err
    assert f"loss {history.losses[-1]:.3f}, " in text and "tokens/s" in text and "7/7" in text


def test_a_finished_run_resumes_to_what_it_was(tmp_path):
    model, history = run(folder=tmp_path, evaluate=lambda m: 1.5)
    other = network()
    again = run(folder=tmp_path, resume=True, model=other)[1]
    assert again == history and history.evaluations == {7: 1.5}
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
    assert [path.name for path in tmp_path.iterdir()] == [checkpoint.NAME]


def test_any_cut_and_any_flipped_bit_is_found(tmp_path):
    """safetensors itself notices a cut, but reads altered numbers; the checksum finds them."""
    run(folder=tmp_path)
    path = tmp_path / checkpoint.NAME
    whole, generator = path.read_bytes(), random.Random(4)
    damaged = [whole[:n] for n in (0, 7, 300, len(whole) // 2, len(whole) - 1)] + [whole + b"x"]
    for position in [5, 20, len(whole) - 2, *generator.sample(range(8, len(whole)), 60)]:
        damaged.append(
            whole[:position] + bytes([whole[position] ^ 1 << generator.randrange(8)]) + whole[position + 1 :]
        )
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=f"checkpoint.safetensors of {len(data)} bytes is truncated or altered"):
            checkpoint.load(tmp_path)
    path.write_bytes(whole)
    assert len(checkpoint.load(tmp_path)[1]["config"]) == 14


@pytest.mark.parametrize("bad_step", [3, 9])
def test_an_infinite_gradient_of_a_finite_loss_stops_the_run_and_spares_the_checkpoint(tmp_path, bad_step):
    """Catches a look at the loss alone: the root of 0 is 0, and its gradient infinite."""
    calls = []

    def rooted(model, x, y):
        calls.append(0)
        factor = 1.0 if len(calls) <= bad_step else 0.0
        return loss(model, x, y) + (factor * model[0].weight).square().sum().sqrt()

    config = dataclasses.replace(CONFIG, n_steps=bad_step + 1, save_every=bad_step)
    with pytest.raises(FloatingPointError, match=f"loss of step {bad_step} or its gradient is nan"):
        train(network(), rooted, batch, config, folder=tmp_path, progress=False)
    tensors, _ = checkpoint.load(tmp_path)
    assert len(tensors["losses"]) == bad_step and all(t.isfinite().all() for t in tensors.values())


def test_another_configuration_is_refused_with_all_differences(tmp_path):
    run(folder=tmp_path)
    other = dataclasses.replace(CONFIG, learning_rate=0.03, betas=(0.8, 0.95))
    with pytest.raises(ValueError, match=r"betas was \[0.9, 0.95\], is \[0.8, 0.95\]; learning_rate was 0.02, is 0.03"):
        run(other, folder=tmp_path, resume=True)


@pytest.mark.parametrize(("then", "now"), [([], ["4.weight"]), (["4.weight"], []), (["0.bias"], ["4.bias"])])
def test_another_choice_of_weights_that_learn_is_refused(tmp_path, then, now):
    """Catches moments of a weight that no longer learns, left out, and of one that now does, begun at 0."""
    models = [network(), network()]
    for model, names in zip(models, (then, now), strict=True):
        for name in names:
            model.get_parameter(name).requires_grad_(False)
    run(model=models[0], folder=tmp_path)
    with pytest.raises(ValueError, match=f"frozen was {re.escape(str(then))}, is {re.escape(str(now))}"):
        run(model=models[1], folder=tmp_path, resume=True)


def test_a_checkpoint_that_does_not_tell_what_learns_is_resumed(tmp_path, monkeypatch):
    """Catches a run with frozen weights, begun before checkpoints told of them, that could never be ended."""
    model = network()
    model.get_parameter("0.bias").requires_grad_(False)
    _, first = run(model=model, folder=tmp_path)
    load = checkpoint.load

    def load_of_before(folder):
        tensors, saved = load(folder)
        assert saved.pop("frozen") == ["0.bias"]
        return tensors, saved

    monkeypatch.setattr(checkpoint, "load", load_of_before)
    assert run(model=model, folder=tmp_path, resume=True)[1].losses == first.losses


def test_another_model_is_refused_with_all_differences(tmp_path):
    run(folder=tmp_path)
    cases = {
        r"0.bias is float64 \(5,\), but float64 \(4,\) in the model; .*4.weight is .*\(2, 5\), but": network(4),
        r"0.bias is float64 \(5,\), but float32 \(5,\) in the model": network(dtype=torch.float32),
        r"5.bias is missing; 5.weight is missing": nn.Sequential(*network(), nn.Linear(2, 2)),
        r"1.bias is unexpected; 1.weight is unexpected": nn.Sequential(network()[0], nn.Tanh(), *network()[2:]),
    }
    for message, model in cases.items():
        before = [p.detach().clone() for p in model.parameters()]
        with pytest.raises(ValueError, match=f"belongs to another model: {message}"):
            run(model=model, folder=tmp_path, resume=True)
        assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def unchecked(**changes):
    """A configuration without the checks of types that the tests add."""
    config = TrainConfig(5, 2)
    for name, value in changes.items():
        object.__setattr__(config, name, value)
    config.__post_init__()


def started(tmp_path):
    run(folder=tmp_path)
    run(folder=tmp_path)


OTHER = network()
BAD = {
    "nothing to resume": (
        lambda folder: run(folder=folder / "empty", resume=True), FileNotFoundError, "no checkpoint in .*empty"
    ),
    "resume without folder": (lambda _: run(resume=True), ValueError, "resume=True without a folder"),
    "overwriting": (started, FileExistsError, "already holds a checkpoint"),
    "too few rows": (
        lambda _: train(network(), loss, lambda n, g: batch(4, g), CONFIG, progress=False),
        ValueError, r"batch\(6, ...\) gave Tensor of shape \(4, 3\) at index 0, .* first axis is 6",
    ),
    "rows of NumPy": (
        lambda _: train(network(), loss, lambda n, g: (np.zeros((n, 3)), None), CONFIG, progress=False),
        ValueError, r"gave ndarray of shape \(6, 3\) at index 0, expected a Tensor",
    ),
    "a number instead of rows": (
        lambda _: train(network(), loss, lambda n, g: (torch.tensor(1.0),), CONFIG, progress=False),
        ValueError, r"gave Tensor of shape \(\) at index 0",
    ),
    "loss not one number": (
        lambda _: train(network(), lambda m, x, y: m(x)[:, 0], batch, CONFIG, progress=False),
        ValueError, r"loss\(...\) gave Tensor of shape \(6,\), expected a Tensor",
    ),
    "loss no tensor": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y).item(), batch, CONFIG, progress=False),
        ValueError, r"loss\(...\) gave float of shape \(\), expected a Tensor",
    ),
    "loss not finite": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y) * math.nan, batch, CONFIG, progress=False),
        FloatingPointError, "loss of step 0 or its gradient is nan",
    ),
    "loss of another model": (
        lambda _: train(network(), lambda m, x, y: loss(OTHER, x, y), batch, CONFIG, progress=False),
        ValueError, r"no trainable parameter of the model has a part in loss\(...\)",
    ),
    "loss without a gradient": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y).detach(), batch, CONFIG, progress=False),
        ValueError, r"no trainable parameter .*detach",
    ),
    "nothing trainable": (
        lambda _: run(model=network().requires_grad_(False)), ValueError, "the Sequential has no trainable parameters"
    ),
    "no parameters": (lambda _: run(model=nn.Tanh()), ValueError, "the Tanh has no trainable parameters"),
    "shared by one": (
        lambda _: run(dataclasses.replace(CONFIG, shard_on="cpu")), ValueError, "shard_on='cpu' .* torchrun"
    ),
    "a rate of NumPy": (
        lambda _: unchecked(learning_rate=np.float32(0.5)), ValueError, r"learning_rate=np.float32\(0.5\), .* Python"
    ),
    "a rate of torch": (
        lambda _: unchecked(learning_rate=torch.tensor(0.5)), ValueError, r"learning_rate=tensor\(0.5000\), .* Python"
    ),
    "half a step": (lambda _: unchecked(n_steps=2.5), ValueError, "n_steps=2.5, expected a whole"),
    "betas above 1": (lambda _: TrainConfig(5, 2, betas=(2.0, 3.0)), ValueError, r"betas=\(2.0, 3.0\), expected two"),
    "three betas": (lambda _: unchecked(betas=(0.9,) * 3), ValueError, r"betas=\(0.9, 0.9, 0.9\)"),
    "rising at the end": (lambda _: TrainConfig(5, 2, min_lr_ratio=10.0), ValueError, "min_lr_ratio=10.0, expected"),
    "endless rate": (lambda _: TrainConfig(5, 2, learning_rate=math.inf), ValueError, "learning_rate=inf"),
    "no decay": (lambda _: TrainConfig(5, 2, weight_decay=math.nan), ValueError, "weight_decay=nan"),
    "no steps": (lambda _: TrainConfig(n_steps=0, batch_size=2), ValueError, "n_steps=0, expected .* at least 1"),
    "no rate": (lambda _: TrainConfig(5, 2, learning_rate=-0.1), ValueError, "learning_rate=-0.1, expected more"),
    "all warm-up": (lambda _: TrainConfig(5, 2, warmup_steps=6), ValueError, "warmup_steps=6, .* n_steps=5"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case, tmp_path):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call(tmp_path)


@pytest.mark.gpu
def test_training_on_cuda_in_bfloat16_learns_and_resumes(tmp_path):
    """Catches autocast or the fused optimiser left out on a GPU, and a loss that turns to NaN or does not fall."""
    config, seen, optimizers = dataclasses.replace(CONFIG, n_steps=120), [], []

    def seeing(model, x, y):
        prediction = model(x)
        seen.append((prediction.dtype, x.device.type))
        return (prediction - y).square().mean()

    model = network(dtype=torch.float32).to("cuda")

    def rows(n, generator):
        return tuple(tensor.float() for tensor in batch(n, generator))

    hook = register_optimizer_step_pre_hook(lambda optimizer, *_: optimizers.append(optimizer))
    try:
        losses = train(model, seeing, rows, config, folder=tmp_path, progress=False).losses
    finally:
        hook.remove()
    assert set(seen) == {(torch.bfloat16, "cuda")} and optimizers[0].defaults["fused"]
    assert all(math.isfinite(value) for value in losses) and sum(losses[-10:]) < 0.7 * sum(losses[:10])
    assert all(p.dtype == torch.float32 and p.is_cuda for p in model.parameters())
    again = network(dtype=torch.float32).to("cuda")
    assert train(again, seeing, rows, config, folder=tmp_path, resume=True, progress=False).losses == losses
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
