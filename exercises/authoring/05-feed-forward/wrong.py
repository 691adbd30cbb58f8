"""Named wrong solutions of exercise 05: what learners write, and the sentence that tells them so."""

from math import erf, pi, sqrt

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# mlp


@wrong(
    "mlp",
    says="There is no bend between the two matrices, so the whole layer is one matrix and a shift.",
    section="the-bend",
)
def no_activation(X, W_1, b_1, W_2, b_2):
    return W_2 @ (W_1 @ X + b_1[:, None]) + b_2[:, None]


@wrong(
    "mlp",
    says="A second activation sits behind the second matrix, so that no output can be negative.",
    section="common-mistakes",
)
def activation_at_both_places(X, W_1, b_1, W_2, b_2):
    return np.maximum(W_2 @ np.maximum(W_1 @ X + b_1[:, None], 0) + b_2[:, None], 0)


@wrong(
    "mlp",
    says="Your activation has slipped behind the second matrix, and the hidden numbers stay unbent.",
    section="common-mistakes",
)
def activation_at_the_end(X, W_1, b_1, W_2, b_2):
    return np.maximum(W_2 @ (W_1 @ X + b_1[:, None]) + b_2[:, None], 0)


@wrong(
    "mlp",
    says="Your biases lie along the tokens: each of their numbers belongs to a feature.",
    section="the-same-network-for-every-token",
)
def biases_along_the_tokens(X, W_1, b_1, W_2, b_2):
    return W_2 @ np.maximum(W_1 @ X + b_1, 0) + b_2


@wrong(
    "mlp",
    says="Your first bias lies along the tokens: each of its numbers belongs to a hidden unit.",
    section="the-same-network-for-every-token",
)
def first_bias_along_the_tokens(X, W_1, b_1, W_2, b_2):
    return W_2 @ np.maximum(W_1 @ X + b_1, 0) + b_2[:, None]


@wrong(
    "mlp",
    says="Both biases are missing, so a token doubled gives an output doubled.",
    section="the-bend",
)
def no_biases(X, W_1, b_1, W_2, b_2):
    return W_2 @ np.maximum(W_1 @ X, 0)


@wrong(
    "mlp",
    says="The bias of the hidden units is missing: no unit has a threshold.",
    section="the-bend",
)
def no_first_bias(X, W_1, b_1, W_2, b_2):
    return W_2 @ np.maximum(W_1 @ X, 0) + b_2[:, None]


@wrong(
    "mlp",
    says="The bias of the output is missing.",
    section="the-same-network-for-every-token",
)
def no_second_bias(X, W_1, b_1, W_2, b_2):
    return W_2 @ np.maximum(W_1 @ X + b_1[:, None], 0)


@wrong(
    "mlp",
    says="You add the first bias behind the bend, where it can move no threshold.",
    section="the-same-network-for-every-token",
)
def bias_behind_the_bend(X, W_1, b_1, W_2, b_2):
    return W_2 @ (np.maximum(W_1 @ X, 0) + b_1[:, None]) + b_2[:, None]


@wrong(
    "mlp",
    says="You add the token itself to its output: that is a residual connection, which this layer does not contain.",
    section="the-same-network-for-every-token",
)
def with_a_residual(X, W_1, b_1, W_2, b_2):
    return X + W_2 @ np.maximum(W_1 @ X + b_1[:, None], 0) + b_2[:, None]


@wrong(
    "mlp",
    says="Your outputs lie in rows; here every token is a column.",
    section="the-same-network-for-every-token",
)
def outputs_in_rows(X, W_1, b_1, W_2, b_2):
    return (W_2 @ np.maximum(W_1 @ X + b_1[:, None], 0) + b_2[:, None]).T


@wrong(
    "mlp",
    says="A reshape is no transpose: it gives the right shape and mixes the numbers of different tokens.",
    section="position-wise-and-how-to-test-it",
)
def reshaped_tokens(X, W_1, b_1, W_2, b_2):
    D, N = X.shape
    rows = np.maximum(X.reshape(N, D) @ W_1.T + b_1, 0) @ W_2.T + b_2
    return rows.reshape(D, N)


