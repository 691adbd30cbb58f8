"""Exercise 05, question feed-forward: the layer as a module, plain or gated."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, varied
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import parameter_count
from torch import nn
from torch.nn import functional as F


class Reference(nn.Module):
    def __init__(self, d_model, d_ff, gated=False, bias=True):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff, bias), nn.Linear(d_ff, d_model, bias)
        self.gate = nn.Linear(d_model, d_ff, bias) if gated else None

    def forward(self, x):
        return self.down(F.gelu(self.up(x)) if self.gate is None else F.silu(self.gate(x)) * self.up(x))


def draw_args(rng, sizes=None, tokens=None, scale=1.0, low=False, gives="output", training=False, **options):
    """A call with weights by name, ``options`` for the constructor; ``low``: units where the two GELUs differ most."""
    B, N, width, hidden = sizes or draw_sizes(rng, 4)
    shapes = {"up": (hidden, width), "down": (width, hidden)} | (
        {"gate": (hidden, width)} if "gated" in options else {}
    )
    weights = {f"{name}.weight": rng.normal(size=shape) / np.sqrt(shape[1]) for name, shape in shapes.items()}
    if options.get("bias", True):
        weights |= {f"{name}.bias": rng.normal(size=shape[0]) for name, shape in shapes.items()}
    if low:
        weights["up.bias"] -= 2.5
        weights["down.weight"] *= 30.0
    x = scale * rng.normal(size=(B, tokens or N, width))
    sizes = {"d_model": width, "d_ff": hidden, **options}
    return module_call(sizes, (x,), weights=weights, gives=gives, training=training)


plain_layers = varied(draw_args, {}, {"tokens": 1}, {"scale": 30.0, "training": True}, {"scale": 0.3, "low": True})
gated_layers = varied(
    draw_args,
    {"gated": True},
    {"gated": True, "bias": False, "tokens": 1},
    {"gated": True, "scale": 200.0, "training": True},  # where e to that power is too large for a float
)


def all_sizes_equal(rng):
    return [draw_args(rng, sizes=4 * [size], **gate) for size in draw_sizes(rng, 1) for gate in ({}, {"gated": True})]


def every_token_alone(ask, rng):
    for options in ({}, {"gated": True}):
        (plan,) = draw_args(rng, **options)
        ((x,),) = plan["calls"]
        edited, chosen = x.copy(), [3, 1, 1, 0]
        edited[:, 2] += 1 + rng.uniform(size=edited[:, 2].shape)
        y, y_edited, y_chosen = ask({**plan, "calls": [(x,), (edited,), (x[:, chosen],)]})
        if not isinstance(y, np.ndarray) or y.shape != x.shape:
            return f"The result should be a tensor of shape {x.shape}, like x."
        others = np.arange(x.shape[1]) != 2
        if not close(y_edited[:, others], y[:, others], 1e-4):
            return "After an edit of token 2 only its own output may change, but others of yours do."
        if close(y_edited[:, 2], y[:, 2], 1e-4):
            return "After an edit of token 2 its own output must change, but yours does not."
        if not close(y_chosen, y[:, chosen], 1e-4):
            return "With tokens dropped and repeated your outputs are not the same ones dropped and repeated."
    return None


def count(d_model, d_ff, gated=False, bias=True):
    return (3 if gated else 2) * d_model * d_ff + (bias and (2 if gated else 1) * d_ff + d_model)


QUESTION = Question(
    id="feed-forward",
    title="The layer, plain or gated",
    name="FeedForward",
    minutes=15,
    difficulty=1,
    checks=with_battery(
        equals("plain", 4, plain_layers, Reference),
        equals("gated", 3, gated_layers, Reference),
        equals(
            "gradients", 2, varied(draw_args, {"gives": "gradients"}, {"gives": "gradients", "gated": True}), Reference
        ),
        equals("equal sizes", 1, all_sizes_equal, Reference),
        holds("every token alone", 2, every_token_alone),
        holds("parameters", 1, parameter_count(lambda rng: draw_args(rng, bias=False), count)),
        holds("parameters of the gated one", 1, parameter_count(lambda rng: draw_args(rng, gated=True), count)),
    ),
    hints=(
        "Begin with the plain layer: two maps in the constructor, and one line in `forward`. Which of the two widths "
        "comes first in each map?",
        "The gate is a third map, as wide as the first. In `forward` it is bent, and the other branch is not; the two "
        "are multiplied entry by entry before they come back to the model's width.",
        "A layer that is not gated must not hold a third map, not even an unused one. Set the attribute to None and "
        "ask for it in `forward`, and hand `bias` on to every map.",
    ),
    section="the-layer-in-pytorch",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="there is no softmax"),
    how="module",
)

right, wrong = answers_to(QUESTION)


@right
class AsOftenWritten(nn.Module):
    def __init__(self, d_model, d_ff, gated=False, bias=True):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.gate = nn.Linear(d_model, d_ff, bias=bias) if gated else None

    def forward(self, x):
        hidden = self.up(x)
        if self.gate is None:
            return self.down(F.gelu(hidden))
        gate = F.silu(self.gate(x))
        return self.down(gate * hidden)


@right
class ByFormulas(nn.Module):
    def __init__(self, d_model, d_ff, gated=False, bias=True):
        super().__init__()
        self.gated = gated
        for name in ["up", "gate"] if gated else ["up"]:
            self.add_module(name, nn.Linear(d_model, d_ff, bias=bias))
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x):
        z = self.gate(x) if self.gated else self.up(x)
        if self.gated:
            return self.down(z * torch.sigmoid(z) * self.up(x))
        return self.down(z * (1 + torch.erf(z / 2**0.5)) / 2)


@right
class OwnMaps(nn.Module):
    class Map(nn.Module):
        def __init__(self, d_in, d_out, bias):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(d_out, d_in) / d_in**0.5)
            self.bias = nn.Parameter(torch.zeros(d_out)) if bias else None

        def forward(self, x):
            y = torch.einsum("...d,fd->...f", x, self.weight)
            return y if self.bias is None else y + self.bias

    def __init__(self, d_model, d_ff, gated=False, bias=True):
        super().__init__()
        self.up, self.down = self.Map(d_model, d_ff, bias), self.Map(d_ff, d_model, bias)
        if gated:
            self.gate = self.Map(d_model, d_ff, bias)

    def forward(self, x):
        if hasattr(self, "gate"):
            return self.down(nn.functional.silu(self.gate(x)) * self.up(x))
        return self.down(nn.functional.gelu(self.up(x)))


wrong.edits("""
# AsOftenWritten
## no_bend [the-bend]: There is no bend between the two maps, so the plain layer is one matrix and a shift.
- return self.down(F.gelu(hidden))
+ return self.down(hidden)
## activation_at_the_end [common-mistakes]: Your activation has slipped behind the second map, and the hidden numbers
stay unbent.
+ return F.gelu(self.down(hidden))
## bent_twice [common-mistakes]: A second activation sits behind the second map, so no output is far below 0.
+ return F.gelu(self.down(F.gelu(hidden)))
## bent_by_a_relu [the-bend]: You bend with a ReLU, but the plain layer of this course bends with a GELU.
+ return self.down(F.relu(hidden))
## tanh_form [the-bend]: This is the tanh form of the GELU: it agrees with the exact one to about three digits.
+ return self.down(F.gelu(hidden, approximate="tanh"))
## units_compete [hidden-units-are-questions]: A softmax makes your hidden units compete; each of them should answer for
itself.
+ return self.down(hidden.softmax(-1))
## with_a_residual: You add the token itself to its output: that is a residual connection, which this layer does not
contain.
- return self.down(F.gelu(hidden))
+ return x + self.down(F.gelu(hidden))
- return self.down(gate * hidden)
+ return x + self.down(gate * hidden)
## never_comes_back: You return the hidden numbers, and the second map is never used.
- return self.down(F.gelu(hidden))
+ return F.gelu(hidden)
## with_dropout: Your layer drops numbers in train() mode; no dropout is asked for here.
+ return self.down(F.dropout(F.gelu(hidden), 0.1, self.training))
## cut_off: No gradient reaches the first map.
+ return self.down(F.gelu(hidden.detach()))
## pooled [position-wise-and-how-to-test-it]: You average over the tokens before the second map, and so every token gets
the same output.
+ return self.down(F.gelu(hidden).mean(1, keepdim=True).expand_as(hidden))
## along_the_tokens [position-wise-and-how-to-test-it]: You apply the first map along the tokens.
- hidden = self.up(x)
+ hidden = self.up(x.mT).mT
## gelu_for_the_gate [a-gate]: Your gate is bent by a GELU; in SwiGLU it is the SiLU.
- gate = F.silu(self.gate(x))
+ gate = F.gelu(self.gate(x))
## sigmoid_gate [a-gate]: Your gate is a sigmoid alone; the SiLU multiplies it by the number that went in.
+ gate = torch.sigmoid(self.gate(x))
## gate_unbent [a-gate]: Your gate goes through no activation.
+ gate = self.gate(x)
## gate_never_asked [a-gate]: Your gated layer holds a gate and never asks it.
+ gate = F.sigmoid(hidden)
## both_branches_bent [a-gate]: You bend both branches; only the gate should be bent.
- return self.down(gate * hidden)
+ return self.down(gate * F.silu(hidden))
## branches_exchanged [a-gate]: You bend the other branch; it is the gate that should be bent.
- gate = F.silu(self.gate(x))
- return self.down(gate * hidden)
+ return self.down(self.gate(x) * F.silu(hidden))
## branches_added [a-gate]: You add the two branches, but a gate multiplies.
- return self.down(gate * hidden)
+ return self.down(gate + hidden)
## gate_always_there: Your plain layer holds the gate as well, with all its parameters.
- self.gate = nn.Linear(d_model, d_ff, bias=bias) if gated else None
+ self.third = nn.Linear(d_model, d_ff, bias=bias)
+ self.gate = self.third if gated else None
## gate_without_bias: Your gate never has a bias; here it has one like the other maps, unless `bias` is False.
+ self.gate = nn.Linear(d_model, d_ff, bias=False) if gated else None
## always_biases: Your maps have biases whatever `bias` says.
- self.up = nn.Linear(d_model, d_ff, bias=bias)
- self.down = nn.Linear(d_ff, d_model, bias=bias)
+ self.up = nn.Linear(d_model, d_ff)
+ self.down = nn.Linear(d_ff, d_model)
## never_biases: Your maps have no biases whatever `bias` says.
+ self.up = nn.Linear(d_model, d_ff, bias=False)
+ self.down = nn.Linear(d_ff, d_model, bias=False)
## always_four_d: You put 4 D for the hidden width, but it is given.
+ self.up = nn.Linear(d_model, 4 * d_model, bias=bias)
+ self.down = nn.Linear(4 * d_model, d_model, bias=bias)
## gate_overflows [a-gate]: Your SiLU divides one exponential by another, and for a large number both are infinite.
- gate = F.silu(self.gate(x))
+ gate = self.gate(x)
+ gate = gate * gate.exp() / (1 + gate.exp())
## gated_with_dropout: Your gated layer drops numbers in train() mode; no dropout is asked for here.
- return self.down(gate * hidden)
+ return self.down(F.dropout(gate * hidden, 0.1, self.training))
""")
