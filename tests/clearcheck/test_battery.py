"""The standard battery: each of its entries refuses what it stands for, and no right answer."""

import numpy as np
import pytest
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import in_cases_of, later_tokens, more_cases, unseen_by, with_battery
from clearcheck.author.battery_list import battery_of, deals_with
from clearcheck.author.lint import battery_list, misfits
from clearcheck.author.subject import Subject
from clearcheck.grading.evaluate import PASSED
from clearcheck.grading.exercise import Exercise

from .battery_questions import double, edited, graded, messages, question, right_answer, scaled_calls, tables

SEEDS = (0, 1, 2)
TOO_LOW = "has a finite score"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("slug", "id", "name", "filled"),
    [
        ("03-self-attention", "module", "StepByStep", 'float("-inf")'),
        ("04-multi-head", "layer", "Plain", 'float("-inf")'),
        ("08-encoder-decoder", "cross", "Plain", "-torch.inf"),
    ],
)
def test_a_large_negative_number_is_no_mask(slug, id, name, filled, seed):
    """Would catch a mask of −10⁴ that gets full points, or that is refused somewhere and not named."""
    asked, entry = right_answer(slug, id, name)
    assert graded(asked, entry.function, seed).status == PASSED
    found = graded(asked, edited(entry, filled, "-1e4"), seed)
    failed = [check.message for check in found.checks if not check.passed]
    assert failed and all(TOO_LOW in message for message in failed)
    assert graded(asked, edited(entry, filled, "-1e9"), seed).status == PASSED  # as good as −∞ in this precision


@pytest.mark.parametrize(
    ("slug", "id", "name"),
    [("06-position", "museum", "turned_by_the_difference"), ("03-self-attention", "module", "StepByStep")],
)
def test_a_very_large_negative_number_is_named_where_it_is_refused(slug, id, name):
    """Would catch a mask of −10⁶ of which one hears that a later token is seen, and nothing of the number."""
    asked, entry = right_answer(slug, id, name)
    filled = next(text for text in ('float("-inf")', "-torch.inf") if text in entry.source)
    found = graded(asked, edited(entry, filled, "-1e6"))
    failed = [check.message for check in found.checks if not check.passed]
    assert failed and all(TOO_LOW in message for message in failed)


