"""Checks of exercise 02: counts, averages and their gradients, on sizes that do not divide each other."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import CLOSE, close, draw_sizes, shape_slip, varied
from clearformer.reference import attention, functions

STEP = 1e-5  # of the central differences
GRADIENT_CLOSE = 1e-6


# waiting


def rounds_and_products(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


def sequences(rng):
    """Lengths that the reach of the kernel divides, and lengths that it does not."""
    cases = []
    for remainder in (0, 1, None):
        kernel = int(rng.integers(4, 10))
        layers = int(rng.integers(5, 30))
        extra = int(rng.integers(2, kernel - 1)) if remainder is None else remainder
        cases.append((layers * (kernel - 1) + 1 + extra, int(rng.integers(50, 90)), kernel))
    return [*cases, (int(rng.integers(20, 60)), int(rng.integers(3, 19)), 2)]


def short_sequences(rng):
    width, kernel = int(rng.integers(5, 90)), int(rng.integers(6, 12))
    return [(1, width, kernel), (kernel - 2, width, kernel), (kernel, width, kernel), (kernel + 1, width, kernel)]


def rounds_alone(ask, rng):
    for n_tokens, width, kernel in sequences(rng):
        came = ask(n_tokens, width, kernel)
        for network, (rounds, _) in rounds_and_products(n_tokens, width, kernel).items():
            entry = came.get(network) if isinstance(came, dict) else None
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                return f"A dict with a pair of numbers under {network!r} is expected."
            if entry[0] != rounds:
                return f"For {n_tokens} tokens and a kernel of {kernel} weights your rounds of {network} are not right."
    return None


# softmax


def ordinary_scores(rng):
    S, N = draw_sizes(rng, 2)
    shapes = (((S, N), 0), ((S, N), 1), ((N, S), -1), ((N, S), -2), ((1, N), 0), ((1, N), 1), ((S, 1), 1))
    return [(rng.normal(size=shape), axis) for shape, axis in shapes]


def large_scores(rng):
    S, N = draw_sizes(rng, 2)
    cases = []
    for axis in (0, 1):
        saturated, huge = 30 * rng.normal(size=(S, N)), 1e4 * rng.normal(size=(N, S))
        far_apart = 1e4 * np.where(np.arange((N, S)[axis]) % 2, 1.0, -1.0)
        shifted = rng.normal(size=(S, N)) + np.expand_dims(far_apart, axis)
        cases += [(saturated, axis), (huge, axis), (shifted, axis)]
    return cases


def shares_along_the_axis(ask, rng):
    S, N = draw_sizes(rng, 2)
    vector, table = rng.normal(size=S), rng.normal(size=(S, N))
    for scores, axis in ((vector, 0), (table, 0), (table, 1)):
        weights = ask(scores, axis)
        if slip := shape_slip(weights, scores.shape):
            return slip
        sums = weights.sum(axis=axis)
        if not close(np.atleast_1d(sums), np.ones(np.size(sums))):
            return f"Along axis {axis} of an array of shape {scores.shape} your weights do not sum to 1."
        if (weights <= 0).any():
            return "Every weight must be above 0: exp never gives 0 for scores of this size."
        moved = np.expand_dims(rng.normal(size=np.shape(sums)), axis)
        if not close(ask(scores + moved, axis), weights):
            return "One number added to all scores that compete must leave their weights as they are; yours change."
        if not close(
            weights * np.exp(-scores),
            np.broadcast_to((weights * np.exp(-scores)).max(axis, keepdims=True), scores.shape),
        ):
            return "Two weights must have the ratio of the exponentials of their scores; yours have another."
    return None


# lookup


def looked_up(Q, K, V, temperature):
    return V @ functions.softmax(K.T @ Q / temperature, axis=0)


def questions_to_a_table(rng, n_targets=None, n_sources=None, temperature=0.6):
    K, V, N, S = draw_sizes(rng, 4)
    N, S = n_targets or N, n_sources or S
    Q, keys = rng.normal(size=(K, N)) / np.sqrt(K), rng.normal(size=(K, S))
    return Q, keys, rng.normal(size=(V, S)), temperature * float(rng.uniform(0.9, 1.1))


ordinary_lookups = varied(questions_to_a_table, {}, {"temperature": 1.8}, {"n_targets": 1}, {"n_sources": 1})
sharp_lookups = varied(questions_to_a_table, *({"temperature": temperature} for temperature in (0.01, 1e-4, 40.0)))


def no_answer_from_scores(ask, Q, K, V, temperature):
    """A sentence when the answers do not hang on the queries: a constant has most of the properties below."""
    Y = ask(Q, K, V, temperature)
    if slip := shape_slip(Y, (len(V), Q.shape[1])):
        return slip
    if close(ask(-Q, K, V, temperature), Y):
        return "Other queries must get other answers, but your answers do not depend on Q."
    return None


def equal_values_stay(ask, rng):
    Q, K, V, temperature = questions_to_a_table(rng)
    if slip := no_answer_from_scores(ask, Q, K, V, temperature):
        return slip
    alike = np.repeat(V[:, :1], V.shape[1], axis=1)
    if not close(ask(Q, K, alike, temperature), np.repeat(V[:, :1], Q.shape[1], axis=1)):
        return "When all values are the same, so is every answer; yours come out changed."
    return None


def finds_the_dictionary(ask, rng):
    S, V = draw_sizes(rng, 2)
    keys, values = np.eye(S), rng.normal(size=(V, S))
    order = rng.choice(S, 3, replace=False)
    Y = ask(keys[:, order], keys, values, 0.02)
    if slip := shape_slip(Y, (V, 3)):
        return slip
    if not close(Y, values[:, order], atol=1e-6):
        return "At a temperature of 0.02 a query that equals one of the one-hot keys must find its value; yours do not."
    soft = ask(keys[:, order], keys, values, 1e6)
    if not close(soft, np.repeat(values.mean(axis=1, keepdims=True), 3, axis=1), atol=1e-4):
        return "At an enormous temperature every answer is nearly the plain mean of the values; yours are not."
    return None


def order_of_the_table(ask, rng):
    Q, K, V, temperature = questions_to_a_table(rng)
    if slip := no_answer_from_scores(ask, Q, K, V, temperature):
        return slip
    order = np.roll(np.arange(K.shape[1]), int(rng.integers(1, K.shape[1])))
    if not close(ask(Q, K[:, order], V[:, order], temperature), ask(Q, K, V, temperature)):
        return "Keys and values shuffled alike are the same table, but your answers change."
    return None


# convolution


def convolution_matrix(kernel, n_tokens, border="circular"):
    if border == "circular":
        return attention.convolution_matrix(kernel, n_tokens)
    A = np.triu(attention.convolution_matrix(kernel, n_tokens))
    return A if border == "zeros" else A / A.sum(axis=0)


def kernels(border, signed):
    def cases(rng):
        found = []
        for _ in range(2):
            W, N = sorted(draw_sizes(rng, 2))
            kernel = rng.uniform(0.2, 1.0, W)
            if signed:
                kernel[1::2] *= -1
            found.append((kernel, N, border))
        W = draw_sizes(rng, 1)[0]
        as_long = rng.uniform(0.2, 1.0, W)
        one_weight = rng.uniform(0.2, 1.0, 1)
        return [*found, (as_long, W, border), (one_weight, W, border), (one_weight, 1, border)]

    return cases


def answers_to_one_click(ask, rng):
    W, N = 4, draw_sizes(rng, 1, (9, 11, 13))[0]
    kernel = rng.uniform(0.2, 1.0, W)
    click = np.zeros((1, N))
    start = int(rng.integers(1, N - W))
    click[0, start] = 1.0
    for border in ("circular", "zeros"):
        A = ask(kernel, N, border)
        if slip := shape_slip(A, (N, N)):
            return slip
        heard = (click @ A)[0]
        if (np.abs(heard[:start]) > CLOSE).any():
            return f"Nothing may be heard before it happens: token {start} alone is 1, but an earlier output is not 0."
        if not close(heard[start : start + W], kernel):
            return f"Token {start} alone is 1, so the outputs from {start} on must play the kernel; yours do not."
    return None


# hull

ROUNDING = 1e-9  # what the question "hull" calls rounding
CORNERS = (4, 5, 6)  # D; there are D + 1 corners


def weights_of(X, Y):
    return np.linalg.solve(np.vstack([X, np.ones(X.shape[1])]), np.vstack([Y, np.ones(Y.shape[1])]))


def reachable(X, Y):
    return (weights_of(X, Y) >= -ROUNDING).all(axis=0)


def corners(rng, n_features=None):
    """D + 1 tokens far from lying in one plane, and far from the origin."""
    D = n_features or int(rng.choice(CORNERS))
    while True:
        X = rng.normal(size=(D, D + 1))
        if np.linalg.svd(X[:, 1:] - X[:, :1], compute_uv=False).min() > 0.2:
            return X + 5.0 * np.where(np.arange(D) % 2, 1.0, -1.0)[:, None]


def mixed(rng, X, n_inside, n_outside):
    """Outputs with weights that sum to 1: so many with all of them above 0, so many with one below."""
    S = X.shape[1]
    inside = 0.05 / S + 0.95 * rng.dirichlet(np.ones(S), size=n_inside).T
    outside = 0.05 / S + 0.95 * rng.dirichlet(np.ones(S), size=n_outside).T
    for n in range(n_outside):
        s = int(rng.integers(S))
        outside[s, n] = -rng.uniform(0.1, 0.6)
        others = np.arange(S) != s
        outside[others, n] *= (1 - outside[s, n]) / outside[others, n].sum()
    weights = np.concatenate([inside, outside], axis=1)
    return X @ weights[:, rng.permutation(n_inside + n_outside)]


def inside_and_outside(rng):
    X, Z, line = corners(rng), corners(rng), corners(rng, 1)
    # 11 and 13 outputs: no number of features or tokens divides them
    return [
        (X, mixed(rng, X, 6, 5)),
        (Z, mixed(rng, Z, 6, 7)),
        (line, mixed(rng, line, 4, 3)),
        (X, mixed(rng, X, 0, 1)),
    ]


def corners_and_edges(rng):
    X = corners(rng)
    S = X.shape[1]
    at_corners = np.eye(S)[:, rng.permutation(S)[:4]]
    on_edges = np.zeros((S, 7))
    for n in range(7):
        a, b = rng.choice(S, 2, replace=False)
        share = rng.uniform(0.2, 0.8)
        on_edges[a, n], on_edges[b, n] = share, 1 - share
    weights = np.concatenate([at_corners, on_edges], axis=1)[:, rng.permutation(11)]
    past_the_edge = weights[:, :7].copy()
    past_the_edge[past_the_edge.argmin(axis=0), range(7)] -= 1e-4
    past_the_edge /= past_the_edge.sum(axis=0)
    edges = [(X, X @ weights), (X, X @ np.concatenate([weights[:, :4], past_the_edge], axis=1))]
    return [*edges, free_of_rounding(rng)]


def free_of_rounding(rng):
    """Tokens at 0 and at powers of two on the axes: on every processor a weight that should be 0 is 0, so that the
    border is told from a missing tolerance."""
    D = int(rng.choice(CORNERS))
    X = np.concatenate([np.zeros((D, 1)), np.diag(2.0 ** rng.permutation(D))], axis=1)
    pairs = rng.permutation([(a, b) for a in range(D + 1) for b in range(a)])[:9]
    halves = sum(np.eye(D + 1)[:, pairs[:, i]] for i in (0, 1)) / 2
    return X, X @ halves


def look_alikes(rng):
    """Outputs that a box, a cone or a ball takes for mixtures, and some that only the last feature gives away."""
    X = corners(rng, 4)
    lowest, highest = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
    box = np.empty((4, 0))
    while box.shape[1] < 9:
        point = rng.uniform(lowest, highest)
        if np.abs(weights_of(X, point)).min() > 0.01:
            box = np.concatenate([box, point], axis=1)
    Z = corners(rng, 5)
    cone = Z @ (rng.dirichlet(np.ones(6), size=11).T * np.where(np.arange(11) % 3, rng.uniform(0.3, 0.7, 11), 1.0))
    middle = X.mean(axis=1, keepdims=True)
    direction = middle - X[:, :1]  # through the middle and out at the other side, nearer than the corners
    ball = middle + direction * np.linspace(-0.9, 0.9, 11)
    away = np.repeat(middle, 7, axis=1)  # beyond the range of the last feature only
    away[-1] += rng.uniform(8.0, 16.0, 7)
    return [(X, box), (Z, cone), (X, ball), (X, away)]


def mixtures_of_reachable(ask, rng):
    X = corners(rng)
    inside = mixed(rng, X, 7, 0)
    found = ask(X, inside)
    if not isinstance(found, np.ndarray) or found.shape != (7,):
        return "An array of 7 truth values, one for each output, is expected."
    if not found.all():
        return "These outputs were made with weights above 0 that sum to 1, but you call some of them out of reach."
    if not ask(X, X).all():
        sentence = "You call a token itself out of reach: "
        return sentence + "a weight that should be 0 may come out a little below it by rounding."
    halfway = (inside + np.roll(inside, 1, axis=1)) / 2
    if not ask(X, halfway).all():
        return "Halfway between two reachable outputs lies a reachable one; yours says no."
    if ask(X, X.mean(axis=1, keepdims=True) + 10 * (inside - X.mean(axis=1, keepdims=True)) + 9).any():
        return "Far away from all tokens nothing can be reached; yours says yes."
    return None


# signs


def two_averages(M):
    sums, parts = [], []
    for sign in (1, -1):
        part = np.maximum(sign * M, 0)
        total = part.sum(axis=0)
        empty = total == 0
        parts.append(np.where(empty, 1 / len(M), part / np.where(empty, 1, total)))
        sums.append(total)
    return sums[0], parts[0], sums[1], parts[1]


def mixed_signs(rng, S, N):
    """Both signs in every column, if a column has two entries."""
    M = rng.normal(size=(S, N))
    if S > 1:
        M[0], M[1] = np.abs(M[0]) + 0.1, -np.abs(M[1]) - 0.1
        M = rng.permuted(M, axis=0)
    return M


def filters_of_two_signs(rng):
    S, N = draw_sizes(rng, 2)
    return [(mixed_signs(rng, *shape),) for shape in ((S, N), (N, S), (S, 1))]


def filters_of_one_sign(rng):
    S, N = draw_sizes(rng, 2)
    M = mixed_signs(rng, S, N)
    M[:, 0], M[:, 1], M[:, 3] = np.abs(M[:, 0]), -np.abs(M[:, 1]), 0.0
    edge = np.triu(attention.convolution_matrix(rng.uniform(0.5, 2.0, 2) * np.array([1.0, -1.0]), N))
    single = rng.normal(size=(1, N))
    single[0, :2] = np.abs(single[0, :2]) * np.array([1.0, -1.0])
    return [(M,), (np.concatenate([edge, edge[:1] - 1.0]),), (single,)]


def four_parts(came, S, N):
    if not isinstance(came, tuple | list) or len(came) != 4:
        return "Four results are expected: p, A_1, q and A_2."
    shapes = ((N,), (S, N), (N,), (S, N))
    names = ("p", "A_1", "q", "A_2")
    slips = (shape_slip(value, shape, name) for value, shape, name in zip(came, shapes, names, strict=True))
    return next((slip for slip in slips if slip), None)


def both_are_averages(ask, rng):
    for (M,) in [filters_of_two_signs(rng)[0], filters_of_one_sign(rng)[0]]:
        came = ask(M)
        if slip := four_parts(came, *M.shape):
            return slip
        for name, A in (("A_1", came[1]), ("A_2", came[3])):
            if (A < 0).any():
                return f"An average has no negative weight, but your {name} has one."
            if not close(A.sum(axis=0), np.ones(M.shape[1])):
                return f"The weights of one output sum to 1; in your {name} they do not."
    return None


def together_the_filter(ask, rng):
    for (M,) in [filters_of_two_signs(rng)[0], filters_of_one_sign(rng)[0]]:
        came = ask(M)
        if slip := four_parts(came, *M.shape):
            return slip
        p, A_1, q, A_2 = came
        if (p < 0).any() or (q < 0).any():
            return "p and q are sizes, never below 0: the minus between the two terms is the only sign."
        X = rng.normal(size=(3, len(M)))
        if not close(p * (X @ A_1) - q * (X @ A_2), X @ M):
            return "With your parts, p times the first average minus q times the second is not what the filter gives."
    return None


# gradient


def average_backward(X, scores, dY):
    A = functions.softmax(scores, axis=0)
    dA = X.T @ dY
    return dY @ A.T, dA, functions.softmax_backward(A, dA, axis=0)


def averages_and_gradients(rng, factor=1.0, n_sources=None, n_targets=None):
    D, S, N = draw_sizes(rng, 3)
    S, N = n_sources or S, n_targets or N
    return rng.normal(size=(D, S)), factor * rng.normal(size=(S, N)), rng.normal(size=(D, N))


ordinary_gradients = varied(averages_and_gradients, {}, {}, {"n_sources": 1}, {"n_targets": 1})
gradients_of_large_scores = varied(averages_and_gradients, {"factor": 30.0}, {"factor": 1e4})


def one_gradient(which):
    """Compare one of the three with central differences of the loss, the sum of dY times the outputs."""
    name = ("the tokens", "the weights", "the scores")[which]

    def loss(X, A, scores, dY):
        A = functions.softmax(scores, axis=0) if A is None else A
        return float((dY * attention.weighted_average(X, A)).sum())

    def test(ask, rng):
        X, scores, dY = averages_and_gradients(rng)
        came = ask(X, scores, dY)
        if not isinstance(came, tuple | list) or len(came) != 3:
            return "Three gradients are expected: dX, dA and dscores."
        A = functions.softmax(scores, axis=0)
        start = (X, A, scores)[which]
        if slip := shape_slip(came[which], start.shape, f"The gradient by {name}"):
            return slip
        for _ in range(5):
            direction = rng.normal(size=start.shape)
            there, back = start + STEP * direction, start - STEP * direction
            if which == 0:
                change = loss(there, A, scores, dY) - loss(back, A, scores, dY)
            elif which == 1:
                change = loss(X, there, scores, dY) - loss(X, back, scores, dY)
            else:
                change = loss(X, None, there, dY) - loss(X, None, back, dY)
            if abs(change / (2 * STEP) - (came[which] * direction).sum()) > GRADIENT_CLOSE:
                return f"A small step of {name} changes the loss by another amount than your gradient by {name} says."
        return None

    return test


EXERCISE = Exercise(
    slug="02-attention",
    title="Attention",
    chapter="chapters/02-attention",
    questions=(
        Question(
            id="waiting",
            title="Rounds that wait, and work",
            name="rounds_and_products",
            minutes=10,
            difficulty=2,
            checks=(
                equals("both counts", 5, sequences, rounds_and_products),
                equals("short sequences", 2, short_sequences, rounds_and_products),
                holds("the rounds alone", 3, rounds_alone),
            ),
            hints=(
                "Draw 5 tokens and a kernel of 3 weights. Mark what the last output of one layer knows, then of two.",
                "How many tokens *further back* does one more layer take you? The token itself is one of the weights.",
                "A layer cannot be half used. And even a single token has to go through one layer to get in.",
            ),
            section="steps-that-wait-for-one-another",
        ),
        Question(
            id="softmax",
            title="Softmax along an axis",
            name="softmax",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 5, ordinary_scores, functions.softmax),
                equals("large scores", 3, large_scores, functions.softmax),
                holds("shares along the axis", 2, shares_along_the_axis),
            ),
            hints=(
                "Entries that differ only in their index along `axis` compete with each other; all others must not "
                "meet.",
                "Which number can you subtract from all competitors without changing a share, so that no exponential "
                "overflows, and is it the same number for all groups of competitors?",
                "A maximum or a sum along an axis loses that axis, and NumPy then lines the rest up from the right. "
                "There is a keyword that keeps it with length 1.",
            ),
            section="a-soft-lookup-table",
        ),
        Question(
            id="lookup",
            title="Repair the lookup table in the museum",
            name="repaired_lookup",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 5, ordinary_lookups, looked_up),
                equals("sharp and blunt", 2, sharp_lookups, looked_up),
                holds("equal values", 2, equal_values_stay),
                holds("the dictionary", 3, finds_the_dictionary),
                holds("order of the table", 2, order_of_the_table),
            ),
            hints=(
                "Write the shape beside every line, with three different letters, and say in words what a row and what "
                "a column of each table belongs to.",
                "What does the temperature do when it becomes small, in the chapter and in the museum? And which sums "
                "of the weights are 1, those of a query or those of a key?",
                "Take the table [[0, 1, 2], [3, 4, 5]], bring it to the shape (3, 2) as the museum does, and look "
                "whether every entry still stands in the row and the column of its own query and key.",
            ),
            section="a-soft-lookup-table",
        ),
        Question(
            id="convolution",
            title="The matrix of a convolution, and its borders",
            name="convolution_matrix",
            minutes=15,
            difficulty=2,
            checks=(
                equals("circular", 5, kernels("circular", signed=True), convolution_matrix),
                equals("zeros outside", 4, kernels("zeros", signed=True), convolution_matrix),
                equals("renormalised", 3, kernels("renormalised", signed=False), convolution_matrix),
                holds("one click", 2, answers_to_one_click),
            ),
            hints=(
                "Write down column 0 and column 3 for three weights and 5 tokens, straight from the sum that "
                "defines the convolution.",
                "The weight with the number j stands where the step from the source to the target is j. For which "
                "pairs of a row and a column is that step negative, and what does each border make of those?",
                "One more look at the last border: which sums have to be 1, those of a token that is heard or those "
                "of an output? And does a Python index below 0 raise an error?",
            ),
            section="convolution-is-attention-with-a-fixed-matrix",
        ),
        Question(
            id="hull",
            title="Out of reach",
            name="reachable",
            minutes=15,
            difficulty=3,
            checks=(
                equals("inside and outside", 5, inside_and_outside, reachable),
                equals("corners and edges", 3, corners_and_edges, reachable),
                equals("look-alikes", 4, look_alikes, reachable),
                holds("mixtures", 2, mixtures_of_reachable),
            ),
            hints=(
                "Turn the question round: do not look at where an output lies, but ask for the weights that would "
                "make it.",
                "For one output there are D + 1 unknown weights. Y = XA gives D equations. Which condition on the "
                "weights is one more equation, and which one is none?",
                "`np.linalg.solve` takes a square table and as many right-hand sides as you like, one a column. It is "
                "the signs of what it returns that decide, up to rounding.",
            ),
            section="what-an-average-cannot-do",
        ),
        Question(
            id="signs",
            title="Two averages for any filter",
            name="two_averages",
            minutes=12,
            difficulty=2,
            checks=(
                equals("both signs", 5, filters_of_two_signs, two_averages),
                equals("one sign only", 3, filters_of_one_sign, two_averages),
                holds("averages", 2, both_are_averages),
                holds("the filter", 2, together_the_filter),
            ),
            hints=(
                "Sort the weights of one column by their sign, as the chapter does with those of a kernel.",
                "A part becomes an average when it is divided by something; that something is the number in front. "
                "Each column has its own.",
                "Then look at a column that has only one sign: what is the other part divided by? `np.where` computes "
                "both of its branches, so make the divisor harmless first.",
            ),
            section="two-averages-and-a-sign",
        ),
        Question(
            id="gradient",
            title="Stretch: the gradient of an average",
            name="average_backward",
            minutes=25,
            difficulty=3,
            checks=(
                equals("all three", 6, ordinary_gradients, average_backward),
                equals("large scores", 2, gradients_of_large_scores, average_backward),
                holds("by the tokens", 3, one_gradient(0)),
                holds("by the weights", 2, one_gradient(1)),
                holds("by the scores", 3, one_gradient(2)),
            ),
            hints=(
                "Write the loss with all its sums, dY[d, n] X[d, s] A[s, n], and differentiate by one entry. What is "
                "summed over, and what is left? The shapes then say what has to be transposed.",
                "For the scores take one column alone. Each weight depends on *every* score of its column, through "
                "the denominator: differentiate the fraction for the same index and for another one.",
                "Both cases together are the weight times a bracket: something belonging to this source minus an "
                "average of that same thing over the column. With which weights is it averaged? Check: one number "
                "added to a whole column of scores changes nothing, so each column of your result sums to 0.",
            ),
            section="the-gradient-once-more",
        ),
    ),
)
