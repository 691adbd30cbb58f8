"""Exercise 12, question patch: where an answer passes, found with a hook."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from torch import nn
from torch.nn import functional as F

from . import model
from .parts import AustenGPT, heads_of, turned


class PatchReference(nn.Module):
    """Without any hook: the model block by block, with what attention adds at hand."""

    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt = AustenGPT(n_vocab, d_model, n_heads, n_layers)

    @torch.no_grad()
    def forward(self, ids, other, wanted):
        added, _ = self.run(other)
        rows = []
        for m in range(len(added)):
            for n in range(ids.shape[1]):
                _, scores = self.run(ids, m, n, added[m])
                rows.append(scores[:, -1].log_softmax(-1).gather(1, wanted[:, None])[:, 0])
        return torch.stack(rows, dim=1).unflatten(1, (len(added), ids.shape[1]))

    def run(self, ids, patched=None, column=None, theirs=None):
        """What the attention of each block adds, and the scores; in one block a column of it is that of another run."""
        x, added = self.gpt.tokens(ids), []
        for m, block in enumerate(self.gpt.blocks):
            q, k, v = (heads_of(part, self.gpt.n_heads) for part in block["qkv"](block["norm_1"](x)).chunk(3, dim=-1))
            y = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
            y = block["out"](y.transpose(1, 2).flatten(2))
            if m == patched:
                y[:, column] = theirs[:, column]
            added.append(y)
            x = x + y
            x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
        return added, F.linear(self.gpt.norm(x), self.gpt.tokens.weight)


def draw_args(rng, rows=2, tokens=6, n_vocab=37, **options):
    """A model as for the question before, under the name gpt, and two texts of the same length."""
    (plan,) = model.draw_args(rng, n_vocab=n_vocab, embedding=0.4, **options)
    plan["weights"] = {f"gpt.{name}": array for name, array in plan["weights"].items()}
    texts = [rng.integers(n_vocab, size=(rows, tokens)) for _ in range(2)]
    plan["calls"] = [(*texts, rng.integers(n_vocab, size=rows))]
    return (plan,)


def several(rng):
    given = {}, {"n_heads": 5, "d_model": 20, "tokens": 4}, {"n_layers": 3, "rows": 3, "tokens": 5, "n_vocab": 29}
    return [*(draw_args(rng, **one) for one in given), draw_args(rng, gives="changed")]


def at_the_limits(rng):
    """One block, one row, one token, and two texts that agree in all tokens but one."""
    given = {"n_layers": 1}, {"rows": 1}, {"tokens": 1}
    (near,) = draw_args(rng)
    ids, other, wanted = near["calls"][0]
    other = ids.copy()
    other[:, 2] = (other[:, 2] + 1) % 37
    near["calls"] = [(ids, other, wanted)]
    return [*(draw_args(rng, **one) for one in given), (near,)]


def nothing_is_left(ask, rng):
    """The same texts twice, with others in between; and each text patched with itself."""
    (plan,) = draw_args(rng)
    ids, other, wanted = plan["calls"][0]
    calls = [(ids, other, wanted), (other, ids[:, ::-1].copy(), wanted), (ids, other, wanted), (ids, ids, wanted)]
    first, _, again, itself = (np.asarray(one) for one in ask({**plan, "calls": calls}))
    if first.shape != (2, 2, 6):
        return f"For 2 rows, 2 blocks and 6 tokens 2 × 2 × 6 numbers are expected; yours have the shape {first.shape}."
    if np.abs(first - again).max() > 1e-4:
        return "The same texts, measured a second time, give other numbers. Is every hook removed, also the last?"
    if np.ptp(itself, axis=(1, 2)).max() > 1e-4:
        return "With a text patched into itself nothing changes, so all its numbers are the same; yours are not."
    return None


QUESTION = Question(
    id="patch",
    title="Where an answer passes",
    name="Patching",
    minutes=35,
    difficulty=3,
    checks=with_battery(
        equals("values", 6, several, PatchReference),
        equals("at the limits", 2, at_the_limits, PatchReference),
        holds("as it was", 4, nothing_is_left),
        off={
            "gradients": "it measures, and nothing is learned from it",
            "mask": "the mask is that of the model of the question before",
            "many tokens": "each token is a run of the model, and 600 of them take minutes",
        },
    ),
    hints=(
        "First the run of the other text, in which you keep what `out` gives: a hook that returns nothing changes "
        "nothing, and may put its output into a list.",
        "Then for each block and each column one run of `ids`, in which the hook returns a copy of the output with "
        "this one column, `[:, n]`, from what you have kept of the same block.",
        "`self.gpt(ids)[:, -1].log_softmax(-1)` has a row for each text and a column for each token of the vocabulary. "
        "Remove the hook before you register the next one.",
    ),
    section="reach-inside-hooks",
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=model.QUESTION.forbids,
    leans_on=("model",),
)

right, wrong = answers_to(QUESTION)


@right
class HookOfEachColumn(nn.Module):
    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt = AustenGPT(n_vocab, d_model, n_heads, n_layers)

    def forward(self, ids, other, wanted):
        table = torch.zeros(len(ids), len(self.gpt.blocks), ids.shape[1])
        row, kept, watching = torch.arange(len(ids)), [], []
        with torch.no_grad():
            for block in self.gpt.blocks:
                watching.append(block.out.register_forward_hook(lambda *call: kept.append(call[2])))
            self.gpt(other)
            for hook in watching:
                hook.remove()
            for m, block in enumerate(self.gpt.blocks):
                for n in range(ids.shape[1]):

                    def exchange(layer, inputs, output, m=m, n=n):
                        output = output.clone()
                        output[:, n] = kept[m][:, n]
                        return output

                    hook = block.out.register_forward_hook(exchange)
                    scores = self.gpt(ids)[:, -1]
                    hook.remove()
                    table[:, m, n] = scores.log_softmax(-1)[row, wanted]
        return table


@right
class OneHookForAll(nn.Module):
    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt, self.kept, self.where = AustenGPT(n_vocab, d_model, n_heads, n_layers), {}, None

    @torch.no_grad()
    def forward(self, ids, other, wanted):
        layers, found = [block.out for block in self.gpt.blocks], []
        hooks = [layer.register_forward_hook(self.watch) for layer in layers]
        self.where = None
        self.gpt(other)
        for layer in layers:
            for n in range(ids.shape[1]):
                self.where = layer, n
                found.append(-F.cross_entropy(self.gpt(ids)[:, -1], wanted, reduction="none"))
        for hook in hooks:
            hook.remove()
        self.kept = {}
        return torch.stack(found, dim=1).view(len(ids), len(layers), -1)

    def watch(self, layer, inputs, output):
        if self.where is None:
            self.kept[layer] = output
            return None
        if self.where[0] is not layer:
            return None
        ours = torch.arange(output.shape[1]) != self.where[1]
        return torch.where(ours[:, None], output, self.kept[layer])


@right
class AllColumnsInOneBatch(nn.Module):
    """One run for each block, in which every column has rows of its own."""

    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt = AustenGPT(n_vocab, d_model, n_heads, n_layers)

    def forward(self, ids, other, wanted):
        (B, N), tables = ids.shape, []
        for block in self.gpt.blocks:
            kept = []
            with torch.no_grad():
                hook = block.out.register_forward_hook(lambda layer, inputs, output, kept=kept: kept.append(output))
                self.gpt(other)
                hook.remove()
                theirs, one = kept[0].repeat(N, 1, 1), torch.eye(N).repeat_interleave(B, 0)[..., None]
                hook = block.out.register_forward_hook(
                    lambda layer, inputs, output, theirs=theirs, one=one: output + one * (theirs - output)
                )
                scores = self.gpt(ids.repeat(N, 1))[:, -1].log_softmax(-1)
                hook.remove()
            tables.append(scores.gather(1, wanted.repeat(N)[:, None]).view(N, B).T)
        return torch.stack(tables, dim=1)


@wrong("You patch what the whole block gives, as the chapter does; here it is what `out` gives, the part of attention.")
class OutputOfTheBlock(nn.Module):
    """The stream behind block m: what the second norm read, and what `down` added."""

    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt = AustenGPT(n_vocab, d_model, n_heads, n_layers)

    @torch.no_grad()
    def forward(self, ids, other, wanted):
        rows = []
        for block in self.gpt.blocks:
            read, rows_of_block = [], []
            note = block.norm_2.register_forward_pre_hook(lambda layer, inputs, read=read: read.append(inputs[0]))
            behind = block.down.register_forward_hook(lambda layer, inputs, y, read=read: read.append(read[-1] + y))
            self.gpt(other)
            behind.remove()
            theirs = read[-1]
            for n in range(ids.shape[1]):

                def exchange(layer, inputs, y, n=n, read=read, theirs=theirs):
                    y = y.clone()
                    y[:, n] = theirs[:, n] - read[-1][:, n]
                    return y

                hook = block.down.register_forward_hook(exchange)
                rows_of_block.append(self.gpt(ids)[:, -1].log_softmax(-1).gather(1, wanted[:, None])[:, 0])
                hook.remove()
            note.remove()
            rows.append(torch.stack(rows_of_block, dim=1))
        return torch.stack(rows, dim=1)


wrong.edits("""
# HookOfEachColumn
## hook_left: Your hooks stay: each column is measured with all those before it exchanged. Call `.remove()`.
- hook.remove()
- table[:, m, n] = scores.log_softmax(-1)[row, wanted]
+ table[:, m, n] = scores.log_softmax(-1)[row, wanted]
## chance_itself: You return the chance; its logarithm is asked for.
- table[:, m, n] = scores.log_softmax(-1)[row, wanted]
+ table[:, m, n] = scores.softmax(-1)[row, wanted]
## likeliest_asked: You return the logarithm of the largest chance; that of `wanted` is asked for.
+ table[:, m, n] = scores.log_softmax(-1).max(-1).values
## scores_as_they_are: You return the score of the wanted token; the logarithm of its chance takes all tokens in.
+ table[:, m, n] = scores[row, wanted]
## texts_exchanged: You patch `ids` into the run of `other`; it is the other way round.
- self.gpt(other)
+ self.gpt(ids)
- scores = self.gpt(ids)[:, -1]
+ scores = self.gpt(other)[:, -1]
## patched_with_itself: You keep the run of `ids` itself, and put it back where it was.
- self.gpt(other)
+ self.gpt(ids)
## whole_output: You exchange all columns at once; it is one of them.
- output[:, n] = kept[m][:, n]
+ output[:] = kept[m]
## all_but_one: You exchange all columns but one.
+ output = torch.cat([kept[m][:, :n], output[:, n : n + 1], kept[m][:, n + 1 :]], dim=1)
## up_to_here: You exchange all columns up to this one; it is this one alone.
+ output[:, : n + 1] = kept[m][:, : n + 1]
## silenced: You set the column to zero; what the other text has there is to take its place.
+ output[:, n] = 0
## added: You add the other text's column; it takes the place of the one that is there.
+ output[:, n] += kept[m][:, n]
## of_the_first_block: What you put in comes from the first block, whichever it is put into.
+ output[:, n] = kept[0][:, n]
## column_beside: You take the other text's last column, whichever is asked for.
+ output[:, n] = kept[m][:, -1]
## first_row_of_the_batch: Every row gets the column of the first text of the batch.
+ output[:, n] = kept[m][:1, n]
## in_every_block: You exchange the column in all blocks at once; it is that of one block.
- hook = block.out.register_forward_hook(exchange)
+ hooks = [one.out.register_forward_hook(exchange) for one in self.gpt.blocks]
- hook.remove()
- table[:, m, n] = scores.log_softmax(-1)[row, wanted]
+ [hook.remove() for hook in hooks]
+ table[:, m, n] = scores.log_softmax(-1)[row, wanted]
## from_this_block_on: You exchange the column in this block and in all behind it; it is that of one block.
- hook = block.out.register_forward_hook(exchange)
+ on = [b.out.register_forward_hook(lambda *a, k=k: exchange(*a, k, n)) for k, b in enumerate(self.gpt.blocks[m:], m)]
- hook.remove()
- table[:, m, n] = scores.log_softmax(-1)[row, wanted]
+ [hook.remove() for hook in on]
+ table[:, m, n] = scores.log_softmax(-1)[row, wanted]
## always_the_first_block: You hang the hook on the first block, whichever is asked for.
- hook = block.out.register_forward_hook(exchange)
+ hook = self.gpt.blocks[0].out.register_forward_hook(exchange)
## feed_forward: You patch what the feed-forward layer adds; `out` is what attention adds.
- watching.append(block.out.register_forward_hook(lambda *call: kept.append(call[2])))
+ watching.append(block.down.register_forward_hook(lambda *call: kept.append(call[2])))
- hook = block.out.register_forward_hook(exchange)
+ hook = block.down.register_forward_hook(exchange)
## first_token_asked: You read the scores of the first token; the last is the one that answers.
- scores = self.gpt(ids)[:, -1]
+ scores = self.gpt(ids)[:, 0]
## mean_over_tokens: You take the mean over all tokens; the last is the one that answers.
- scores = self.gpt(ids)[:, -1]
+ scores = self.gpt(ids)
- table[:, m, n] = scores.log_softmax(-1)[row, wanted]
+ table[:, m, n] = scores.log_softmax(-1)[row, :, wanted].mean(dim=1)
## columns_in_front: Your table has a row for each column of the text; a row belongs to a block.
- return table
+ return table.mT
## change_asked: You return by how much the patch changes it; what it is with the patch is asked for.
+ return table - self.gpt(ids)[:, -1].log_softmax(-1)[row, wanted][:, None, None]
## batch_mean: You take the mean over the batch; each text has its own numbers.
+ return table.mean(dim=0)
""")
