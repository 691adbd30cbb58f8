"""The stored weights of the translator, which chapter 2 draws, and the program that makes them."""

import json

import pytest
import torch
from clearbook.data.builtin import number_words

from tools.models import alignment

STORED = json.loads(alignment.TARGET.read_text(encoding="utf-8"))


def table(rows):
    return [[float(weight) for weight in row.split()] for row in rows]


def joined(pieces):
    return "".join(pieces).removesuffix("<end>")


@pytest.mark.parametrize("rows", [STORED["number"]["weights"], *STORED["sentence"]["weights"]])
def test_every_row_is_an_average(rows):
    """Catches rows and columns that have changed places, and a file that was edited."""
    assert all(sum(row) == pytest.approx(1, abs=0.01) for row in table(rows))


def test_the_texts_are_those_that_the_program_names():
    """Catches a picture of another number than the page says, or of a wrong translation."""
    number, sentence = STORED["number"], STORED["sentence"]
    assert joined(number["written"]) == number_words(alignment.NUMBER, alignment.LANGUAGE)
    assert joined(sentence["written"]) == alignment.SENTENCE[1].replace(" ", "")
    assert len(number["weights"]) == len(number["written"])
    assert {len(row) for row in table(number["weights"])} == {len(number["read"])}


def test_the_program_takes_cells_that_the_page_has():
    """Catches a cell of chapter 11 that was renamed, so that the stored weights could not be made again."""
    cells = {cell["id"] for cell in json.loads(alignment.PAGE.read_text(encoding="utf-8"))["cells"]}
    assert {*alignment.TEXTS, *alignment.MODEL, *alignment.TRAINING, *alignment.HEADS} <= cells


def test_a_wrong_translation_is_refused():
    """Catches a picture of where a model looks while it writes something else than the text beside it."""

    class Silent(torch.nn.Module):
        def forward(self, source, target):
            return torch.nn.functional.one_hot(torch.zeros_like(target), 5).float()

    names = {"source_row": lambda text, lang: [3, 2], "target_row": lambda text: [1, 4, 2], "model": Silent()}
    with pytest.raises(ValueError, match="does not write 'vier' for 'four'"):
        alignment.looks(names, "four", "vier")
