"""The data that comes with Python and its libraries: real, repeatable, and held out where it says so."""

import re

import pytest
import torch
from clearbook.data.builtin import (
    LANGUAGES,
    all_windows,
    date_pairs,
    number_pairs,
    number_words,
    python_reference_text,
    random_windows,
    sentence_pairs,
    split_text,
)


def test_the_python_reference_is_long_and_the_same_each_time():
    text = python_reference_text()
    assert 300_000 < len(text) < 1_000_000 and text == python_reference_text()
    assert 'The "assert" statement' in text and text.index('The "assert" statement') < text.index('The "yield"')


def test_a_text_is_cut_once():
    assert split_text("abcdefghij", 0.3) == ("abcdefg", "hij")
    train, held_out = split_text(python_reference_text())
    assert train + held_out == python_reference_text() and len(held_out) == pytest.approx(len(train) / 9, rel=1e-3)


def test_random_windows_are_pieces_of_the_text_from_everywhere():
    """Catches targets that are not one later, a last id that is never drawn, and a generator that is not used."""
    ids = torch.arange(100, 119)
    x, y = random_windows(ids, 5, 400, torch.Generator().manual_seed(1))
    assert x.shape == y.shape == (400, 5)
    assert torch.equal(y, x + 1) and torch.equal(x, x[:, :1] + torch.arange(5))
    assert x[:, 0].unique().tolist() == list(range(100, 114)) and y.max() == 118
    assert torch.equal(x, random_windows(ids, 5, 400, torch.Generator().manual_seed(1))[0])
    assert not torch.equal(x, random_windows(ids, 5, 400, torch.Generator().manual_seed(2))[0])
    assert random_windows(ids, 18, 2, torch.Generator())[0].tolist() == [list(range(100, 118))] * 2


def test_all_windows_meet_every_target_once():
    x, y = all_windows(torch.arange(14), 4)
    assert torch.equal(x, torch.arange(12).view(3, 4)) and torch.equal(y, x + 1)
    assert all_windows(torch.arange(13), 4)[0].shape == (3, 4) and all_windows(torch.arange(12), 4)[0].shape == (2, 4)


TRANSLATIONS = {
    ("de", 0): ("zero", "null"),
    ("de", 521): ("five hundred and twenty-one", "fünfhunderteinundzwanzig"),
    ("de", 101_000): ("one hundred and one thousand", "einhunderteintausend"),
    ("fr", 80): ("eighty", "quatre-vingts"),
    ("fr", 296): ("two hundred and ninety-six", "deux cent quatre-vingt-seize"),
}


@pytest.mark.parametrize(("language", "number"), TRANSLATIONS)
def test_numbers_are_translated(language, number):
    """Catches the spelling that num2words gets wrong, German thousands after a hundred and one."""
    assert (number_words(number, "en"), number_words(number, language)) == TRANSLATIONS[language, number]


def test_dates_are_translated():
    german, _ = date_pairs("de", 365, 0, years=(1987, 1987))
    french, _ = date_pairs("fr", 365, 0, years=(1987, 1987))
    assert ("Thursday, March 5, 1987", "Donnerstag, 5. März 1987") in german
    assert ("Thursday, March 5, 1987", "jeudi 5 mars 1987") in french
    assert all(re.fullmatch(r"\w+, \w+ \d+, 1987", english) for english, _ in german)


def test_sentences_are_translated():
    """Catches a verb on the wrong side of the date, and subjects or dates that do not go through the whole list."""
    german, french = (dict(sentence_pairs(language, 3000, 0)[0]) for language in LANGUAGES)
    assert german.keys() == french.keys()
    [(english, said)] = [pair for pair in german.items() if pair[0].startswith("He sold the bicycle on M")][:1]
    assert re.fullmatch(r"Er hat das Fahrrad am \d+\. (März|Mai) \d{4} verkauft\.", said)
    assert re.fullmatch(r"Il a vendu le vélo le \d+ (mars|mai) \d{4}\.", french[english].replace("1er", "1"))
    assert len({english.split(" on ")[0] for english in german}) == 32
    assert {int(english[-5:-1]) for english in german} >= {1900, 2098}


@pytest.mark.parametrize("pairs", [number_pairs, date_pairs, sentence_pairs])
@pytest.mark.parametrize("language", ["de", "fr"])
def test_held_out_pairs_are_unseen_and_a_seed_repeats_them(pairs, language):
    train, held_out = pairs(language, 150, 40, seed=3)
    assert (len(train), len(held_out)) == (150, 40)
    for side in (0, 1):
        assert len({pair[side] for pair in train + held_out}) == 190
    assert pairs(language, 150, 40, seed=3) == (train, held_out)
    assert pairs(language, 150, 40, seed=4)[0] != train


def generator():
    return torch.Generator()


BAD = {
    "language": (lambda: number_pairs("xx", 3, 1), r'language \'xx\' is not known. Choose from "de" \(German\), "fr"'),
    "language of dates": (lambda: date_pairs("German", 3, 1), r"language 'German' is not known"),
    "language of sentences": (lambda: sentence_pairs("it", 3, 1), r"language 'it' is not known"),
    "too many": (lambda: number_pairs("de", 9, 2, below=10), "n_train=9 and n_held_out=2 .* at most 10"),
    "too many days": (lambda: date_pairs("fr", 366, 0, years=(2001, 2001)), "n_train=366 .* at most 365"),
    "negative": (lambda: number_pairs("fr", 3, -1), "n_held_out=-1"),
    "fraction": (lambda: split_text("abcdef", 1.5), "held_out=1.5 .* 6 characters"),
    "empty part": (lambda: split_text("abc", 0.01), "held_out=0.01 leaves one part of the 3 characters empty"),
    "short text": (lambda: random_windows(torch.arange(8), 8, 2, generator()), "8 ids, expected at least 9"),
    "short text, all": (lambda: all_windows(torch.arange(3), 5), "all_windows: the text has 3 ids, .* length=5"),
    "no window": (lambda: random_windows(torch.arange(8), 3, 0, generator()), "n=0 windows"),
    "no length": (lambda: all_windows(torch.arange(8), 0), "length=0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()
