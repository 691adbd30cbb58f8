"""The training loop: learning rate, decay groups, clipping, accumulation, evaluation, and what it refuses."""

import dataclasses
import inspect
import math
import os
import random
import re

import numpy as np
import pytest
import torch
from clearformer import checkpoint
from clearformer.training import TrainConfig, adamw, learning_rate, train
from safetensors import safe_open
from safetensors.torch import save_file
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
    assert checkpoint.load(tmp_path)[1]["config"] == dataclasses.asdict(CONFIG) | {"betas": [*CONFIG.betas]}


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

    def load_of_before(folder, caller):
        tensors, saved = load(folder, caller=caller)
        assert saved.pop("frozen") == ["0.bias"]
        return tensors, saved

    monkeypatch.setattr(checkpoint, "load", load_of_before)
    assert run(model=model, folder=tmp_path, resume=True)[1].losses == first.losses


FROZEN = ("0.weight", "0.bias")


def partly_frozen(seed=2):
    """A network whose first layer does not learn; ``seed`` is that of this layer's numbers."""
    model, other = network(), torch.Generator().manual_seed(seed)
    for name in FROZEN:
        weight = model.get_parameter(name).requires_grad_(False)
        torch.nn.init.normal_(weight, generator=other)
    return model


def equal(model, other):
    return all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def stopping(n_steps):
    """Rows for so many steps, and then Ctrl-C."""
    steps = iter(range(n_steps))

    def rows(n, generator):
        if next(steps, None) is None:
            raise KeyboardInterrupt
        return batch(n, generator)

    return rows


def test_a_checkpoint_leaves_out_what_does_not_learn(tmp_path):
    """Catches a run of a few numbers whose checkpoints weigh as much as the model."""
    trained, history = run(CONFIG, partly_frozen(), folder=tmp_path)
    kept = {name for name in checkpoint.load(tmp_path)[0] if name.startswith("model.")}
    assert kept == {f"model.{name}" for name, _ in network().named_parameters()} - {f"model.{name}" for name in FROZEN}
    loaded = partly_frozen()
    checkpoint.load_model(tmp_path, loaded)
    resumed, again = run(CONFIG, partly_frozen(), folder=tmp_path, resume=True)
    assert equal(loaded, trained) and equal(resumed, trained) and again.losses == history.losses


def following(model, x, y):
    """A loss that changes a frozen weight, as a teacher follows its pupil, without autograd's knowledge."""
    model[0].bias.data.mul_(0.9).add_(model[4].weight.detach().mean() / 10)
    return loss(model, x, y)


def settling(model, x, y):
    """Another that changes it in the first step alone."""
    model[0].bias.data.fill_(0.5)
    return loss(model, x, y)


@pytest.mark.parametrize("loss_of", [loss, following, settling])
def test_a_run_with_frozen_weights_that_is_stopped_twice_goes_on_bitwise(loss_of, tmp_path):
    """Catches frozen weights that change all the same, left out at once or after the first resuming."""
    config, options = dataclasses.replace(CONFIG, n_steps=12, save_every=2), {"folder": tmp_path, "progress": False}
    trained, stopped, model = (partly_frozen() for _ in range(3))
    history = train(trained, loss_of, batch, config, progress=False)
    for resume in (False, True):
        with pytest.raises(KeyboardInterrupt):
            train(stopped, loss_of, stopping(5), config, resume=resume, **options)
    resumed = train(model, loss_of, batch, config, resume=True, **options)
    assert resumed.losses == history.losses and equal(model, trained)
    assert equal(trained[0], partly_frozen()[0]) is (loss_of is loss)


@pytest.mark.parametrize("way", ["resume", "load_model"])
def test_other_frozen_weights_than_those_of_the_run_are_refused(way, tmp_path):
    """Catches what was learned on top of one model, put on top of another."""
    run(CONFIG, partly_frozen(), folder=tmp_path)
    model, before = partly_frozen(seed=5), partly_frozen(seed=5)
    with pytest.raises(
        ValueError, match=r"had other frozen weights than this model: 0\.bias; 0\.weight\. Load the ones"
    ):
        if way == "resume":
            run(CONFIG, model, folder=tmp_path, resume=True)
        else:
            checkpoint.load_model(tmp_path, model)
    assert equal(model, before)


