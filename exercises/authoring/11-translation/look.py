"""Exercise 11, question look: heads that are made to look at one word, with a hook."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from torch import nn

from .parts import Translator, sinusoids

WORDS = 19


class LookReference(nn.Module):
    """Without any hook: the translator's own lines, with the weights exchanged on the way."""

    def __init__(self, n_words, d_model, n_heads):
        super().__init__()
        self.translator = Translator(n_words, d_model, n_heads)

    def forward(self, source, read, looked):
        own, (B, N), S = self.translator, read.shape, source.shape[1]
        z = own.embed(source) + sinusoids(S, own.embed.embedding_dim)
        x = own.embed(read) + sinusoids(N, own.embed.embedding_dim)
        q, k, v = (y.unflatten(2, (own.n_heads, -1)).transpose(1, 2) for y in own.maps(x, z))
        A = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)
        rows = []
        for b in range(B):
            for n in range(N):
                free = looked[b, n] < 0
                rows.append(A[b, :, n] if free else (torch.arange(S) == looked[b, n]).expand(own.n_heads, S) * 1.0)
        A = torch.stack(rows).unflatten(0, (B, N)).transpose(1, 2)
        return own.head(x + own.out((A @ v).transpose(1, 2).flatten(2)))


def draw_args(rng, rows=3, sources=5, targets=4, d_model=12, n_heads=3, free=0.5, **options):
    """In each row some positions are made to look, and some are free, with the share `free`."""
    sizes = {"n_words": WORDS, "d_model": d_model, "n_heads": n_heads}
    weights = {"translator.embed.weight": rng.normal(size=(WORDS, d_model))}
    for name, d_out in (("query", d_model), ("key", d_model), ("value", d_model), ("out", d_model), ("head", WORDS)):
        weights[f"translator.{name}.weight"] = 1.5 * rng.normal(size=(d_out, d_model)) / d_model**0.5
        weights[f"translator.{name}.bias"] = rng.normal(size=d_out)
    looked = rng.integers(sources, size=(rows, targets))
    looked[rng.random((rows, targets)) < free] = -1
    call = rng.integers(WORDS, size=(rows, sources)), rng.integers(WORDS, size=(rows, targets)), looked
    return module_call(sizes, call, weights=weights, **options)


def several(rng):
    given = {}, {"sources": 3, "targets": 7, "n_heads": 2}, {"sources": 4, "targets": 4}, {"rows": 2, "n_heads": 4}
    return [*(draw_args(rng, **one) for one in given), draw_args(rng, training=True), draw_args(rng, gives="changed")]


def all_and_none(rng):
    """Every position is made to look, none is, and the smallest sizes."""
    small = {"rows": 1, "sources": 1, "targets": 1, "free": 0.0}
    return [draw_args(rng, free=0.0), draw_args(rng, free=1.0), draw_args(rng, **small), draw_args(rng, n_heads=1)]


def nothing_is_left(ask, rng):
    """The same call twice with another between, and at last one in which all are free."""
    (plan,) = draw_args(rng)
    source, read, looked = plan["calls"][0]
    free = np.full_like(looked, -1)
    (other,) = draw_args(rng)[0]["calls"]
    calls = [(source, read, free), (source, read, looked), other, (source, read, looked), (source, read, free)]
    first, made, _, again, last = (np.asarray(one) for one in ask({**plan, "calls": calls}))
    if made.shape != (*read.shape, WORDS):
        return f"For `read` of shape {read.shape} the scores should be {(*read.shape, WORDS)}; yours {made.shape}."
    if np.abs(first - last).max() > 1e-4 or np.abs(made - again).max() > 1e-4:
        return "The same call gives other scores later on. Is every hook removed, and nothing kept of the call before?"
    return None


QUESTION = Question(
    id="look",
    title="Made to look",
    name="MadeToLook",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("scores", 4, several, LookReference),
        equals("all and none", 2, all_and_none, LookReference),
        holds("as it was", 2, nothing_is_left),
        off={
            "boundary": "−1 is a sign; 0, the first word, is drawn among the positions, and so is the last",
            "mask": "nothing is hidden: the sources have no padding",
            "one of each": "a source of one word has no position 3 to look at; its own case has one of everything",
            "many tokens": "what is long is long in the translator that is given",
        },
    ),
    hints=(
        "`self.translator.weights.register_forward_hook(look)` calls `look(layer, given, A)` with the weights, "
        "B × H × N × S. What `look` returns takes their place; change a clone.",
        "Position (b, n) is made to look where `looked[b, n]` is not −1: there the row `A[b, :, n]` becomes 0, and "
        "`A[b, :, n, looked[b, n]]` becomes 1, for every head.",
        "Two loops, over b and over n, are enough. And what does the next call of your module find, if the hook is "
        "still there?",
    ),
    section="the-first-word-is-read-less",
    seconds=20.0,
    how="module",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the weights come out of the translator"),
)

