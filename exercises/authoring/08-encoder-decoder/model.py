"""Exercise 08, question model: the whole encoder–decoder."""

import numpy as np
import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere
from torch import nn

from . import parts
from .parts import Block, DecoderBlock, sinusoids
from .shared import A_MODULE, BRINGS, apart, block, linear, norm, other


def drawn(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, n_layers=2, **options):
    sizes = {"n_source": 19, "n_target": 13, "d_model": d_model, "n_heads": n_heads, "d_ff": 17, "n_layers": n_layers}
    tables = {"embed_source": sizes["n_source"], "embed_target": sizes["n_target"]}
    weights = {f"{name}.weight": rng.normal(size=(n, d_model)) for name, n in tables.items()}
    for layer in range(n_layers):
        weights |= block(rng, f"encoder.{layer}.", d_model, 17, cross=False)
        weights |= block(rng, f"decoder.{layer}.", d_model, 17, cross=True)
    weights |= norm(rng, "norm_source", d_model) | norm(rng, "norm_target", d_model)
    weights |= linear(rng, "head", d_model, sizes["n_target"])
    ids = rng.integers(19, size=(rows, sources)), rng.integers(13, size=(rows, targets))
    return module_call(sizes, ids, weights=weights, **options)


def outputs(rng):
    given = {}, {"targets": 1}, {"n_layers": 1}, {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2}
    return [drawn(rng, **one) for one in (*given, {"targets": 6, "sources": 6})]


def gradients(rng):
    return [drawn(rng, gives="gradients")]


def blind_to_the_future(ask, rng):
    (plan,) = drawn(rng)
    source, target = plan["calls"][0]
    shape = (*target.shape, 13)
    one, two, three = ask(
        {**plan, "calls": [(source, target), (source, other(target, (slice(None), 2))), (source, target[:, :2])]}
    )
    if np.shape(one) != shape:
        return f"For a target of shape {target.shape} the scores should have the shape {shape}; yours {np.shape(one)}."
    if apart(one, two)[:2].any():
        return "Target 2 was changed, and a score at an earlier place moved: it saw the future."
    if not apart(one, two)[2:].all():
        return "Target 2 was changed: the scores at its place and at all later ones should move."
    return (
        "The first two places alone should get the scores that they get in the whole."
        if apart(one[:, :2], three).any()
        else None
    )


def the_source_is_read_in_order(ask, rng):
    (plan,) = drawn(rng)
    source, target = plan["calls"][0]
    one, two, three = ask(
        {**plan, "calls": [(source, target), (other(source, (slice(None), -1)), target), (source[:, ::-1], target)]}
    )
    if not apart(one, two).all():
        return "The last source was changed: the scores at every place should move."
    return None if apart(one, three).any() else "The source backwards gave the same scores: its places are not known."


QUESTION = Question(
    id="model",
    title="The whole transformer",
    name="Transformer",
    minutes=35,
    difficulty=3,
    uses=("cross", "decoder"),
    checks=(
        equals("outputs", 8, outputs, parts.Transformer),
        equals("gradients", 2, gradients, parts.Transformer),
        holds("every parameter", 2, gradients_everywhere(drawn)),
        holds("blind to the future", 4, blind_to_the_future),
        holds("the source is read", 4, the_source_is_read_in_order),
    ),
    hints=(
        "Write down what happens to `source` until it is the memory, and then what happens to `target` until it is "
        "scores. Each list has four entries or five.",
        "`nn.ModuleList` holds the blocks, so that their parameters are found. Which of the two stacks has a triangle?",
        "If only the check of the source fails: are places added on both sides? If only the outputs differ: each stack "
        "ends with a norm of its own.",
    ),
    section="the-whole-transformer-on-one-page",
    brings=BRINGS,
    **A_MODULE,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, n_source, n_target, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        self.embed_source = nn.Embedding(n_source, d_model)
        self.embed_target = nn.Embedding(n_target, d_model)
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for _ in range(n_layers):
            self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
            self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
        self.norm_source, self.norm_target = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_target)

    def forward(self, source, target):
        z = self.embed_source(source)
        z = z + sinusoids(z.shape[1], z.shape[2])
        for layer in self.encoder:
            z = layer(z)
        z = self.norm_source(z)
        y = self.embed_target(target)
        y = y + sinusoids(y.shape[1], y.shape[2])
        for layer in self.decoder:
            y = layer(y, z)
        y = self.norm_target(y)
        return self.head(y)