def test_a_checkpoint_with_all_weights_is_resumed_with_them(tmp_path, monkeypatch):
    """Catches the frozen weights of a checkpoint of version 0.2, left in the file."""
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "_frozen_checksums", lambda model: {})
        trained, history = run(CONFIG, partly_frozen(), folder=tmp_path)
    model, again = run(CONFIG, partly_frozen(seed=5), folder=tmp_path, resume=True)
    assert again.losses == history.losses and equal(model, trained)
    longer = dataclasses.replace(CONFIG, n_steps=8)
    models = [run(longer, partly_frozen(seed), folder=tmp_path, resume=True)[0] for seed in (5, 6)]
    assert equal(*models) and equal(models[0][0], trained[0])


def test_no_generator_of_another_device_is_seeded(monkeypatch):
    """Catches ``torch.manual_seed``, which begins the generators of all GPUs anew; only one is put back."""
    monkeypatch.setattr(torch, "manual_seed", lambda seed: pytest.fail("the generators of all devices were seeded"))
    model = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Linear(5, 2)).double()
    run(CONFIG, model)


def test_every_part_of_a_step_has_a_dropout_of_its_own():
    """Catches parts that are seeded alike, so that what is accumulated drops the same."""
    dropped = []

    def looking(model, x, y):
        dropped.append(model[1](torch.ones(50)))
        return model[0](x).sum() * 0

    def rows(n, generator):
        return torch.zeros(n, 3), torch.zeros(n, 2)

    config = TrainConfig(n_steps=2, batch_size=1, grad_accum_steps=3)
    train(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5)), looking, rows, config, progress=False)
    assert len({tuple(mask.tolist()) for mask in dropped}) == 6


def test_a_warm_up_of_all_steps_and_no_rate_of_zero():
    """Catches a division by the steps that are left after the warm-up."""
    config = TrainConfig(n_steps=4, batch_size=1, learning_rate=0.4, warmup_steps=4)
    assert [learning_rate(step, config) for step in range(4)] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert math.isfinite(learning_rate(4, config))
    assert learning_rate(4, dataclasses.replace(config, warmup_steps=3)) == pytest.approx(0.04)
    with pytest.raises(ValueError, match=r"learning_rate=0\.0, expected more than 0"):
        dataclasses.replace(config, learning_rate=0.0)


def test_numbers_that_are_read_as_others_are_found(tmp_path):
    """Catches a checksum of the bytes alone: the same bytes are another table, or other numbers."""
    run(folder=tmp_path)
    path = tmp_path / checkpoint.NAME
    with safe_open(path, framework="pt") as file:
        header, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    name = "model.0.weight"
    for other in (tensors[name].reshape(3, 5), tensors[name].view(torch.int64)):
        save_file(tensors | {name: other.contiguous()}, path, metadata=header)
        with pytest.raises(ValueError, match="its checksum does not fit its contents"):
            checkpoint.load(tmp_path)


def test_gradients_from_before_are_not_in_the_first_step():
    """Catches a model whose backward was called before it is trained, and trains otherwise than one whose was not."""
    used = network()
    loss(used, *batch(6, torch.Generator().manual_seed(1))).backward()
    assert run(model=used)[1].losses == run()[1].losses


def test_a_stopped_run_leaves_the_model_in_evaluation_mode():
    def interrupted(model, x, y):
        raise KeyboardInterrupt

    model = network()
    with pytest.raises(KeyboardInterrupt):
        train(model, interrupted, batch, CONFIG, progress=False)
    assert not model.training


