"""Checks of exercise 05: sizes that do not divide each other, and once equal ones, where a lost axis still fits."""

from itertools import product

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import CLOSE, close, draw_sizes
from clearformer.reference import attention, functions, layers, multihead

ROUNDING = 1e-6  # of the largest output: what the question "position-wise" calls rounding


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if not isinstance(array, np.ndarray) or array.shape != shape:
            return f"The array at position {place} of your result should have the shape {shape}."
    return None


# mlp


def network(rng, D, F, N):
    """X, W_1, b_1, W_2, b_2 of ordinary sizes, with biases that matter."""
    W_1, W_2 = rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=(D, F)) / np.sqrt(F)
    return rng.normal(size=(D, N)), W_1, rng.normal(size=F), W_2, rng.normal(size=D)


def ordinary_networks(rng):
    cases = []
    for n_tokens in (None, None, 1):
        D, F, N = draw_sizes(rng, 3)
        cases.append(network(rng, D, F, n_tokens or N))
    return cases


def equal_sizes(rng):
    """D = F = N: a bias or a matrix on the wrong axis fits, and gives other numbers."""
    return [network(rng, size, size, size) for size in draw_sizes(rng, 2)]


def mlp_relu(X, W_1, b_1, W_2, b_2):
    return layers.mlp(X, W_1, b_1, W_2, b_2, functions.relu)


def every_token_alone(ask, rng):
    D, F, N = draw_sizes(rng, 3)
    X, *parameters = network(rng, D, F, N)
    Y = ask(X, *parameters)
    if not isinstance(Y, np.ndarray) or Y.shape != (D, N):
        return f"The result should be an array of shape {(D, N)}."
    edited = X.copy()
    edited[:, 2] += rng.normal(size=D)
    others = np.arange(N) != 2
    if not close(ask(edited, *parameters)[:, others], Y[:, others]):
        return "After an edit of token 2 only its own output may change, but others of yours do."
    if close(ask(edited, *parameters)[:, 2], Y[:, 2]):
        return "After an edit of token 2 its own output must change, but yours does not."
    chosen = [3, 1, 1, 0]
    if not close(ask(X[:, chosen].copy(), *parameters), Y[:, chosen]):
        return "With columns dropped and repeated your outputs are not the same ones dropped and repeated."
    if close(ask(-X, *parameters) + Y, 2 * ask(0 * X, *parameters)):
        return "Your outputs for X and −X lie opposite each other, as those of one matrix and a shift do."
    return None


# gelu


def gelu_and_slope(X):
    return functions.gelu(X), functions.gelu_backward(X, np.ones_like(X))


def ordinary_numbers(rng):
    D, N = draw_sizes(rng, 2)
    return [(1.5 * rng.normal(size=shape),) for shape in ((D, N), (N, D), (D, 1))]


def far_out(rng):
    D, N = draw_sizes(rng, 2)
    spread = rng.uniform(3, 6, size=(D, N)) * np.where(np.arange(N) % 2, 1.0, -1.0)
    return [(spread,), (30 * rng.normal(size=(N, D)),), (1e4 * rng.normal(size=(D, N)),)]


def values_come_first(ask, rng):
    """The first of the two results alone, so that it earns its points whatever the slope is."""
    D, N = draw_sizes(rng, 2)
    X = 1.5 * rng.normal(size=(D, N))
    found = ask(X)
    if slip := shapes_slip(found, (X.shape, X.shape)):
        return slip
    gap = np.abs(found[0] - functions.gelu(X))
    if gap.max() > CLOSE:
        d, n = np.unravel_index(np.argmax(gap), gap.shape)
        return f"At x = {X[d, n]:.3g} your value is {found[0][d, n]:.4g}; this is off by {gap[d, n]:.2g}."
    return None


def slope_of_the_value(ask, rng):
    D, N = draw_sizes(rng, 2)
    X, step = 1.5 * rng.normal(size=(D, N)), 1e-5
    found = ask(X)
    if slip := shapes_slip(found, (X.shape, X.shape)):
        return slip
    if not close(found[0], functions.gelu(X), 0.05):
        return "The slope is compared with your own values, and these do not yet look like a GELU."
    measured = (ask(X + step)[0] - ask(X - step)[0]) / (2 * step)
    gap = np.abs(found[1] - measured)
    if gap.max() > 1e-7:
        d, n = np.unravel_index(np.argmax(gap), gap.shape)
        return (
            f"At x = {X[d, n]:.3g} your values rise by {measured[d, n]:.4g} for each unit of x, "
            f"but your slope there is {found[1][d, n]:.4g}."
        )
    return None


