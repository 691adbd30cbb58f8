"""The tables of chapters 8 and 9 and a closer look that hold stored numbers, as their pages have them."""

from tests.claims.chapter_08 import seen_by
from tests.claims.chapter_09 import RATES
from tests.claims.chapter_09_recipes import LONGER, LOOP, MUON
from tests.claims.closer_09_more_steps import SAME, THIRD
from tests.claims.closer_09_short_text import HELD_OUT, LEARNED, STEPS
from tests.claims.closer_09_your_own_text import NOTHING, NOVELS, OWN, TABLE
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


def rates_table(numbers: Numbers, longer: Numbers) -> str:
    """What the page shows of the rates: bits per character after 560 and after 2,240 steps, from every start."""
    rows = ["| bits per character, three starts | 560 steps | 2,240 steps |", "|---|---|---|"]
    for rate in RATES:
        rows.append(f"| a rate of {rate} | {starts(numbers[rate, '', 1])} | {starts(longer[rate, '', 4])} |")
    return "\n".join(rows)


def recipes_table(numbers: Numbers, by_the_clock: Numbers) -> str:
    """What the page shows of Muon: bits per character after 560 and after 2,240 steps, from every start."""
    rows = ["| bits per character, three starts | 560 steps | 2,240 steps |", "|---|---|---|"]
    for name in (LOOP, MUON):
        rows.append(f"| {name} | {starts(numbers[name, '', 1])} | {starts(numbers[name, '', 4])} |")
    longer = (starts(by_the_clock[LONGER, "", times]) for times in (1, 4))
    rows.append(f"| the page's loop, for Muon's time | {' | '.join(longer)} |")
    return "\n".join(rows)


def own_text_table(numbers: Numbers, merged: Numbers) -> str:
    """What the closer look shows of its two starts, with the page's steps and with four times as many."""
    rows = ["| bits per character, three starts | 300 steps | 1,200 steps |", "|---|---|---|"]
    both = {**numbers, **merged}
    for name in (NOTHING, OWN, NOVELS):
        rows.append(f"| {name} | {starts(both[name, '', 1])} | {starts(both[name, '', 4])} |")
    rows.append(f"| the {TABLE}, counted once | {span(numbers[TABLE, '', 1], 2)} | |")
    return "\n".join(rows)


def third_of_the_rate(numbers: Numbers) -> str:
    """What the closer look says of two rates for its thousand steps."""
    third, same = (starts(numbers[who, "", 1]) for who in (THIRD, SAME))
    return f"It ends at {third} bits, where the rate of the page ends at {same}."


def short_text_table(numbers: Numbers) -> str:
    """What the closer look shows of ten thousand characters: bits on what is held out and on what was learned."""
    rows = ["| bits per character, three starts | held out | learned |", "|---|---|---|"]
    for name in STEPS:
        rows.append(f"| {name} | {' | '.join(starts(numbers[name, case, 1]) for case in (HELD_OUT, LEARNED))} |")
    counted = (span(numbers[TABLE, case, 1], 2) for case in (HELD_OUT, LEARNED))
    rows.append(f"| the {TABLE}, counted once | {' | '.join(counted)} |")
    return "\n".join(rows)


def starts(found: list[float]) -> str:
    return ", ".join(f"{it:.2f}" for it in found)
