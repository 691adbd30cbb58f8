"""Exercise 08, question model: the whole encoder–decoder."""

import numpy as np
import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere
from torch import nn

from . import parts
from .brought_modules import Block
from .parts import DecoderBlock, sinusoids
from .shared import A_MODULE, BRINGS, adding_nothing, alter, block, differ, linear, norm

RATE = 0.4  # of dropout
LAST = {"encoder": ("attention.out", "feed_forward.down")}  # the last layers of the parts of a block
LAST["decoder"] = (*LAST["encoder"], "cross.out")


def draw_args(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, n_layers=2, **options):
    sizes = {"n_source": 19, "n_target": 13, "d_model": d_model, "n_heads": n_heads, "d_ff": 17, "n_layers": n_layers}
    tables = {"embed_source": sizes["n_source"], "embed_target": sizes["n_target"]}
    weights = {f"{name}.weight": rng.normal(size=(n, d_model)) for name, n in tables.items()}
    for layer in range(n_layers):
        weights |= block(rng, f"encoder.{layer}.", d_model, 17, cross=False)
        weights |= block(rng, f"decoder.{layer}.", d_model, 17, cross=True)
    weights |= norm(rng, "norm_source", d_model) | norm(rng, "norm_target", d_model)
    weights |= linear(rng, "head", d_model, sizes["n_target"])
    ids = rng.integers(19, size=(rows, sources)), rng.integers(13, size=(rows, targets))
    for given in ids:
        given[0, 0] = 0  # a word like any other
    return module_call(sizes, ids, weights=weights, **options)


def outputs(rng):
    given = {}, {"targets": 1}, {"n_layers": 1}, {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2}
    given += {"n_layers": 0}, {"rows": 1}, {"targets": 6, "sources": 6}, {"rows": 1, "targets": 40, "sources": 33}
    cases = [*(draw_args(rng, **one) for one in given), *nearly_alike(rng)]
    return [*cases, draw_args(rng, n_layers=3), draw_args(rng, rows=1, targets=140, sources=150, d_model=6, n_layers=1)]


def nearly_alike(rng):
    """Tables that all but take the positions away again, so that the ε of the norm at the end of a stack counts."""
    for side, n_layers in (("source", 1), ("target", 0)):
        (plan,) = draw_args(rng, n_layers=n_layers)
        weights = adding_nothing(plan["weights"], *(f"encoder.0.{last}" for last in LAST["encoder"] if n_layers))
        weights[f"embed_{side}.weight"][:5] = 0.02 * rng.normal(size=(5, 12)) - parts.sinusoids(5, 12).numpy()
        yield ({**plan, "weights": weights, "calls": [2 * (np.arange(5)[None],)]},)


def nothing_dropped(rng):
    """In train() mode, with a rate of 0, given or not."""
    (plan,) = draw_args(rng, training=True)
    return [(plan,), ({**plan, "sizes": plan["sizes"] | {"dropout": 0.0}},)]


def dropped_in_the_blocks(ask, rng):
    """One block after the other adds something to its stream, and the others nothing."""
    (plan,) = draw_args(rng, rows=6)
    ends = {f"{stack}.{i}": [f"{stack}.{i}.{last}" for last in LAST[stack]] for stack in LAST for i in (0, 1)}
    glancing = "decoder.0.cross.out.weight"

    def moves(alone):
        """Whether the scores are others in train() mode, beyond a glance at the memory that the decoder may drop."""
        weights = adding_nothing(plan["weights"], *(end for block in ends if block != alone for end in ends[block]))
        asked = {**plan, "sizes": plan["sizes"] | {"dropout": RATE}, "weights": weights}
        beside, still = not alone.startswith("decoder"), []
        for glance in (0, 1 / (1 - RATE), 1) if beside else (1,):  # dropped, kept and scaled up, as it is
            if beside:
                weights[glancing][0] = glance * plan["weights"][glancing][0]  # one feature, all of it or none
            still.append(ask(asked))
        came = ask({**asked, "training": True})
        return np.min([np.abs(came - one).max(axis=2) for one in still], axis=0).max() > 1e-4

    moving = {alone: moves(alone) for alone in ("", *ends)}
    if moving[""]:
        return "With blocks that add nothing, train() mode changes the scores: more is dropped, or at another rate."
    still = [block.replace(".", "[") + "]" for block in ends if not moving[block]]
    return f"With dropout={RATE} in train() mode nothing is dropped in {', '.join(still)}." if still else None


def gradients(rng):
    return [draw_args(rng, gives="gradients")]


