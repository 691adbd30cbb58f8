"""What a run shows and when it looks: the bar, the evaluations, and how soon a loss that is no number is noticed."""

import dataclasses
from functools import partial

import pytest
from clearformer.train_step import mixed_seed
from clearformer.training import train
from torch import nn
from tqdm import tqdm

from tests.clearformer.small_runs import CONFIG, batch, loss, network


def progress_output(capsys, **options):
    train(network(), loss, batch, CONFIG, **options)
    return capsys.readouterr().err


def test_a_bar_is_shown_unless_it_is_not_wanted(capsys):
    """Catches a bar without being asked, none by itself, and tokens a second where nobody said how many there are."""
    assert progress_output(capsys, progress=False) == ""
    text = progress_output(capsys)
    assert "7/7" in text and "step/s" in text and "loss" in text and "tokens" not in text


def test_the_bar_of_a_stopped_run_is_closed(capsys):
    """Catches a bar that goes on in the line in which the next message is printed."""

    def interrupting_loss(model, x, y):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        train(network(), interrupting_loss, batch, CONFIG)
    assert stopped.tb and capsys.readouterr().err.endswith("\n")


def test_the_bar_of_a_resumed_run_goes_on_where_it_was(capsys, tmp_path):
    """Catches a bar that begins anew, and steps of before that count for the speed."""
    train(network(), loss, batch, CONFIG, folder=tmp_path, progress=False)
    longer = dataclasses.replace(CONFIG, n_steps=9)
    train(network(), loss, batch, longer, folder=tmp_path, resume=True)
    text = capsys.readouterr().err
    assert "7/9" in text and "9/9" in text and "0/9" not in text


def test_the_bar_tells_the_tokens_of_a_second(capsys, monkeypatch):
    """Against a clock of our own; catches the rows of all steps, or the tokens of one step in place of a second."""
    clock = iter([100.0, 104.0])
    monkeypatch.setattr("clearformer.training.time.perf_counter", lambda: next(clock))
    assert f", {7 * 6 * 9 / 4:,.0f} tokens/s" in progress_output(capsys, tokens_per_row=9)


def test_a_narrow_bar_tells_the_loss_alone(capsys, monkeypatch):
    """Catches a number of tokens that is cut in the middle, and so is read as another."""
    for columns, told in (("60", False), ("80", True)):
        monkeypatch.setattr("clearformer.training.tqdm", partial(tqdm, ncols=int(columns)))
        text = progress_output(capsys, tokens_per_row=9)
        assert "loss" in text and (" tokens/s" in text) == told


def test_a_resumed_run_tells_the_tokens_of_its_own_steps(capsys, monkeypatch, tmp_path):
    """Catches steps of before that count for the speed."""
    train(network(), loss, batch, CONFIG, folder=tmp_path, progress=False)
    clock = iter([100.0, 104.0])
    monkeypatch.setattr("clearformer.training.time.perf_counter", lambda: next(clock))
    longer = dataclasses.replace(CONFIG, n_steps=9)
    train(network(), loss, batch, longer, folder=tmp_path, resume=True, tokens_per_row=90)
    assert f", {2 * 6 * 90 / 4:,.0f} tokens/s" in capsys.readouterr().err


def test_evaluation_can_come_after_every_step():
    config = dataclasses.replace(CONFIG, eval_every=1)
    assert list(train(network(), loss, batch, config, evaluate=lambda m: 0.5, progress=False).evaluations) == [
        *range(1, 8)
    ]


def test_a_loss_that_is_no_number_stops_a_run_within_ten_steps():
    """Catches a look at the end alone, after a night in vain, and one that begins with the last ten losses."""
    calls = []

    def loss_turning_nan(model, x, y):
        calls.append(0)
        return loss(model, x, y) * (float("nan") if len(calls) > 13 else 1)

    with pytest.raises(FloatingPointError, match=r"loss of step 13 .*\bnan\b"):
        train(network(), loss_turning_nan, batch, dataclasses.replace(CONFIG, n_steps=40), progress=False)
    assert len(calls) == 20


def test_the_rows_of_a_step_follow_from_seed_and_number():
    """Catches a change of the rows in a new version, with which no older run could be resumed exactly."""
    seeds, sizes = [], []

    def record_seed(n, generator):
        seeds.append(generator.initial_seed())
        sizes.append(n)
        return batch(n, generator)

    config = dataclasses.replace(CONFIG, seed=4, batch_size=2, grad_accum_steps=3)
    train(network(), loss, record_seed, config, progress=False)
    assert seeds == [mixed_seed(4, step) for step in range(7)] and sizes == [6] * 7
    assert mixed_seed(4, 1) == 2570931004


def test_a_model_with_a_single_weight_is_trained():
    """Catches a look at the second one."""
    model = nn.Linear(3, 2, bias=False).double()
    losses = train(model, loss, batch, dataclasses.replace(CONFIG, n_steps=40), progress=False).losses
    assert sum(losses[-5:]) < sum(losses[:5])
