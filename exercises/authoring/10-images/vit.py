"""Exercise 10, question vit: a vision transformer as a module."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere, parameter_count, rows_independent
from torch import nn

from .parts import BRINGS, Block, ViT

LAST = "attention.out", "feed_forward.down"  # the last layers of the parts of a block


def draw_args(rng, rows=3, n_patches=5, n_pixels=7, d_model=6, n_heads=2, n_labels=4, mean=False, **options):
    sizes = {"n_pixels": n_pixels, "n_patches": n_patches, "d_model": d_model, "n_heads": n_heads}
    sizes |= {"n_labels": n_labels} | ({"mean": True} if mean else {})
    shapes = {name: tuple(weight.shape) for name, weight in ViT(**sizes).named_parameters()}
    weights = {
        name: rng.normal(size=shape) / (shape[1] ** 0.5 if len(shape) == 2 else 1) for name, shape in shapes.items()
    }
    weights["positions"] = rng.normal(size=shapes["positions"])
    return module_call(sizes, (rng.normal(size=(rows, n_patches, n_pixels)),), weights=weights, **options)


def by_class_token(rng):
    alike = {"rows": 5, "n_patches": 5, "n_pixels": 5, "d_model": 5, "n_heads": 1, "n_labels": 5}
    return [
        draw_args(rng),
        draw_args(rng, n_patches=1),
        draw_args(rng, rows=1, n_patches=11, d_model=9, n_heads=3),
        draw_args(rng, **alike, training=True),
        nearly_alike(rng),
    ]


def by_mean(rng):
    return [
        draw_args(rng, mean=True),
        draw_args(rng, n_patches=1, mean=True),
        draw_args(rng, n_patches=11, n_labels=2, mean=True),
    ]


def nearly_alike(rng):
    """Numbers so close to each other that the ε of the norm counts: the block adds nothing."""
    (plan,) = draw_args(rng)
    faint = {name: 4e-3 * plan["weights"][name] for name in ("embed.weight", "embed.bias", "class_token", "positions")}
    silent = (f"block.{last}.{kind}" for last in LAST for kind in ("weight", "bias"))
    return ({**plan, "weights": plan["weights"] | faint | {name: 0 * plan["weights"][name] for name in silent}},)


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, mean=True, gives="gradients")]


def of_the_class_token(rng):
    return draw_args(rng)


def count(n_pixels, n_patches, d_model, n_heads, n_labels):
    block = 4 * (d_model**2 + d_model) + 2 * d_model**2 * 2 + 3 * d_model + 4 * d_model
    return (
        (n_pixels + 1) * d_model + d_model + (1 + n_patches) * d_model + block + 2 * d_model + (d_model + 1) * n_labels
    )


def the_start(ask, rng):
    """Another order of the patches changes what a fresh head reads: its gradient shows it, where it is zero, too."""
    (plan,) = draw_args(rng, gives="gradients")
    (patches,) = plan["calls"][0]
    orders = [(patches,)], [(patches[:, ::-1].copy(),)]
    came = [ask({**plan, "weights": None, "calls": calls}).get("head.weight", 0.0) for calls in orders]
    if np.abs(came[0] - came[1]).max() < 1e-5:
        return "In a fresh module the order of the patches changes nothing: draw the positions at random, not as zeros."
    one, other = (ask({**plan, "weights": None, "gives": "output", "seed": seed}) for seed in (0, 1))
    if np.ptp(one) > 0 and np.array_equal(one, other):
        return "Two fresh modules are alike: draw the positions at random, and leave the seed of the generator alone."
    return None


QUESTION = Question(
    id="vit",
    title="A vision transformer as a module",
    name="ViT",
    minutes=35,
    difficulty=2,
    checks=with_battery(
        equals("the class token is read", 5, by_class_token, ViT),
        equals("the mean is read", 3, by_mean, ViT),
        equals("gradients", 2, gradients, ViT),
        holds("rows of the batch", 1, rows_independent(of_the_class_token)),
        holds("every parameter", 1, gradients_everywhere(of_the_class_token)),
        holds("parameters", 1, parameter_count(of_the_class_token, count)),
        holds("a fresh one", 1, the_start),
    ),
    hints=(
        "Five steps: embed the patches, class token in front, add the positions, block and norm, read and head.",
        "expand makes a class token for every picture of the batch without copying it: B × 1 × D.",
        "With mean=True the class token is still there and takes part in attention; the mean leaves it out.",
    ),
    section="built-from-your-own-blocks",
    brings=BRINGS,
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
)

right, wrong = answers_to(QUESTION)
right(ViT)


@right
class Filled(nn.Module):
    """An empty array, filled piece by piece."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, mean=False):
        super().__init__()
        self.positions = nn.Parameter(torch.randn(n_patches + 1, d_model))
        self.class_token = nn.Parameter(torch.randn(d_model))
        self.embed, self.norm = nn.Linear(n_pixels, d_model), nn.LayerNorm(d_model)
        self.block = Block(d_model, n_heads, d_model * 2)
        self.head = nn.Linear(d_model, n_labels)
        self.read = slice(1, None) if mean else slice(0, 1)

    def forward(self, patches):
        x = patches.new_empty(len(patches), len(self.positions), len(self.class_token))
        x[:, 0] = self.class_token
        x[:, 1:] = self.embed(patches)
        return self.head(self.norm(self.block(x + self.positions))[:, self.read].mean(1))


