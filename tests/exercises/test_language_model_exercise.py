"""The examples by hand in the tasks of exercise 09, its museum piece, and what its experiments are said to show."""

import math
import re
from functools import partial

import numpy as np
import pytest
import torch
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named
from inline_snapshot import snapshot

from tests.exercises.course_exercises import (
    answer_of,
    cell,
    course_exercise,
    edited_answer,
    graded_checks,
    in_one_breath,
    task_of,
)

SLUG = "09-language-model"
answer = partial(answer_of, SLUG)
task = partial(task_of, SLUG)


def names_after_cells(*ids: str) -> dict:
    """The names that cells of the notebook define; nothing is printed by them."""
    scope = {"np": np, "print": lambda *line: None}
    for id in ids:
        exec(cell(course_exercise(SLUG).learner, id), scope)
    return scope


@pytest.mark.parametrize(
    ("first", "n", "last", "steps", "facts"),
    [
        (1.2, 12, 0, 90, "logits"),
        (4.1, 11, 0.5, 90, r"last position.* 0\.50, .*others 4\.10"),
        (1.76, 12, 0, 90, "learned next to nothing: .*learning rate"),
        (2.1, 12, 0, 90, "gradients set to zero"),
        (6.6, 12, 0, 90, "shift of the rows"),
        (0.72, 8, 4.1, 90, r"first 8 of 12 .*0\.72, .*others 4\.10"),
        (0.66, 11, 5.1, 90, r"first 11 of 12 .*0\.66, .*others 5\.10"),
        (1.91, 12, 0, 0, "90 steps .*every round"),
    ],
)
def test_a_surprise_is_told_what_it_is_a_sign_of(first, n, last, steps, facts):
    """Catches a loop that has learned nothing and is told no more than its number, or is sent to the wrong place."""
    sign_of = course_exercise(SLUG).right.of("learn")[0].function.__globals__["sign_of"]
    told = sign_of(np.array(n * [first] + (12 - n) * [last]), steps)
    assert re.search(facts, told), told


def test_two_rows_of_two():
    text, starts = torch.tensor([7, 3, 5, 8, 2]), torch.tensor([0, 2])
    read, asked = answer("cut", text, starts, 2)
    assert (read.tolist(), asked.tolist()) == ([[7, 3], [5, 8]], [[3, 5], [8, 2]])
    assert in_one_breath(task("cut"), "reads 7 3", "5 8", "asked for 3 5", "8 2")


def test_the_size_of_a_small_model():
    sizes = 6, 12, 32, 4, 2
    assert f"`GPT{sizes}`" in task("gpt")
    model = answer("gpt", *sizes)
    in_blocks = sum(p.numel() for name, p in model.named_parameters() if name.startswith("blocks."))
    whole = sum(p.numel() for p in model.parameters())
    assert in_one_breath(task("gpt"), f"{whole:,} parameters", f"{whole - in_blocks:,}", "outside")


def test_a_block_that_was_not_brought_is_a_class_of_the_learners_own():
    """Catches a sentence that calls it a function, or does not say where it comes from."""
    scope = {"nn": torch.nn}
    made = "def __init__(self, **sizes):\n        super().__init__()\n        self.blocks = Block(1, 1, 4)"
    exec(f"class GPT(nn.Module):\n    {made}\n    def forward(self, ids):\n        pass\n", scope)
    result = evaluate(course_exercise(SLUG).exercise.question("gpt"), partial(call_named, scope), 0, [])
    assert result.points == 0
    assert in_one_breath(result.checks[0].message, "your own", "07-residual-norm", "run bring()")


def test_ids_in_floating_point_are_told_as_such_in_every_check():
    """Catches a check that could not work with them."""
    edits = (":, -length:])", ":, -length:].long())"), ("[ids, new]", "[ids.float(), new.float()]")
    told = graded_checks(SLUG, "generate", edited_answer(SLUG, "generate", 0, *edits))
    assert all("float32" in check.message for check in told if check.name != "quietly")
    assert not any("could not work" in check.message for check in told)


def test_one_random_number_for_all_rows_is_told_by_name():
    """Catches a draw that is blamed for being none."""
    draw = (
        "torch.multinomial(p, 1)",
        "torch.searchsorted(p.cumsum(-1), torch.rand(1, 1).expand(len(ids), 1).contiguous())",
    )
    for seed in range(3):
        told = graded_checks(SLUG, "generate", edited_answer(SLUG, "generate", 0, draw), seed)
        assert {check.diagnosis.mistake for check in told if not check.passed} == {"one_random_number"}


@pytest.mark.parametrize("seed", range(12))
def test_the_last_end_alone_is_told_by_name(seed):
    """Catches a text that is shorter by forgotten ends, told as one that lost its line breaks."""
    edit = 'len("".join(pieces)) + pieces.count("")', 'len("".join(pieces)) + (pieces[-1] == "")'
    told = graded_checks(SLUG, "bits", edited_answer(SLUG, "bits", 1, edit), seed)
    assert {check.diagnosis.mistake for check in told if check.diagnosis} == {"last_end_alone"}


