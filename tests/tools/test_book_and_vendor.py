"""Building and vendoring: the sentence for a wrong Jupyter Book, and builds that go on without npm."""

import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from tools.book import build
from tools.extension import hooks
from tools.setup import vendor
from tools.setup.bootstrap import SetupProblem


@pytest.mark.parametrize(
    ("version", "sentence"), [("2.0.0", "Jupyter Book 2.0.0 is in the way"), (None, "not installed")]
)
def test_a_wrong_jupyter_book_is_told_before_the_build(monkeypatch, tmp_path, version, sentence):
    monkeypatch.setattr(build, "jupyter_book_version", lambda path: version)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("built although the version is wrong"))
    with pytest.raises(SetupProblem, match=sentence):
        build.build(tmp_path)


def test_a_build_with_warnings_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "vendor", lambda cache: None)
    (tmp_path / "_config.yml").write_text(
        "only_build_toc_files: true\nexecute: {execute_notebooks: 'off'}\n", encoding="utf-8"
    )
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    (tmp_path / "index.md").write_text("# Title\n\n[nowhere](gone.md)\n", encoding="utf-8")
    for n in range(2):  # Sphinx itself passes over a warning that it has given before
        with (tmp_path / f"log-{n}").open("wb") as log, pytest.raises(SetupProblem, match="errors or warnings"):
            build.build(tmp_path, log=log.fileno())
        assert "gone" in (tmp_path / f"log-{n}").read_text(encoding="utf-8")


@pytest.mark.parametrize("interrupted", [False, True])
def test_what_an_interrupted_build_has_left_is_not_built_upon(tmp_path, monkeypatch, interrupted):
    """Catches half a page that Sphinx takes for a whole one, and a build from nothing where all is well."""
    page = tmp_path / "_build" / "html" / "index.html"
    kept = []

    def run(command, **options):
        kept.append(page.exists())
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()
        if interrupted and len(kept) == 1:
            raise KeyboardInterrupt
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(build, "vendor", lambda cache: None)
    monkeypatch.setattr(build.subprocess, "run", run)
    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
        build.build(tmp_path)
    for _ in range(2):
        build.build(tmp_path)
    assert kept == [False, not interrupted, True]


def test_without_npm_the_build_goes_on(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(vendor.shutil, "which", lambda name: None)
    vendor.vendor(tmp_path / "cache")
    assert "npm is not here" in capsys.readouterr().out
    assert not (tmp_path / "cache").exists()


def test_with_npm_but_no_network_the_build_goes_on(monkeypatch, tmp_path, capsys, program):
    folder = program("npm", "exit 1")
    monkeypatch.setattr(vendor.shutil, "which", lambda name: str(folder / "npm"))
    vendor.vendor(tmp_path / "cache")
    assert "npm cannot reach" in capsys.readouterr().out


def test_what_npm_brings_is_put_in_place_once(monkeypatch, tmp_path):
    def fetch(npm, packages, folder: Path):
        assert packages == [vendor.MATHJAX, vendor.AXE]
        components = (f"mathjax/es5/{name}" for name in vendor.COMPONENTS)
        for name in (
            *components,
            "mathjax/es5/output/chtml/fonts/woff-v2/a.woff",
            "mathjax/LICENSE",
            "axe-core/axe.min.js",
        ):
            path = folder / "node_modules" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x", encoding="utf-8")
        return True

    monkeypatch.setattr(vendor.shutil, "which", lambda name: "npm")
    monkeypatch.setattr(vendor, "fetch", fetch)
    vendor.vendor(tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    fonts = "site/mathjax/output/chtml/fonts/woff-v2/a.woff"
    components = {f"site/mathjax/{name}" for name in vendor.COMPONENTS}
    assert found == {"axe.min.js", "site/mathjax/LICENSE", fonts, *components}
    monkeypatch.setattr(vendor, "fetch", lambda *a: pytest.fail("fetched again"))
    vendor.vendor(tmp_path)


class Config:
    html_extra_path = ()
    mathjax_path = "https://elsewhere"


@pytest.mark.parametrize("present", [True, False])
def test_the_book_uses_the_mathjax_that_is_there(monkeypatch, tmp_path, present):
    monkeypatch.setattr(hooks, "SITE", tmp_path)
    if present:
        (tmp_path / "mathjax").mkdir()
        (tmp_path / "mathjax" / vendor.COMPONENTS[0]).write_text("x", encoding="utf-8")
    config = Config()
    hooks.use_local_mathjax(None, config)
    assert (config.mathjax_path != "https://elsewhere") == present
    assert (str(tmp_path) in config.html_extra_path) == present
    assert ("loader" in config.mathjax3_config) == present


def test_links_to_exercises_become_downloads():
    source = ["[e](../exercises/03-self-attention.ipynb) and [c](02-attention.ipynb)"]
    hooks.offer_exercises_for_download(None, "chapters/x", source)
    assert source == ["[e](path:../exercises/03-self-attention.ipynb) and [c](02-attention.ipynb)"]


def test_lists_are_mended():
    context = {"body": '(<dl>\n<dd>x: int,</dd>\n<dd>y</dd>\n</dl>\n) <dl class="py"><dt>t</dt><dd>d</dd></dl>'}
    hooks.mend_lists(None, "p", "t", context, None)
    assert "<dl>" not in context["body"] and context["body"].count('class="sig-line"') == 2
    assert '<dl class="py"><dt>t</dt><dd>d</dd></dl>' in context["body"]


def test_a_part_in_a_table_of_models_is_a_page_of_the_site():
    """Catches a link to a notebook, which a browser would show as a file, and one elsewhere that is changed."""
    context = {"body": '<a class="part" href="../06-position.ipynb#a-section">…</a><a href="x.ipynb">…</a>'}
    hooks.follow_parts(None, "p", "t", context, None)
    told = '<a class="part" href="../06-position.html#a-section">…</a><a href="x.ipynb">…</a>'
    assert context["body"] == told


def test_defaults_that_sphinx_cannot_read_are_named():
    """Catches a signature in one piece, which is wider than a phone."""
    signature = "(act: Callable = <built-in function gelu>, given: dict = <factory>)"
    mended, _ = hooks.name_defaults(None, "class", "c", None, None, signature, None)
    assert mended == "(act: Callable = gelu, given: dict = ...)"
