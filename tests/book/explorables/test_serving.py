"""Who waits for whom: every time beside the roofline of the library, and the goal within reach of one chunk."""

import pytest
from clearbook.costs import Machine

from tests.book.explorables.shown import stored_data


def serving(way, prompt, chunk, others):
    """Milliseconds until the first token of the new text, and the longest wait of the others."""
    data = {name: float(value) for name, value in stored_data("serving-timeline").items()}
    machine = Machine(data["flops"], data["bytes"])
    pairs = 2 * data["layers"] * data["width"] * prompt**2 / data["flops"]
    cached = 2 * data["size"] * data["layers"] * data["kept"]  # bytes a token

    def step(n):
        dense = machine.seconds(2 * n * data["weights"], data["size"] * data["weights"])
        scores = 4 * data["layers"] * data["width"] * data["length"]
        return dense + others * machine.seconds(scores, cached * data["length"])

    write, read = step(others), 2 * prompt * data["weights"] / data["flops"] + pairs
    n_chunks = -(-prompt // chunk)
    both = step(others + chunk) + pairs / n_chunks
    found = {
        "whole": (read, read + write),
        "chunks": (n_chunks * both, both),
        "apart": (read + cached * prompt / data["network"], write),
    }
    return [1000 * seconds for seconds in found[way]]


@pytest.mark.parametrize("way", ["whole", "chunks", "apart"])
def test_times_follow_from_the_two_rates(show, way):
    """Catches a maximum over the whole step, caches of the chunk, and a prompt whose last chunk is forgotten."""
    shown = show("serving-timeline").guess()
    shown.press("way", way)
    for prompt, chunk, others in ((8, 8, 64), (1, 13, 128), (31, 5, 1), (8, 6, 7)):
        shown.set(prompt=prompt, others=others)
        if way == "chunks":
            shown.set(chunk=chunk)
        first, gap = serving(way, 1000 * prompt, 2**chunk, others)
        shown.verify({"first": first, "gap": gap})
    assert shown.control("chunk").is_disabled() == (way != "chunks") and shown.page.complaints == []


def test_one_chunk_keeps_both_promises(show):
    """Catches a goal out of reach, one that most chunks reach, and one that is reached with twice the machines."""
    data, shown = stored_data("serving-timeline"), show("serving-timeline").guess()
    for way in ("whole", "apart"):
        shown.press("way", way)
        assert "goal is reached" not in shown.says
    shown.press("way", "chunks")
    kept = []
    for exponent in range(5, 14):
        shown.set(chunk=exponent)
        first, gap = serving("chunks", 8000, 2**exponent, 64)
        kept.append(first <= data["first"] and gap <= data["gap"])
        assert ("goal is reached" in shown.says) == kept[-1]
    assert sum(kept) == 1
    shown.set(chunk=5 + kept.index(True), others=1)
    assert "goal is reached" not in shown.says
