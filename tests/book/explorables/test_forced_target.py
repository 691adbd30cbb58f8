"""A translation that is given in part: what is written, and where a head looks, beside the library."""

import numpy as np
import pytest
from clearformer.reference.attention import attention_weights

from tests.book.explorables.shown import stored_data


def examples():
    return stored_data("forced-target")["examples"]


def fewest(example) -> int:
    return [example["runs"][run]["written"] == example["wanted"] for run in example["of"]].index(True)


def as_shown(pieces) -> list[str]:
    """Without spaces around them, and without commas, which the page takes for those of a number."""
    return [piece.strip().replace(",", "") for piece in pieces]


def chosen(shown, which, given):
    """The explorable with one of the numbers, after a guess, and with some pieces given."""
    shown.press("which", which)
    shown.guess()
    shown.set(given=given)


@pytest.mark.parametrize("which", range(3))
def test_each_piece_looks_where_the_library_says(show, which):
    """Catches a score that is not divided, rows of another run, and a piece that is said to be the model's."""
    shown, example = show("forced-target"), examples()[which]
    for given, run in enumerate(example["of"]):
        chosen(shown, which, given)
        written, queries = example["runs"][run]["written"], np.array(example["runs"][run]["queries"]).T
        A = attention_weights(np.array(example["keys"]) @ queries / np.sqrt(len(queries)))
        rows = range(len(written))
        assert shown.texts(*(f"piece-{n}" for n in rows)) == as_shown(written)
        assert shown.texts(*(f"by-{n}" for n in rows)) == ["given" if n < given else "model" for n in rows]
        looked = [example["source"][s] for s in A.argmax(axis=0)]
        assert shown.texts(*(f"at-{n}" for n in rows)) == as_shown(looked)
        shown.agrees_with("weight", A.max(axis=0))
    assert shown.page.complaints == []


def test_what_is_given_is_written(show):
    """Catches runs that are stored for another number of pieces, so that a given piece is not the wanted one."""
    for example in examples():
        for given, run in enumerate(example["of"]):
            assert example["runs"][run]["written"][:given] == example["wanted"][:given]


def test_every_goal_is_within_reach(show):
    """Catches a goal that is called reached where fewer pieces would do, or where the rest is wrong."""
    shown = show("forced-target")
    for which, example in enumerate(examples()):
        for given in range(len(example["wanted"]) + 1):
            chosen(shown, which, given)
            assert ("goal is reached" in shown.says) == (given == fewest(example))


def test_another_number_is_another_question(show):
    """Catches an answer that stays open for the next number, and a slider that goes beyond its pieces."""
    shown = show("forced-target")
    chosen(shown, 0, 1)
    shown.press("which", 2)
    assert shown.says == "Guess first; then the numbers show."
    assert shown.control("given").get_attribute("max") == str(len(examples()[2]["wanted"]))


def test_the_numbers_ask_for_different_gifts():
    """Catches a translator that was trained anew and fails in another way than the page tells."""
    kinds = ["nothing" if (f := fewest(it)) == 0 else "first" if f <= it["first"] else "all" for it in examples()]
    assert kinds == ["nothing", "first", "all"]
