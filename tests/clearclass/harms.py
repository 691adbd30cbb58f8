"""Rows of the table of cheats that end, fill, block or leave something, and the honest notebook that looks for it."""

from tests.clearcheck.test_private_rooms import FULL, SEGMENT
from tests.clearcheck.toy_notebook import RANGES

from .cheat import cell, does

LEFT = "/tmp/clearcheck_left"
KEY = 4711

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