def summed(model, x, y):
    """The squared errors of the rows whose first number is above 0, and how many they are."""
    kept = x[:, 0] > 0
    return (model(x) - y)[kept].square().mean(1).sum(), kept.sum()


@pytest.mark.parametrize("parts", [2, 6])
def test_parts_of_a_batch_that_count_unequally_are_the_batch(parts):
    """Catches a part with little that counts that weighs as much as one with more."""
    config = dataclasses.replace(CONFIG, n_steps=6, batch_size=12 // parts, grad_accum_steps=parts, max_grad_norm=0.1)
    whole, model = network(), network()
    expected = train(
        whole, summed, batch, dataclasses.replace(config, batch_size=12, grad_accum_steps=1), progress=False
    )
    found = train(model, summed, batch, config, progress=False)
    assert found.losses == pytest.approx(expected.losses, abs=1e-6)
    for mine, theirs in zip(model.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)


def test_rows_of_which_nothing_counts_are_refused():
    with pytest.raises(ValueError, match=r"loss\(...\) counted nothing in the rows of step 0"):
        train(network(), lambda m, x, y: (m(x).sum() * 0, 0), batch, CONFIG, progress=False)


def test_a_data_loader_gives_the_rows_and_resuming_skips_what_was_read(tmp_path):
    """Catches rows that are read twice after a resume, and a loader that is not begun again when it ends."""
    x, y = batch(18, torch.Generator().manual_seed(3))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=6)
    expected = train(network(), loss, loader, CONFIG, progress=False).losses
    drawn = train(network(), loss, [(x[i : i + 6], y[i : i + 6]) for i in (0, 6, 12)], CONFIG, progress=False).losses
    assert drawn == expected

    model, config = network(), dataclasses.replace(CONFIG, save_every=4)
    calls = iter(range(5))
    with pytest.raises(StopIteration):
        train(model, lambda *rows: (next(calls), loss(*rows))[1], loader, config, folder=tmp_path, progress=False)
    assert train(model, loss, loader, config, folder=tmp_path, resume=True, progress=False).losses == expected


def test_a_finished_run_goes_on_with_more_steps(tmp_path):
    """Catches moments that begin anew, and a history that does."""
    model, first = run(folder=tmp_path)
    longer = dataclasses.replace(CONFIG, n_steps=12)
    _, second = run(longer, model, folder=tmp_path, resume=True)
    assert len(second.losses) == 12 and second.losses[:7] == first.losses
    assert checkpoint.load(tmp_path)[1]["config"]["n_steps"] == 12
    with pytest.raises(ValueError, match="n_steps was 12, is 7"):
        run(model=model, folder=tmp_path, resume=True)


def test_a_stopped_run_is_not_resumed_to_an_earlier_end(tmp_path):
    """Catches a schedule that is shortened unseen, as long as the run had not come so far."""
    config, calls = dataclasses.replace(CONFIG, save_every=2), iter(range(3))
    with pytest.raises(StopIteration):
        train(network(), lambda *rows: (next(calls), loss(*rows))[1], batch, config, folder=tmp_path, progress=False)
    with pytest.raises(ValueError, match="n_steps was 7, is 5"):
        run(dataclasses.replace(config, n_steps=5), folder=tmp_path, resume=True)


def test_a_new_run_begins_with_the_weights_of_an_old_one(tmp_path):
    trained, _ = run(folder=tmp_path)
    model = network()
    checkpoint.load_model(tmp_path, model)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), trained.parameters(), strict=True))
    with pytest.raises(ValueError, match="load_model: the checkpoint belongs to another model"):
        checkpoint.load_model(tmp_path, network(n_hidden=4))


def test_another_run_in_the_folder_is_left_alone(tmp_path):
    """Catches two runs that take turns at one checkpoint, so that the last one wins."""
    config = dataclasses.replace(CONFIG, save_every=3)

    def with_a_rival(model):
        if not checkpoint.has_checkpoint(tmp_path):
            with torch.enable_grad():
                run(folder=tmp_path)
        return 0.0

    with pytest.raises(FileExistsError, match=r"another run has written its checkpoint to .* meanwhile"):
        run(dataclasses.replace(config, eval_every=2), folder=tmp_path, evaluate=with_a_rival)
    assert len(checkpoint.load(tmp_path)[0]["losses"]) == 7


