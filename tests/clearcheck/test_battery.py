"""The standard battery: each of its entries refuses what it stands for, and no right answer."""

import numpy as np
import pytest
import torch
from clearcheck import Question, equals, holds
from clearcheck.author.battery import battery_of, later_tokens, unseen_by, with_battery
from clearcheck.author.edits import rename_definition
from clearcheck.author.lint import battery_list
from clearcheck.author.loading import load_exercise
from clearcheck.author.mistakes import _compile_function
from clearcheck.grading.evaluate import PASSED, evaluate
from clearcheck.worker.guarded_call import call_named, scope_of

SEEDS = (0, 1, 2)
TOO_LOW = "has a finite score"


def graded(question, answer, seed=0):
    return evaluate(question, lambda asked, packed: call_named({question.name: answer}, asked, packed), seed, [])


def messages(question, answer, seed=0):
    return " ".join(check.message for check in graded(question, answer, seed).checks)


def question(*checks, how="function", **options):
    return Question("q", "A question", "answer", 5, 1, with_battery(*checks, **options), how=how)


def edited(entry, old, new):
    """A right answer with other words in it."""
    assert old in entry.source
    source = rename_definition(entry.source.replace(old, new), entry.name, "changed")
    return _compile_function(source, "changed", entry.question, scope_of(entry.function))


def right_answer(slug, id, name):
    authored = load_exercise(slug)
    (entry,) = (entry for entry in authored.right.of(id) if entry.name == name)
    return authored.question(id), entry


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("slug", "id", "name", "filled"), [("03-self-attention", "module", "StepByStep", 'float("-inf")')]
)
def test_a_large_negative_number_is_no_mask(slug, id, name, filled, seed):
    """Would catch a mask of −10⁴ that gets full points, or that is refused and not named."""
    asked, entry = right_answer(slug, id, name)
    assert graded(asked, entry.function, seed).status == PASSED
    found = graded(asked, edited(entry, filled, "-1e4"), seed)
    (told,) = (check.message for check in found.checks if check.name == "looking back")
    assert TOO_LOW in told
    assert graded(asked, edited(entry, filled, "-1e9"), seed).status == PASSED  # as good as −∞ in this precision


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


def double(x):
    return 2 * x


def tables(rng):
    return [(rng.normal(size=(4, 3, 5)),)]


def test_what_is_kept_from_the_first_call_is_noticed():
    """Would catch an answer that gives what it gave to the first array of a shape."""
    kept: dict = {}

    def remembering(x):
        return kept.setdefault(x.shape, double(x))

    asked = question(equals("values", 2, tables, double))
    assert graded(asked, double).status == PASSED
    assert "nothing may be kept from one call to the next" in messages(asked, remembering)


class Scaled(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.scale * x


class KeepsWeights(Scaled):
    """Reads its weights the first time alone."""

    def forward(self, x):
        self.first = getattr(self, "first", self.scale.detach().clone())
        return self.first * x


def scaled_calls(rng):
    x = rng.normal(size=(3, 4, 5))
    weights = {"scale": rng.normal(size=5)}
    plan = {"sizes": {"width": 5}, "calls": [(x,)], "weights": weights, "training": False, "gives": "output", "seed": 0}
    return [(plan,)]


def test_a_module_is_asked_again_after_its_weights_were_changed():
    """Would catch weights that are read once and kept."""
    asked = question(equals("values", 2, scaled_calls, Scaled), how="module")
    assert graded(asked, Scaled).status == PASSED
    assert "after its weights were changed" in messages(asked, KeepsWeights)


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
        ({"mask": later_tokens("another", scaled_calls, "scale")}, "none of the checks"),
        ({"floats_kept": True, "off": {"floats kept": "none."}}, "asked for and off as well"),
    ],
)
def test_what_an_author_cannot_mean_is_refused(options, told):
    """Would catch an entry that is off by a slip of the pen, or without a reason."""
    with pytest.raises(ValueError, match=told):
        with_battery(equals("values", 2, tables, double), **options)


def test_the_list_says_why_an_entry_is_off():
    """Would catch an entry that is on where it tries nothing, or off without a word."""
    asked = question(equals("values", 2, tables, double), off={"mask": "there is none."})
    told = {decision.name: (decision.on, decision.why) for decision in battery_of(asked, has_mask=False)}
    assert told["called again"] == (True, "")
    assert told["rows of a batch"] == (True, "")
    assert told["ids"] == (False, "no argument is an array of whole numbers")
    assert told["mask"] == (False, "there is none.")
    assert all(on or why for on, why in told.values())
    assert "module: mask: on" in battery_list("03-self-attention", "module")
