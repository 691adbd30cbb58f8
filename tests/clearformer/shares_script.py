"""Run by test_shares_processes.py: a model split among two processes is killed, and goes on in one, two and four."""

import functools
import importlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from clearformer import checkpoint, shares, training_state
from clearformer.losses import IGNORED, sum_and_count
from clearformer.parallel import gather_tensor
from clearformer.training import TrainConfig, train

from tests.clearformer.training_script import IDS, NextCharacter, random_windows, run_in_fork

N_STEPS, STOP, PARTS = 12, 6, 4


def answers(n, generator):
    """Rows of which only the end counts, in some all of it and in others a token: the processes count unequally."""
    inputs, targets = random_windows(IDS, 9, n, generator)
    first = torch.randint(9, (n, 1), generator=generator).where(torch.arange(n)[:, None] < n // 2, 8)
    return inputs, targets.masked_fill(torch.arange(9) < first, IGNORED)


def loss_on_answers(model, inputs, targets):
    return sum_and_count(model(inputs), targets)


def digest(model, optimizer):
    """A checksum of each weight, buffer and moment, put together; every process must ask."""
    named = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        named |= {f"{name}:{key}": tensor for key, tensor in optimizer.state.get(parameter, {}).items()}
    return {name: training_state.checksum_of(gather_tensor(tensor)) for name, tensor in named.items()}


def learn(folder, n, stop=None, shard_on="cpu"):
    """A run, or its next piece, up to ``stop``; with the states that it saved, and the one that it began with."""
    states: dict[str, Any] = {"begun": None, "saved": {}}
    save, begin = checkpoint.save, checkpoint.begin

    def noted_save(folder, model, optimizer, losses, facts):
        states["saved"][str(len(losses))] = digest(model, optimizer)
        save(folder, model, optimizer, losses, facts)

    def noted_begin(folder, model, optimizer, facts, *, resume):
        found = begin(folder, model, optimizer, facts, resume=resume)
        states["begun"] = digest(model, optimizer)
        return found

    checkpoint.save, checkpoint.begin = noted_save, noted_begin
    torch.manual_seed(3)
    config = TrainConfig(
        N_STEPS, 3, warmup_steps=2, grad_accum_steps=PARTS // n, save_every=3, shard_on=shard_on if n > 1 else None
    )
    history = train(
        NextCharacter(0.3),
        loss_on_answers,
        answers,
        config,
        after_step=lambda done, _: done == stop,
        folder=folder,
        resume=checkpoint.has_checkpoint(folder),
        progress=False,
    )
    return states | {"losses": history.losses}


def one_of(n, rank, store, work):
    torch.set_default_dtype(torch.float64)
    if n > 1:
        dist.init_process_group("gloo", store=dist.FileStore(str(store), n), rank=rank, world_size=n)
    work(rank)
    if n > 1:
        dist.destroy_process_group()


def together(root, name, n, work):
    """How ``n`` forks ended; if one dies, the others are stopped, as torchrun does."""
    store = root / f"{name} store"
    pids = [run_in_fork(functools.partial(one_of, n, rank, store, work)) for rank in range(n)]
    statuses: dict[int, int] = {}
    while len(statuses) < n:
        pid, status = os.wait()
        statuses[pid] = status
        if status:
            for other in set(pids) - statuses.keys():
                os.kill(other, signal.SIGKILL)
    return [statuses[pid] for pid in pids]


def finish(root, name, folder, n, **options):
    """The outcome of a run in ``n`` processes, as the first one tells it."""

    def work(rank):
        found = learn(folder, n, **options)
        if rank == 0:
            (root / f"{name}.json").write_text(json.dumps(found))

    assert not any(together(root, name, n, work)), name
    return json.loads((root / f"{name}.json").read_text())


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def dies_in_the_writing():
    vars(importlib.import_module("safetensors.torch"))["save"] = die


MOMENTS = {  # who dies, and where; the step of the checkpoint that is whole afterwards
    "before the first save": (1, lambda: setattr(sys.modules[__name__], "answers", die), 0),
    "first save, a file without contents": (1, dies_in_the_writing, 0),
    "first save, all files, no name": (0, lambda: setattr(shares, "_finish", die), 0),
    "named, the older one not deleted": (0, lambda: setattr(shares, "remove_shares", die), 3),
    "second save, a file without contents": (0, dies_in_the_writing, 3),
    "second save, all files, not renamed": (0, lambda: only_folders(), 3),
    "another is dead when the rest has written": (1, lambda: setattr(shares, "_files_of", die), 3),
}


def only_folders():
    """Die where the folder takes its name, not where a file in it does."""
    replace = os.replace
    vars(os)["replace"] = lambda a, b: die() if Path(a).is_dir() else replace(a, b)


def killed(root, folder):
    """After each death: how many died of it, and the step of the checkpoint that is there."""
    found = {}
    for number, (name, (who, prepare, _)) in enumerate(MOMENTS.items()):

        def work(rank, who=who, prepare=prepare):
            if rank == who:
                prepare()
            learn(folder, 2)

        statuses = together(root, f"killed {number}", 2, work)
        found[name] = [statuses[who] == signal.SIGKILL, max(shares.steps_of(folder), default=0)]
    return found


def stopped_and_copied(root, name, n, others):
    """A run in ``n`` processes that stops, and goes on from copies of its folder in other numbers of them."""
    outcome = {"stopped": finish(root, name, root / name, n, stop=STOP)}
    for other in others:
        folder = root / f"{name} to {other}"
        shutil.copytree(root / name, folder)
        outcome[str(other)] = finish(root, folder.name, folder, other)
    return outcome


def all_of_it(root):
    for module in ("fsdp", "checkpoint", "tensor"):
        importlib.import_module(f"torch.distributed.{module}")
    torch.optim.AdamW(NextCharacter(0.0).parameters(), fused=True)  # imports what it needs, once for all forks
    report = {"whole": {str(n): finish(root, f"whole {n}", root / f"whole {n}", n) for n in (1, 2, 4)}}
    report["copies"] = finish(root, "copies", root / "copies", 2, shard_on=None)
    report["killed"] = killed(root, root / "killed")
    report["after"] = finish(root, "after", root / "killed", 2)
    report["from two"] = stopped_and_copied(root, "from two", 2, (1, 2, 4))
    report["from one"] = stopped_and_copied(root, "from one", 1, (2,))
    print(json.dumps(report))


if __name__ == "__main__":
    torch.set_num_threads(1)
    all_of_it(Path(sys.argv[1]))
