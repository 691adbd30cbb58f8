"""Texts to learn from: read with clear errors, each paragraph once, ends marked."""

import pytest
from clearbook.data.text_file import count_characters, distinct_paragraphs, marked_stream, read_text
from clearformer.tokenizers import CharTokenizer


def test_a_text_file_is_read_whatever_ends_its_lines(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_bytes("\ufeffGrüße\r\nan alle\r\n".encode())
    assert read_text(file, least=5) == "Grüße\nan alle\n"
    file.write_bytes("Grüße".encode("latin-1"))
    assert read_text(str(file), encoding="latin-1", least=5) == "Grüße"
    file.write_text("Grüße", encoding="utf-16")
    assert read_text(file, encoding="utf-16", least=5) == "Grüße"


def test_a_file_that_is_not_there_is_told_with_those_that_are(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*mine\.txt\. The folder holds no text file"):
        read_text(tmp_path / "mine.txt")
    for name in ("a.txt", "b.md", "c.rst", "d.py", "e.txt", "f.txt", "g.jpg"):
        (tmp_path / name).write_text("x")
    with pytest.raises(FileNotFoundError, match=r"holds a\.txt, b\.md, c\.rst, d\.py, e\.txt and more\."):
        read_text(tmp_path / "mine.txt")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere either"):
        read_text(tmp_path / "nowhere" / "mine.txt")
    with pytest.raises(IsADirectoryError, match=r"is a folder, expected a file\. The folder holds"):
        read_text(tmp_path)


def test_what_is_no_utf8_or_no_text_is_told_by_its_first_bad_byte(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_bytes(b"Gr\xfc\xdfe" * 3000)
    with pytest.raises(ValueError, match=r"byte 2 of mine\.txt is 0xfc, which is no utf-8 text"):
        read_text(file)
    file.write_bytes(b"PK\x03\x04" + bytes(20_000))
    with pytest.raises(ValueError, match=r"mine\.txt holds a zero character at index 4"):
        read_text(file)


def test_a_text_too_short_to_learn_from_is_refused(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("x" * 9_999)
    with pytest.raises(ValueError, match="has 9999 characters, expected at least 10000"):
        read_text(file)
    assert len(read_text(file, least=9_999)) == 9_999
    file.write_text("")
    with pytest.raises(ValueError, match="has 0 characters"):
        read_text(file)


def test_a_paragraph_is_kept_once_and_its_indentation_with_it():
    text = "\n\n  one\n  two\n\nthree  \n\n\n\n  one\n  two\n\n   \n\nfour"
    assert distinct_paragraphs(text) == ["  one\n  two", "three", "four"]
    assert distinct_paragraphs("a\r\n\r\nb\r\n\r\na") == ["a", "b"]
    assert distinct_paragraphs(" \n\n ") == []


def test_the_stream_marks_every_end_and_counts_it():
    tokenizer = CharTokenizer("abc")
    ids = marked_stream(["ab", "c"], tokenizer)
    assert ids.tolist() == [3, 0, 1, 3, 2, 3]
    assert count_characters(["ab", "c"]) == len(ids) - 1 == 5
    with pytest.raises(ValueError, match="there is no paragraph"):
        marked_stream([], tokenizer)
