"""Files that chapters read: found in the checkout and in an installed course, and missed in words."""

import pytest
from clearbook.data import course_files


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
