"""Exercise 05, question position-wise: which layer was that?."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.author.cases import draw_sizes
from clearformer.reference import attention, functions, layers

ROUNDING = 1e-6  # of the largest output: what the question "position-wise" calls rounding


def verdict(Y, experiments):
    limit = ROUNDING * np.abs(Y).max()

    def commutes(chosen, Y_chosen):
        return np.abs(Y_chosen - Y[chosen]).max() <= limit

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
        ("feed-forward", 1e4, 0, 1e-8),
        ("places", 1e-10, 0, 0),
        ("feed-forward", 1, 0, 1e-9),
        ("feed-forward", 1, 1000, 2e-7),  # far from 0 everywhere
        ("feed-forward", 1, -1000, 2e-7),
        ("feed-forward", 1, 0, 4e-6),  # no rounding any more
        ("feed-forward", 1, 1000, 4e-6),
        ("feed-forward", -1e4, 0, 1e-8),  # nothing above 0
        ("attention", 1e4, 0, 1e-8),
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
    within[0][1][1, 2] += 9e-7 * np.abs(Y).max()  # one number, and rounding still
    return [(Y, small), (Y, single), (Y, within)]


def on_the_limit(rng):
    """A millionth of the largest number is 1 here: what is off by 1 is rounding, and what is off by more is not."""
    Y = np.array([[-1e6, 3.0], [5.0, float(rng.integers(7, 99))]])
    off = np.array([[0.0, 1.0], [-1.0, 0.0]])
    return [(Y, [([1, 0], Y[[1, 0]] + share * off)]) for share in (1.0, 1.0000004)]


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
        came += 9e-7 * np.abs(Y).max()
    return Y, small


QUESTION = Question(
    id="position-wise",
    title="Which layer was that?",
    name="verdict",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("kinds of layers", 6, kinds_of_layers, verdict),
        equals("records that mislead", 5, records_that_mislead, verdict),
        equals("rounding and one token", 3, rounded_records, verdict),
        more={"boundary": more_cases("rounding and one token", on_the_limit)},
        off={
            "ties": "lists of token numbers are sorted to compare them, and equal ones are alike",
            "one of each": "the experiments belong to the outputs, and one token is among the cases",
            "odd sizes": "the experiments belong to the outputs, and odd sizes are drawn",
        },
    ),
    hints=(
        "Take one experiment. If the layer treats every token alone, which rows of Y must its output "
        "consist of, and in which order?",
        "There are two questions to a record: does every experiment agree, and if not, does every experiment "
        "agree that is a reordering? Which property of the list `chosen` makes it one?",
        "A list with a token left out and another one twice can have the right length. And for the rounding, "
        "take one limit for the whole record, from the largest number in Y.",
    ),
    section="position-wise-and-how-to-test-it",
    inputs=Inputs(lambda Y, experiments: dict(zip("ND", Y.shape, strict=True))),
)

right, wrong = answers_to(QUESTION)


@right
def two_lists(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    agree, agree_on_orders = [], []
    for chosen, came in experiments:
        same = bool((np.abs(came - Y[chosen]) <= limit).all())
        agree.append(same)
        if sorted(chosen) == list(range(len(Y))):
            agree_on_orders.append(same)
    return "position-wise" if all(agree) else "equivariant" if all(agree_on_orders) else "neither"


@right
def with_a_matrix(Y, experiments):
    """Choose by multiplying with P, and call it a reordering when P is square with one 1 in every column."""
    N, limit, answer = len(Y), 1e-6 * abs(Y).max(), "position-wise"
    for chosen, came in experiments:
        P = np.eye(N)[chosen]
        if np.allclose(P @ Y, came, rtol=0, atol=limit):
            continue
        if (P.sum(axis=0) == 1).all():
            return "neither"
        answer = "equivariant"
    return answer


@right
def row_by_row(Y, experiments):
    largest, broken = np.max(np.abs(Y)), set()
    for chosen, came in experiments:
        reordering = len(chosen) == len(Y) == len(set(chosen))
        for place, token in enumerate(chosen):
            if np.max(np.abs(came[place] - Y[token])) > largest / 1e6:
                broken.add(reordering)
    if not broken:
        return "position-wise"
    return "neither" if True in broken else "equivariant"


@right
def as_often_written(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[c]).max() <= limit) for c, came in experiments]
    tokens = list(range(len(Y)))
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong("You look at the reorderings alone, but attention passes these as well.")
def reorderings_alone(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    orders = [(c, came) for c, came in experiments if sorted(c) == list(range(len(Y)))]
    return "position-wise" if all(np.abs(came - Y[c]).max() <= limit for c, came in orders) else "neither"


@wrong("You undo the reordering where you should repeat it: the list says which tokens went in.")
def the_inverse_order(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    answer = "position-wise"
    for c, came in experiments:
        if sorted(c) == list(range(len(Y))):
            if np.abs(came - Y[np.argsort(c)]).max() > limit:
                return "neither"
        elif np.abs(came - Y[c]).max() > limit:
            answer = "equivariant"
    return answer


@wrong("You decide by the first experiment and never look at the others.")
def first_experiment(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    c, came = experiments[0]
    if np.abs(came - Y[c]).max() <= limit:
        return "position-wise" if sorted(c) != list(range(len(Y))) else "equivariant"
    return "neither"


wrong.edits("""
# as_often_written
## old_places: You compare with the outputs in their old positions, but reordered tokens have reordered outputs.
  tokens = list(range(len(Y)))
