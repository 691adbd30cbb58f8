"""The register can fail: on a run that is missing, stale or touched, a sentence that does not follow, a bad entry."""

import json
from types import SimpleNamespace

import pytest

from tests.claims import __main__ as command
from tests.claims import begun, code_hash, pages, stored
from tests.claims.registry import claim, experiment, register

PAGE = "chapters/02-attention.ipynb"
GAIN = 2.0


def gain(contender):
    return GAIN if contender == "strong" else 1.0


def toy_experiment(measure=None, **changed):
    """An experiment without any training: strong wins by the budget, weak gets nothing from it."""

    def lift(page, run):
        return gain(run.contender) * run.times + run.seed / 10

    given = {"contenders": {"strong": "it", "weak": "its rival"}, "budget": "none", "measured": "height", "known": {}}
    return experiment(PAGE, **(given | changed))(measure or lift)


def strong_wins(numbers):
    return min(numbers["strong", "", 1]) > max(numbers["weak", "", 1])


def toy_claim(it, **changed):
    given = {"about": ("strong", "weak"), "cell": "setup", "holds": strong_wins, "note": "", "known": []}
    return claim(it, "Strong wins.", **(given | changed))


@pytest.fixture(autouse=True)
def begun_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(begun, "FOLDER", tmp_path / "begun")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the stored run of the toy, whose code is this file."""
    monkeypatch.setattr(code_hash, "follow", lambda path, name, found: found.update({(path, name): str(GAIN)}))
    command.run(toy_experiment(), [], tmp_path, tell=lambda line: None)
    return tmp_path


def test_a_run_is_stored_with_all_that_it_depends_on(folder):
    """Catches numbers without a date, a machine, the code or the configuration, and seeds in another order."""
    entry = stored.load(toy_experiment(), folder)
    assert stored.problem(toy_experiment(), folder) == ""
    assert entry["date"] and entry["machine"]["processor"] and entry["cpu_seconds"] >= 0
    assert entry["configuration"]["contenders"] == ["strong", "weak"]
    assert stored.numbers(entry) == {
        ("strong", "", 1): [2.0, 2.1, 2.2],
        ("strong", "", 4): [8.0, 8.1, 8.2],
        ("weak", "", 1): [1.0, 1.1, 1.2],
        ("weak", "", 4): [4.0, 4.1, 4.2],
    }


def test_a_run_that_is_missing_is_told_with_the_command_that_makes_it(tmp_path):
    told = stored.problem(toy_experiment(), tmp_path)
    assert "no stored run" in told and "python tools/run.py claims 02-attention/lift" in told


@pytest.mark.parametrize("changed", [{"seeds": (0, 1)}, {"times": (1, 8)}, {"contenders": {"strong": "", "new": ""}}])
def test_another_configuration_asks_for_another_run(folder, changed):
    """Catches numbers of fewer seeds, of a smaller budget, or of other rivals than the entry says."""
    told = stored.problem(toy_experiment(**changed), folder)
    assert next(iter(changed)) in told and "Renew it: python tools/run.py claims 02-attention/lift" in told


def test_other_code_asks_for_another_run(folder, monkeypatch):
    monkeypatch.setattr("tests.claims.test_register.GAIN", 3.0)
    told = stored.problem(toy_experiment(), folder)
    assert "has changed" in told and "Renew it: python tools/run.py claims 02-attention/lift" in told


def test_two_numbers_that_change_places_are_noticed(folder):
    """Each pair: of two seeds, of two budgets, of two contenders."""
    path = folder / "02-attention.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    found = whole["02-attention/lift"]["found"]
    places = [(who, times, seed) for who in found for times in ("1", "4") for seed in range(3)]
    for one in places:
        for other in places:
            if one == other:
                continue
            path.write_text(json.dumps(with_swapped(whole, one, other)), encoding="utf-8")
            assert "changed by hand" in stored.problem(toy_experiment(), folder), (one, other)


def with_swapped(whole, one, other):
    copy = json.loads(json.dumps(whole))
    found = copy["02-attention/lift"]["found"]
    rows = {who: {times: row.split() for times, row in found[who][""].items()} for who in found}
    (a, b, i), (c, d, j) = one, other
    rows[a][b][i], rows[c][d][j] = rows[c][d][j], rows[a][b][i]
    for who in found:
        found[who][""] = {times: " ".join(row) for times, row in rows[who].items()}
    return copy


def test_the_command_tells_which_sentences_do_not_follow(tmp_path):
    """Catches a run that succeeds whatever it has found."""
    lines: list[str] = []
    it = toy_experiment()
    known = [toy_claim(it), toy_claim(it, holds=lambda numbers: not strong_wins(numbers))]
    assert not command.run(it, known, tmp_path, tell=lines.append)
    assert [line.split(":")[0].strip() for line in lines[-2:]] == ["holds", "DOES NOT HOLD"]
    assert command.run(it, known[:1], tmp_path, tell=lines.append)


def test_an_experiment_that_was_stopped_goes_on_and_not_with_the_numbers_of_other_code(tmp_path, monkeypatch):
    """Catches an hour that is lost, and old numbers in a new run."""
    done: list[str] = []

    def stopping(page, run):
        done.append(run.contender)
        if len(done) == 5:
            raise KeyboardInterrupt
        return gain(run.contender)

    it = toy_experiment(stopping)
    with pytest.raises(KeyboardInterrupt):
        command.run(it, [], tmp_path, tell=lambda line: None)
    assert command.run(it, [], tmp_path, tell=lambda line: None) and len(done) == len(it.runs()) + 1
    assert command.run(it, [], tmp_path, tell=lambda line: None) and len(done) == 2 * len(it.runs()) + 1
    begun.save(it, "other code", {one: 0.0 for one in it.runs()}, 1.0)
    assert begun.load(it, "this code") == ({}, 0.0)


def test_the_command_names_the_experiments_that_there_are(capsys):
    assert command.main(["99-nothing"]) == 1
    assert f"There are: {', '.join(register()[0])}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"about": ("strong",)}, "two or more"),
        ({"about": ("strong", "nobody")}, "nobody"),
        ({"verdict": "true"}, "confirmed, changed, dropped"),
        ({"verdict": "changed"}, "`before`"),
        ({"before": "Weak wins."}, "`before`"),
        ({"pending": True}, "`pending`"),
    ],
)
def test_an_entry_that_is_none_is_refused(changed, told):
    with pytest.raises(ValueError, match=told):
        toy_claim(toy_experiment(), **changed)


def test_an_experiment_needs_a_rival_and_a_name_of_its_own():
    with pytest.raises(ValueError, match="needs a rival"):
        toy_experiment(contenders={"strong": "it"})
    known: dict = {}
    toy_experiment(known=known)
    with pytest.raises(ValueError, match="already"):
        toy_experiment(known=known)


def test_a_sentence_is_found_across_lines_and_in_captions_and_not_when_a_word_has_changed(monkeypatch):
    caption = {"mystnb": {"figure": {"caption": "Strong is above weak."}}}
    page = {
        "a": {"cell_type": "markdown", "source": ["Strong\n", "wins."], "metadata": {}},
        "b": {"cell_type": "code", "source": ["# Weak wins."], "metadata": caption},
    }
    monkeypatch.setattr(pages, "cells", lambda name: page)
    pages.prose.cache_clear()
    said = [
        pages.is_said(it, "a page") for it in ("Strong wins.", "Strong is above weak.", "Strong won.", "Weak wins.")
    ]
    pages.prose.cache_clear()
    assert said == [True, True, False, False]


# What counts as the code of an experiment.

BEFORE = (
    '"""A file."""\nSIZE = 3\n\n\ndef helper(x):\n    return x * SIZE\n\n\ndef lift(page, run):\n    return helper(1)\n'
)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("return x * SIZE", "return x * SIZE  # a comment", True),
        ("def helper(x):\n", 'def helper(x):\n    """Said."""\n', True),
        ("return x * SIZE", "return (\n        x\n        * SIZE\n    )", True),
        ("def lift", "OTHER = 4\n\n\ndef lift", True),
        ("SIZE = 3", "SIZE = 4", False),
        ("x * SIZE", "SIZE + x", False),
        ("helper(1)", "helper(2)", False),
    ],
)
def test_the_hash_follows_what_the_experiment_computes(tmp_path, monkeypatch, old, new, same):
    """Catches a helper or a constant that changes unseen, and a comment that costs an hour of training."""
    assert (hash_of(BEFORE, tmp_path, monkeypatch) == hash_of(BEFORE.replace(old, new), tmp_path, monkeypatch)) == same


def hash_of(text, folder, monkeypatch):
    path = folder / "file.py"
    path.write_text(text, encoding="utf-8")
    code_hash.module.cache_clear()
    monkeypatch.setattr(code_hash, "ROOT", folder)
    measure = SimpleNamespace(__name__="lift", __code__=SimpleNamespace(co_filename=str(path)))
    return code_hash.code_hash(SimpleNamespace(measure=measure, page=PAGE, cells=()))


def test_the_hash_takes_in_the_cells_of_the_page_and_what_is_called_of_clearbook():
    """Catches a page whose model is another than the one that was measured, and a training that has changed."""
    it = register()[0]["02-attention/first-card"]
    with_less = [SimpleNamespace(measure=it.measure, page=it.page, cells=it.cells[:n]) for n in (0, 3, len(it.cells))]
    hashes = {code_hash.code_hash(one) for one in with_less}
    assert len(hashes) == 3 and code_hash.code_hash(it) in hashes
    found: dict = {}
    code_hash.follow(pages.ROOT / "lib" / "clearbook" / "ladder.py", "letters_loss", found)
    assert {"Ladder", "RATE", "austen_novels"} <= {name for _, name in found}


@pytest.mark.parametrize(
    ("name", "told"), [("gone", "no code cell 'gone'"), ("the-loop:gone", "'the-loop' of .* does not define gone")]
)
def test_what_is_gone_from_the_page_is_named(name, told):
    with pytest.raises(ValueError, match=told):
        pages.statements(PAGE, (name,))


def test_of_a_cell_only_definitions_are_run_and_of_these_the_one_that_is_named(monkeypatch):
    """Catches a page that trains its models again, or prints, before an experiment begins."""
    text = "print('a')\nfor i in range(3):\n    raise ValueError\nSIZE = 3\n\n\ndef twice(x):\n    return 2 * x\n"
    monkeypatch.setattr(pages, "cells", lambda name: {"a": {"cell_type": "code", "source": [text]}})
    pages.statements.cache_clear()
    whole, one = pages.definitions("a page", ("a",)), pages.definitions("a page", ("a:twice",))
    pages.statements.cache_clear()
    assert (whole.SIZE, whole.twice(2), one.twice(2), hasattr(one, "SIZE")) == (3, 4, 4, False)


def test_a_training_that_answers_for_several_cases_is_done_once():
    page, done = SimpleNamespace(), []
    for key in ("one", "one", "other"):
        pages.once(page, key, lambda key=key: done.append(key))
    assert done == ["one", "other"]
