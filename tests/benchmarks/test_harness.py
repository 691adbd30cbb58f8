"""The harness: every candidate once a round, in turns; ratios the right way round; memory exact to the byte."""

import json
from datetime import date

import matplotlib.pyplot as plt
import pytest
import torch

from benchmarks import backward, readme
from benchmarks import report as reports
from benchmarks.__main__ import main
from benchmarks.facts import processor
from benchmarks.harness import Report, Row, Times, interleave, one
from benchmarks.memory import kept_bytes, peak_bytes


def test_every_candidate_runs_once_a_round_after_two_calls_that_are_not_counted():
    calls = []
    times = interleave({name: lambda n=name: calls.append(n) for name in "abc"}, rounds=5)
    assert calls[:6] == list("abcabc")
    assert all(sorted(calls[start : start + 3]) == list("abc") for start in range(6, 21, 3))
    assert len({tuple(calls[start : start + 3]) for start in range(6, 21, 3)}) > 1, "the order is always the same"
    assert {name: len(values) for name, values in times.seconds.items()} == {"a": 5, "b": 5, "c": 5}


def test_what_happens_before_is_passed_on():
    seen = []
    interleave({"a": seen.append}, rounds=2, before={"a": lambda: 7})
    assert seen == [7] * 4


def test_ratios_are_taken_round_by_round():
    times = Times({"ours": [1.0, 2.0, 4.0], "peer": [2.0, 2.0, 12.0]})
    spread = times.ratio("peer", "ours")
    assert (spread.low, spread.median, spread.high) == (1.5, 2.0, 2.5)
    assert times.best_ratio("ours", "peer").median == 0.5
    assert times.fastest_candidate(["ours", "peer"]) == "ours"


@pytest.mark.parametrize(("at_most", "verdicts"), [(False, (False, True, True)), (True, (True, True, False))])
def test_a_target_holds_on_its_side_only(at_most, verdicts):
    rows = [Row("work", "what", one(value), 1.0, at_most) for value in (0.9, 1.0, 1.1)]
    assert tuple(row.meets_target for row in rows) == verdicts
    assert Row("work", "what", one(2.0)).meets_target is None


def test_peak_memory_counts_what_lives_at_the_same_time():
    x = torch.zeros(1000)
    assert peak_bytes(lambda: x.exp()) == 4000
    assert peak_bytes(lambda: x.exp().exp()) == 8000  # the first is still there when the second is made
    assert peak_bytes(lambda: (x.new_zeros(500), x.new_zeros(250))) == 3000


def test_kept_memory_leaves_the_inputs_out():
    x = torch.ones(1000, requires_grad=True)
    assert kept_bytes(lambda: x * x, (x,)) == 0
    assert kept_bytes(lambda: x.exp(), (x,)) == 4000  # the result, of which the gradient is made


def measured_on(processor: str) -> dict:
    return {"machine": {"processor": processor, "threads": 2, "torch": "2.13"}}


def test_results_of_other_benchmarks_are_kept(tmp_path):
    row = Row("training, tiny", "faster than b", one(1.25), 1.05)
    limit = Row("compile", "graph breaks", one(0), 0, True)
    reports.save(tmp_path, {"first": Report(rows=[row])}, measured_on("A") | {"rounds": 9})
    reports.save(tmp_path, {"second": Report(rows=[limit])}, measured_on("A") | {"rounds": 3})
    results = json.loads((tmp_path / "results-other.json").read_text(encoding="utf8"))
    assert results["first"]["rounds"] == 9 and results["first"]["rows"][0]["measured"]["median"] == 1.25
    assert results["second"]["rows"][0]["target"] == 0
    assert "<svg" in (tmp_path / "results.svg").read_text(encoding="utf8")


def test_results_of_other_processors_are_kept(tmp_path):
    """Catches a run on one maker's processor that deletes what was measured on the other's, and one counted twice."""

    def save(processor, value):
        row = Row("training, tiny", "faster than b", one(value), 1.05)
        path = reports.save(tmp_path, {"training": Report(rows=[row])}, measured_on(processor))
        assert path.name in ("results-amd.json", "results-intel.json")
        found = reports.by_processor(reports.stored_results(tmp_path))
        return {name: [row["measured"]["median"] for row in rows] for name, rows in found.items()}

    assert save("Intel Xeon", 1.25) == {"Intel Xeon": [1.25]}
    assert save("AMD EPYC", 1.5) == {"AMD EPYC": [1.5], "Intel Xeon": [1.25]}
    assert save("Intel Xeon", 1.3) == {"Intel Xeon": [1.3], "AMD EPYC": [1.5]}
    assert save("AMD Ryzen", 1.1) == {"Intel Xeon": [1.3], "AMD Ryzen": [1.1]}  # the last one of a maker
    assert all(name in (tmp_path / "results.svg").read_text(encoding="utf8") for name in ("Intel Xeon", "AMD Ryzen"))


