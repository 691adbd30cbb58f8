import argparse
import json
import sys
from collections import Counter

from clearcheck.author.loading import load_exercise, slugs_in

from tools import ROOT
from tools.play.find_the_slip import STORED, __doc__, stored
from tools.play.find_the_slip.deck import chapter_deck

AUTHORING = ROOT / "exercises" / "authoring"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.play.find_the_slip", description=__doc__.splitlines()[0])
    parser.add_argument("slugs", nargs="*", metavar="SLUG", help="the name of an exercise (default: all)")
    parser.add_argument("--write", action="store_true", help="store what was found")
    asked = parser.parse_args(words)
    known = slugs_in(AUTHORING)
    decks = {deck["slug"]: deck for deck in stored() if deck["slug"] in known}
    left_out = Counter[str]()
    for slug in asked.slugs or known:
        decks[slug], reasons = chapter_deck(load_exercise(slug, ROOT))
        left_out += reasons
        print(f"{slug}: {len(decks[slug]['cards'])} cards", flush=True)
    print(*(f"left out, {count}: {reason}" for reason, count in left_out.most_common()), sep="\n")
    if asked.write:
        STORED.write_text(as_text([decks[slug] for slug in sorted(decks)]), encoding="utf-8")
    return 0


def as_text(decks: list[dict]) -> str:
    """A card a line, so that a change of one is a change of one line."""
    blocks = []
    for deck in decks:
        head = json.dumps({k: v for k, v in deck.items() if k != "cards"}, ensure_ascii=False)[:-1]
        cards = ",\n".join(json.dumps(it, ensure_ascii=False, separators=(",", ":")) for it in deck["cards"])
        blocks.append(f'{head}, "cards": [\n{cards}\n]}}')
    return "[\n" + ",\n".join(blocks) + "\n]\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
