"""Exercise 05, question gated: the layer with a gate, as a module."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, varied
from clearcheck.author.torch_checks import parameter_count
from torch import nn
from torch.nn import functional as F

from .shared import draw_layer, every_token_alone


class Reference(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up, self.down = (
            nn.Linear(*sizes, bias=False) for sizes in ((d_model, d_ff), (d_model, d_ff), (d_ff, d_model))
        )

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def draw_gated(rng, **options):
    return draw_layer(rng, maps=("gate", "up"), bias=False, **options)


# in the last e to the power of a unit is too large for a float
batches = varied(draw_gated, {}, {"tokens": 1}, {"axes": 1}, {"scale": 200.0, "training": True})


def all_sizes_equal(rng):
    return [draw_gated(rng, sizes=4 * [size]) for size in draw_sizes(rng, 2)]


QUESTION = Question(
    id="gated",
    title="The layer with a gate",
    name="GatedFeedForward",
    minutes=5,
    difficulty=1,
    checks=with_battery(
        equals("outputs", 3, batches, Reference),
        equals("gradients", 1, varied(draw_gated, {"gives": "gradients"}), Reference),
        equals("equal sizes", 1, all_sizes_equal, Reference),
        holds("every token alone", 1, every_token_alone(draw_gated)),
        holds("parameters", 1, parameter_count(draw_gated, lambda d_model, d_ff: 3 * d_model * d_ff)),
    ),
    hints=(
        "There are three maps, and two of them have the same sizes. Which one goes back to the model's width?",
        "In `forward` two of the maps see the token. One of the two results goes through an activation, the other does "
        "not, and they meet entry by entry.",
        "Is the activation that of the plain layer? Look at the formula of the section: a number times its sigmoid, "
        "which has a function of its own in PyTorch.",
    ),
    section="a-gate-swiglu",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="there is no softmax"),
    how="module",
)

right, wrong = answers_to(QUESTION)


@right
class AsOftenWritten(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)
        self.gate = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x):
        hidden = self.up(x)
        gate = F.silu(self.gate(x))
        return self.down(gate * hidden)


@right
class ByTheFormula(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        z = self.gate(x)
        return self.down(self.up(x) * z * torch.sigmoid(z))


@right
class OwnMaps(nn.Module):
    class Map(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(d_out, d_in) / d_in**0.5)

        def forward(self, x):
            return torch.einsum("...d,fd->...f", x, self.weight)

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up, self.gate, self.down = self.Map(d_model, d_ff), self.Map(d_model, d_ff), self.Map(d_ff, d_model)

    def forward(self, x):
        return self.down(nn.SiLU()(self.gate(x)) * self.up(x))


wrong.edits("""
# AsOftenWritten
## gelu_for_the_gate: Your gate is bent by a GELU; in SwiGLU it is the SiLU.
- gate = F.silu(self.gate(x))
+ gate = F.gelu(self.gate(x))
## sigmoid_gate: Your gate is a sigmoid alone; the SiLU multiplies it by the number that went in.
+ gate = torch.sigmoid(self.gate(x))
## relu_gate: Your gate is bent by a ReLU; in SwiGLU it is the SiLU.
+ gate = F.relu(self.gate(x))
## gate_unbent: Your gate goes through no activation.
+ gate = self.gate(x)
## gate_never_asked: Your layer holds a gate and never asks it.
+ gate = torch.sigmoid(hidden)
## gate_overflows: Your SiLU divides one exponential by another, and for a large number both are infinite.
+ gate = self.gate(x)
+ gate = gate * gate.exp() / (1 + gate.exp())
## gate_held_constant: No gradient reaches your gate.
+ gate = F.silu(self.gate(x)).detach()
## both_branches_bent: You bend both branches; only the gate should be bent.
- return self.down(gate * hidden)
+ return self.down(gate * F.silu(hidden))
## branches_added: You add the two branches, but a gate multiplies.
+ return self.down(gate + hidden)
## product_bent: You bend the product of the branches; the gate alone is bent, before the product.
- gate = F.silu(self.gate(x))
- return self.down(gate * hidden)
+ return self.down(F.silu(self.gate(x) * hidden))
## branches_exchanged: You bend the other branch; it is the gate that should be bent.
+ return self.down(self.gate(x) * F.silu(hidden))
## gate_behind_the_layer: You multiply the layer's output by the gate; the two meet in the middle, where both have F
numbers.
+ return self.down(hidden) * F.silu(self.down(self.gate(x)))
## gated_with_dropout: Your layer drops numbers in train() mode; no dropout is asked for here.
- return self.down(gate * hidden)
+ return self.down(F.dropout(gate * hidden, 0.1, self.training))
## gated_with_a_residual: You add the token itself to its output: that is a residual connection, which this layer does
not contain.
+ return x + self.down(gate * hidden)
## gate_over_the_tokens [position-wise-and-how-to-test-it]: Your gate is averaged over the tokens, so that a token hears
its neighbours.
+ return self.down(gate.mean(-2, keepdim=True) * hidden)
## with_biases: Your maps have biases; here they have none.
- self.up = nn.Linear(d_model, d_ff, bias=False)
- self.down = nn.Linear(d_ff, d_model, bias=False)
- self.gate = nn.Linear(d_model, d_ff, bias=False)
+ self.up = nn.Linear(d_model, d_ff)
+ self.down = nn.Linear(d_ff, d_model)
+ self.gate = nn.Linear(d_model, d_ff)
## a_third_less: You make the hidden width a third smaller yourself; `d_ff` is that of the layer as it is given.
+ d_ff = 2 * d_ff // 3
+ self.up, self.gate = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
+ self.down = nn.Linear(d_ff, d_model, bias=False)
""")
