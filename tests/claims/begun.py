"""What an experiment has found so far, in .cache/claims: one that was stopped goes on where it was."""

import json
from pathlib import Path

from tests.claims.pages import ROOT
from tests.claims.registry import Experiment, Run

FOLDER = ROOT / ".cache" / "claims"


def path_of(it: Experiment) -> Path:
    return FOLDER / f"{it.name.replace('/', '-')}.json"


def load(it: Experiment, code: str) -> tuple[dict[Run, float], float]:
    """The numbers of this code that are there already, and the CPU seconds that they took."""
    path = path_of(it)
    begun = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if begun.get("code") != code:
        return {}, 0.0
    return {Run(*one): number for one, number in begun["found"] if Run(*one) in it.runs()}, begun["cpu_seconds"]


def save(it: Experiment, code: str, found: dict[Run, float], cpu_seconds: float) -> None:
    path = path_of(it)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"code": code, "found": [[one, found[one]] for one in found], "cpu_seconds": cpu_seconds}),
        encoding="utf-8",
    )


def forget(it: Experiment) -> None:
    path_of(it).unlink(missing_ok=True)
