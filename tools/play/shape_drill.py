"""The kinds of drills for the page: what is drawn, what is asked, and by which formulas."""

from clearbook.drills.kinds import KINDS


def data() -> dict:
    return {"kinds": [_kind(name) for name in KINDS]}


def _kind(name: str) -> dict:
    kind = KINDS[name]
    return {
        "name": name,
        "question": kind.question,
        "ranges": {letter: [values.start, values.stop, values.step] for letter, values in kind.ranges.items()},
        "derived": kind.derived,
        "formulas": kind.formulas,
        "slips": {asked: dict(slips) for asked, slips in kind.slips.items()},
    }
