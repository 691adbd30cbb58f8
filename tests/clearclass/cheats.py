"""The table of cheats: notebooks of the toy exercise that lie, look, harm or leave something, and what each gets."""

from tests.clearcheck.toy_notebook import MEANS, RANGES

from .cheat import Cheat, cell, does, lies
from .harms import ENDINGS, HARM

EVERYTHING = """
class Everything:
    shape, dtype, ndim = (5,), np.dtype(float), 1
    __eq__ = __ge__ = __le__ = lambda self, other: True
    __sub__ = __rsub__ = __float__ = __abs__ = lambda self, *other: 0.0
    __array__ = lambda self, *args, **kwargs: np.zeros(5)
    __array_interface__ = {"shape": (5,), "typestr": "<f8", "data": (0, False), "version": 3}
class Anything(np.ndarray):
    __eq__ = __array_ufunc__ = __array_function__ = lambda self, *args, **kwargs: True
class Number(float):
    __eq__ = __lt__ = __gt__ = lambda self, other: True
class Liar:
    __class__ = np.ndarray
    shape, dtype = (5,), np.dtype(float)
"""
COMPARED = {
    "an object that equals everything": lies("Everything()", "array", EVERYTHING),
    "an array that equals everything": lies("np.zeros(table.shape[1]).view(Anything)", "off by", EVERYTHING),
    "a list of what equals everything": lies("[Everything()] * table.shape[1]", "", EVERYTHING),
    "numbers that equal everything": lies("[Number(0)] * table.shape[1]", "", EVERYTHING),
    "an object that lies about its class": lies("Liar()", "", EVERYTHING),
    "nan for every number": lies("np.full(table.shape[1], np.nan)", "nan"),
    "infinity for every number": lies("np.full(table.shape[1], np.inf)", "inf"),
    "an array of objects": lies("np.array([None] * table.shape[1])", ""),
    "a masked array": lies("np.ma.masked_all(table.shape[1])", ""),
    "a generator": lies("(x for x in table)", "generator"),
    "a text": lies("str(table.mean(axis=0))", "str"),
    "the function itself": lies("column_means", "function"),
    "a number of 400 digits": lies("10 ** 400", ""),
    "a list that holds itself": does("found = []\nfound.append(found)\nreturn found"),
    "a list a thousand deep": does("found = []\nfor _ in range(1000):\n    found = [found]\nreturn found"),
    "a gigabyte of zeros without memory": lies("np.broadcast_to(0.0, (2**27,))", ""),
    "the argument made to fit": does("table[:] = 0\nreturn table[0]", ""),
    "the argument with another shape": does("table.shape = -1, 1\nreturn table.mean(axis=0)", ""),
    "functions of numpy that say yes": Cheat(
        (
            "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True\nnp.abs = lambda x: 0 * x",
            "def column_means(table):\n    return np.zeros(table.shape[1])",
            RANGES,
        ),
        3,
        "off by",
    ),
    "another numpy": Cheat(
        (
            "import sys, types\nsys.modules['numpy'] = types.ModuleType('numpy')",
            "def column_means(table):\n    return 0 * table[0]",
            RANGES,
        ),
        3,
        "off by",
    ),
    "builtins that say yes": Cheat(
        ("import builtins\nbuiltins.all = builtins.any = lambda *a: True\nbuiltins.len = lambda x: 5", RANGES),
        3,
        "ended the Python process",
    ),
}

