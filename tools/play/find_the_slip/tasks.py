"""What a question asks for, in its first sentences, as plain text with `code`."""

import re

from clearcheck.author.loading import AuthoredExercise
from clearcheck.author.release import read_source

LONGEST, LONGEST_SENTENCE = 360, 600  # characters in all, and of a first sentence that is not short
FEWEST = 40  # less says nothing
OTHER_CODE = re.compile(
    r"\bbelow\b|wrong in|museum|experiments? (?:do )?tell|^It runs|^Nor does"
)  # than that of a card
MARKUP = re.compile(r"\*\*?|\[(?P<words>[^\]]*)\]\([^)]*\)")
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z`(])")


def tasks(authored: AuthoredExercise) -> dict[int, str]:
    """By the number of the question."""
    cells = read_source(authored.folder / "source.ipynb")["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return {int(found[1]): opening(text) for text in texts if (found := re.match(r"## (\d+)\. ", text))}


def opening(text: str) -> str:
    """As many whole sentences as there is room for, up to the first formula, list or drawing.

    What is said of the code that is to be repaired is left out: on a card another code stands there.
    """
    prose = re.split(r"\n[-|] ?|\n\d\. |\$|\n\n!?\[|```", text.partition("\n")[2])[0]
    plain = MARKUP.sub(lambda found: found["words"] or "", " ".join(prose.split())).replace(" below", "")
    kept = ""
    for sentence in SENTENCE.split(plain):
        if not sentence.endswith((".", "?", "!")) or len(kept) + len(sentence) > (
            LONGEST if kept else LONGEST_SENTENCE
        ):
            break
        if not OTHER_CODE.search(sentence):
            kept += f" {sentence}"
    return kept.strip() if len(kept) > FEWEST else ""
