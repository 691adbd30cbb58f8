"""The pages of the grader's proof, chapters/grader-proof/NN-slug.md: for the site, git ignores them.

    python tools/run.py proofs [03-self-attention ...]     every exercise when none is named

Proving all exercises takes minutes, so the site is built with the pages of the last proof, as long as nothing has
changed that decides what it gives. Where there is none, a page lists the solutions without results.
"""

import argparse
import hashlib
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path

from clearcheck.author.loading import ExerciseNotFound, slugs_in
from clearcheck.proof.page import ProofText, page, proof_text
from clearcheck.proof.prove import not_graded

from tools import ROOT
from tools.pages import reading
from tools.takeaway.learners_copy import load

AUTHORING = ROOT / "exercises" / "authoring"
FOLDER = reading.CHAPTERS / "grader-proof"
INDEX = reading.CHAPTERS / "grader-proof.md"
PACKAGES = ("numpy", "torch")  # what computes the results, beside our own code
NOT_GRADED = """\
These are the answers on which the grader of this exercise is tried: right ones written in different styles, and wrong
ones that each hold one mistake that learners make, with what the learner is told. Where a mistake is a right answer
with a line or two changed, the table shows the line as it was (-) and as the mistake has it (+).

:::{note}
What the grader made of them is not shown, since this copy of the site was built without asking it. `make proofs` grades
them all, which takes some minutes, and the next `make book` shows the results.
:::"""


def main(words: list[str]) -> int:
    """0, or 1 where a proof has errors or an exercise is unknown."""
    parser = argparse.ArgumentParser(prog="python tools/run.py proofs", description=__doc__.splitlines()[0])
    parser.add_argument("slugs", nargs="*", metavar="SLUG", help="the name of an exercise (default: all)")
    asked = parser.parse_args(words).slugs or slugs_in(AUTHORING)
    failed = False
    with ProcessPoolExecutor() as pool:
        try:
            for slug, proof in zip(asked, pool.map(proof_text, asked), strict=True):
                write(slug, proof)
                print("\n".join([*proof.errors, proof.summary]), flush=True)
                failed |= bool(proof.errors)
        except ExerciseNotFound as error:
            print(error, file=sys.stderr)
            return 1
    return int(failed)


def write(slug: str, proof: ProofText) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{slug}.md").write_text(f"{proof.page}\n{mark(slug)}\n", encoding="utf-8")


def all_pages() -> dict[Path, str]:
    """The text of every page: that of the last proof where it still holds, else one without results."""
    return {
        FOLDER / f"{slug}.md": proven(slug) or page(not_graded(load(slug, ROOT)), NOT_GRADED)
        for slug in slugs_in(AUTHORING)
    }


def proven(slug: str) -> str:
    """The page of the last proof; nothing where there is none, or of another state of the exercise or the grader."""
    path = FOLDER / f"{slug}.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return text if text.endswith(f"\n{mark(slug)}\n") else ""


def mark(slug: str) -> str:
    """A comment that is another one as soon as a file or a package has changed that a proof may depend on."""
    found = hashlib.sha256(of_every_exercise())
    for path in sorted((AUTHORING / slug).glob("*.*")):
        found.update(path.name.encode() + path.read_bytes())
    return f"<!-- {found.hexdigest()[:16]} -->"


@cache
def of_every_exercise() -> bytes:
    """The state of the library, of the grader, of what exercises share, and of what they compute with."""
    found = hashlib.sha256(platform.python_version().encode())
    for package in PACKAGES:
        found.update(version(package).encode())
    for path in sorted([*(ROOT / "lib").rglob("*.py"), *AUTHORING.glob("*.py")]):
        found.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return found.digest()


def listed() -> str:
    """How many solutions each exercise is proven with, and a link to its page, as a table."""
    lines = ["| exercise | right answers | wrong answers |", "|---|---|---|"]
    right = wrong = 0
    for slug in slugs_in(AUTHORING):
        it = load(slug, ROOT)
        lines.append(
            f"| [{it.exercise.title}](grader-proof/{slug}.md) | {len(it.right.entries)} | {len(it.wrong.entries):,} |"
        )
        right += len(it.right.entries)
        wrong += len(it.wrong.entries)
    return "\n".join([*lines, f"| **all** | **{right:,}** | **{wrong:,}** |"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
