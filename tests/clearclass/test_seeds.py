"""Inputs of one's own for each learner: other ones than the neighbour's, and the same whenever they are drawn."""

import json
from pathlib import Path

import pytest
from clearcheck.cli import main
from clearclass.learners import Learner
from clearclass.roster import Person
from clearclass.seeds import seed_of
from clearclass.submitted_files import SubmittedFile

from .class_folder import FOLDERS, SEED, grade, same_files, table


def test_a_seed_belongs_to_the_learner():
    """Catches a seed that changes with the folder, the order or the roster, and one for two people of one name."""
    ada = Learner("Ada", "12", "moodle")
    assert seed_of(ada, 5) == 2202668043  # as in earlier runs, whose disputes can be looked into
    same = [Learner("Ada King", "12", "moodle", people=(Person(9, "Ada King", "12"),)), Learner("Ada", "12", late=True)]
    others = [Learner("Ada", "13", "moodle"), Learner("Bob"), Learner("J\udc94rg"), Learner("", "1")]
    assert {seed_of(learner, 5) for learner in same} == {seed_of(ada, 5)}
    drawn = {seed_of(learner, secret) for learner in [ada, *others] for secret in (5, 6)}
    assert len(drawn) == 10 and all(0 <= seed < 2**32 for seed in drawn)
    file = SubmittedFile(Path("a/cy.ipynb"), Path("a"))
    assert seed_of(Learner("cy", file=file.name), 5) == seed_of(Learner("cy", file="elsewhere/cy.ipynb"), 5)


def test_a_class_with_seeds_of_their_own(work, capsys):
    """Catches inputs that all have in common, a seed that the results do not tell, and a resumed run with others."""
    grade("--seed", SEED, "--seed-by-learner", "--jobs", "1")
    assert f"Each learner has a seed of their own, drawn from {SEED}." in capsys.readouterr().err
    rows = {row["learner"]: row for row in table("out/grades.csv")}
    seeds = {name: rows[name]["seed"] for name in ("Ada Lovelace", "bobby", "cy")}
    assert seeds["Ada Lovelace"] == str(seed_of(Learner("", "12"), int(SEED))) and len(set(seeds.values())) == 3
    everything = "".join(path.read_text() for path in Path("out/feedback").iterdir())
    assert not [seed for seed in (SEED, *seeds.values()) if seed in everything]
    path = "work/canvas/bobby_LATE_77_8899_nb.ipynb"
    assert main(["grade", path, "--seed", seeds["bobby"], "--json"]) == 0  # what a dispute begins with
    again = json.loads(capsys.readouterr().out)
    assert str(again["points"]) == rows["bobby"]["points"]
    Path("work/plain/cy.ipynb").write_text(Path("work/plain/cy.ipynb").read_text() + "\n")
    grade("--jobs", "1")  # goes on as it began
    assert "Going on: 4 of 5" in capsys.readouterr().err
    assert {name: row["seed"] for name, row in rows.items()} == {
        row["learner"]: row["seed"] for row in table("out/grades.csv")
    }
    assert main(["grade", *FOLDERS, "--results", "two", "--seed", SEED, "--seed-by-learner", "--jobs", "1"]) == 2
    assert same_files(Path("out"), Path("two"))


@pytest.mark.parametrize("results", [True, False])
def test_two_kinds_of_seeds_do_not_meet(work, capsys, results):
    """Catches a table in which some have inputs of their own and others do not; without results nothing is kept."""
    grade("--seed", SEED, "--jobs", "1")
    capsys.readouterr()
    options = ["--results", "out"] if results else []
    assert main(["grade", "work/plain", "--seed-by-learner", "--json", *options]) == 2
    said = capsys.readouterr()
    if results:
        assert "was graded with one seed for all: leave --seed-by-learner out" in said.out
    else:
        assert json.loads(said.out.splitlines()[0])["seed"] != int(SEED)
