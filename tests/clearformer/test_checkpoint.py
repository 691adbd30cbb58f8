"""What a checkpoint promises of the disk, of other runs and of older versions."""

import dataclasses
import inspect
import json
import os
import stat
import zlib

import pytest
import torch
from clearformer import checkpoint, shares, training_state
from clearformer.optimization import adamw
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from tests.clearformer.small_runs import CONFIG, network, partly_frozen, run

NAME = checkpoint.NAME


def contents(folder):
    """The metadata and the tensors of a checkpoint, to be changed and written again."""
    with safe_open(folder / NAME, framework="pt") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, no mapping


def rewrite_facts(folder, change):
    """The checkpoint with other facts, under a checksum that fits."""
    metadata, tensors = contents(folder)
    facts = json.loads(metadata["facts"])
    change(facts)
    text = json.dumps(facts)
    crc = str(checkpoint._checksum(tensors, text))
    save_file(tensors, folder / NAME, metadata={"facts": text, "crc32": crc})


def test_it_is_on_the_disk_before_it_takes_the_name(tmp_path, monkeypatch):
    """Catches a power cut that leaves the new name on an empty file, or forgets the new name; and files left open."""
    model, done, descriptors = network(), [], []
    fsync, replace = os.fsync, os.replace

    def flush(descriptor):
        descriptors.append(descriptor)
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("renamed"), replace(*names)))
    checkpoint.save(tmp_path, model, adamw(model, CONFIG), [], {})
    assert done == ["file", "renamed", *(["folder"] if os.name != "nt" else [])]
    for descriptor in descriptors:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_folder_is_made_with_those_above_it(tmp_path):
    run(folder=tmp_path / "of" / "today")
    assert checkpoint.has_checkpoint(tmp_path / "of" / "today") and not checkpoint.has_checkpoint(tmp_path / "of")
    (tmp_path / "folder" / NAME).mkdir(parents=True)
    assert not checkpoint.has_checkpoint(tmp_path / "folder")  # a folder of this name is none


def test_facts_that_are_altered_are_found(tmp_path):
    """Catches a checksum of the numbers alone."""
    run(folder=tmp_path)
    metadata, tensors = contents(tmp_path)
    altered = metadata | {"facts": metadata["facts"].replace('"n_steps": 7', '"n_steps": 8')}
    save_file(tensors, tmp_path / NAME, metadata=altered)
    with pytest.raises(ValueError, match="checksum does not fit"):
        checkpoint.load(tmp_path)


def test_a_damaged_checkpoint_in_the_way_is_replaced(tmp_path):
    """Catches a run that has computed for hours and cannot save, since what lies there cannot be read."""
    (tmp_path / NAME).write_bytes(b"torn")
    model = network()
    checkpoint.save(tmp_path, model, adamw(model, CONFIG), [0.5], {"run": "mine", "replaces": None})
    assert checkpoint.load(tmp_path)[0]["losses"].tolist() == [0.5]


@pytest.mark.parametrize(("facts", "fits"), [("mine", True), ("older", True), ("other", False)])
def test_a_run_replaces_its_own_checkpoint_and_the_one_that_it_began_with(tmp_path, facts, fits):
    model = network()
    optimizer = adamw(model, CONFIG)
    checkpoint.save(tmp_path, model, optimizer, [0.5], {"run": facts})
    mine = {"run": "mine", "replaces": "older"}
    if fits:
        checkpoint.save(tmp_path, model, optimizer, [0.5, 0.25], mine)
    else:
        with pytest.raises(FileExistsError, match=r"another run .*checkpoint"):
            checkpoint.save(tmp_path, model, optimizer, [0.5, 0.25], mine)
    assert len(checkpoint.load(tmp_path)[0]["losses"]) == 1 + fits


def test_every_run_has_a_mark_of_its_own_and_knows_what_it_replaces(tmp_path):
    """Catches two runs with one mark, which would take each other's checkpoint for their own."""
    marks = []
    for name in ("one", "two"):
        run(folder=tmp_path / name)
        marks.append(checkpoint.load(tmp_path / name)[1])
    assert marks[0]["run"] != marks[1]["run"] and [mark["replaces"] for mark in marks] == [None, None]
    run(dataclasses.replace(CONFIG, n_steps=8), folder=tmp_path / "one", resume=True)
    assert checkpoint.load(tmp_path / "one")[1]["replaces"] == marks[0]["run"]


def test_a_checkpoint_without_a_mark_is_resumed(tmp_path):
    """Catches a run of an older version that can no longer be ended."""
    _, first = run(folder=tmp_path)
    rewrite_facts(tmp_path, lambda facts: facts.pop("run"))
    longer = dataclasses.replace(CONFIG, n_steps=9)
    assert run(longer, folder=tmp_path, resume=True)[1].losses[:7] == first.losses


