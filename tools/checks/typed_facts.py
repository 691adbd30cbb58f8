"""Facts of chapters/models.yml that a page types instead of drawing them, so that they would grow old unseen.

    .venv/bin/python -m tools.checks.typed_facts 06 07

A sentence or a row of a table is suspect where it names a model and a number that the file holds of that model.
"""

import re
import sys
from collections.abc import Iterator, Mapping

from clearbook.today.cells import count_in_words
from clearbook.today.rows import Gallery, Model, gallery

from tools.pages import reading

LEAST = 10  # smaller numbers stand in any sentence
UNTOUCHED = re.compile(r"`+[^`]*`+|\$+[^$]*\$+|\{cite:\w\}|\]\([^)]*\)|https?://\S+|<[^>]*>")
PIECES = re.compile(r"(?<=[.!?;:])\s+|\n+")
SIZE = re.compile(r" (\d+(\.\d+)?[MBT](-\S+)?|base)$")
UNITS = {"M": "million", "B": "billion", "T": "trillion"}


def main(chapters: list[str]) -> int:
    """Print what is typed on these pages, on all where none is named; 1 if there is any."""
    pages = reading.pages()
    found = [f"{name}: {told}" for name in chapters or pages for told in typed_on(name)]
    print("\n".join(found) or "No page types a fact that the file holds.")
    return 1 if found else 0


def typed_on(page: str) -> list[str]:
    """What a page of the book types, by its short name, such as 06. Raises: KeyError for a page that there is not."""
    texts = [
        "".join(cell["source"]) for cell in reading.cells(reading.pages()[page]) if cell["cell_type"] == "markdown"
    ]
    return [told for text in texts for told in typed_facts(text, gallery())]


def typed_facts(text: str, held: Gallery) -> list[str]:
    """Each fact that a text in Markdown types: of which model, which fact, and where."""
    found: list[str] = []
    for piece in PIECES.split(UNTOUCHED.sub(" ", text)):
        rest, models = without_names(piece, held)
        for model in models:
            told = {}
            for fact, written in forms(model):
                if re.search(rf"(?<![\d.,]){re.escape(written)}(?!\d|[.,]\d)", rest):
                    told[fact] = f"{model.name}: {fact} is typed as {written} in “{piece.strip()}”"
            found += told.values()
    return found


def without_names(piece: str, held: Gallery) -> tuple[str, list[Model]]:
    """A piece of text without the models that it names, with their size or without, and these models."""
    models = []
    for model in sorted(held.models.values(), key=lambda model: -len(model.name)):
        rest = re.sub("|".join(rf"(?<![\w.-]){re.escape(name)}(?!\w|[.-]\w)" for name in names(model)), " ", piece)
        models += [model] if rest != piece else []
        piece = rest
    return piece, models


def names(model: Model) -> list[str]:
    """What a page calls a model: with its size, or else without."""
    return [model.name, SIZE.sub("", model.name)]


def forms(model: Model) -> Iterator[tuple[str, str]]:
    """The facts of a model that are numbers, each in the ways in which a page would write it."""
    for fact, found in model.facts.items():
        for value in found.value.values() if isinstance(found.value, Mapping) else [found.value]:
            if isinstance(value, int) and value >= LEAST:
                written = {f"{value:,}", str(value)}
                written |= (
                    {count_in_words(value), count_in_words(value).replace(" ", "")} if fact == "context" else set()
                )
            elif fact in ("parameters", "active"):
                number, unit = value.split()
                written = {value, f"{number}{unit}", f"{number} {UNITS[unit]}"}
            else:
                continue
            yield from ((fact, way) for way in sorted(written))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
