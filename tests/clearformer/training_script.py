"""Run by test_train_processes.py in its own processes: a small model learns, is killed, resumes; or two share it."""

import contextlib
import functools
import gc
import importlib
import json
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from clearbook.data.builtin import random_windows, zen_text
from clearformer import checkpoint
from clearformer.generation import prepare_for_generation
from clearformer.parallel import gather_tensor
from clearformer.tokenizers import CharTokenizer
from clearformer.training import TrainConfig, train
from torch import nn
from torch.nn.parallel import DistributedDataParallel

TOKENIZER = CharTokenizer(zen_text())
IDS = torch.tensor(TOKENIZER.encode(zen_text()))
N_STEPS = 41


class NextCharacter(nn.Module):
    """Small, but with all that a run could lose: dropout, a norm, tied and frozen weights, a buffer that changes."""

    def __init__(self, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(TOKENIZER.n_vocab, 12)
        self.body = nn.ModuleList([nn.LayerNorm(12), nn.Linear(12, 20), nn.GELU(), nn.Dropout(dropout)])
        self.out = nn.Linear(20, 12)
        self.out.bias.requires_grad_(False)
        self.head = nn.Linear(12, TOKENIZER.n_vocab, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("n_calls", torch.zeros((), dtype=torch.int64))

    def forward(self, ids):
        self.n_calls += self.training
        x = self.embedding(ids)
        for layer in self.body:
            x = layer(x)
        return self.head(self.out(x))


def loss(model, inputs, targets):
    return nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def batch(n, generator):
    return random_windows(IDS, 9, n, generator)


def run(folder, dropout=0.3, **changes):
    """The losses and the final weights of a run in ``folder``, resumed if it has begun."""
    torch.manual_seed(3 + int(os.environ.get("RANK", "0")))  # of a pair, the second begins like the first all the same
    model = prepare_for_generation(NextCharacter(dropout))  # whose layout nothing may lose or mix up
    config = TrainConfig(
        **{"n_steps": N_STEPS, "batch_size": 6, "warmup_steps": 4, "grad_accum_steps": 2, "save_every": 3} | changes
    )
    resume = checkpoint.has_checkpoint(folder)
    history = train(
        model,
        loss,
        batch,
        config,
        evaluate=lambda m: loss(m, IDS[None, :-1], IDS[None, 1:]),
        folder=folder,
        resume=resume,
        progress=False,
    )
    weights = {name: gather_tensor(tensor).tolist() for name, tensor in model.state_dict().items()}
    here = sum(getattr(p, "_local_tensor", p).numel() for p in model.parameters())
    return {
        "losses": history.losses,
        "evaluations": history.evaluations,
        "weights": weights,
        "resumed": resume,
        "numbers_here": here,
    }


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def write_in_pieces(tensors, path, metadata, die_after=None, pause=0.0):
    """What ``save_file`` does, but slowly, or only up to a piece."""
    from safetensors.torch import save

    data = save(tensors, metadata)
    with open(path, "wb") as file:
        for piece in range(5):
            if piece == die_after:
                die()
            file.write(data[piece * len(data) // 5 : (piece + 1) * len(data) // 5])
            file.flush()
            time.sleep(pause)


def before_rename():
    os.replace = lambda *_: die()


def after_rename():
    replace = os.replace
    os.replace = lambda *names: (replace(*names), die())


def in_the_step(number):
    global batch
    calls, draw = iter(range(number)), batch

    def batch_or_die(n, generator):
        if next(calls, None) is None:
            die()
        return draw(n, generator)

    batch = batch_or_die


def in_the_writing(piece):
    checkpoint.save_file = functools.partial(write_in_pieces, die_after=piece)


MOMENTS = {
    "before the first save": lambda: in_the_step(2),
    "first save, nothing written": lambda: in_the_writing(0),
    "first save, half written": lambda: in_the_writing(3),
    "between two saves": lambda: in_the_step(5),
    "later save, half written": lambda: in_the_writing(2),
    "later save, all written, not renamed": before_rename,
    "just after the rename": after_rename,
}


def run_in_fork(work) -> int:
    """A fork, so that an attempt costs no imports; torch has not computed anything yet and has one thread."""
    pid = os.fork()
    if pid:
        return pid
    work()
    os._exit(0)


def in_child(prepare, result: Path, folder: Path) -> int:
    return run_in_fork(lambda: (prepare(), result.write_text(json.dumps(run(folder)))))


def kill_and_resume(root: Path):
    """Prints how each attempt ended; leaves the results in ``root``."""
    torch.optim.AdamW(NextCharacter(0.0).parameters(), fused=True)  # imports what it needs, once for all attempts
    attempts = []
    os.waitpid(in_child(lambda: None, root / "whole.json", root / "whole"), 0)
    for name, prepare in MOMENTS.items():
        _, status = os.waitpid(in_child(prepare, root / "named.json", root / "named"), 0)
        attempts.append((name, status, checkpoint.has_checkpoint(root / "named")))
    os.waitpid(in_child(lambda: None, root / "named.json", root / "named"), 0)
    slow = functools.partial(write_in_pieces, pause=0.002)
    generator, random_kills = random.Random(5), 0
    for attempt in range(70):
        pid = in_child(lambda: setattr(checkpoint, "save_file", slow), root / "random.part", root / "random")
        time.sleep(generator.uniform(0.01, 0.06 * 1.06**attempt))  # ever longer, so that it ends on slow machines too
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        random_kills += status == signal.SIGKILL
        if status == 0:
            os.replace(root / "random.part", root / "random.json")
            break
    print(json.dumps({"attempts": attempts, "random_kills": random_kills}))


def pair(result: Path, batch_size: int):
    """Under torchrun or alone: without dropout, so that the losses can be the same; float64, so that one sees it."""
    torch.set_default_dtype(torch.float64)
    destroy = dist.destroy_process_group
    senders: list[str] = []

    def note_and_destroy():
        senders.extend(type(one).__name__ for one in gc.get_objects() if isinstance(one, DistributedDataParallel))
        destroy()

    dist.destroy_process_group = note_and_destroy
    folder, options = result.parent / f"{result.stem} run", {"dropout": 0.0, "batch_size": batch_size, "n_steps": 21}
    outcome = {"senders": senders} | run(folder, **options)
    dist.destroy_process_group = destroy
    if os.environ.get("RANK", "0") == "0":
        result.write_text(json.dumps(outcome))


class RunInterrupted(Exception):
    """Ends a run in the middle, in all processes at the same step."""


def interrupt_after(number):
    calls, draw = iter(range(number)), batch

    def batch_or_interrupt(n, generator):
        if next(calls, None) is None:
            raise RunInterrupted
        return draw(n, generator)

    return batch_or_interrupt


def run_shared(root: Path):
    """Under torchrun: a run that is split among the processes, and one that is interrupted at step 8 and resumed."""
    global batch
    torch.set_default_dtype(torch.float64)
    store = dist.FileStore(str(root / "store"), 2)  # torchrun's has served for ``pair``
    dist.init_process_group("gloo", store=store, rank=int(os.environ["RANK"]), world_size=2)
    options = {"dropout": 0.0, "n_steps": 21, "shard_on": "cpu"}
    results = {"whole": run(root / "whole", **options)}
    draw, batch = batch, interrupt_after(8)
    with contextlib.suppress(RunInterrupted):
        run(root / "resumed", **options)
    batch = draw
    results["resumed"] = run(root / "resumed", **options)
    if dist.get_rank() == 0:
        (root / "shared.json").write_text(json.dumps(results))
    dist.destroy_process_group()


def run_both(root: Path):
    """Under torchrun: a pair, which ``train`` brings together, and after it ``run_shared``."""
    pair(root / "pair.json", 6)
    run_shared(root)


def as_by_torchrun(root: Path):
    """``run_both`` in two forks, told what torchrun tells its processes, and beside them one process for both."""
    importlib.import_module("torch.distributed.fsdp")  # takes as long as all else
    (root / "two").mkdir()
    free = socket.create_server(("127.0.0.1", 0))
    told = {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free.getsockname()[1]),
        "TORCHELASTIC_RUN_ID": "forks",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }

    def one_of_two(rank: str):
        os.environ.update(told, RANK=rank, LOCAL_RANK=rank)
        run_both(root / "two")

    pids = [run_in_fork(functools.partial(one_of_two, rank)) for rank in ("0", "1")]
    pids.append(run_in_fork(lambda: pair(root / "one.json", 12)))
    # Where they meet lives, as with torchrun, until both have ended; only now, since threads and forks don't agree.
    store = dist.TCPStore("127.0.0.1", free.getsockname()[1], is_master=True, master_listen_fd=free.detach())
    if any(status for _, status in [os.waitpid(pid, 0) for pid in pids]):
        sys.exit("A process that trains beside another, or alone for two, has failed.")
    del store


def all_of_it(root: Path):
    """What needs no torchrun: one start of Python, since that takes longest."""
    kill_and_resume(root)
    as_by_torchrun(root)


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"all": all_of_it, "two": run_both}[sys.argv[1]](Path(sys.argv[2]))
