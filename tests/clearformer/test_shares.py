"""Tensors in shares: one process as if it were several, and what is wrong with a folder that it reads."""

import dataclasses
import json
import re
import shutil

import pytest
import torch
import torch.distributed as dist
from clearformer import checkpoint, shares
from clearformer.training import train
from clearformer.training_state import tensors_like
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.refusals import refusal
from tests.clearformer.small_runs import CONFIG, batch, loss, network, partly_frozen, run

pytestmark = pytest.mark.slow
STEP = "step-00000007"
FILE = "shard-00001-model-00001-of-00001.safetensors"
SHARED = dataclasses.replace(CONFIG, shard_on="cpu")


@pytest.fixture(autouse=True, scope="module")
def require_shares():
    """Asked here, since the answer takes an import that every process of the suite would do."""
    if not shares.can_be_written():
        pytest.skip("needs a PyTorch that writes shares as safetensors")


@pytest.fixture
def group(tmp_path_factory):
    """This process as the only one of a group; a model is then split into one share."""
    store = dist.FileStore(str(tmp_path_factory.mktemp("group") / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def split(folder, model=None, config=SHARED, **options):
    return run(config, model, folder=folder, **options)


def test_a_split_model_is_kept_in_shares_and_goes_on_alone_and_split(group, tmp_path):
    """Catches a form that only the number of processes reads that wrote it; and an old form that is left."""
    whole = split(tmp_path / "whole")[1].losses
    split(tmp_path / "a", after_step=lambda done, _: done == 3)
    assert names(tmp_path / "a") == ["step-00000003/checkpoint.json", f"step-00000003/{FILE}"]
    assert checkpoint.has_checkpoint(tmp_path / "a")
    assert run(folder=tmp_path / "a", resume=True, after_step=lambda done, _: done == 5)[1].losses == whole[:5]
    assert names(tmp_path / "a") == [checkpoint.NAME]
    model, history = split(tmp_path / "a", resume=True)
    assert history.losses == whole and names(tmp_path / "a") == [f"{STEP}/checkpoint.json", f"{STEP}/{FILE}"]
    alone = network()
    checkpoint.load_model(tmp_path / "a", alone)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight.full_tensor(), alone.state_dict()[name])


def test_frozen_weights_are_left_out(group, tmp_path):
    """Catches a checkpoint of adapters as large as the model."""
    split(tmp_path, partly_frozen())
    assert {"model.0.weight", "model.0.bias"}.isdisjoint(checkpoint.load(tmp_path)[0])
    with pytest.raises(ValueError, match="other frozen weights"):
        split(tmp_path, partly_frozen(seed=3), resume=True)


def test_the_one_that_is_further_counts(group, tmp_path):
    """Catches a run that goes back, because it was killed between a new form and the end of the old one."""
    for step, folder in ((3, "single"), (5, "shares"), (6, "both")):
        run(
            SHARED if folder == "shares" else CONFIG,
            folder=tmp_path / folder,
            after_step=lambda n, _, step=step: n == step,
        )
    shutil.copytree(tmp_path / "shares" / "step-00000005", tmp_path / "both" / "step-00000005")
    assert len(checkpoint.load(tmp_path / "both")[0]["losses"]) == 6
    shutil.copy(tmp_path / "single" / checkpoint.NAME, tmp_path / "shares")
    assert len(checkpoint.load(tmp_path / "shares")[0]["losses"]) == 5
    (tmp_path / "shares" / checkpoint.NAME).write_text("no tensors")
    assert len(checkpoint.load(tmp_path / "shares")[0]["losses"]) == 5


def test_what_a_killed_process_left_is_no_checkpoint_and_goes(group, tmp_path):
    for name in ("step-00000002.unfinished", "step-00000004", f"{STEP}.unfinished"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_text("half a file")
        (tmp_path / name / "shard-00002-model-00001-of-00001.safetensors").write_text("of a run with more processes")
    (tmp_path / "step-of-mine").mkdir()
    assert not checkpoint.has_checkpoint(tmp_path)
    split(tmp_path)
    assert names(tmp_path) == [f"{STEP}/checkpoint.json", f"{STEP}/{FILE}"] and (tmp_path / "step-of-mine").is_dir()


def test_one_process_without_a_group_looks_at_every_file(tmp_path):
    """Catches files that nobody looks at where there is one process for all of them."""
    named = [tmp_path / name for name in ("a.safetensors", "b.safetensors")]
    for path in named:
        path.write_text(path.name)
    files = {path.name: shares._size_and_checksum(path) for path in named}
    shares._check_files("train", tmp_path, files)
    for path in named:
        path.write_text("altered")
        with pytest.raises(ValueError, match=f"{path.name} is truncated or altered"):
            shares._check_files("train", tmp_path, files)
        path.write_text(path.name)


def test_what_is_split_as_another_keeps_its_own_dtype(group, tmp_path):
    """Catches weights that pass for those of a model in half precision."""
    split(tmp_path)
    like = tensors_like(network().bfloat16())
    whole, split_ones = (shares.read_shares("train", tmp_path / STEP, *it)[0] for it in ((), (like,)))
    assert any(like(name) is not None and tensor.dtype != torch.bfloat16 for name, tensor in whole.items())
    assert {name: tensor.dtype for name, tensor in whole.items()} == {n: t.dtype for n, t in split_ones.items()}


def test_another_run_and_a_full_disk_leave_it_alone(group, tmp_path, monkeypatch):
    split(tmp_path)
    with pytest.raises(FileExistsError, match="already holds a checkpoint"):
        split(tmp_path)
    facts, other = {"run": "another", "replaces": None}, network()
    with pytest.raises(FileExistsError, match="another run has written"):
        checkpoint.save(tmp_path, other, torch.optim.SGD(other.parameters()), [], facts)
    longer = dataclasses.replace(SHARED, n_steps=9)
    monkeypatch.setattr(shares, "_files_of", lambda *_: (_ for _ in ()).throw(OSError("No space left on device")))
    assert refusal(OSError, lambda: split(tmp_path, config=longer, resume=True)).replace(str(tmp_path), "FOLDER") == (
        snapshot(
            "train: the checkpoint after step 9 could not be written to FOLDER (No space left on device). The one of "
            "before is whole; make room or choose another folder, then resume."
        )
    )
    assert len(checkpoint.load(tmp_path)[0]["losses"]) == 7


def test_processes_that_share_no_folder_are_told(group, tmp_path, monkeypatch):
    """Catches a checkpoint of which other machines hold the rest, where nobody will find it."""
    monkeypatch.setattr(shares, "_files_of", lambda *_: {"shard-00002.safetensors": [1, 1]})
    with pytest.raises(OSError, match=r"'shard-00002.safetensors' of another process is not there"):
        split(tmp_path)
    assert not checkpoint.has_checkpoint(tmp_path)


DAMAGED = {
    "missing": lambda path: (path / FILE).unlink(),
    "shortened": lambda path: (path / FILE).write_bytes((path / FILE).read_bytes()[:-8]),
    "altered": lambda path: (path / FILE).write_bytes((path / FILE).read_bytes()[:-1] + b"?"),
    "a stranger": lambda path: shutil.copy(path / FILE, path / "shard-00009.safetensors"),
    "facts altered": lambda path: edit(path, lambda content: content["facts"].update(n_processes=5)),
    "facts without files": lambda path: edit(path, lambda content: content.pop("files")),
    "facts are a list": lambda path: (path / shares.FACTS).write_text("[]"),
}


def edit(path, change):
    content = json.loads((path / shares.FACTS).read_text())
    change(content)
    (path / shares.FACTS).write_text(json.dumps(content))


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_folder_is_told(group, tmp_path, how):
    """Catches numbers that are not those of the run, and raw errors."""
    split(tmp_path)
    DAMAGED[how](tmp_path / STEP)
    told = refusal(ValueError, lambda: checkpoint.load(tmp_path)).replace(str(tmp_path), "FOLDER")
    assert re.sub(r"of \d+ bytes", "of N bytes", told) == TOLD[how]


MEND = " Bring all files of the folder to one place that every process reads, or delete it to go on from an older one."
AT = f"load: the checkpoint FOLDER/{STEP} is damaged: "
FACTS_AT = f"load: FOLDER/{STEP}/checkpoint.json of N"
TOLD = {
    "missing": f"{AT}{FILE} of 1 files is missing.{MEND}",
    "shortened": f"{AT}{FILE} is truncated or altered.{MEND}",
    "altered": f"{AT}{FILE} is truncated or altered.{MEND}",
    "a stranger": f"{AT}shard-00009.safetensors does not belong to it.{MEND}",
    "facts altered": f"{FACTS_AT} bytes is truncated or altered (its checksum does not fit its contents).{MEND}",
    "facts without files": f"{FACTS_AT} bytes is truncated or altered (its checksum does not fit its contents).{MEND}",
    "facts are a list": f"load: FOLDER/{STEP}/checkpoint.json is no JSON object (it holds a list).{MEND}",
}


def test_another_model_is_refused_by_name(group, tmp_path):
    split(tmp_path)
    told = refusal(ValueError, lambda: split(tmp_path, network(n_hidden=4), resume=True))
    assert "another model: 0.bias is float64 (5,), expected float64 (4,); 0.weight is float64 (5, 3), expected" in told
    wider = nn.Sequential(*network(), nn.Linear(2, 2, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"5.weight is missing"):
        train(wider, loss, batch, SHARED, folder=tmp_path, resume=True, progress=False)


def test_where_pytorch_writes_no_shares_one_file_holds_all(group, tmp_path, monkeypatch):
    """Catches a run under an older PyTorch that cannot save."""
    monkeypatch.setattr("torch.distributed.checkpoint.HuggingFaceStorageWriter", object)
    split(tmp_path)
    assert names(tmp_path) == [checkpoint.NAME]
