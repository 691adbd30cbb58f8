"""Checks of exercise 01: words with runs and letters of several bytes, images with four different sizes."""

LETTERS = "aeinorst"


WIDE = "üßéお茶"  # two or three bytes each
