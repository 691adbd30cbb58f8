"""Exercise 05, question gelu: the GELU and its slope."""

from math import erf, exp, pi, sqrt

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.author.cases import CLOSE, close, draw_sizes, shapes_slip
from clearformer.reference import functions


def gelu_and_slope(X):
    x = X.reshape(-1)  # a single number has no axis, and the library asks for one
    with np.errstate(over="ignore"):  # the bell of a number whose square is inf is 0
        return functions.gelu(x).reshape(X.shape), functions.gelu_backward(x, np.ones_like(x)).reshape(X.shape)


def ordinary_numbers(rng):
    D, N, B = draw_sizes(rng, 3)
    shapes = (D, N), (N, D), (D, 1), (N,), (B, D, N), ()
    cases = [(np.asarray(1.5 * rng.normal(size=shape)),) for shape in shapes]
    return [*cases, (1.5 * rng.normal(size=D) * (np.arange(D) % 2),)]  # every other one is 0


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


QUESTION = Question(
    id="gelu",
    title="The GELU and its slope",
    name="gelu_with_slope",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        holds("values alone", 3, values_come_first),
        equals("values and slopes", 3, ordinary_numbers, gelu_and_slope),
        equals("far out", 2, far_out, gelu_and_slope),
        holds("slope of your own values", 4, slope_of_the_value),
        more={
            "any shape": more_cases("values and slopes", lambda rng: [(rng.normal(size=(2, 1, 3, 2)),)]),
            "extremes": more_cases("far out", lambda rng: [(1e160 * rng.normal(size=(2, 3)),)]),
        },
    ),
    hints=(
        "The value is a product of two factors, and both depend on x. `np.vectorize(erf)` makes the function "
        "of one number work on an array.",
        "The rule for the slope of a product has two terms. Write them down before you differentiate anything.",
        "For the term with the slope of Φ: the outer factor ½, the given slope of erf, and the slope of what "
        "stands inside erf. Three factors; leave none out, then simplify.",
    ),
    section="the-bend",
    inputs=Inputs(lambda X: dict(zip("ABC", X.shape, strict=False))),
)

right, wrong = answers_to(QUESTION)


@right
def by_the_product_rule(X):
    share = (1 + np.vectorize(erf)(X / np.sqrt(2))) / 2
    density = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
    return X * share, share + X * density


@right
def number_by_number(X):
    values, slopes = np.empty_like(X), np.empty_like(X)
    for index, x in np.ndenumerate(X):
        below = 0.5 * (1 + erf(x / sqrt(2)))
        values[index], slopes[index] = x * below, below + x * exp(-x * x / 2) / sqrt(2 * pi)
    return values, slopes


@right
def from_the_other_side(X):
    above = np.array([(1 - erf(x / 2**0.5)) / 2 for x in X.ravel()]).reshape(X.shape)
    share, bell = 1 - above, np.exp(-0.5 * np.square(X)) * (2 * np.pi) ** -0.5
    return share * X, X * bell + share


