"""Write chapters/claims.md: every comparison of the book, its rivals, and what each of them reached.

The register is tests/claims, where the experiments and their stored numbers lie; the page shows it to readers.
"""

import re
from collections.abc import Iterator

from tests.claims import stored
from tests.claims.registry import VERDICTS, Claim, Experiment, Numbers, register
from tests.claims.shown import decimals, span
from tools import ROOT
from tools.pages import reading
from tools.pages.chapters import chapter_number, is_chapter

PAGE = reading.CHAPTERS / "claims.md"
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
INTRO = """\
# How the claims were tested

<!-- Written by `make pages` from tests/claims; edit that. -->

*A beats B*, *without A it fails*, *A needs more data*: such sentences are easy to write, and many of them fall in an afternoon. So whatever this book compares has been to court. The sentence has met the simplest rival that knows the same; all contenders got the budget of the page, and then four times as much; and everything was run from at least three seeds.

A sentence that stood is **confirmed**. One that said too much was **changed** or **dropped**, and you can read here what it was. In the tables an arrow leads from the budget of the page to four times that budget, or to as many times as *Budget* says. Where two numbers stand with a dash, they are the lowest and the highest of all seeds.

To run an experiment yourself takes the [repository](repository.md): `python tools/run.py claims 02-attention` runs those of one page.
"""  # noqa: E501


def page() -> str:
    """The whole page. Raises: ValueError where an experiment has no stored run."""
    experiments, claims = register()
    order = reading.in_the_order_of_the_book()
    pages = sorted({it.page for it in claims}, key=lambda name: order.index(name.removesuffix(".ipynb")))
    blocks = [INTRO, "\n".join(overview(pages, claims))]
    for name in pages:
        blocks.append(f"## {heading(name)}")
        said = [one for one in claims if one.page == name]
        for it in dict.fromkeys(one.experiment.name for one in said):
            blocks.append("\n".join(section(experiments[it], [one for one in said if one.experiment.name == it])))
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n"


def title(name: str) -> str:
    return next(iter(reading.headings(ROOT / name).values())).title


def heading(name: str) -> str:
    """A page as it is called here: with its number if it is a chapter."""
    path = ROOT / name
    numbered = path.parent == reading.CHAPTERS and is_chapter(path.stem)
    return f"Chapter {chapter_number(path.stem)}: {title(name)}" if numbered else title(name)


def overview(pages: list[str], claims: list[Claim]) -> Iterator[str]:
    """A table of the verdicts, page by page."""
    yield f"| page | {' | '.join(VERDICTS)} |"
    yield f"|---|{'---|' * len(VERDICTS)}"
    for name in pages:
        counts = [sum(it.page == name and it.verdict == verdict for it in claims) for verdict in VERDICTS]
        if any(counts):
            link = (ROOT / name).relative_to(reading.CHAPTERS).as_posix()
            yield f"| [{title(name)}]({link}) | {' | '.join(map(str, counts))} |"
    sums = [sum(it.verdict == verdict for it in claims) for verdict in VERDICTS]
    yield f"| **all** | {' | '.join(f'**{number}**' for number in sums)} |"


def section(it: Experiment, claims: list[Claim]) -> Iterator[str]:
    """The sentences that one experiment decides, its numbers, and where they were measured."""
    entry = stored.load(it)
    if entry is None:
        raise ValueError(f"{it.name} has no stored run: {stored.command(it.name)}")
    for one in claims:
        yield from verdict(one)
    seeds = "seeds" if it.seeds[1:] else "seed"
    first = f"{it.times[0]} times " if it.times[0] > 1 else ""
    more = f", and {it.times[-1]} times that" if it.times[1:] else ""
    yield f"*Measured:* {it.measured}. *Budget:* {first}{it.budget}{more}; {len(it.seeds)} {seeds}."
    yield ""
    yield from table(it, stored.numbers(entry))
    yield ""
    yield f"<small>{entry['machine']['processor']}, PyTorch {entry['machine']['torch']}, {entry['date']}</small>"


def verdict(one: Claim) -> Iterator[str]:
    yield f"> {plain(one.sentence)}"
    yield ""
    said = f" The page {'still says' if one.pending else 'said'}: “{plain(one.before)}”" if one.before else ""
    found = f"to be {one.verdict}" if one.pending else one.verdict
    yield f"**{found.capitalize()}.** {one.note}{said}"
    yield ""


def plain(sentence: str) -> str:
    """A sentence of a page without its links, which lead on from there."""
    return LINK.sub(r"\1", " ".join(sentence.split()))


def table(it: Experiment, numbers: Numbers) -> Iterator[str]:
    """A row for each contender, a column for each case."""
    yield f"| who | what it is | {' | '.join(case or 'result' for case in it.cases)} |"
    yield f"|---|---|{'---|' * len(it.cases)}"
    columns = {
        case: decimals(one for who in it.contenders for times in it.times for one in numbers[who, case, times])
        for case in it.cases
    }
    for who, what in it.contenders.items():
        shown = {
            (case, times): span(numbers[who, case, times], columns[case]) for case in it.cases for times in it.times
        }
        cells = (" → ".join(shown[case, times] for times in it.times) for case in it.cases)
        yield f"| {who} | {what} | {' | '.join(cells)} |"
