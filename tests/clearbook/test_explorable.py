"""What a notebook writes into the page for an explorable: its data, its still form, and what it says of wrong ones."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from clearbook.explorable import DATA, explorable, still_table

SCRIPTS = Path(__file__).parents[2] / "tools" / "site" / "explorables"
CACHE = {"queries": np.eye(2), "keys": torch.ones(2, 3), "values": [[0.1 + 0.2], [-0.0]]}


def explorable_html(data=CACHE, fallback="<table><tr><td>still</td></tr></table>", label="Step by step") -> str:
    return explorable("kv-cache", data, fallback=fallback, label=label)._repr_html_()


def test_data_arrive_as_they_are():
    """Catches arrays and tensors that JSON cannot hold, and last bits that differ from machine to machine."""
    element = BeautifulSoup(explorable_html(), "html.parser").find("kv-cache")
    data = json.loads(element.select_one('script[type="application/json"]').string)
    assert data == {"queries": [[1, 0], [0, 1]], "keys": [[1, 1, 1]] * 2, "values": [[0.3], [0]]}
    assert element["aria-label"] == "Step by step" and element.select_one(".still table").text == "still"
    assert "-0" not in element.script.string


def test_text_cannot_end_the_script_or_the_block():
    """Catches a word that closes the script, a label that closes its attribute, a blank line that ends the HTML."""
    page = explorable(
        "soft-lookup",
        {name: ["</script><b>"] for name in DATA["soft-lookup"]},
        fallback="<p>\n\n \nstill</p>",
        label='"quoted" & <b>',
    )._repr_html_()
    soup = BeautifulSoup(page, "html.parser")
    assert page.count("</script>") == 1 and "\n\n" not in page and soup.b is None
    assert json.loads(soup.script.string)["words"] == ["</script><b>"]
    assert soup.find("soft-lookup")["aria-label"] == '"quoted" & <b>'


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"data": {"keys": 1}}, ValueError, "missing: queries, values, unknown: none"),
        ({"data": CACHE | {"more": 1}}, ValueError, "missing: none, unknown: more"),
        ({"data": CACHE | {"keys": [[1.0], [np.nan]]}}, ValueError, r"keys\[1\]\[0\] is nan"),
        ({"data": CACHE | {"keys": [object()]}}, TypeError, r"keys\[0\] is a object"),
        ({"fallback": " "}, ValueError, "needs a fallback"),
        ({"label": ""}, ValueError, "label=''"),
    ],
)
def test_what_is_wrong_is_told(change, error, told):
    """Catches an explorable that is only found to be broken by who opens the page."""
    with pytest.raises(error, match=told):
        explorable_html(**change)


def test_an_unknown_kind_is_told():
    with pytest.raises(ValueError, match=r"there is no 'kv-cash'\. Choose one of attention-walk"):
        explorable("kv-cash", {}, fallback="x", label="x")


def test_every_kind_has_its_script():
    """Catches a kind that can be written into a page and has no script, or needs other data than its script."""
    from tools.extension.hooks import elements

    assert set(elements()) == set(DATA)
    for tag, names in DATA.items():
        script = (SCRIPTS / f"{tag}.js").read_text(encoding="utf8")
        needs = script.split("static needs = {")[1].split("}")[0]
        assert tuple(part.split(":")[0].strip() for part in needs.split(",") if part.strip()) == names, tag


def test_a_still_table_shows_numbers_shortly():
    soup = BeautifulSoup(still_table(["a<b", "b"], {"row": np.array([0.12345, -1.0]), "w": ["x", 3]}), "html.parser")
    assert [cell.text for cell in soup.select("td, th")] == ["", "a<b", "b", "row", "0.123", "−1", "w", "x", "3"]
    with pytest.raises(ValueError, match="row 'short' has 1 entries, expected 2"):
        still_table(["a", "b"], {"short": [1]})