def blind_to_the_future(ask, rng):
    (plan,) = draw_args(rng)
    source, target = plan["calls"][0]
    shape = (*target.shape, 13)
    one, two, three = ask(
        {**plan, "calls": [(source, target), (source, alter(target, (slice(None), 2))), (source, target[:, :2])]}
    )
    if np.shape(one) != shape:
        return f"For a target of shape {target.shape} the scores should have the shape {shape}; yours {np.shape(one)}."
    if differ(one, two)[:2].any():
        return "Target 2 was changed, and a score at an earlier position moved: it saw the future."
    if not differ(one, two)[2:].all():
        return "Target 2 was changed: the scores at its position and at all later ones should move."
    return (
        "The first two positions alone should get the scores that they get in the whole."
        if differ(one[:, :2], three).any()
        else None
    )


def the_source_is_read_in_order(ask, rng):
    (plan,) = draw_args(rng)
    source, target = plan["calls"][0]
    one, two, three = ask(
        {**plan, "calls": [(source, target), (alter(source, (slice(None), -1)), target), (source[:, ::-1], target)]}
    )
    if not differ(one, two).all():
        return "The last source was changed: the scores at every position should move."
    return None if differ(one, three).any() else "The source backwards gave the same scores: its positions are unknown."


QUESTION = Question(
    id="model",
    title="The whole transformer",
    name="Transformer",
    minutes=35,
    difficulty=3,
    leans_on=("cross", "decoder"),
    checks=with_battery(
        equals("outputs", 6, outputs, parts.Transformer),
        equals("gradients", 2, gradients, parts.Transformer),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        equals("without dropout", 1, nothing_dropped, parts.Transformer),
        holds("dropout", 3, dropped_in_the_blocks),
        holds("blind to the future", 3, blind_to_the_future),
        holds("the source is read", 4, the_source_is_read_in_order),
        off={"many tokens": "the first comparison has 150 tokens, and the blocks are asked for more"},
    ),
    hints=(
        "Write down what happens to `source` until it is the memory, and then what happens to `target` until it is "
        "scores. Each list has four entries or five.",
        "`nn.ModuleList` holds the blocks, so that their parameters are found. Which of the two stacks has a triangle?",
        "If the check of the source fails: are positions added on both sides? If no gradient reaches a norm: each "
        "stack ends with its own.",
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
        self.head, self.waves = nn.Linear(d_model, n_target), sinusoids(1000, d_model)

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
## both_embeddings_scaled: Both embeddings are multiplied by the square root of D, as in some models; here they are not.
- z = self.embed_source(source)
+ z = self.embed_source(source) * self.head.in_features**0.5
- y = self.embed_target(target)
+ y = self.embed_target(target) * self.head.in_features**0.5
## one_block_in_each_stack [blocks-on-blocks]: Each stack runs one and the same block again and again; every layer has
weights of its own.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(self.encoder[0] if len(self.encoder) else Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.decoder.append(self.decoder[0] if len(self.decoder) else DecoderBlock(d_model, n_heads, d_ff, dropout))
## target_places_by_row: Each row of the target gets one position; each token of a row should have its own.
- y = y + sinusoids(y.shape[1], y.shape[2])
+ y = y + sinusoids(y.shape[0], y.shape[2])[:, None]
## causal_encoder [encoder-and-decoder-together]: Your encoder is causal; it may read the whole source.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff, dropout, causal=True))
## no_places_in_the_source [four-facts-about-cross-attention]: No positions are added to the source: its order is lost.
- z = z + sinusoids(z.shape[1], z.shape[2])
## no_places_in_the_target: No positions are added to the target.
- y = y + sinusoids(y.shape[1], y.shape[2])
## places_by_row: Each row of the batch gets one position; each token of a row should have its own.
- z = z + sinusoids(z.shape[1], z.shape[2])
+ z = z + sinusoids(z.shape[0], z.shape[2])[:, None]
## places_from_the_end [the-incremental-property]: Positions count from the end, so a new token renumbers the others.
- y = y + sinusoids(y.shape[1], y.shape[2])
+ y = y + sinusoids(y.shape[1], y.shape[2]).flip(0)
## memory_not_normed [blocks-on-blocks]: The norm at the top of the encoder is missing.
- z = self.norm_source(z)
## no_last_norm [blocks-on-blocks]: The norm between the last block and the head is missing.
- y = self.norm_target(y)
## one_last_norm [blocks-on-blocks]: Both stacks end with the same norm.
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
## shifted_inside [two-rows-one-position-apart]: You shift the target inside; it comes with the start token in front.
- y = self.embed_target(target)
+ y = self.embed_target(target.roll(1, dims=1))
## one_table_for_both: The target is looked up in the table of the source.
+ y = self.embed_source(target)
## embedding_scaled: The embedding is multiplied by the square root of D, as in some models; here it is not.
- z = self.embed_source(source)
+ z = self.embed_source(source) * self.head.in_features**0.5
## dropout_kept_back [the-whole-block]: Your blocks never hear of `dropout`.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff))
## no_dropout_in_the_encoder: The blocks of the encoder never hear of `dropout`.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff))
## no_dropout_in_the_decoder: The blocks of the decoder never hear of `dropout`.
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff))
## always_a_tenth: The dropout of your blocks is 0.1, whatever `dropout` says.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff, 0.1))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, 0.1))
## a_tenth_unasked: Without the argument `dropout` a tenth is dropped; nothing should be.
- def __init__(self, n_source, n_target, d_model, n_heads, d_ff, n_layers, dropout=0.0):
+ def __init__(self, n_source, n_target, d_model, n_heads, d_ff, n_layers, dropout=0.1):
## rate_for_causal: The rate is handed to the encoder's blocks as `causal`, not as `dropout`.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff, causal=dropout))
## words_dropped: Dropout acts on the embedded words as well; drop nothing outside the blocks.
- y = y + sinusoids(y.shape[1], y.shape[2])
+ y = nn.functional.dropout(y + sinusoids(y.shape[1], y.shape[2]), self.p, self.training)
...
- self.head = nn.Linear(d_model, n_target)
+ self.head, self.p = nn.Linear(d_model, n_target), dropout
## memory_dropped: Dropout acts on the memory as well; drop nothing outside the blocks.
- self.head = nn.Linear(d_model, n_target)
+ self.head, self.drop = nn.Linear(d_model, n_target), nn.Dropout(dropout)
- z = self.norm_source(z)
+ z = self.drop(self.norm_source(z))
## last_stream_dropped: Dropout acts on what the head reads; drop nothing outside the blocks.
- self.head = nn.Linear(d_model, n_target)
+ self.head, self.drop = nn.Linear(d_model, n_target), nn.Dropout(dropout)
- return self.head(y)
+ return self.head(self.drop(y))
## source_padded: You take word 0 of the source for padding, whose row is never learned; there is no padding here.
- self.embed_source = nn.Embedding(n_source, d_model)
+ self.embed_source = nn.Embedding(n_source, d_model, padding_idx=0)
## target_padded: You take word 0 of the target for padding, whose row is never learned; there is no padding here.
- self.embed_target = nn.Embedding(n_target, d_model)
+ self.embed_target = nn.Embedding(n_target, d_model, padding_idx=0)
## word_0_hidden: Word 0 of the source is set to zero, as if it were padding; there is no padding here.
- z = self.embed_source(source)
+ z = self.embed_source(source) * (source != 0)[..., None]
## few_places: You made positions for 32 tokens, and a sequence may be longer.
- y = y + sinusoids(y.shape[1], y.shape[2])
+ y = y + sinusoids(32, y.shape[2])[: y.shape[1]]
## places_of_the_source: The target gets as many positions as the source has tokens.
+ y = y + sinusoids(z.shape[1], z.shape[2])[: y.shape[1]]
## places_in_each_layer: Positions are added before every block of the encoder; add them once.
- z = layer(z)
+ z = layer(z + sinusoids(z.shape[1], z.shape[2]))
## layer_beside_layer: A block of the decoder reads its partner in the encoder; all should read the memory.
- z = layer(z)
+ z = layer.gave = layer(z)
- y = layer(y, z)
+ y = layer(y, self.norm_source(self.encoder[list(self.decoder).index(layer)].gave))
## one_block_repeated: The encoder runs one and the same block again and again; each of its blocks has its own weights.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(self.encoder[0] if len(self.encoder) else Block(d_model, n_heads, d_ff, dropout))
## tied: The head is the table of the target words; here it has weights of its own.
- return self.head(y)
+ return y @ self.embed_target.weight.T + self.head.bias
## memory_of_the_first_call: The memory of the first call is kept and looked at in the later ones, too.
- z = self.norm_source(z)
+ z = self.memory = getattr(self, "memory", self.norm_source(z))
## memory_detached: The memory is detached: the encoder learns nothing.
+ z = self.norm_source(z).detach()
## softmax_in_training: In train() mode you return probabilities; the softmax belongs to the loss.
- return self.head(y)
+ return self.head(y).softmax(-1) if self.training else self.head(y)
## log_probabilities: You return the logarithms of probabilities; the softmax belongs to the loss.
+ return self.head(y).log_softmax(-1)
## batch_of_one_squeezed: You drop the axis of the batch where there is one sequence alone.
+ return self.head(y).squeeze(0)
## small_epsilon: The ε of the norm at the end of a stack is not 0.00001.
- self.norm_source, self.norm_target = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
+ self.norm_source, self.norm_target = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model)
## no_head: You return the stream instead of a score for each word.
- return self.head(y)
+ return y
## table_of_places_too_short: Your table of positions is too short; sequences may be of any length.
- z = z + sinusoids(z.shape[1], z.shape[2])
+ z = z + sinusoids(100, z.shape[2])[: z.shape[1]]
""")
