"""Ten thousand messages of Home Assistant in English and German, written by people, packed beside this file."""

import zipfile
from functools import cache
from pathlib import Path

from clearbook.data.builtin import Pairs
from clearbook.data.parallel_text import read_pairs

PACKED = Path(__file__).with_name("messages.zip")  # its README.txt says where they come from and how they were chosen


@cache
def message_pairs() -> tuple[Pairs, Pairs]:
    """The messages to learn from, and the held-out ones of 60 integrations that share no message with the others."""
    learned, held_out = (read_pairs(zipfile.Path(PACKED, name)) for name in ("learned.tsv", "held-out.tsv"))
    return learned, held_out


@cache
def message_kinds() -> tuple[Pairs, Pairs]:
    """Messages with what each is for, a name, state, hint, problem, action or step: to learn from, and held out.

    They are the English ones of ``message_pairs`` whose place in the file says so. Nobody has labelled them by hand.
    """
    kept = []
    for name, pairs in zip(("learned", "held-out"), message_pairs(), strict=True):
        kinds = zipfile.Path(PACKED, f"{name}-kinds.txt").read_text(encoding="ascii").split()
        kept.append([(english, kind) for (english, _), kind in zip(pairs, kinds, strict=True) if kind != "-"])
    return kept[0], kept[1]
