"""Two processes train one GPT together, by rows and by features.

    python two_processes.py            three ways, compared with one process
    python two_processes.py --stop 1   the process of rank 1 dies in its third step

It builds on gpt.py. Chapter 15 of Clearformer explains it.
"""

import json
import multiprocessing
import os
import tempfile
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import wait
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from gpt import GPT


class Gone(RuntimeError):
    """Another process has ended, so that no sum can be formed."""


@contextmanager
def in_touch():
    """Errors of sending mean that another process is gone."""
    try:
        yield
    except RuntimeError as error:
        raise Gone(str(error)) from error


def all_reduce(x):
    """The sum of x over all processes, for everyone. One process alone has it."""
    if not dist.is_initialized():
        return x
    total = x.clone()
    with in_touch():
        dist.all_reduce(total)
    return total


def loss_of_share(model, ids, rank, R):
    own = ids.tensor_split(R)[rank]
    scores = model(own[:, :-1]).flatten(0, 1)
    loss = F.cross_entropy(scores, own[:, 1:].flatten())
    return loss * len(own) / len(ids)


def by_rows(model, ids, rank, R):
    """The loss of all rows; every process is left with their gradient."""
    loss = loss_of_share(model, ids, rank, R)
    loss.backward()
    for weight in model.parameters():
        weight.grad = all_reduce(weight.grad)
    return all_reduce(loss.detach())


def overlapped(model, ids, rank, R):
    """By rows, with each sum on its way while the layers below still work."""
    sums = []

    def send(weight):  # called as soon as this gradient is complete
        with in_touch():
            sums.append(dist.all_reduce(weight.grad, async_op=True))

    weights = model.parameters() if dist.is_initialized() else ()
    hooks = [w.register_post_accumulate_grad_hook(send) for w in weights]
    loss = loss_of_share(model, ids, rank, R)
    loss.backward()
    with in_touch():
        for one in sums:
            one.wait()
    for hook in hooks:
        hook.remove()
    return all_reduce(loss.detach())


class SumForward(torch.autograd.Function):
    """The outputs of the parts are summed. Each part has the gradient of the sum."""

    @staticmethod
    def forward(ctx, part):
        return all_reduce(part)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class SumBackward(torch.autograd.Function):
    """All parts read the same x. What each asks of it is summed on the way back."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return all_reduce(gradient)


class Part(nn.Module):
    """One process's part of a sublayer."""

    def __init__(self, sublayer):
        super().__init__()
        self.sublayer = sublayer

    def forward(self, x, **options):
        return SumForward.apply(self.sublayer(SumBackward.apply(x), **options))


def keep_outputs(linear, own):
    linear.weight = nn.Parameter(linear.weight[own].detach().clone())
    linear.bias = nn.Parameter(linear.bias[own].detach().clone())


def keep_inputs(linear, own, first):
    linear.weight = nn.Parameter(linear.weight[:, own].detach().clone())
    if not first:  # the bias is added once, not R times
        linear.bias = None


def cut(block, rank, R):
    """Leave this process its share of a block's heads and hidden units."""
    heads, network = block.attention, block.feed_forward
    if heads.n_heads % R:
        raise ValueError(f"{R} processes cannot share {heads.n_heads} heads evenly.")
    own = torch.arange(heads.out.in_features).chunk(R)[rank]  # whole heads
    for linear in (heads.query, heads.key, heads.value):
        keep_outputs(linear, own)
    keep_inputs(heads.out, own, rank == 0)
    heads.n_heads //= R
    own = torch.arange(network.down.in_features).chunk(R)[rank]
    keep_outputs(network.up, own)
    keep_inputs(network.down, own, rank == 0)
    block.attention, block.feed_forward = Part(heads), Part(network)


def by_features(model, ids, rank, R):
    """The loss of all rows, which every process reads; the parts hold its gradient."""
    scores = model(ids[:, :-1]).flatten(0, 1)
    loss = F.cross_entropy(scores, ids[:, 1:].flatten())
    loss.backward()
    return loss.detach()


WAYS = {"by rows": by_rows, "overlapped": overlapped, "by features": by_features}


def train(way, rank=0, R=1, n_steps=20, rate=0.3, dies=None):
    """The losses of some steps on the Zen of Python, with seven rows each."""
    from clearbook.data.builtin import zen_text

    text = zen_text()
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    torch.manual_seed(0)  # the same weights and rows in all processes
    model = GPT(len(letters), d_model=48, n_heads=4, n_layers=2).double()
    if way == "by features":
        for block in model.blocks:
            cut(block, rank, R)
    losses = []
    for step in range(n_steps):
        if step == 2 and rank == dies:
            os._exit(3)  # without a word, as one that the system stops
        starts = torch.randint(len(ids) - 33, (7, 1))
        loss = WAYS[way](model, ids[starts + torch.arange(33)], rank, R)
        losses.append(loss.item())
        for weight in model.parameters():
            weight.data -= rate * weight.grad
            weight.grad = None
    return losses


LOST = 75  # the exit code of a process that has lost another one


def one_of(rank, R, folder, dies, ways):
    """What each process does: meet the others, train each way, tell the losses."""
    torch.set_num_threads(1)
    store = dist.FileStore(os.path.join(folder, "meeting"), R)
    limit = timedelta(seconds=60)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=R, timeout=limit)
    try:
        losses = {way: train(way, rank, R, dies=dies) for way in ways}
    except Gone:
        os._exit(LOST)
    Path(folder, f"{rank}.json").write_text(json.dumps(losses))
    dist.destroy_process_group()


def together(R=2, dies=None, ways=tuple(WAYS)):
    """What each process has told: the losses of each way.

    Raises: RuntimeError that names the rank that died; the others are stopped.
    """
    start = multiprocessing.get_context("spawn").Process
    with tempfile.TemporaryDirectory() as folder:
        common = R, folder, dies, ways
        ranks = [start(target=one_of, args=(rank, *common)) for rank in range(R)]
        for process in ranks:
            process.start()
        while alive := [process for process in ranks if process.is_alive()]:
            wait([process.sentinel for process in alive])
            if any(process.exitcode not in (None, 0, LOST) for process in ranks):
                break  # that one died of itself
        for process in ranks:
            process.terminate()
            process.join()
        codes = [process.exitcode for process in ranks]
        if any(codes):
            raise RuntimeError(report(codes))
        files = [Path(folder, f"{r}.json") for r in range(R)]
        return [json.loads(file.read_text()) for file in files]


def report(codes):
    """Which ranks died of themselves, and which were stopped for want of them."""
    stopped = [r for r, code in enumerate(codes) if code in (LOST, -15)]
    died = [r for r, code in enumerate(codes) if code and r not in stopped]
    told = [f"rank {r} died (exit code {codes[r]})" for r in died]
    told = told or ["the processes have lost each other, and none says why"]
    return "; ".join(told + [f"rank {r} was stopped" for r in stopped])


def main(*words):
    if words and words not in (("--stop", "0"), ("--stop", "1")):
        raise SystemExit("usage: python two_processes.py [--stop 0 or --stop 1]")
    try:
        told = together(dies=int(words[1]) if words else None)
    except RuntimeError as error:
        raise SystemExit(f"two_processes.py: {error}") from None
    torch.set_num_threads(1)
    for way in WAYS:
        alone = train(way)
        pairs = [pair for each in told for pair in zip(each[way], alone, strict=True)]
        off = max(abs(a - b) for a, b in pairs)
        print(f"{way:12} loss {alone[0]:.3f} … {alone[-1]:.3f}", end=", ")
        print("as in one process" if off < 1e-12 else f"off by {off:.1g}")


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