# lamp


def lamp_network(wanted):
    n = len(wanted) - 1
    changes = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(n, dtype=float), changes[None, :], wanted[:1].copy()


def any_numbers(rng):
    sizes = [1, 2, *rng.choice([3, 4, 5, 6, 7], 2, replace=False)]
    return [(rng.normal(size=int(n) + 1) + 2.0,) for n in sizes]


def lamps(rng):
    """Burns with some brightness when an odd number of switches is up."""
    return [(rng.uniform(1.5, 9) * (np.arange(n + 1) % 2),) for n in (2, 3, 5)]


def every_position_of_the_switches(ask, rng):
    for n in (2, 4):
        wanted = rng.normal(size=n + 1)
        found = ask(wanted)
        if not isinstance(found, tuple | list) or len(found) != 4 or not all(isinstance(a, np.ndarray) for a in found):
            return "The result should be a tuple of four arrays: W_1, b_1, W_2 and b_2."
        W_1, b_1, W_2, b_2 = found
        if W_1.ndim != 2 or W_1.shape[1] != n or len(W_1) > n or W_2.shape != (1, len(W_1)):
            return f"For {n} switches W_1 needs {n} columns and at most {n} rows, and W_2 one column for each of these."
        if b_1.shape != (len(W_1),) or b_2.shape != (1,):
            return "A bias has one number for each row of its matrix."
        switches = np.array(list(product([0.0, 1.0], repeat=n))).T
        burns = mlp_relu_any(switches, W_1, b_1, W_2, b_2)[0]
        bad = np.abs(burns - wanted[switches.sum(axis=0).astype(int)]) > 1e-9
        if bad.any():
            column = switches[:, np.flatnonzero(bad)[0]].astype(int).tolist()
            return f"With the switches at {column} your network gives {burns[bad][0]:.4g}, which is not what is wanted."
    return None


def mlp_relu_any(X, W_1, b_1, W_2, b_2):
    """An MLP whose output may be narrower than its input."""
    return W_2 @ np.maximum(W_1 @ X + b_1[:, None], 0) + b_2[:, None]


# position-wise


def verdict(Y, experiments):
    limit = ROUNDING * np.abs(Y).max()

    def commutes(chosen, Y_chosen):
        return np.abs(Y_chosen - Y[:, chosen]).max() <= limit

    if all(commutes(*experiment) for experiment in experiments):
        return "position-wise"
    tokens = list(range(Y.shape[1]))
    reorderings = [experiment for experiment in experiments if sorted(experiment[0]) == tokens]
    return "equivariant" if all(commutes(*experiment) for experiment in reorderings) else "neither"


def layer_kinds(rng, D):
    """Layers by name, as functions of the columns alone."""
    W_1, b_1 = rng.normal(size=(13, D)), rng.normal(size=13)
    W_2, b_2 = rng.normal(size=(D, 13)), rng.normal(size=D)
    U_q, U_k = rng.normal(size=(2, 3, D)) / D
    places = rng.normal(size=(D, 30))

    def feed_forward(X):
        return layers.mlp(X, W_1, b_1, W_2, b_2, functions.relu)

    def attend(X):
        return attention.self_attention(X, U_q, U_k)[0]

    return {
        "feed-forward": feed_forward,
        "attention": attend,
        "less the mean token": lambda X: X - X.mean(axis=1, keepdims=True),
        "neighbour": lambda X: feed_forward(X) + 0.5 * np.roll(X, 1, axis=1),
        "places": lambda X: feed_forward(X + places[:, : X.shape[1]]),
        "only the past": lambda X: np.cumsum(X, axis=1) / np.arange(1, X.shape[1] + 1),
        "mean of all": lambda X: np.repeat(X.mean(axis=1, keepdims=True), X.shape[1], axis=1),
    }


def record(layer, X, choices, noise=None):
    """What the learner's function gets: the outputs, and those for the chosen columns."""
    experiments = []
    for chosen in choices:
        Y_chosen = layer(X[:, chosen])
        experiments.append((list(chosen), Y_chosen if noise is None else Y_chosen + noise(Y_chosen.shape)))
    return layer(X), experiments