def masked_means(scores, values, mask):
    """Weighted means, of what the mask lets through."""
    powers = np.where(mask, scores, -np.inf)
    powers = np.exp(powers - powers.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ values


def means_at_low_scores(scores, values, mask):
    powers = np.where(mask, scores, -1e4)
    powers = np.exp(powers - powers.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ values


def draw_masked(rng, factor=1.0):
    scores, values = factor * rng.normal(size=(4, 7)), rng.normal(size=(7, 3))
    return scores, values, np.arange(7) <= np.arange(4)[:, None]


def changed_where_hidden(args):
    """What no query sees, the sources from 4 on, is another; and so are all hidden scores."""
    scores, values, mask = args
    never = ~mask.any(axis=0)
    return np.where(mask, scores, -scores), np.where(never[:, None], values + 9, values), mask


def test_the_mask_of_a_function_is_tried_as_that_of_a_module():
    """Would catch a mask given as an argument that the battery does not know how to try."""
    mask = unseen_by("values", draw_masked, changed_where_hidden)
    asked = question(equals("values", 2, lambda rng: [draw_masked(rng)], masked_means), mask=mask)
    assert all(graded(asked, masked_means, seed).status == PASSED for seed in SEEDS)
    assert all(TOO_LOW in messages(asked, means_at_low_scores, seed) for seed in SEEDS)


def test_what_is_kept_from_the_first_call_is_noticed():
    """Would catch an answer that gives what it gave to the first array of a shape."""
    kept: dict = {}

    def remembering(x):
        return kept.setdefault(x.shape, double(x))

    asked = question(equals("values", 2, tables, double))
    assert graded(asked, double).status == PASSED
    assert "nothing may be kept from one call to the next" in messages(asked, remembering)


def test_a_row_alone_is_right_as_well():
    """Would catch an answer that is right for a batch and loses the axis of a batch of one."""
    asked = question(equals("values", 2, tables, double))
    assert "A row of the batch, given alone" in messages(asked, lambda x: double(x).squeeze())


def next_ids(ids):
    return ids.astype(np.int64) + 100


def test_whole_numbers_of_every_type_give_the_same():
    """Would catch a sum of ids that does not fit into eight bits."""
    asked = question(equals("values", 2, lambda rng: [(rng.integers(200, 250, size=9),)], next_ids))
    assert graded(asked, next_ids).status == PASSED
    assert "from uint8 to int64" in messages(asked, lambda ids: ids + np.array(100, ids.dtype))
    told = {"ids": "the task says int64"}
    without = question(equals("values", 2, lambda rng: [(rng.integers(200, 250, size=9),)], next_ids), off=told)
    assert graded(without, lambda ids: ids + np.array(100, ids.dtype)).status == PASSED


def test_a_float_type_is_kept_where_the_task_asks_for_it():
    """Would catch a result in double precision for arguments in single precision."""
    asked = question(equals("values", 2, tables, double), floats_kept=True)
    assert graded(asked, double).status == PASSED
    assert "numbers of dtype float64" in messages(asked, lambda x: double(x.astype(float)))


def test_points_and_names_stay_as_they_are():
    """Would catch a battery that changes what a learner's file and an instructor's table hold."""
    checks = equals("values", 2, tables, double), holds("a property", 3, lambda ask, rng: None)
    made = with_battery(*checks)
    assert [(check.name, check.points) for check in made] == [("values", 2), ("a property", 3)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"off": {"idz": "none."}}, "names no entry"),
        ({"off": {"arguments unchanged": "none."}}, "names no entry"),
        ({"off": {"ids": " "}}, "gives no reason"),
        ({"more": {"tie": in_cases_of("values")}}, "names no entry"),
        ({"more": {"ties": in_cases_of("another")}}, "no comparison"),
        ({"also": ("another",)}, "no comparison"),
        ({"more": {"ties": in_cases_of("values")}, "off": {"ties": "none."}}, "asked for and off as well"),
        ({"mask": later_tokens("another", scaled_calls, "scale")}, "none of the checks"),
        ({"floats_kept": True, "off": {"floats kept": "none."}}, "asked for and off as well"),
    ],
)
def test_what_an_author_cannot_mean_is_refused(options, told):
    """Would catch an entry that is off by a slip of the pen, or without a reason."""
    with pytest.raises(ValueError, match=told):
        with_battery(equals("values", 2, tables, double), **options)


def first_places(x):
    """In each row the place of its largest number, of the first one where there are several."""
    return x.argmax(axis=1)


def rows_with_ties(rng):
    return [(rng.integers(0, 2, size=(5, 40)).astype(float),)]


def test_of_equal_ones_the_first_decides():
    """Would catch a sort that is not stable, or takes the last, where the author's cases have no equal numbers."""
    ties = {"ties": more_cases("values", rows_with_ties)}
    asked = question(equals("values", 2, lambda rng: [(rng.normal(size=(5, 40)),)], first_places), more=ties)
    assert graded(asked, first_places).status == PASSED
    assert "the first should decide" in messages(asked, lambda x: np.argsort(x, axis=1)[:, -1])
    assert "the first should decide" in messages(asked, lambda x: 39 - x[:, ::-1].argmax(axis=1))


def above(x, limit):
    return (x > limit).sum()


def test_a_limit_counts_as_the_task_says():
    """Would catch ≥ in place of >, which numbers from a normal distribution never tell apart."""
    on_the_limit = {"boundary": more_cases("values", lambda rng: [(np.array([1.0, 2.0, 2.0]), 2.0)])}
    asked = question(equals("values", 2, lambda rng: [(rng.normal(size=9), 0.3)], above), more=on_the_limit)
    assert graded(asked, above).status == PASSED
    assert "exactly on a limit" in messages(asked, lambda x, limit: (x >= limit).sum())


def scaled_and_shifted(x, scale=2.0, shift=1.0):
    return scale * x + shift


def test_what_the_caller_leaves_out_has_the_value_of_the_task():
    """Would catch another default value than that of the signature in the task."""
    asked = question(equals("values", 2, lambda rng: [(rng.normal(size=9), 3.0, 0.5)], scaled_and_shifted))
    assert graded(asked, scaled_and_shifted).status == PASSED
    assert "leaves out" in messages(asked, lambda x, scale=2.0, shift=0.0: scale * x + shift)


