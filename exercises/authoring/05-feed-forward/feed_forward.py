"""Exercise 05, question feed-forward: the layer as a module."""

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
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


# the last has units where the two GELUs differ most
batches = varied(draw_layer, {}, {"tokens": 1}, {"scale": 30.0, "training": True}, {"scale": 0.3, "shift": 2.5})
one_text = varied(draw_layer, {"axes": 1}, {"axes": 1, "tokens": 1}, {"axes": 0})


def all_sizes_equal(rng):
    return [draw_layer(rng, sizes=4 * [size]) for size in draw_sizes(rng, 2)]


QUESTION = Question(
    id="feed-forward",
    title="The layer",
    name="FeedForward",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("outputs", 3, batches, Reference),
        equals("a text alone", 1, one_text, Reference),
        equals("gradients", 1, varied(draw_layer, {"gives": "gradients"}), Reference),
        equals("equal sizes", 1, all_sizes_equal, Reference),
        holds("every token alone", 1, every_token_alone(draw_layer)),
        holds("parameters", 1, parameter_count(draw_layer, lambda d_model, d_ff: 2 * d_model * d_ff + d_ff + d_model)),
    ),
    hints=(
        "Two maps in the constructor, and one line in `forward`. Which of the two widths comes first in each map?",
        "`nn.Linear` works on the last axis and leaves all axes in front of it alone, so the layer needs no loop over "
        "tokens and no reshape.",
        "Say aloud what happens to one token: it becomes F numbers, each of them goes through the GELU, and D numbers "
        "come out. Nothing is done to the D numbers afterwards.",
    ),
    section="the-layer-in-pytorch",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="there is no softmax"),
    how="module",
)

right, wrong = answers_to(QUESTION)


@right
class AsOftenWritten(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.up(x)
        return self.down(F.gelu(hidden))


@right
class ByTheFormula(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        for name, sizes in {"up": (d_model, d_ff), "down": (d_ff, d_model)}.items():
            self.add_module(name, nn.Linear(*sizes))

    def forward(self, x):
        z = self.up(x)
        return self.down(z * (1 + torch.erf(z / 2**0.5)) / 2)


@right
class OwnMaps(nn.Module):
    class Map(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(d_out, d_in) / d_in**0.5)
            self.bias = nn.Parameter(torch.zeros(d_out))

        def forward(self, x):
            return torch.einsum("...d,fd->...f", x, self.weight) + self.bias

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up, self.down = self.Map(d_model, d_ff), self.Map(d_ff, d_model)

    def forward(self, x):
        return self.down(nn.GELU()(self.up(x)))


wrong.edits("""
# AsOftenWritten
## no_bend [the-bend-relu-gelu-silu]: There is no nonlinearity between the two maps, so the layer is one matrix and a
shift.
- return self.down(F.gelu(hidden))
+ return self.down(hidden)
## activation_at_the_end [common-mistakes]: Your activation has slipped behind the second map, and the hidden numbers
go into it unbent.
+ return F.gelu(self.down(hidden))
## bent_twice [common-mistakes]: A second activation sits behind the second map, so no output is far below 0.
+ return F.gelu(self.down(F.gelu(hidden)))
## bent_by_a_relu [the-bend-relu-gelu-silu]: You bend with a ReLU; the layer of this course has a GELU.
+ return self.down(F.relu(hidden))
## relu_squared [a-gate-swiglu]: You square a ReLU, as some models do; the layer of this course has a GELU.
+ return self.down(F.relu(hidden).square())
## bent_by_a_silu [a-gate-swiglu]: You bend with the SiLU, which belongs to the gate; the plain layer has a GELU.
+ return self.down(F.silu(hidden))
## tanh_form [the-bend-relu-gelu-silu]: This is the tanh form of the GELU: it agrees with the exact one to about three
digits.
+ return self.down(F.gelu(hidden, approximate="tanh"))
## units_compete [hidden-units-are-questions]: A softmax makes your hidden units compete; each of them should answer for
itself.
+ return self.down(hidden.softmax(-1))
## with_a_residual: You add the token itself to its output: that is a residual connection, which this layer does not
contain.
+ return x + self.down(F.gelu(hidden))
## never_comes_back: You return the hidden numbers, and the second map is never used.
+ return F.gelu(hidden)
## with_dropout: Your layer drops numbers in train() mode; no dropout is asked for here.
+ return self.down(F.dropout(F.gelu(hidden), 0.1, self.training))
## cut_off: No gradient reaches the first map.
+ return self.down(F.gelu(hidden.detach()))
## pooled [position-wise-and-how-to-test-it]: You average over the tokens before the second map, and so every token gets
the same output.
+ return self.down(F.gelu(hidden).mean(-2, keepdim=True).expand_as(hidden))
## along_the_tokens [position-wise-and-how-to-test-it]: You apply the first map along the tokens.
- hidden = self.up(x)
+ hidden = self.up(x.mT).mT
## three_axes_wanted: Your layer fails for a text without a batch, N × D: `nn.Linear` takes any axes in front.
+ B, N, D = x.shape
+ hidden = self.up(x)
## no_biases: Your maps have no biases; here each has one.
- self.up = nn.Linear(d_model, d_ff)
- self.down = nn.Linear(d_ff, d_model)
+ self.up = nn.Linear(d_model, d_ff, bias=False)
+ self.down = nn.Linear(d_ff, d_model, bias=False)
## always_four_d: You put 4 D for the hidden width, but it is given.
+ self.up = nn.Linear(d_model, 4 * d_model)
+ self.down = nn.Linear(4 * d_model, d_model)
## widths_exchanged: Your widths have changed places: the first map goes from D to F, the second one back.
+ self.up = nn.Linear(d_ff, d_model)
+ self.down = nn.Linear(d_model, d_ff)
## with_a_gate [a-gate-swiglu]: Your layer holds a third map, a gate; it belongs to the next question's class.
+ self.up = nn.Linear(d_model, d_ff)
+ self.gate = nn.Linear(d_model, d_ff)
+ self.down = nn.Linear(d_ff, d_model)
""")
