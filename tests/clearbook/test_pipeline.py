"""A pipeline's schedule keeps every dependency, no worker does two things at once, and the bubble is the formula's."""

from itertools import pairwise

import pytest
from clearbook.pipeline import (
    BACKWARD,
    FORWARD,
    all_forward_first,
    idle_share,
    interleaved,
    most_stored,
    schedule,
)
from clearbook.pipeline import one_forward_one_backward as in_turn

ORDERS = [all_forward_first, in_turn]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("workers, pieces", [(1, 1), (3, 1), (1, 4), (3, 7), (5, 2), (4, 4)])
def test_every_task_is_done_once_and_after_what_it_needs(order, workers, pieces):
    tasks = schedule(workers, pieces, forward=1.5, backward=2.25, order=order)
    found = {(t.kind, t.microbatch, t.worker): t for t in tasks}
    assert len(tasks) == len(found) == 2 * workers * pieces
    for (kind, i, worker), task in found.items():
        before = (FORWARD, i, worker - 1) if kind == FORWARD else (BACKWARD, i, worker + 1)
        if before in found:
            assert task.start >= found[before].stop
        if kind == BACKWARD:
            assert task.start >= found[FORWARD, i, worker].stop
        assert task.stop - task.start == (1.5 if kind == FORWARD else 2.25)
    for worker in range(workers):
        own = sorted((t.start, t.stop) for t in tasks if t.worker == worker)
        assert all(stop <= start for (_, stop), (start, _) in pairwise(own))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("workers, pieces", [(1, 3), (3, 7), (5, 2), (4, 8)])
def test_the_bubble_is_that_of_the_formula_in_both_orders(order, workers, pieces):
    """Catches a task that waits without need, or one that does not wait at all."""
    tasks = schedule(workers, pieces, forward=1.0, backward=2.0, order=order)
    assert idle_share(tasks) == pytest.approx((workers - 1) / (pieces + workers - 1))


def test_in_turn_a_worker_stores_no_more_than_there_are_workers():
    assert most_stored(schedule(4, 9)) == [9, 9, 9, 9]
    assert most_stored(schedule(4, 9, order=in_turn)) == [4, 3, 2, 1]
    assert most_stored(schedule(4, 2, order=in_turn)) == [2, 2, 2, 1]


def test_an_order_that_cannot_be_kept_is_refused():
    def backward_first(worker, n_workers, n_microbatches):
        return [(BACKWARD, 0), (FORWARD, 0)]

    with pytest.raises(ValueError, match="wait for one another"):
        schedule(2, 1, order=backward_first)
    with pytest.raises(ValueError, match="0 workers and 3 microbatches"):
        schedule(0, 3)


@pytest.mark.parametrize("workers, microbatches, pieces", [(4, 8, 2), (4, 8, 4), (3, 3, 5), (1, 4, 2), (5, 10, 1)])
def test_pieces_make_the_bubble_as_many_times_shorter(workers, microbatches, pieces):
    """Catches pieces that lie on the wrong worker, and an order in which one waits for what comes round later."""
    tasks = interleaved(workers, microbatches, pieces)
    length = max(task.stop for task in tasks)
    assert len(tasks) == 2 * workers * microbatches * pieces
    assert length / (3 * microbatches) - 1 == pytest.approx((workers - 1) / (pieces * microbatches))


@pytest.mark.parametrize("workers, microbatches, pieces", [(8, 6, 2), (8, 6, 8), (8, 2, 4), (16, 12, 4)])
def test_too_few_microbatches_are_waited_for_in_every_round(workers, microbatches, pieces):
    """What a plan counts where a pipeline has fewer microbatches than workers."""
    length = max(task.stop for task in interleaved(workers, microbatches, pieces))
    waiting = workers - 1 + (pieces - 1) * (workers - microbatches)
    assert length / (3 * microbatches) - 1 == pytest.approx(waiting / (pieces * microbatches))


def test_pieces_have_to_be_there():
    with pytest.raises(ValueError, match="4 workers, 8 microbatches and 0 pieces"):
        interleaved(4, 8, 0)
