"""Mutants of the right answers of an exercise, graded."""

import re

import pytest
from clearcheck.cli import main
from clearcheck.proof.mutate import ACCEPTED, CAUGHT, EQUAL, EQUAL_FILE, mutate
from clearcheck.worker.parent import Worker
from clearcheck.worker.worker_process import WorkerError

from .toy_notebook import SLUG


def entry(tried, **changes):
    question, answer, mutant = tried.key
    texts = {"question": question, "answer": answer, "mutant": mutant, "reason": "It is the same."} | changes
    return "[[equal]]\n" + "".join(f"{name} = '''{text}'''\n" for name, text in texts.items())


def test_mutants_are_caught_and_those_that_are_equal_have_a_reason(course, capsys):
    """Would catch mutants that are not graded, an equal one that needs no reason, and a reason that nobody needs."""
    file = course / "exercises" / "authoring" / SLUG / EQUAL_FILE
    found = mutate(SLUG, "means")
    accepted = [it for it, outcome in found.outcomes if outcome == ACCEPTED]
    caught = [it for it, outcome in found.outcomes if it not in accepted]
    assert len(caught) > len(accepted)
    assert found.fails == bool(accepted)
    file.write_text("".join(map(entry, [*accepted, caught[0]])), encoding="utf-8")
    told = mutate(SLUG, "means")
    assert [it.key for it, outcome in told.outcomes if outcome == EQUAL] == [it.key for it in accepted]
    assert told.stale == [caught[0].key] and told.fails
    file.write_text("".join(map(entry, accepted)), encoding="utf-8")
    assert main(["mutate", SLUG, "--question", "means", "--sample", "5"]) == 0
    assert re.search(
        r"01-columns: 5 mutants of the right answers: \d caught, \d equal, 0 accepted\.", capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[equal]]\nquestion = 'means'\n", r"each \[\[equal\]\] needs the texts"),
        ("equal = ", "cannot be read"),
    ],
)
def test_a_file_of_equal_mutants_that_is_no_such_is_told(course, capsys, text, told):
    """Would catch a traceback, or a mutant that is excused without a reason."""
    (course / "exercises" / "authoring" / SLUG / EQUAL_FILE).write_text(text, encoding="utf-8")
    assert main(["mutate", SLUG]) == 2
    assert re.search(told, capsys.readouterr().err)


@pytest.mark.parametrize("dies_at", ["column_means_0", "column_means_0_0"], ids=["the first answer", "a mutant"])
def test_mutants_that_a_dead_worker_could_not_grade_are_not_called_caught(course, monkeypatch, dies_at):
    """Would catch a worker that no longer answers, and lets every mutant count as caught."""
    asked: list[str] = []
    call = Worker.call

    def dies(it, request, packed):
        asked.append(request.name)
        return {"kind": "ended", "text": "it ended so often"} if dies_at in asked else call(it, request, packed)

    monkeypatch.setattr(Worker, "call", dies)
    with pytest.raises(WorkerError, match=r"the answer by_method is .* no longer answers"):
        mutate(SLUG, "means")


COUNTING = """@right
def by_counting(table):
    total, row = 0 * table[0], 0
    while row < len(table):
        total = total + table[row]
        row += 1
    return total / len(table)


@wrong("""


def test_a_mutant_in_a_loop_is_stopped_long_before_the_limit_of_its_question(course, monkeypatch):
    """Would catch loops that run to the limit of the question, of which the answers of an exercise have hundreds."""
    folder = course / "exercises" / "authoring" / SLUG
    (folder / "shared.py").write_text((folder / "shared.py").read_text().replace("SECONDS = 1.0", "SECONDS = 10.0"))
    (folder / "means.py").write_text((folder / "means.py").read_text().replace("@wrong(", COUNTING, 1))
    stopped: list[float] = []
    call = Worker.call

    def watched(it, request, packed):
        reply = call(it, request, packed)
        if reply["kind"] == "time":
            stopped.append(request.seconds)
        return reply

    monkeypatch.setattr(Worker, "call", watched)
    monkeypatch.setattr("clearcheck.proof.mutate.LEAST_SECONDS", 0.2)
    found = mutate(SLUG, "means")
    assert ("by_counting", CAUGHT) in {
        (it.answer, outcome) for it, outcome in found.outcomes if "row += 1 → pass" in it.mutant
    }
    assert stopped and max(stopped) < 5


def test_a_mutant_that_fails_at_the_first_check_is_asked_nothing_more(course, monkeypatch):
    """Would catch mutants that are asked for all checks, which takes several times as long."""
    asked: list[str] = []
    call = Worker.call
    monkeypatch.setattr(
        Worker, "call", lambda it, request, packed: asked.append(request.name) or call(it, request, packed)
    )
    found = mutate(SLUG, "means", sample=20)
    calls = {it.name: asked.count(it.name) for it, _ in found.outcomes}
    caught = [calls[it.name] for it, outcome in found.outcomes if outcome == CAUGHT]
    accepted = [calls[it.name] for it, outcome in found.outcomes if outcome != CAUGHT]
    assert accepted and min(accepted) > min(caught)


def test_the_mutants_of_each_question_have_a_worker_of_their_own(course, monkeypatch):
    """Would catch one notebook for all mutants of an exercise, which may be more text than a notebook may hold."""
    notebooks: list[str] = []
    read = Worker.read
    monkeypatch.setattr(Worker, "read", lambda it, data, name: notebooks.append(data.decode()) or read(it, data, name))
    found = mutate(SLUG, sample=12)
    questions = {it.question.id: it.question.name for it, _ in found.outcomes}
    assert len(found.outcomes) == 12 and len(notebooks) == len(questions) > 1
    for notebook in notebooks:
        held = {id for id, name in questions.items() if f"def {name}_" in notebook}
        assert len(held) == 1, held
