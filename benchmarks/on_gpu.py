"""The predictions of chapter 14 on a GPU, each beside its measurement; the chapter draws what is saved here.

    .venv/bin/python -m benchmarks.on_gpu [--out FILE]     some minutes, in bfloat16, on the GPU that PyTorch finds

It measures the two rates of the GPU first, then a linear layer for 1 to 1,024 tokens, attention in three programs and
in one, and a step that writes a token for 1 to 512 texts.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import torch
from clearbook.costs import Machine
from clearformer.attention import attend_fused
from clearformer.blocks import Decoder
from clearformer.cache import KVCache
from clearformer.multihead import MultiHeadAttention

RESULTS = Path(__file__).parent / "results-gpu.json"
ROUNDS = 10
BYTES = 2  # of a number, in bfloat16


@dataclass(frozen=True)
class Sizes:
    """What is measured; the defaults fill a GPU with 80 GB without overflowing it."""

    side: int = 8192  # of the square product that gives the first rate, and width of the layers
    numbers: int = 2**30  # of the sum that gives the second
    tokens: tuple[int, ...] = (1, 4, 16, 64, 128, 256, 512, 1024)
    lengths: tuple[int, ...] = (512, 1024, 2048, 4096, 8192)
    texts: tuple[int, ...] = (1, 4, 16, 64, 128, 256, 512)
    n_past: int = 1024
    n_layers: int = 2
    n_heads: int = 64
    n_groups: int = 8


@dataclass(frozen=True)
class Row:
    """Seconds of a call: what it is, its size, the bound, and the fastest of ten."""

    what: str
    n: int
    predicted: float
    measured: float


def main(arguments: list[str]) -> int:
    """0 when all was measured and saved; 2 where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results")
    out = parser.parse_args(arguments).out
    if not torch.cuda.is_available():
        print("on_gpu: PyTorch sees no GPU here. Run it where torch.cuda.is_available() is true.", file=sys.stderr)
        return 2
    found = measured("cuda", Sizes(), torch.bfloat16)
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"saved: {out}")
    return 0


@torch.no_grad()
def measured(device: str, sizes: Sizes, dtype: torch.dtype) -> dict[str, Any]:
    """All rows, and what they depend on."""
    torch.manual_seed(0)
    machine = rates(device, sizes, dtype)
    rows = []
    for row in (*linear(machine, device, sizes, dtype), *attention(machine, device, sizes, dtype)):
        rows.append(show(row))
    for row in decode(machine, device, sizes, dtype):
        rows.append(show(row))
    name = torch.cuda.get_device_name() if device == "cuda" else device
    facts = {"device": name, "torch": torch.__version__, "date": date.today().isoformat(), "dtype": str(dtype)}
    return facts | {"machine": asdict(machine), "sizes": asdict(sizes), "rows": [asdict(row) for row in rows]}


def show(row: Row) -> Row:
    """Print it as the chapter does."""
    ratio = row.measured / row.predicted
    print(f"{row.what:22}{row.n:6} {1e3 * row.predicted:10.3f} → {1e3 * row.measured:10.3f} ms  × {ratio:.2f}")
    return row


def seconds_of(call: Callable, device: str) -> float:
    """Of the fastest of ten calls, each waited for; two more come first and do not count."""
    taken = []
    for _ in range(ROUNDS + 2):
        wait(device)
        start = time.perf_counter()
        call()
        wait(device)
        taken.append(time.perf_counter() - start)
    return min(taken[2:])


def least(machine: Machine, flops: float, moved: float) -> float:
    """Seconds that a kernel takes at least."""
    return machine.seconds(float(flops), float(moved))


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def rates(device: str, sizes: Sizes, dtype: torch.dtype) -> Machine:
    """The FLOPs a second of a square product, and the bytes a second of a sum over an array that fits no cache."""
    square = torch.randn(sizes.side, sizes.side, device=device, dtype=dtype)
    product = seconds_of(partial(torch.mm, square, square), device)
    long = torch.ones(sizes.numbers, device=device, dtype=dtype)
    return Machine(2 * sizes.side**3 / product, long.nbytes / seconds_of(long.sum, device))


def linear(machine: Machine, device: str, sizes: Sizes, dtype: torch.dtype) -> Iterator[Row]:
    layer = torch.nn.Linear(sizes.side, sizes.side, bias=False, device=device, dtype=dtype)
    for n in sizes.tokens:
        x = torch.randn(n, sizes.side, device=device, dtype=dtype)
        bound = least(machine, 2 * n * sizes.side**2, BYTES * (sizes.side**2 + 2 * n * sizes.side))
        yield Row("Linear", n, bound, seconds_of(partial(layer, x), device))


def attention(machine: Machine, device: str, sizes: Sizes, dtype: torch.dtype) -> Iterator[Row]:
    """Sixteen heads of width 128: scores, softmax and averages one after the other, then the fused kernel."""
    heads, width = 16, 128
    for n in sizes.lengths:
        q, k, v = torch.randn(3, 1, heads, n, width, device=device, dtype=dtype)
        flops, scores = 4 * heads * width * n**2, BYTES * heads * n**2

        def explicit(q=q, k=k, v=v):
            return torch.softmax(q @ k.mT / width**0.5, dim=-1) @ v

        bound = 2 * least(machine, flops / 2, scores) + least(machine, 0, 2 * scores)
        yield Row("attention, explicit", n, bound, seconds_of(explicit, device))
        bound = least(machine, flops, 4 * q.nbytes)
        yield Row("attention, fused", n, bound, seconds_of(partial(attend_fused, q, k, v), device))


def decode(machine: Machine, device: str, sizes: Sizes, dtype: torch.dtype) -> Iterator[Row]:
    """A step of a decoder, matrices plus attention: eq-decode-step."""
    width, heads, groups = sizes.side, sizes.n_heads, sizes.n_groups
    layer_of = partial(MultiHeadAttention, n_kv_heads=groups)
    decoder = Decoder(sizes.n_layers, width, heads, 4 * width, attention=layer_of).to(device, dtype)
    n_weights = sum(p.numel() for p in decoder.parameters() if p.dim() == 2)
    for batch in sizes.texts:
        cache = KVCache(sizes.n_layers, batch, groups, sizes.n_past + 1, width // heads, dtype=dtype, device=device)
        new = torch.randn(batch, 1, width, device=device, dtype=dtype)

        def step(cache=cache, new=new):
            for layer in cache.layers:
                layer.length = sizes.n_past
            return decoder(new, cache=cache)

        matrices = least(machine, 2 * batch * n_weights, BYTES * n_weights)
        held = sum(layer.k.nbytes + layer.v.nbytes for layer in cache.layers)
        looked = least(machine, 4 * batch * sizes.n_layers * width * (sizes.n_past + 1), held)
        yield Row("decode", batch, matrices + looked, seconds_of(step, device))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
