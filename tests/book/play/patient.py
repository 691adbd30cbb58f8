"""The element on which a reader operates on the model, each action of which is waited for."""

import json

import pytest

from tests.book.play import surgery

NAME = "operate-on-it"
STEPS = ("find", "paint", "transplant", "page")
GUESSES = {"find": "2,0", "paint": "twice", "transplant": "2", "page": "0,0"}
ASKED = {"step": "find", "guesses": GUESSES, "solved": {}, "heads": {"find": {}, "paint": {}, "page": {}}}
GUESSED = json.dumps({**ASKED, "rows": {"find": {}, "paint": {}}})
KEY = f"clearformer-play-{NAME}"
KEPT = f"localStorage.setItem('{KEY}', JSON.stringify({GUESSED}))"  # every question is answered
READY = """() => {
    const e = document.querySelector('operate-on-it');
    return e.model && !e.work.latest && !e.busy && e.before[e.step];
}"""


class Patient:
    """The element, each action of which is waited for."""

    def __init__(self, element):
        self.element, self.page = element, element.page

    def press(self, selector: str):
        self.element.locator(f"{selector} >> visible=true").first.click()
        self.settle()

    def settle(self):
        self.page.wait_for_function(READY)

    def go(self, step: str):
        self.press(f"[data-control=step][data-option={step}]")

    def start(self):
        self.press("[data-control=start]")
        return self

    @property
    def says(self) -> str:
        return self.element.locator(".says").inner_text()

    def value(self, name: str) -> str:
        return self.element.locator(f'[data-value="{name}"]').inner_text()


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("%", "").strip())


def shown_bits(patient: Patient) -> list[float]:
    told = patient.element.locator(".chips .bits").all_inner_texts()
    return [number(text.split("→")[-1]) for text in told[1:]]


def own_bits(text: str, heads=None) -> list[float]:
    return surgery.bits(text, heads).tolist()


def check_answers(patient: Patient, text: str, heads):
    for name, own in zip(("she", "he"), surgery.she_and_he(text, heads), strict=True):
        assert number(patient.value(f"after-{name}")) == pytest.approx(100 * own, abs=0.051)
    she, he = surgery.she_and_he(text, heads)
    assert number(patient.value("after-she : he")) == pytest.approx(she / he, abs=0.0051)