@wrong(
    "mlp",
    says="You apply the network along the tokens: its matrices meet the rows of X.",
    section="common-mistakes",
)
def along_the_tokens(X, W_1, b_1, W_2, b_2):
    return (W_2 @ np.maximum(W_1 @ X.T + b_1[:, None], 0) + b_2[:, None]).T


@wrong(
    "mlp",
    says="A softmax makes your hidden units compete; each of them should answer for itself.",
    section="hidden-units-are-questions",
)
def units_compete(X, W_1, b_1, W_2, b_2):
    powers = np.exp(W_1 @ X + b_1[:, None])
    return W_2 @ (powers / powers.sum(axis=0)) + b_2[:, None]


@wrong(
    "mlp",
    says="Your bend takes the absolute value, which keeps what a ReLU drops.",
    section="the-bend",
)
def absolute_value(X, W_1, b_1, W_2, b_2):
    return W_2 @ np.abs(W_1 @ X + b_1[:, None]) + b_2[:, None]


@wrong(
    "mlp",
    says="You bend with a GELU, but this question asks for a ReLU unless another activation is given.",
    section="the-bend",
)
def bent_by_a_gelu(X, W_1, b_1, W_2, b_2):
    Z = W_1 @ X + b_1[:, None]
    return W_2 @ (Z * (1 + np.vectorize(erf)(Z / sqrt(2))) / 2) + b_2[:, None]


@wrong(
    "mlp",
    says="You average over the tokens before the second matrix, and so every token gets the same output.",
    section="position-wise-and-how-to-test-it",
)
def pooled(X, W_1, b_1, W_2, b_2):
    hidden = np.maximum(W_1 @ X + b_1[:, None], 0)
    return W_2 @ (hidden.mean(axis=1, keepdims=True) + 0 * hidden) + b_2[:, None]


# gelu


@wrong(
    "gelu",
    says="This is the tanh form: it agrees with the exact one to about three digits.",
    section="the-bend",
)
def tanh_form(X):
    bent = np.tanh(sqrt(2 / pi) * (X + 0.044715 * X**3))
    inner = sqrt(2 / pi) * (1 + 3 * 0.044715 * X**2)
    return X / 2 * (1 + bent), (1 + bent + X * (1 - bent**2) * inner) / 2


@wrong(
    "gelu",
    says="This is the sigmoid approximation, x times a sigmoid of 1.702 x, which is coarser still than the tanh form.",
    section="the-bend",
)
def sigmoid_form(X):
    gate = (1 + np.tanh(0.851 * X)) / 2
    return X * gate, gate + 1.702 * X * gate * (1 - gate)


@wrong(
    "gelu",
    says="The root of 2 inside erf is missing: your bell curve is too narrow.",
    section="the-bend",
)
def no_root_inside(X):
    share = (1 + np.vectorize(erf)(X)) / 2
    return X * share, share + X * np.exp(-(X**2)) / sqrt(pi)


@wrong(
    "gelu",
    says="You return the probability itself and never multiply x by it.",
    section="the-bend",
)
def only_the_probability(X):
    return (1 + np.vectorize(erf)(X / sqrt(2))) / 2, np.exp(-(X**2) / 2) / sqrt(2 * pi)