+ same = [came.shape == Y.shape and bool(np.abs(came - Y).max() <= limit) for _, came in experiments]
## absolute_limit: Your limit for rounding does not grow and shrink with the outputs.
+ same = [bool(np.abs(came - Y[c]).max() <= 1e-6) for c, came in experiments]
## limit_of_each_entry: Your limit differs from entry to entry, and for one near 0 there is hardly any.
+ same = [bool((np.abs(came - Y[c]) <= 1e-6 * np.abs(Y[c])).all()) for c, came in experiments]
## length_decides: You take every list of the right length for a reordering, even one that names a token twice.
- tokens = list(range(len(Y)))
- orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(c) == len(Y)]
## sum_or_ends_decide: You go by length and sum, or smallest and largest number; a list with repeats may have these.
- orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(c) == len(Y) and sum(c) == sum(tokens)]
## no_gap_decides: You take every list without a gap for a reordering, even one that stops before the last token.
- tokens = list(range(len(Y)))
- orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == list(range(len(c)))]
## distinct_decides: You take every list that names no token twice for a reordering, even one that leaves tokens out.
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(set(c)) == len(c)]
## all_named_decides: You take every list that names all tokens for a reordering, even one that names a token twice.
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if set(c) == set(range(len(Y)))]
## names_exchanged: Your two names have changed places: position-wise is the stronger of them.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "equivariant" if all(same) else "position-wise" if all(orders) else "neither"
## never_neither: You never say neither, but some layers do not even follow a reordering.
+ return "position-wise" if all(same) else "equivariant"
## never_equivariant: You never say equivariant, but a layer that fails with dropped tokens may follow every reordering.
+ return "position-wise" if all(same) else "neither"
## totals_alone: You compare sums over the tokens alone, but a wrong order leaves these as they are.
  tokens = list(range(len(Y)))
+ same = [bool(np.abs((came - Y[c]).sum(axis=0)).max() <= limit) for c, came in experiments]
## limits_of_allclose: You leave `np.allclose` its own limits; the question names one limit, taken from the whole of Y.
+ same = [np.allclose(came, Y[c]) for c, came in experiments]
## only_with_reorderings: You ask for a reordering before you say equivariant; it is enough that nothing contradicts it.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "position-wise" if all(same) else "equivariant" if orders and all(orders) else "neither"
## largest_with_its_sign: Your limit comes from the largest number with its sign; take the size of the numbers.
- limit = 1e-6 * np.abs(Y).max()
+ limit = 1e-6 * Y.max()
## differences_with_their_signs: You take the largest difference with its sign, so one far below 0 passes.
- same = [bool(np.abs(came - Y[c]).max() <= limit) for c, came in experiments]
+ same = [bool((came - Y[c]).max() <= limit) for c, came in experiments]
## limit_too_wide: Your limit is wider than a millionth of the largest number, which is what counts as rounding.
- limit = 1e-6 * np.abs(Y).max()
+ limit = 1e-5 * np.abs(Y).max()
## relative_limit_left: You give `np.allclose` your own limit and leave it its relative one, which comes on top.
  tokens = list(range(len(Y)))
+ same = [np.allclose(came, Y[c], atol=limit) for c, came in experiments]
## limit_of_the_experiment: Your limit comes from the outputs of the experiment; take it from the whole of Y.
- same = [bool(np.abs(came - Y[c]).max() <= limit) for c, came in experiments]
+ same = [bool(np.abs(came - Y[c]).max() <= 1e-6 * np.abs(came).max()) for c, came in experiments]
## limit_of_the_mean: Your limit comes from the mean size of the numbers in Y; take it from the largest.
- limit = 1e-6 * np.abs(Y).max()
+ limit = 1e-6 * np.abs(Y).mean()
## mean_difference: You compare the mean of the differences, in which a single wrong number hardly shows.
- same = [bool(np.abs(came - Y[c]).max() <= limit) for c, came in experiments]
+ same = [bool(np.abs(came - Y[c]).mean() <= limit) for c, came in experiments]
## empty_record_refutes: You want an experiment before you say position-wise; an empty record contradicts no name.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "position-wise" if same and all(same) else "equivariant" if all(orders) else "neither"
## length_of_the_difference: You take all differences together as one length; the limit holds for each number.
- same = [bool(np.abs(came - Y[c]).max() <= limit) for c, came in experiments]
+ same = [bool(np.linalg.norm(came - Y[c]) <= limit) for c, came in experiments]
## to_the_last_bit: You compare to the last bit, and rounding decides.
+ same = [bool((came == Y[c]).all()) for c, came in experiments]
## any_will_do: One experiment that agrees is enough for you; a single one that does not agree refutes the name.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "position-wise" if all(same) else "equivariant" if any(orders) or not orders else "neither"
## truth_value: You return True or False, but there are three answers.
+ return all(same)
# with_a_matrix
## first_failure_decides: You stop at the first experiment that fails; a later one that fails may be a reordering.
- answer = "equivariant"
+ return "equivariant"
## last_failure_decides: The last experiment that fails decides for you; one failing reordering is enough for neither.
- if (P.sum(axis=0) == 1).all():
-     return "neither"
- answer = "equivariant"
+ answer = "neither" if (P.sum(axis=0) == 1).all() else "equivariant"
""")
