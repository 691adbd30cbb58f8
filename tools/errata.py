"""Write chapters/errata.md from its data, chapters/errata.yml, and from the boxes *Errata proven* of the chapters.

    python tools/errata.py

What an entry says is data; where it is proven and what the proof prints is read from the stored outputs.
"""

from collections.abc import Iterator

import pages
import yaml

DATA = pages.CHAPTERS / "errata.yml"
PAGE = pages.CHAPTERS / "errata.md"
UNBROKEN = "\N{NON-BREAKING HYPHEN}"
LONG = 6  # lines of output that a reader sees without a click
CLOSING = ("check-yourself", "common-mistakes", "practise")  # they come back to what a section has said
KINDS = {
    "result": "Changes a result",
    "wording": "Wording",
    "incomplete": "Incomplete",
    "right": "Checked, and right",
}
INTRO = """\
# Errata of the sources

<!-- Written by tools/errata.py from errata.yml and the chapters; edit those. -->

Reading one of the sources with a pencil? Look up the equation, footnote or slide here before you copy a formula from it.

This book rests on four documents, and they are good: we would not have built a course on them otherwise. Whoever types hundreds of indices gets some of them wrong. We have found {count} places worth a note; {results} of them change what a program computes. A few entries are no slips at all, but true sentences that a newcomer may take too far, or figures that we checked and found right.

**How an entry is proven.** On the page where you meet the formula there is a box, *Errata proven*. The cell below it runs the formula as printed, which fails, and the corrected one, which passes. {proven} entries have such a box so far, and what its cell printed is repeated here; a program copies it, so the two cannot drift apart.

If you think that an entry is wrong, you may be right. Open the page, change the cell, and run it.
"""  # noqa: E501


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def load() -> dict:
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))


def page() -> str:
    """The whole page, as Markdown."""
    data = load()
    entries = [entry for source in data["sources"] for entry in source["entries"]]
    boxes, mentions = pages.boxes(), pages.mentions()
    proven = {number for box in boxes for number in box.numbers}
    parts = [
        INTRO.format(
            count=len(entries),
            results=sum(entry["kind"] == "result" for entry in entries),
            proven=sum(entry["n"] in proven for entry in entries),
        ),
        "\n".join(glance(entries)) + "\n",
    ]
    shown: dict[int, str] = {}
    for source in data["sources"]:
        parts.append(f"## {source['title']}\n\n{source['intro']}\n")
        parts += ["\n\n".join(lines(entry, boxes, mentions, shown)) + "\n" for entry in source["entries"]]
    return "\n".join(parts)


def glance(entries: list[dict]) -> Iterator[str]:
    """One line for each kind, with a link to every entry."""
    for kind, name in KINDS.items():
        yield f"- **{name}:** " + ", ".join(reference(entry["n"]) for entry in entries if entry["kind"] == kind)


def reference(number: str) -> str:
    """A link to an entry; its number is not broken at the end of a line."""
    return f"[{number.replace('-', UNBROKEN)}](#{label(number)})"


def label(number: str) -> str:
    return f"errata-{number.lower()}"


def lines(entry: dict, boxes: list[pages.Box], mentions: dict, shown: dict[int, str]) -> Iterator[str]:
    """The paragraphs of one entry."""
    number = entry["n"]
    yield f"({label(number)})=\n### {number} · {entry['title']}"
    yield f"*{KINDS[entry['kind']]}.* {entry['where']}."
    facts = [f"- {name.capitalize()}: {entry[name]}" for name in ("printed", "meant") if name in entry]
    if facts:
        yield "\n".join(facts)
    yield entry["why"]
    own = [box for box in boxes if number in box.numbers]
    for box in own:
        yield from proof(box, number, shown)
    there = {box.section for box in own}
    seen = dict.fromkeys([*mentions.get(number, []), *(pages.section(place) for place in entry.get("see", []))])
    rest = [place(heading) for heading in seen if heading not in there and heading.slug not in CLOSING]
    if rest:
        yield f"Discussed in {' and '.join(filter(None, [', '.join(rest[:-1]), rest[-1]]))}."


def proof(box: pages.Box, number: str, shown: dict[int, str]) -> Iterator[str]:
    """Where an entry is proven, and what the proof prints; once, where one cell proves several entries."""
    first = shown.setdefault(id(box), number)
    if first != number:
        yield f"Proven in {place(box.section)}, together with {reference(first)}, where you find what the check prints."
        return
    yield f"Proven in {place(box.section)}. The check prints:"
    block = f"```text\n{box.evidence}\n```"
    yield block if box.evidence.count("\n") < LONG else f":::{{dropdown}} Output of the check\n{block}\n:::"


def place(heading: pages.Heading) -> str:
    number = heading.page[:2]
    return f"chapter {int(number)}, {heading.link}" if number.isdigit() else heading.link


if __name__ == "__main__":
    main()
