"""The program of chapter 8 as somebody typed it: with one slip of the keyboard, or with a part left out."""

import ast
from types import SimpleNamespace

from tests.claims.pages import statements

PAGE = "chapters/08-encoder-decoder.ipynb"
MODEL = (
    "page-attention", "class-attention", "class-feed-forward", "class-block", "class-decoder-block",
    "class-embedding", "class-transformer", "greedy", "clock-words", "clock-ways", "clock-data", "clock-pairs",
    "training-loop", "check-apart", "check-borrow", "check-pytorch",
)  # fmt: skip
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