@right
class Padded(nn.Module):
    """The mean of the head's scores is the score of the mean."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, mean=False):
        super().__init__()
        self.embed = nn.Linear(n_pixels, d_model)
        self.positions = nn.Parameter(torch.rand(1 + n_patches, d_model))
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.block = Block(d_model, n_heads, 2 * d_model)
        self.norm, self.head, self.mean = nn.LayerNorm(d_model), nn.Linear(d_model, n_labels), mean

    def forward(self, patches):
        tokens = [self.class_token.repeat(len(patches), 1)] + [self.embed(p) for p in patches.unbind(1)]
        scores = self.head(self.norm(self.block(torch.stack(tokens, 1) + self.positions)))
        return scores[:, 1:].mean(1) if self.mean else scores[:, 0]


@right
class Separate(nn.Module):
    """Positions are added to the two kinds of token before they meet."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, mean=False):
        super().__init__()
        self.embed = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn(1 + n_patches, d_model))
        self.block, self.norm = Block(d_model, n_heads, 2 * d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_labels)
        self.mean = mean

    def forward(self, patches):
        first = (self.class_token + self.positions[0]).expand(len(patches), 1, -1)
        x = self.embed(patches) + self.positions[1:]
        x = torch.cat([first, x], dim=1)
        x = self.norm(self.block(x))
        h = x[:, 1:].mean(dim=1) if self.mean else x[:, 0]
        return self.head(h)


