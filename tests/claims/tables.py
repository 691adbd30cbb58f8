"""The tables of chapters 8 and 9 that hold stored numbers, as their pages have them."""

from tests.claims.chapter_08 import seen_by
from tests.claims.chapter_09 import RATES
from tests.claims.registry import Numbers
from tests.claims.shown import span
from tests.claims.slips import PARTS, SLIPS


def slips_table(found: Numbers, learned: Numbers, trained: Numbers) -> str:
    """What the page shows of the slips: the checks that see one, and what training makes of it."""
    rows = [
        "| typed wrongly | checks | loss by heart | of 8 written | of 400 right | in four times the steps |",
        "|---|---|---|---|---|---|",
    ]
    for name in SLIPS:
        cells = [span(learned[name, "loss", 1], 3), span(learned[name, "written", 1], 0)]
        cells += [span(trained[name, "", times], 0) for times in (1, 4)]
        rows.append(f"| {name} | {seen_by(name, found)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def parts_table(numbers: Numbers) -> str:
    """What the page shows of the parts: how many of 400 phrases are right without each, from every start."""
    rows = ["| left out | of 400 right, three starts | in four times the steps |", "|---|---|---|"]
    for name in PARTS:
        cells = (", ".join(f"{it:.0f}" for it in numbers[name, "", times]) for times in (1, 4))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def rates_table(numbers: Numbers) -> str:
    """What the page shows of the rates: bits per character after the whole training, from every start."""
    rows = ["| rate | bits per character, three starts |", "|---|---|"]
    for rate in RATES:
        rows.append(f"| {rate} | {', '.join(f'{it:.2f}' for it in numbers[rate, '', 1])} |")
    return "\n".join(rows)