def test_each_process_writes_under_a_name_of_its_own(tmp_path, monkeypatch):
    """Catches two processes whose halves make one file."""
    model = network()
    names = []
    monkeypatch.setattr(checkpoint, "save_file", lambda tensors, path, metadata: names.append(path.name) or 1 / 0)
    for process in (11, 12):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        with pytest.raises(ZeroDivisionError):
            checkpoint.save(tmp_path, model, adamw(model, CONFIG), [], {})
    assert len(set(names)) == 2


def test_a_full_disk_is_told_and_the_older_checkpoint_is_whole(tmp_path, monkeypatch):
    model, history = run(folder=tmp_path)

    def full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    longer = dataclasses.replace(CONFIG, n_steps=8)
    with pytest.raises(OSError, match=r"checkpoint after step 8 could not .*No space left.*the one of before is whole"):
        run(longer, model, folder=tmp_path, resume=True)
    assert checkpoint.load(tmp_path)[0]["losses"].tolist() == history.losses
    assert [path.name for path in tmp_path.iterdir()] == [checkpoint.NAME]


def test_a_compiled_model_is_resumed_uncompiled(tmp_path):
    """Catches names that begin with what torch.compile puts in front."""
    _, history = run(model=torch.compile(network(), backend="eager"), folder=tmp_path)
    assert run(folder=tmp_path, resume=True)[1].losses == history.losses


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


class Bare:
    """An iterable whose rows are a tensor each, and no tuple of tensors."""

    def __iter__(self):
        yield torch.zeros(6, 3)


