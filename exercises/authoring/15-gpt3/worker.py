"""Exercise 15, question worker: one worker's part of a feed-forward network, as a module."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere, parameter_count, rows_independent
from torch import nn


class WorkerMLP(nn.Module):
    def __init__(self, d_model, d_hidden, rank, n_workers):
        super().__init__()
        units = d_hidden // n_workers + (rank < d_hidden % n_workers)
        self.up = nn.Linear(d_model, units)
        self.down = nn.Linear(units, d_model, bias=rank == 0)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))


def units_of(d_hidden, rank, n_workers):
    return [len(own) for own in np.array_split(np.arange(d_hidden), n_workers)][rank]


def draw_args(rng, rows=2, tokens=5, d_model=7, d_hidden=13, rank=0, n_workers=3, scale=1.0, **options):
    units = units_of(d_hidden, rank, n_workers)
    weights = {"up.weight": rng.normal(size=(units, d_model)), "up.bias": rng.normal(size=units)}
    weights["down.weight"] = rng.normal(size=(d_model, units))
    if rank == 0:
        weights["down.bias"] = rng.normal(size=d_model)
    sizes = {"d_model": d_model, "d_hidden": d_hidden, "rank": rank, "n_workers": n_workers}
    return module_call(sizes, (scale * rng.normal(size=(rows, tokens, d_model)),), weights=weights, **options)


def first_workers(rng):
    return [
        draw_args(rng),
        draw_args(rng, n_workers=1),
        draw_args(rng, rows=3, tokens=1, d_model=4, d_hidden=11, n_workers=5),
    ]


def other_workers(rng):
    """In train() mode, too; and one that has no unit, since there are more workers than units."""
    in_training = draw_args(rng, rank=2, training=True)
    without_units = draw_args(rng, d_hidden=2, rank=3, n_workers=5)
    others = draw_args(rng, rank=1), draw_args(rng, rank=2), draw_args(rng, 3, 1, 4, 11, 4, 5, 3.0)
    return [*others, in_training, without_units]


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, rank=2, gives="gradients")]


def last_worker(rng, **options):
    return draw_args(rng, rank=2, **options)


def sum_is_the_whole(ask, rng):
    """The outputs of all workers, each with its part of one network's weights, add up to the network's output."""
    D, hidden, n_workers = 5, 11, 4
    W_1, b_1 = rng.normal(size=(hidden, D)), rng.normal(size=hidden)
    W_2, b_2, x = rng.normal(size=(D, hidden)), rng.normal(size=D), rng.normal(size=(2, 3, D))
    total = np.zeros_like(x)
    for rank, own in enumerate(np.array_split(np.arange(hidden), n_workers)):
        weights = {"up.weight": W_1[own], "up.bias": b_1[own], "down.weight": W_2[:, own]}
        weights |= {"down.bias": b_2} if rank == 0 else {}
        sizes = {"d_model": D, "d_hidden": hidden, "rank": rank, "n_workers": n_workers}
        output = np.asarray(ask(*module_call(sizes, (x,), weights=weights)))
        if output.shape != x.shape:
            return f"GPU {rank} gives an output of shape {output.shape}, expected {x.shape}."
        total = total + output
    x, W_1, b_1, W_2, b_2 = (torch.tensor(array, dtype=torch.float32) for array in (x, W_1, b_1, W_2, b_2))
    whole = nn.functional.linear(nn.functional.gelu(nn.functional.linear(x, W_1, b_1)), W_2, b_2).numpy()
    if not np.allclose(total, whole, rtol=1e-4, atol=1e-4):
        return f"The sum of the four GPUs' outputs is {np.abs(total - whole).max():.2g} from the whole network's."
    return None


def numbers(d_model, d_hidden, rank, n_workers):
    units = units_of(d_hidden, rank, n_workers)
    return 2 * d_model * units + units + d_model * (rank == 0)


QUESTION = Question(
    id="worker",
    title="One GPU's part of a network, in PyTorch",
    name="WorkerMLP",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("the first worker", 4, first_workers, WorkerMLP),
        equals("the others", 4, other_workers, WorkerMLP),
        holds("the sum is the whole", 3, sum_is_the_whole),
        equals("gradients", 2, gradients, WorkerMLP),
        holds("rows of the batch", 1, rows_independent(last_worker)),
        holds("every parameter", 1, gradients_everywhere(last_worker)),
        holds("parameters", 1, parameter_count(last_worker, numbers)),
        more={"boundary": in_cases_of("the others")},
    ),
    hints=(
        "How many hidden units does this GPU get? Everything else is a feed-forward network of that width.",
        "If the units do not come out even, the first d_hidden % n_workers GPUs have one more.",
        "Every GPU's output is added. What would happen to the bias of the outputs if each of them had it?",
    ),
    section="by-features-tensor-parallelism",
    inputs=Inputs(no_sizes="the sizes are those of a module"),
    how="module",
)

right, wrong = answers_to(QUESTION)


@right
class ByDivision(nn.Module):
    def __init__(self, d_model, d_hidden, rank, n_workers):
        super().__init__()
        units, left = divmod(d_hidden, n_workers)
        if rank < left:
            units = units + 1
        self.up = nn.Linear(d_model, units)
        self.down = nn.Linear(units, d_model, bias=(rank == 0))

    def forward(self, x):
        hidden = self.up(x)
        hidden = nn.functional.gelu(hidden)
        return self.down(hidden)


@right
class BySplitting(nn.Module):
    def __init__(self, d_model, d_hidden, rank, n_workers):
        super().__init__()
        own = torch.arange(d_hidden).tensor_split(n_workers)[rank]
        self.up, self.act = nn.Linear(d_model, len(own)), nn.GELU()
        self.down = nn.Linear(len(own), d_model, bias=not rank)

    def forward(self, x):
        return self.down(self.act(self.up(x)))


@right
class UnitByUnit(nn.Module):
    def __init__(self, d_model, d_hidden, rank, n_workers):
        super().__init__()
        units = len(range(rank, d_hidden, n_workers))
        self.up = nn.Linear(d_model, units)
        self.down = nn.Linear(units, d_model, bias=rank == 0)

    def forward(self, x):
        y = torch.zeros_like(x) if self.down.bias is None else self.down.bias.expand_as(x)
        for w, b, column in zip(self.up.weight, self.up.bias, self.down.weight.T, strict=True):
            y = y + nn.functional.gelu((x * w).sum(-1, keepdim=True) + b) * column
        return y


wrong.edits("""
# ByDivision
## dropout_added: Your hidden units have dropout in train() mode; nobody asked for any.
- hidden = nn.functional.gelu(hidden)
+ hidden = nn.functional.dropout(nn.functional.gelu(hidden), 0.1, self.training)
## at_least_one_unit: You give every GPU a unit; where GPUs outnumber units some have none.
- units, left = divmod(d_hidden, n_workers)
- if rank < left:
-     units = units + 1
+ units, left = divmod(d_hidden, n_workers)
+ units = max(1, units + (rank < left))
## bias_everywhere: Your GPUs all add the bias of the outputs; only the first one should.
- self.down = nn.Linear(units, d_model, bias=(rank == 0))
+ self.down = nn.Linear(units, d_model)
## bias_nowhere: You never add the bias of the outputs.
+ self.down = nn.Linear(units, d_model, bias=False)
## bias_for_the_last: The last GPU has the bias of the outputs; the first one should.
+ self.down = nn.Linear(units, d_model, bias=(rank == n_workers - 1))
## all_units: You give every GPU all units.
- units, left = divmod(d_hidden, n_workers)
- if rank < left:
-     units = units + 1
+ units = d_hidden
## left_over_units_lost: The units that are left over belong to nobody.
- if rank < left:
-     units = units + 1
+ pass
## last_workers_get_more: The units that are left over go to your last GPUs; give them to the first.
- if rank < left:
+ if rank >= n_workers - left:
## one_too_many: One GPU too many gets a unit more.
+ if rank <= left:
## first_takes_the_rest: All units that are left over go to your first GPU; give the first ones one each.
- if rank < left:
-     units = units + 1
+ if rank == 0:
+     units = units + left
## rounded_up: Each GPU gets d_hidden / n_workers units, rounded up, and together they have too many.
+ if left > 0:
+     units = units + 1
## split_by_inputs: You cut the inputs of the first map; its outputs, the hidden units, are what a GPU owns.
- self.up = nn.Linear(d_model, units)
- self.down = nn.Linear(units, d_model, bias=(rank == 0))
+ self.up = nn.Linear(units, d_hidden)
+ self.down = nn.Linear(d_hidden, d_model, bias=(rank == 0))
## no_activation: There is no GELU between the two maps.
- hidden = nn.functional.gelu(hidden)
+ hidden = hidden * 1
## relu: A ReLU stands where the GELU should.
+ hidden = nn.functional.relu(hidden)
## gelu_last: The GELU comes after the second map; it belongs between the two.
- hidden = nn.functional.gelu(hidden)
- return self.down(hidden)
+ return nn.functional.gelu(self.down(hidden))
## gelu_twice: There is a second GELU after the second map.
- return self.down(hidden)
+ return nn.functional.gelu(self.down(hidden))
## no_bias_of_units: Your hidden units have no bias; each needs its own.
- self.up = nn.Linear(d_model, units)
+ self.up = nn.Linear(d_model, units, bias=False)
## residual_added: You add x; the block adds it, once, after the sum.
- return self.down(hidden)
+ return x + self.down(hidden)
## divided_by_workers: You divide by the number of GPUs; the outputs are summed, not averaged.
- def forward(self, x):
+ def forward(self, x, share=3):
- return self.down(hidden)
+ return self.down(hidden) / share
## cut_off: No gradient reaches the first map.
- hidden = nn.functional.gelu(hidden)
+ hidden = nn.functional.gelu(hidden).detach()
## shared_over_tokens: You average the hidden units over the tokens; each token has its own.
+ hidden = nn.functional.gelu(hidden).mean(1, keepdim=True).expand(-1, x.shape[1], -1)
## tanh_form: You use the tanh form of the GELU; it differs from the exact one in the fourth digit.
+ hidden = nn.functional.gelu(hidden, approximate="tanh")
""")
