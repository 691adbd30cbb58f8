"""What question position-wise asks: records of layers, and of their outputs for chosen tokens."""

import numpy as np
from clearcheck.author.cases import draw_sizes
from clearformer.reference import attention, functions, layers

ROUNDING = 1e-6  # of the largest output: what the question "position-wise" calls rounding


def verdict(Y, experiments):
    limit = ROUNDING * Y.abs().max()

    def commutes(chosen, Y_chosen):
        return bool((Y_chosen - Y[chosen]).abs().max() <= limit)

    if all(commutes(*experiment) for experiment in experiments):
        return "position-wise"
    tokens = list(range(len(Y)))
    reorderings = [experiment for experiment in experiments if sorted(experiment[0]) == tokens]
    return "equivariant" if all(commutes(*experiment) for experiment in reorderings) else "neither"


def layer_kinds(rng, D):
    """Layers by name, as functions of the tokens alone, which are rows."""
    W_1, b_1 = rng.normal(size=(13, D)), rng.normal(size=13)
    W_2, b_2 = rng.normal(size=(D, 13)), rng.normal(size=D)
    U_q, U_k = rng.normal(size=(2, 3, D)) / D
    places = rng.normal(size=(30, D))

    def feed_forward(X):
        return layers.mlp(X.T, W_1, b_1, W_2, b_2, functions.relu).T

    def attend(X):
        return attention.self_attention(X.T, U_q, U_k)[0].T

    return {
        "feed-forward": feed_forward,
        "attention": attend,
        "less the mean token": lambda X: X - X.mean(axis=0),
        "counts the tokens": lambda X: feed_forward(X) + len(X),
        "neighbour": lambda X: feed_forward(X) + 0.5 * np.roll(X, 1, axis=0),
        "places": lambda X: feed_forward(X + places[: len(X)]),
        "only the past": lambda X: np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None],
        "sorts its tokens": lambda X: feed_forward(X[np.argsort(X[:, 0])]),
        "mean of all": lambda X: np.repeat(X.mean(axis=0, keepdims=True), len(X), axis=0),
    }


def record(layer, X, choices, noise=None):
    """What the learner's function gets: the outputs, and those for the chosen tokens."""
    experiments = []
    for chosen in choices:
        Y_chosen = layer(X[chosen])
        experiments.append((list(chosen), Y_chosen if noise is None else Y_chosen + noise(Y_chosen.shape)))
    return layer(X), experiments


def draw_order(rng, N):
    """A reordering without a fixed pattern: neither the old order nor its own inverse nor a rotation."""
    while True:
        order = rng.permutation(N)
        steps = np.diff(order) % N
        if (order[order] != np.arange(N)).any() and len(set(steps.tolist())) > 1:
            return order.tolist()


def draw_tokens(rng):
    D, N = draw_sizes(rng, 2)
    return rng.normal(size=(N, D)), D, N


def kinds_of_layers(rng):
    """One record of each kind, with reordered, dropped and repeated tokens."""
    cases = []
    for name in ("feed-forward", "attention", "places", "less the mean token", "only the past", "feed-forward"):
        X, D, N = draw_tokens(rng)
        dropped = sorted(rng.choice(N, N - 2, replace=False).tolist())
        choices = [draw_order(rng, N), dropped, [*range(N), int(rng.integers(N))], draw_order(rng, N)]
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

    add("feed-forward", lambda N: [[*range(N - 1, 0, -1), 1], [2, *range(N - 1)]])  # N tokens, one of them twice
    add("neighbour", lambda N: [rotation(N), draw_order(rng, N)])
    add("attention", lambda N: [draw_order(rng, N), [1, *range(1, N)]])
    add("attention", lambda N: [draw_order(rng, N), list(range(N - 2))])
    add("less the mean token", lambda N: [draw_order(rng, N), [*range(N), 0]])
    add("mean of all", lambda N: [draw_order(rng, N), draw_order(rng, N), [0, 1]])
    add("feed-forward", lambda N: [[2, 2, 2], [1], [0, 3, 3, 1]])
    add("places", lambda N: [list(range(N)), draw_order(rng, N)])
    add("places", lambda N: [[0, 0, 2], draw_order(rng, N)])  # both fail, and one is a reordering
    add("places", lambda N: [draw_order(rng, N), [0, 0, 2]])
    add("attention", lambda N: [draw_order(rng, N), draw_order(rng, N)])
    add("attention", lambda N: [[0, 0, 2], list(range(N - 1))])  # and no reordering
    add("counts the tokens", lambda N: [draw_order(rng, N), list(range(N - 1))])  # all numbers are too low
    Y, experiments = cases[-3]  # the same tokens once more in the old order, and other outputs
    cases.append((Y, [*experiments, (list(range(len(Y))), Y + 1)]))
    add("attention", lambda N: [draw_order(rng, N), [2]])  # one token alone tells them apart
    add("sorts its tokens", lambda N: [draw_order(rng, N)])  # the right rows, in the old order
    add("attention", lambda N: [draw_order(rng, N), [0, 0, 3, 3, *range(4, N)]])  # the right sum, and the right ends
    return [*cases, (Y, [])]  # and nothing that contradicts


