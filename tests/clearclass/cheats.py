"""The table of cheats: notebooks of the toy exercise that lie, look, harm or leave something, and what each gets.

A row has the cells of a notebook, its points in the sandbox and with `--trust`, and a pattern that stands somewhere in
its record: in a note, in what a check says, among what it `uses`, or in the sentence for a file without a grade. A
right answer is worth 6 points for `means` and 3 for `ranges`.
"""

from dataclasses import dataclass

from tests.clearcheck.test_private_rooms import FULL, SEGMENT
from tests.clearcheck.toy_notebook import MEANS, RANGES

LEFT = "/tmp/clearcheck_left"
KEY = 4711


@dataclass(frozen=True)
class Cheat:
    cells: tuple[str, ...]
    points: int
    says: str = ""
    trusted: int | None = None  # None: the same
    trusted_says: str | None = None
    in_sandbox_alone: bool = False  # since it would harm whoever runs the tests
    slow: bool = False


def lies(result: str, says: str = "", before: str = "", points: int = 3) -> Cheat:
    """An answer for `means` that gives this, beside a right one for `ranges`."""
    return Cheat((f"{before}\ndef column_means(table):\n    return {result}", RANGES), points, says)


def does(body: str, says: str = "", points: int = 3, **options) -> Cheat:
    """An answer for `means` that does this, beside a right one for `ranges`."""
    lines = body.strip("\n").replace("\n", "\n    ")
    return Cheat((f"def column_means(table):\n    {lines}", RANGES), points, says, **options)


def cell(source: str, says: str = "", points: int = 9, **options) -> Cheat:
    """A cell that does this, before two right answers."""
    return Cheat((source, MEANS, RANGES), points, says, **options)


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

ENDINGS = {
    "exit in an answer": does("raise SystemExit(0)", "SystemExit"),
    "a hard exit in an answer": does("import os\nos._exit(0)", "exit code 0"),
    "a hard exit in a cell": cell("import os\nos._exit(0)", "exit code 0"),
    "an abort": does("import os\nos.abort()", "SIGABRT"),
    "a wrong address": does("import ctypes\nctypes.string_at(0)", "SIGSEGV"),
    "a signal to itself": cell("import os\nos.kill(os.getpid(), 9)", "SIGKILL"),
    "a signal without a name": cell("import os\nos.kill(os.getpid(), 40)", "signal 40"),
    "an interrupt": does("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "no end of calls": does("return column_means(table)", "RecursionError"),
    "an error without a text": does("class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd", "Odd"),
    "an error with a long text": does("raise ValueError('x' * 10**6)", "ValueError"),
    "another program": cell("import os\nos.execv('/bin/true', ['true'])", "ended the Python process"),
    "a thread that ends it later": cell(
        "import os, threading\nthreading.Timer(0.01, os._exit, [1]).start()\nimport time\ntime.sleep(0.1)",
        "ended the Python process",
    ),
    "work at the end": cell("import atexit, time\natexit.register(time.sleep, 60)"),
    "all memory in a list": cell("x = [b'1' * 2**28 for _ in range(64)]", "MemoryError"),
    "a huge file": cell("open('x', 'wb').truncate(2**40)", "File too large|OSError"),
    "a megabyte printed": cell("print('x' * 1_100_000)", "printed 1,100,001 characters"),
    "limits of its own": cell(
        "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (-1, -1))",
        "ValueError|PermissionError|not allowed",
        trusted_says="",
    ),
    "a loop in a cell": cell("while True: pass", "used more than", slow=True),
    "a loop in an answer": does("while True: pass", "used more than", slow=True),
    "a loop that swallows everything": does(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass", "used more than", slow=True
    ),
    "a deaf loop": cell(
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\nwhile True: pass",
        "used more than",
        slow=True,
    ),
    "sleep": cell("import time\ntime.sleep(600)", "had not ended after", slow=True),
    "a stop of itself": cell(
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "had not ended after", slow=True
    ),
}

DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import signal
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        time.sleep(600)
    os._exit(0)
os.wait()
"""
DEEP = """
import os
for _ in range(900):
    os.mkdir("x")
    os.chdir("x")
"""
MANY = """
for i in range(3000):
    open(f"{i}", "x").close()
"""
HARM = {
    "S1: a full and locked scratch folder": cell(FULL.replace("PLACE", "None")),
    "S2: shared memory that stays": cell(SEGMENT + f"leave({KEY}, 2**20)"),
    "S3: an answer in shared memory": cell(SEGMENT + f"leave({KEY + 1}, 8)"),
    "a file that stays": cell(f"open({LEFT!r}, 'w').write('table.mean(axis=0)')"),
    "a file in shared memory that stays": cell(
        "open('/dev/shm/clearcheck_left', 'w').write('x')", "Read-only|Permission|No such", trusted_says=""
    ),
    "a folder 900 deep": cell(DEEP),
    "3000 files": cell(MANY),
    "a named pipe in the scratch folder": cell("import os\nos.mkfifo('pipe')"),
    "a link out of the scratch folder": cell("import os\nos.symlink('/', 'link')"),
    "no working folder": cell("import os\nos.rmdir(os.getcwd())", ""),
    "a program that ignores its end": cell(DAEMON, "left them behind: they were ended"),
    "a shell": cell("import subprocess\nsubprocess.Popen(['sleep', '600'])", "left them behind"),
    "200 programs": cell(
        "import os, time\nfor _ in range(200):\n    if os.fork() == 0:\n        time.sleep(600)",
        "left them behind",
        in_sandbox_alone=True,
    ),
    "an end of all programs": cell("import os\nos.kill(-1, 9)", "ProcessLookupError", in_sandbox_alone=True),
    "an end of the parent": cell(
        "import os, signal\nos.kill(os.getppid(), 9)", trusted_says="starts those of the notebooks ended"
    ),
    "a look into the parent": cell("import os\nopen(f'/proc/{os.getppid()}/mem', 'rb').read(1)", "Error"),
    "a look at all programs": cell(
        "import os\nassert sum(x.isdigit() for x in os.listdir('/proc')) < 4", trusted_says="AssertionError"
    ),
    "a word to the network": cell(
        "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=0.1)",
        "Network is unreachable",
        trusted_says="Error",
    ),
    "an open port": cell("import socket\nport = socket.create_server(('127.0.0.1', 0))"),
    "a keyring": cell("import ctypes\nctypes.CDLL(None).syscall(248, b'user', b'left', b'x', 1, -3)"),
    "another host name": cell(
        "import socket\nsocket.sethostname('mine')", "PermissionError|not permitted", in_sandbox_alone=True
    ),
    "a mount": cell(
        "import ctypes\nassert ctypes.CDLL(None).mount(b'none', b'/', None, 0x44000, None) == -1", in_sandbox_alone=True
    ),
    "a module for the next one": cell(
        "import numpy\nopen(numpy.__file__, 'a').close()", "Read-only", in_sandbox_alone=True
    ),
    "the password file": cell("open('/etc/passwd').read()", "No such file", trusted_says=""),
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


HONEST = (
    """
import os
def found():
    import ctypes
    yield from os.listdir(".")
    yield from (path for path in ("/tmp/clearcheck_left", "/dev/shm/clearcheck_left") if os.path.exists(path))
    yield from (f"segment {key}" for key in (4711, 4712) if ctypes.CDLL(None).shmget(key, 8, 0) != -1)
left = list(found())
""",
    "assert not left, left",
    """
def column_means(table):
    import tempfile
    with tempfile.TemporaryFile() as file:
        np.save(file, table)
        file.seek(0)
        return np.load(file).mean(axis=0)
""",
    RANGES,
)
