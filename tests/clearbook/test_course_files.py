"""Files that chapters read: found in the checkout and in an installed course, and missed in words."""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from clearbook.data import course_files

CHAPTERS = Path(__file__).parents[2] / "chapters"


def test_the_checkout_has_them():
    """Catches a checkout whose notebooks read the files of an installed copy, or of nowhere."""
    assert (course_files.course_file("models/language") / "config.json").is_file()


def test_an_installed_course_has_its_own(tmp_path, monkeypatch):
    """Catches a wheel that looks above its packages, where somebody else's files lie."""
    monkeypatch.setattr(course_files, "PACKED", tmp_path / "packed")
    monkeypatch.setattr(course_files, "CHECKOUT", tmp_path)
    (tmp_path / "packed" / "models").mkdir(parents=True)
    (tmp_path / "models").mkdir()
    assert course_files.course_file("models") == tmp_path / "packed" / "models"


def test_what_is_missing_is_told():
    """Catches an error that names neither the file nor where it was looked for."""
    with pytest.raises(FileNotFoundError, match=r"there is no 'models/gone', looked for .*course.models.gone and"):
        course_files.course_file("models/gone")


def test_the_file_that_a_reader_typed_goes_before_the_course_s(tmp_path, monkeypatch):
    """Catches a page that runs on the course's file where the reader has one, and a path that grows with each call."""
    monkeypatch.delitem(sys.modules, "transformer", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(path for path in sys.path if path != str(CHAPTERS))])
    assert find_spec("transformer") is None
    for _ in range(2):
        course_files.find_kept_files()
    assert find_spec("transformer").origin == str(CHAPTERS / "transformer.py")
    assert sys.path.count(str(CHAPTERS)) == 1
    (tmp_path / "transformer.py").touch()
    importlib.invalidate_caches()
    assert find_spec("transformer").origin == str(tmp_path / "transformer.py")
