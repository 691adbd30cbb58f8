"""Exercise 15, question split: one network, several workers."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import SIZES, close, draw_sizes
from clearformer.reference.functions import relu
from clearformer.reference.layers import mlp


def draw_network(rng, F=None, D=None):
    """A network whose hidden units are off for some tokens and on for others."""
    F = F or draw_sizes(rng, 1)[0]
    D = D or int(rng.choice([size for size in SIZES if size != F]))
    return rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=F), rng.normal(size=(D, F)), rng.normal(size=D)


def networks_slip(found, D, F, R):
    """A sentence when this is no list of R networks that share F units, else None."""
    if not isinstance(found, list | tuple) or len(found) != R:
        return f"The result should be a list of {R} tuples, one for each worker."
    units = []
    for worker, part in enumerate(found):
        if not isinstance(part, list | tuple) or len(part) != 4 or not all(isinstance(a, np.ndarray) for a in part):
            return f"What worker {worker} gets should be a tuple of four arrays."
        W_1, b_1, W_2, b_2 = part
        if W_1.ndim != 2 or b_1.ndim != 1 or W_2.ndim != 2 or b_2.ndim != 1:
            return f"Worker {worker}'s arrays should have 2, 1, 2 and 1 axes; yours have {[a.ndim for a in part]}."
        if W_1.shape[1] != D or len(W_2) != D or len(b_2) != D:
            return f"Worker {worker}'s network should take and give tokens of {D} features, for shapes {shapes(part)}."
        if not len(W_1) == len(b_1) == W_2.shape[1]:
            return f"Worker {worker}'s arrays do not agree on the number of hidden units, for shapes {shapes(part)}."
        units.append(len(W_1))
    if sum(units) != F:
        return f"There are {F} hidden units, but your workers have {sum(units)} together."
    if max(units) - min(units) > 1:
        return f"Your workers have {units} units; no two may differ by more than one."
    return None


def shapes(part):
    return ", ".join(str(array.shape) for array in part)


def split_network(W_1, b_1, W_2, b_2, R):
    pieces = zip(np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2, R, axis=1), strict=True)
    return [(*piece, b_2 if r == 0 else np.zeros(len(b_2))) for r, piece in enumerate(pieces)]


def ordinary_splits(rng):
    """The second and third do not come out even."""
    return [(*draw_network(rng, F=9), 3), (*draw_network(rng, F=11), 4), (*draw_network(rng, F=13), 5)]


def special_splits(rng):
    """One worker, as many workers as units and more, huge numbers, a bias that is large beside the rest; then as many
    features as units, of which one is never on, and a single feature."""
    W_1, b_1, W_2, b_2 = draw_network(rng, F=11)
    square = draw_network(rng, F=7, D=7)
    square[0][2], square[1][2] = 0.0, -1.0
    return [
        (*draw_network(rng), 1),
        (*draw_network(rng, F=7), 7),
        (*draw_network(rng, F=5), 7),
        (1e4 * W_1, b_1, 1e4 * W_2, b_2, 3),
        (W_1, b_1, W_2, 50 * b_2, 2),
        (*square, 3),
        (*draw_network(rng, F=5, D=1), 2),
    ]


def sums_up(ask, rng):
    """The outputs of the workers on fresh tokens, summed, are those of the whole network."""
    for F, R, n_tokens in ((11, 3, 6), (7, 2, 1), (13, 6, 4)):
        network = draw_network(rng, F)
        D = len(network[2])
        X = rng.normal(size=(D, n_tokens))
        found = ask(*network, R)
        if slip := networks_slip(found, D, F, R):
            return slip
        total, expected = sum(mlp(X, *part, relu) for part in found), mlp(X, *network, relu)
        if not close(total, expected, 1e-8):
            gap = np.abs(total - expected).max()
            return f"With R = {R} the sum of your workers' outputs is off by up to {gap:.3g} from the whole network."
    return None


QUESTION = Question(
    id="split",
    title="One network, several workers",
    name="split_network",
    minutes=15,
    difficulty=2,
    checks=(
        holds("the sum of the outputs", 6, sums_up),
        equals("who gets what", 6, ordinary_splits, split_network),
        equals("one worker, many workers, large numbers, equal sizes", 4, special_splits, split_network),
    ),
    hints=(
        "What is a hidden unit in the formula: which row or column of W₁, of b₁ and of W₂ belongs to it? A "
        "worker gets whole units.",
        "Add the outputs of two workers on paper. What stands in the sum twice that stands in the whole network once?",
        "`np.array_split` makes pieces that differ by one at most, along the axis that you name, the larger "
        "ones first.",
    ),
    section="by-features-tensor-parallelism",
    inputs=Inputs(axes("FD", "F", "DF", "D"), alike=("one worker, many workers, large numbers, equal sizes",)),
)

right, wrong = answers_to(QUESTION)


@right
def bias_for_the_first(W_1, b_1, W_2, b_2, R):
    parts = []
    for worker, units in enumerate(np.array_split(np.arange(len(b_1)), R)):
        parts.append((W_1[units], b_1[units], W_2[:, units], b_2 if worker == 0 else 0 * b_2))
    return parts


@right
def three_lists(W_1, b_1, W_2, b_2, R):
    rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
    return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]


@right
def bounds(W_1, b_1, W_2, b_2, R):
    least, more = divmod(W_1.shape[0], R)
    start, parts = 0, []
    for r in range(R):
        stop = start + least + (1 if r < more else 0)
        own = slice(start, stop)
        parts.append((W_1[own, :].copy(), b_1[own].copy(), W_2[:, own].copy(), np.zeros(len(b_2))))
        start = stop
    parts[0] = (*parts[0][:3], b_2.copy())
    return parts


@wrong("You give each worker some entries of b₂ and let them begin at the top, so they land on the wrong features.")
def bias_of_some_features(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [
        (W_1[own], b_1[own], W_2[:, own], np.pad(np.array_split(b_2, R)[r], (0, len(b_2)))[: len(b_2)])
        for r, own in enumerate(units)
    ]


@wrong("Neighbouring workers share a unit, which is then counted twice.")
def overlapping_units(W_1, b_1, W_2, b_2, R):
    units = [
        np.r_[own, own[-1] + 1] if own[-1] + 1 < len(b_1) else own for own in np.array_split(np.arange(len(b_1)), R)
    ]
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong("You give each worker some entries of b₂; the sum is right, but all of it belongs to the first one.")
def bias_by_features(W_1, b_1, W_2, b_2, R):
    units, features = np.array_split(np.arange(len(b_1)), R), np.array_split(np.arange(len(b_2)), R)
    return [
        (W_1[own], b_1[own], W_2[:, own], b_2 * np.isin(np.arange(len(b_2)), mine))
        for own, mine in zip(units, features, strict=True)
    ]


wrong.edits("""
# bias_for_the_first
## zeros_for_the_others: You keep all F units everywhere, with zeros for those of others; a worker has its own units
only.
- for worker, units in enumerate(np.array_split(np.arange(len(b_1)), R)):
-     parts.append((W_1[units], b_1[units], W_2[:, units], b_2 if worker == 0 else 0 * b_2))
+ for r, own in enumerate(np.array_split(np.arange(len(b_1)), R)):
+     on = np.isin(np.arange(len(b_1)), own)
+     parts.append((W_1 * on[:, None], b_1 * on, W_2 * on, b_2 * (r == 0)))

