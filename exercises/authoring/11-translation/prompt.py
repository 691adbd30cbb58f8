"""Exercise 11, question prompt: a decoder alone, called like an encoder–decoder."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere, rows_independent
from torch import nn

from . import parts
from .parts import CausalBlock, sinusoids
from .shared import padded_ids

WORDS = 21


def linear(rng, name, d_in, d_out):
    return {f"{name}.weight": rng.normal(size=(d_out, d_in)) / d_in**0.5, f"{name}.bias": rng.normal(size=d_out)}


def draw_args(rng, rows=3, sources=6, targets=4, d_model=12, n_heads=3, n_layers=2, full=False, behind=True, **options):
    """Sources of different lengths, of which one is whole; with `full` all are, and none has padding.

    What is read has its padding behind its words, or anywhere.
    """
    sizes = {"n_words": WORDS, "d_model": d_model, "n_heads": n_heads, "d_ff": 17, "n_layers": n_layers}
    sizes["padding"] = padding = int(rng.integers(WORDS))
    weights = {"embed.weight": rng.normal(size=(WORDS, d_model))} | linear(rng, "head", d_model, WORDS)
    norms = ["norm", *(f"blocks.{m}.norm_{k}" for m in range(n_layers) for k in (1, 2))]
    for name in norms:
        weights |= {f"{name}.weight": 1 + 0.5 * rng.normal(size=d_model), f"{name}.bias": rng.normal(size=d_model)}
    for m in range(n_layers):
        weights |= linear(rng, f"blocks.{m}.qkv", d_model, 3 * d_model)
        weights |= linear(rng, f"blocks.{m}.out", d_model, d_model)
        weights |= linear(rng, f"blocks.{m}.up", d_model, 17) | linear(rng, f"blocks.{m}.down", 17, d_model)
    if full:
        source, read = (np.vstack([padded_ids(rng, 1, n, padding) for _ in range(rows)]) for n in (sources, targets))
    else:
        source, read = padded_ids(rng, rows, sources, padding), padded_ids(rng, rows, targets, padding, behind)
    if rows > 1 and not full:
        source[1, 1:], source[1, 0] = padding, (padding + 1) % WORDS  # one word
        source = rng.permutation(source)  # the longest anywhere
    return module_call(sizes, (source, read), weights=weights, **options)


def outputs(rng):
    given = {}, {"targets": 1}, {"sources": 3, "targets": 7, "n_layers": 1}, {"sources": 5, "targets": 5}
    given = *given, {"sources": 40, "targets": 60, "n_layers": 1, "rows": 2}, {"targets": 9, "behind": False}
    return [draw_args(rng, **one) for one in (*given, {"rows": 1, "n_layers": 3, "training": True})]


def without_padding(rng):
    return [draw_args(rng, full=True)]


def gradients(rng):
    """Without any padding, since an embedding with padding_idx has no gradient there; in both modes."""
    given = {}, {"training": True}, {"rows": 1, "sources": 1, "targets": 1, "n_layers": 1}, {"sources": 5, "targets": 9}
    return [draw_args(rng, full=True, gives="gradients", **one) for one in given]


def blind_to_the_future(ask, rng):
    (plan,) = draw_args(rng, targets=5)
    source, read = plan["calls"][0]
    changed = read.copy()
    changed[:, 2] = (read[:, 2] + 1) % WORDS
    one, other = ask({**plan, "calls": [(source, read), (source, changed)]})
    if np.shape(one) != (*read.shape, WORDS):
        return f"For `read` of shape {read.shape} the scores should be {(*read.shape, WORDS)}; yours {np.shape(one)}."
    moved = np.abs(one - other).max(axis=(0, 2)) > 1e-4
    if moved[:2].any():
        return "Word 2 of what is read was changed, and scores at an earlier position moved: they saw the future."
    return None if moved[2:].all() else "Word 2 of what is read was changed: scores from its position on should move."


def padding_is_gone(ask, rng):
    """More padding behind a source changes nothing: the target stands directly behind the last word."""
    (plan,) = draw_args(rng)
    source, read = plan["calls"][0]
    wider = np.pad(source, ((0, 0), (0, 3)), constant_values=plan["sizes"]["padding"])
    one, other = ask({**plan, "calls": [(source, read), (wider, read)]})
    if np.shape(one) != np.shape(other) or np.abs(one - other).max() > 1e-4:
        return "With three columns of padding more behind the sources your scores change: no padding may stand between."
    return None


QUESTION = Question(
    id="prompt",
    title="A decoder alone",
    name="PromptTranslator",
    minutes=35,
    difficulty=3,
    checks=with_battery(
        equals("outputs", 4, outputs, parts.PromptTranslator),
        equals("no padding at all", 1, without_padding, parts.PromptTranslator),
        equals("gradients", 1, gradients, parts.PromptTranslator),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("blind to the future", 2, blind_to_the_future),
        holds("padding is gone", 4, padding_is_gone),
        holds("sentence by sentence", 1, rows_independent(draw_args)),
        off={
            "many tokens": "the padding of a source stands behind its words; its own cases have a long row",
            "gradients": "its own cases have no padding, whose row may learn nothing, as with padding_idx",
        },
    ),
    hints=(
        "Write down, for the two sources of the example, the row that each makes with its target, and under it the "
        "positions from which scores are taken.",
        "Source b has as many words as it has ids that are not padding. From that number you know where its target "
        "begins, in the row that goes in and in what comes out.",
        "A loop over the batch is allowed: cut off the padding of one source, append its `read`, and pad the rows "
        "behind. Or gather: the token at position k of the new row is source k, or read k − length.",
    ),
    section="a-decoder-alone",
    seconds=20.0,
    how="module",
    forbids=(
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoder",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerDecoder",
        "torch.nn.TransformerDecoderLayer",
    ),
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
)

right, wrong = answers_to(QUESTION)


@right
class RowAfterRow(nn.Module):
    def __init__(self, n_words, d_model, n_heads, d_ff, n_layers, padding):
        super().__init__()
        self.padding = padding
        self.embed = nn.Embedding(n_words, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(CausalBlock(d_model, n_heads, d_ff))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_words)

    def forward(self, source, read):
        found = []
        for z, w in zip(source, read, strict=True):
            z = z[z != self.padding]
            ids = torch.cat([z, w])[None]
            x = self.embed(ids)
            x = x + sinusoids(x.shape[1], x.shape[2])
            for block in self.blocks:
                x = block(x)
            x = self.norm(x)
            found.append(self.head(x)[0, len(z) :])
        return torch.stack(found)


@right
class PaddedBehind(nn.Module):
    def __init__(self, n_words, d_model, n_heads, d_ff, n_layers, padding):
        super().__init__()
        self.embed, self.head = nn.Embedding(n_words, d_model, padding_idx=padding), nn.Linear(d_model, n_words)
        self.blocks = nn.Sequential(*[CausalBlock(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.norm, self.padding, self.width = nn.LayerNorm(d_model), padding, d_model

    def forward(self, source, read):
        kept = [row[row != self.padding] for row in source]
        rows = [torch.hstack(pair) for pair in zip(kept, read, strict=True)]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.padding)
        stream = self.norm(self.blocks(self.embed(ids) + sinusoids(ids.shape[1], self.width)))
        parts = [row[len(z) : len(z) + read.shape[1]] for row, z in zip(stream, kept, strict=True)]
        return self.head(torch.stack(parts))


@right
class Gathered(nn.Module):
    def __init__(self, n_words, d_model, n_heads, d_ff, n_layers, padding):
        super().__init__()
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, n_words)
        self.embed, self.padding = nn.Embedding(n_words, d_model), padding
        self.blocks = nn.ModuleList(CausalBlock(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(self, source, read):
        (B, N), S = read.shape, source.shape[1]
        length = (source != self.padding).long().sum(dim=1)
        ids = torch.full((B, S + N), self.padding)
        ids[:, :S] = source
        at = length[:, None] + torch.arange(N)
        ids.scatter_(1, at, read)
        stream = self.embed(ids)
        stream = stream + sinusoids(S + N, stream.shape[2])
        for block in self.blocks:
            stream = block(stream)
        scores = self.head(self.norm(stream))
        return scores.gather(1, at[:, :, None].expand(B, N, scores.shape[2]))


wrong.edits("""
# RowAfterRow
## padding_in_between: The padding of a short source stands between it and its target.
- z = z[z != self.padding]
## padding_kept_and_cut: The padding stays in the row, and the scores are taken from where its words end.
- z = z[z != self.padding]
- ids = torch.cat([z, w])[None]
+ ids = torch.cat([z, w])[None]
+ z = z[z != self.padding]
## read_closed_up: You take padding out of what is read, too; there it stays where it is.
- ids = torch.cat([z, w])[None]
+ said = w[w != self.padding]
+ ids = torch.cat([z, said, w.new_full((len(w) - len(said),), self.padding)])[None]
## one_place_early: You begin with the scores of the last source token; those of the first token read are wanted.
- found.append(self.head(x)[0, len(z) :])
+ found.append(self.head(x)[0, len(z) - 1 : -1])
## scores_of_the_source [a-decoder-alone]: You return the scores from the beginning of the row, those
of the source.
+ found.append(self.head(x)[0, : len(w)])
## target_first: The target does not see its source: what is read has to stand behind it.
- ids = torch.cat([z, w])[None]
+ ids = torch.cat([w, z])[None]
- found.append(self.head(x)[0, len(z) :])
+ found.append(self.head(x)[0, : len(w)])
## places_begin_again: The positions begin again at 0 with the target; let them run through the whole row.
- x = x + sinusoids(x.shape[1], x.shape[2])
+ x = x + torch.cat([sinusoids(len(z), x.shape[2]), sinusoids(len(w), x.shape[2])])
## no_places: No positions are added, so that the order of the words is hardly known.
- x = x + sinusoids(x.shape[1], x.shape[2])
## places_in_the_source_alone: The words that are read get no positions.
+ x = x + torch.cat([sinusoids(len(z), x.shape[2]), torch.zeros(len(w), x.shape[2])])
## places_of_the_padded_row: You number the target's positions as if the padding still stood in the row; count the words
that are there.
+ waves = sinusoids(source.shape[1] + len(w), x.shape[2])
+ x = x + torch.cat([waves[: len(z)], waves[source.shape[1] :]])
## last_norm_missing: The norm between the last block and the head is missing.
- x = self.norm(x)
## normed_after_each_block: The last norm is applied after every block.
      x = block(x)
