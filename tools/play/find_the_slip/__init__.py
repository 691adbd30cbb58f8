"""Find the slip: wrong answers of the exercises as cards, a deck for each chapter, stored in deck.json.

    python -m tools.play.find_the_slip --write [03-self-attention ...]     every chapter when none is named

writes them again, each proven: its result differs from the right one, and its message is what the grader tells.
"""

import json
from pathlib import Path

STORED = Path(__file__).with_name("deck.json")


def stored() -> list[dict]:
    """The decks as they were last written, in the order of the chapters."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else []


def data() -> list[dict]:
    """What the page gets of them."""
    return [{name: value for name, value in deck.items() if name != "state"} for deck in stored()]
