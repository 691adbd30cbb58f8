"""Checks of exercise 15: sizes that fit nowhere twice, unequal shares, workers with nothing to do."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.pipeline import BACKWARD, FORWARD
from clearformer.reference.functions import relu
from clearformer.reference.layers import mlp

SIZES = (4, 5, 6, 7, 9, 11, 13)  # no one divides another
CLOSE = 1e-9


def draw_sizes(rng, how_many):
    return [int(size) for size in rng.choice(SIZES, how_many, replace=False)]


def close(value, expected, limit=CLOSE):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=limit))


def entries_right(reference, draw, *names):
    """A check of some entries of a dict of counts, so that they earn their points whatever the others are."""

    def test(ask, rng):
        for args in draw(rng):
            found, expected = ask(*args), reference(*args)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                came = found[name]
                if isinstance(came, bool) or not isinstance(came, int | float | np.number):
                    return f"Under {name!r} a number is expected."
                if came != expected[name]:
                    return f"For the arguments {args} your entry {name!r} is {came:,}, which is not right."
        return None

    return test


# parameters


def parameters(V, N, D, M, F, tied, with_b, norm):
    """Term by term, as the chapter's table of what a model has."""
    of_norm = (2 if norm == "LayerNorm" else 1) * D
    attention = 4 * D**2 + with_b * 4 * D
    feed_forward = 2 * D * F + with_b * (F + D)
    head = 0 if tied else V * D
    return V * D + N * D + M * (attention + feed_forward + 2 * of_norm) + of_norm + head


def draw_model(rng):
    V, N, D, M, F = (int(size) for size in rng.choice((23, 29, 31, 37, 41, 43, 47, 53), 5, replace=False))
    return V, N, D, M, F


def variants(tied, with_b, norm):
    def cases(rng):
        return [(*draw_model(rng), tied, with_b, norm) for _ in range(2)]

    return cases


def every_variant(rng):
    kinds = [(t, b, n) for t in (True, False) for b in (True, False) for n in ("LayerNorm", "RMSNorm")]
    one_block = (*draw_model(rng)[:3], 1, 59, False, True, "LayerNorm")
    wide = (50257, 2048, 12288, 96, 4 * 12288, True, True, "LayerNorm")
    return [*((*draw_model(rng), *kinds[i]) for i in rng.permutation(len(kinds))), one_block, wide]


def what_a_switch_adds(ask, rng):
    """Differences of two counts, so that a slip elsewhere drops out."""
    V, N, D, M, F = draw_model(rng)
    full = ask(V, N, D, M, F, True, True, "LayerNorm")
    if isinstance(full, bool) or not isinstance(full, int | float | np.number):
        return "The result should be a number."
    changes = {
        "a head of its own": ((False, True, "LayerNorm"), V * D),
        "no biases": ((True, False, "LayerNorm"), -M * (5 * D + F)),
        "RMSNorm for LayerNorm": ((True, True, "RMSNorm"), -(2 * M + 1) * D),
    }
    for name, (switches, expected) in changes.items():
        came = ask(V, N, D, M, F, *switches) - full
        if came != expected:
            return f"For V, N, D, M, F = {V, N, D, M, F}, {name} changes your count by {came:,}, which is not right."
    return None


# step


def step_flops(V, N, D, M, F):
    block = 8 * D * D * N + 4 * D * F * N + 4 * D * N * N
    forward = M * block + 2 * V * D * N
    pairs_left = N * (N + 1) // 2
    masked = M * (8 * D * D * N + 4 * D * F * N + 4 * D * pairs_left) + 2 * V * D * N
    return {"forward": forward, "step": 3 * forward, "masked": 3 * masked, "recomputed": 3 * forward + M * block}


def two_models(rng):
    return [draw_model(rng), draw_model(rng)]


