"""The speed that chapter 14 quotes is the one that the benchmark measured."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUOTED = re.compile(r"wrote ([\d.]+) times as fast on two cores of an (AMD EPYC)")


def test_chapter_14_quotes_what_was_measured_with_weights_in_8_bits():
    """Catches a sentence that outlives its measurement, and one about another processor."""
    measured = json.loads((ROOT / "benchmarks/results-amd.json").read_text(encoding="utf8"))["generation"]
    rows = {(row["work"], row["what"]): row["measured"]["median"] for row in measured["rows"]}
    [(times, processor)] = QUOTED.findall((ROOT / "chapters/14-cost.ipynb").read_text(encoding="utf8"))
    assert (processor, 2) == (measured["machine"]["processor"], measured["machine"]["threads"])
    assert times == f"{rows['generation, gpt2, batch 1', 'faster with weights in 8 bits']:.1f}"
