"""The training loop: learning rate, decay groups, clipping, accumulation, random numbers and evaluation."""

import dataclasses
import math

import pytest
import torch
from clearformer.training import TrainConfig, adamw, learning_rate, train
from inline_snapshot import snapshot
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from tests.clearformer.refusals import refusal
from tests.clearformer.small_runs import CONFIG, batch, loss, network, run


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

    def record_batch(n, generator):
        seen.append(batch(n, generator))
        return seen[-1]

    for seed in (0, 1, 0):
        train(network(), loss, record_batch, dataclasses.replace(CONFIG, seed=seed), progress=False)
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


def test_no_generator_of_another_device_is_seeded(monkeypatch):
    """Catches ``torch.manual_seed``, which begins the generators of all GPUs anew; only one is put back."""
    monkeypatch.setattr(torch, "manual_seed", lambda seed: pytest.fail("the generators of all devices were seeded"))
    model = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Linear(5, 2)).double()
    run(CONFIG, model)


def test_every_part_of_a_step_has_a_dropout_of_its_own():
    """Catches parts that are seeded alike, so that what is accumulated drops the same."""
    dropped = []

    def loss_noting_dropout(model, x, y):
        dropped.append(model[1](torch.ones(50)))
        return model[0](x).sum() * 0

    def rows(n, generator):
        return torch.zeros(n, 3), torch.zeros(n, 2)

    config = TrainConfig(n_steps=2, batch_size=1, grad_accum_steps=3)
    train(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5)), loss_noting_dropout, rows, config, progress=False)
    assert len({tuple(mask.tolist()) for mask in dropped}) == 6


def test_a_warm_up_of_all_steps_and_no_rate_of_zero():
    """Catches a division by the steps that are left after the warm-up."""
    config = TrainConfig(n_steps=4, batch_size=1, learning_rate=0.4, warmup_steps=4)
    assert [learning_rate(step, config) for step in range(4)] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert math.isfinite(learning_rate(4, config))
    assert learning_rate(4, dataclasses.replace(config, warmup_steps=3)) == pytest.approx(0.04)
    with pytest.raises(ValueError, match=r"learning_rate=0\.0, expected more than 0"):
        dataclasses.replace(config, learning_rate=0.0)


def test_gradients_from_before_are_not_in_the_first_step():
    """Catches a model whose backward was called before it is trained, and trains otherwise than one whose was not."""
    used = network()
    loss(used, *batch(6, torch.Generator().manual_seed(1))).backward()
    assert run(model=used)[1].losses == run()[1].losses


def test_a_stopped_run_leaves_the_model_in_evaluation_mode():
    def interrupting_loss(model, x, y):
        raise KeyboardInterrupt

    model = network()
    with pytest.raises(KeyboardInterrupt):
        train(model, interrupting_loss, batch, CONFIG, progress=False)
    assert not model.training


def summed_loss(model, x, y):
    """The squared errors of the rows whose first number is above 0, and how many they are."""
    kept = x[:, 0] > 0
    return (model(x) - y)[kept].square().mean(1).sum(), kept.sum()


