"""Search by meaning: paragraphs of this book, and a vector for each that a pretrained encoder makes of it."""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from clearformer.models.bert import BERT
from jaxtyping import Float
from torch import Tensor

from clearbook.data.course_files import course_file

FEWEST_WORDS = 15
SIGNS = {r"\times": "×", r"\dots": "…", r"\top": "ᵀ", r"\approx": "≈", r"\ne": "≠", r"\le": "≤", r"\cdot": "·"}


class Paragraph(NamedTuple):
    """A paragraph, the page it stands on and the heading above it."""

    page: str
    heading: str
    text: str


def book_paragraphs(pages: Sequence[str] = ()) -> list[Paragraph]:
    """The paragraphs of prose of these chapters, such as "03-self-attention"; of all if none are named.

    Formulas, lists, tables and figures are left out, and so are paragraphs of fewer than 15 words.
    """
    found = []
    for path in sorted(course_file("chapters").glob("[0-9]*.ipynb")):
        if pages and path.stem not in pages:
            continue
        heading = ""
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for block in "".join(cell["source"]).split("\n\n") if cell["cell_type"] == "markdown" else ():
                first = block.lstrip().partition("\n")[0]
                if first.startswith("#"):
                    heading = first.lstrip("# ")
                elif first[:1].isalpha() or (first.startswith(("*", "**", "[", "`")) and not first.startswith("* ")):
                    text = _plain_text(block)
                    if len(text.split()) >= FEWEST_WORDS:
                        found.append(Paragraph(path.stem, heading, text))
    return found


def _plain_text(block: str) -> str:
    """Words as they are read: links by their text, formulas by their letters, roles and emphasis away, in one line."""
    block = re.sub(r"\$([^$]+)\$", lambda formula: _letters(formula[1]), block)
    block = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block)
    block = re.sub(r"\s*\{cite[\w:]*\}`[^`]*`", "", block)
    block = re.sub(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^>]*>)?`", r"\1", block)
    return " ".join(re.sub(r"\*\*?|`", "", block).split())


def _letters(formula: str) -> str:
    """A formula of LaTeX as plain text: signs as such, other commands by their names, those of type away."""
    formula = re.sub(r"\\(?:mathbf|mathrm|text|operatorname)\b\s*|\\[,;! ]|[{}]", "", formula)
    return re.sub(r"\\[A-Za-z]+", lambda command: SIGNS.get(command[0], command[0][1:]), formula)


@torch.no_grad()
def sentence_vectors(bert: BERT, tokenizer, texts: Sequence[str], *, batch: int = 32) -> Float[Tensor, "texts D"]:
    """The mean of what the encoder makes of the tokens of each text, brought to length 1.

    ``tokenizer`` is one of the library tokenizers. Texts of like length are read together; what goes beyond the
    model's positions, or those at which the tokenizer cuts, is not read.
    """
    tokenizer.no_padding()
    rows = [encoding.ids[: bert.config.n_positions] for encoding in tokenizer.encode_batch(list(texts))]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    vectors = torch.zeros(len(rows), bert.config.d_model, dtype=bert.tokens.weight.dtype)
    for start in range(0, len(rows), batch):
        part = order[start : start + batch]
        longest = len(rows[part[-1]])
        ids = torch.tensor([rows[i] + [0] * (longest - len(rows[i])) for i in part])
        real = torch.arange(longest) < torch.tensor([len(rows[i]) for i in part])[:, None]  # B N
        hidden = bert.encode(ids, real[:, None, None])  # B N D
        vectors[part] = (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
    return F.normalize(vectors, dim=1)
