"""A question may ask how much memory an answer holds."""

import tracemalloc

import numpy as np
import pytest
from clearcheck import holds
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named

from .small_questions import question

N = 100_000


def sum_in_parts(x):
    return sum(float(part.sum()) for part in np.split(np.arange(N, dtype=float), 100)) + x


def sum_at_once(x):
    return np.ones((4, N)).sum() + x


def index_beyond_end(x):
    return np.ones(N)[N]


def held_by(function, measured=True):
    held = []

    def note(ask, rng):
        ask(1.0)
        held.append(ask.calls[-1].held)

    def transport(asked, packed):
        return call_named({"answer": function}, asked, packed)

    result = evaluate(question(holds("memory", 1, note), measured=measured), transport, 3, [])
    return held[0] if held else result


def test_the_worst_moment_is_told_in_bytes():
    """Would catch the sum of all allocations, or what is left at the end, in place of the most at once."""
    assert 8 * N <= held_by(sum_in_parts) < 10 * N
    assert 32 * N <= held_by(sum_at_once) < 34 * N


def test_what_was_there_before_does_not_count():
    table = np.ones(10 * N)
    assert held_by(lambda x: table[0] + x) < 1000


@pytest.mark.parametrize("running", [False, True])
def test_measuring_ends_with_the_call(running):
    """Would catch a kernel that stays slow, and a learner's own measurement that is ended."""
    tracemalloc.stop()
    if running:
        tracemalloc.start()
    try:
        held_by(sum_in_parts)
        held_by(index_beyond_end)
        assert tracemalloc.is_tracing() == running
    finally:
        tracemalloc.stop()


def test_nothing_is_measured_unless_it_is_asked_for():
    assert held_by(sum_at_once, measured=False) == 0
