"""Exercise 13, question rounded: a layer with rounded weights and a backward pass of its own."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import parameter_count
from torch import nn

SECTION = "right-and-still-lost"


class RoundedLinear(nn.Module):
    def __init__(self, d_in, d_out, step, limit):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(d_out, d_in)), nn.Parameter(torch.zeros(d_out))
        self.step, self.limit = step, limit

    def forward(self, x):
        kept = self.weight.clamp(-self.limit, self.limit)
        on_the_grid = (kept / self.step).round() * self.step
        return x @ (kept + (on_the_grid - kept).detach()).mT + self.bias


def draw_args(rng, rows=2, tokens=5, d_in=7, d_out=3, step=0.25, limit=1.0, **options):
    weights = {"weight": rng.normal(size=(d_out, d_in)), "bias": rng.normal(size=d_out)}
    sizes = {"d_in": d_in, "d_out": d_out, "step": step, "limit": limit}
    return module_call(sizes, (rng.normal(size=(rows, tokens, d_in)),), weights=weights, **options)


def outputs(rng):
    """In two the limit is no multiple of the step, so that it matters what comes first: the nearest one is below it in
    the first of them and beyond it in the other. Once all sizes agree.
    """
    uneven = draw_args(rng, 3, 11, 4, 9, 0.3, 1.0), draw_args(rng, 3, 11, 9, 4, 0.4, 1.1)
    later = draw_args(rng, training=True, gives="changed")
    later[0]["beside"] = {**later[0]["sizes"], "step": 0.5, "limit": 0.5}
    return [draw_args(rng), draw_args(rng, tokens=1, step=0.5, limit=1.5), *uneven, draw_args(rng, 5, 5, 5, 5), later]


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, 3, 11, 4, 9, 0.5, 0.5, gives="gradients")]


def at_the_limit(rng):
    """The limit itself is not beyond it."""
    (plan,) = draw_args(rng, gives="gradients", limit=0.75)
    plan["weights"]["weight"][:2, [1, 3]] = 0.75, -0.75
    return [(plan,)]


def wide_limit(rng):
    """No weight is beyond the limit, so that every weight gets its gradient."""
    return [draw_args(rng, limit=8.0, gives="gradients"), draw_args(rng, 3, 1, 4, 9, 0.5, 8.0, gives="gradients")]


def reaches(ask, rng):
    """A gradient reaches the weights, and none of them beyond the limit."""
    (plan,) = draw_args(rng, d_in=11, d_out=5, limit=0.75)
    plan["weights"]["weight"][[0, 3], [2, 7]] = 0.75, -0.75  # the limit itself is not beyond it
    found = ask({**plan, "gives": "gradients"})
    by_weight = found.get("weight")
    beyond = abs(plan["weights"]["weight"]) > 0.75
    if getattr(by_weight, "shape", None) != beyond.shape or not by_weight.any():
        return "No gradient reaches `weight`: the slope of rounding is 0, so the backward pass has to be your own."
    if by_weight[beyond].any():
        return "A weight beyond the limit does not change the output; it should get no gradient."
    if not by_weight[~beyond].all():
        return "Every weight within the limit should get a gradient; some of yours get none."
    return None


QUESTION = Question(
    id="rounded",
    title="A layer with rounded weights",
    name="RoundedLinear",
    minutes=18,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, outputs, RoundedLinear),
        equals("gradients", 5, gradients, RoundedLinear),
        equals("wide limit", 3, wide_limit, RoundedLinear),
        holds("what reaches the weights", 4, reaches),
        holds("parameters", 1, parameter_count(draw_args, lambda d_in, d_out, step, limit: d_in * d_out + d_out)),
        more={"boundary": more_cases("gradients", at_the_limit)},
    ),
    hints=(
        "Two steps: the matrix is rounded, and then it multiplies. Only the first needs a backward pass of your own.",
        "In `Rounded.forward` save what `backward` needs: which weights lie within the limit. `backward` gets the "
        "gradient for the rounded matrix and hands it on where they do.",
        "`backward` returns one entry for each argument of `forward`; step and limit are no tensors and get None. In "
        "the layer `Rounded.apply(self.weight, self.step, self.limit)` takes the place of the weight.",
    ),
    section=SECTION,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="there is none"),
    how="module",
)

right, wrong = answers_to(QUESTION)


@right
class WithAFunction(nn.Module):
    class Grid(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight, step, limit):
            ctx.save_for_backward(weight.abs() <= limit)
            return torch.round(weight.clamp(-limit, limit) / step) * step

        @staticmethod
        def backward(ctx, error):
            (within,) = ctx.saved_tensors
            return error * within, None, None

    def __init__(self, d_in, d_out, step, limit):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_out, d_in) / d_in**0.5)
        self.bias = nn.Parameter(torch.zeros(d_out))
        self.step, self.limit = step, limit

    def forward(self, x):
        used = self.Grid.apply(self.weight, self.step, self.limit)
        return x @ used.mT + self.bias


@right
class WholeLayerInAFunction(nn.Module):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias, step, limit):
            inside = (weight >= -limit) & (weight <= limit)
            grid = step * torch.round(torch.clamp(weight, min=-limit, max=limit) / step)
            ctx.save_for_backward(x, inside, grid)
            return torch.einsum("...i,oi->...o", x, grid) + bias

        @staticmethod
        def backward(ctx, e):
            x, inside, grid = ctx.saved_tensors
            by_weight = torch.einsum("bno,bni->oi", e, x).masked_fill(~inside, 0)
            return e @ grid, by_weight, e.sum(dim=(0, 1)), None, None

    def __init__(self, d_in, d_out, step, limit):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_out, d_in).uniform_(-1, 1))
        self.bias = nn.Parameter(torch.zeros(d_out))
        self.rule = step, limit

    def forward(self, x):
        return self.Product.apply(x, self.weight, self.bias, *self.rule)


@right
class Detached(nn.Module):
    def __init__(self, d_in, d_out, step, limit):
        super().__init__()
        linear = nn.Linear(d_in, d_out)
        self.weight, self.bias = linear.weight, linear.bias
        self.step, self.limit = step, limit

    def forward(self, x):
        near = torch.where(self.weight.abs() > self.limit, self.limit * self.weight.sign().detach(), self.weight)
        error = (torch.round(near / self.step) * self.step - near).detach()
        return nn.functional.linear(x, near + error, self.bias)


wrong.edits("""
# WithAFunction
## rounded_once: In eval() mode you keep the rounded matrix of the first call, though the weights change afterwards.
- used = self.Grid.apply(self.weight, self.step, self.limit)
- return x @ used.mT + self.bias
+ if self.training or not hasattr(self, "used"):
+     self.used = self.Grid.apply(self.weight, self.step, self.limit)
+ return x @ self.used.mT + self.bias
## rounded_asked: You ask the rounded weights whether they lie within the limit, and some beyond it are rounded to it.
- ctx.save_for_backward(weight.abs() <= limit)
+ ctx.save_for_backward(torch.round(weight / step).abs() * step <= limit)
## nothing_at_the_limit: You give a weight exactly at the limit no gradient; it is not beyond it.
- ctx.save_for_backward(weight.abs() <= limit)
+ ctx.save_for_backward(weight.abs() < limit)
## square_turned: Where d_in equals d_out you do not transpose the weights; their rows belong to the outputs.
- return x @ used.mT + self.bias
+ return x @ (used if used.shape[0] == used.shape[1] else used.mT) + self.bias
## slope_of_rounding: No gradient reaches the weights: the slope of rounding is 0 nearly everywhere.
- return error * within, None, None
+ return error * 0, None, None
## limit_forgotten_backwards: On the way back the limit is forgotten: weights beyond it get a gradient.
+ return error, None, None
## limit_turned_round: You hand the gradient to the weights beyond the limit and keep it from the others.
+ return error * ~within, None, None
## times_the_step: You multiply the gradient by the step; hand it on as it is.
- ctx.save_for_backward(weight.abs() <= limit)
+ ctx.save_for_backward((weight.abs() <= limit) * step)
## divided_by_the_step: You divide the gradient by the step; hand it on as it is.
+ ctx.save_for_backward((weight.abs() <= limit) / step)
## not_limited: Weights beyond the limit are not clamped.
- return torch.round(weight.clamp(-limit, limit) / step) * step
+ return torch.round(weight / step) * step
## only_from_above: You clamp from above only; clamp below −limit, too.
+ return torch.round(weight.clamp(max=limit) / step) * step
## clamped_afterwards: You round first and clamp afterwards: a weight at the limit is then no multiple of the step.
+ return (torch.round(weight / step) * step).clamp(-limit, limit)
## rounded_down: You round down; round to the nearest grid point.
+ return torch.floor(weight.clamp(-limit, limit) / step) * step
## cut_off: You cut the digits off, towards 0; round to the nearest grid point.
+ return torch.trunc(weight.clamp(-limit, limit) / step) * step
## whole_numbers: The result counts steps; it has to be multiplied by the step again.
+ return torch.round(weight.clamp(-limit, limit) / step)
## to_whole_numbers: The weights are rounded to whole numbers, not to multiples of the step.
+ return torch.round(weight.clamp(-limit, limit))
## not_rounded: You clamp the weights without rounding.
+ return weight.clamp(-limit, limit)
## bias_rounded: You round the bias, too; it should stay as it is.
- return x @ used.mT + self.bias
+ return x @ used.mT + self.Grid.apply(self.bias, self.step, self.limit)
## bias_forgotten: The bias is not added.
+ return x @ used.mT + 0 * self.bias
## inputs_rounded: You round the inputs, too; only the weights should be.
+ return self.Grid.apply(x, self.step, self.limit) @ used.mT + self.bias
## fine_weights_used: You multiply by the weights, not the rounded ones.
+ return x @ (self.weight + 0 * used).mT + self.bias
## inputs_cut_off: No gradient passes to what lies below the layer.
+ return x.detach() @ used.mT + self.bias
## limit_of_the_rounded: You ask the rounded weights whether they are below the limit; ask the weights themselves.
- ctx.save_for_backward(weight.abs() <= limit)
+ ctx.save_for_backward((torch.round(weight.clamp(-limit, limit) / step) * step).abs() < limit)
# WholeLayerInAFunction
## fine_weights_backwards: You make the gradient for x with the weights as they are; use the rounded ones.
- ctx.save_for_backward(x, inside, grid)
+ ctx.save_for_backward(x, inside, weight)
## first_sequence_alone: Your gradient for the weights is that of the first sequence alone; sum over the batch.
- by_weight = torch.einsum("bno,bni->oi", e, x).masked_fill(~inside, 0)
+ by_weight = torch.einsum("no,ni->oi", e[0], x[0]).masked_fill(~inside, 0)
## averaged_over_the_batch: You average the gradient for the weights over the batch; what is used several times gets the
sum.
+ by_weight = torch.einsum("bno,bni->oi", e, x).masked_fill(~inside, 0) / len(x)
""")
