"""What the built site leaves out is what nobody would see."""

import io
import math
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from tools.extension import formulas, lean_pages
from tools.extension.lean_svg import lean, relative

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NODE = pytest.mark.skipif(
    not formulas.can_typeset(), reason="needs Node.js and MathJax (make test fetches it when npm is there)"
)


@pytest.fixture
def drawing() -> str:
    fig, ax = plt.subplots(figsize=(2, 2))
    ax.plot([0, 1, 2], [0.123456, 1.5, 0.25], label="$x_1$ and more")
    ax.fill_between([0, 1], [0, 1], alpha=0.2)
    ax.imshow(np.eye(2), extent=(0, 1, 0, 1))
    ax.legend()
    file = io.StringIO()
    fig.savefig(file, format="svg")
    plt.close(fig)
    return file.getvalue()


def positions(path: str) -> list[tuple[float, float]]:
    """The points of a path, absolute or relative, curves with their control points."""
    found, here, start, command = [], (0.0, 0.0), (0.0, 0.0), ""
    tokens = re.findall(r"[MLQCHVmlqchvzZ]|-?(?:\d+\.?\d*|\.\d+)", path)
    sizes = {"M": 2, "L": 2, "Q": 4, "C": 6, "H": 1, "V": 1}
    while tokens:
        if tokens[0].isalpha():
            command = tokens.pop(0)
        if command in "zZ":
            here = start
            continue
        kind, moves = command.upper(), command.islower()
        numbers = [float(tokens.pop(0)) for _ in range(sizes[kind])]
        x, y = here if moves else (0.0, 0.0)
        if kind == "H":
            points = [(x + numbers[0], here[1])]
        elif kind == "V":
            points = [(here[0], y + numbers[0])]
        else:
            points = [(x + a, y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
        found += points
        here = points[-1]
        if kind == "M":
            start, command = here, "l" if moves else "L"
    return found


@pytest.mark.parametrize(
    "path",
    [
        "M 1 2 \nL 3.005 2 \nL 3.005 -4 \nz\nM 10 10 \nL 9.5 9.25 \n",
        "M 0 0 \nQ 1.111 2.222 3.333 4.444 \nC 1 2 3 4 5 6 \nL 5 7 \nL 6 8 \nL 7 9",
        "M 5 5 \nL 6 6 \nz \nL 7 7",
    ],
)
def test_a_relative_path_goes_through_the_same_points(path):
    """Catches a sign missing between two numbers, errors that add up, and a wrong start after a closed piece."""
    short = relative(path)
    assert len(short) < len(path)
    np.testing.assert_allclose(positions(short), positions(path), atol=0.0051)


def test_a_drawing_keeps_all_that_is_drawn(drawing):
    """Catches letters, lines and images that are lost with the names of their groups."""
    short = lean(drawing)
    assert len(short) < 0.6 * len(drawing) and lean(short) == short
    before, after = ElementTree.fromstring(drawing), ElementTree.fromstring(short)
    for tag in ("path", "use", "image", "clipPath"):
        count = [len(list(root.iter(f"{{http://www.w3.org/2000/svg}}{tag}"))) for root in (before, after)]
        assert count[0] == count[1] > 0, tag
    ids = {node.get("id") for node in after.iter()}
    wanted = {node.get("href")[1:] for node in after.iter() if (node.get("href") or "").startswith("#")}
    assert wanted | set(re.findall(r"url\(#(\w+)\)", short)) <= ids
    assert before.get("viewBox") == after.get("viewBox")


def test_what_matplotlib_has_not_drawn_stays_as_it_is():
    text = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><title>logo</title></svg>'
    assert lean(text) == text


def test_rules_for_what_no_page_has_are_left_out():
    sheet = """.used{a:b}.gone{a:b}.used,.gone{c:d}p>.used:not(.gone){e:f}#here a{g:h}#away a{g:h}
    @media (min-width: 1px){.gone{a:b}}@media print{.used{i:j}.gone{a:b}}@font-face{font-family:x}"""
    made = lean_pages.lean_sheet(sheet, {"used", "here"}).replace("\n", "").replace(" ", "")
    assert made == (
        ".used{a:b}.used{c:d}p>.used:not(.gone){e:f}#herea{g:h}@mediaprint{.used{i:j}}@font-face{font-family:x}"
    )


def test_marks_go_where_code_looks_as_the_code_beside_it():
    """Catches a keyword that loses its colour."""
    config = SimpleNamespace(
        html_theme_options={"pygments_light_style": "a11y-light", "pygments_dark_style": "a11y-dark"}
    )
    idle = lean_pages.idle_marks(config)
    assert {"n", "p", "w"} <= set(idle) and not {"k", "s2", "mi", "c1", "nf"} & set(idle)


def test_a_drawing_says_its_size_and_how_wide_its_letters_have_to_have_it(tmp_path):
    """Catches a figure that is shrunk to a phone's column though its letters are then too small to be read."""
    (tmp_path / "_images").mkdir()
    for name, width, points in (("narrow", 300, 11), ("large", 480, 20), ("small", 480, 8), ("wordless", 480, None)):
        figure, ax = plt.subplots(figsize=(width / 72, 2))
        ax.set_axis_off()
        if points:
            ax.text(0.5, 0.5, "small letters", fontsize=points)
            ax.text(0.5, 0.8, "a title", fontsize=24)
        figure.savefig(tmp_path / "_images" / f"{name}.svg")
        plt.close(figure)
        path = tmp_path / "_images" / f"{name}.svg"
        path.write_text(lean(path.read_text(encoding="utf8")), encoding="utf8")
    sizes = {
        name: lean_pages.FIGURE.sub(
            lambda image: lean_pages.with_size(image, tmp_path), f'<img alt="a" src="_images/{name}.svg" />'
        )
        for name in ("narrow", "large", "small", "wordless", "none")
    }
    assert sizes["narrow"] == '<img width="400" height="192" alt="a" src="_images/narrow.svg" />'
    assert sizes["large"] == '<img width="640" height="192" alt="a" src="_images/large.svg" />'
    legible = math.ceil(640 * lean_pages.LEGIBLE / (8 * 4 / 3))
    assert sizes["small"].startswith(f'<span class="wide-drawing" style="--legible: {legible}px"><img width="640"')
    assert sizes["wordless"] == '<img width="640" height="192" alt="a" src="_images/wordless.svg" />'
    assert sizes["none"] == '<img alt="a" src="_images/none.svg" />'
    assert lean_pages.LEGIBLE * 359 / lean_pages.PHONE > 10  # the letters of one that is shrunk to the column
    again = lean_pages.FIGURE.sub(lambda image: lean_pages.with_size(image, tmp_path), sizes["narrow"])
    assert again == sizes["narrow"]


PAGE = r"""<html><head>
<script>window.MathJax = {"loader": {}}</script>
<script defer="defer" src="_static/../mathjax/startup.js?v=1"></script></head>
<p>(<span class="math notranslate nohighlight">\(a &lt; b_1\)</span>,</p>
<div class="math notranslate nohighlight" id="equation-x">
<span class="eqno">(1)<a class="headerlink" href="#equation-x">#</a></span>\[\begin{aligned} x &amp;= 1 \\[4pt]
y &amp;= 2 \end{aligned}\]</div>"""


@NODE
def test_formulas_are_typeset_with_their_numbers_and_without_a_script():
    """Catches a formula that is cut at a bracket of its own, a lost number, and one formula in place of another."""
    found = formulas.formulas(PAGE)
    assert found == [("a < b_1", False), ("\\begin{aligned} x &= 1 \\\\[4pt]\ny &= 2 \\end{aligned}", True)]
    drawn, style = formulas.typeset_formulas(found)
    page = formulas.with_formulas(PAGE, drawn, "mathjax/mathjax.css?v=2")
    assert "<script" not in page and page.count("<mjx-container") == 2 and formulas.formulas(page) == []
    assert page.index("(1)<a") < page.index('display="true"') and "<mi>b</mi>" in page and 'id="equation-x"' in page
    assert page.count("mathjax.css") == 1 and page.index("mathjax.css") < page.index("</head>")
    assert formulas.with_formulas(page, drawn, "mathjax/mathjax.css?v=3").count("mathjax.css") == 1
    assert {ord("a"), ord("b"), ord("<"), ord("1")} <= formulas.letters(style) and "font-size" in style


@NODE
def test_a_formula_that_cannot_be_read_is_a_warning(monkeypatch):
    told = []
    monkeypatch.setattr(formulas.logger, "warning", lambda *words: told.append(words))
    formulas.typeset_formulas([(r"\frac{1}{2", True)])
    assert len(told) == 1 and told[0][1] == r"\frac{1}{2"


@NODE
def test_a_style_sheet_keeps_braces_that_are_letters():
    """Catches a sheet whose rules end inside of a brace that is to be printed."""
    _, style = formulas.typeset_formulas([(r"\{x\}", False)])
    assert 'content: "{"' in style and 'content: "}"' in style and style.count("\n") > 20