right, wrong = answers_to(QUESTION)


@right
class OneHotRows(nn.Module):
    def __init__(self, n_words, d_model, n_heads):
        super().__init__()
        self.translator = Translator(n_words, d_model, n_heads)

    def forward(self, source, read, looked):
        made = (looked >= 0)[:, None, :, None]
        rows = nn.functional.one_hot(looked.clamp(min=0), source.shape[1])[:, None]

        def look(layer, given, A):
            return torch.where(made, rows.to(A.dtype), A)

        hook = self.translator.weights.register_forward_hook(look)
        scores = self.translator(source, read)
        hook.remove()
        return scores


@right
class PlaceAfterPlace(nn.Module):
    def __init__(self, n_words, d_model, n_heads):
        super().__init__()
        self.translator = Translator(n_words, d_model, n_heads)

    def forward(self, source, read, looked):
        def look(layer, given, A):
            A = A.clone()
            for b, row in enumerate(looked.tolist()):
                for n, s in enumerate(row):
                    if s >= 0:
                        A[b, :, n] = 0.0
                        A[b, :, n, s] = 1.0
            return A

        hook = self.translator.weights.register_forward_hook(look)
        try:
            return self.translator(source, read)
        finally:
            hook.remove()


@right
class HookThatStays(nn.Module):
    """One hook for good, which does nothing unless it is told where to look."""

    def __init__(self, n_words, d_model, n_heads):
        super().__init__()
        self.translator, self.looked = Translator(n_words, d_model, n_heads), None
        self.translator.weights.register_forward_hook(self.look)

    def look(self, layer, given, A):
        b, n = torch.nonzero(self.looked + 1, as_tuple=True)
        A = A.transpose(1, 2).clone()
        A[b, n] = 0.0
        A[b, n, :, self.looked[b, n]] = 1.0
        return A.transpose(1, 2)

    def forward(self, source, read, looked):
        self.looked = looked
        scores = self.translator(source, read)
        self.looked = None
        return scores


wrong.edits("""
# PlaceAfterPlace
## hook_left: Your hook stays, and the next call looks where this one was told to. Call `.remove()`.
- hook.remove()
+ pass
## added: You give the word a weight of 1 and leave the others theirs; all the weight should lie on it.
- A[b, :, n] = 0.0
## first_head_alone: Only the first head is made to look; all of them should be.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b, 0, n] = 0.0
+ A[b, 0, n, s] = 1.0
## free_ones_too: −1 means that a position is free; you make it look at the last word.
- if s >= 0:
+ if True:
## first_word_is_free: 0 is the first word of the source, and no sign that a position is free.
+ if s > 0:
## nothing_returned: Your hook returns nothing, so the weights stay what they were.
- return A
## added_to_the_weight: You add 1 to the weight that the word has; the row should be 0 everywhere else, and 1 there.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b, :, n, s] += 1.0
## counted_from_one: You count the words of the source from 1; 0 is the first one.
- A[b, :, n, s] = 1.0
+ A[b, :, n, max(s - 1, 0)] = 1.0
## not_made_one: The other weights are gone, and the word keeps the weight that it had.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b, :, n, torch.arange(A.shape[3]) != s] = 0.0
## silenced: You take the word's weight away; all of it should lie there.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b, :, n, s] = 0.0
## one_source_too_far: Position 0 is the first word of the source; you look one word further on.
- A[b, :, n, s] = 1.0
+ A[b, :, n, min(s + 1, A.shape[3] - 1)] = 1.0
## one_target_too_late: You make the next position look, and not the one that is told to.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b, :, min(n + 1, A.shape[2] - 1)] = 0.0
+ A[b, :, min(n + 1, A.shape[2] - 1), s] = 1.0
## first_sentence_for_all: All sentences look where the first one is told to.
- for b, row in enumerate(looked.tolist()):
+ for b, row in enumerate(looked[:1].expand_as(looked).tolist()):
## of_all_positions: Where one position is told to look, you make all positions of the sentence look there.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b] = 0.0
+ A[b, :, :, s] = 1.0
## looked_on_its_side: In the weights the targets are the rows and the sources the columns; yours are exchanged.
- A[b, :, n] = 0.0
- A[b, :, n, s] = 1.0
+ A[b, :, min(s, A.shape[2] - 1)] = 0.0
+ A[b, :, min(s, A.shape[2] - 1), min(n, A.shape[3] - 1)] = 1.0
## kept_from_the_first_call: What the first call was told stands for all later ones.
- for b, row in enumerate(looked.tolist()):
+ self.told = getattr(self, "told", looked)
+ for b, row in enumerate(self.told.tolist()):
""")