@wrong(
    "gelu",
    says="Your slope treats the probability as a constant, although it changes with x as well.",
    section="the-bend",
)
def probability_held_constant(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return X * share, share


@wrong(
    "gelu",
    says="Your slope treats the factor x as a constant: one term of the product rule is missing.",
    section="the-bend",
)
def factor_held_constant(X):
    return X * (1 + np.vectorize(erf)(X / sqrt(2))) / 2, X * np.exp(-(X**2) / 2) / sqrt(2 * pi)


@wrong(
    "gelu",
    says="Your slope uses a bell curve whose area is not 1: the constant in front of the exponential is missing.",
    section="the-bend",
)
def bell_without_its_constant(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return X * share, share + X * np.exp(-(X**2) / 2)


@wrong(
    "gelu",
    says="Your chain rule stops at erf: the slope of what stands inside it is missing.",
    section="the-bend",
)
def no_inner_slope(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return X * share, share + X * np.exp(-(X**2) / 2) / sqrt(pi)


@wrong(
    "gelu",
    says="The exponent of your bell curve lacks its ½: what stands inside erf is to be squared as a whole.",
    section="the-bend",
)
def exponent_without_half(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return X * share, share + X * np.exp(-(X**2)) / sqrt(2 * pi)


@wrong(
    "gelu",
    says="The factor ½ in front of the bracket is missing, and your probabilities go up to 2.",
    section="the-bend",
)
def no_half(X):
    twice = 1 + np.vectorize(erf)(X / sqrt(2))
    return X * twice, twice + X * np.exp(-(X**2) / 2) * sqrt(2 / pi)


@wrong(
    "gelu",
    says="The two terms of your slope are joined with the wrong sign.",
    section="the-bend",
)
def wrong_sign(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return X * share, share - X * np.exp(-(X**2) / 2) / sqrt(2 * pi)


@wrong(
    "gelu",
    says="Your two results have changed places.",
    section="the-bend",
)
def results_exchanged(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return share + X * np.exp(-(X**2) / 2) / sqrt(2 * pi), X * share


@wrong(
    "gelu",
    says="This is the ReLU with its step; a GELU has no corner.",
    section="the-bend",
)
def relu_and_step(X):
    return np.maximum(X, 0), (X > 0).astype(float)


@wrong(
    "gelu",
    says="You cut negative numbers off, but a GELU only turns them down.",
    section="the-bend",
)
def negative_cut_off(X):
    share = (1 + np.vectorize(erf)(X / sqrt(2))) / 2
    return np.where(X > 0, X * share, 0.0), np.where(X > 0, share + X * np.exp(-(X**2) / 2) / sqrt(2 * pi), 0.0)


@wrong(
    "gelu",
    says="Your slope is a difference quotient with a step that can be seen in the fourth digit; it should "
    "come from a formula.",
    section="the-bend",
)
def difference_quotient(X):
    def value(Z):
        return Z * (1 + np.vectorize(erf)(Z / sqrt(2))) / 2

    return value(X), (value(X + 1e-3) - value(X)) / 1e-3


@wrong(
    "gelu",
    says="You return the values alone; this question asks for the values and the slopes.",
    section="the-bend",
)
def values_alone(X):
    return X * (1 + np.vectorize(erf)(X / sqrt(2))) / 2


@wrong(
    "gelu",
    says="Your slope is that of the probability, not that of the product.",
    section="the-bend",
)
def slope_of_the_probability(X):
    return X * (1 + np.vectorize(erf)(X / sqrt(2))) / 2, np.exp(-(X**2) / 2) / sqrt(2 * pi)


@wrong(
    "gelu",
    says="The erf of Python's math takes one number, and you give it the whole array.",
    section="the-bend",
)
def erf_of_the_array(X):
    share = (1 + erf(X / sqrt(2))) / 2
    return X * share, share + X * np.exp(-(X**2) / 2) / sqrt(2 * pi)


# lamp


@wrong(
    "lamp",
    says="Your read-out forgets that a unit that has said yes goes on growing with every further switch.",
    section="the-same-network-for-every-token",
)
def steps_as_weights(wanted):
    n = len(wanted) - 1
    return np.ones((n, n)), -np.arange(float(n)), np.diff(wanted)[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="You use the wanted outputs themselves as weights, as if exactly one unit were on at a time.",
    section="hidden-units-are-questions",
)
def wishes_as_weights(wanted):
    n = len(wanted) - 1
    return np.ones((n, n)), -np.arange(float(n)), wanted[1:][None].copy(), wanted[:1].copy()


@wrong(
    "lamp",
    says="These weights burn a lamp with the outputs 0, 1, 0, 1 …, whatever is wanted.",
    section="the-same-network-for-every-token",
)
def always_the_lamp(wanted):
    n = len(wanted) - 1
    weights = 2.0 * (-1.0) ** np.arange(n)
    weights[0] = 1.0
    return np.ones((n, n)), -np.arange(float(n)), weights[None], np.zeros(1)


@wrong(
    "lamp",
    says="Your output bias is 0, so the network cannot give what is wanted when every switch is down.",
    section="the-same-network-for-every-token",
)
def no_output_bias(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(float(n)), second[None], np.zeros(1)


@wrong(
    "lamp",
    says="Your first weight has to climb from the output for no switch, and it climbs from 0.",
    section="the-same-network-for-every-token",
)
def first_climb_from_zero(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    second[0] = wanted[1]
    return np.ones((n, n)), -np.arange(float(n)), second[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="Your thresholds begin one too high: the first unit stays silent when a single switch is up.",
    section="the-same-network-for-every-token",
)
def thresholds_one_too_high(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(1.0, n + 1), second[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="The sign of your thresholds is turned round: every unit is on from the start.",
    section="the-same-network-for-every-token",
)
def thresholds_positive(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), np.arange(1.0, n + 1), second[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="None of your units has a threshold, so all of them give the same number.",
    section="the-bend",
)
def no_thresholds(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), np.zeros(n), second[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="Your W_2 stands upright, as if there were n outputs and one hidden unit.",
    section="the-same-network-for-every-token",
)
def readout_upright(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(float(n)), second[:, None], wanted[:1].copy()


@wrong(
    "lamp",
    says="Your W_2 is a vector; a matrix with a single row is still a matrix.",
    section="the-same-network-for-every-token",
)
def readout_flat(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(float(n)), second, wanted[:1].copy()


@wrong(
    "lamp",
    says="Your b_2 is a number; a bias is a vector, even if it holds one number alone.",
    section="the-same-network-for-every-token",
)
def output_bias_a_number(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(float(n)), second[None, :], wanted[0]


@wrong(
    "lamp",
    says="Each of your units looks at one switch alone, but it should count all of them.",
    section="the-same-network-for-every-token",
)
def one_switch_each(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.eye(n), -np.arange(float(n)), second[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="Your changes of slope are taken backwards, old minus new.",
    section="the-same-network-for-every-token",
)
def changes_backwards(wanted):
    n = len(wanted) - 1
    slopes = np.diff(wanted)
    weights = np.append(slopes[:1], slopes[:-1] - slopes[1:])
    return np.ones((n, n)), -np.arange(float(n)), weights[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="Your biases are whole numbers, and a network's parameters are floating-point numbers.",
    section="the-same-network-for-every-token",
)
def whole_numbers(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(n), second[None], wanted[:1].copy()


@wrong(
    "lamp",
    says="You return three of the four arrays: the output has a bias as well.",
    section="the-same-network-for-every-token",
)
def three_arrays(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(float(n)), second[None]


@wrong(
    "lamp",
    says="Your output bias is what is wanted with every switch up; the bias works alone when all are down.",
    section="the-same-network-for-every-token",
)
def bias_from_the_other_end(wanted):
    n = len(wanted) - 1
    second = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(float(n)), second[None], wanted[-1:].copy()


# position-wise


@wrong(
    "position-wise",
    says="You look at the reorderings alone, and attention passes these as well.",
    section="position-wise-and-how-to-test-it",
)
def reorderings_alone(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    orders = [(c, came) for c, came in experiments if sorted(c) == list(range(Y.shape[1]))]
    return "position-wise" if all(np.abs(came - Y[:, c]).max() <= limit for c, came in orders) else "neither"


@wrong(
    "position-wise",
    says="You compare with the outputs in their old places, but reordered tokens have reordered outputs.",
    section="position-wise-and-how-to-test-it",
)
def old_places(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    tokens = list(range(Y.shape[1]))
    same = [came.shape == Y.shape and bool(np.abs(came - Y).max() <= limit) for _, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="You undo the reordering where you should repeat it: the list says which columns went in.",
    section="position-wise-and-how-to-test-it",
)
def the_inverse_order(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    answer = "position-wise"
    for c, came in experiments:
        if sorted(c) == list(range(Y.shape[1])):
            if np.abs(came - Y[:, np.argsort(c)]).max() > limit:
                return "neither"
        elif np.abs(came - Y[:, c]).max() > limit:
            answer = "equivariant"
    return answer


@wrong(
    "position-wise",
    says="You compare to the last bit, and rounding decides.",
    section="position-wise-and-how-to-test-it",
)
def to_the_last_bit(Y, experiments):
    tokens = list(range(Y.shape[1]))
    if all((came == Y[:, c]).all() for c, came in experiments):
        return "position-wise"
    orders = [(c, came) for c, came in experiments if sorted(c) == tokens]
    return "equivariant" if all((came == Y[:, c]).all() for c, came in orders) else "neither"


@wrong(
    "position-wise",
    says="Your limit for rounding does not grow and shrink with the outputs.",
    section="position-wise-and-how-to-test-it",
)
def absolute_limit(Y, experiments):
    tokens = list(range(Y.shape[1]))
    same = [bool(np.abs(came - Y[:, c]).max() <= 1e-6) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="Your limit for rounding is another one for every entry, and for an entry near 0 there is hardly any.",
    section="position-wise-and-how-to-test-it",
)
def limit_of_each_entry(Y, experiments):
    tokens = list(range(Y.shape[1]))
    same = [bool((np.abs(came - Y[:, c]) <= 1e-6 * np.abs(Y[:, c])).all()) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="You decide by the first experiment and never look at the others.",
    section="position-wise-and-how-to-test-it",
)
def first_experiment(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    c, came = experiments[0]
    if np.abs(came - Y[:, c]).max() <= limit:
        return "position-wise" if sorted(c) != list(range(Y.shape[1])) else "equivariant"
    return "neither"


@wrong(
    "position-wise",
    says="One experiment that agrees is enough for you; a single one that does not agree refutes the name.",
    section="position-wise-and-how-to-test-it",
)
def any_will_do(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    tokens = list(range(Y.shape[1]))
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    if all(same):
        return "position-wise"
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "equivariant" if any(orders) or not orders else "neither"


@wrong(
    "position-wise",
    says="You take every list of the right length for a reordering, even one that names a token twice.",
    section="position-wise-and-how-to-test-it",
)
def length_decides(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(c) == Y.shape[1]]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="You take every list without a gap for a reordering, even one that stops before the last token.",
    section="position-wise-and-how-to-test-it",
)
def no_gap_decides(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == list(range(len(c)))]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="You take every list that names all tokens for a reordering, even one that names a token twice.",
    section="position-wise-and-how-to-test-it",
)
def all_named_decides(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if set(c) == set(range(Y.shape[1]))]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="Your two names have changed places: position-wise is the stronger of them.",
    section="position-wise-and-how-to-test-it",
)
def names_exchanged(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    tokens = list(range(Y.shape[1]))
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "equivariant" if all(same) else "position-wise" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="You never say neither, but some layers do not even follow a reordering.",
    section="position-wise-and-how-to-test-it",
)
def never_neither(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    return "position-wise" if all(same) else "equivariant"


@wrong(
    "position-wise",
    says="You never say equivariant, but a layer that fails with dropped tokens may follow every reordering.",
    section="position-wise-and-how-to-test-it",
)
def never_equivariant(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    same = [bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments]
    return "position-wise" if all(same) else "neither"


@wrong(
    "position-wise",
    says="You compare the sums of the columns alone, and a wrong order leaves these as they are.",
    section="position-wise-and-how-to-test-it",
)
def totals_alone(Y, experiments):
    limit = 1e-6 * np.abs(Y).max() * Y.shape[1]
    tokens = list(range(Y.shape[1]))
    same = [bool(np.abs((came - Y[:, c]).sum(axis=1)).max() <= limit) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong(
    "position-wise",
    says="You return True or False, but there are three answers.",
    section="position-wise-and-how-to-test-it",
)
def truth_value(Y, experiments):
    limit = 1e-6 * np.abs(Y).max()
    return all(bool(np.abs(came - Y[:, c]).max() <= limit) for c, came in experiments)


@wrong(
    "position-wise",
    says="You leave `np.allclose` the limits it brings along; the question names one limit, taken from the whole of Y.",
    section="position-wise-and-how-to-test-it",
)
def limits_of_allclose(Y, experiments):
    tokens = list(range(Y.shape[1]))
    same = [np.allclose(came, Y[:, c]) for c, came in experiments]
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


# lone-token


@wrong(
    "lone-token",
    says="Your product runs the wrong way round: the first layer has to meet the token first.",
    section="a-lone-token",
)
def order_reversed(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = W @ step, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="The residual connection is missing: your layers throw the token away and keep only what attention gives.",
    section="a-lone-token",
)
def no_residual(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = V.sum(axis=0)
        W, c = step @ W, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="You add the token once for every head, but a layer has one residual connection.",
    section="a-lone-token",
)
def residual_in_every_head(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = sum(np.eye(D) + V_h for V_h in V)
        W, c = step @ W, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="You average the heads where they are to be added.",
    section="a-lone-token",
)
def heads_averaged(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.mean(axis=0)
        W, c = step @ W, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="You send the token through the heads one after the other, but they stand side by side.",
    section="a-lone-token",
)
def heads_in_a_row(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        for V_h in V:
            W, c = W + V_h @ W, c + V_h @ c
        c = c + b
    return W, c


@wrong(
    "lone-token",
    says="You add up the layers as if each saw the first token; a later one sees what the earlier gave.",
    section="a-lone-token",
)
def layers_side_by_side(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        W, c = W + V.sum(axis=0), c + b
    return W, c


@wrong(
    "lone-token",
    says="Your shifts are only added up, but a later layer also transforms the shifts of the earlier ones.",
    section="a-lone-token",
)
def shifts_only_added(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = step @ W, c + b
    return W, c


@wrong(
    "lone-token",
    says="You keep the shift of the last layer alone.",
    section="a-lone-token",
)
def last_shift_alone(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = step @ W, 1.0 * b
    return W, c


@wrong(
    "lone-token",
    says="You send each shift through its own layer, but it is added behind that layer's matrices.",
    section="a-lone-token",
)
def shift_through_its_own_layer(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = step @ W, step @ (c + b)
    return W, c


@wrong(
    "lone-token",
    says="You lose the shift of the earlier layers in the residual connection: it is a part of the token "
    "and passes as one.",
    section="a-lone-token",
)
def shift_without_residual(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = V.sum(axis=0)
        W, c = W + step @ W, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="Your W is made for tokens in rows; here a token is a column and W stands to its left.",
    section="a-lone-token",
)
def made_for_rows(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = W @ step.T, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="You multiply matrices entry by entry; layers one after the other need the matrix product.",
    section="a-lone-token",
)
def entry_by_entry(layers):
    D = len(layers[0][1])
    W, c = np.ones((D, D)), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = step * W, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="Your shift is 0, although every layer has a bias.",
    section="a-lone-token",
)
def no_shift(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = step @ W, 0 * b
    return W, c


@wrong(
    "lone-token",
    says="You use the first head of each layer alone.",
    section="a-lone-token",
)
def first_head_alone(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V[0]
        W, c = step @ W, step @ c + b
    return W, c


@wrong(
    "lone-token",
    says="You carry the token past the whole stack once, but every layer has its own residual connection.",
    section="a-lone-token",
)
def one_residual_for_the_stack(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = V.sum(axis=0)
        W, c = (step @ W, step @ c + b)
    W = W + np.eye(D)
    return W, c


@wrong(
    "lone-token",
    says="You add the bias once for every head, but a layer has one.",
    section="a-lone-token",
)
def bias_in_every_head(layers):
    D = len(layers[0][1])
    W, c = np.eye(D), np.zeros(D)
    for V, b in layers:
        step = np.eye(D) + V.sum(axis=0)
        W, c = step @ W, step @ c + len(V) * b
    return W, c


@wrong(
    "lone-token",
    says="You return the matrix alone: with biases the stack is a matrix and a shift.",
    section="a-lone-token",
)
def matrix_without_its_shift(layers):
    D = len(layers[0][1])
    W = np.eye(D)
    for V, _ in layers:
        W = (np.eye(D) + V.sum(axis=0)) @ W
    return W


# counts


@wrong(
    "counts",
    says="You count the matrices without their biases.",
    section="parameters-and-work",
)
def no_biases_counted(D, H, F, N):
    return {
        "attention parameters": 4 * D * D,
        "feed-forward parameters": 2 * D * F,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="The four matrices of attention have biases too, and you count none there.",
    section="parameters-and-work",
)
def no_attention_biases(D, H, F, N):
    return {
        "attention parameters": 4 * D * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="One of the two biases of the feed-forward layer is missing from your count.",
    section="parameters-and-work",
)
def one_bias_in_the_network(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="Your count of parameters gives every head maps of the full width, but the heads share it.",
    section="parameters-and-work",
)
def full_width_heads(D, H, F, N):
    return {
        "attention parameters": H * 3 * (D * D + D) + H * D * D + D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="You count the scores and averages of every head at the full width, but the heads share it.",
    section="parameters-and-work",
)
def work_of_every_head(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * H * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="You count multiplications and leave out the additions.",
    section="parameters-and-work",
)
def multiplications_alone(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 4 * D * D * N + 2 * D * N * N,
        "feed-forward operations": 2 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="You count the parameters of the feed-forward layer once for every token, but all tokens share them.",
    section="parameters-and-work",
)
def parameters_of_every_token(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": (2 * D * F + F + D) * N,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="You give the feed-forward operations of one token; this asks for those of the whole sequence.",
    section="parameters-and-work",
)
def work_of_one_token(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="You count three matrices in attention and forget the one that mixes the heads.",
    section="parameters-and-work",
)
def no_output_matrix(D, H, F, N):
    return {
        "attention parameters": 3 * D * D + 3 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 6 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max((2 * F - 3 * D) // 2, 0),
    }


@wrong(
    "counts",
    says="Your scores and averages grow with N, but every token meets every other one.",
    section="parameters-and-work",
)
def linear_in_the_length(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(F - 2 * D, 0),
    }


@wrong(
    "counts",
    says="You count the scores and leave out the averages, which take as much again.",
    section="parameters-and-work",
)
def averages_left_out(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 2 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": max(2 * F - 4 * D, 0),
    }


@wrong(
    "counts",
    says="Your operations of attention hold scores and averages alone; the four maps come on top.",
    section="parameters-and-work",
)
def projections_left_out(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": F,
    }


@wrong(
    "counts",
    says="Your last entry holds for F = 4D alone, but F is given.",
    section="parameters-and-work",
)
def even_for_four_d(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": 2 * D,
    }


@wrong(
    "counts",
    says="Your last entry is the rule of thumb N = D, which compares something else.",
    section="parameters-and-work",
)
def even_at_the_width(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": D,
    }


@wrong(
    "counts",
    says="Your last entry sets the feed-forward layer against scores and averages alone; attention's maps come on top.",
    section="parameters-and-work",
)
def even_against_scores(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": F,
    }


@wrong(
    "counts",
    says="A length cannot be negative: with a narrow F attention is ahead from the first token on.",
    section="parameters-and-work",
)
def negative_length(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 2 * D * F + F + D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 4 * D * F * N,
        "even at": F - 2 * D,
    }


@wrong(
    "counts",
    says="You put 4D for the hidden width, but F is given.",
    section="parameters-and-work",
)
def always_four_d(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": 8 * D * D + 5 * D,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 16 * D * D * N,
        "even at": 2 * D,
    }


@wrong(
    "counts",
    says="Your feed-forward layer has one matrix; there is one on the way up and one on the way down.",
    section="parameters-and-work",
)
def one_matrix(D, H, F, N):
    return {
        "attention parameters": 4 * D * D + 4 * D,
        "feed-forward parameters": D * F + F,
        "attention operations": 8 * D * D * N + 4 * D * N * N,
        "feed-forward operations": 2 * D * F * N,
        "even at": max((F - 4 * D) // 2, 0),
    }


# backward


@wrong(
    "backward",
    says="This is still the museum piece: none of its three slips is repaired.",
    section="the-same-network-for-every-token",
)
def museum_piece(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * H
    return W_1.T @ G, G @ X.T, G.mean(axis=1), dY @ T.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You multiply by what the ReLU gives; the chain rule asks how fast it grows.",
    section="the-same-network-for-every-token",
)
def value_for_slope(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * H
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradient by b_1 is a mean over the tokens, but each of them adds to the loss.",
    section="the-same-network-for-every-token",
)
def mean_for_sum(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T, G.mean(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradient by W_2 uses the hidden numbers before the bend, and W_2 never sees those.",
    section="the-same-network-for-every-token",
)
def before_the_bend(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ T.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradient by W_2 knows which units were on, but not how much they gave.",
    section="hidden-units-are-questions",
)
def on_or_off(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ (T > 0).T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You pass the gradient through the ReLU as if it did nothing.",
    section="the-same-network-for-every-token",
)
def no_slope(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = W_2.T @ dY
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You let the ReLU's slope decide for the gradient that comes, not for the number that went in.",
    section="the-same-network-for-every-token",
)
def slope_of_one_place(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = np.maximum(W_2.T @ dY, 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You ask whether a unit was on without its bias.",
    section="the-same-network-for-every-token",
)
def threshold_forgotten(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (W_1 @ X > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You pass the gradient where the ReLU is off and stop it where it is on.",
    section="the-same-network-for-every-token",
)
def slope_turned_round(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T <= 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="All your gradients by parameters are means over the tokens, but the loss is a sum.",
    section="the-same-network-for-every-token",
)
def means_everywhere(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T / X.shape[1], G.mean(axis=1), dY @ H.T / X.shape[1], dY.mean(axis=1)


@wrong(
    "backward",
    says="Your gradients by the matrices lie on their sides: a gradient has the shape of its parameter.",
    section="the-same-network-for-every-token",
)
def matrices_transposed(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, X @ G.T, G.sum(axis=1), H @ dY.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="W_1 maps tokens to hidden units, but the way back runs from the hidden units to the tokens.",
    section="the-same-network-for-every-token",
)
def map_not_turned(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1 @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradient by b_1 sums over the hidden units; it is the tokens that share a bias.",
    section="the-same-network-for-every-token",
)
def sum_over_the_units(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=0), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradients by the biases are columns, but the biases are vectors.",
    section="the-same-network-for-every-token",
)
def biases_upright(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1, keepdims=True), dY @ H.T, dY.sum(axis=1, keepdims=True)


@wrong(
    "backward",
    says="Your five gradients are in another order than the arguments.",
    section="the-same-network-for-every-token",
)
def another_order(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, dY @ H.T, dY.sum(axis=1), G @ X.T, G.sum(axis=1)


@wrong(
    "backward",
    says="Your gradient by X holds the way past the layer as well, but this layer has no residual connection.",
    section="the-same-network-for-every-token",
)
def gradient_with_a_residual(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G + dY, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You take the gradient that comes in for 1 everywhere: every output counts the same for you.",
    section="the-same-network-for-every-token",
)
def loss_forgotten(X, W_1, b_1, W_2, dY):
    dY = np.ones_like(dY)
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradient reaches the hidden units without going through W_2.",
    section="the-same-network-for-every-token",
)
def second_matrix_skipped(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = dY.sum(axis=0) * (T > 0)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


@wrong(
    "backward",
    says="You return the gradients of the parameters alone; the layers below need the one by X.",
    section="the-same-network-for-every-token",
)
def no_input_gradient(X, W_1, b_1, W_2, dY):
    T = W_1 @ X + b_1[:, None]
    H = np.maximum(T, 0)
    G = (W_2.T @ dY) * (T > 0)
    return G @ X.T, G.sum(axis=1), dY @ H.T, dY.sum(axis=1)


WRONG = wrong
