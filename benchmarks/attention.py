"""Attention alone, causal, in one head-sized problem of growing length: the explicit form, the kernel, and blocks."""

import torch
import torch.nn.functional as F
from clearformer.attention import attend, attend_blockwise, attend_fused

from benchmarks.harness import Report, Row, interleave, one
from benchmarks.memory import peak_bytes
from benchmarks.sizes import Options

SHAPE = (1, 4, 64)  # batch, heads, width per head
LONGEST = 8192
OVER_KERNEL = 1.05
FASTER_THAN_EXPLICIT = 8.0
MEMORY_OF_EXPLICIT = 0.01
BEYOND_LINEAR = 1.1


def run(options: Options) -> Report:
    report, peaks = Report(), {}
    with torch.no_grad():
        for n in options.attention:
            calls = candidates(n)
            work = f"attention, N {n}"
            times = interleave(calls, options.rounds, least=min(options.least, 0.05))
            peaks[n] = {name: peak_bytes(call) for name, call in calls.items()}
            report.seconds[work], report.facts[work] = times.seconds, {"peak bytes": peaks[n]}
            report.rows += rows(work, times, peaks[n], n == LONGEST)
    report.rows += growth(peaks)
    return report


def candidates(n: int) -> dict:
    batch, heads, width = SHAPE
    q, k, v = torch.randn(3, batch, heads, n, width)
    return {
        "attend": lambda: attend(q, k, v, causal=True),
        "attend_fused": lambda: attend_fused(q, k, v, causal=True),
        "attend_blockwise": lambda: attend_blockwise(q, k, v, causal=True),
        "kernel": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    }


def rows(work: str, times, peak: dict[str, int], longest: bool) -> list[Row]:
    explicit = times.ratio("attend", "attend_fused")
    share = one(peak["attend_fused"] / peak["attend"])
    return [
        Row(work, "attend_fused, time of its kernel", times.ratio("attend_fused", "kernel"), OVER_KERNEL, True),
        Row(work, "attend_fused faster than attend", explicit, FASTER_THAN_EXPLICIT if longest else None),
        Row(work, "attend_fused, memory of attend", share, MEMORY_OF_EXPLICIT if longest else None, True),
        Row(work, "attend_blockwise faster than attend", times.ratio("attend", "attend_blockwise")),
    ]


def growth(peaks: dict[int, dict[str, int]]) -> list[Row]:
    """How much faster than N the memory grows, from the shortest length that fills a block to the longest."""
    shortest, longest = min((n for n in peaks if n >= 512), default=min(peaks)), max(peaks)
    name = "attend_blockwise"
    factor = peaks[longest][name] / peaks[shortest][name] * shortest / longest
    what = f"{name}, growth of memory over that of N"
    return [Row(f"attention, N {shortest} to {longest}", what, one(factor), BEYOND_LINEAR, True)]
