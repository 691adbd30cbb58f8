"""The bank of questions that a learning platform imports."""

import re
import zipfile
from xml.etree import ElementTree

import pytest
from clearbook.drills.drill import drill

from tools.book import question_bank as bank

ESCAPED = re.compile(r"\\n|\\(.)")
QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


@pytest.fixture(scope="module")
def questions() -> list[bank.BankQuestion]:
    return [*bank.quiz_questions(), *bank.drill_questions()]


def test_every_quiz_and_every_kind_of_drill_is_there(questions):
    """Catches a chapter left out, a question without a right option or with two, and an option without words."""
    quizzes = [question for question in questions if question.options]
    assert len(questions) == len({question.name for question in questions})
    for chapter in range(1, 20):
        assert sum(question.name.startswith(f"{chapter:02d}-") for question in quizzes) >= 4, chapter
    for question in quizzes:
        assert sum(option.is_right for option in question.options) == 1
        assert all(option.text and option.why for option in question.options), question.name
        assert not re.match(r"\**\d+\.", question.text) and len(question.text) > 15, question.text
    kind = next(question for question in questions if question.name == "cache 100 bytes")
    assert kind.answers == [str(drill("cache", 100).answers["bytes"])] and kind.is_number


@pytest.mark.parametrize(
    "text", ["a {b} = c: ~d #e", r"$\nabla x \neq 1$", "$$a = b$$", "two\n\nparts", r"`\n` and \*"]
)
def test_gift_gives_back_what_was_written(text):
    """Catches \\n of \\nabla read as a new line, and a sign of Moodle's own in a formula."""
    read = ESCAPED.sub(lambda m: "\n" if m[0] == "\\n" else m[1], bank.gift_text(text))
    expected = re.sub(r"\$\$(.+?)\$\$", r"\\[\1\\]", text)
    assert read == re.sub(r"\$(.+?)\$", r"\\(\1\\)", expected)


def test_gift_has_a_block_for_each_question(questions):
    """Catches an empty line within a question, which Moodle reads as its end."""
    blocks = [block for block in bank.gift(questions).split("\n\n") if block.strip()]
    asked = [block for block in blocks if block.lstrip().startswith("::")]
    assert len(asked) == len(questions)
    assert len(blocks) - len(asked) == sum(block.lstrip().startswith("$CATEGORY: ") for block in blocks)
    for block in asked:
        bare = re.sub(r"\\.", "", block)
        assert bare.count("{") == bare.count("}") == 1, block


def test_the_package_holds_every_question_with_its_answer(questions, tmp_path):
    """Catches XML that does not parse, an answer that is none of the options, and feedback that leads nowhere."""
    bank.write_qti(tmp_path / "bank.zip", questions)
    with zipfile.ZipFile(tmp_path / "bank.zip") as archive:
        root = ElementTree.fromstring(archive.read("questions/questions.xml"))
        assert b"questions/questions.xml" in archive.read("imsmanifest.xml")
    items = root.findall(f".//{QTI}item")
    assert len(items) == len(questions)
    for item, question in zip(items, questions, strict=True):
        labels = [label.get("ident") for label in item.iter(f"{QTI}response_label")]
        rights = [it.text for it in item.findall(f".//{QTI}respcondition[@continue='No']//{QTI}varequal")]
        links = {it.get("linkrefid") for it in item.iter(f"{QTI}displayfeedback")}
        assert links == {it.get("ident") for it in item.iter(f"{QTI}itemfeedback")}
        assert len(labels) == len(question.options)
        if labels:
            assert [labels.index(right) for right in rights] == [
                i for i, it in enumerate(question.options) if it.is_right
            ]
        else:
            assert rights == question.answers