def long_and_short(rng):
    """A window of one token, a very long one, and one block."""
    V, N, D, M, F = draw_model(rng)
    return [(V, 1, D, M, F), (V, 4001, D, M, F), (V, N, D, 1, F), (50257, 2048, 12288, 96, 4 * 12288)]


# memory


def bytes_kept(P, R, precision, cut):
    weight, gradient, copy, moment = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[
        precision
    ]
    most = max(P // R + (worker < P % R) for worker in range(R))
    return {
        "weights": weight * (most if cut == "all" else P),
        "gradients": gradient * (most if cut in ("gradients", "all") else P),
        "copy": copy * (P if cut == "nothing" else most),
        "moments": 2 * moment * (P if cut == "nothing" else most),
    }


PRECISIONS, CUTS = ("32 bits", "mixed", "16 bits"), ("nothing", "moments", "gradients", "all")


def whole_states(rng):
    return [(int(rng.integers(1000, 9000)), int(rng.integers(2, 9)), precision, "nothing") for precision in PRECISIONS]


def cut_states(rng):
    """P is never a multiple of R."""
    cases = []
    for cut in CUTS[1:]:
        for precision in PRECISIONS:
            R = int(rng.integers(3, 9))
            cases.append((R * int(rng.integers(100, 900)) + int(rng.integers(1, R)), R, precision, cut))
    return cases


def even_and_odd_shares(rng):
    """Shares that come out even, one worker, more workers than parameters, and a model that does not fit in 2³²."""
    R = int(rng.integers(3, 9))
    P = R * int(rng.integers(100, 900))
    return [
        (P, R, "mixed", "all"),
        (P, 1, "mixed", "all"),
        (3, 7, "32 bits", "all"),
        (174_604_259_328, 1000, "mixed", "all"),
    ]


# split


def draw_network(rng, F=None):
    """A network whose hidden units are off for some tokens and on for others."""
    F = F or draw_sizes(rng, 1)[0]
    D = int(rng.choice([size for size in SIZES if size != F]))
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
    """One worker, as many workers as units, huge numbers, a bias that is large beside the rest."""
    W_1, b_1, W_2, b_2 = draw_network(rng, F=11)
    return [
        (*draw_network(rng), 1),
        (*draw_network(rng, F=7), 7),
        (1e4 * W_1, b_1, 1e4 * W_2, b_2, 3),
        (W_1, b_1, W_2, 50 * b_2, 2),
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


# museum


def shared_step(W, shards, rate, limit, decay):
    X, Y = (np.concatenate(arrays, axis=1) for arrays in zip(*shards, strict=True))
    gradient = 2 * (W @ X - Y) @ X.T / X.shape[1]
    gradient = gradient * min(1.0, limit / max(np.linalg.norm(gradient), 1e-300))
    return W - rate * (gradient + decay * W)


def draw_shards(rng, counts):
    D, E = draw_sizes(rng, 2)
    W = rng.normal(size=(E, D))
    shards = [(rng.normal(size=(D, n)), 3 * rng.normal(size=(E, n))) for n in counts]
    return W, shards


def unequal_shares(rng):
    return [
        (*draw_shards(rng, [2, 9, 5]), 0.1, 1e3, 0.0),
        (*draw_shards(rng, [1, 7]), 0.3, 1e3, 0.0),
        (*draw_shards(rng, [11]), 0.2, 1e3, 0.0),
    ]


def short_limits(rng):
    """Gradients that are far too long, a limit between, one that is just not reached, and a short gradient."""
    W, shards = draw_shards(rng, [4, 4, 4])
    X, Y = (np.concatenate(arrays, axis=1) for arrays in zip(*shards, strict=True))
    length = np.linalg.norm(2 * (W @ X - Y) @ X.T / 12)
    nearly = [(X, W @ X + 1e-3 * Y) for X, Y in shards]
    return [*((W, shards, 0.1, part * length, 0.0) for part in (0.01, 0.9, 1.1)), (W, nearly, 90.0, 1e-3, 0.0)]


def with_decay(rng):
    return [
        (*draw_shards(rng, [5, 5]), 0.1, 1e3, 0.7),
        (*draw_shards(rng, [3, 3, 3]), 0.05, 0.02, 0.4),
        (*draw_shards(rng, [2, 6, 11]), 0.1, 0.5, 0.9),
    ]


def idle_workers(rng):
    """Workers without tokens, and one token for everybody; data that fit, so that the gradient is 0."""
    W, shards = draw_shards(rng, [0, 5, 0, 2])
    D, E = W.shape[1], W.shape[0]
    X = rng.normal(size=(D, 6))
    fitted = [(X[:, :2], W @ X[:, :2]), (X[:, 2:], W @ X[:, 2:])]
    lonely = [(np.zeros((D, 0)), np.zeros((E, 0))), (X[:, :1], rng.normal(size=(E, 1)))]
    return [(W, shards, 0.1, 0.3, 0.2), (W, fitted, 0.1, 0.3, 0.2), (W, lonely, 0.1, 9.0, 0.0)]


def who_has_what(ask, rng):
    """The same tokens in other hands give the same step, also where no limit hides how long the gradient is."""
    W, [(X, Y)] = draw_shards(rng, [13])
    order = rng.permutation(13)
    for limit in (2.0, 1e3):
        before = None
        for ends in ((3,), (1, 12), (4, 4, 9)):
            shards = [(X[:, part], Y[:, part]) for part in np.split(order, ends)]
            after = ask(W, shards, 0.1, limit, 0.5)
            if not isinstance(after, np.ndarray) or after.shape != W.shape:
                return f"The result should be an array of shape {W.shape}."
            if before is not None and not close(after, before, 1e-8):
                return "The same tokens, shared out otherwise, give another W in yours."
            before = after
        if close(before, W):
            return "A step must change W, but yours does not."
    return None


# pipeline


def pipeline(forward, backward, m):
    """Every task looks up what it waits for."""
    w = len(forward)
    done = {}
    for kind, workers, durations, towards in (
        (FORWARD, range(w), forward, -1),
        (BACKWARD, range(w - 1, -1, -1), backward, 1),
    ):
        for worker in workers:
            for i in range(m):
                own = done.get((kind, worker, i - 1), done.get((FORWARD, worker, m - 1), 0.0))
                done[kind, worker, i] = max(own, done.get((kind, worker + towards, i), 0.0)) + durations[worker]
    end = max(done.values())
    idle = np.array([1 - m * (forward[k] + backward[k]) / end for k in range(w)])
    return {"end": end, "idle": idle, "predicted": (w - 1) / (m + w - 1)}


def equal_workers(rng):
    w, m = draw_sizes(rng, 2)
    return [(np.full(w, 1.5), np.full(w, 3.5), m), (np.ones(m), np.full(m, 0.5), w), (np.ones(5), 2 * np.ones(5), 1)]


def unequal_workers(rng):
    cases = []
    for _ in range(3):
        w, m = draw_sizes(rng, 2)
        cases.append((rng.uniform(0.5, 3, size=w), rng.uniform(0.5, 6, size=w), m))
    return [*cases, (np.array([2.5]), np.array([4.0]), 6)]


def one_slow_worker(rng):
    """At the start, in the middle, at the end; slow forwards only, slow backwards only."""
    cases = []
    for place in (0, 2, -1):
        forward, backward = rng.uniform(1, 1.2, size=5), rng.uniform(2, 2.4, size=5)
        forward[place] *= 6
        cases.append((forward, backward, 9))
        backward = backward.copy()
        backward[place] *= 6
        cases.append((rng.uniform(1, 1.2, size=5), backward, 4))
    return cases


def pipeline_entries(*names):
    def test(ask, rng):
        for args in (*unequal_workers(rng), *one_slow_worker(rng)):
            found, expected = ask(*args), pipeline(*args)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                if np.shape(found[name]) != np.shape(expected[name]):
                    return f"The entry {name!r} should have the shape {np.shape(expected[name])}."
                if not np.allclose(found[name], expected[name], rtol=0, atol=1e-8):
                    return f"For {len(args[0])} unequal workers and {args[2]} microbatches your {name!r} is not right."
        return None

    return test


# adam


def sharded_adam(weights, gradients, states, t, rate, betas, eps):
    """Plain Adam on the whole vector, and then cut."""
    m, v = (np.concatenate(parts) for parts in zip(*states, strict=True))
    g = gradients.mean(axis=0)
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
    R = len(states)
    after = weights - rate * m_hat / (np.sqrt(v_hat) + eps)
    return after, list(zip(np.array_split(m, R), np.array_split(v, R), strict=True))


BETAS = (0.8, 0.95)


def draw_state(rng, P, R):
    m, v = rng.normal(size=P), rng.uniform(0.1, 2, size=P)
    return list(zip(np.array_split(m, R), np.array_split(v, R), strict=True))


def draw_adam(rng, t, P=None, R=None, eps=0.05):
    drawn_P, drawn_R = sorted(draw_sizes(rng, 2), reverse=True)
    P, R = P or drawn_P, R or drawn_R
    return rng.normal(size=P), rng.normal(size=(R, P)), draw_state(rng, P, R), t, 0.1, BETAS, eps


def later_steps(rng):
    return [draw_adam(rng, 3), draw_adam(rng, 2, R=1), draw_adam(rng, 5, P=13, R=4)]


def first_steps(rng):
    """From moments of zero, which the correction takes out; tiny gradients, where ε counts; empty pieces."""
    cases = []
    for scale in (1.0, 1e-3, 1e4):
        weights, gradients, states, *rest = draw_adam(rng, 1)
        states = [(np.zeros_like(m), np.zeros_like(v)) for m, v in states]
        cases.append((weights, scale * gradients, states, *rest))
    return [*cases, draw_adam(rng, 4, P=3, R=5)]


def adam_slip(found, P, sizes):
    if not isinstance(found, list | tuple) or len(found) != 2:
        return "The result should be a pair: the new weights and the list of the new states."
    weights, states = found
    if not isinstance(weights, np.ndarray) or weights.shape != (P,):
        return f"The new weights should be an array of shape {(P,)}."
    if not isinstance(states, list | tuple) or len(states) != len(sizes):
        return f"The new states should be a list of {len(sizes)} pairs."
    for worker, (pair, size) in enumerate(zip(states, sizes, strict=True)):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            return f"The state of worker {worker} should be a pair (m, v)."
        if any(not isinstance(part, np.ndarray) or part.shape != (size,) for part in pair):
            return f"Worker {worker} owns {size} weights, so its m and v should have the shape {(size,)}."
    return None


def several_steps(ask, rng):
    """Five steps in a row, each from what the learner's own step returned."""
    weights, _, states, *_ = draw_adam(rng, 1, P=11, R=4)
    states = [(0 * m, 0 * v) for m, v in states]
    plain, plain_states = weights, states
    for t in range(1, 6):
        gradients = rng.normal(size=(4, 11))
        found = ask(weights, gradients, states, t, 0.1, BETAS, 1e-6)
        if slip := adam_slip(found, 11, [3, 3, 3, 2]):
            return slip
        weights, states = found
        plain, plain_states = sharded_adam(plain, gradients, plain_states, t, 0.1, BETAS, 1e-6)
        if not close(weights, plain, 1e-8):
            return f"After {t} of five steps your weights are {np.abs(weights - plain).max():.2g} from plain Adam's."
    return None


def only_its_own(ask, rng):
    """A worker's piece depends on nothing that belongs to another."""
    weights, gradients, states, *rest = draw_adam(rng, 2, P=9, R=4)
    sizes = [3, 2, 2, 2]
    found = ask(weights, gradients, states, *rest)
    if slip := adam_slip(found, 9, sizes):
        return slip
    elsewhere = gradients.copy()
    elsewhere[:, 3:5] += rng.normal(size=(4, 2))  # the weights of worker 1
    other = [(m + 1.0, v + 1.0) if worker == 1 else (m, v) for worker, (m, v) in enumerate(states)]
    again = ask(weights, elsewhere, other, *rest)
    if slip := adam_slip(again, 9, sizes):
        return slip
    keep = np.r_[0:3, 5:9]
    if not close(again[0][keep], found[0][keep]):
        return "Worker 1 gets other gradients and moments, and weights of other workers change in yours."
    if close(again[0][3:5], found[0][3:5]):
        return "Worker 1 gets other gradients and moments, but its weights stay in yours."
    swapped = ask(weights, gradients[::-1].copy(), states, *rest)
    if slip := adam_slip(swapped, 9, sizes):
        return slip
    if not close(swapped[0], found[0], 1e-8):
        return "It must not matter which worker brings which gradient: all of them are averaged."
    return None


EXERCISE = Exercise(
    slug="15-gpt3",
    title="GPT-3",
    chapter="chapters/15-gpt3",
    questions=(
        Question(
            id="parameters",
            title="Every parameter",
            name="parameters",
            minutes=8,
            difficulty=1,
            checks=(
                equals("GPT-3's own kind", 3, variants(True, True, "LayerNorm"), parameters),
                equals("another kind", 3, variants(False, False, "RMSNorm"), parameters),
                holds("what a switch changes", 3, what_a_switch_adds),
                equals("every variant", 3, every_variant, parameters),
            ),
            hints=(
                "Write down the shape of every tensor of one block: six matrices, their biases, two norms. How many "
                "outputs has each matrix, and so how long is its bias?",
                "Outside the blocks there are four things at most: words, places, one norm, and perhaps a head. Which "
                "of them does `tied` concern, and which `norm`?",
                "A LayerNorm has twice the numbers of an RMSNorm, and there are 2 M + 1 norms. The biases of one block "
                "are 5 D + F in number.",
            ),
            section="every-parameter-counted",
        ),
        Question(
            id="step",
            title="The operations of a training step",
            name="step_flops",
            minutes=14,
            difficulty=2,
            checks=(
                holds("forward", 4, entries_right(step_flops, two_models, "forward")),
                holds("forward and backward", 3, entries_right(step_flops, two_models, "step")),
                holds("masked", 2, entries_right(step_flops, two_models, "masked")),
                holds("recomputed", 2, entries_right(step_flops, two_models, "recomputed")),
                equals("all four, long and short windows", 3, long_and_short, step_flops),
            ),
            hints=(
                "A product of an a × b and a b × c matrix takes 2 a b c FLOPs. Write the three sizes beside each "
                "product of a block, for N tokens, and do not forget the one that turns the last vectors into words.",
                "Which products have N twice among their sizes? Only these know of pairs, and only these become fewer "
                "with the mask. How many pairs are left if token n looks at 1, …, n?",
                "Forward once, backward twice as much: three times in all. Computing the blocks again adds their "
                "forward pass once, and the head's not at all.",
            ),
            section="what-a-token-costs",
        ),
        Question(
            id="memory",
            title="What one worker keeps",
            name="bytes_kept",
            minutes=10,
            difficulty=1,
            checks=(
                equals("nothing cut", 4, whole_states, bytes_kept),
                equals("cut", 5, cut_states, bytes_kept),
                equals("even shares and extreme ones", 3, even_and_odd_shares, bytes_kept),
            ),
            hints=(
                "Make a small table first: for each precision the bytes of a weight, a gradient, a copy and a moment. "
                "Then ask of each of the four, how many of them a worker keeps.",
                "AdamW has two moments for every weight. `cut` is a ladder: each step divides more, and what the "
                "steps before it divided stays divided.",
                "The worker with the most has P / R numbers, rounded *up*. Round the number of weights and multiply by "
                "the bytes afterwards, not the other way round.",
            ),
            section="what-has-to-be-in-memory",
        ),
        Question(
            id="split",
            title="One network, several workers",
            name="split_network",
            minutes=15,
            difficulty=2,
            checks=(
                holds("the sum of the outputs", 6, sums_up),
                equals("who gets what", 6, ordinary_splits, split_network),
                equals("one worker, many workers, large numbers", 4, special_splits, split_network),
            ),
            hints=(
                "What is a hidden unit in the formula: which row or column of W₁, of b₁ and of W₂ belongs to it? A "
                "worker gets whole units.",
                "Add the outputs of two workers on paper. What stands in the sum twice that stands in the whole "
                "network once?",
                "`np.array_split` makes pieces that differ by one at most, along the axis that you name, the larger "
                "ones first.",
            ),
            section="by-features-tensor-parallelism",
        ),
        Question(
            id="museum",
            title="Repair the step of several workers",
            name="shared_step",
            minutes=18,
            difficulty=2,
            checks=(
                equals("unequal shares", 4, unequal_shares, shared_step),
                equals("limits", 4, short_limits, shared_step),
                equals("decay", 4, with_decay, shared_step),
                holds("who has what", 3, who_has_what),
                equals("workers without tokens", 3, idle_workers, shared_step),
            ),
            hints=(
                "Go through the three sentences one after the other, and find for each the line of the museum piece "
                "that should do it. Which of the three experiments does it spoil?",
                "What has to be summed over the workers, so that one division at the end gives the mean over all "
                "tokens? And by what is it divided?",
                "The limit holds for the gradient of the whole batch, so nobody can apply it before the sum. The decay "
                "comes after it, once.",
            ),
            section="by-rows-data-parallelism",
        ),
        Question(
            id="pipeline",
            title="A pipeline of unequal workers",
            name="pipeline",
            minutes=15,
            difficulty=2,
            checks=(
                equals("equal workers", 4, equal_workers, pipeline),
                holds("end", 4, pipeline_entries("end")),
                holds("idle", 2, pipeline_entries("idle")),
                equals("unequal workers", 2, unequal_workers, pipeline),
                equals("one slow worker", 2, one_slow_worker, pipeline),
            ),
            hints=(
                "Every task begins at the later one of two moments. Name both, for a forward and for a backward, and "
                "say what is different for the first worker, and for the last.",
                "Keep two tables of end times: by worker, when it was last busy, and by microbatch, when the worker "
                "before was through with it. Fill the forwards from worker to worker, and then the backwards the other "
                "way round.",
                "A worker's last forward has to be over before its first backward: carry the time at which it becomes "
                "free from the one table to the other. Busy it is m (forward + backward) in all.",
            ),
            section="by-layers-pipeline-parallelism",
        ),
        Question(
            id="adam",
            title="Stretch: an optimiser in pieces",
            name="sharded_adam",
            minutes=20,
            difficulty=3,
            checks=(
                equals("a later step", 4, later_steps, sharded_adam),
                equals("a first step, tiny and huge gradients", 3, first_steps, sharded_adam),
                holds("five steps", 4, several_steps),
                holds("only its own", 3, only_its_own),
            ),
            hints=(
                "Cut the weights, and the columns of `gradients`, as the states are cut. What does worker r need from "
                "the gradients of the others?",
                "Do everything for one piece in a loop over the workers: average, m, v, the two corrections, the step. "
                "Which of them know t?",
                "The states keep m and v *before* the correction; m̂ and v̂ are used for the step alone. ε is added to "
                "the root.",
            ),
            section="the-states-once-instead-of-everywhere",
        ),
    ),
)