@pytest.mark.parametrize("parts", [2, 6])
def test_parts_of_a_batch_that_count_unequally_are_the_batch(parts):
    """Catches a part with little that counts that weighs as much as one with more."""
    config = dataclasses.replace(CONFIG, n_steps=6, batch_size=12 // parts, grad_accum_steps=parts, max_grad_norm=0.1)
    whole, model = network(), network()
    expected = train(
        whole, summed_loss, batch, dataclasses.replace(config, batch_size=12, grad_accum_steps=1), progress=False
    )
    found = train(model, summed_loss, batch, config, progress=False)
    assert found.losses == pytest.approx(expected.losses, abs=1e-6)
    for mine, theirs in zip(model.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)


def test_rows_of_which_nothing_counts_are_refused():
    assert refusal(
        ValueError, train, network(), lambda m, x, y: (m(x).sum() * 0, 0), batch, CONFIG, progress=False
    ) == snapshot(
        "train: loss(...) counted nothing in the rows of step 0, expected at least one token. Leave out rows that are padding alone."
    )


def test_after_each_step_its_number_and_its_loss_are_told():
    seen = []
    history = run(after_step=lambda n_done, loss: seen.append((n_done, loss)))[1]
    assert seen == [*enumerate(history.losses, start=1)]


def test_a_run_stops_early_with_an_evaluation_and_a_checkpoint_and_goes_on_as_if_it_had_not(tmp_path):
    """Catches a stop that loses the last step, and one at anything that is no clear True, as a plot may return."""
    config = dataclasses.replace(CONFIG, eval_every=2)
    whole = run(config, network(dropout=0.2), evaluate=lambda model: 0.5, after_step=lambda *_: "no")[1]
    options = {"evaluate": lambda model: 0.5, "folder": tmp_path}
    stopped = run(config, network(dropout=0.2), after_step=lambda n_done, loss: n_done == 5, **options)[1]
    assert stopped.losses == whole.losses[:5] and list(stopped.evaluations) == [2, 4, 5]
    resumed = run(config, network(dropout=0.2), resume=True, **options)[1]
    assert resumed.losses == whole.losses and list(resumed.evaluations) == [2, 4, 5, 6, 7]


def test_what_is_raised_after_a_step_ends_the_run():
    def raising(n_done, loss):
        if n_done == 3:
            raise RuntimeError("enough")

    model = network()
    with pytest.raises(RuntimeError, match="enough"):
        run(model=model, after_step=raising)
    assert not model.training


def test_an_evaluation_is_there_when_its_step_is_told():
    """Catches an early stop that looks at the evaluation of the time before."""
    order = []
    config = dataclasses.replace(CONFIG, n_steps=2, warmup_steps=0, eval_every=1)
    run(config, evaluate=lambda model: order.append("evaluated") or 0.0, after_step=lambda n, loss: order.append(n))
    assert order == ["evaluated", 1, "evaluated", 2]


def test_no_callback_is_told_a_loss_that_is_no_number():
    """Catches an infinite loss that ends a run as if it were finished."""
    seen = []
    with pytest.raises(FloatingPointError, match="step 0"):
        train(
            network(),
            lambda m, x, y: loss(m, x, y) * math.nan,
            batch,
            CONFIG,
            after_step=lambda n_done, loss: seen.append(n_done),
            progress=False,
        )
    assert seen == []


@pytest.mark.gpu
def test_training_on_cuda_in_bfloat16_learns_and_resumes(tmp_path):
    """Catches autocast or the fused optimiser left out on a GPU, and a loss that turns to NaN or does not fall."""
    config, seen, optimizers = dataclasses.replace(CONFIG, n_steps=120), [], []

    def loss_noting_dtype(model, x, y):
        prediction = model(x)
        seen.append((prediction.dtype, x.device.type))
        return (prediction - y).square().mean()

    model = network(dtype=torch.float32).to("cuda")

    def rows(n, generator):
        return tuple(tensor.float() for tensor in batch(n, generator))

    hook = register_optimizer_step_pre_hook(lambda optimizer, *_: optimizers.append(optimizer))
    try:
        losses = train(model, loss_noting_dtype, rows, config, folder=tmp_path, progress=False).losses
    finally:
        hook.remove()
    assert set(seen) == {(torch.bfloat16, "cuda")} and optimizers[0].defaults["fused"]
    assert all(math.isfinite(value) for value in losses) and sum(losses[-10:]) < 0.7 * sum(losses[:10])
    assert all(p.dtype == torch.float32 and p.is_cuda for p in model.parameters())
    again = network(dtype=torch.float32).to("cuda")
    assert train(again, loss_noting_dtype, rows, config, folder=tmp_path, resume=True, progress=False).losses == losses
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
