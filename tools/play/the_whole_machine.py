"""The small GPT of the page: its eight words and its weights, under the names of the library."""

from tools.models import machine


def data() -> dict:
    return machine.read()
