"""Chapter 8, encoder and decoder: what a part is worth, and what finds a mistake of the keyboard."""

import ast
import contextlib
import io
import math
import warnings
from functools import partial
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from tests.claims.pages import once, statements
from tests.claims.registry import Numbers, claim, experiment

PAGE = "chapters/08-encoder-decoder.ipynb"
MODEL = (
    "page-attention", "class-attention", "class-feed-forward", "class-block", "class-decoder-block",
    "class-embedding", "class-transformer", "greedy", "clock-words", "clock-ways", "clock-data", "clock-pairs",
    "training-loop", "check-apart", "check-borrow", "check-pytorch",
)  # fmt: skip
N_NEW, N_STEPS = 400, 300
SUM = "x = x + self.dropout(looked)"
FORWARD_SUM = "return x + self.dropout(self.feed_forward(self.norm_{}(x)))"
Changes = tuple[tuple[str, str], ...]  # of the text of the program: what stands there, and what was typed

SLIPS: dict[str, Changes] = {
    "nothing": (),
    "`mask=causal(x)` forgotten": (("mask=causal(x), cache=cache", "cache=cache"),),
    "`memory, mask` forgotten": (("self.norm_2(x), memory, mask, cache)", "self.norm_2(x), cache=cache)"),),
    "target not shifted": (("(targets[rows, :-1], targets[rows, 1:])", "(targets[rows, 1:], targets[rows, 1:])"),),
    "heads joined without `transpose`": (("y.transpose(1, 2).flatten(2)", "y.reshape(x.shape)"),),
    "heads split by `reshape`": (
        ("x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)", "x.reshape(len(x), self.n_heads, x.shape[1], -1)"),
    ),
    "positions not added": (("self.table(ids) + self.waves[past:end]", "self.table(ids)"),),
    "position 0 at each step": (("cache[self.decoder[0].attention][0].shape[2] if cache else 0", "0"),),
    "`zero_grad` forgotten": (("optimizer.zero_grad()\n", "pass\n"),),
    "decoder sees padding": (("self.norm_2(x), memory, mask, cache)", "self.norm_2(x), memory, cache=cache)"),),
    "encoder sees padding": (("block(x, mask)", "block(x)"),),
    "padding counted in the loss": ((", ignore_index=PAD", ""),),
    "`x +` forgotten before `looked`": ((SUM, "x = self.dropout(looked)"),),
    "norm before cross-attention forgotten": (("self.cross(self.norm_2(x)", "self.cross(x"),),
    "last norm of the decoder forgotten": (("self.norm_target(x)", "x"),),
    "GELU forgotten": (("F.gelu(self.up(x))", "self.up(x)"),),
    "divided by √D": (("math.sqrt(q.shape[-1])", "math.sqrt(x.shape[-1])"),),
    "`~` before the mask forgotten": (("~mask", "mask"),),
    "`triu` for `tril`": ((".tril()", ".triu()"),),
    "softmax over the targets": (("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),),
    "keys from x": (("self.key(looked_at)", "self.key(x)"),),
}
LOOK = "looked = self.attention(self.norm_1(x), mask=causal(x), cache=cache)\n        " + SUM
PARTS: dict[str, Changes] = {
    "all parts": (),
    "no encoder": (("for block in self.encoder:\n            x = block(x, mask)", "pass"),),
    "no self-attention in the decoder": ((LOOK, "self.attention(x, cache=cache)"),),
    "no feed-forward layers": tuple((FORWARD_SUM.format(which), "return x") for which in (2, 3)),
    "no GELU": SLIPS["GELU forgotten"],
    "no sums": (("x = x + ", "x = "), ("return x + ", "return ")),
    "no norms": tuple((f"self.norm_{which}(x)", "x") for which in ("1", "2", "3", "source", "target")),
    "no positions": SLIPS["positions not added"],
    "no root of K": ((" / math.sqrt(q.shape[-1])", ""),),
}


def edited(text: str, changes: Changes) -> str:
    """A program with each change made wherever its first half stands. Raises: ValueError where it stands nowhere."""
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} is not on {PAGE} any more; change the slip to what is typed there now")
        text = text.replace(old, new)
    return text


def typed(changes: Changes) -> SimpleNamespace:
    """The program of the page as somebody typed it who made these changes."""
    found: dict = {"__name__": "typed"}
    text = "\n".join(ast.unparse(it) for it in statements(PAGE, MODEL))
    exec(compile(edited(text, changes), "typed", "exec"), found)
    return SimpleNamespace(**found)


def fresh(page: SimpleNamespace) -> nn.Module:
    return page.Transformer(len(page.WORDS), len(page.SIGNS), 1, 32, 4, 64)


def n_right(page: SimpleNamespace, model: nn.Module, sources: Tensor, targets: Tensor) -> int:
    answers, wanted = (page.to_texts(ids, page.SIGNS) for ids in (page.write(model, sources), targets))
    return sum(a == b for a, b in zip(answers, wanted, strict=True))


def batch_by_heart(page: SimpleNamespace) -> dict[str, float]:
    """The loss of eight pairs after a hundred steps on them, and how many of them the model then writes."""
    sources, targets = page.make_data()
    model = fresh(page)
    with contextlib.redirect_stdout(io.StringIO()) as told:
        page.fit(model, sources[:8], targets[:8], 100)
    return {
        "loss by heart": float(told.getvalue().split()[-1]),
        "written by heart": n_right(page, model, sources[:8], targets[:8]),
    }


def checks(page: SimpleNamespace) -> dict[str, float]:
    """What the checks of the page say of a fresh model: how far apart two outputs are that should be equal."""
    sources, targets = page.make_data()
    source, target, model = sources[:8], targets[:8, :-1], fresh(page).eval()
    names = ("prefix_error", "padding_error", "cache_error", "order_gap")
    with torch.no_grad(), warnings.catch_warnings(action="ignore"):
        found = {name: getattr(page, name)(model, source, target) for name in names}
        return found | {"pytorch_gap": page.pytorch_gap(source, target)}


def whole_training(page: SimpleNamespace) -> dict[str, float]:
    """How many of the phrases that were held back are right after the training of the page."""
    sources, targets = page.make_data()
    model = fresh(page)
    with contextlib.redirect_stdout(io.StringIO()):
        page.fit(model, sources[N_NEW:], targets[N_NEW:], N_STEPS)
    return {"right of 400": n_right(page, model, sources[:N_NEW], targets[:N_NEW])}


COLUMNS = {
    **dict.fromkeys(("pytorch_gap", "prefix_error", "padding_error", "cache_error", "order_gap"), checks),
    **dict.fromkeys(("loss by heart", "written by heart"), batch_by_heart),
    "right of 400": whole_training,
}


@experiment(
    PAGE,
    contenders={name: "as on the page" if name == "nothing" else "one slip of the keyboard" for name in SLIPS},
    cases=tuple(COLUMNS),
    budget="eight pairs for 100 steps, then all pairs but 400 for 300 steps",
    measured="what the five checks say, the loss of eight pairs by heart, how many of the eight are written, and how "
    "many of 400 new phrases are right after training; no number where the program stops or the loss is none",
    cells=MODEL,
    times=(1,),
    seeds=(0,),
)
def slips(page, run):
    mistaken = once(page, run.contender, lambda: typed(SLIPS[run.contender]))
    measure = COLUMNS[run.case]
    try:
        if measure is whole_training and math.isnan(once(mistaken, "by heart", dict).get("loss by heart", math.nan)):
            return math.nan
        found = once(mistaken, measure.__name__, partial(measure, mistaken))
        once(mistaken, "by heart", dict).update(found)
        return found[run.case]
    except RuntimeError:  # of shapes that do not fit
        return math.nan


@experiment(
    PAGE,
    contenders={name: "as on the page" if name == "all parts" else "the others as on the page" for name in PARTS},
    budget="300 steps of 64 of 2,240 phrases",
    measured="how many of 400 new phrases are right, more is better",
    cells=MODEL,
    times=(1,),
)
def parts(page, run):
    return whole_training(once(page, run.contender, lambda: typed(PARTS[run.contender])))["right of 400"]


NAMED = {"pytorch_gap": "PyTorch", "prefix_error": "prefix", "padding_error": "padding", "cache_error": "cache"}
ROUNDING = 1e-4


def seen_by(name: str, numbers: Numbers) -> str:
    """The checks that find one of the slips in a fresh model."""
    found = {case: numbers[name, case, 1][0] for case in (*NAMED, "order_gap")}
    if math.isnan(numbers[name, "written by heart", 1][0]):
        return "all: shapes do not fit"
    if all(math.isnan(number) for number in found.values()):
        return "all: no number comes out"
    seen = [word for case, word in NAMED.items() if found[case] > ROUNDING]
    return ", ".join([*seen, "order"] if found["order_gap"] < ROUNDING else seen) or "none"


def slips_table(numbers: Numbers) -> str:
    """What the page shows of the slips: the checks that see one, and what training makes of it."""
    rows = ["| typed wrongly | checks | loss by heart | of 8 written | of 400 right |", "|---|---|---|---|---|"]
    for name in SLIPS:
        loss, written, right = (numbers[name, case, 1][0] for case in tuple(COLUMNS)[-3:])
        counts = ["–" if math.isnan(it) else f"{it:.0f}" for it in (written, right)]
        rows.append(
            " | ".join([f"| {name}", seen_by(name, numbers), "–" if math.isnan(loss) else f"{loss:.3f}", *counts])
            + " |"
        )
    return "\n".join(rows)


def parts_table(numbers: Numbers) -> str:
    """What the page shows of the parts: how many of 400 phrases are right without each, from every start."""
    rows = ["| left out | of 400 right, three starts |", "|---|---|"]
    return "\n".join(rows + [f"| {name} | {', '.join(f'{it:.0f}' for it in numbers[name, '', 1])} |" for name in PARTS])


NOTHING = "nothing"
FORGOTTEN = "`mask=causal(x)` forgotten"


def slipped(numbers: Numbers, case: str) -> dict[str, float]:
    """One column of the slips that give a number by heart."""
    runs = [name for name in SLIPS if name != NOTHING and not math.isnan(numbers[name, "loss by heart", 1][0])]
    return {name: numbers[name, case, 1][0] for name in runs}


def low_by_heart(numbers: Numbers) -> list[str]:
    return [name for name, loss in slipped(numbers, "loss by heart").items() if loss < 0.04]


claim(
    slips,
    "Three of the twenty stop by themselves or give no number. They are harmless, since nobody can miss them. Of the "
    "other seventeen, sixteen get a loss below 0.04 by heart.",
    about=(NOTHING, "`zero_grad` forgotten"),
    cell="by-heart",
    holds=lambda numbers: len(slipped(numbers, "loss by heart")) == 17 and len(low_by_heart(numbers)) == 16,
    note="The page said that a model that is wired wrongly stops far above zero. Nearly every wrong one gets there.",
    verdict="changed",
    before="A model that is wired rightly gets close to zero in a hundred steps. One that cannot read its source stops "
    "far above",
)
claim(
    slips,
    "Let the model *write* the eight, and eight of the sixteen are exposed.",
    about=(NOTHING, FORGOTTEN),
    cell="by-heart",
    holds=lambda numbers: sum(numbers[name, "written by heart", 1][0] < 8 for name in low_by_heart(numbers)) == 8,
    note="The other eight write what they have learned, and most of them are as good as the right model afterwards.",
)
claim(
    slips,
    "The checks of a fresh model find fourteen of the seventeen.",
    about=(NOTHING, FORGOTTEN),
    cell="fresh-checks",
    holds=lambda numbers: sum(seen_by(name, numbers) != "none" for name in slipped(numbers, "right of 400")) == 14,
    note="What they do not find is in the training loop: a target that is not shifted, gradients that are not reset, "
    "padding that is counted.",
)
claim(
    slips,
    "Seven of the twenty cost nothing here: the padding, the norms, the GELU, the wrong root.",
    about=(NOTHING, "positions not added"),
    cell="train-and-write",
    holds=lambda numbers: (
        sum(right > numbers[NOTHING, "right of 400", 1][0] - 10 for right in slipped(numbers, "right of 400").values())
        == 7
    ),
    note="Within ten of the right model's answers, from one start.",
)
claim(
    parts,
    "Without the feed-forward layers or without the norms every run ends below the worst one with all parts; without "
    "the root of $K$ two of three do.",
    about=("all parts", "no encoder", "no feed-forward layers", "no sums", "no norms", "no positions", "no root of K"),
    cell="train-and-write",
    holds=lambda numbers: (
        max(
            max(numbers[f"no {part}", "", 1])
            for part in ("encoder", "feed-forward layers", "sums", "norms", "positions")
        )
        < min(numbers["all parts", "", 1])
        and sum(right < min(numbers["all parts", "", 1]) for right in numbers["no root of K", "", 1]) == 2
    ),
    note="The encoder, the sums and the positions cost far more. One budget, three starts; with one block a norm costs "
    "little.",
)
claim(
    parts,
    "Two parts are hardly missed: the decoder's self-attention and the GELU.",
    about=("no self-attention in the decoder", "no GELU", "no sums"),
    cell="train-and-write",
    holds=lambda numbers: all(
        max(numbers[who, "", 1]) >= min(numbers["all parts", "", 1])
        for who in ("no self-attention in the decoder", "no GELU")
    ),
    note="Their answers lie among those of the whole model. The page says which check finds them all the same.",
)
