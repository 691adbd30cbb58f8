"""Chapter 11, translation: what the cure leaves wrong."""

from tests.claims.chapter_11 import BY_LENGTH, EVENLY
from tests.claims.chapter_11_failures import RIGHT, cure
from tests.claims.registry import claim

REMAINING = "1 digit", "2 digits", "5 digits"

claim(
    cure,
    "Of five digits one in ten or more is still wrong, of two digits more than that, and of one digit a third or a "
    "half.",
    about=(EVENLY, BY_LENGTH),
    cell="cure-figure",
    holds=lambda numbers: all(
        five <= 90 and two < five and 50 <= one < 67
        for one, two, five in zip(*(numbers[BY_LENGTH, f"{name}, {RIGHT}", 1] for name in REMAINING), strict=True)
    ),
    note="From each of three starts. In four times the steps one in two hundred of five digits is wrong, and of one "
    "digit a third.",
)