def shuffled(rng, N):
    """A reordering without a fixed pattern: neither the old order nor its own inverse nor a rotation."""
    while True:
        order = rng.permutation(N)
        steps = np.diff(order) % N
        if (order[order] != np.arange(N)).any() and len(set(steps.tolist())) > 1:
            return order.tolist()


def draw_tokens(rng):
    D, N = draw_sizes(rng, 2)
    return rng.normal(size=(D, N)), D, N


def kinds_of_layers(rng):
    """One record of each kind, with reordered, dropped and repeated tokens."""
    cases = []
    for name in ("feed-forward", "attention", "places", "less the mean token", "only the past", "feed-forward"):
        X, D, N = draw_tokens(rng)
        dropped = sorted(rng.choice(N, N - 2, replace=False).tolist())
        choices = [shuffled(rng, N), dropped, [*range(N), int(rng.integers(N))], shuffled(rng, N)]
        cases.append(record(layer_kinds(rng, D)[name], X, choices))
    return [cases[i] for i in rng.permutation(len(cases))]


def records_that_mislead(rng):
    """Rotations that a convolution follows, and lists that only look like reorderings."""
    cases = []

    def add(name, make_choices):
        X, D, N = draw_tokens(rng)
        cases.append(record(layer_kinds(rng, D)[name], X, make_choices(N)))

    def rotation(N):
        return np.roll(np.arange(N), 2).tolist()

    add("neighbour", lambda N: [rotation(N), shuffled(rng, N)])
    add("attention", lambda N: [shuffled(rng, N), [1, *range(1, N)]])
    add("attention", lambda N: [shuffled(rng, N), list(range(N - 2))])
    add("less the mean token", lambda N: [shuffled(rng, N), [*range(N), 0]])
    add("mean of all", lambda N: [shuffled(rng, N), shuffled(rng, N), [0, 1]])
    add("feed-forward", lambda N: [[2, 2, 2], [1], [0, 3, 3, 1]])
    add("places", lambda N: [list(range(N)), shuffled(rng, N)])
    add("attention", lambda N: [shuffled(rng, N), shuffled(rng, N)])
    return cases


def rounded_records(rng):
    """Rounding in large and in tiny outputs, and a sequence of one token."""
    cases = []
    for name, scale, lift, share in (
        ("feed-forward", 1e4, 0, 1e-8),
        ("places", 1e-10, 0, 0),
        ("feed-forward", 1, 0, 1e-9),
        ("feed-forward", 1, 1000, 2e-7),  # far from 0 everywhere
        ("attention", 1e4, 0, 1e-8),
    ):
        X, D, N = draw_tokens(rng)
        layer = layer_kinds(rng, D)[name]

        def scaled(columns, layer=layer, scale=scale, lift=lift):
            bent = functions.relu(layer(columns)) if scale == 1e4 else layer(columns)  # exact zeros, and rounding there
            return scale * bent + lift

        size = share * np.abs(scaled(X)).max()
        choices = [shuffled(rng, N), [0, 2, 3], shuffled(rng, N)]
        cases.append(record(scaled, X, choices, lambda shape, size=size: size * rng.uniform(-1, 1, shape)))
    D = draw_sizes(rng, 1)[0]
    x, kinds = rng.normal(size=(D, 1)), layer_kinds(rng, D)
    cases.append(record(kinds["feed-forward"], x, [[0, 0, 0], [0]]))
    cases.append(record(kinds["only the past"], x, [[0], [0, 0]]))
    cases.append(record(kinds["less the mean token"], x, [[0]]))
    cases.append(record(kinds["places"], x, [[0], [0, 0]]))
    return cases


# lone token


