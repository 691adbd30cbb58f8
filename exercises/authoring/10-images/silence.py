"""Exercise 10, question silence: a head that says nothing, by a hook."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import rows_independent

from .parts import BRINGS, ViT


class Silenced(ViT):
    """The features of one head are 0 where the attention's last map takes them."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, head):
        super().__init__(n_pixels, n_patches, d_model, n_heads, n_labels)
        width = d_model // n_heads
        self.features = slice(head * width, (head + 1) * width)
        self.block.attention.out.register_forward_pre_hook(self.without_head)

    def without_head(self, layer, given):
        (x,) = given
        x = x.clone()
        x[..., self.features] = 0.0
        return (x,)


def draw_args(rng, rows=3, n_patches=5, n_pixels=7, d_model=12, n_heads=3, n_labels=4, head=1, **options):
    sizes = {"n_pixels": n_pixels, "n_patches": n_patches, "d_model": d_model, "n_heads": n_heads}
    sizes |= {"n_labels": n_labels}
    shapes = {name: tuple(weight.shape) for name, weight in ViT(**sizes).named_parameters()}
    weights = {
        name: rng.normal(size=shape) / (shape[1] ** 0.5 if len(shape) == 2 else 1) for name, shape in shapes.items()
    }
    weights["block.attention.out.weight"] = rng.normal(size=(d_model, d_model))
    return module_call(
        sizes | {"head": head}, (rng.normal(size=(rows, n_patches, n_pixels)),), weights=weights, **options
    )


def every_head(rng):
    return [
        *(draw_args(rng, head=head) for head in range(3)),
        draw_args(rng, n_heads=2, head=1, n_patches=1),
        draw_args(rng, d_model=8, n_heads=4, head=2, rows=1, training=True),
    ]


def one_head(rng):
    """Where there is one head alone, attention adds its bias to every token and nothing else."""
    return [draw_args(rng, n_heads=1, head=0), draw_args(rng, d_model=5, n_heads=1, head=0, n_patches=11)]


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, n_heads=4, head=0, gives="gradients")]


def second_call(rng):
    """Two batches, one after the other."""
    (plan,) = draw_args(rng)
    (patches,) = plan["calls"][0]
    return [({**plan, "calls": [(patches,), (2 * patches[:2],)]},)]


QUESTION = Question(
    id="silence",
    title="Silence a head",
    name="Silenced",
    minutes=25,
    difficulty=2,
    leans_on=("vit",),
    checks=with_battery(
        equals("every head", 4, every_head, Silenced),
        equals("the only head", 2, one_head, Silenced),
        equals("gradients", 2, gradients, Silenced),
        equals("another batch", 1, second_call, Silenced),
        holds("rows of the batch", 1, rows_independent(draw_args)),
    ),
    hints=(
        "class Silenced(ViT): let super().__init__ build all of it, and register a hook behind that.",
        "The heads stand side by side in what block.attention.out is given: K features each, in their order. The hook "
        "gets it as a tuple of one tensor.",
        "Copy the tensor with clone(), set the columns of the head to 0 in the copy, and return the copy in a tuple.",
    ),
    section="what-the-class-token-looks-at",
    brings=BRINGS,
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
)

right, wrong = answers_to(QUESTION)
right(Silenced)


@right
class Masked(ViT):
    """A mask of ones and zeros, by which the hook multiplies."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, head):
        super().__init__(n_pixels, n_patches, d_model, n_heads, n_labels)
        keep = (torch.arange(d_model) // (d_model // n_heads) != head).to(torch.float64)

        def hook(layer, given):
            return given[0] * keep.to(given[0].dtype)

        self.block.attention.out.register_forward_pre_hook(hook)


@right
class Subtracted(ViT):
    """What the head has added is taken away behind the last map."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, head):
        super().__init__(n_pixels, n_patches, d_model, n_heads, n_labels)
        width = d_model // n_heads
        start, stop = head * width, (head + 1) * width

        def hook(layer, given, out):
            return out - given[0][..., start:stop] @ layer.weight[:, start:stop].T

        self.block.attention.out.register_forward_hook(hook)


wrong.edits("""
# Masked
## others_silenced: You silence all heads but this one.
- keep = (torch.arange(d_model) // (d_model // n_heads) != head).to(torch.float64)
+ keep = (torch.arange(d_model) // (d_model // n_heads) == head).to(torch.float64)
## next_head: You silence the head before it: heads are counted from 0.
- keep = (torch.arange(d_model) // (d_model // n_heads) != head).to(torch.float64)
+ keep = (torch.arange(d_model) // (d_model // n_heads) != (head - 1) % n_heads).to(torch.float64)
## every_nth_feature: You take every H-th feature; those of a head stand together.
- keep = (torch.arange(d_model) // (d_model // n_heads) != head).to(torch.float64)
+ keep = (torch.arange(d_model) % n_heads != head).to(torch.float64)
## one_feature: You silence one feature; a head has K of them.
- keep = (torch.arange(d_model) // (d_model // n_heads) != head).to(torch.float64)
+ keep = (torch.arange(d_model) != head * (d_model // n_heads)).to(torch.float64)
## all_heads: You silence all heads.
- keep = (torch.arange(d_model) // (d_model // n_heads) != head).to(torch.float64)
+ keep = torch.zeros(d_model, dtype=torch.float64)
## behind_the_map: You set features to 0 behind the last map, which has mixed the heads by then.
- def hook(layer, given):
-     return given[0] * keep.to(given[0].dtype)
+ def hook(layer, given, out):
+     return out * keep.to(out.dtype)
- self.block.attention.out.register_forward_pre_hook(hook)
+ self.block.attention.out.register_forward_hook(hook)
## queries_silenced: You set the head's queries to 0: it looks everywhere alike, and still speaks.
- def hook(layer, given):
-     return given[0] * keep.to(given[0].dtype)
+ def hook(layer, given, out):
+     return out * keep.to(out.dtype)
- self.block.attention.out.register_forward_pre_hook(hook)
+ self.block.attention.query.register_forward_hook(hook)
## nothing_returned: The head still speaks: register the hook, and let it return what it changed; the weights that
you set to 0 are replaced.
- return given[0] * keep.to(given[0].dtype)
+ given[0] * keep.to(given[0].dtype)
## louder_rest: You scale the other heads up; they should say what they said.
- return given[0] * keep.to(given[0].dtype)
+ return given[0] * keep.to(given[0].dtype) * n_heads / max(n_heads - 1, 1)
## mean_in_place: You put the head's mean over the tokens in its place; silent means 0.
- return given[0] * keep.to(given[0].dtype)
+ kept = keep.to(given[0].dtype)
+ return given[0] * kept + given[0].mean(dim=1, keepdim=True) * (1 - kept)
## no_gradient: Your hook cuts off the gradient of the other heads as well.
- return given[0] * keep.to(given[0].dtype)
+ return given[0].detach() * keep.to(given[0].dtype)
## only_once: Your hook acts in the first call and never again.
- return given[0] * keep.to(given[0].dtype)
+ self.calls = getattr(self, "calls", 0) + 1
+ return given[0] * keep.to(given[0].dtype) if self.calls == 1 else given[0]
## in_training_alone: Your hook acts in train() mode alone.
- return given[0] * keep.to(given[0].dtype)
+ return given[0] * keep.to(given[0].dtype) if self.training else given[0]
## bias_silenced: You take the bias of the last map away, too; it belongs to no head.
- self.block.attention.out.register_forward_pre_hook(hook)
+ self.block.attention.out.register_forward_pre_hook(hook)
+ self.block.attention.out.register_forward_hook(lambda layer, given, out: out - layer.bias)
""")
