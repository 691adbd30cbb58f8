"""Runs in which some weights do not learn: what their checkpoints leave out, and what they are resumed with."""

import dataclasses
import re

import pytest
import torch
from clearformer import checkpoint
from clearformer.training import train

from tests.clearformer.small_runs import CONFIG, FROZEN, batch, loss, network, partly_frozen, run


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

    def load_of_before(folder, **options):
        tensors, saved = load(folder, **options)
        assert saved.pop("frozen") == ["0.bias"]
        return tensors, saved

    monkeypatch.setattr(checkpoint, "load", load_of_before)
    assert run(model=model, folder=tmp_path, resume=True)[1].losses == first.losses


def equal_weights(model, other):
    return all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def batches_until_stop(n_steps):
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
    assert equal_weights(loaded, trained) and equal_weights(resumed, trained) and again.losses == history.losses


def loss_following_weight(model, x, y):
    """A loss that changes a frozen weight, as a teacher follows its pupil, without autograd's knowledge."""
    model[0].bias.data.mul_(0.9).add_(model[4].weight.detach().mean() / 10)
    return loss(model, x, y)


def loss_settling_weight(model, x, y):
    """Another that changes it in the first step alone."""
    model[0].bias.data.fill_(0.5)
    return loss(model, x, y)


@pytest.mark.parametrize("loss_of", [loss, loss_following_weight, loss_settling_weight])
def test_a_run_with_frozen_weights_that_is_stopped_twice_goes_on_bitwise(loss_of, tmp_path):
    """Catches frozen weights that change all the same, left out at once or after the first resuming."""
    config, options = dataclasses.replace(CONFIG, n_steps=12, save_every=2), {"folder": tmp_path, "progress": False}
    trained, stopped, model = (partly_frozen() for _ in range(3))
    history = train(trained, loss_of, batch, config, progress=False)
    for resume in (False, True):
        with pytest.raises(KeyboardInterrupt):
            train(stopped, loss_of, batches_until_stop(5), config, resume=resume, **options)
    resumed = train(model, loss_of, batch, config, resume=True, **options)
    assert resumed.losses == history.losses and equal_weights(model, trained)
    assert equal_weights(trained[0], partly_frozen()[0]) is (loss_of is loss)


@pytest.mark.parametrize("way", ["resume", "load_model"])
def test_other_frozen_weights_than_those_of_the_run_are_refused(way, tmp_path):
    """Catches what was learned on top of one model, put on top of another."""
    run(CONFIG, partly_frozen(), folder=tmp_path)
    model, before = partly_frozen(seed=5), partly_frozen(seed=5)
    with pytest.raises(ValueError, match=r"other frozen weights .*: 0\.bias; 0\.weight\."):
        if way == "resume":
            run(CONFIG, model, folder=tmp_path, resume=True)
        else:
            checkpoint.load_model(tmp_path, model)
    assert equal_weights(model, before)


def test_a_checkpoint_with_all_weights_is_resumed_with_them(tmp_path, monkeypatch):
    """Catches the frozen weights of a checkpoint of version 0.2, left in the file."""
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "frozen_checksums", lambda model: {})
        trained, history = run(CONFIG, partly_frozen(), folder=tmp_path)
    model, again = run(CONFIG, partly_frozen(seed=5), folder=tmp_path, resume=True)
    assert again.losses == history.losses and equal_weights(model, trained)
    longer = dataclasses.replace(CONFIG, n_steps=8)
    models = [run(longer, partly_frozen(seed), folder=tmp_path, resume=True)[0] for seed in (5, 6)]
    assert equal_weights(*models) and equal_weights(models[0][0], trained[0])
