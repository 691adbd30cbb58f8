"""How long a page is: words of prose, visible lines of code, minutes, which the line *Time:* of a chapter repeats.

.venv/bin/python -m tools.pages.lengths [chapters/03-self-attention.ipynb ...]     prints them, or those of every page
.venv/bin/python -m tools.pages.lengths --write                                    writes them into the chapters
"""

import argparse
import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT
from tools.pages.chapters import chapters, is_chapter

WORDS_A_MINUTE, SECONDS_A_LINE, SECONDS_A_QUESTION = 150, 8, 30
MOST_WORDS, MOST_LINES, MOST_MINUTES = 3000, 200, 60  # of a chapter; what is more goes to a closer look
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
QUIZ = re.compile(
    r"^## Check yourself.*?(?=^## |\Z)|^\*\*\d+\. [^\n]*\n\n(?:<details class=\"quiz\">.*?</details>\s*)+",
    re.MULTILINE | re.DOTALL,
)
QUESTION = re.compile(r"^\*\*\d+\. ", re.MULTILINE)
NO_WORDS = re.compile(
    r"^(`{3,}|~{3,}).*?^\1\s*$|\$\$.*?\$\$(?:\s*\([\w-]+\))?|<!--.*?-->|\]\([^)]*\)|</?\w[^>]*>|^:{3,}.*$|^\([\w-]+\)=$",
    re.MULTILINE | re.DOTALL,
)
FORMULA = re.compile(r"\$[^$\n]+\$")
TIME = re.compile(r"\*Time:\* (\d+) minutes to read, [\w ]+ to run, (\d+) minutes to practise")


@dataclass(frozen=True)
class Length:
    """What a reader has before them on one page."""

    words: int
    lines: int
    questions: int

    @property
    def minutes(self) -> int:
        """Of reading, code and quiz included, rounded up to five."""
        seconds = 60 * self.words / WORDS_A_MINUTE + SECONDS_A_LINE * self.lines + SECONDS_A_QUESTION * self.questions
        return 5 * math.ceil(seconds / 300)

    def excess(self) -> list[str]:
        """What is more than a chapter may have."""
        limits = {"words": MOST_WORDS, "lines": MOST_LINES, "minutes": MOST_MINUTES}
        return [f"{getattr(self, n)} {n} of at most {most}" for n, most in limits.items() if getattr(self, n) > most]


def length(path: Path) -> Length:
    """Words outside of code, display formulas and quiz, an inline formula being one; lines that are not folded."""
    words = lines = questions = 0
    for cell in cells(path):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            folded = FOLDED & set(cell["metadata"].get("tags", []))
            lines += 0 if folded else sum(bool(line.strip()) for line in source.splitlines())
            continue
        for quiz in QUIZ.findall(source):
            questions += len(QUESTION.findall(quiz))
        text = FORMULA.sub("x", NO_WORDS.sub(" ", QUIZ.sub("", source)))
        words += len(re.findall(r"[^\s|*#>_–—-]*\w\S*", text))
    return Length(words, lines, questions)


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def practice(slug: str) -> int:
    """Minutes of all questions of an exercise, rounded up to five; none for a chapter that has no exercise."""
    from clearcheck.author.loading import load_exercise

    if not (ROOT / "exercises" / "authoring" / slug).is_dir():
        return 0
    return 5 * math.ceil(sum(question.minutes for question in load_exercise(slug, ROOT).exercise.questions) / 5)


def time_line(path: Path) -> str:
    """The line *Time:* that a chapter should have. Raises: ValueError for a chapter that has none."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not TIME.search("".join(notebook["cells"][0]["source"])):
        raise ValueError(
            f"{path.name}: its first cell has no line of the form "
            "'*Time:* 40 minutes to read, half a minute to run, 90 minutes to practise'."
        )
    run = "half a minute" if notebook["metadata"]["run_seconds_at_most"] <= 30 else "a minute"
    return f"*Time:* {length(path).minutes} minutes to read, {run} to run, {practice(path.stem)} minutes to practise"


def write_time(path: Path) -> None:
    """Put the computed minutes into the first cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first = notebook["cells"][0]
    text = TIME.sub(lambda _: time_line(path), "".join(first["source"]))
    if text != "".join(first["source"]):
        first["source"] = text.splitlines(keepends=True)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write the line *Time:* of each chapter")
    given = parser.parse_args()
    paths = given.pages or sorted((ROOT / "chapters").rglob("*.ipynb"))
    print(f"{'page':32}{'words':>7}{'lines':>7}{'quiz':>6}{'minutes':>9}")
    for path in paths:
        found = length(path)
        over = "  " + ", ".join(found.excess()) if is_chapter(path.stem) else ""
        print(f"{path.stem:32}{found.words:7}{found.lines:7}{found.questions:6}{found.minutes:9}{over}")
        if given.write and path.resolve() in chapters():
            write_time(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
