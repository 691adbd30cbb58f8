"""The page of the checkpoints that load is what was measured, and everything that loads was measured."""

import json

from tests.clearformer.decoders import CASES
from tests.clearformer.measured_parity import OTHERS, STORED
from tools.pages import checkpoints

LIMIT = {"float32": 1e-5, "float64": 1e-10}


def test_the_page_is_what_the_generator_writes():
    """Catches a page that was edited by hand, and a family that came or went since."""
    assert checkpoints.PAGE.read_text(encoding="utf-8") == checkpoints.page(), "run make pages"


def test_every_case_was_measured_and_none_is_far_off():
    """Catches a case that is tested and not told, and a number that no test would let pass."""
    rows = json.loads(STORED.read_text(encoding="utf-8"))["rows"]
    told = [(row["kind"], row["tried"]) for row in rows]
    assert told == [(case.kind, case.tried) for case in CASES] + [*OTHERS.items()]
    assert all(row[dtype] < limit for row in rows for dtype, limit in LIMIT.items())