def test_results_say_where_and_when_they_were_measured(tmp_path, monkeypatch):
    row = Row("training, tiny", "faster than b", one(1.25), 1.05)
    monkeypatch.setattr(backward, "run", lambda options: Report(rows=[row]))
    main(["--only", "backward", "--out", str(tmp_path), "--threads", str(torch.get_num_threads())])
    result = json.loads((tmp_path / f"results-{reports.maker(processor())}.json").read_text(encoding="utf8"))[
        "backward"
    ]
    assert date.fromisoformat(result["date"]) and result["machine"]["torch"] == torch.__version__


def test_the_table_says_what_holds_and_what_is_missed():
    rows = [Row("a", "faster than b", one(1.25), 1.05), Row("a", "memory", one(0.5), 0.25, True), Row("a", "c", one(2))]
    heading, *lines = reports.table(rows, measured_on("AMD EPYC")["machine"]).splitlines()
    assert heading == "AMD EPYC, 2 threads, torch 2.13"
    assert [line.split()[-1] for line in lines[1:]] == ["holds", "MISSED", "2.00×"]
    assert "≥ 1.05×" in lines[1] and "≤ 0.25×" in lines[2]


def test_what_is_missed_is_red_and_says_so():
    """Catches a missed target that only a colour tells, red for one that holds, and colour codes in a file."""
    rows = [Row("a", "faster than b", one(1.25), 1.05), Row("a", "memory", one(0.5), 0.25, True)]
    plain = reports.table(rows, measured_on("AMD EPYC")["machine"])
    coloured = reports.table(rows, measured_on("AMD EPYC")["machine"], coloured=True)
    assert coloured.replace(reports.RED, "").replace(reports.PLAIN, "") == plain
    assert [line for line in coloured.splitlines() if reports.RED in line] == [
        f"{reports.RED}{line}{reports.PLAIN}" for line in plain.splitlines() if line.endswith("MISSED")
    ]


def test_the_figure_tells_what_is_missed_by_its_mark_as_well():
    """Catches a figure in which only a colour tells."""
    _, ax = plt.subplots()
    for y, value in enumerate((2.0, 0.5)):
        measured = {"low": value, "median": value, "high": value}
        reports.draw_row(ax, y, {"measured": measured, "target": 1.0, "at_most": False})
    marks = [line.get_marker() for line in ax.lines if line.get_marker() != "None"]
    plt.close()
    assert marks == [reports.HELD_MARK, reports.MISSED_MARK] and marks[0] != marks[1]


@pytest.mark.parametrize(
    ("processor", "maker"),
    [
        ("AMD EPYC", "amd"),
        ("AMD64 Family 25 Model 17 Stepping 1, AuthenticAMD", "amd"),
        ("Intel64 Family 6 Model 158 Stepping 10, GenuineIntel", "intel"),
        ("Intel(R) Xeon(R) Processor @ 2.10GHz", "intel"),
        ("Apple M2", "apple"),
        ("arm", "arm"),
        ("x86_64", "other"),
    ],
)
def test_the_maker_is_told_by_the_name(processor, maker):
    assert reports.maker(processor) == maker


def test_the_readme_quotes_what_was_measured():
    """Catches a README that quotes a target, or what was measured before: make bench writes its table."""
    makers = reports.stored_results(readme.HERE)
    assert readme.section(makers) in readme.README.read_text(encoding="utf8")


def test_the_table_of_the_readme_has_a_place_for_what_one_maker_lacks():
    def result(processor, work, **more):
        row = {"work": work, "what": "faster than transformers", "measured": {"median": 1.234}, "target": 9.0}
        other = row | {"what": "faster than litgpt"}
        return {"generation": measured_on(processor) | {"date": "2026-11-29", "rows": [row, other]} | more}

    lines = readme.section({"amd": result("A", "one"), "intel": result("B", "two", note="Of B.")}).splitlines()
    assert lines[0] == "| work | beside | A, 2 threads, 2026-11-29 | B, 2 threads, 2026-11-29 |"
    assert lines[2:4] == ["| one | transformers | 1.23 × | — |", "| two | transformers | — | 1.23 × |"]
    assert lines[-1] == "Of B."


def test_a_wrong_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "speed"])
    assert "speed" in capsys.readouterr().err


def test_a_number_of_rounds_below_one_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--rounds", "0"])
    assert "0, expected at least 1" in capsys.readouterr().err


def test_the_figure_divides_so_that_above_one_holds():
    assert reports.score({"target": 2.0, "at_most": False}, 3.0) == 1.5
    assert reports.score({"target": 3.0, "at_most": True}, 2.0) == 1.5
