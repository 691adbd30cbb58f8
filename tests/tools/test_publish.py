"""The hooks of the site: addresses said once, buttons that appear with them, a PDF that is linked when it is there."""

import io
import shutil
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from sphinx.application import Sphinx
from sphinx.errors import ConfigError

from tools import ROOT
from tools.book import build, pdf
from tools.extension import publish
from tools.takeaway import downloads

NO_CHROMIUM = "needs Chromium (install it, or name it with CHROMIUM=/path/to/chromium)"


def config(**options) -> SimpleNamespace:
    return SimpleNamespace(
        html_baseurl="", html_theme_options={"launch_buttons": {"notebook_interface": "jupyterlab"}}, **options
    )


def test_without_an_address_there_is_no_button(monkeypatch):
    """Catches buttons that lead to a repository which does not exist."""
    monkeypatch.delenv(publish.REPOSITORY_URL, raising=False)
    it = config()
    publish.add_buttons(None, it)
    assert it.html_theme_options == config().html_theme_options


def test_with_an_address_there_are_three(monkeypatch):
    """Catches buttons without a repository, or for the branch whose notebooks do not install the course."""
    monkeypatch.setenv(publish.REPOSITORY_URL, "https://github.com/somebody/course.git")
    it = config()
    publish.add_buttons(None, it)
    options = it.html_theme_options
    assert options["repository_url"] == "https://github.com/somebody/course" and options["use_repository_button"]
    assert options["repository_branch"] == publish.BRANCH
    assert options["launch_buttons"] == {"notebook_interface": "jupyterlab", **publish.LAUNCH}


@pytest.mark.parametrize("address", ["github.com/a/b", "https://github.com/a", "https://example.org/a/b"])
def test_a_repository_that_no_button_could_open_is_told(monkeypatch, address):
    """Catches buttons that lead nowhere."""
    monkeypatch.setenv(publish.REPOSITORY_URL, address)
    with pytest.raises(ConfigError, match=f"REPOSITORY_URL={address}: an address such as"):
        publish.add_buttons(None, config())


def test_the_address_of_the_site_ends_with_a_slash(monkeypatch):
    """Catches …/coursedist/… in every notebook; and what is no address."""
    monkeypatch.setenv(publish.SITE_URL, "https://somebody.github.io/course")
    assert publish.site_address(config()) == "https://somebody.github.io/course/"
    monkeypatch.setenv(publish.SITE_URL, "somebody.github.io")
    with pytest.raises(ConfigError, match=r"SITE_URL=somebody\.github\.io: an address such as"):
        publish.site_address(config())
    monkeypatch.delenv(publish.SITE_URL)
    assert publish.site_address(config()) == ""
    it = config()
    it.html_baseurl = "https://other.example/"
    assert publish.site_address(it) == "https://other.example/"


def test_the_workflow_sets_both_addresses_and_fills_the_branch():
    """Catches a variable or a branch that is renamed here and not there."""
    text = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    assert f"{publish.SITE_URL}: $" in text and f"{publish.REPOSITORY_URL}: $" in text
    assert f"--initial-branch={publish.BRANCH}" in text and f"{publish.DIST}/{publish.ARCHIVE}" in text
    assert f"archive/{publish.ARCHIVE}" in text


@pytest.mark.parametrize("name", ["pages", "tests", "bounds", "checks", "links", "weekly"])
def test_no_job_that_runs_installed_packages_may_write(name):
    """Catches a workflow with the repository's default permissions, and a build that could push or deploy."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))
    for job in workflow["jobs"].values():
        allowed = job.get("permissions", workflow["permissions"])
        runs = [step["run"] for step in job["steps"] if "run" in step]
        if any("make " in command or "pip " in command or ".venv" in command for command in runs):
            assert set(allowed.values()) == {"read"}


def test_the_pdf_is_linked_where_it_is(tmp_path):
    """Catches a link to a file that is not there, and one that is wrong in a folder."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "setup.html").write_text(f"<ul>{publish.PDF_PLACE}</ul>")
    publish.link_the_pdf(tmp_path)
    assert publish.PDF not in (tmp_path / "chapters" / "setup.html").read_text()
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / publish.PDF).write_bytes(bytes(3_000_000))
    publish.link_the_pdf(tmp_path)
    text = (tmp_path / "chapters" / "setup.html").read_text()
    assert 'href="../dist/clearformer.pdf"' in text and "(3 MB)" in text


def test_without_chromium_the_site_is_built_and_that_is_said(monkeypatch, tmp_path, capsys):
    """Catches a build that fails where no browser is."""
    monkeypatch.setattr(pdf, "build", lambda root: tmp_path)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    assert pdf.main() == 0
    assert "No Chromium is found" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


