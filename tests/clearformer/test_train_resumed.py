"""Runs that are stopped and resumed: the same numbers, a checkpoint that is whole, and what does not fit it."""

import dataclasses
import os
import random

import pytest
import torch
from clearformer import checkpoint
from clearformer.training import adamw, train
from inline_snapshot import snapshot
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from tests.clearformer.refusals import refusal
from tests.clearformer.small_runs import CONFIG, batch, loss, network, run


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
        with pytest.raises(
            ValueError, match=rf"checkpoint\.safetensors of {len(data)} bytes is truncated.*start again"
        ):
            checkpoint.load(tmp_path)
    path.write_bytes(whole)
    assert checkpoint.load(tmp_path)[1]["config"] == dataclasses.asdict(CONFIG) | {"betas": [*CONFIG.betas]}


@pytest.mark.parametrize("bad_step", [3, 9])
def test_an_infinite_gradient_of_a_finite_loss_stops_the_run_and_spares_the_checkpoint(tmp_path, bad_step):
    """Catches a look at the loss alone: the root of 0 is 0, and its gradient infinite."""
    calls = []

    def loss_with_root(model, x, y):
        calls.append(0)
        factor = 1.0 if len(calls) <= bad_step else 0.0
        return loss(model, x, y) + (factor * model[0].weight).square().sum().sqrt()

    config = dataclasses.replace(CONFIG, n_steps=bad_step + 1, save_every=bad_step)
    with pytest.raises(FloatingPointError, match=rf"loss of step {bad_step} .*\bnan\b"):
        train(network(), loss_with_root, batch, config, folder=tmp_path, progress=False)
    tensors, _ = checkpoint.load(tmp_path)
    assert len(tensors["losses"]) == bad_step and all(t.isfinite().all() for t in tensors.values())


def test_another_configuration_is_refused_with_all_differences(tmp_path):
    run(folder=tmp_path)
    other = dataclasses.replace(CONFIG, learning_rate=0.03, betas=(0.8, 0.95))
    assert refusal(ValueError, run, other, folder=tmp_path, resume=True) == snapshot(
        "train: the checkpoint belongs to another configuration: betas was [0.9, 0.95], is [0.8, 0.95]; learning_rate was 0.02, is 0.03. Resume with the one it was made with (only n_steps may grow, and for other processes grad_accum_steps makes up), or train in another folder; load_model brings its weights there."
    )


def test_numbers_that_are_read_as_others_are_found(tmp_path):
    """Catches a checksum of the bytes alone: the same bytes are another table, or other numbers."""
    run(folder=tmp_path)
    path = tmp_path / checkpoint.NAME
    with safe_open(path, framework="pt") as file:
        header, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    name = "model.0.weight"
    for other in (tensors[name].reshape(3, 5), tensors[name].view(torch.int64)):
        save_file(tensors | {name: other.contiguous()}, path, metadata=header)
        with pytest.raises(ValueError, match="checksum does not fit"):
            checkpoint.load(tmp_path)


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
    assert refusal(ValueError, checkpoint.load_model, tmp_path, network(n_hidden=4)) == snapshot(
        "load_model: the checkpoint belongs to another model: 0.bias is float64 (5,), expected float64 (4,); 0.weight is float64 (5, 3), expected float64 (4, 3); 1.bias is float64 (5,), expected float64 (4,); 1.weight is float64 (5,), expected float64 (4,); 4.weight is float64 (2, 5), expected float64 (2, 4). Build the one it was made with, or train in another folder."
    )


def test_another_run_in_the_folder_is_left_alone(tmp_path):
    """Catches two runs that take turns at one checkpoint, so that the last one wins."""
    config = dataclasses.replace(CONFIG, save_every=3)

    def with_a_rival(model):
        if not checkpoint.has_checkpoint(tmp_path):
            with torch.enable_grad():
                run(folder=tmp_path)
        return 0.0

    with pytest.raises(FileExistsError, match=r"another run .*checkpoint .*meanwhile"):
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

    def raise_disk_full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", raise_disk_full)
    longer = dataclasses.replace(CONFIG, n_steps=8)
    with pytest.raises(OSError, match=r"step 8 .*No space left.*before is whole"):
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
        r"0.bias is float64 \(5,\), expected float64 \(4,\); .*4.weight is .*\(2, 5\), expected": network(4),
        r"0.bias is float64 \(5,\), expected float32 \(5,\)": network(dtype=torch.float32),
        r"5.bias is missing; 5.weight is missing": nn.Sequential(*network(), nn.Linear(2, 2)),
        r"1.bias is unexpected; 1.weight is unexpected": nn.Sequential(network()[0], nn.Tanh(), *network()[2:]),
    }
    for message, model in cases.items():
        before = [p.detach().clone() for p in model.parameters()]
        with pytest.raises(ValueError, match=f"belongs to another model: {message}"):
            run(model=model, folder=tmp_path, resume=True)
        assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
