"""The front page tells what is so: numbers that chapters print, hours that they name, a grade as it is given."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup
from clearbook.figures.transformer_map import DECODER, ENCODER, transformer_map

from tools import ROOT
from tools.extension import front_page, live_poster, live_transformer
from tools.pages.chapters import chapters

INDEX = (ROOT / "index.md").read_text(encoding="utf8")
CARDS = re.findall(r":link: chapters/([\w/-]+)\.html#([\w-]+)\n(.*?)\n:::", INDEX, flags=re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?")


def printed_text(chapter: str) -> str:
    cells = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text(encoding="utf8"))["cells"]
    return "\n".join("".join(out.get("text", [])) for cell in cells for out in cell.get("outputs", []))


@pytest.mark.parametrize(("chapter", "section", "text"), CARDS, ids=[card[0] for card in CARDS])
def test_every_number_of_a_result_is_printed_by_its_chapter(chapter, section, text):
    """Catches a result that was typed, or that its chapter no longer has; a value that is computed has a test below."""
    computed = re.findall(r"\{\{ \w+ \}\}", text)
    numbers = NUMBER.findall(text)
    found = set(NUMBER.findall(printed_text(chapter)))
    assert (numbers or computed) and [number for number in numbers if number not in found] == []


def test_the_card_of_the_root_says_what_its_numbers_say():
    """Catches losses of other contenders, and a card that stays when the stored runs turn over."""
    told = front_page.substitutions()
    without, attention, undivided = (float(told[name]) for name in front_page.LETTERS)
    assert attention < undivided < without and undivided - attention > (without - attention) / 2


BLOCK = re.search(r"```\{live-transformer\} (\S+) (.*?)\n:head: (.*?)\n\n(.*?)```", INDEX, flags=re.DOTALL)


def test_the_first_picture_is_what_the_model_does():
    """Catches a picture of another head or text, a weight that was typed, a sign that is not explained, and a task that
    no reader can answer.
    """
    name, prompt, job, tasks = BLOCK.groups()
    element = BeautifulSoup(live_poster.poster(name, prompt, job, tasks), "html.parser").find("live-transformer")
    layer, head = live_poster.head_for(ROOT / "models" / name, job)
    assert element["head"] == f"{layer + 1},{head + 1}"
    weights, tokens = live_poster.weights_of(name, prompt, layer, head, ROOT / "models")
    assert "".join(tokens[1:]) == prompt and sum(weights[-1]) == pytest.approx(1, abs=1e-5)
    shades = [float(chip["style"].removeprefix("--w:")) for chip in element.select(".live-chips span")]
    assert shades == pytest.approx(weights[-1], abs=0.006)
    signs = {sign for sign in "¶␣⏎" if sign in element.select_one(".live-chips").text}
    assert signs and all(sign in element.select_one(".live-signs").text for sign in signs)
    assert len(element.select("svg rect.lit")) == len(tokens) and len(element.select("li")) == live_poster.BARS
    told = json.loads(element["tasks"])
    assert len(told) == 3 and all(len(task["choices"]) == 3 for task in told)


@pytest.mark.parametrize("broken", ["kind: guess", "kind: loop\n  colour: red"])
def test_a_task_that_does_not_fit_stops_the_build(broken):
    """Catches a question on the page whose buttons do nothing."""
    rest = "title: t\n  ask: a\n  text: x\n  then: y\n  choices: {a: b}"
    with pytest.raises(ValueError, match="a task has the fields"):
        live_poster.poster("austen", "I", BLOCK[3], f"- {broken}\n  {rest}")
    with pytest.raises(ValueError, match="no head of austen is called 'spelling'"):
        live_poster.poster("austen", "I", "spelling")


def test_there_are_three_results():
    assert len(CARDS) == 3


def test_hours_are_those_of_the_chapters(tmp_path):
    """Catches a chapter that is not counted, minutes taken for hours, and a chapter without its time."""
    minutes = front_page.chapter_minutes()
    assert len(minutes) == len(chapters())
    told = front_page.substitutions()
    routes = [int(told[f"hours_{route}"]) for route in ("afternoon", "roadmap", "writer", "all")]
    assert routes == sorted(set(routes))
    assert sum(map(sum, minutes.values())) <= 60 * int(told["hours_all"]) < sum(map(sum, minutes.values())) + 60
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "01-a.ipynb").write_text('{"cells": [{"source": ["# A\\n"]}]}')
    with pytest.raises(ValueError, match=r"01-a\.ipynb: its first cell has no"):
        front_page.chapter_minutes(tmp_path)


def test_the_plan_of_a_term_has_every_chapter_and_what_it_builds_on():
    """Catches a chapter that is missing, sums that do not fit, and one that is to come before an earlier one."""
    rows = re.findall(r"<tr>(.*?)</tr>", front_page.course_plan(), flags=re.DOTALL)[1:]
    cells = [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", row)] for row in rows]
    *each, total = cells
    minutes = front_page.chapter_minutes()
    numbers = [c[0].split(".")[0] for c in each]
    assert [(n, int(c[1]), int(c[2])) for n, c in zip(numbers, each, strict=True)] == [
        (n, *m) for n, m in minutes.items()
    ]
    assert [int(s) for s in total[1:5]] == [sum(int(c[i]) for c in each) for i in range(1, 5)]
    needed = {n: re.findall(r"\w+", c[5]) for n, c in zip(numbers, each, strict=True)}
    assert needed["1"] == [] and all(needed[n] for n in front_page.ROADMAP[1:])
    assert all(numbers.index(first) < numbers.index(n) for n in numbers for first in needed[n])


def test_every_computed_value_stands_on_the_page():
    assert set(re.findall(r"\{\{ (\w+) \}\}", INDEX)) == set(front_page.substitutions())


def test_the_grade_is_one_that_names_its_mistake():
    """Catches a card that is made up, and links that lead nowhere from the front page."""
    slug, question, mistake = re.search(r"\{grader-card\} (\S+) (\S+) (\S+)", INDEX).groups()
    card = front_page.grader_card(slug, question, mistake)
    assert "Your result equals a known mistake" in card and 'href="chapters/03-self-attention.html#' in card
    with pytest.raises(KeyError):
        front_page.grader_card(slug, question, "no_such_mistake")


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.words = [], []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes)["href"])

    def handle_data(self, data):
        self.words.append(data)


def test_each_box_of_the_map_leads_to_a_chapter_and_says_so():
    """Catches a box that leads nowhere, and one that does not say where it leads."""
    links = Links()
    links.feed(transformer_map("chapters/", ".ipynb"))
    assert len(links.found) == len(ENCODER) + len(DECODER) and all((ROOT / link).is_file() for link in links.found)
    assert sum(bool(re.match(r"chapters? \d", word)) for word in links.words) == len(links.found)
    assert {link[9:11] for link in links.found} == {"01", "03", "05", "06", "07", "08", "09"}


def test_the_map_is_the_model_of_chapter_8():
    """Catches norms after the sums, and a final norm, a head or a sum that is missing."""
    inputs, norm = ["tokens → columns", "+ positions"], ["norm", "final norm"]
    reads, writes = ["self-attention", "feed-forward"], ["masked self-attention", "cross-attention", "feed-forward"]
    for boxes, parts in ((ENCODER, [*inputs, *reads, norm[1]]), (DECODER, [*inputs, *writes, norm[1]])):
        named = [box.text for box in boxes if box.text != norm[0] and not box.text.startswith("head")]
        before = [below.text for below, box in pairwise(boxes) if box.text in writes + reads]
        assert named == parts and set(before) == {norm[0]}
    assert DECODER[-1].text.startswith("head")
    assert transformer_map().count("<circle") == len(reads) + len(writes)


def test_the_map_does_not_shrink_until_its_letters_are_lost():
    """Catches a map that takes the width of a phone, however small its letters are then."""
    drawn = transformer_map()
    width, legible = (float(re.search(f"{name}(\\d+)", drawn)[1]) for name in ('width="', "--legible: "))
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawn)]
    assert "max-width: max(100%, var(--legible))" in drawn and min(sizes) * legible / width >= 10


@pytest.mark.parametrize("path", sorted((ROOT / "chapters").glob("*.ipynb")), ids=lambda path: path.stem)
def test_what_stands_for_a_live_model_is_what_it_says(path):
    """Catches a table that was printed for other weights than those in models/."""
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    for cell in cells:
        for pasted in re.findall(r"<live-transformer.*?</live-transformer>", "".join(cell["source"]), flags=re.DOTALL):
            model, prompt = re.search(r'model="(.*?)" prompt="(.*?)"', pasted).groups()
            assert pasted == live_transformer.snippet(model, prompt), f"{path.stem}, {cell['id']}: print it again"
