"""What parts of the extension make of a page, a quiz and an address."""

import json
from types import SimpleNamespace

import pytest

from tools.extension import folds, moved_pages, page_parts, publish, quiz
from tools.pages import reading


def question(number: int, right: int, n_options: int = 3) -> str:
    words = ["Right" if i == right else "Not quite" for i in range(n_options)]
    options = (
        f'<details class="quiz"><summary>{letter}</summary>\n\n**{word}.** Why.\n\n</details>'
        for letter, word in zip("abcd", words, strict=False)
    )
    return "\n".join([f"**{number}. What?**\n", *options])


def test_right_options_are_spread_and_nothing_is_lost():
    """Catches a shuffle that drops an option, leaves all right ones in one place, or differs in the next build."""
    text = "\n\n".join(question(number, right=0) for number in range(1, 7)) + "\n\nThe end."
    shuffled = quiz.with_groups(text, "chapters/x", quiz.Places("chapters/x"))
    groups = shuffled.split('<div class="quiz-question"')[1:]
    places = [
        group.split("<details")[1:].index(next(o for o in group.split("<details")[1:] if "Right" in o))
        for group in groups
    ]
    assert sorted(places) == [0, 0, 1, 1, 2, 2]
    assert all(sorted(part[0] for part in group.split("<summary>")[1:]) == ["a", "b", "c"] for group in groups)
    assert shuffled.endswith("The end.") and 'aria-label="Answers to question 6"' in shuffled
    assert shuffled == quiz.with_groups(text, "chapters/x", quiz.Places("chapters/x"))


@pytest.mark.parametrize(
    ("code", "is_figure", "shown"),
    [
        ("import math\n\nfrom clearbook.notebook import setup\n\nsetup()", False, "the imports"),
        ("fig, ax = plots.plt.subplots()\n\n\ndef draw(ax): ...", True, "the code of the figure"),
        (
            "# yours from chapter 4\nclass MultiHead(nn.Module):\n    def forward(self): ...",
            False,
            "the class MultiHead, yours from chapter 4",
        ),
        ("def train_many(n):\n    def inner(): ...", False, "the function train_many"),
        ("class A: ...\n\n\ndef b(): ...", False, "A and b"),
        ("a = 1\nprint(a)", False, "the code"),
        ("\n".join(f"def f{n}(): ..." for n in range(9)), False, "the code"),
    ],
)
def test_a_bar_says_what_it_shows(code, is_figure, shown):
    """Catches one name for all folded cells, an inner function named, and a list of names that fills the line."""
    assert folds.what_it_shows(code, is_figure) == shown


def test_a_question_without_one_right_option_is_refused():
    """Catches a quiz that is left unshuffled without a word, since none of its options is called right."""
    with pytest.raises(quiz.QuizProblem, match="0 right options of 3, expected one"):
        quiz.with_groups(question(1, right=7), "p", quiz.Places("p"))


@pytest.mark.parametrize("behind", ["", "\n\nText goes on."])
def test_cells_below_a_quiz_are_folded_up_to_the_next_text(behind):
    """Catches answers printed below the quiz, and a figure or a cell of the text that goes on folded with them."""
    cells = [
        {"cell_type": "markdown", "source": ["## Check yourself\n\n", question(1, right=1), behind], "metadata": {}},
        {"cell_type": "code", "source": ["print(1)"], "metadata": {"tags": ["hide-input", "other"]}},
        {"cell_type": "markdown", "source": ["Next."], "metadata": {}},
        {"cell_type": "code", "source": ["print(2)"], "metadata": {}},
    ]
    made = json.loads(quiz.prepare_notebook(json.dumps({"cells": cells}), "p"))["cells"]
    assert made[1]["metadata"]["tags"] == (["hide-input", "other"] if behind else ["other", "hide-cell"])
    assert made[3]["metadata"] == {}


def test_short_code_is_kept_on_one_line_and_long_code_is_not():
    """Catches "make" and "lab" on two lines, and a path of fifty letters that makes a table wider than the page."""
    examples = {"make lab": " short", "Q &lt; K[:, None, :, 0, 1]": "", "Q &lt; K[:, None, :]": " short"}
    for words, added in examples.items():
        inside = " ".join(f'<span class="pre">{word}</span>' for word in words.split())
        context = {"body": f'<p>Type <code class="docutils literal notranslate">{inside}</code>.</p>'}
        page_parts.keep_short_code(None, "setup", "page.html", context, None)
        assert context["body"] == f'<p>Type <code class="docutils literal notranslate{added}">{inside}</code>.</p>'


def test_no_line_ends_within_a_size():
    """Catches "4 ×" and "4" on two lines, and a mark in what must stay: code, formulas, drawings, long products."""
    stays = (
        '<pre>print("2 × 3")\n</pre>',
        '<span class="math notranslate nohighlight">\\(2 \\text{ × } N × N\\)</span>',
        '<img alt="a 2 × 3 matrix" src="a.svg" /><svg><text>D × N</text></svg>',
        "<td>2 × 96 × 12,288 × 2,048</td><td>2026-11–29</td>",
    )
    broken = "<p>of [4 × 4,] [B × N × D]</p><td>[0.004–0.005]</td><p><em>[output × input]</em>, N × <b>D</b></p>"
    context = {"body": "".join(stays) + broken.replace("[", "").replace("]", "")}
    page_parts.keep_sizes(None, "setup", "page.html", context, None)
    marked = broken.replace("[", '<span class="keep-together">').replace("]", "</span>")
    assert context["body"] == "".join(stays) + marked