OTHER = network()
BAD = {
    "nothing to resume": (
        lambda folder: run(folder=folder / "empty", resume=True),
        FileNotFoundError,
        "^train: no checkpoint in .*empty",
    ),
    "resume without folder": (lambda _: run(resume=True), ValueError, "resume=True without a folder"),
    "overwriting": (started, FileExistsError, "already holds a checkpoint"),
    "too few rows": (
        lambda _: train(network(), loss, lambda n, g: batch(4, g), CONFIG, progress=False),
        ValueError,
        r"batch\(6, ...\) gave Tensor of shape \(4, 3\) at index 0, .* first axis is 6",
    ),
    "rows of NumPy": (
        lambda _: train(network(), loss, lambda n, g: (np.zeros((n, 3)), None), CONFIG, progress=False),
        ValueError,
        r"gave ndarray of shape \(6, 3\) at index 0, expected a Tensor",
    ),
    "a number instead of rows": (
        lambda _: train(network(), loss, lambda n, g: (torch.tensor(1.0),), CONFIG, progress=False),
        ValueError,
        r"gave Tensor of shape \(\) at index 0",
    ),
    "loss not one number": (
        lambda _: train(network(), lambda m, x, y: m(x)[:, 0], batch, CONFIG, progress=False),
        ValueError,
        r"loss\(...\) gave Tensor of shape \(6,\), expected a Tensor",
    ),
    "loss no tensor": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y).item(), batch, CONFIG, progress=False),
        ValueError,
        r"loss\(...\) gave float of shape \(\), expected a Tensor",
    ),
    "loss not finite": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y) * math.nan, batch, CONFIG, progress=False),
        FloatingPointError,
        "loss of step 0 or its gradient is nan",
    ),
    "loss of another model": (
        lambda _: train(network(), lambda m, x, y: loss(OTHER, x, y), batch, CONFIG, progress=False),
        ValueError,
        r"no trainable parameter of the model has a part in loss\(...\)",
    ),
    "loss without a gradient": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y).detach(), batch, CONFIG, progress=False),
        ValueError,
        r"no trainable parameter .*detach",
    ),
    "nothing trainable": (
        lambda _: run(model=network().requires_grad_(False)),
        ValueError,
        "the Sequential has no trainable parameters",
    ),
    "no parameters": (lambda _: run(model=nn.Tanh()), ValueError, "the Tanh has no trainable parameters"),
    "shared by one": (
        lambda _: run(dataclasses.replace(CONFIG, shard_on="cpu")),
        ValueError,
        "shard_on='cpu' .* torchrun",
    ),
    "a rate in words": (lambda _: unchecked(learning_rate="fast"), TypeError, "learning_rate='fast' is of type str"),
    "a rate that is true": (lambda _: unchecked(learning_rate=True), TypeError, "learning_rate=True is of type bool"),
    "half a step": (lambda _: unchecked(n_steps=2.5), TypeError, "n_steps=2.5 is of type float, expected a whole"),
    "a step that is true": (lambda _: unchecked(n_steps=True), TypeError, "n_steps=True is of type bool"),
    "betas above 1": (lambda _: TrainConfig(5, 2, betas=(2.0, 3.0)), ValueError, "betas=2.0, expected from 0 to below"),
    "one beta": (lambda _: unchecked(betas=0.9), TypeError, "betas=0.9, expected two numbers"),
    "three betas": (lambda _: unchecked(betas=(0.9,) * 3), TypeError, r"betas=\(0.9, 0.9, 0.9\), expected two"),
    "a dict as config": (lambda _: inspect.unwrap(train)(network(), loss, batch, {}), TypeError, "config={}, expected"),
    "no module": (lambda _: inspect.unwrap(train)(3, loss, batch, CONFIG), TypeError, "model=3, expected a torch.nn"),
    "folder true": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, folder=True),
        TypeError,
        "folder=True is of type bool, expected the path",
    ),
    "a model on meta": (
        lambda _: run(model=network().to("meta")),
        ValueError,
        "'0.weight' of the model is on \"meta\", which holds no numbers",
    ),
    "rows on meta": (
        lambda _: train(network(), loss, lambda n, g: (torch.zeros(n, 3, device="meta"),) * 2, CONFIG, progress=False),
        ValueError,
        'a tensor on "meta" at index 0, expected one with numbers',
    ),
    "a folder of another kind": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, folder=3),
        TypeError,
        "folder=3 is of type int",
    ),
    "a loss in words": (lambda _: inspect.unwrap(train)(network(), "mean", batch, CONFIG), TypeError, "loss='mean' is"),
    "evaluated by a number": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, evaluate=3),
        TypeError,
        "evaluate=3 is of type",
    ),
    "batch of rows": (lambda _: inspect.unwrap(train)(network(), loss, 3, CONFIG), TypeError, "batch=3, expected"),
    "rows that are bare": (lambda _: train(network(), loss, Bare(), CONFIG, progress=False), TypeError, "tuple"),
    "an iterator that ends": (
        lambda _: train(network(), loss, iter([batch(6, None)]), CONFIG, progress=False),
        ValueError,
        "gave nothing when it was begun again",
    ),
    "rising at the end": (lambda _: TrainConfig(5, 2, min_lr_ratio=10.0), ValueError, "min_lr_ratio=10.0, expected"),
    "endless rate": (lambda _: TrainConfig(5, 2, learning_rate=math.inf), ValueError, "learning_rate=inf"),
    "no decay": (lambda _: TrainConfig(5, 2, weight_decay=math.nan), ValueError, "weight_decay=nan"),
    "no steps": (lambda _: TrainConfig(n_steps=0, batch_size=2), ValueError, "n_steps=0, expected .* at least 1"),
    "no rate": (lambda _: TrainConfig(5, 2, learning_rate=-0.1), ValueError, "learning_rate=-0.1, expected more"),
    "all warm-up": (lambda _: TrainConfig(5, 2, warmup_steps=6), ValueError, "warmup_steps=6, .* n_steps=5"),
}


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
