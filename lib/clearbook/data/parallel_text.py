"""Your own sentences to translate: a file of pairs, and a split in which no source is on both sides."""

import random
import zipfile
from pathlib import Path

from clearbook.data.builtin import Pairs


def read_pairs(path: str | Path | zipfile.Path) -> Pairs:
    """The pairs of a UTF-8 file with a source, a tab and its target on each line; empty lines are left out.

    A ``zipfile.Path`` reads a file inside of an archive.

    Raises: ValueError for a file that is not UTF-8, for a line without exactly one tab or with an empty side, and for
    a file without pairs; OSError if it cannot be opened.
    """
    file: Path | zipfile.Path = path if isinstance(path, zipfile.Path) else Path(path)
    name, pairs = file.name, []
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"read_pairs: {name} is not UTF-8: byte {error.object[error.start]:#04x} at {error.start} begins no "
            "character. Save it as UTF-8, or read it with its own encoding and save it again."
        ) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        sides = [side.strip() for side in line.split("\t")]
        if len(sides) != 2 or not all(sides):
            raise ValueError(
                f"read_pairs: line {number} of {name} is {_quote(line)}, expected a source, one tab and a target. "
                f"Tabs in it: {len(sides) - 1}, sides with text: {sum(map(bool, sides))}."
            )
        pairs.append((sides[0], sides[1]))
    if not pairs:
        raise ValueError(f"read_pairs: {name} holds no pairs. Write a source, a tab and its target on each line.")
    return pairs


def split_pairs(pairs: Pairs, held_out: float = 0.1, seed: int = 0) -> tuple[Pairs, Pairs]:
    """Shuffled pairs to learn from and, about the fraction ``held_out``, to test on.

    Pairs with the same source go to the same side. Otherwise a sentence that occurs twice would be learned and tested.

    Raises: ValueError if one of the two sides would be empty.
    """
    sources = list(dict.fromkeys(source for source, _ in pairs))
    n_tests = round(len(sources) * held_out)
    if not 0 < n_tests < len(sources):
        raise ValueError(
            f"split_pairs: held_out={held_out} of {len(sources)} different sources leaves one side empty. Choose a "
            "fraction between 0 and 1, for example 0.1, and bring more pairs."
        )
    tests = set(random.Random(seed).sample(sources, n_tests))
    shuffled = random.Random(seed).sample(pairs, len(pairs))
    return [p for p in shuffled if p[0] not in tests], [p for p in shuffled if p[0] in tests]


def _quote(line: str, n: int = 40) -> str:
    return repr(line if len(line) <= n else line[:n] + "…")
