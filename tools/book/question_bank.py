"""The quizzes and the drills as a bank of questions for a learning platform: GIFT for Moodle, QTI 1.2 for Canvas.

    python tools/run.py questions [folder]        questions.gift and questions-qti.zip, by default in _build/questions

A question of a quiz has its options, each with the explanation that a reader of the book gets. A drill gives one
question for each name that it asks for, with the answer that the library computes, from seeds that the book does not
show.
"""

import argparse
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tools import ROOT
from tools.extension.quiz import OPTION, OPTIONS, answer, question_above
from tools.pages.reading import in_the_order_of_the_book
from tools.takeaway.gradescope import READABLE, add

SEEDS = range(100, 103)  # the pages of the book show small ones
SUMMARY = re.compile(r"<summary>(.*?)</summary>(.*)", re.S)
MARKDOWN = MarkdownIt().use(
    dollarmath_plugin,
    renderer=lambda formula, options: ("\\[{}\\]" if options["display_mode"] else "\\({}\\)").format(escape(formula)),
)


@dataclass(frozen=True)
class Option:
    text: str
    is_right: bool
    why: str


@dataclass(frozen=True)
class BankQuestion:
    """Texts are Markdown with formulas between dollars. Without options it is answered with one of `answers`."""

    name: str
    category: str
    text: str
    options: list[Option] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    is_number: bool = False


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python tools/run.py questions", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "_build" / "questions")
    folder = parser.parse_args(words).folder
    folder.mkdir(parents=True, exist_ok=True)
    found = [*quiz_questions(), *drill_questions()]
    (folder / "questions.gift").write_text(gift(found), encoding="utf-8")
    write_qti(folder / "questions-qti.zip", found)
    print(f"{len(found)} questions in {folder}: questions.gift for Moodle, questions-qti.zip for Canvas.")
    return 0


def quiz_questions(root: Path = ROOT) -> Iterator[BankQuestion]:
    """Those of all pages, in the order of the book. Raises: ValueError for an option without a text."""
    for name in in_the_order_of_the_book():
        path = root / f"{name}.ipynb"
        if not path.is_file():
            continue
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        title = next(line for line in text.splitlines() if line.startswith("# ")).removeprefix("# ")
        for number, match in enumerate(OPTIONS.finditer(text), start=1):
            asked = re.sub(r"^\*\*(?:\d+\.\s*)?(.*)\*\*$", r"\1", question_above(match), flags=re.S)
            yield BankQuestion(f"{path.stem} {number}", f"Clearformer/{title}", asked, [*options_of(match[0], name)])


def options_of(block: str, name: str) -> Iterator[Option]:
    for option in OPTION.findall(block):
        parts = SUMMARY.search(option)
        if parts is None:
            raise ValueError(f"{name}: an option without a summary: {option[:80]!r}.")
        why = re.sub(r"^\*\*(?:Right|Not quite)\.\*\*\s*", "", parts[2].strip())
        yield Option(parts[1].strip(), answer(option) == "right", why)


def drill_questions() -> Iterator[BankQuestion]:
    from clearbook.drills.drill import KINDS, drill

    for kind in KINDS:
        for seed in SEEDS:
            asked = drill(kind, seed)
            for name, right in asked.answers.items():
                text = f"{asked.question}\n\nGive `{name}`" + (
                    ", with × between the sizes." if isinstance(right, tuple) else "."
                )
                shape = (
                    []
                    if isinstance(right, int)
                    else [sep.join(map(str, right)) for sep in (" × ", "×", " x ", "x", ", ", ",")]
                )
                shape += [f"({it})" for it in shape if "," in it]
                yield BankQuestion(
                    f"{kind} {seed} {name}",
                    f"Clearformer/Drills/{kind}",
                    text,
                    answers=shape or [str(right)],
                    is_number=not shape,
                )


# GIFT


def gift(questions: list[BankQuestion]) -> str:
    """The text of a file that Moodle imports, a category for each page."""
    lines, category = [], ""
    for question in questions:
        if question.category != category:
            category = question.category
            lines.append(f"$CATEGORY: {category}\n")
        lines.append(
            f"::{gift_text(question.name)}::[markdown]{gift_text(question.text)} {{{gift_answers(question)}}}\n"
        )
    return "\n".join(lines)


