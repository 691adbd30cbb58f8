"""Promise one: every display equation of the book is executed against the library, and the checks can fail."""

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tests.equations.collect import PrintedEquation, all_equations, equations
from tests.equations.mutate import mutants, try_mutants
from tests.equations.registry import equation, fingerprint, registered_equations, run, table

REGISTRY = registered_equations()
PRINTED = all_equations()
LABELS = {printed.label: printed for printed in PRINTED if printed.label}
PAGES = sorted({printed.page for printed in PRINTED})
MUTANTS_TO_CATCH = 0.95


def test_the_book_prints_equations():
    """Catches a search that finds nothing, for which every test below would pass."""
    assert {printed.page for printed in PRINTED} >= {
        "chapters/01-tokens.ipynb",
        "chapters/02-attention.ipynb",
        "chapters/03-self-attention.ipynb",
    }


def page_of(label: str) -> str:
    """The page that prints an equation, so that -k 03-self-attention chooses the tests of one chapter."""
    return Path(LABELS[label].page).stem if label in LABELS else "nowhere"


def page_and_label(label: str) -> str:
    return f"{page_of(label)}: {label}"


@pytest.mark.parametrize("page", PAGES)
def test_every_equation_has_a_label(page):
    unlabelled = [printed for printed in PRINTED if printed.page == page and printed.label is None]
    assert not unlabelled, "write (eq-…) behind the closing $$ of\n" + "\n".join(p.latex.strip() for p in unlabelled)


def test_no_label_is_used_twice():
    twice = [label for label, count in Counter(p.label for p in PRINTED if p.label).items() if count > 1]
    assert not twice, f"labels used more than once: {twice}"


@pytest.mark.parametrize("page", PAGES)
def test_every_equation_has_a_check(page):
    missing = [label for label, printed in LABELS.items() if printed.page == page and label not in REGISTRY]
    assert not missing, f"no check in tests/equations/chapter_NN.py for\n{page}: " + ", ".join(missing)


def test_every_check_has_an_equation():
    orphans = [f"{e.label} ({e.place})" for e in REGISTRY.values() if e.label not in LABELS]
    assert not orphans, "printed nowhere; delete or relabel the checks:\n" + "\n".join(orphans)


@pytest.mark.parametrize("label", sorted(LABELS.keys() & REGISTRY.keys()), ids=page_and_label)
def test_the_check_belongs_to_what_is_printed(label):
    """An edited equation asks for its check again."""
    printed, entry, now = LABELS[label], REGISTRY[label], fingerprint(LABELS[label].latex)
    assert entry.fingerprint == now, (
        f"{printed.page}: {label} was edited to\n{printed.latex.strip()}\nRead its check at {entry.place} with it; "
        f'when they agree, set its fingerprint to "{now}".'
    )


@pytest.mark.parametrize("label", sorted(REGISTRY), ids=page_and_label)
def test_the_equation_holds_in_the_library(label):
    run(REGISTRY[label].check)


@pytest.mark.weekly
def test_the_checks_notice_broken_equations(record_property):
    """Swaps indices, drops transposes, factors, roots and exponentials, shortens sums: the checks must fail.

    In a process without the shape checks of the test run: the values have to tell, and it is three times as fast.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        caught, survivors, idle = pool.submit(try_mutants).result()
    share = caught / (caught + len(survivors))
    record_property("mutants", f"{caught} of {caught + len(survivors)} caught")
    print(f"broken equations noticed: {caught} of {caught + len(survivors)} ({share:.1%})")
    print("\n".join(survivors))
    assert not idle, f"nothing in these checks can be broken; evaluate the equation inside table(lambda …): {idle}"
    assert share >= MUTANTS_TO_CATCH, f"only {share:.1%} noticed; these passed unseen:\n" + "\n".join(survivors)


# The tools themselves must be able to fail.


def test_collect_reads_labels_and_leaves_code_alone():
    text = "A\n\n$$\ny = Ax\n$$ (eq-a)\n\n`$$no$$`\n\n```python\n'$$no$$'\n```\n\n$$z$$\n"
    assert equations(text, "page") == [
        PrintedEquation("page", "eq-a", "\ny = Ax\n"),
        PrintedEquation("page", None, "z"),
    ]


def test_collect_refuses_display_maths_without_a_label():
    with pytest.raises(ValueError, match=r"begin\{align"):
        equations("\\begin{align}a\\end{align}", "page")


def test_a_wrong_check_fails_and_a_mutant_of_a_right_one_is_caught():
    def right_check(rng):
        a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
        return table(lambda i, j: sum(a[i, k] * b[k, j] for k in range(4)), 3, 2), a @ b

    def wrong_check(rng):
        a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
        return table(lambda i, j: sum(a[i, k] * b[k, j] for k in range(3)), 3, 2), a @ b

    run(right_check)
    with pytest.raises(AssertionError):
        run(wrong_check)
    changes = list(mutants(right_check))
    assert len(changes) >= 8
    assert not any(alive for *_, alive in changes)


def test_a_label_cannot_be_registered_twice():
    label = next(iter(REGISTRY))
    with pytest.raises(ValueError, match=label):
        equation(label, "0" * 10)(lambda rng: None)
