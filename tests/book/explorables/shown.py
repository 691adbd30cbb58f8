"""The explorables, the data that the chapters have stored for them, and one as it is shown in a browser."""

import json
import math
from decimal import Decimal
from functools import cache

import nbformat
import numpy as np
from bs4 import BeautifulSoup

from tests.book.pages import CHAPTERS, ROOT
from tests.lazy_module import LazyModule

extension = LazyModule("tools.extension.hooks")
# The chapter in which each explorable stands.
HOME = {
    "byte-pairs": CHAPTERS["tokens"],
    "soft-lookup": CHAPTERS["attention"],
    "attention-walk": CHAPTERS["self-attention"],
    "view-transpose": CHAPTERS["multi-head"],
    "lamp-folds": CHAPTERS["feed-forward"],
    "rotary-clock": CHAPTERS["position"],
    "stream-depth": CHAPTERS["residual-norm"],
    "causal-mask": CHAPTERS["encoder-decoder"],
    "kv-cache": "chapters/closer/08-cache.html",
    "patch-attention": CHAPTERS["images"],
    "forced-target": CHAPTERS["translation"],
    "state-dict": CHAPTERS["pretrained"],
    "online-softmax": CHAPTERS["cost"],
    "serving-timeline": "chapters/closer/14-serving.html",
    "cost-calculator": CHAPTERS["gpt3"],
    "latent-cache": CHAPTERS["todays-decoder"],
    "expert-routing": CHAPTERS["todays-decoder"],
    "draft-overlap": "chapters/closer/16-fewer-passes.html",
    "text-chunks": CHAPTERS["long-memory"],
    "training-road": CHAPTERS["rewards"],
}


@cache
def stored_html(tag: str) -> str:
    """The HTML that the chapter's notebook has stored for it."""
    notebook = nbformat.read((ROOT / HOME[tag]).with_suffix(".ipynb"), as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    found = [output.data["text/html"] for output in outputs if f"<{tag}" in output.get("data", {}).get("text/html", "")]
    assert len(found) == 1, f"{HOME[tag]} holds {len(found)} of <{tag}>"
    return found[0]


def stored_data(tag: str) -> dict:
    return json.loads(BeautifulSoup(stored_html(tag), "html.parser").script.string)


# As the browser does it for a reader who moves a slider, fills a field or presses a button, at once: that each can be
# reached and moved by hand is another test.
REACHED = "c => { if (!c.checkVisibility() || c.disabled) throw new Error(`${c.dataset.control} cannot be moved`) }"
SET = f"""(e, values) => Object.entries(values).forEach(([name, value]) => {{
    const control = e.querySelector(`[data-control="${{name}}"]`);
    ({REACHED})(control);
    control.value = value;
    for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind, {{ bubbles: true }}));
}})"""
PRESS = f"c => {{ ({REACHED})(c); c.click() }}"


class ExplorableOnPage:
    """An explorable in the browser: its controls by name, its numbers by name."""

    def __init__(self, page, tag):
        self.page, self.element = page, page.locator(tag)

    def control(self, name, option=None):
        chosen = "" if option is None else f'[data-option="{option}"]'
        return self.element.locator(f'[data-control="{name}"]{chosen}')

    def set(self, **values):
        self.element.evaluate(SET, {name.replace("_", "-"): str(value) for name, value in values.items()})

    def press(self, name, option=None):
        self.control(name, option).evaluate(PRESS)

    def guess(self, answer=None):
        """Answer the question that comes first, with the first answer where it does not matter which."""
        chosen = self.control("guess", answer)
        chosen.first.evaluate(PRESS)
        return self

    def texts(self, *names) -> list[str]:
        """What stands under these names, all of it asked for at once."""
        read = "(e, names) => names.map(name => e.querySelector(`[data-value='${name}']`).innerText)"
        return [text.replace("−", "-").replace(",", "") for text in self.element.evaluate(read, names)]

    def text(self, name) -> str:
        return self.texts(name)[0]

    @property
    def says(self) -> str:
        return self.element.locator(".says").inner_text()

    def verify(self, expected: dict) -> None:
        """Every number shown under these names is the expected one, to the digits that are shown."""
        shown = dict(zip(expected, self.texts(*expected), strict=True))
        wrong = {name: (shown[name], x) for name, x in expected.items() if not close(shown[name], float(x))}
        assert not wrong, f"shown and expected: {wrong}"

    def agrees_with(self, name, expected) -> None:
        self.verify({f"{name}-{i}": x for i, x in enumerate(np.ravel(expected))})


def close(text: str, exact: float) -> bool:
    """Whether a shown number is the exact one, rounded to as many digits."""
    try:
        unit = 10.0 ** Decimal(text).as_tuple().exponent
    except ArithmeticError:
        return text == "NaN" and math.isnan(exact)
    return abs(float(text) - exact) <= 0.5001 * unit + 1e-9 * abs(exact)
