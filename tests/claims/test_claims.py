"""Promise three: every registered sentence stands on its page and follows from what its experiment has given."""

from itertools import combinations
from pathlib import Path

import pytest
import yaml

from tests.claims import stored
from tests.claims.pages import ROOT, cells, is_said
from tests.claims.registry import CLAIMS, EXPERIMENTS, Claim, Experiment, Numbers, register
from tools.pages import claims as claims_page

register()
PENDING = [it for it in CLAIMS if it.pending]


def page_and_words(it: Claim) -> str:
    return f"{Path(it.page).stem}: {it.sentence[:40]}"


def swapped(numbers: Numbers, one: str, other: str) -> Numbers:
    """The numbers of two contenders in each other's place."""
    places = {one: other, other: one}
    return {(places.get(who, who), *rest): found for (who, *rest), found in numbers.items()}


@pytest.mark.parametrize("it", EXPERIMENTS.values(), ids=lambda it: it.name)
def test_the_stored_run_is_that_of_the_experiment(it: Experiment):
    """Catches numbers that are missing, were typed, or came from other code or other rivals."""
    assert not (told := stored.problem(it)), told


@pytest.mark.parametrize("it", CLAIMS, ids=page_and_words)
def test_the_sentence_follows_from_the_numbers(it: Claim):
    """Catches a sentence that says more than was measured, and a check that would say so whoever had won."""
    numbers = stored.numbers(stored.load(it.experiment) or {"found": {}})
    assert it.holds(numbers), f"{it.experiment.name}: it does not follow that “{it.sentence}”. Change it or its entry"
    deciding = {who for pair in combinations(it.about, 2) if not it.holds(swapped(numbers, *pair)) for who in pair}
    idle = sorted({*it.about} - deciding)
    assert not idle, f"{it.experiment.name}: “{it.sentence}” holds whoever has the numbers of {', '.join(idle)}"


@pytest.mark.parametrize("it", [it for it in CLAIMS if not it.pending], ids=page_and_words)
def test_the_page_says_the_sentence(it: Claim):
    """Catches a sentence that was edited without its entry."""
    page = it.page
    assert is_said(it.sentence, page), (
        f"{page} does not say “{it.sentence}”. If it was reworded, change its claim, behind {it.experiment.place}, and "
        "ask whether the numbers still say so"
    )
    assert cells(page).get(it.cell, {}).get("cell_type") == "code", f"{page} has no code cell {it.cell!r}"


def test_what_is_pending_is_not_yet_said():
    """Catches a page that has been mended, and an entry that does not know it."""
    done = [it.sentence for it in PENDING if is_said(it.sentence, it.page)]
    assert not done, f"the pages say now what was pending; take `pending` off: {done}"


def test_every_chapter_with_a_claim_is_run_again_each_week():
    """Catches a chapter whose experiments nobody repeats."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "claims.yml").read_text(encoding="utf-8"))
    run = workflow["jobs"]["claims"]["strategy"]["matrix"]["chapter"]
    assert run == sorted({it.slug.partition("-")[0] for it in EXPERIMENTS.values()})


def test_readers_see_what_was_found():
    """Catches a page of the book that tells of other numbers or other sentences than the register."""
    told = claims_page.PAGE.read_text(encoding="utf-8")
    assert told == claims_page.page(), "run make pages: chapters/claims.md is not what the register gives"


def test_the_page_of_the_claims_follows_the_book():
    """Fails where the pages stand in the order of their file names, PyTorch at the end and closer looks in front."""
    rows = [line for line in claims_page.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    names = [f"chapters/{row.partition('](')[2].partition('.ipynb')[0]}" for row in rows]
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [name for part in contents["parts"] for page in part["chapters"] for name in _with_sections(page)]
    assert names == [name for name in listed if name in names]
    assert len(names) > 20


def _with_sections(page: dict) -> list[str]:
    return [it["file"] for it in (page, *page.get("sections", ())) if "file" in it]  # others are links