PAGE = """<html><head><title>t</title></head><body><main><article class="bd-article"><section id="s"><h1>{title}
<a class="headerlink" href="#s">#</a></h1><p id="p">{text}</p></section></article></main></body></html>"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(pdf.find_chromium() is None, reason=NO_CHROMIUM)
def test_pages_follow_one_another_with_contents(tmp_path):
    """Catches chapters on one page, contents with the wrong page, and the sheet left in the site."""
    (tmp_path / "chapters").mkdir()
    long = "<br>".join(["a line"] * 120)
    link = 'see <a href="02-b.html#p">there</a> and <a href="gone.html">not printed</a>'
    for name, text in (("01-a", long + link), ("02-b", "short")):
        (tmp_path / "chapters" / f"{name}.html").write_text(PAGE.format(title=name, text=text))
    pages = ["chapters/01-a", "chapters/02-b"]
    n_pages = pdf.print_book(tmp_path, tmp_path / "book.pdf", pages)
    starts, counted = pdf.starting_pages((tmp_path / "book.pdf").read_bytes())
    first, second = (starts[pdf.anchor(name, "")] for name in pages)
    assert first == 3 and second > first + 1 and n_pages == counted == second
    sheet = pdf.Book(tmp_path, pages).text()
    assert 'href="#chapters-02-b--p"' in sheet and "gone.html" not in sheet and "headerlink" not in sheet
    assert {path.name for path in tmp_path.iterdir()} == {"chapters", "book.pdf"}
    assert b"/Outlines" in (tmp_path / "book.pdf").read_bytes() and "<h1>Answers</h1>" not in sheet


def test_a_printed_question_has_its_answer_at_the_end_and_closer_looks_run_on(tmp_path):
    """Catches an answer beside its question, none at all, a wrong one, and a page that says only where to go back."""
    (tmp_path / "chapters" / "closer").mkdir(parents=True)
    options = "".join(
        f'<details class="quiz" data-answer="{kind}"><summary>{word}</summary>'
        f"<p><strong>{told}.</strong> So.</p></details>"
        for kind, word, told in (("wrong", "two", "Not quite"), ("right", "three", "Right"))
    )
    quiz = f'</p><p><strong>4. How many?</strong></p><div class="quiz-question">{options}</div><p>'
    (tmp_path / "chapters" / "01-a.html").write_text(PAGE.format(title="First", text=quiz), encoding="utf-8")
    back = 'more</p><p>Back to <a href="../01-a.html">it</a>.</p><p>'
    (tmp_path / "chapters" / "closer" / "01-b.html").write_text(PAGE.format(title="Near", text=back), encoding="utf-8")
    sheet = pdf.Book(tmp_path, ["chapters/01-a", "chapters/closer/01-b"]).text()
    questions, answers = sheet.split("<h1>Answers</h1>")
    assert "4. <strong>three.</strong> <p>So.</p>" in answers and "two" not in answers and "First" in answers
    assert "three" in questions and "Back to" not in sheet and 'class="closer"' in sheet


def test_a_build_of_what_has_not_changed_keeps_the_exercises(tmp_path, monkeypatch):
    """Catches links to exercises that lead nowhere after a second build, and copies without the installing cell."""
    monkeypatch.setattr(publish, "write_downloads", downloads.write_notebooks)
    source, site, said = tmp_path / "source", tmp_path / "site", io.StringIO()
    shutil.copytree(
        ROOT / "exercises", source / "exercises", ignore=lambda _, names: {*names} - {"03-self-attention.ipynb"}
    )
    page = source / "index.rst"
    for text in ("One", "One", "Two"):
        if not page.exists() or text not in page.read_text():
            page.write_text(f"{text}\n===\n:download:`exercises/03-self-attention.ipynb`\n")
        options = {"extensions": ["tools.extension.publish"]}
        Sphinx(source, None, site, tmp_path / "trees", "html", options, status=said, warning=said).build()
        [place] = (site / "_downloads").glob("*/*.ipynb")
        assert place.name == "exercise-03-self-attention.ipynb"
        assert f"{place.parent.name}/{place.name}" in (site / "index.html").read_text(encoding="utf-8")
        assert "install-the-course" in place.read_text(encoding="utf-8")
    assert "will overwrite" not in said.getvalue()


@pytest.mark.slow
def test_a_site_that_knows_its_addresses(tmp_path, monkeypatch):
    """Catches a theme that drops the buttons, buttons for another branch, and a command with another address."""
    root, pages = ROOT, tmp_path / "chapters"
    shutil.copytree(root / "_static", tmp_path / "_static")
    pages.mkdir()
    shutil.copy(root / "chapters" / "references.bib", pages)
    config = (root / "_config.yml").read_text(encoding="utf-8")
    here = config.replace('tools.extension.hooks: "."', f'tools.extension.hooks: "{root}"')
    (tmp_path / "_config.yml").write_text(here, encoding="utf-8")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n- file: chapters/03-self-attention\n")
    (tmp_path / "index.md").write_text("# Title\n\n```{downloads}\n```\n")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title of a chapter", id="title")])
    notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(notebook, pages / "03-self-attention.ipynb")
    monkeypatch.setattr(build, "vendor", lambda cache: None)
    monkeypatch.setenv(publish.SITE_URL, "https://somebody.github.io/course")
    monkeypatch.setenv(publish.REPOSITORY_URL, "https://github.com/somebody/course")
    with (tmp_path / "log").open("w") as log:
        site = build.build(tmp_path, log=log.fileno())
    chapter = (site / "chapters" / "03-self-attention.html").read_text(encoding="utf-8")
    opened = "somebody/course/{}notebooks{}chapters/03-self-attention.ipynb"
    assert f"https://mybinder.org/v2/gh/{opened.format('', '?urlpath=lab/tree/')}" in chapter
    assert f"https://colab.research.google.com/github/{opened.format('blob/', '/')}" in chapter
    assert 'href="https://github.com/somebody/course"' in chapter
    index = (site / "index.html").read_text(encoding="utf-8")
    assert f"clearformer[notebooks] @ https://somebody.github.io/course/dist/{downloads.wheel_name()}" in index
    assert (site / "dist" / downloads.wheel_name()).exists() and 'href="dist/course.zip"' in index
    published = (site / "_sources" / "chapters" / "03-self-attention.ipynb").read_text(encoding="utf-8")
    assert f"https://somebody.github.io/course/dist/{downloads.wheel_name()}" in published
