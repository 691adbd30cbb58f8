"""Exercise 05, question gelu: the GELU and its slope."""

from math import erf, exp, pi, sqrt

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.author.cases import close, draw_sizes, shapes_slip
from clearformer.reference import functions

ROUNDED = 1e-5  # in float32
STEP, SEEN = 1e-2, 1e-3  # of a difference quotient, and what of it is no rounding


def gelu_and_slope(X):
    """In double precision, so that rounding is counted once."""
    x = X.double()
    below, bell = torch.special.ndtr(x), torch.exp(-x * x / 2) / sqrt(2 * pi)
    return (x * below).float(), (below + x * bell).float()


def ordinary_numbers(rng):
    D, N, B = draw_sizes(rng, 3)
    shapes = (N, D), (D, N), (D, 1), (N,), (B, N, D), ()
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
    if slip := shapes_slip(found, (X.shape, X.shape), parts=(0,)):
        return slip
    gap = np.abs(found[0] - functions.gelu(X))
    if gap.max() > ROUNDED:
        d, n = np.unravel_index(np.argmax(gap), gap.shape)
        return f"At x = {X[d, n]:.3g} your value is {found[0][d, n]:.4g}; this is off by {gap[d, n]:.2g}."
    return None


def slope_of_the_value(ask, rng):
    D, N = draw_sizes(rng, 2)
    X = 1.5 * rng.normal(size=(D, N))
    found = ask(X)
    if slip := shapes_slip(found, (X.shape, X.shape)):
        return slip
    if not close(found[0], functions.gelu(X), 0.05):
        return "The slope is compared with your own values, and these do not yet look like a GELU."
    measured = (ask(X + STEP)[0] - ask(X - STEP)[0]) / (2 * STEP)
    gap = np.abs(found[1] - measured)
    if gap.max() > SEEN:
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
            "extremes": more_cases("far out", lambda rng: [(1e30 * rng.normal(size=(2, 3)),)]),
        },
        off={"gradients": "the slope is a result, by hand, and a loop over plain numbers may compute it"},
    ),
    hints=(
        "The value is a product of two factors, and both depend on x. `torch.erf` takes the whole tensor.",
        "The rule for the slope of a product has two terms. Write them down before you differentiate anything.",
        "For the term with the slope of Φ: the outer factor ½, the given slope of erf, and the slope of what "
        "stands inside erf. Three factors; leave none out, then simplify.",
    ),
    section="the-bend-relu-gelu-silu",
    inputs=Inputs(lambda X: dict(zip("ABC", X.shape, strict=False))),
    how="tensors",
    forbids=(
        "torch.nn.functional.gelu",
        "torch.autograd.grad",
        "torch.autograd.backward",
        "torch.Tensor.backward",
    ),
)

right, wrong = answers_to(QUESTION)


@right
def by_the_product_rule(X):
    share = (1 + torch.erf(X / sqrt(2))) / 2
    density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
    return X * share, share + X * density


@right
def number_by_number(X):
    pairs = []
    numbers = X.flatten().tolist()
    for x in numbers:
        below = 0.5 * (1 + erf(x / sqrt(2)))
        pairs.append((x * below, below + x * exp(-x * x / 2) / sqrt(2 * pi)))
    return tuple(torch.tensor(column).reshape(X.shape) for column in zip(*pairs, strict=True))


@right
def from_the_other_side(X):
    above = torch.erfc(X * 0.5**0.5) / 2
    share, bell = 1 - above, torch.exp(-0.5 * X.square()) * (2 * pi) ** -0.5
    return share * X, X * bell + share


