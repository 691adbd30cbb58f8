"""Messages of Home Assistant in English and German, written by people, packed beside this file."""

import zipfile
from functools import cache
from pathlib import Path

from clearbook.data.builtin import Pairs
from clearbook.data.parallel_text import read_pairs

PACKED = Path(__file__).with_name("messages.zip")  # its README.txt says where they come from and how they were chosen


@cache
def message_pairs() -> tuple[Pairs, Pairs]:
    """The messages to learn from, and the held-out ones of 60 integrations that share no message with the others.

    Those to learn from stand integration by integration, so that a run of them is about something of its own.
    """
    learned, held_out = (read_pairs(zipfile.Path(PACKED, name)) for name in ("learned.tsv", "held-out.tsv"))
    return learned, held_out


@cache
def message_kinds() -> tuple[Pairs, Pairs]:
    """Messages with what each is for, a name, state, hint, problem, action or step: to learn from, and held out.

    Their place in the file says so: nobody has labelled them by hand. All have 4 words or more.
    """
    learned, held_out = (read_pairs(zipfile.Path(PACKED, f"{name}-kinds.tsv")) for name in ("learned", "held-out"))
    return learned, held_out