def lone_token_map(stack):
    D = len(stack[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in stack:
        through = np.eye(D) + V.sum(axis=0)
        W, c = through @ W, through @ c + b
    return W, c


def draw_stack(rng, D, heads):
    return [(rng.normal(size=(H, D, D)) / np.sqrt(D * H), rng.normal(size=D)) for H in heads]


def shallow_stacks(rng):
    sizes = draw_sizes(rng, 3)
    return [(draw_stack(rng, D, heads),) for D, heads in zip(sizes, ([3], [2, 2], [3, 3, 3]), strict=True)]


def deep_stacks(rng):
    D, E = draw_sizes(rng, 2)
    return [(draw_stack(rng, D, [2, 3, 1, 2]),), (draw_stack(rng, E, [1, 3, 2, 3, 2]),), (draw_stack(rng, 1, [2, 3]),)]


def matrix_alone(ask, rng):
    """W without c, so that it earns its points whatever the shift is."""
    D = draw_sizes(rng, 1)[0]
    stack = draw_stack(rng, D, [2, 3, 2])
    found = ask(stack)
    if slip := shapes_slip(found, ((D, D), (D,))):
        return slip
    if not close(found[0], lone_token_map(stack)[0], 1e-8):
        return "Your W is not the matrix of this stack; c is not looked at here."
    return None


def equal_tokens(ask, rng):
    """The answer against live weights: multi-head attention on equal columns."""
    D, K, N = draw_sizes(rng, 3)
    stack = draw_stack(rng, D, [2, 3, 2])
    found = ask(stack)
    if slip := shapes_slip(found, ((D, D), (D,))):
        return slip
    X = start = np.repeat(rng.normal(size=(D, 1)), N, axis=1)
    for V, b in stack:
        U_q, U_k = rng.normal(size=(2, len(V), K, D))
        X = X + multihead.multi_head(X, U_q, U_k, V)[0] + b[:, None]
    predicted = found[0] @ start + found[1][:, None]
    if not close(predicted, X, 1e-8 * max(1.0, np.abs(X).max())):
        gap = np.abs(predicted - X).max()
        return f"Through a real stack, {N} equal tokens come out {gap:.2g} away from what your W and c predict."
    return None


# counts


def block_counts(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


def draw_block(rng, widest):
    """D in H heads, a hidden width that is no round multiple of D, and a length."""
    H, K = int(rng.choice([2, 3, 5])), int(rng.choice([16, 28, 44]))
    D = H * K
    low, high = widest
    F = int(rng.integers(int(low * D), int(high * D))) + 1
    return D, H, F, int(rng.integers(20, 900))


def entries_right(*names):
    """A check of some entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        for widest in ((2.3, 3.7), (4.3, 6.0), (0.5, 1.7)):
            sizes = draw_block(rng, widest)
            found, expected = ask(*sizes), block_counts(*sizes)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                came = found[name]
                if isinstance(came, bool) or not isinstance(came, int | float | np.number):
                    return f"Under {name!r} a number is expected."
                if came != expected[name]:
                    shown = ", ".join(f"{letter} = {size}" for letter, size in zip("DHFN", sizes, strict=True))
                    return f"For {shown} your entry {name!r} is {came:,}, which is not right."
        return None

    return test


def wide_blocks(rng):
    return [draw_block(rng, (2.3, 3.7)), draw_block(rng, (4.3, 6.0))]


def narrow_blocks(rng):
    D, _, F, _ = draw_block(rng, (0.5, 1.7))
    return [
        draw_block(rng, (0.5, 1.7)),
        (D, 1, F, int(rng.integers(3000, 9000))),
        (*draw_block(rng, (2.3, 3.7))[:3], 1),
    ]


# backward


def mlp_backward_relu(X, W_1, b_1, W_2, dY):
    return layers.mlp_backward(X, W_1, b_1, W_2, dY, functions.relu, functions.relu_backward)


def with_gradient(rng, D, F, N):
    X, W_1, b_1, W_2, _ = network(rng, D, F, N)
    while np.abs(W_1 @ X + b_1[:, None]).min() < 1e-3:  # no number at the kink
        X = rng.normal(size=(D, N))
    return X, W_1, b_1, W_2, rng.normal(size=(D, N))


def ordinary_gradients(rng):
    cases = []
    for n_tokens in (None, None, 1):
        D, F, N = draw_sizes(rng, 3)
        cases.append(with_gradient(rng, D, F, n_tokens or N))
    return cases


def gradients_of_equal_sizes(rng):
    return [with_gradient(rng, size, size, size) for size in draw_sizes(rng, 2)]


def upper_half(ask, rng):
    """The two gradients that need no derivative of the bend."""
    D, F, N = draw_sizes(rng, 3)
    arguments = with_gradient(rng, D, F, N)
    found = ask(*arguments)
    if slip := shapes_slip(found, ((D, N), (F, D), (F,), (D, F), (D,))):
        return slip
    expected = mlp_backward_relu(*arguments)
    for place, name in ((3, "W_2"), (4, "b_2")):
        if not close(found[place], expected[place], 1e-8):
            return f"Your gradient by {name} is not right; the others are not looked at here."
    return None


def gradient_check(ask, rng):
    D, F, N = draw_sizes(rng, 3)
    X, W_1, b_1, W_2, dY = with_gradient(rng, D, F, N)
    values, step = [X, W_1, b_1, W_2, rng.normal(size=D)], 1e-6
    found = ask(X, W_1, b_1, W_2, dY)
    if slip := shapes_slip(found, [value.shape for value in values]):
        return slip
    for place, name in enumerate(("X", "W_1", "b_1", "W_2", "b_2")):
        direction = rng.normal(size=values[place].shape)
        moved = [[*values[:place], values[place] + sign * step * direction, *values[place + 1 :]] for sign in (1, -1)]
        up, down = ((dY * mlp_relu(*arguments)).sum() for arguments in moved)
        measured, claimed = (up - down) / (2 * step), (found[place] * direction).sum()
        if abs(measured - claimed) > 1e-5 * max(1.0, abs(measured)):
            return (
                f"Along a random direction of {name} the loss rises by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


def tokens_add_up(ask, rng):
    D, F, N = draw_sizes(rng, 3)
    X, W_1, b_1, W_2, dY = with_gradient(rng, D, F, N)
    whole = ask(X, W_1, b_1, W_2, dY)
    if slip := shapes_slip(whole, (X.shape, W_1.shape, b_1.shape, W_2.shape, (D,))):
        return slip
    halves = [ask(X[:, part].copy(), W_1, b_1, W_2, dY[:, part].copy()) for part in (slice(0, 2), slice(2, N))]
    for name, total, one, other in zip(
        ("W_1", "b_1", "W_2", "b_2"), whole[1:], halves[0][1:], halves[1][1:], strict=True
    ):
        if not close(total, one + other, 1e-8):
            return f"All tokens share one {name}, so its gradients from two parts of the sequence add up; yours do not."
        if close(total, 0 * total):
            return f"Your gradient by {name} is 0 everywhere."
    if not close(whole[0], np.concatenate([halves[0][0], halves[1][0]], axis=1), 1e-8):
        return "The gradient by a token depends on that token alone, but yours changes with its company."
    return None


EXERCISE = Exercise(
    slug="05-feed-forward",
    title="Feed-forward",
    chapter="chapters/05-feed-forward",
    questions=(
        Question(
            id="mlp",
            title="One network for every token",
            name="mlp",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 5, ordinary_networks, mlp_relu),
                equals("equal sizes", 2, equal_sizes, mlp_relu),
                holds("every token alone", 3, every_token_alone),
            ),
            hints=(
                "Write the formula for one column first, with the shape of each factor below it. Then ask what changes "
                "when N columns stand side by side.",
                "The matrices need no change at all. The biases do: each is a vector with one number for every row, "
                "and every column has to get all of it.",
                "NumPy lines up the last axes of two arrays. Give a bias a second axis of length 1, so that it stands "
                "upright like a token, and test it with D = F = N, where the wrong way runs as well.",
            ),
            section="the-same-network-for-every-token",
        ),
        Question(
            id="gelu",
            title="The GELU and its slope",
            name="gelu_with_slope",
            minutes=15,
            difficulty=2,
            checks=(
                holds("values alone", 3, values_come_first),
                equals("values and slopes", 3, ordinary_numbers, gelu_and_slope),
                equals("far out", 2, far_out, gelu_and_slope),
                holds("slope of your own values", 4, slope_of_the_value),
            ),
            hints=(
                "The value is a product of two factors, and both depend on x. `np.vectorize(erf)` makes the function "
                "of one number work on an array.",
                "The rule for the slope of a product has two terms. Write them down before you differentiate anything.",
                "For the term with the slope of Φ: the outer factor ½, the given slope of erf, and the slope of what "
                "stands inside erf. Three factors; leave none out, then simplify.",
            ),
            section="the-bend",
        ),
        Question(
            id="lamp",
            title="Light any lamp by hand",
            name="lamp_network",
            minutes=15,
            difficulty=2,
            checks=(
                equals("any wish", 6, any_numbers, lamp_network),
                equals("lamps", 2, lamps, lamp_network),
                holds("every position of the switches", 4, every_position_of_the_switches),
            ),
            hints=(
                "Draw the output against the number of switches that are up, as a line with corners. What does the "
                "network give when all are down, and which of its parts is then at work alone?",
                "From a count of f on, unit f grows by 1 with every further switch, and goes on doing so. What is the "
                "slope of your line between two counts, in terms of the entries of W_2?",
                "Go from left to right. Between the counts 0 and 1 only one unit moves: that gives its weight. Between "
                "1 and 2 two of them move, and one weight is known already.",
            ),
            section="the-same-network-for-every-token",
        ),
        Question(
            id="position-wise",
            title="Which layer was that?",
            name="verdict",
            minutes=15,
            difficulty=2,
            checks=(
                equals("kinds of layers", 6, kinds_of_layers, verdict),
                equals("records that mislead", 5, records_that_mislead, verdict),
                equals("rounding and one token", 3, rounded_records, verdict),
            ),
            hints=(
                "Take one experiment. If the layer treats every token alone, which columns of Y must its output "
                "consist of, and in which order?",
                "There are two questions to a record: does every experiment agree, and if not, does every experiment "
                "agree that is a reordering? Which property of the list `chosen` makes it one?",
                "A list with a token left out and another one twice can have the right length. And for the rounding, "
                "take one limit for the whole record, from the largest number in Y.",
            ),
            section="position-wise-and-how-to-test-it",
        ),
        Question(
            id="lone-token",
            title="A stack and a lone token",
            name="lone_token_map",
            minutes=15,
            difficulty=2,
            checks=(
                holds("matrix alone", 3, matrix_alone),
                equals("shallow stacks", 4, shallow_stacks, lone_token_map),
                equals("deep stacks", 2, deep_stacks, lone_token_map),
                holds("equal tokens", 3, equal_tokens),
            ),
            hints=(
                "Write out what one layer does to x, with the weight of a lone token put in. What is multiplied with x "
                "and what is added?",
                "Put the result of the first layer into the second and sort: what stands before x, and what does not "
                "contain x at all? Does the first shift come out of the second layer as it went in?",
                "Keep a matrix and a shift and update both layer by layer. The order of the factors is the order in "
                "which x meets them, the first one nearest to x.",
            ),
            section="a-lone-token",
        ),
        Question(
            id="counts",
            title="The two halves of a block",
            name="block_counts",
            minutes=12,
            difficulty=2,
            checks=(
                holds("parameters", 3, entries_right("attention parameters", "feed-forward parameters")),
                holds("operations", 3, entries_right("attention operations", "feed-forward operations")),
                holds("even", 2, entries_right("even at")),
                equals("all five, wide layers", 2, wide_blocks, block_counts),
                equals("all five, narrow layers and extreme lengths", 2, narrow_blocks, block_counts),
            ),
            hints=(
                "List the matrices of each half with their shapes, and beside each the bias that comes with it. Which "
                "of the arguments never appears in this list?",
                "A product of a p×q and a q×r matrix takes pqr multiplications and as many additions. Go through the "
                "products of attention: four maps, the scores, the averages.",
                "For the last entry set the two numbers of operations equal and divide by what they have in common. "
                "Keep F as it is: it need not be 4D, and the solution need not be a length.",
            ),
            section="parameters-and-work",
        ),
        Question(
            id="backward",
            title="Stretch: repair the backward pass",
            name="mlp_backward",
            minutes=25,
            difficulty=3,
            checks=(
                holds("second matrix and bias", 3, upper_half),
                equals("values", 5, ordinary_gradients, mlp_backward_relu),
                equals("equal sizes", 3, gradients_of_equal_sizes, mlp_backward_relu),
                holds("gradient check", 4, gradient_check),
                holds("tokens add up", 3, tokens_add_up),
            ),
            hints=(
                "The table of the gradient check tells which of the five gradients are wrong. Some are wrong by "
                "themselves, others only because they use something that is.",
                "Name the stages: what goes into the ReLU, what comes out of it. For each of the two matrices ask "
                "which table it was multiplied with on the way forward.",
                "By how much does ReLU(z) grow when z grows a little, for z above and for z below 0? And a bias that "
                "is added to every column: does the loss feel N small steps of it, or their mean?",
            ),
            section="the-same-network-for-every-token",
        ),
    ),
)
