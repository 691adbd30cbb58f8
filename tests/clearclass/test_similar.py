"""Submissions that are alike: told to the instructor, never to a learner, and not where all answer alike."""

import json
import random
from pathlib import Path

from clearcheck.author.release import learner_notebook, read_source
from clearclass import similar
from clearclass.learners import Learner
from clearclass.similar import EQUAL, NEARLY, RENAMED, similar_pairs, told_pairs
from clearclass.standings import Entry, GradeSummary, Standing
from clearclass.submitted_files import SubmittedFile

from tests.clearcheck.test_summary_page import words
from tests.clearcheck.toy_notebook import RANGES, SLUG

from .class_folder import ADA, grade, put, table

COPIED = """def column_means(table):
    # sum it up by hand, row after row
    total = np.zeros(table.shape[1])
    for row in table:
        total = total + row
    count = max(len(table), 1)
    result = total / count
    return np.array([float(value) for value in result], dtype=table.dtype)"""
RENAMED_COPY = (
    COPIED.replace("total", "acc")
    .replace("row", "r")
    .replace("# sum it up by hand, acc after r", "# mine")
    .replace("count", "n")
)
CHANGED_COPY = RENAMED_COPY.replace("    n = max", "    print(n)\n    n = max")
OTHER = """def column_means(table):
    height, width = table.shape
    answer = []
    for j in range(width):
        answer.append(sum(table[i, j] for i in range(height)) / height)
    if not answer:
        raise ValueError("nothing to do here")
    return np.asarray(answer) * 1.0 + 0.0 * table.mean(axis=0)"""


def standing(name: str, *sources: str, slug: str = SLUG) -> Standing:
    put(f"plain/{name}.ipynb", *sources)
    file = SubmittedFile(Path("work/plain") / f"{name}.ipynb", Path("work/plain"))
    learner = Learner(name, file=file.name)
    return Standing(learner, Entry(file, learner, GradeSummary(file.name, exercise=slug)), (), name)


def found(*standings: Standing) -> list[tuple[str, str, str]]:
    return [(pair.one.learner.name, pair.other.learner.name, pair.how) for pair in similar_pairs(standings)]


def test_what_is_alike_and_how(course):
    """Catches a copy with other names, comments or one more line, and two of one's own that are called alike."""
    ada = standing("ada", COPIED)
    assert found(ada, standing("bob", COPIED + "  ")) == [("ada", "bob", EQUAL)]
    assert found(ada, standing("bob", RENAMED_COPY)) == [("ada", "bob", RENAMED)]
    assert found(ada, standing("bob", "x = 1", CHANGED_COPY)) == [("ada", "bob", NEARLY)]
    assert found(ada, standing("bob", OTHER)) == []
    assert found(ada, standing("bob", COPIED, slug="02-rows")) == []
    pages = found(ada, standing("bob", COPIED), standing("cy", COPIED), standing("dee", OTHER), standing("eve", OTHER))
    assert pages == [("ada", "bob", EQUAL), ("ada", "cy", EQUAL), ("dee", "eve", EQUAL)]


def test_what_was_handed_out_is_no_likeness(course):
    """Catches learners who are told to be alike since both have the notebook of the course."""
    source = read_source(course / "exercises" / "authoring" / SLUG / "source.ipynb")
    long = "\n".join(f"table_{number} = {number}" for number in range(30))
    source["cells"].append({**source["cells"][0], "id": "long", "source": long})
    (course / "exercises" / "authoring" / SLUG / "source.ipynb").write_text(json.dumps(source))
    empty = json.dumps(learner_notebook(source, SLUG))
    handed_out = [standing("ada"), standing("bob")]
    for one in handed_out:
        one.counts.file.path.write_text(empty)
    assert found(*handed_out) == []
    assert found(standing("cy", RANGES), standing("dee", RANGES)) == []  # so short that all write it
    (course / "exercises" / "authoring" / SLUG / "source.ipynb").unlink()
    assert found(*handed_out) == [("ada", "bob", EQUAL)]  # nobody knows what was handed out


def test_what_half_of_the_class_writes_is_no_likeness(course):
    """Catches an answer that is usual being held against everyone who gives it."""

    def variant(number: int) -> str:
        return COPIED.replace("total", f"total_{number}").replace("count", f"count_{number}")

    usual = [standing(f"u{number}", variant(number)) for number in range(12)]
    assert found(*usual) == []
    assert found(*usual[:2]) == [("u0", "u1", RENAMED)]


def test_files_that_cannot_be_compared(course):
    """Catches a run that ends since a file is gone or has become no notebook after it was graded."""
    ada, bob, cy = (standing(name, COPIED) for name in ("ada", "bob", "cy"))
    bob.counts.file.path.unlink()
    cy.counts.file.path.write_text("[" * 100_000)
    assert found(ada, bob, cy) == [] and told_pairs([]) == []


def test_only_the_instructor_sees_it(work):
    """Catches a learner's page that says whose work is like it."""
    put(f"moodle/{ADA}/nb.ipynb", COPIED)
    put("plain/cy.ipynb", RENAMED_COPY)
    grade("--jobs", "1")
    [row] = table("out/similar.csv")
    assert (row["learner"], row["other learner"], row["how"], row["alike in percent"]) == (
        "Ada Lovelace",
        "cy",
        RENAMED,
        "100",
    )
    overview = words(Path("out/overview.html").read_text())
    assert f"{SLUG}: Ada Lovelace 12 and cy, {RENAMED} (100 % of their words)" in overview
    assert "It is no proof" in overview
    for path in (*Path("out/feedback").iterdir(), *Path("out/gradescope").iterdir()):
        assert not ("Ada" in path.read_text() and "cy" in path.stem)
    assert "similar" not in "".join(path.read_text() for path in Path("out/feedback").iterdir())


def test_a_large_class_is_compared_by_what_is_rare(course, monkeypatch):
    """Catches the words of all pairs being compared one by one, for which a large class would take an hour."""
    compared = []
    ratio = similar._ratio
    monkeypatch.setattr(similar, "_ratio", lambda one, other: compared.append(one) or ratio(one, other))
    draw = random.Random(1)
    lines = [f"    step[{n}] = table[{n}] * {draw.random():.3f} + np.sum(table[{n}:])" for n in range(100)]
    texts = ["\n".join(["def column_means(table):", *draw.sample(lines, 10)]) for _ in range(40)]
    works = [standing(f"l{number}", text) for number, text in enumerate(texts)]
    assert found(*works, standing("copy", texts[7] + "\n    return table")) == [("l7", "copy", NEARLY)]
    assert len(compared) < len(works)
