"""The triangle in chunks: its counts beside those of arrays, what a target reads, and the goal."""

import numpy as np

from tests.book.explorables.shown import stored_data


def counted(tokens, width, size):
    """Pairs, rounds and multiplications, from the shapes of the products that a loop over chunks makes."""
    pairs = rounds = products = 0
    for start in range(0, tokens, size):
        n = min(size, tokens - start)
        inside = int(np.tri(n).sum())
        pairs, rounds = pairs + inside, rounds + 1
        products += 2 * width * inside  # a score and a value for each pair
        products += n * width**2 * (start > 0)  # the state before the chunk is read
        products += n * width**2 * (start + n < tokens)  # and the state after it is written
    return pairs, rounds, products


def test_the_counts_are_those_of_a_loop_over_chunks(show):
    """Catches a last chunk that is counted as a whole one, and states of the first and last chunk that nobody needs."""
    data, shown = stored_data("text-chunks"), show("text-chunks").guess()
    for size in range(1, data["tokens"] + 1):
        shown.set(size=size)
        names = ("pairs", "rounds", "products")
        shown.verify(dict(zip(names, counted(data["tokens"], data["width"], size), strict=True)))
        filled = shown.element.locator("rect.full").count()
        assert filled == counted(data["tokens"], data["width"], size)[0]
    assert shown.page.complaints == []


def test_a_target_reads_its_chunk_and_the_state_before(show):
    """Catches a chunk that begins one token late, and a target of the first chunk that reads a state."""
    shown = show("text-chunks").guess()
    for size, target, told in (
        (5, 12, "10 tokens through one state, and 2"),
        (5, 10, "5 tokens through one state, and 5"),
    ):
        shown.set(size=size, target=target)
        assert f"Target {target} reads {told} one by one." in shown.says
    shown.set(size=5, target=3)
    assert "Target 3 reads no state, and 3 one by one." in shown.says


def test_one_size_reaches_the_goal(show):
    """Catches a goal that no chunk reaches, or several."""
    data, shown = stored_data("text-chunks"), show("text-chunks").guess()
    every, found = counted(data["tokens"], data["width"], data["tokens"])[2], []
    for size in range(1, data["tokens"] + 1):
        shown.set(size=size)
        if "goal is reached" in shown.says:
            found.append(size)
    sizes = range(1, data["tokens"] + 1)
    assert found == [max(s for s in sizes if 3 * counted(data["tokens"], data["width"], s)[2] <= 2 * every)]
