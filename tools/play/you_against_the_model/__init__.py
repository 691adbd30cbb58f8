"""Three pages that the Austen model has not been trained on, and what it and a trigram bet on them."""

import json
from functools import cache
from pathlib import Path

from tools import ROOT

STORED = Path(__file__).with_name("pages.json")
MODEL = ROOT / "models" / "austen"


@cache
def data() -> dict:
    """What pages.py computed, and the merges of the model's tokenizer, for tokens that a reader types."""
    merges = json.loads((MODEL / "config.json").read_text(encoding="utf-8"))["tokenizer"]["merges"]
    return json.loads(STORED.read_text(encoding="utf-8")) | {"merges": merges}