wrong.edits("""
# by_the_product_rule
## by_autograd: PyTorch's autograd does the work; this question asks for the slope by hand.
- share = (1 + torch.erf(X / sqrt(2))) / 2
- density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
- return X * share, share + X * density
+ x = X.clone().requires_grad_()
+ values = x * (1 + torch.erf(x / sqrt(2))) / 2
+ return values, torch.autograd.grad(values.sum(), x)[0]
## by_the_library: PyTorch's own GELU does the work; this question asks for the formula.
- return X * share, share + X * density
+ return torch.nn.functional.gelu(X), share + X * density
## tanh_form: This is the tanh form: it agrees with the exact one to about three digits.
- share = (1 + torch.erf(X / sqrt(2))) / 2
- density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
- return X * share, share + X * density
+ bent = torch.tanh(sqrt(2 / pi) * (X + 0.044715 * X**3))
+ inner = sqrt(2 / pi) * (1 + 3 * 0.044715 * X**2)
+ return X / 2 * (1 + bent), (1 + bent + X * (1 - bent**2) * inner) / 2
## sigmoid_form: This is the sigmoid approximation, x times a sigmoid of 1.702 x, which is coarser still than the tanh
form.
+ gate = torch.sigmoid(1.702 * X)
+ return X * gate, gate + 1.702 * X * gate * (1 - gate)
## no_root_inside: The root of 2 inside erf is missing: your bell curve is too narrow.
+ share = (1 + torch.erf(X)) / 2
+ return X * share, share + X * torch.exp(-(X**2)) / sqrt(pi)
## only_the_probability: You return the probability itself and never multiply x by it.
- return X * share, share + X * density
+ return (1 + torch.erf(X / sqrt(2))) / 2, torch.exp(-(X**2) / 2) / sqrt(2 * pi)
## probability_held_constant: Your slope treats the probability as a constant, although it changes with x as well.
+ return X * share, share
## factor_held_constant: Your slope treats the factor x as a constant: one term of the product rule is missing.
+ return X * (1 + torch.erf(X / sqrt(2))) / 2, X * torch.exp(-(X**2) / 2) / sqrt(2 * pi)
## bell_without_its_constant: Your slope uses a bell curve whose area is not 1: the constant in front of the exponential
is missing.
+ return X * share, share + X * torch.exp(-(X**2) / 2)
## no_inner_slope: Your chain rule stops at erf: the slope of what stands inside it is missing.
+ return X * share, share + X * torch.exp(-(X**2) / 2) / sqrt(pi)
## exponent_without_half: The exponent of your bell curve lacks its ½: what stands inside erf is squared as a whole.
+ return X * share, share + X * torch.exp(-(X**2)) / sqrt(2 * pi)
## no_half: The factor ½ in front of the bracket is missing, and your probabilities go up to 2.
- share = (1 + torch.erf(X / sqrt(2))) / 2
- density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
- return X * share, share + X * density
+ twice = 1 + torch.erf(X / sqrt(2))
+ return X * twice, twice + X * torch.exp(-(X**2) / 2) * sqrt(2 / pi)
## wrong_sign: The two terms of your slope are joined with the wrong sign.
- return X * share, share + X * density
+ return X * share, share - X * torch.exp(-(X**2) / 2) / sqrt(2 * pi)
## results_exchanged: Your two results have changed places.
+ return share + X * torch.exp(-(X**2) / 2) / sqrt(2 * pi), X * share
## relu_and_step: This is the ReLU with its step; a GELU has no corner.
+ return X.clamp(min=0), (X > 0).float()
## negative_cut_off: You set the output to 0 for negative numbers, but a GELU only shrinks them.
+ return torch.where(X > 0, X * share, 0.0), torch.where(X > 0, share + X * torch.exp(-(X**2) / 2) / sqrt(2 * pi), 0.0)
## difference_quotient: Your slope is a difference quotient with a step that can be seen in the fourth digit; it should
come from a formula.
- share = (1 + torch.erf(X / sqrt(2))) / 2
- density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
- return X * share, share + X * density
+ def value(Z):
+     return Z * (1 + torch.erf(Z / sqrt(2))) / 2
+
+ return value(X), (value(X + 1e-3) - value(X)) / 1e-3
## one_axis_at_least: You turn a single number into a tensor with one axis; results have X's shape, whatever it is.
- return X * share, share + X * density
+ return torch.atleast_1d(X * share), torch.atleast_1d(share + X * density)
## values_alone: You return the values alone; this question asks for the values and the slopes.
+ return X * (1 + torch.erf(X / sqrt(2))) / 2
## slope_of_the_probability: Your slope is that of the probability, not that of the product.
+ return X * (1 + torch.erf(X / sqrt(2))) / 2, torch.exp(-(X**2) / 2) / sqrt(2 * pi)
## erf_of_the_tensor: The erf of Python's math takes one number, but you give it the whole tensor: torch.erf takes it.
- share = (1 + torch.erf(X / sqrt(2))) / 2
- density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
- return X * share, share + X * density
+ share = (1 + erf(X / sqrt(2))) / 2
+ return X * share, share + X * torch.exp(-(X**2) / 2) / sqrt(2 * pi)
## central_difference: Your slope is a difference quotient between two neighbours: what it loses in float32 shows in the
fourth digit, and a formula loses nothing.
- density = torch.exp(-(X**2) / 2) / sqrt(2 * pi)
- return X * share, share + X * density
+ up, down = ((X + h) * (1 + torch.erf((X + h) / sqrt(2))) / 2 for h in (1e-3, -1e-3))
+ return X * share, (up - down) / 2e-3
## divided_by_x: Your slope is divided by x, and at 0 that is 0/0.
- return X * share, share + X * density
+ return X * share, (X * share + X**2 * density) / X
## slope_without_x: Your second term is the bell curve alone; the product rule multiplies it by x.
+ return X * share, share + density

## no_negative_numbers: You take the size of X on the way, so that negative numbers are treated as positive ones.
- share = (1 + torch.erf(X / sqrt(2))) / 2
+ share = (1 + torch.erf(X.abs() / sqrt(2))) / 2

# number_by_number
## two_axes_alone: Your loop runs over rows and columns; X may have one axis, or three, or none.
- numbers = X.flatten().tolist()
+ numbers = [X[i, j].item() for i in range(X.shape[0]) for j in range(X.shape[1])]
## unpacked_shape: You unpack the shape into two sizes; X may have one axis, or three, or none.
+ D, N = X.shape
+ numbers = X.flatten().tolist()
## flat_results: Your results are flat; give them the shape of X.
- return tuple(torch.tensor(column).reshape(X.shape) for column in zip(*pairs, strict=True))
+ return tuple(torch.tensor(column) for column in zip(*pairs, strict=True))

# from_the_other_side
## the_other_tail: Your probability is that of lying above x; the GELU takes the one of lying below.
- share, bell = 1 - above, torch.exp(-0.5 * X.square()) * (2 * pi) ** -0.5
+ share, bell = above, torch.exp(-0.5 * X.square()) * (2 * pi) ** -0.5
""")