def gift_answers(question: BankQuestion) -> str:
    if question.is_number:
        return f"#{question.answers[0]}"
    if not question.options:
        return " ".join(f"={gift_text(it)}" for it in question.answers)
    parts = (f"{'=' if it.is_right else '~'}{gift_text(it.text)}#{gift_text(it.why)}" for it in question.options)
    return "\n" + "\n".join(parts) + "\n"


def gift_text(text: str) -> str:
    """Formulas as Moodle sets them, its own signs escaped, and on one line: an empty line would end the question."""
    text = re.sub(r"\$\$(.+?)\$\$", r"\\[\1\\]", text, flags=re.S)
    text = re.sub(r"(?<!\\)\$(.+?)\$", r"\\(\1\\)", text, flags=re.S)
    text = re.sub(r"[\\~=#{}:]", r"\\\g<0>", text)
    return text.replace("\n\n", "\\n\\n").replace("\n", " ")


# QTI 1.2


def write_qti(target: Path, questions: list[BankQuestion]) -> None:
    """A package that Canvas imports: one bank of questions, with its manifest; the same bytes whenever it is made."""
    items = "\n".join(qti_item(f"q{i}", question) for i, question in enumerate(questions, start=1))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        add(archive, "imsmanifest.xml", MANIFEST.encode(), READABLE)
        add(archive, "questions/questions.xml", QTI.format(items=items).encode(), READABLE)


def qti_item(id: str, question: BankQuestion) -> str:
    kind = "numerical_question" if question.is_number else "short_answer_question"
    if question.options:
        kind = "multiple_choice_question"
        labels = "".join(
            f'<response_label ident="{id}_{i}">{material(it.text)}</response_label>'
            for i, it in enumerate(question.options)
        )
        choices = f"<render_choice>{labels}</render_choice>"
        response = f'<response_lid ident="response1" rcardinality="Single">{choices}</response_lid>'
        rights = [f"{id}_{i}" for i, it in enumerate(question.options) if it.is_right]
        reasons = [(f"{id}_{i}", it.why) for i, it in enumerate(question.options)]
    else:
        response = '<response_str ident="response1" rcardinality="Single"><render_fib/></response_str>'
        rights, reasons = question.answers, []
    told = "".join(
        f'<respcondition continue="Yes"><conditionvar>{equal(it)}</conditionvar>'
        f'<displayfeedback feedbacktype="Response" linkrefid="{it}_fb"/></respcondition>'
        for it, _ in reasons
    )
    scored = (
        f'<conditionvar>{"".join(map(equal, rights))}</conditionvar><setvar action="Set" varname="SCORE">100</setvar>'
    )
    feedback = "".join(
        f'<itemfeedback ident="{it}_fb"><flow_mat>{material(why)}</flow_mat></itemfeedback>' for it, why in reasons
    )
    return ITEM.format(
        id=id, title=escape(question.name), kind=kind, material=material(question.text), response=response,
        told=told, scored=scored, feedback=feedback,
    )  # fmt: skip


def equal(answer: str) -> str:
    return f'<varequal respident="response1">{escape(answer)}</varequal>'


def material(markdown: str) -> str:
    return f'<material><mattext texttype="text/html">{escape(MARKDOWN.render(markdown).strip())}</mattext></material>'


ITEM = """<item ident="{id}" title="{title}"><itemmetadata><qtimetadata><qtimetadatafield>
<fieldlabel>question_type</fieldlabel><fieldentry>{kind}</fieldentry></qtimetadatafield></qtimetadata></itemmetadata>
<presentation>{material}{response}</presentation><resprocessing>
<outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/></outcomes>
{told}<respcondition continue="No">{scored}</respcondition></resprocessing>{feedback}</item>"""
QTI = """<?xml version="1.0" encoding="UTF-8"?>
<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2"><objectbank ident="clearformer">
<qtimetadata><qtimetadatafield><fieldlabel>bank_title</fieldlabel><fieldentry>Clearformer</fieldentry></qtimetadatafield>
</qtimetadata>
{items}
</objectbank></questestinterop>
"""
MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="clearformer" xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1">
<metadata><schema>IMS Content</schema><schemaversion>1.1.3</schemaversion></metadata><organizations/>
<resources><resource identifier="questions" type="imsqti_xmlv1p2" href="questions/questions.xml">
<file href="questions/questions.xml"/></resource></resources></manifest>
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
