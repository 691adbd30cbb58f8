"""A class whose work a person grades, made up: what tests of the page to grade by hand share."""

import base64
import json
import struct
import zlib
from pathlib import Path

from clearclass.hand_page.rubric import RubricQuestion
from clearclass.hand_page.works import Work
from clearclass.one_file import digest

PLOT = RubricQuestion("plot", "The plot", 4, ("Axes have names: 1",), shown="A plot")
ESSAY = RubricQuestion("essay", "The essay", 12)
EXERCISE = "01-columns"


def png() -> str:
    """A picture of one black pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(b"\0\0")), chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def text_cell(source: str, **more) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def code_cell(source: str, *outputs: dict) -> dict:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": list(outputs), "execution_count": None}


def shows(**data) -> dict:
    """An output; `image_png` stands for image/png."""
    return {"output_type": "display_data", "metadata": {}, "data": {k.replace("_", "/", 1): v for k, v in data.items()}}


def write_work(path: Path, learner: str, id: str, *cells: dict, exercise: str = EXERCISE) -> Work:
    """A notebook of these cells, and what a class run knows of it."""
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}))
    return Work(learner, id, exercise, path, digest(path), "", (str(path),))
