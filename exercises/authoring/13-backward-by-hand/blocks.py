"""Exercise 13, question blocks: Stretch: without the weights."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shapes_slip

from .shared import BACKWARD, close, disagreement, softmax

SECTION = "in-rows"


def scores(q, k):
    return q @ k.T / np.sqrt(q.shape[1])


def reference(q, k, v, y, L, e, width):
    A = np.exp(scores(q, k) - L[:, None])
    G = A * (e @ v.T - (y * e).sum(axis=1)[:, None]) / np.sqrt(q.shape[1])
    return G @ k, G.T @ q, A.T @ e


def forward_results(q, k, v):
    """What the forward pass keeps: outputs and logarithms of denominators."""
    c = scores(q, k)
    top = c.max(axis=1)
    return softmax(c) @ v, top + np.log(np.exp(c - top[:, None]).sum(axis=1))


def with_kept(q, k, v, e, width):
    return q, k, v, *forward_results(q, k, v), e, width


def draw_args(rng, sizes, width, size=1.0):
    N, S, K, V = sizes
    q, k = (np.sqrt(size) * rng.normal(size=(n, K)) for n in (N, S))
    return with_kept(q, k, rng.normal(size=(S, V)), rng.normal(size=(N, V)), width)


def ordinary_cases(rng):
    """In the last one a query of zeros, for which all sources are alike."""
    N, S, K, V = sizes = draw_sizes(rng, 4)
    others = ((N, 17, K, 19), 4), ((1, S, K, V), 3), ((N, 1, K, V), 2)
    q, k, v, *_, e, width = draw_args(rng, sizes, 3)
    q[-1] = 0
    return [draw_args(rng, sizes, 3), *(draw_args(rng, *other) for other in others), with_kept(q, k, v, e, width)]


def all_widths(rng):
    """Blocks of one source, of all, of more than there are, blocks that do not come out even; once all sizes agree."""
    K, V = (int(size) for size in rng.permutation((4, 11)))
    return [*(draw_args(rng, (5, 7, K, V), width) for width in (1, 7, 9, 2, 5)), draw_args(rng, (4, 4, 4, 4), 4)]


def saturated_cases(rng):
    return [draw_args(rng, draw_sizes(rng, 4), 4, size) for size in (60.0, 3e4)]


def what_was_kept(ask, rng):
    q, k, v, y, L, e, width = draw_args(rng, draw_sizes(rng, 4), 4)
    shapes = q.shape, k.shape, v.shape
    moves = rng.uniform(0.5, 1, size=L.shape)
    others = ("y", (y + rng.normal(size=y.shape), L)), *(("L", (y, L + by * moves)) for by in (1, -5, -300))
    answers = [ask(q, k, v, *given, e, width) for _, given in others]  # all, to tell which of the two is not used
    for (name, given), found in zip(others, answers, strict=True):
        if slip := shapes_slip(found, shapes):
            return slip
        if not all(map(close, found, reference(q, k, v, *given, e, width))):
            return f"With another {name} than that of the forward pass your result is not what the formulas make of it."
    found = ask(q, k, v, y, L, e, 3)

    def loss(q, k, v):
        return (e * (softmax(scores(q, k)) @ v)).sum()

    return shapes_slip(found, shapes) or disagreement(loss, ("q", "k", "v"), (q, k, v), found, rng)


def blocks_alone(ask, rng):
    """The most numbers that are held at once, where a table of all weights, even one of bytes, is larger than all else.

    There is room for the results twice, for lists of their rows, and for a dozen blocks.
    """
    N, S, K, V, width = 1200, 600, 1, 2, 3
    args = draw_args(rng, (N, S, K, V), width)
    found, _ = ask(*args), ask(*args)  # what is done once in a process, such as an import, is no part of the second
    held = min(call.held for call in ask.calls) // 8
    if slip := shapes_slip(found, [each.shape for each in args[:3]]):
        return slip
    if not all(map(close, found, reference(*args))):
        return f"With N = {N}, S = {S} and width {width} your gradients are not right."
    if held >= 2 * (N * K + S * (K + V)) + 12 * N * width + 40 * S:
        return (
            f"With N = {N}, S = {S} and width {width} your function held {held:,} numbers at its worst moment. A table "
            f"of N×S has {N * S:,}, a block {N * width:,}, and the results {N * K + S * (K + V):,}: no more than a few "
            "blocks may exist at a time."
        )
    return None


QUESTION = Question(
    id="blocks",
    title="Stretch: without the weights",
    name="blockwise_backward",
    minutes=23,
    difficulty=3,
    checks=with_battery(
        equals("values", 5, ordinary_cases, reference),
        equals("all widths", 4, all_widths, reference),
        equals("certain and huge scores", 3, saturated_cases, reference),
        holds("what was kept", 4, what_was_kept),
        holds("blocks alone", 2, blocks_alone),
        off={"boundary": "its only limits are the ends of the blocks"},
    ),
    measured=True,
    hints=(
        "For one block you know its scores, and for each target the logarithm of its denominator. What is an "
        "exponential divided by a denominator, if you have the logarithm of the latter?",
        "Which of the three gradients has a row for each source, so that a block can finish its part, and "
        "which has a row for each target, so that all blocks add to it?",
        "The number to subtract is the mean of the gradients for the weights, with the weights as shares. Write "
        "it with the values, and pull the error out of the sum: what is left is the output.",
    ),
    section=SECTION,
    inputs=Inputs(axes("NK", "SK", "SV", "NV", "N", "NV"), lambda q, k, *rest: scores(q, k), alike=("all widths",)),
    forbids=BACKWARD,
)

right, wrong = answers_to(QUESTION)


@right
def slices_in_turn(q, k, v, y, L, e, width):
    dq, dk, dv = (np.zeros_like(array) for array in (q, k, v))
    inner = (y * e).sum(axis=1)
    scale = 1 / np.sqrt(q.shape[1])
    for start in range(0, len(k), width):
        block = slice(start, start + width)
        A = np.exp(scale * q @ k[block].T - L[:, None])
        G = scale * A * (e @ v[block].T - inner[:, None])
        dq += G @ k[block]
        dk[block] = G.T @ q
        dv[block] = A.T @ e
    return dq, dk, dv


@right
def while_sources_are_left(q, k, v, y, L, e, width):
    S, done = len(k), 0
    dq, dk, dv = 0 * q, [], []
    while done < S:
        keys, values = k[done : done + width], v[done : done + width]
        shares = np.exp((keys @ q.T) / np.sqrt(q.shape[1]) - L)  # targets as columns
        d_scores = shares * (values @ e.T - np.einsum("nv,nv->n", y, e))
        dq = dq + d_scores.T @ keys / np.sqrt(q.shape[1])
        dk.append(d_scores @ q / np.sqrt(q.shape[1]))
        dv.append(shares @ e)
        done += width
    return dq, np.vstack(dk), np.vstack(dv)


@right
def values_less_outputs(q, k, v, y, L, e, width):
    root = q.shape[1] ** 0.5
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for block in np.array_split(np.arange(len(k)), -(-len(k) // width)):
        for s in block:
            a = np.exp(q @ k[s] / root - L)
            g = a * ((v[s] - y) * e).sum(axis=1) / root
            dq += np.outer(g, k[s])
            dk[s], dv[s] = g @ q, a @ e
    return dq, dk, dv


@right
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def as_often_written(q, k, v, y, L, e, width):
    root, lost = np.sqrt(q.shape[1]), L[:, None]
    subtracted = (y * e).sum(axis=1, keepdims=True)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for start in range(0, len(k), width):
        b = slice(start, start + width)
        table = q @ k[b].T / root
        A = np.exp(table - lost)
        pulled = e @ v[b].T
        G = A * (pulled - subtracted) / root
        dq += G @ k[b]
        dk[b], dv[b] = G.T @ q, A.T @ e
    return dq, dk, dv


@wrong("The weights are made of all sources at once, and y and L are not used: this is the pass of the chapter.")
def everything_at_once(q, k, v, y, L, e, width):
    root = np.sqrt(q.shape[1])
    c = q @ k.T / root
    A = np.exp(c - c.max(axis=1)[:, None])
    A /= A.sum(axis=1)[:, None]
    dA = e @ v.T
    G = A * (dA - (A * dA).sum(axis=1)[:, None]) / root
    return G @ k, G.T @ q, A.T @ e


@wrong("You make the outputs again; y was kept, and is given.")
def outputs_made_again(q, k, v, y, L, e, width):
    root = np.sqrt(q.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        A = np.exp(q @ k.T / root - L[:, None])
        G = A * (e @ v.T - (A @ v * e).sum(axis=1)[:, None]) / root
        return G @ k, G.T @ q, A.T @ e


@wrong("You make the denominators again; their logarithms L were kept, and are given.")
def denominators_made_again(q, k, v, y, L, e, width):
    c = q @ k.T / np.sqrt(q.shape[1])
    A = np.exp(c - c.max(axis=1)[:, None])
    A /= A.sum(axis=1)[:, None]
    G = A * (e @ v.T - (y * e).sum(axis=1)[:, None]) / np.sqrt(q.shape[1])
    return G @ k, G.T @ q, A.T @ e


wrong.edits("""
# as_often_written
## softmax_of_the_block: You give each block its own softmax; L knows the denominator, which runs over all sources.
- A = np.exp(table - lost)
+ A = np.exp(table - table.max(axis=1, keepdims=True))
+ A = A / A.sum(axis=1, keepdims=True)
## queries_overwritten: Your dq is that of the last block; add the shares of all blocks.
- dq += G @ k[b]
+ dq = G @ k[b]
## ragged_block_dropped: The last sources are left out when the blocks do not come out even.
- for start in range(0, len(k), width):
+ for start in range(0, len(k) - width + 1, width):
## no_denominator: Your weights are bare exponentials: L is not used.
- A = np.exp(table - lost)
+ A = np.exp(table)
## divided_by_the_logarithm: You divide by L; it is the logarithm of the denominator.
+ A = np.exp(table) / lost
## exponentials_divided: Exponential and denominator overflow on their own; subtract the logarithms first.
+ A = np.exp(table) / np.exp(lost)
## logarithm_added: L is added to the scores; it has to be subtracted.
+ A = np.exp(table + lost)
## logarithm_scaled: You divide L by the root, too; it was made from scores already divided.
+ A = np.exp(table - lost / root)
## scaled_by_values [step-3-from-scores-to-queries-and-keys]: You scale by the width of the values; use that of queries
and keys.
- root, lost = np.sqrt(q.shape[1]), L[:, None]
+ root, lost = np.sqrt(v.shape[1]), L[:, None]
## mean_of_the_block [step-2-back-through-the-softmax]: Your mean runs over the block alone; it should run over all
sources, and y and e give it.
- G = A * (pulled - subtracted) / root
+ G = A * (pulled - (A * pulled).sum(axis=1, keepdims=True)) / root
## second_term_missing [step-2-back-through-the-softmax]: The second term of the softmax's derivative is missing.
+ G = A * pulled / root
## one_mean_for_all [step-2-back-through-the-softmax]: You subtract one number for all targets; each target has its own.
- subtracted = (y * e).sum(axis=1, keepdims=True)
+ subtracted = (y * e).sum()
## inner_averaged [step-2-back-through-the-softmax]: You average the number to subtract over the features of the values;
sum over them.
+ subtracted = (y * e).mean(axis=1, keepdims=True)
## blocks_without_scale [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing on the way back.
- G = A * (pulled - subtracted) / root
+ G = A * (pulled - subtracted)
## scores_without_scale [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing from your scores, so that
they do not fit L.
- table = q @ k[b].T / root
+ table = q @ k[b].T
## first_block_alone: Only the first block is visited; the others get nothing.
- for start in range(0, len(k), width):
+ for start in range(0, 1):
## one_block_of_all: You hold more at once than a few blocks: a table of weights, or the shares of all blocks. Add each
share as it is made, and let it go.
+ width = len(k)
+ for start in range(0, len(k), width):
## exponents_clipped: You keep every exponent between −50 and 50; with another L the formulas give larger weights.
- A = np.exp(table - lost)
+ A = np.exp(np.clip(table - lost, -50, 50))
## weights_cut_at_one: You let no weight exceed 1; with another L the formulas give larger ones.
+ A = np.exp(np.minimum(table - lost, 0))
""")
