"""The stored results of the experiments, a file a page: numbers, configuration, code, processor and date."""

import hashlib
import json
from pathlib import Path

from tests.claims.code_hash import code_hash
from tests.claims.registry import FOLDER, Experiment, Numbers, Run

RESULTS = FOLDER / "results"


def command(name: str) -> str:
    return f"python tools/run.py claims {name}"


def configuration(it: Experiment) -> dict:
    """What the numbers are numbers of."""
    return {
        "contenders": list(it.contenders),
        "cases": list(it.cases),
        "budget": it.budget,
        "times": list(it.times),
        "seeds": list(it.seeds),
    }


def load(it: Experiment, folder: Path = RESULTS) -> dict | None:
    """What is stored of an experiment, if anything is."""
    path = folder / f"{it.slug}.json"
    return json.loads(path.read_text(encoding="utf-8")).get(it.name) if path.is_file() else None


def save(it: Experiment, found: dict[Run, float], facts: dict, folder: Path = RESULTS) -> dict:
    """Store the numbers of an experiment beside those of the others of its page; return what is stored.

    ``facts`` are the hash of the code, the machine, the date and the CPU seconds.
    """
    path = folder / f"{it.slug}.json"
    folder.mkdir(exist_ok=True)
    results = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    entry = {**facts, "configuration": configuration(it), "found": nested(it, found)}
    results[it.name] = entry | {"seal": seal(entry)}
    path.write_text(json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return results[it.name]


def nested(it: Experiment, found: dict[Run, float]) -> dict:
    """The numbers as they are stored: by contender, case and times a list with one for each seed, as text."""
    return {
        contender: {
            case: {
                str(times): " ".join(f"{found[Run(contender, case, times, seed)]:.6g}" for seed in it.seeds)
                for times in it.times
            }
            for case in it.cases
        }
        for contender in it.contenders
    }


def seal(entry: dict) -> str:
    """A hash over everything else that is stored, so that no number changes or changes places unseen."""
    rest = {name: value for name, value in entry.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:12]


def numbers(entry: dict) -> Numbers:
    """The numbers by contender, case and times."""
    return {
        (contender, case, int(times)): [float(number) for number in row.split()]
        for contender, by_case in entry["found"].items()
        for case, by_times in by_case.items()
        for times, row in by_times.items()
    }


def problem(it: Experiment, folder: Path = RESULTS) -> str:
    """What is wrong with the stored run of an experiment, and how to mend it; nothing if it can be used."""
    entry, renew = load(it, folder), f"Renew it: {command(it.name)}"
    if entry is None:
        return f"{it.name} ({it.place}): its experiment has no stored run. {renew}"
    if entry["seal"] != seal(entry):
        return f"{it.name}: the stored run was changed by hand in {it.slug}.json. {renew}"
    if entry["code"] != code_hash(it):
        return f"{it.name} ({it.place}): the experiment, or a cell that it takes from the page, has changed. {renew}"
    stored, now = entry["configuration"], configuration(it)
    if changed := [name for name in now if stored[name] != now[name]]:
        return f"{it.name} ({it.place}): {', '.join(changed)} changed since the stored run. {renew}"
    return ""
