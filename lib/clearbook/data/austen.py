"""The six novels of Jane Austen, 4 million characters in the public domain, packed beside this file."""

import re
import sys
import zipfile
from functools import cache
from pathlib import Path

from clearbook.data.builtin import split_text

PACKED = Path(__file__).with_name("austen.zip")  # its README.txt says where the texts come from
NOVELS = (  # in the order in which they were published
    "Sense and Sensibility",
    "Pride and Prejudice",
    "Mansfield Park",
    "Emma",
    "Northanger Abbey",
    "Persuasion",
)
HELD_OUT = 0.1  # of each novel


@cache
def austen_novels() -> dict[str, str]:
    """Each novel's text by its title: a paragraph is one line, an empty line ends it; verse keeps its lines."""
    with zipfile.ZipFile(PACKED) as packed:
        printed = {title: packed.read(f"{title.lower().replace(' ', '-')}.txt").decode("ascii") for title in NOVELS}
    return {title: re.sub(r"(?<=\S)\n(?=\S)", " ", text) for title, text in printed.items()}


def austen_split() -> tuple[list[str], list[str]]:
    """The six novels without their last tenths, to learn from, and these six last tenths, to test on."""
    parts = [split_text(text, HELD_OUT) for text in austen_novels().values()]
    return [learned for learned, _ in parts], [held_out for _, held_out in parts]


def in_chapters(texts: list[str]) -> list[str]:
    """These texts, cut before the heading of each chapter; joined, the parts are the texts again."""
    return [part for text in texts for part in re.split(r"(?<=\n)(?=(?:CHAPTER|Chapter) [IVXLC\d]+\n)", text)]


def one_file() -> str:
    """All novels without their ends, and behind them as much of the six ends as ``train`` holds out of a file."""
    from clearformer.commands.corpus import MOST_HELD_OUT  # takes a second

    learned, ends = austen_split()
    of_each = MOST_HELD_OUT // len(ends) + 1
    return "".join(learned) + "".join(end[:of_each] for end in ends)[:MOST_HELD_OUT]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(one_file(), encoding="utf-8")