wrong.edits("""
# by_the_product_rule
## tanh_form: This is the tanh form: it agrees with the exact one to about three digits.
- share = (1 + np.vectorize(erf)(X / np.sqrt(2))) / 2
- density = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
- return X * share, share + X * density
+ bent = np.tanh(sqrt(2 / pi) * (X + 0.044715 * X**3))
+ inner = sqrt(2 / pi) * (1 + 3 * 0.044715 * X**2)
+ return X / 2 * (1 + bent), (1 + bent + X * (1 - bent**2) * inner) / 2
## sigmoid_form: This is the sigmoid approximation, x times a sigmoid of 1.702 x, which is coarser still than the tanh
form.
+ gate = (1 + np.tanh(0.851 * X)) / 2
+ return X * gate, gate + 1.702 * X * gate * (1 - gate)
## no_root_inside: The root of 2 inside erf is missing: your bell curve is too narrow.
+ share = (1 + np.vectorize(erf)(X)) / 2
+ return X * share, share + X * np.exp(-(X**2)) / sqrt(pi)
## only_the_probability: You return the probability itself and never multiply x by it.
- return X * share, share + X * density
+ return (1 + np.vectorize(erf)(X / sqrt(2))) / 2, np.exp(-(X**2) / 2) / sqrt(2 * pi)
## probability_held_constant: Your slope treats the probability as a constant, although it changes with x as well.
+ return X * share, share
## factor_held_constant: Your slope treats the factor x as a constant: one term of the product rule is missing.
+ return X * (1 + np.vectorize(erf)(X / sqrt(2))) / 2, X * np.exp(-(X**2) / 2) / sqrt(2 * pi)
## bell_without_its_constant: Your slope uses a bell curve whose area is not 1: the constant in front of the exponential
is missing.
+ return X * share, share + X * np.exp(-(X**2) / 2)
## no_inner_slope: Your chain rule stops at erf: the slope of what stands inside it is missing.
+ return X * share, share + X * np.exp(-(X**2) / 2) / sqrt(pi)
## exponent_without_half: The exponent of your bell curve lacks its ½: what stands inside erf is squared as a whole.
+ return X * share, share + X * np.exp(-(X**2)) / sqrt(2 * pi)
## no_half: The factor ½ in front of the bracket is missing, and your probabilities go up to 2.
- share = (1 + np.vectorize(erf)(X / np.sqrt(2))) / 2
- density = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
- return X * share, share + X * density
+ twice = 1 + np.vectorize(erf)(X / sqrt(2))
+ return X * twice, twice + X * np.exp(-(X**2) / 2) * sqrt(2 / pi)
## wrong_sign: The two terms of your slope are joined with the wrong sign.
- return X * share, share + X * density
+ return X * share, share - X * np.exp(-(X**2) / 2) / sqrt(2 * pi)
## results_exchanged: Your two results have changed places.
+ return share + X * np.exp(-(X**2) / 2) / sqrt(2 * pi), X * share
## relu_and_step: This is the ReLU with its step; a GELU has no corner.
+ return np.maximum(X, 0), (X > 0).astype(float)
## negative_cut_off: You set the output to 0 for negative numbers, but a GELU only shrinks them.
+ return np.where(X > 0, X * share, 0.0), np.where(X > 0, share + X * np.exp(-(X**2) / 2) / sqrt(2 * pi), 0.0)
## difference_quotient: Your slope is a difference quotient with a step that can be seen in the fourth digit; it should
come from a formula.
- share = (1 + np.vectorize(erf)(X / np.sqrt(2))) / 2
- density = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
- return X * share, share + X * density
+ def value(Z):
+     return Z * (1 + np.vectorize(erf)(Z / sqrt(2))) / 2
+
+ return value(X), (value(X + 1e-3) - value(X)) / 1e-3
## one_axis_at_least: You turn a single number into an array with one axis; results have X's shape, whatever it is.
- return X * share, share + X * density
+ return np.atleast_1d(X * share), np.atleast_1d(share + X * density)
## values_alone: You return the values alone; this question asks for the values and the slopes.
+ return X * (1 + np.vectorize(erf)(X / sqrt(2))) / 2
## slope_of_the_probability: Your slope is that of the probability, not that of the product.
+ return X * (1 + np.vectorize(erf)(X / sqrt(2))) / 2, np.exp(-(X**2) / 2) / sqrt(2 * pi)
## erf_of_the_array: The erf of Python's math takes one number, but you give it the whole array.
- share = (1 + np.vectorize(erf)(X / np.sqrt(2))) / 2
- density = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
- return X * share, share + X * density
+ share = (1 + erf(X / sqrt(2))) / 2
+ return X * share, share + X * np.exp(-(X**2) / 2) / sqrt(2 * pi)
## central_difference: Your slope is a difference quotient between two neighbours; its error shows in the seventh digit,
and a formula has none.
- density = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
- return X * share, share + X * density
+ up, down = ((X + h) * (1 + np.vectorize(erf)((X + h) / np.sqrt(2))) / 2 for h in (1e-3, -1e-3))
+ return X * share, (up - down) / 2e-3
## divided_by_x: Your slope is divided by x, and at 0 that is 0/0.
- return X * share, share + X * density
+ return X * share, (X * share + X**2 * density) / X
## slope_without_x: Your second term is the bell curve alone; the product rule multiplies it by x.
+ return X * share, share + density

# number_by_number
## power_of_a_number: The square of a large Python number raises an OverflowError; x * x and NumPy's squares become inf,
and the bell 0.
- for index, x in np.ndenumerate(X):
-     below = 0.5 * (1 + erf(x / sqrt(2)))
-     values[index], slopes[index] = x * below, below + x * exp(-x * x / 2) / sqrt(2 * pi)
+ for index, x in np.ndenumerate(X):
+     x, below = float(x), 0.5 * (1 + erf(x / sqrt(2)))
+     values[index], slopes[index] = x * below, below + x * exp(-(x**2) / 2) / sqrt(2 * pi)
## two_axes_alone: Your loops run over two axes; X may have one, or three: np.ndenumerate runs over any.
- for index, x in np.ndenumerate(X):
+ for index in [(i, j) for i in range(X.shape[0]) for j in range(X.shape[1])]:
+     x = X[index]
## unpacked_shape: You unpack the shape into two sizes; X may have one axis, or three: np.ndenumerate runs over any.
+ D, N = X.shape
+ for index, x in np.ndenumerate(X):
""")