def test_a_loss_in_an_array_is_told_as_such():
    """Catches a pair of which it is said that it is none."""
    told = graded_checks(SLUG, "loss", edited_answer(SLUG, "loss", 0, ("return loss,", "return np.array([loss]),")))
    assert [check.message for check in told[2:]] == snapshot(
        ["The first of the pair should be one number.", "The first of the pair should be one number."]
    )


def test_what_the_sentences_cost():
    """The numbers that the task compares with: nothing known, two tokens back, and all that can be known."""
    two_back = (3 * math.log(4) + 2 * math.log(2)) / 6
    costs = [f"{value:.2f}" for value in (math.log(6), two_back, math.log(4) / 3)]
    assert all(f"= {cost}" in task("learn") for cost in costs)


def test_a_log_of_two_batches():
    pair = answer("bits", np.log([2.0, 32]), np.array([3, 1]), ["der", " ", "Mann", ""])
    assert pair == pytest.approx((8 / 9, 4)) and "(8/9, 4)" in task("bits")


def test_a_text_of_no_letters():
    loss, gradient = answer("loss", np.zeros((1, 3, 2)), np.array([[1, 1, 1]]), np.array([2]))
    assert loss == pytest.approx(math.log(2)) and "The loss is ln 2" in task("loss")
    assert gradient.tolist() == [[[0.5, -0.5], [0, 0], [0, 0]]] and "(½, −½) at position 0" in task("loss")


def test_three_probabilities_through_the_filter():
    row = np.log([[5.0, 2, 1]])
    for settings, expected in (((2, None), [5 / 7, 2 / 7, 0]), ((None, 0.7), [5 / 7, 2 / 7, 0]), ((2, 0.7), [1, 0, 0])):
        np.testing.assert_allclose(answer("filter", row, 1.0, *settings), [expected], atol=1e-12)
    assert "`top_k=2` gives (5/7, 2/7, 0)" in task("filter")


def test_x_y_x_y():
    _, chance = answer("induction", np.ones((1, 4, 4)), np.array([0, 1, 0, 1]))
    assert chance == pytest.approx(7 / 24) and "which is 7/24" in task("induction")


def test_the_museum_piece_is_the_known_mistake():
    """Catches a museum piece that was edited without its wrong solution, by which a learner is told about it."""
    museum = names_after_cells("loss-museum")["museum_loss"]
    known = next(entry for entry in course_exercise(SLUG).wrong.of("loss") if entry.name == "as_in_the_museum").function
    question = course_exercise(SLUG).exercise.question("loss")
    for arguments in question.checks[0].cases(np.random.default_rng(3)):
        for one, other in zip(museum(*arguments), known(*arguments), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_museum_piece_learns_too_well_and_never_stops():
    """Catches an experiment that no longer shows what the task says: a falling loss, and words that are none."""
    scope = names_after_cells("loss-museum", "loss-given", "loss-train", "loss-write")
    ids, lengths = scope["filled_up"](scope["WORDS"])
    table, losses = scope["train"](scope["museum_loss"])
    assert losses[-1] < 0.1 * losses[0]
    words = [word for word in scope["write"](table) if word]
    assert len(words) > 2 and all(word == 20 * word[0] for word in words)
    table, losses = scope["train"](course_exercise(SLUG).right.of("loss")[0].function)
    assert losses[-1] > 1 and max(map(len, scope["write"](table))) < 20
    pairs = np.zeros((scope["MARK"] + 1,) * 2)
    for row, length in zip(ids, lengths, strict=True):
        np.add.at(pairs, (row[: length - 1], row[1:length]), 1)
    shares = pairs / pairs.sum(axis=1, keepdims=True)
    least = -(pairs * np.log(shares + (pairs == 0))).sum() / pairs.sum()
    assert least < losses[-1] < least + 0.02


def test_a_head_that_looks_eleven_back_passes_the_test_of_twelve_letters():
    scope = names_after_cells("induction-experiment")
    scores = []
    for text in scope["TEXTS"]:
        heads = 1.0 * np.stack(list(scope["four_heads"](text).values()))
        scores.append(answer("induction", heads, np.array([ord(letter) for letter in text]))[0])
    one_back, eleven_back, last_time, _ = np.transpose(scores)
    assert eleven_back[0] == last_time[0] == 1 and eleven_back[1] < 0.1 and last_time[1] == 1
    assert eleven_back[2] < 0.5 * last_time[2] and one_back[0] == 0


def test_a_head_that_writes_nothing_is_worth_nothing():
    """By hand, as the task of question 8 asks: the columns of out that read a head are 0."""
    worth = course_exercise(SLUG).right.of("worth")
    torch.manual_seed(0)
    ids = torch.randint(6, (3, 7))
    for one in worth:
        measure = one.function(6, 12, 8, 2, 2)
        with torch.no_grad():
            measure.gpt.blocks[1].attention.out.weight[:, :4] = 0
        found = torch.as_tensor(measure(ids))
        assert found.shape == (2, 2) and found[1, 0].abs() < 1e-6 < found.abs().max()