- x = self.norm(x)
+     x = self.norm(x)
## first_block_only: Only the first block is used.
- for block in self.blocks:
+ for block in self.blocks[:1]:
## first_block_repeated: The same block is used again and again.
- for block in self.blocks:
-     x = block(x)
+ for _ in self.blocks:
+     x = self.blocks[0](x)
## probabilities: You return probabilities; the softmax belongs to the loss.
- found.append(self.head(x)[0, len(z) :])
+ found.append(self.head(x)[0, len(z) :].softmax(dim=-1))
## no_head: You return the stream instead of a score for each word.
+ found.append(x[0, len(z) :])
## embedding_scaled: The embedding is multiplied by the square root of D, as in some models; here it is not.
- x = self.embed(ids)
+ x = self.embed(ids) * self.embed.embedding_dim**0.5
## last_word_lost: The last word of each source is cut off with the padding.
- z = z[z != self.padding]
+ z = z[z != self.padding][:-1]
## padding_is_zero: You take 0 for the padding; its number is given.
+ z = z[z != 0]
## same_length_for_all: Every source is cut where that of the first sentence ends.
+ z = z[: int((source[0] != self.padding).sum())]
## dropout_of_its_own: In train() mode your module drops something; no dropout is asked for.
- x = self.norm(x)
+ x = torch.nn.functional.dropout(self.norm(x), 0.1, self.training)
""")