@right
class InTwoMethods(nn.Module):
    def __init__(self, n_source, n_target, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        for name, n in (("source", n_source), ("target", n_target)):
            self.add_module(f"embed_{name}", nn.Embedding(n, d_model))
            self.add_module(f"norm_{name}", nn.LayerNorm(d_model))
        self.encoder = nn.Sequential(*[Block(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])
        self.decoder = nn.ModuleList(DecoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.head, self.waves = nn.Linear(d_model, n_target), sinusoids(64, d_model)

    def encode(self, ids):
        return self.norm_source(self.encoder(self.embed_source(ids) + self.waves[: ids.shape[1]]))

    def forward(self, source, target):
        memory, stream = self.encode(source), self.embed_target(target) + self.waves[: target.shape[1]]
        for layer in self.decoder:
            stream = layer(stream, memory)
        return self.head(self.norm_target(stream))


@right
class PlaceByPlace(nn.Module):
    def __init__(self, n_source, n_target, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        self.head, self.width = nn.Linear(d_model, n_target), d_model
        self.norm_target, self.norm_source = (nn.LayerNorm(d_model) for _ in range(2))
        self.embed_target, self.embed_source = (nn.Embedding(n, d_model) for n in (n_target, n_source))
        sizes = n_layers * [(d_model, n_heads, d_ff, dropout)]
        self.encoder = nn.ModuleList([Block(*each) for each in sizes])
        self.decoder = nn.ModuleList([DecoderBlock(*each) for each in sizes])

    def forward(self, source, target):
        z = self.embed_source(source) + sinusoids(source.shape[1], self.width)
        for part in self.encoder:
            z = part(z)
        z, found = self.norm_source(z), []
        for n in range(1, target.shape[1] + 1):
            y = self.embed_target(target[:, :n]) + sinusoids(n, self.width)
            for part in self.decoder:
                y = part(y, z)
            found.append(self.head(self.norm_target(y[:, -1])))
        return torch.stack(found, dim=1)


wrong.edits("""
# Plain
## causal_encoder [the-encoder-has-no-mask]: Your encoder is causal; it may read the whole source.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff, dropout, causal=True))
## no_places_in_the_source [four-facts-about-cross-attention]: No places are added to the source, so its order is lost.
- z = z + sinusoids(z.shape[1], z.shape[2])
## no_places_in_the_target: No places are added to the target.
- y = y + sinusoids(y.shape[1], y.shape[2])
## places_by_row: Each row of the batch gets one place; each token of a row should have its own.
- z = z + sinusoids(z.shape[1], z.shape[2])
+ z = z + sinusoids(z.shape[0], z.shape[2])[:, None]
## places_from_the_end [the-incremental-property]: Places are counted from the end, so a new token renumbers the others.
- y = y + sinusoids(y.shape[1], y.shape[2])
+ y = y + sinusoids(y.shape[1], y.shape[2]).flip(0)
## memory_not_normed [blocks-on-blocks]: The norm at the top of the encoder is missing.
- z = self.norm_source(z)
## no_last_norm [blocks-on-blocks]: The norm between the last block and the head is missing.
- y = self.norm_target(y)
## one_last_norm [blocks-on-blocks]: Both stacks end with the same norm.
- y = self.norm_target(y)
+ y = self.norm_source(y)
## norm_in_each_block [blocks-on-blocks]: The last norm is applied after every block.
      z = layer(z)
- z = self.norm_source(z)
+     z = self.norm_source(z)
## memory_of_the_first_layer: The decoder looks at the embedded source; nothing of the encoder is used.
- y = layer(y, z)
+ y = layer(y, self.embed_source(source))
## first_block_alone [blocks-on-blocks]: Only the first block of the decoder is used.
- for layer in self.decoder:
+ for layer in self.decoder[:1]:
## probabilities: You return probabilities; the softmax belongs to the loss.
- return self.head(y)
+ return self.head(y).softmax(-1)
## shifted_inside [two-rows-one-place-apart]: You shift the target inside; it comes with the start token in front.
- y = self.embed_target(target)
+ y = self.embed_target(target.roll(1, dims=1))
## one_table_for_both: The target is looked up in the table of the source.
- y = self.embed_target(target)
+ y = self.embed_source(target)
## embedding_scaled: The embedding is multiplied by the square root of D, as in some models; here it is not.
- z = self.embed_source(source)
+ z = self.embed_source(source) * self.head.in_features**0.5
## no_head: You return the stream instead of a score for each word.
- return self.head(y)
+ return y
""")