def rounded_records(rng):
    """Rounding in large and in tiny outputs, and a sequence of one token."""
    return [*rounded_outputs(rng), *rounding_beside_large_outputs(rng), *single_tokens(rng), all_off_by_a_little(rng)]


def rounded_outputs(rng):
    cases = []
    for name, scale, lift, share in (
        ("feed-forward", 1e4, 0, 3e-7),
        ("places", 1e-10, 0, 0),
        ("feed-forward", 1, 0, 3e-7),
        ("feed-forward", 1, 1000, 2e-7),  # far from 0 everywhere
        ("feed-forward", 1, -1000, 2e-7),
        ("feed-forward", 1, 0, 4e-6),  # no rounding any more
        ("feed-forward", 1, 1000, 4e-6),
        ("feed-forward", -1e4, 0, 3e-7),  # nothing above 0
        ("attention", 1e4, 0, 3e-7),
    ):
        X, D, N = draw_tokens(rng)
        layer = layer_kinds(rng, D)[name]

        def scaled(tokens, layer=layer, scale=scale, lift=lift):
            bends = abs(scale) == 1e4  # exact zeros, and rounding there
            return scale * (functions.relu(layer(tokens)) if bends else layer(tokens)) + lift

        size = share * np.abs(scaled(X)).max()
        choices = [draw_order(rng, N), [0, 2, 3], draw_order(rng, N)]
        cases.append(record(scaled, X, choices, lambda shape, size=size: size * rng.uniform(-1, 1, shape)))
    return cases


def rounding_beside_large_outputs(rng):
    X, D, N = draw_tokens(rng)
    X[0] *= 1e3  # so that its outputs are the largest by far
    layer, noise = layer_kinds(rng, D)["feed-forward"], 3e-7 * np.ones((1, D))
    Y, small = record(layer, X, [[1, 2, 3], draw_order(rng, N)])
    small[0][1][:] += noise * np.abs(Y).max()
    Y, single = record(layer, X, [draw_order(rng, N)])
    single[0][1][1, 2] += 4e-6 * np.abs(Y).max()  # one number, and no rounding
    Y, within = record(layer, X, [draw_order(rng, N)])
    within[0][1][1, 2] += 8e-7 * np.abs(Y).max()  # one number, and rounding still
    Y, first = record(layer, X, [draw_order(rng, N)])
    first[0][1][1, 0] -= 4e-6 * np.abs(Y).max()  # the first feature of one token
    Y, far = record(layer, X, [draw_order(rng, N)])
    far[0][1][1, 2] += 1e-2 * np.abs(Y).max()  # one number, and a mean of all shows it, too
    return [(Y, small), (Y, single), (Y, within), (Y, first), (Y, far)]


def on_the_limit(rng):
    """A millionth of the largest number is 1 here: what is off by 1 is rounding, and what is off by more is not."""
    Y = np.array([[-1e6, 0.0], [5.0, float(rng.integers(7, 99))]])
    off = np.array([[0.0, 1.0], [-1.0, 1.0]])
    return [(Y, [([1, 0], Y[[1, 0]] + share * off)]) for share in (1.0, 1.0000005)]  # the second shows beside 0 alone


def single_tokens(rng):
    D = draw_sizes(rng, 1)[0]
    x, kinds = rng.normal(size=(1, D)), layer_kinds(rng, D)
    return [
        record(kinds["feed-forward"], x, [[0, 0, 0], [0]]),
        record(kinds["only the past"], x, [[0], [0, 0]]),
        record(kinds["less the mean token"], x, [[0]]),
        record(kinds["places"], x, [[0], [0, 0]]),
    ]


def all_off_by_a_little(rng):
    """Each number may be off by so much, and all of them are."""
    X, D, N = draw_tokens(rng)
    Y, small = record(layer_kinds(rng, D)["feed-forward"], X, [draw_order(rng, N), [0, 2, 3]])
    for _, came in small:
        came += 8e-7 * np.abs(Y).max()
    return Y, small
