"""Odd files as students hand them in, and worse: how each is made, the points that it gets, and what its row says."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.clearcheck.test_bad_input import FILES
from tests.clearcheck.toy_notebook import MEANS, RANGES, SLUG, START, notebook

BOOK = notebook(START, MEANS, RANGES)
TEXT = json.dumps(BOOK)


class Odd(NamedTuple):
    make: Callable[[Path], object]
    points: int | None  # None: it has no grade
    says: str = ""
    name: bytes = b""  # of the file; else the name of the row


def holds(data: bytes | str, points: int | None, says: str = "") -> Odd:
    return Odd(lambda path: path.write_bytes(data.encode() if isinstance(data, str) else data), points, says)


def named(name: str | bytes, points: int | None = 9, says: str = "") -> Odd:
    """A right notebook under an odd name."""
    return Odd(lambda path: path.write_text(TEXT), points, says, os.fsencode(name))


def book(points: int, says: str = "", **changes) -> Odd:
    return holds(json.dumps({**BOOK, **changes}), points, says)


def cells(*sources: str, points: int, says: str = "") -> Odd:
    return holds(json.dumps(notebook(START, *sources)), points, says)


def _of_kind(kind: str) -> dict:
    return {"cell_type": kind, "metadata": {}, "source": MEANS, "id": "x"}


def _socket(path: Path):
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket has at most 107 characters
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def _sparse(path: Path):
    with open(path, "wb") as file:
        file.truncate(2**40)


def _folder(path: Path):
    path.mkdir()
    (path / "inside.txt").write_text("x")


CONTENTS = {
    **{name: holds(data, None, says) for name, (data, says) in FILES.items() if "exercise" not in name},
    "UTF-16": holds(TEXT.encode("utf-16"), None, "JSON text is expected"),
    "a byte order mark": holds(b"\xef\xbb\xbf" + TEXT.encode(), 9),
    "lines as on Windows": holds(json.dumps(BOOK, indent=1).replace("\n", "\r\n"), 9),
    "lines as lists": book(9, cells=[{**it, "source": it["source"].splitlines(keepends=True)} for it in BOOK["cells"]]),
    "a zip archive under this name": holds(b"PK\x03\x04" + bytes(100), None, "JSON text is expected"),
    "a PDF under this name": holds(b"%PDF-1.7\n%\xe2\xe3", None, "JSON text is expected"),
    "a web page under this name": holds("<!DOCTYPE html><title>x</title>", None, "JSON text is expected"),
    "conflicts of git": holds(f"<<<<<<< HEAD\n{TEXT}\n=======\n{TEXT}\n>>>>>>> x", None, "JSON text is expected"),
    "two notebooks": holds(TEXT + TEXT, None, "JSON text is expected"),
    "keys that come twice": holds(TEXT.replace('"nbformat": 4', '"nbformat": 3, "nbformat": 4'), 9),
    "half of a character": holds(TEXT.replace("table", "table\\ud800", 1), 3, "SyntaxError"),
    "a zero byte in the code": cells("x = 1\0", MEANS, RANGES, points=9, says="ValueError|SyntaxError"),
    "a later format": book(9, nbformat_minor=99),
    "no metadata": book(9, metadata=None),
    "metadata that are a list": book(9, metadata=[1]),
    "points in the metadata": book(9, metadata={"clearcheck": {"exercise": SLUG, "points": 900}, "grade": 900}),
    "an exercise that is a path": book(9, metadata={"clearcheck": {"exercise": "../../etc/passwd"}}),
    "text cells alone": book(9, cells=[*BOOK["cells"], *(_of_kind(kind) for kind in ("markdown", "raw", "odd"))]),
    "points in the outputs": book(
        0, cells=[{**it, "outputs": [{"output_type": "stream", "text": "9 of 9"}]} for it in BOOK["cells"][:1]]
    ),
    "a kernel of another language": book(9, metadata={"kernelspec": {"name": "ir", "language": "R"}}),
    "code of another language": cells("x <- c(1, 2", "library(torch)", points=0, says="SyntaxError"),
    "Python 2": cells("print 'x'", MEANS, points=6, says="SyntaxError"),
    "magics and shell commands": cells(
        "%matplotlib inline\n!pip install x\n%%time\nx = 1", MEANS, points=6, says="only in"
    ),
    "a cell in brackets a thousand deep": cells("(" * 1000 + ")" * 1000, MEANS, points=6, says="Error"),
    "a million characters": holds(json.dumps(notebook("x" * 1_000_001)), None, "characters of code"),
    "three thousand cells": cells(*["x = 1"] * 3000, MEANS, points=6),
    "a terabyte": Odd(_sparse, None, "larger than"),
    "no file but a folder": Odd(_folder, None, "is a folder"),
    "an empty folder": Odd(Path.mkdir, None, ""),
    "a link to a file of the machine": Odd(lambda path: path.symlink_to("/etc/passwd"), None, "links are not followed"),
    "a link to nowhere": Odd(lambda path: path.symlink_to("nowhere"), None, "a link to nowhere"),
    "a link to itself": Odd(lambda path: path.symlink_to(path.name), None, "links are not followed|nowhere"),
    "a link to a device without end": Odd(lambda path: path.symlink_to("/dev/zero"), None, "links are not followed"),
    "a named pipe": Odd(os.mkfifo, None, "is a named pipe"),
    "a socket": Odd(_socket, None, "is a socket"),
}
NAMES = {
    "no UTF-8": named(b"M\xfcller.ipynb"),
    "a new line": named("a\nforged: 9 of 9.ipynb"),
    "a sign that turns the text": named("turned\u202eround.ipynb"),
    "colours of a terminal": named("\x1b[31mred.ipynb"),
    "a formula": named('=HYPERLINK("http:x").ipynb'),
    "an option": named("--jobs.ipynb"),
    "quotes and commas": named('O\'Brien, "Bob"; x.ipynb'),
    "faces": named("\U0001f389.ipynb"),
    "right to left": named("שלום.ipynb"),
    "200 characters": named("a" * 200 + ".ipynb"),
    "large letters": named("HOMEWORK.IPYNB"),
    "two dots": named("a..ipynb"),
    "an archive": named("work.zip", None, "is an archive"),
    "a script": named("work.py", None, "is no notebook"),
    "no ending": named("work", None, "is no notebook"),
}
ODD_FILES = {
    **{f"holds {name}": odd for name, odd in CONTENTS.items()},
    **{f"called {n}": odd for n, odd in NAMES.items()},
}
