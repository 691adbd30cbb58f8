"""What a call costs, predicted by the roofline and measured: seconds, bytes, and a ledger of both."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from torch.autograd.profiler import profile
from torch.utils.flop_counter import FlopCounterMode

from clearbook.figures.plots import COLOURS, INK, MARKERS, axes_or_new

SECONDS_A_MEASUREMENT = 0.15  # calls are repeated for so long, if there may be so many


@dataclass(frozen=True)
class Machine:
    """The two rates of a machine."""

    flops: float  # a second
    bytes: float  # a second, between the large memory and the arithmetic

    @property
    def ridge(self) -> float:
        """FLOPs per byte from which on arithmetic, and no longer memory, is what one waits for."""
        return self.flops / self.bytes

    def seconds(self, flops: float, moved: float) -> float:
        """What a step takes at least that does so many FLOPs and moves so many bytes.

        Source: Williams et al. 2009, the roofline.
        """
        return max(flops / self.flops, moved / self.bytes)


# Dense bfloat16 products and large memory, by the data sheets of NVIDIA: SXM5, and HGX.
H100 = Machine(flops=989e12, bytes=3.35e12)
B200 = Machine(flops=2.25e15, bytes=8e12)


def measured_machine(side: int = 1024, length: int = 2**25) -> Machine:
    """This machine in float32: a product of square matrices, and a sum over an array that fits into no cache."""
    square, long = torch.randn(side, side), torch.randn(length)
    return Machine(2 * side**3 / seconds_of(partial(torch.mm, square, square)), long.nbytes / seconds_of(long.sum))


def seconds_of(call: Callable, most: int = 20) -> float:
    """Seconds of the fastest of at most so many calls, in time of this program's processor; a first one warms up."""
    times: list[float] = []
    with torch.no_grad():
        while len(times) <= 3 or (len(times) <= most and sum(times) < SECONDS_A_MEASUREMENT):
            start = time.process_time()
            _ = call()
            times.append(time.process_time() - start)
    return min(times[1:])


def peak_bytes(call: Callable) -> int:
    """The most that PyTorch has handed out for a call at one moment, its result included and its arguments not."""
    _ = call()  # what is set up once does not count
    with profile(profile_memory=True) as profiler:
        result = call()
    del result
    changes = [event for event in profiler.kineto_results.events() if event.name() == "[memory]"]
    changes.sort(key=lambda event: event.start_ns())
    return int(np.cumsum([event.nbytes() for event in changes]).max())


def counted_flops(call: Callable) -> int:
    """FLOPs of the matrix products in a call."""
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


@dataclass
class Ledger:
    """Costs with what was predicted and what was measured, in the same unit."""

    rows: list[tuple[str, str, float, float]] = field(default_factory=list)

    def add(self, name: str, predicted: float, measured: float, unit: str = "ms") -> None:
        """Write a line: milliseconds of seconds that are given, or MiB of bytes.

        Raises: ValueError for a unit that is neither.
        """
        if unit not in ("ms", "MiB"):
            raise ValueError(f"Ledger: there is no unit {unit!r}. Choose ms, for seconds, or MiB, for bytes.")
        scale = 1000 if unit == "ms" else 2**-20
        self.rows.append((name, unit, scale * predicted, scale * measured))
        self.show([self.rows[-1]])

    def show(self, rows: list | None = None) -> None:
        """Print lines, all of them where none are given: predicted → measured, and the ratio."""
        for name, unit, predicted, measured in self.rows if rows is None else rows:
            print(f"{name:26}{predicted:8.2f} → {measured:8.2f} {unit:3}  × {measured / predicted:.2f}")

    def draw(self, ax: Axes | None = None) -> Axes:
        """Ratios of measured to predicted costs on a logarithmic axis, one line for each."""
        ax = axes_or_new(ax, (5.4, 0.27 * len(self.rows) + 0.9))
        for i, (_, unit, predicted, measured) in enumerate(self.rows):
            style: dict[str, Any] = {"color": COLOURS[unit == "MiB"], "marker": MARKERS[unit == "MiB"], "ms": 6}
            ax.plot([1, measured / predicted], [i, i], color="#8a93a3", lw=1, zorder=1)
            ax.plot([measured / predicted], [i], ls="", **style)
        ax.axvline(1, color=INK, lw=1.2)
        ax.set_yticks(range(len(self.rows)), [name for name, *_ in self.rows])
        ax.invert_yaxis()
        ax.set_xscale("log")
        reach = max(2.2, *(max(m / p, p / m) for _, _, p, m in self.rows)) * 1.2
        ax.set_xlim(min(0.5, 0.8 * min(m / p for _, _, p, m in self.rows)), reach)
        ticks = [t for t in (0.25, 0.5, 1, 2, 4, 8, 16, 32) if ax.get_xlim()[0] <= t <= reach]
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set_xlabel("measured / predicted")
        return ax