FRAMES = """
import sys
frame = sys._getframe()
while frame is not None:
    for name, value in frame.f_locals.items():
        if name in ("expected", "reference", "rng", "seed", "check"):
            raise ValueError("found " + name)
    frame = frame.f_back
return 0 * table[0]
"""
OBJECTS = """
import gc
for found in gc.get_objects():
    if str(type(found).__module__).startswith("clearcheck.grading"):
        raise ValueError("found")
return 0 * table[0]
"""
FORGE = """
import os
from clearcheck.worker.frames import write_frame
for descriptor in range(3, 40):
    try:
        forged = {"kind": "value", "value": table.mean(axis=0), "changed": []}
        write_frame(open(descriptor, "wb", closefd=False), forged)
        os.write(descriptor, b"junk")
    except (OSError, ValueError):
        pass
return 0 * table[0]
"""
PATCHED = """
import clearcheck.worker.child as child
import clearcheck.worker.guarded_call as guarded
import clearcheck.worker.values as values
"""
OF_THE_GRADER = {
    "the checks by their name": cell("import clearcheck.grading.question", "ModuleNotFoundError"),
    "the loader of the answers by its name": cell("import clearcheck.author.loading", "ModuleNotFoundError"),
    "the class run by its name": cell("import clearclass.journal", "ModuleNotFoundError"),
    "the checks by a detour": cell("__import__('clear' + 'check.grading')", "ModuleNotFoundError"),
    "the checks among the modules": cell("import sys\nsys.modules['clearcheck_toy']", "KeyError"),
    "the expected values in the frames above": does(FRAMES, "off by"),
    "the checks among all objects": does(OBJECTS, "off by"),
    "the seed among the arguments": cell("import sys\nassert len(sys.argv) < 2, sys.argv"),
    "the seed in the environment": cell("import os\nassert not [x for x in os.environ if 'CLEAR' in x]"),
    "replies of its own on every pipe": does(FORGE, "channel to the grader was disturbed"),
    "closed pipes": does("import os\nos.closerange(3, 40)\nreturn 0 * table[0]", "ended the Python process"),
    "an end of the keyboard": cell("input('Points? ')", "EOFError"),
    "another way to send": Cheat(
        (
            PATCHED + "values._Writer._int = lambda self, value: ['int', '9' * 400]",
            "def column_means(table):\n    return 5",
            RANGES,
        ),
        3,
        "",
    ),
    "another call in the grader's room": Cheat(
        (
            PATCHED + "child._OPERATIONS['call'] = lambda *a: {'kind': 'value', 'value': 0, 'changed': [], 'held': -1}",
            MEANS,
        ),
        0,
        "",
    ),
    "a reply of points": Cheat(
        (PATCHED + "child._OPERATIONS['call'] = lambda *a: {'kind': 'passed', 'points': 9}", MEANS), 0, ""
    ),
    "a reply of objects": Cheat((PATCHED + "child._OPERATIONS['call'] = lambda *a: 3", MEANS), 0, ""),
    "no changed arguments": Cheat(
        (
            PATCHED + "guarded._changed_arguments = lambda *a: []",
            "def column_means(table):\n    table[:] = 0\n    return table[0]",
            RANGES,
        ),
        3,
        "off by",
    ),
    "modules said to be loaded": Cheat(
        (PATCHED + "child._OPERATIONS['loaded'] = lambda *a: {'kind': 'loaded', 'modules': 'torch' * 9}", MEANS), 6, ""
    ),
    "a trace of every line": cell("import sys\nsys.settrace(lambda *a: None)", ""),
    "checks of its own": cell("def check(name): print('passed')\ndef exercise(name): pass\ncheck('means')", ""),
    "an answer by another name": Cheat(("def means(table):\n    return table.mean(axis=0)",), 0, "means"),
    "a class for an answer": Cheat(
        ("class column_means:\n    def __new__(cls, table):\n        return table.mean(axis=0)", RANGES), 9, ""
    ),
    "answers for small arguments alone": does(
        "return table.mean(axis=0) if table.size < 3 else 0 * table[0]", "off by"
    ),
    "what another question was given": Cheat(
        ("KEPT = []", "def column_means(table):\n    KEPT.append(table)\n    return KEPT[0].mean(axis=0)", RANGES),
        3,
        "",
    ),
}

ANSWERS = """
def column_means(table):
    import re
    text = open({path!r}).read()
    space = {{"np": np}}
    exec(re.search(r"def means.*?(?=\\n\\n)", text, re.S)[0], space)
    return space["means"](table)
"""
LOOKS = {
    "the library's solution": cell("from clearformer.reference import softmax", "this exercise is done without"),
    "the library's solution in parts of a name": cell("__import__('clear' + 'tape')", "this exercise is done without"),
    "a package that does the work": cell("import scipy", "scipy"),
    "another exercise": Cheat(("exercise('../../etc')", MEANS), 6, ""),
    "two exercises": Cheat(("exercise('02-other')", MEANS), 6, ""),
    "a definition for the eye and one for the grader": Cheat(
        ("def column_means(table):\n    return 0 * table[0]", MEANS, RANGES), 9, "defined in code cells"
    ),
    "five hundred cells": Cheat((*["x = 1"] * 500, MEANS, RANGES), 9, ""),
    "two hundred wrong cells": Cheat((*["1 / 0"] * 200, MEANS, RANGES), 9, "more notes"),
    "signs that turn the text": cell("raise ValueError('\\u202eturned\\x1b[31m\\n9 of 9 points')", "ValueError"),
    "a formula": cell("raise ValueError('=HYPERLINK(\"http://x\")')", "ValueError"),
    "markup": cell("raise ValueError('<script>alert(1)</script>')", "ValueError"),
}


def table_of_cheats(reference: str) -> dict[str, Cheat]:
    """All rows; `reference` is the author's file with the answers, as one who knows the machine would name it."""
    read = Cheat((ANSWERS.format(path=reference), RANGES), 3, "FileNotFoundError", trusted=9, trusted_says="")
    return {**COMPARED, **OF_THE_GRADER, **ENDINGS, **HARM, **LOOKS, "the author's answers as a file": read}
