"""Exercise 07, question layer-norm: LayerNorm as a module."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import equal_in_float32, parameter_count
from torch import nn

from .shared import EPS, FAR, draw_tokens


class Reference(nn.Module):
    def __init__(self, d_model, eps=EPS):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)), eps

    def forward(self, x):
        exact = (one.double() for one in (self.weight, self.bias))  # far from 0 that of PyTorch loses digits, too
        return nn.functional.layer_norm(x.double(), x.shape[-1:], *exact, self.eps).to(x.dtype)


def of_tokens(rng, x, eps=None, **options):
    """A call with these tokens, B × N × D, and a random scale and shift; without an ε the module has its own."""
    D = x.shape[-1]
    sizes = {"d_model": D} | ({} if eps is None else {"eps": eps})
    return module_call(sizes, (x,), weights={"weight": rng.normal(size=D), "bias": rng.normal(size=D)}, **options)


def draw_args(rng, rows=2, tokens=5, d_model=7, eps=0.1, **options):
    return of_tokens(rng, draw_tokens(rng, (rows, tokens, d_model)), eps, **options)


def ordinary_tokens(rng):
    given = {}, {"tokens": 1, "eps": 0.5}, {"rows": 3, "tokens": 11, "d_model": 10, "eps": 0.02}
    return [draw_args(rng, **one) for one in given] + [by_default(rng)]


def by_default(rng):
    """Without an ε, and with variances no larger than the one that the module has of its own."""
    return of_tokens(rng, EPS**0.5 * draw_tokens(rng, (2, 5, 7)))


def as_many_tokens_as_features(rng):
    return [draw_args(rng, size, size, size) for size in (5, 8)]


def special_tokens(rng):
    """Constant tokens, one with a variance below ε, huge ones, ones far from 0, of one feature, and with a peak."""
    mixed = rng.normal(size=(1, 9, 7)) * 10.0 ** rng.integers(-3, 4, size=(1, 9, 1))
    mixed[:, 1], mixed[:, 2] = float(rng.integers(2, 9)), 0.0
    mixed[:, 3] = 1e-3 * rng.normal(size=7)
    far = FAR + rng.normal(size=(1, 5, 7))
    whole = 2000.0 + rng.integers(-9, 10, size=(1, 5, 8))  # their means are exact in float32, their squares not
    tables = mixed, far, whole, 1e4 * rng.normal(size=(2, 5, 7)), rng.normal(size=(2, 5, 1))
    peaks = rng.normal(size=(1, 4, 59))
    peaks[..., 7] += 100.0
    return [of_tokens(rng, x, EPS) for x in (*tables, peaks)]


def gradients(rng):
    return [draw_args(rng, gives="gradients")]


def every_token_alone(ask, rng):
    (plan,) = draw_args(rng)
    (x,) = plan["calls"][0]
    edited, others = x.copy(), np.ones(x.shape[:2], dtype=bool)
    edited[1, 2] += rng.normal(size=x.shape[-1])
    others[1, 2] = False
    y, y_edited, opposite = ask({**plan, "calls": [(x,), (edited,), (-x,)]})
    if any(np.shape(came) != x.shape for came in (y, y_edited, opposite)):
        return f"For x of shape {x.shape} the result should have that shape too; yours has {np.shape(y)}."
    if not equal_in_float32(y[others], y_edited[others]):
        return "After an edit of one token only its own output may change, but others of yours do."
    if equal_in_float32(y[1, 2], y_edited[1, 2]):
        return "After an edit of one token its own output must change, but yours does not."
    stretched = ask({**plan, "sizes": plan["sizes"] | {"eps": 1.6}, "calls": [(4.0 * x - 3.0,)]})
    if not equal_in_float32(y, stretched):
        return "Stretch all tokens by 4, shift them by −3 and take 16 times the ε: the output must stay as it was."
    if not equal_in_float32(opposite + y, np.broadcast_to(2 * plan["weights"]["bias"], x.shape)):
        return "Your outputs for x and −x should lie at opposite sides of the shift."
    return None


QUESTION = Question(
    id="layer-norm",
    title="LayerNorm",
    name="LayerNorm",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 4, ordinary_tokens, Reference),
        equals("equal sizes", 1, as_many_tokens_as_features, Reference),
        equals("constant, huge and far tokens", 2, special_tokens, Reference),
        equals("gradients", 1, gradients, Reference),
        holds("every token alone", 3, every_token_alone),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, eps: 2 * d_model)),
        first_values=True,
        off={"boundary": "what a mistake compares with ε is drawn at random"},
    ),
    hints=(
        "How many means are there, and over how many numbers does each run? Of the three axes of x, which has to "
        "vanish?",
        "With `keepdim=True` the mean has one number for each token, and is spread over its features. The scale and "
        "the shift have one for each feature, and line up by themselves.",
        "Do the centring once, keep its result, and make the variance from that, or mind what `var` of torch divides "
        "by. Then try ε = 3 on the token of the example: is it inside the root, beside the variance?",
    ),
    section="one-token-at-a-time-layernorm",
    inputs=Inputs(no_sizes="the sizes are those of a module"),
    how="module",
    forbids=("torch.nn.LayerNorm", "torch.nn.functional.layer_norm", "torch.nn.GroupNorm"),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        var = (centred**2).mean(dim=-1, keepdim=True)
        return self.weight * centred / torch.sqrt(var + self.eps) + self.bias


@right
class FeaturesInFront(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.ones(d_model)))
        self.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
        self.epsilon = eps

    def forward(self, x):
        columns = x.movedim(2, 0)
        apart = columns - columns.mean(0)
        apart = apart * (apart.square().mean(0) + self.epsilon).rsqrt()
        return apart.movedim(0, 2) * self.weight + self.bias


@right
class ByAProjection(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.bias, self.weight = (nn.Parameter(torch.full((d_model,), value)) for value in (0.0, 1.0))
        self.away, self.eps = torch.eye(d_model) - 1 / d_model, eps

    def forward(self, x):
        apart = (x - x[..., :1]) @ self.away
        spread = torch.einsum("bnd,bnd->bn", apart, apart) / len(self.weight) + self.eps
        return torch.addcmul(self.bias, apart / spread[..., None] ** 0.5, self.weight)


wrong.edits("""
# Plain
## over_the_tokens [the-norm-that-sees-the-future]: Your mean runs over the tokens: every feature has one, and a token
learns about all the others.
- centred = x - x.mean(dim=-1, keepdim=True)
- var = (centred**2).mean(dim=-1, keepdim=True)
+ centred = x - x.mean(dim=1, keepdim=True)
+ var = (centred**2).mean(dim=1, keepdim=True)
## over_everything [common-mistakes]: You take one mean for the whole batch; every token needs its own.
+ centred = x - x.mean()
+ var = (centred**2).mean()
## over_the_sequence [common-mistakes]: You take one mean for a whole sequence; every token needs its own.
+ centred = x - x.mean(dim=(1, 2), keepdim=True)
+ var = (centred**2).mean(dim=(1, 2), keepdim=True)
## batch_norm [what-is-averaged]: You average each feature over all tokens of all sequences, which is BatchNorm.
+ centred = x - x.mean(dim=(0, 1), keepdim=True)
+ var = (centred**2).mean(dim=(0, 1), keepdim=True)
## eps_outside_the_root [common-mistakes]: You add ε to the standard deviation, outside the root; it belongs to the
variance.
- return self.weight * centred / torch.sqrt(var + self.eps) + self.bias
+ return self.weight * centred / (torch.sqrt(var) + self.eps) + self.bias
## root_of_eps_outside [one-token-at-a-time-layernorm]: You add the root of ε to the standard deviation; add ε to the
variance, then take the root.
+ return self.weight * centred / (torch.sqrt(var) + self.eps**0.5) + self.bias
## root_of_sigma: You divide by the root of a standard deviation, which is a root already.
+ return self.weight * centred / torch.sqrt(torch.sqrt(var) + self.eps) + self.bias
## divided_by_the_variance: You divide by the variance: the root is missing.
+ return self.weight * centred / (var + self.eps) + self.bias
## eps_built_in [one-token-at-a-time-layernorm]: Your ε is always 0.00001, whatever the caller passes.
+ return self.weight * centred / torch.sqrt(var + 1e-5) + self.bias
## no_eps [one-token-at-a-time-layernorm]: There is no ε: a token of equal numbers is divided by 0.
+ return self.weight * centred / torch.sqrt(var) + self.bias
## eps_squared [one-token-at-a-time-layernorm]: You square ε on its way to the variance; add it as it is.
+ return self.weight * centred / torch.sqrt(var + self.eps**2) + self.bias
## eps_as_a_floor [one-token-at-a-time-layernorm]: Your ε is a floor for the variance; add it to every variance.
+ return self.weight * centred / torch.sqrt(var.clamp(min=self.eps)) + self.bias
## constant_below_eps [one-token-at-a-time-layernorm]: You treat a token whose variance is below ε as constant; ε is
added to every variance.
+ return self.weight * centred * (var > self.eps) / torch.sqrt(var + self.eps) + self.bias
## undivided_below_eps [one-token-at-a-time-layernorm]: You do not divide a token whose variance is below ε; divide
every token.
+ return self.weight * centred / torch.where(var > self.eps, torch.sqrt(var + self.eps), 1.0) + self.bias
## mean_absolute_deviation: You divide by the mean size of the differences, not by the root of their mean square.
+ return self.weight * centred / (centred.abs().mean(dim=-1, keepdim=True) + self.eps) + self.bias
## length_one: You bring every token to length 1; its standard deviation should be 1.
+ return self.weight * centred / (centred.norm(dim=-1, keepdim=True) + self.eps) + self.bias
## largest_difference: You divide by the largest difference from the mean, where the standard deviation belongs.
+ return self.weight * centred / (centred.abs().amax(dim=-1, keepdim=True) + self.eps) + self.bias
## mean_not_subtracted: You divide by the right spread, but the mean is still in the token.
+ return self.weight * x / torch.sqrt(var + self.eps) + self.bias
## brackets_missing: You divide only the mean by the standard deviation: brackets are missing.
+ return self.weight * x - x.mean(dim=-1, keepdim=True) / torch.sqrt(var + self.eps) + self.bias
## rms_instead [do-we-need-the-mean-rmsnorm]: This is RMSNorm with a shift: the mean is subtracted nowhere.
+ return self.weight * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + self.eps) + self.bias
## no_scale_and_shift [one-token-at-a-time-layernorm]: Scale and shift are missing: as long as they are 1 and 0 nobody
would notice.
+ return centred / torch.sqrt(var + self.eps)
## no_shift: The shift is missing: `bias` is added nowhere.
+ return self.weight * centred / torch.sqrt(var + self.eps)
## no_scale: The scale is missing: nothing is multiplied by `weight`.
+ return centred / torch.sqrt(var + self.eps) + self.bias
## shift_scaled: You add the shift before the scale, so that `bias` is multiplied by `weight`.
+ return self.weight * (centred / torch.sqrt(var + self.eps) + self.bias)
## shift_divided: Your shift is divided by the standard deviation, too: add it at the very end.
+ return (self.weight * centred + self.bias) / torch.sqrt(var + self.eps)
## one_plus_scale: You multiply by 1 + γ; here the scale is γ itself.
+ return (1 + self.weight) * centred / torch.sqrt(var + self.eps) + self.bias
## scale_and_shift_exchanged: You swap scale and shift: multiply by `weight` and add `bias`.
+ return self.bias * centred / torch.sqrt(var + self.eps) + self.weight
## scale_along_the_tokens: Scale and shift lie along the tokens: each of their numbers belongs to a feature.
+ return self.weight[:, None] * centred / torch.sqrt(var + self.eps) + self.bias[:, None]
## scale_where_it_fits: With as many tokens as features your scale runs along the tokens; it belongs to the features.
+ scale = self.weight[:, None] if x.shape[1] == x.shape[2] else self.weight
+ return scale * centred / torch.sqrt(var + self.eps) + self.bias
## constant_left_at_zero: Where every token is constant you return zeros; the shift is still to be added.
+ if centred.abs().max() < 1e-8:
+     return torch.zeros_like(x)
+ return self.weight * centred / torch.sqrt(var + self.eps) + self.bias
## scale_and_shift_first: You scale and shift first; both belong after the norm.
- centred = x - x.mean(dim=-1, keepdim=True)
- var = (centred**2).mean(dim=-1, keepdim=True)
- return self.weight * centred / torch.sqrt(var + self.eps) + self.bias
+ x = self.weight * x + self.bias
+ centred = x - x.mean(dim=-1, keepdim=True)
+ return centred / torch.sqrt((centred**2).mean(dim=-1, keepdim=True) + self.eps)
## written_into_the_argument: You write into x, and the caller's tokens are gone.
+ x -= x.mean(dim=-1, keepdim=True)
+ x /= torch.sqrt((x**2).mean(dim=-1, keepdim=True) + self.eps)
+ return self.weight * x + self.bias
## sum_for_mean: You subtract the sum of the features where their mean belongs.
- centred = x - x.mean(dim=-1, keepdim=True)
+ centred = x - x.sum(dim=-1, keepdim=True)
## mean_detached: You detach the mean: nothing is learned through it.
+ centred = x - x.mean(dim=-1, keepdim=True).detach()
## squares_not_averaged: Your squares are summed and not averaged, so that wide tokens come out too short.
- var = (centred**2).mean(dim=-1, keepdim=True)
+ var = (centred**2).sum(dim=-1, keepdim=True)
## sample_variance [common-mistakes]: Your variance divides by D − 1, as `var` and `std` of torch do unless told not to;
LayerNorm divides by D.
+ var = x.var(dim=-1, keepdim=True)
## squares_before_centring: You subtract the mean, but divide by the root mean square of the token as it came.
+ var = (x**2).mean(dim=-1, keepdim=True)
## variance_in_one_pass: Your variance, mean square less squared mean, loses its digits for tokens far from 0.
+ var = ((x**2).mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True) ** 2).clamp(min=0)
## variance_over_the_tokens [the-norm-that-sees-the-future]: Your mean is that of the token, but your variance runs over
the tokens.
+ var = (centred**2).mean(dim=1, keepdim=True)
## variance_detached: You detach the variance: nothing is learned through the spread.
+ var = (centred**2).mean(dim=-1, keepdim=True).detach()
## sample_deviation_and_eps [common-mistakes]: Two slips at once, as in many tutorials: the deviation divides by D − 1,
and ε is added to it and not to the variance.
- var = (centred**2).mean(dim=-1, keepdim=True)
- return self.weight * centred / torch.sqrt(var + self.eps) + self.bias
+ return self.weight * centred / (x.std(dim=-1, keepdim=True) + self.eps) + self.bias
## another_default [one-token-at-a-time-layernorm]: Your default for ε is 0.000001; in the task it is 0.00001.
- def __init__(self, d_model, eps=1e-5):
+ def __init__(self, d_model, eps=1e-6):
## default_of_bert [one-token-at-a-time-layernorm]: Your ε is 0.000000000001 where the caller says none, as in BERT;
here it is 0.00001.
+ def __init__(self, d_model, eps=1e-12):
## scale_begins_at_zero [one-token-at-a-time-layernorm]: Your scale begins at 0, so that a fresh norm gives 0 for
everything.
- self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
+ self.weight, self.bias = nn.Parameter(torch.zeros(d_model)), nn.Parameter(torch.zeros(d_model))
## drawn_at_the_start [one-token-at-a-time-layernorm]: Your scale begins with random numbers; it begins at 1.
+ self.weight, self.bias = nn.Parameter(torch.randn(d_model)), nn.Parameter(torch.zeros(d_model))
## one_scale_for_all [one-token-at-a-time-layernorm]: You have one scale and one shift for all features; each has its
own.
+ self.weight, self.bias = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))
""")