wrong.edits("""
# ViT
## class_token_behind: Your class token stands behind the patches, and is read there. It stands in front of them, as
token 0, so that the first position is its own.
- x = torch.cat([first, self.embed(patches)], dim=1) + self.positions
+ x = torch.cat([self.embed(patches), first], dim=1) + self.positions
- return self.head(x[:, 1:].mean(dim=1) if self.mean else x[:, 0])
+ return self.head(x[:, :-1].mean(dim=1) if self.mean else x[:, -1])
# Separate
## class_token_last: The class token stands behind the patches; it is token 0.
- x = torch.cat([first, x], dim=1)
+ x = torch.cat([x, first], dim=1)
## class_token_cut_off: With mean=True no gradient reaches your class token, though it takes part in attention.
- x = torch.cat([first, x], dim=1)
+ x = torch.cat([first.detach() if self.mean else first, x], dim=1)
## class_token_left_out: With mean=True your class token takes no part in attention; only the mean leaves it out.
- x = self.norm(self.block(x))
- h = x[:, 1:].mean(dim=1) if self.mean else x[:, 0]
+ x = self.norm(self.block(x[:, 1:] if self.mean else x))
+ h = x.mean(dim=1) if self.mean else x[:, 0]
## no_positions [a-bag-of-patches]: No position is added to the patches, so the model sees a bag of patches.
- x = self.embed(patches) + self.positions[1:]
+ x = self.embed(patches) + 0 * self.positions[1:]
## class_token_without_position: The class token has a position, too, the first row; yours has none.
- first = (self.class_token + self.positions[0]).expand(len(patches), 1, -1)
+ first = (self.class_token + 0 * self.positions[0]).expand(len(patches), 1, -1)
## positions_one_too_early: The patches get the positions from the first row on, but that belongs to the class token.
- x = self.embed(patches) + self.positions[1:]
+ x = self.embed(patches) + self.positions[:-1]
## mean_of_all [class-token-mean-or-sum]: With mean=True the class token is in your mean; only the patches belong there.
- h = x[:, 1:].mean(dim=1) if self.mean else x[:, 0]
+ h = x.mean(dim=1) if self.mean else x[:, 0]
## sum_for_mean [class-token-mean-or-sum]: You take the sum over the patches, which grows with their number.
+ h = x[:, 1:].sum(dim=1) if self.mean else x[:, 0]
## always_mean: You read the mean although mean is False.
+ h = x[:, 1:].mean(dim=1)
## never_mean: With mean=True you still read the class token.
+ h = x[:, 0]
## last_patch_read: You read the last token, a patch; the class token comes first.
+ h = x[:, 1:].mean(dim=1) if self.mean else x[:, -1]
## first_patch_read: You read token 1, the first patch; the class token is token 0.
+ h = x[:, 1:].mean(dim=1) if self.mean else x[:, 1]
## mean_over_features: Your mean runs over the features and leaves one number per token; it should run over the patches.
+ h = x[:, 1:].mean(dim=2, keepdim=True).expand(-1, -1, x.shape[2])[:, 0] if self.mean else x[:, 0]
## norm_left_out: The norm between block and head is left out.
- x = self.norm(self.block(x))
+ x = self.block(x) + 0 * self.norm(x)
## norm_too_early: The norm comes before the block; it belongs behind it.
+ x = self.block(self.norm(x))
## block_left_out: The block is never called: no token sees another one.
+ x = self.norm(x)
## softmax_inside: You return probabilities; the scores are asked for, since the loss has a softmax of its own.
- return self.head(h)
+ return self.head(h).softmax(dim=1)
## class_token_added: The class token is added to each patch as well as put in front.
- x = self.embed(patches) + self.positions[1:]
+ x = self.embed(patches) + self.positions[1:] + self.class_token
## causal_block [what-the-class-token-looks-at]: Your block is causal: the class token stands first, and sees
nothing but itself.
- x = self.norm(self.block(x))
+ past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
+ x = self.norm(self.block(x, past))
## positions_from_zero: The positions begin as zeros, all alike: a fresh module cannot tell one order from another.
- self.positions = nn.Parameter(torch.randn(1 + n_patches, d_model))
+ self.positions = nn.Parameter(torch.zeros(1 + n_patches, d_model))
## seed_set: You set the seed of the generator, so that every fresh module is the same.
- self.embed = nn.Linear(n_pixels, d_model)
+ torch.manual_seed(0)
+ self.embed = nn.Linear(n_pixels, d_model)
## small_epsilon: The ε of your norm after the block is not 0.00001.
- self.block, self.norm = Block(d_model, n_heads, 2 * d_model), nn.LayerNorm(d_model)
+ self.block, self.norm = Block(d_model, n_heads, 2 * d_model), nn.LayerNorm(d_model, eps=1e-6)
## dropout_of_its_own: In train() mode your module drops something; no dropout is asked for.
- return self.head(h)
+ return self.head(torch.nn.functional.dropout(h, 0.1, self.training))
## norm_after_the_mean: With mean=True you normalise the mean; the norm comes first, for each token, and then the mean.
- x = self.norm(self.block(x))
- h = x[:, 1:].mean(dim=1) if self.mean else x[:, 0]
+ x = self.block(x)
+ h = self.norm(x[:, 1:].mean(dim=1) if self.mean else x[:, 0])
""")