def test_a_description_has_whole_goals_and_no_tex():
    goals = "".join(f"<li><p>do thing {n} " + "very " * 9 + r"well with \(\mathbf{x}\),</p></li>" for n in range(5))
    made = page_parts.description(f"<h1>T</h1><p>After this chapter you can</p>\n<ul>{goals}</ul>", "T")
    assert made.startswith("After this chapter you can do thing 0") and made.endswith("well with x.")
    assert len(made) <= page_parts.LONGEST and "thing 1" in made and "thing 4" not in made


@pytest.mark.parametrize("text", ["", "<p>Short.</p>", "<p>" + "word " * 100 + "</p>"])
def test_a_page_without_goals_is_described_too(text):
    """Catches a page without text, and a sentence longer than a search engine shows."""
    assert 1 <= len(page_parts.description(text, "A title")) <= page_parts.LONGEST


def test_scripts_find_elements_as_browsers_of_2023_do():
    """Catches :has() in a script, which Firefox before 121 refuses; a style sheet may have it, and loses that rule."""
    scripts = [*page_parts.SITE.rglob("*.js"), *(page_parts.SITE.parents[1] / "_static").glob("*.js")]
    assert len(scripts) > 15
    assert [path.name for path in scripts if ":has(" in path.read_text(encoding="utf8")] == []


def test_an_unknown_icon_stays_as_it_was():
    unknown = '<i class="fa-solid fa-no-such-icon"></i>'
    assert page_parts.ICON.sub(page_parts.draw_icon, unknown) == unknown
    known = page_parts.ICON.sub(page_parts.draw_icon, '<i class="fa-solid fa-list"></i>')
    assert known.startswith("<svg") and "<path" in known


def test_an_old_address_leads_on(tmp_path):
    """Catches an anchor of the second page that leads to the first, and a number of a citation taken for a place."""
    pages = {
        "16-todays-decoder": '<h1>16. A<a class="headerlink" href="#a">#</a></h1><i id="a"></i><i id="both"></i>',
        "17-long-memory": '<h1><span class="section-number">17. </span>B &amp; C</h1><i id="both"></i>'
        '<i id="fig-17-recall"></i>',
        "closer/16-fewer-passes": '<h1>D</h1><i id="id3"></i><i id="law"></i>',
    }
    (tmp_path / "chapters" / "closer").mkdir(parents=True)
    for name, text in pages.items():
        (tmp_path / "chapters" / f"{name}.html").write_text(
            f'<nav id="n"></nav><article>{text}</article><i id="z"></i>'
        )
    config = SimpleNamespace(html_baseurl="https://book.example/", project="Book")
    page = moved_pages.moved_page("chapters/16-what-comes-after", tmp_path, config)
    recall = {
        "fig-17-recall": "17-long-memory.html#fig-17-recall",
        "fig-16-recall": "17-long-memory.html#fig-17-recall",
    }
    law = {"law": "closer/16-fewer-passes.html#law"}
    assert json.loads(page.split("const places = ")[1].split("\n")[0]) == law | recall
    assert '<li><a href="17-long-memory.html">B &amp; C</a></li>' in page and "url=16-todays-decoder.html" in page
    assert '<link rel="canonical" href="https://book.example/chapters/16-todays-decoder.html">' in page


def test_no_old_address_is_one_of_today():
    """Catches a redirection that overwrites a page, and one to a page that the book does not have."""
    listed = set(reading.in_the_order_of_the_book())
    made = ("chapters/solutions/", "chapters/grader-proof/")  # a page of each exercise
    for old, new in moved_pages.MOVED.items():
        assert old not in listed and all(name in listed for name in new if not name.startswith(made))


@pytest.mark.parametrize("address", ["", "https://book.example/x"])
def test_a_known_address_is_told_to_search_engines(tmp_path, monkeypatch, address):
    """Catches a site map with invented addresses, and pages that hide from searches in it."""
    monkeypatch.setenv(publish.SITE_URL, address)
    config = SimpleNamespace(html_baseurl="", project="Book")
    page_parts.use_address(None, config)
    env = SimpleNamespace(found_docs={"index", "a/hidden"}, metadata={"a/hidden": {"nosearch": "true"}})
    app = SimpleNamespace(outdir=tmp_path, config=config, env=env, builder=SimpleNamespace(format="html"))
    page_parts.write_for_visitors(app, None)
    assert (tmp_path / "sitemap.xml").exists() == bool(address)
    if address:
        sitemap = (tmp_path / "sitemap.xml").read_text()
        assert "<loc>https://book.example/x/index.html</loc>" in sitemap and "hidden" not in sitemap
        assert "Sitemap: https://book.example/x/sitemap.xml" in (tmp_path / "robots.txt").read_text()
        assert 'href="https://book.example/x/index.html"' in (tmp_path / "404.html").read_text()