# three_lists
## bias_for_everyone: Every worker adds the whole b₂, so the sum holds it R times.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own], b_2) for r, own in enumerate(units)]
## bias_for_nobody: b₂ is lost: somebody has to add it, once.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own], np.zeros_like(b_2)) for r, own in enumerate(units)]
## bias_at_both_ends: The first and the last worker both add b₂.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 if r in (0, R - 1) else 0 * b_2) for r, own in enumerate(units)]
## hidden_bias_in_parts: You divide b₁ by R; a unit has one worker, who needs all of its bias.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own] / R, W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## first_matrix_in_parts: You divide W₁ by R; a unit has one worker, who needs all of its row.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own] / R, b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## second_matrix_in_parts: You divide W₂ by R: the outputs are summed, not averaged, and no unit occurs twice.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own] / R, b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## outputs_averaged: Your workers give R times their part, as if the outputs were averaged; they are summed.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own] * R, b_2) for r, own in enumerate(units)]
## hidden_bias_of_the_first: All workers get the first entries of b₁; each needs those of its own units.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[: len(own)], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## second_matrix_of_the_first: All workers get the first columns of W₂; each needs those of its own units.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, : len(own)], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## no_hidden_bias: b₁ is lost: each unit has its bias.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], 0 * b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## hidden_bias_whole: Every worker gets the whole b₁; it has an entry for each unit, and a worker has some units only.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1, W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## second_matrix_by_outputs: You cut W₂ by its rows, the outputs; a worker's units belong to columns of W₂.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], np.array_split(W_2, R)[r], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## first_matrix_by_inputs: You cut W₁ by its columns, the inputs: a hidden unit would be in pieces when the ReLU comes.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(np.array_split(W_1, R, axis=1)[r], b_1, W_2, b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## axis_by_its_length: You cut W₂ along the first axis with F entries; where D is F as well, these are the outputs.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ rows, lifts = np.array_split(W_1, R), np.array_split(b_1, R)
+ columns = np.array_split(W_2, R, axis=W_2.shape.index(len(b_1)))
+ return [(rows[r], lifts[r], columns[r], b_2 * (r == 0)) for r in range(R)]
## second_matrix_turned: Your W₂ stands transposed.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own].T, b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## whole_networks: Every worker gets the whole network, divided by R: the sum is right, and nothing is split.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1, b_1, W_2 / R, b_2 / R) for r, own in enumerate(units)]
## dealt_out: The units are dealt out like cards; they should come in their order.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[r::R], b_1[r::R], W_2[:, r::R], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## dealt_out_above_only: W₁ and b₁ are dealt out like cards and W₂ is cut in their order: units are read with the wrong
weights.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[r::R], b_1[r::R], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## units_backwards: Your workers come in the reverse order of the units.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)[::-1]
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## units_lost: Where F is no multiple of R the last units are lost.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ each = len(b_1) // R
+ units = [np.arange(r * each, (r + 1) * each) for r in range(R)]
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## the_last_gets_the_rest: The last worker gets all that is left over; shares may differ by one unit only.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ each = len(b_1) // R
+ units = [np.arange(r * each, (r + 1) * each if r < R - 1 else len(b_1)) for r in range(R)]
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## three_arrays: A network has four arrays; b₂ is missing from your tuples.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own]) for r, own in enumerate(units)]
## bias_shared_out: You share b₂ out among the workers; the sum is right, but all of it belongs to the first one.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 / R) for own in units]
## last_workers_get_more: The units that are left over go to your last workers; the first ones get them.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ sizes = sorted(len(own) for own in np.array_split(b_1, R))
+ units = np.split(np.arange(len(b_1)), np.cumsum(sizes)[:-1])
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## only_equal_pieces: `np.split` wants equal pieces, and the units need not come out even.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ pieces = zip(np.split(W_1, R), np.split(b_1, R), np.split(W_2, R, axis=1), strict=True)
+ return [(*piece, b_2 if r == 0 else 0 * b_2) for r, piece in enumerate(pieces)]
## everything_by_rows: You cut all four arrays along their first axis; for W₂ and b₂ these are the outputs, and not the
units.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ return list(zip(*(np.array_split(array, R) for array in (W_1, b_1, W_2, b_2)), strict=True))
## rows_of_the_second_matrix: The units of a worker are rows of W₁, but columns of W₂; you take rows of both.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]
## bias_for_the_last: You give b₂ to the last worker; the first one gets it.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == R - 1 else 0 * b_2) for r, own in enumerate(units)]
## shares_rounded_up: You give every worker F / R units, rounded up, until none are left; shares may differ by one unit
only.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ most = -(-len(b_1) // R)
+ units = [slice(r * most, (r + 1) * most) for r in range(R)]
+ return [(W_1[own], b_1[own], W_2[:, own], b_2 * (r == 0)) for r, own in enumerate(units)]
## hidden_bias_for_the_first: Only the first worker's units have their b₁; it belongs to the units, so each worker has
its own part.
- rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
- return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]
+ units = np.array_split(np.arange(len(b_1)), R)
+ return [(W_1[own], b_1[own] * (r == 0), W_2[:, own], b_2 * (r == 0)) for r, own in enumerate(units)]
""")
