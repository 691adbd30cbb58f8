"""The pages of the grader's proof tell of the grader as it is now, and `make pages` says which files have changed."""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from clearcheck.author.loading import slugs_in
from clearcheck.proof.page import ProofText

from tools.pages import proofs, solutions, write
from tools.takeaway.learners_copy import load

SLUG = slugs_in(proofs.AUTHORING)[0]
PROOF = ProofText("# A page\n\nwith rows.\n", [], "all is right")
ROW = re.compile(r"^\| \[(.+)\]\(grader-proof/([\w-]+)\.md\) \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one exercise, with a library of one module."""
    authoring = tmp_path / "exercises" / "authoring"
    shutil.copytree(proofs.AUTHORING / SLUG, authoring / SLUG)
    (authoring / "brought_modules.py").write_text("x = 1\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "module.py").write_text("x = 1\n")
    for name, value in {"ROOT": tmp_path, "AUTHORING": authoring, "FOLDER": tmp_path / "grader-proof"}.items():
        monkeypatch.setattr(proofs, name, value)
    proofs.of_every_exercise.cache_clear()
    yield tmp_path
    proofs.of_every_exercise.cache_clear()


@pytest.mark.parametrize(
    "changed",
    ["lib/module.py", "lib/new.py", "exercises/authoring/brought_modules.py"]
    + [f"exercises/authoring/{SLUG}/{name}" for name in ("exercise.py", "source.ipynb", "new.py")],
)
def test_a_proof_holds_until_a_file_changes_that_may_decide_it(course, changed):
    """Catches a page that tells what another grader did, or made of other answers."""
    proofs.write(SLUG, PROOF)
    assert proofs.proven(SLUG).startswith(PROOF.page)
    file = course / changed
    file.write_text((file.read_text() if file.exists() else "") + " \n")
    proofs.of_every_exercise.cache_clear()  # as the next program begins
    assert proofs.proven(SLUG) == ""


@pytest.mark.slow
def test_what_was_not_proven_is_listed_without_results(course, monkeypatch):
    """Catches a page of nothing, or of a proof that no longer holds, where the proof has not been done."""
    monkeypatch.setattr(proofs, "load", lambda slug, root: load(slug, solutions.ROOT))
    [text] = proofs.all_pages().values()
    it = load(SLUG, solutions.ROOT)
    names = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(names) == sorted(entry.name for entry in (*it.right.entries, *it.wrong.entries))
    assert "make proofs" in text and "| passed |" not in text
    proofs.write(SLUG, PROOF)
    [text] = proofs.all_pages().values()
    assert text.startswith(PROOF.page)


@pytest.mark.slow
def test_the_overview_leads_to_every_exercise_and_counts_its_answers():
    """Catches a sum that was typed, or an exercise whose proof nobody can find."""
    rows = {slug: (title, right, wrong) for title, slug, right, wrong in ROW.findall(proofs.listed())}
    assert list(rows) == slugs_in(proofs.AUTHORING)
    sums = [0, 0]
    for slug, row in rows.items():
        it = load(slug, solutions.ROOT)
        counts = len(it.right.entries), len(it.wrong.entries)
        assert row == (it.exercise.title, *(f"{count:,}" for count in counts))
        sums = [one + other for one, other in zip(sums, counts, strict=True)]
    assert "| **all** | **{:,}** | **{:,}** |".format(*sums) in proofs.listed()


@pytest.mark.parametrize(("errors", "code"), [([], 0), (["means: median is wrong, and accepted"], 1)])
def test_make_proofs_writes_the_page_and_fails_with_its_errors(course, monkeypatch, capsys, errors, code):
    """Catches a site that is published with a grader that is wrong."""
    monkeypatch.setattr(proofs, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(proofs, "proof_text", lambda slug: ProofText(PROOF.page, errors, f"{slug} is done"))
    assert proofs.main([]) == code
    assert proofs.proven(SLUG).startswith(PROOF.page)
    assert capsys.readouterr().out.splitlines() == [*errors, f"{SLUG} is done"]


def test_make_proofs_names_the_exercises_that_there_are(monkeypatch, capsys):
    monkeypatch.setattr(proofs, "ProcessPoolExecutor", ThreadPoolExecutor)
    assert proofs.main(["99-nowhere"]) == 1
    assert f"Known here: {SLUG}, " in capsys.readouterr().err


def test_make_pages_says_which_files_of_the_repository_have_changed(tmp_path, monkeypatch, capsys):
    """Catches a changed page that nobody is told of, and one that is written, and built, again for nothing."""
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    one.write_text("old")
    other.write_text("same")
    monkeypatch.setattr(write, "ROOT", tmp_path)
    monkeypatch.setattr(write, "of_the_repository", lambda: {one: "new", other: "same"})
    monkeypatch.setattr(write, "of_the_site", dict)
    before = other.stat().st_mtime_ns
    assert write.main() == 0
    assert capsys.readouterr().out == "Changed: one.md\n"
    assert one.read_text() == "new" and other.stat().st_mtime_ns == before
    assert write.main() == 0
    assert capsys.readouterr().out == "No page has changed.\n"


def test_the_page_of_an_exercise_that_is_gone_goes_too(tmp_path, monkeypatch):
    """Catches solutions that stay on the site under a name that an exercise has given up, and a deleted chapter."""
    monkeypatch.setattr(solutions, "FOLDER", tmp_path / "solutions")
    (tmp_path / "solutions").mkdir()
    for name in ("solutions/old.md", "chapter.md"):
        (tmp_path / name).write_text("old")
    write.write({tmp_path / "solutions" / "new.md": "new", tmp_path / "page.md": "page"})
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["chapter.md", "new.md", "page.md"]


@pytest.mark.parametrize("page", write.LISTS)
def test_a_list_takes_the_place_of_what_is_said_in_the_repository(page, monkeypatch):
    """Catches a page of the site without its list, and one that says how to make what is already there."""
    monkeypatch.setitem(write.LISTS, page, lambda: "- [the list](x.md)")
    text = page.read_text(encoding="utf-8")
    shown = write.with_list(page, text)
    assert "- [the list](x.md)" in shown and "In this folder" in text and "In this folder" not in shown
    assert write.with_list(solutions.ROOT / "index.md", text) == text