def centred(x):
    return x - x.mean(axis=1, keepdims=True)


def table_question(**options):
    checks = equals("values", 2, lambda rng: [(rng.normal(size=(4, 7)),)], centred)
    return Question("q", "A question", "answer", 5, 1, with_battery(checks, **options), inputs=Inputs(axes("ND")))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda x: centred(x.squeeze()) if 1 in x.shape else centred(x), "With a single one of something"),
        (lambda x: centred(x if len(x) % 2 == 0 or len(x) == 1 else x[:-1]), "With an odd number of something"),
    ],
)
def test_the_smallest_and_an_odd_size_are_tried(wrong, told):
    """Would catch an answer that loses an axis of one, or that takes an even number for granted."""
    asked = table_question()
    assert graded(asked, centred).status == PASSED
    assert told in messages(asked, wrong)


def scaled_rows(x, pair):
    scale, shift = pair
    assert len(x) == len(scale) == len(shift)
    return scale[:, None] * x + shift[:, None]


def test_a_size_is_cut_in_pairs_of_arrays_as_well():
    """Would catch one row with the scales of all rows, which no right answer need take."""
    checks = equals("values", 2, lambda rng: [(rng.normal(size=(4, 7)), tuple(rng.normal(size=(2, 4))))], broadcast)
    sizes = Inputs(lambda x, pair: {"D": x.shape[0], "N": x.shape[1]})
    asked = Question("q", "A question", "answer", 5, 1, with_battery(checks), inputs=sizes)
    assert graded(asked, scaled_rows).status == PASSED
    told = messages(asked, lambda x, pair: scaled_rows(x, pair) if len(x) > 1 else x)
    assert "With a single one of something" in told


def broadcast(x, pair):
    return pair[0][:, None] * x + pair[1][:, None]


def test_an_empty_array_and_four_axes_are_tried_where_the_task_allows_them():
    """Would catch an answer that takes the largest entry, or that counts on two axes."""
    shapes = more_cases("values", lambda rng: [(rng.normal(size=(2, 1, 3, 2)),), (np.zeros((0, 3)),)])
    asked = question(equals("values", 2, tables, double), more={"any shape": shapes})
    assert graded(asked, double).status == PASSED
    assert "any shape" in messages(asked, lambda x: double(x) + 0 * x.max())


def test_a_result_that_the_task_calls_new_shares_no_memory():
    """Would catch a view of an argument, which changes with it."""
    asked = question(equals("values", 2, tables, lambda x: x[:, ::-1].copy()), new_result=True)
    assert graded(asked, lambda x: x[:, ::-1].copy()).status == PASSED
    assert "shares its memory with argument 1" in messages(asked, lambda x: x[:, ::-1])
    open_to_it = question(equals("values", 2, tables, lambda x: x[:, ::-1].copy()))
    assert graded(open_to_it, lambda x: x[:, ::-1]).status == PASSED


def test_what_the_author_has_to_speak_of_is_asked_for():
    """Would catch a choice or a limit in the right answers of which the battery says nothing."""
    checks = with_battery(equals("values", 2, lambda rng: [(rng.normal(size=9), 0.3)], above))
    asked = Question("q", "A question", "answer", 5, 1, checks, inputs=Inputs(no_sizes="none"))
    right, wrong = answers_to(asked)
    right(above)
    right(first_places)
    subject = Subject(Exercise("toy", "Toy", "toy", (asked,)), right, wrong)
    assert {"ties", "boundary"} <= deals_with(subject, asked)
    told = " ".join(misfits(subject, [asked]))
    assert "a limit that values are held to" in told
    assert "a choice among what may be equal" in told


def test_the_list_says_why_an_entry_is_off():
    """Would catch an entry that is on where it tries nothing, or off without a word."""
    asked = question(equals("values", 2, tables, double), off={"mask": "there is none."})
    told = {decision.name: (decision.on, decision.why) for decision in battery_of(asked, frozenset())}
    assert told["called again"] == (True, "")
    assert told["rows of a batch"] == (True, "")
    assert told["ids"] == (False, "no argument is an array of whole numbers")
    assert told["mask"] == (False, "there is none.")
    assert all(on or why for on, why in told.values())
    assert "module: mask: on" in battery_list("03-self-attention", "module")
