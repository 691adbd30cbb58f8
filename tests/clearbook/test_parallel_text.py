"""Pairs from a file: what is read, what is refused, and that nothing is both learned and tested."""

import zipfile

import pytest
from clearbook.data.messages import message_kinds, message_pairs
from clearbook.data.parallel_text import read_pairs, split_pairs


def write_pairs(folder, content):
    path = folder / "mine.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_a_file_of_pairs_is_read(tmp_path):
    """Catches a byte order mark that becomes part of a word, line ends of Windows, and empty lines taken as pairs."""
    path = write_pairs(tmp_path, "\ufefftea\tTee\r\n\n two cups \t zwei Tassen\r\n \n")
    assert read_pairs(path) == read_pairs(str(path)) == [("tea", "Tee"), ("two cups", "zwei Tassen")]


def test_a_character_that_only_looks_like_a_line_end_stays_in_its_line(tmp_path):
    """Catches ``splitlines``, which also cuts at a form feed and at U+2028."""
    assert read_pairs(write_pairs(tmp_path, "a\u2028b\tc\x0cd\n")) == [("a\u2028b", "c\x0cd")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("tea\tTee\ncup;Tasse\n", r"line 2 of mine\.tsv is 'cup;Tasse'.* Tabs in it: 0, sides with text: 1"),
        ("tea\tTee\tthé\n", r"line 1 of mine\.tsv .* Tabs in it: 2, sides with text: 3"),
        ("\n\ncup\t \n", r"line 3 of mine\.tsv is 'cup\\t '.* Tabs in it: 1, sides with text: 1"),
        ("x" * 99, r"is 'x{40}…'"),
        (b"caf\xe9\tKaffee\n", r"mine\.tsv is not UTF-8: byte 0xe9 at 3"),
        ("\n \n", r"mine\.tsv holds no pairs"),
    ],
)
def test_what_is_no_pair_is_refused_with_its_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_pairs(write_pairs(tmp_path, content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.tsv"):
        read_pairs(tmp_path / "none.tsv")


PAIRS = [(f"s{i // 3}", f"t{i}") for i in range(90)]


def test_no_source_is_on_both_sides():
    """Catches a split by pairs: each of the 30 sources has three targets here."""
    train, tests = split_pairs(PAIRS, 0.2)
    assert len(tests) == 18 and sorted(train + tests) == sorted(PAIRS)
    assert not {source for source, _ in train} & {source for source, _ in tests}


def test_the_split_is_shuffled_and_repeats_with_its_seed():
    train, tests = split_pairs(PAIRS, 0.2, seed=1)
    assert (train, tests) == split_pairs(PAIRS, 0.2, seed=1) != split_pairs(PAIRS, 0.2, seed=2)
    assert train != sorted(train, key=PAIRS.index) and tests != sorted(tests, key=PAIRS.index)


@pytest.mark.parametrize("held_out", [0.0, 1.0, 0.01, -0.5, 1.5])
def test_a_split_with_an_empty_side_is_refused(held_out):
    with pytest.raises(ValueError, match=rf"held_out={held_out} of 30 different sources"):
        split_pairs(PAIRS, held_out)


def test_a_file_in_an_archive_is_read_and_named(tmp_path):
    """Catches a path of the disk made from one inside of the archive."""
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("mine.tsv", "tea\tTee\n")
        packed.writestr("bad.tsv", "tea\n")
    assert read_pairs(zipfile.Path(tmp_path / "packed.zip", "mine.tsv")) == [("tea", "Tee")]
    with pytest.raises(ValueError, match=r"line 1 of bad\.tsv"):
        read_pairs(zipfile.Path(tmp_path / "packed.zip", "bad.tsv"))


def test_no_message_is_both_learned_and_held_out():
    learned, held_out = message_pairs()
    sources = [[source for source, _ in pairs] for pairs in (learned, held_out)]
    assert min(map(len, sources)) > 400
    assert all(len(set(side)) == len(side) for side in sources) and not set(sources[0]) & set(sources[1])


def test_messages_have_the_kind_of_their_place():
    """Catches kinds that went to other messages, and a message to learn from that is held out as well."""
    kinds, new = map(dict, message_kinds())
    assert kinds["The status to post."] == "hint" and kinds["Failed to read hardware settings"] == "problem"
    assert {*kinds.values()} == {*new.values()} == {"name", "state", "hint", "problem", "action", "step"}
    assert not kinds.keys() & new.keys() and not kinds.keys() & dict(message_pairs()[1]).keys()
    assert new.keys() < dict(message_pairs()[1]).keys()