def test_a_checkpoint_without_checksums_is_resumed_and_gets_them(tmp_path, monkeypatch):
    """Catches a run with frozen weights, begun before checkpoints left them out, that is lost or stays large."""
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "frozen_checksums", lambda model: {})
        run(model=partly_frozen(), folder=tmp_path)
    rewrite_facts(tmp_path, lambda facts: facts.pop(training_state.FROZEN))
    run(dataclasses.replace(CONFIG, n_steps=9), partly_frozen(), folder=tmp_path, resume=True)
    tensors, facts = checkpoint.load(tmp_path)
    assert {*facts[training_state.FROZEN]} == {"0.weight", "0.bias"}
    assert not any(name.startswith("model.0.") for name in tensors)


def test_the_checksum_of_a_weight_stays_the_one_in_older_checkpoints():
    """Catches another one, with which each checkpoint of a run with frozen weights so far would be refused."""
    weight = torch.arange(3.0)
    known = zlib.crc32(weight.numpy().tobytes(), zlib.crc32(b" torch.float32 (3,)"))
    assert training_state.checksum_of(weight) == known


def test_another_number_of_processes_has_to_read_the_same_rows(tmp_path):
    """Catches a run that goes on with other rows, since each process takes its share of a batch; and one that may not
    go on although ``grad_accum_steps`` makes up for it.
    """
    run(folder=tmp_path)
    rewrite_facts(tmp_path, lambda facts: facts.update(n_processes=2))
    with pytest.raises(ValueError, match="n_processes × grad_accum_steps was 2, is 1"):
        run(folder=tmp_path, resume=True)
    more_parts = dataclasses.replace(CONFIG, grad_accum_steps=2)
    assert len(run(more_parts, folder=tmp_path, resume=True)[1].losses) == CONFIG.n_steps


def test_evaluations_come_back_under_their_steps(tmp_path):
    """Catches steps that JSON has made texts."""
    config = dataclasses.replace(CONFIG, eval_every=3)
    run(config, folder=tmp_path, evaluate=lambda model: 0.5)
    longer = dataclasses.replace(config, n_steps=8)
    _, history = run(longer, folder=tmp_path, resume=True, evaluate=lambda model: 0.25)
    assert history.evaluations == {3: 0.5, 6: 0.5, 7: 0.5, 8: 0.25}


def test_the_first_checkpoint_that_cannot_be_written_says_that_there_is_none(tmp_path, monkeypatch):
    def raise_disk_full(tensors, path, metadata):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", raise_disk_full)
    with pytest.raises(OSError, match=r"after step 7 .*none before"):
        run(folder=tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_tied_weights_are_there_once_and_come_back_tied(tmp_path):
    """Catches a copy of a weight that has two names, which would be a second one after loading."""

    def tied_model():
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)).double()
        model[1].weight = model[0].weight
        return model

    model, other = tied_model(), tied_model()
    checkpoint.save(tmp_path, model, adamw(model, CONFIG), [], {})
    assert sorted(name for name in contents(tmp_path)[1] if "weight" in name) == ["model.0.weight"]
    checkpoint.load_model(tmp_path, other)
    assert torch.equal(other[1].weight, model[0].weight) and other[1].weight is other[0].weight


def test_buffers_are_kept(tmp_path):
    """Catches what a model counts beside its weights, such as the means of a BatchNorm."""
    model = torch.nn.BatchNorm1d(3)
    model(torch.randn(8, 3))
    checkpoint.save(tmp_path, model, adamw(model, CONFIG), [], {})
    other = torch.nn.BatchNorm1d(3)
    checkpoint.load_model(tmp_path, other)
    assert torch.equal(other.running_mean, model.running_mean) and other.num_batches_tracked == 1


def test_what_is_no_model_is_refused(tmp_path):
    run(folder=tmp_path)
    with pytest.raises(TypeError, match="load_model: model='weights', expected a torch"):
        inspect.unwrap(checkpoint.load_model)(tmp_path, "weights")


def test_what_has_no_mark_replaces_what_is_there(tmp_path):
    """Catches ``save`` outside of a run, that works once."""
    model = network()
    for losses in ([0.5], [0.5, 0.25]):
        checkpoint.save(tmp_path, model, adamw(model, CONFIG), losses, {})
        assert checkpoint.load(tmp_path)[0]["losses"].tolist() == losses


def test_what_is_read_is_split_as_the_weight_that_it_is_or_belongs_to():
    """Catches weights that every process reads whole, or moments that are nobody's."""
    model = nn.Linear(2, 3)
    like = training_state.tensors_like(model)
    assert like("model.weight") is model.weight and like("optimizer.bias:exp_avg") is model.bias
    assert like("losses") is None


@pytest.mark.slow
def test_whether_shares_can_be_written_is_what_the_writer_says(tmp_path):
    """Catches the opposite answer, with which every test of shares would be left out."""
    import torch.distributed.checkpoint as dcp  # takes a second

    try:
        dcp.HuggingFaceStorageWriter(str(tmp_path), save_distributed=True)
        can = True
    except (AttributeError, TypeError):
        can = False
    assert shares.can_be_written() == can
