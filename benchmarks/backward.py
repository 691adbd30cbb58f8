"""The hand-written gradients of attention beside autograd through the explicit form, and the fused kernel."""

import torch
from clearformer.attention import attend, attend_by_hand, attend_fused, attend_recomputing

from benchmarks.harness import Report, Row, Times, interleave, one
from benchmarks.memory import kept_bytes, peak_bytes
from benchmarks.sizes import Options

SHAPE = (1, 8, 64)  # batch, heads, width per head
AUTOGRAD = "attend, autograd"
LONGEST = 2048
FASTER = {False: 1.0, True: 1.3}  # by hand against autograd, without and with the causal mask
BLOCKWISE_FASTER = 2.5
BLOCKWISE_MEMORY = 0.25
BEYOND_LINEAR = 1.1
FUNCTIONS = {
    AUTOGRAD: attend,
    "attend_by_hand": attend_by_hand,
    "attend_recomputing": attend_recomputing,
    "attend_fused": attend_fused,
}


def run(options: Options) -> Report:
    report, kept = Report(), {}
    for causal in (False, True):
        for n in options.backward:
            inputs = leaves(n)
            work = f"backward, N {n}{', causal' if causal else ''}"
            passes = {name: forward(function, inputs, causal) for name, function in FUNCTIONS.items()}
            grad_y = torch.randn_like(inputs[0])
            alone = interleave(
                dict.fromkeys(passes, lambda y, t=inputs, g=grad_y: torch.autograd.grad(y, t, g)),
                options.rounds,
                before=passes,
                least=min(options.least, 0.1),
            )
            both = {name: autograd_call(call, inputs, grad_y) for name, call in passes.items()}
            whole = interleave(both, options.rounds, least=min(options.least, 0.1))
            kept[n] = {name: kept_bytes(call, inputs) for name, call in passes.items()}
            peak = {name: peak_bytes(call) for name, call in both.items()}
            report.seconds[f"{work}, alone"], report.seconds[f"{work}, with forward"] = alone.seconds, whole.seconds
            report.facts[work] = {"kept bytes": kept[n], "peak bytes": peak}
            report.rows += rows(work, alone, whole, peak, (n, causal))
        report.rows.append(growth(kept, causal))
    return report


def leaves(n: int) -> tuple[torch.Tensor, ...]:
    batch, heads, width = SHAPE
    return tuple(torch.randn(batch, heads, n, width, requires_grad=True) for _ in range(3))


def forward(function, inputs, causal: bool):
    return lambda: function(*inputs, causal=causal)[0]


def autograd_call(call, inputs, grad_y):
    return lambda: torch.autograd.grad(call(), inputs, grad_y)


def rows(work: str, alone: Times, whole: Times, peak: dict[str, int], case: tuple[int, bool]) -> list[Row]:
    def ratio_to_autograd(times: Times, name: str):
        return times.ratio(AUTOGRAD, name)

    n, causal = case
    blockwise = (BLOCKWISE_FASTER, BLOCKWISE_MEMORY) if (n, causal) == (LONGEST, True) else (None, None)
    memory = one(peak["attend_recomputing"] / peak[AUTOGRAD])
    return [
        Row(work, "attend_by_hand faster, backward alone", ratio_to_autograd(alone, "attend_by_hand"), FASTER[causal]),
        Row(work, "attend_by_hand faster, with forward", ratio_to_autograd(whole, "attend_by_hand")),
        Row(work, "attend_recomputing faster, backward alone", ratio_to_autograd(alone, "attend_recomputing")),
        Row(
            work,
            "attend_recomputing faster, with forward",
            ratio_to_autograd(whole, "attend_recomputing"),
            blockwise[0],
        ),
        Row(work, "attend_recomputing, memory of autograd", memory, blockwise[1], True),
        Row(work, "attend_fused faster, with forward", ratio_to_autograd(whole, "attend_fused")),
    ]


def growth(kept: dict[int, dict[str, int]], causal: bool) -> Row:
    """What is kept for the backward pass grows as N, so no N × N matrix is in it."""
    shortest, longest = min(kept), max(kept)
    name = "attend_recomputing"
    factor = kept[longest][name] / kept[shortest][name] * shortest / longest
    work = f"backward, N {shortest} to {longest}{', causal' if causal else ''}"
    return Row(work, f"{name}, growth of what is kept over that of N", one(factor), BEYOND_LINEAR, True)
