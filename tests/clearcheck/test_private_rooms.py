"""What one notebook leaves behind in the sandbox is not there for the next: files, memory, keys."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest
from clearcheck.worker import launch, server, server_process, surroundings
from clearcheck.worker.limits import Limits
from clearcheck.worker.scratch_folder import remove_tree

from .toy_notebook import MEANS, RANGES

NOBODY = 65534
FULL = """
import os, tempfile
folder = tempfile.gettempdir() if PLACE is None else PLACE
os.makedirs(f"{folder}/x/y")
try:
    for i in range(9):
        with open(f"{folder}/x/y/{i}", "wb") as file:
            file.write(bytes(60 * 2**20))
except OSError:
    pass
os.chmod(f"{folder}/x/y", 0)
os.chmod(f"{folder}/x", 0)
"""
SAVES = """
def column_means(table):
    import tempfile
    with tempfile.TemporaryFile() as file:
        np.save(file, table)
        file.seek(0)
        return np.load(file).mean(axis=0)
"""
SEGMENT = """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
def leave(key, size):
    number = libc.shmget(key, size, 0o1666)
    place = libc.shmat(number, None, 0)
    ctypes.memset(place, 1, size)
    libc.shmdt(ctypes.c_void_p(place))
"""
KEYRING = """
import ctypes
from clearcheck.worker.private_rooms import KEYCTL
import platform
raise ValueError(str(ctypes.CDLL(None).syscall(KEYCTL[platform.machine()], 0, -3, 0)))
"""


@pytest.fixture
def sandbox_with(isolate_workers, monkeypatch):
    """Use a sandbox that is started with further options of bubblewrap."""
    made = []

    def choose(*options: str):
        isolate_workers(launch.BUBBLEWRAP)
        command = surroundings.sandbox
        monkeypatch.setattr(surroundings, "sandbox", lambda home: [*command(home), *options])
        made.append(server_process.WorkerServer(launch.BUBBLEWRAP))
        monkeypatch.setattr(launch, "_server", lambda owner: made[-1])
        return made[-1]

    yield choose
    for one in made:
        one.retire()


@pytest.mark.parametrize("place", [None, "/tmp"])
@pytest.mark.parametrize("options", [[], ["--disable-userns"]], ids=["rooms of its own", "a new sandbox"])
def test_a_full_scratch_folder_takes_no_point_from_the_next_notebook(grade_cells, sandbox_with, options, place):
    """Catches an honest answer that finds no space, since her neighbour filled it and locked the folder, also where the
    kernel refuses the rooms: with that option bubblewrap lets nobody make another namespace of users.
    """
    sandbox_with(*options)
    fill = FULL.replace("PLACE", repr(place))
    assert [grade_cells(fill, MEANS, RANGES, limits=Limits()).points, grade_cells(SAVES, RANGES).points] == [9, 9]


@pytest.mark.parametrize("options", [[], ["--disable-userns"]], ids=["rooms of its own", "a new sandbox"])
def test_shared_memory_of_a_notebook_is_not_there_for_the_next(grade_cells, sandbox_with, options):
    """Catches an answer that is handed on from one notebook to the other."""
    sandbox_with(*options)
    look = "assert libc.shmget(4444, 8, 0) == -1, 'left'"
    assert grade_cells(SEGMENT, "leave(4444, 8)\nassert libc.shmget(4444, 8, 0) != -1", MEANS).notes == []
    assert grade_cells(SEGMENT, look, MEANS).notes == []


def test_shared_memory_that_nobody_has_attached_is_counted(grade_cells, sandbox):
    """Catches gigabytes in segments that belong to no process."""
    hog = "import time\nfor key in (1, 2, 3):\n    leave(key, 200 * 2**20)\ntime.sleep(600)"
    grade = grade_cells(SEGMENT, hog, MEANS, limits=Limits(memory=2**29))
    assert "its processes together held more than 0.5 GB" in grade.notes[0]


def test_each_notebook_has_a_keyring_of_its_own(grade_cells, isolation):
    """Catches keys that one notebook leaves to the next, and those of whoever started the grader."""
    serials = [grade_cells(KEYRING, MEANS).notes[0] for _ in range(2)]
    if "ValueError (-1)" in serials[0]:
        pytest.skip("needs a kernel with keyrings")
    assert serials[0] != serials[1]


def test_packages_below_the_scratch_folder_stay(grade_cells, sandbox_with, tmp_path):
    """Catches an environment in /tmp, such as one of a test, whose packages vanish with the first notebook."""
    (tmp_path / "module.py").touch()
    place = "/tmp/a way/to them"
    sandbox_with("--ro-bind", str(tmp_path), place)
    look = f"import os\nassert 'module.py' in os.listdir({place!r}), 'gone'\nopen('/tmp/a way/mine', 'x')"
    assert [grade_cells(look, MEANS).notes for _ in range(2)] == [[], []]


def test_code_has_no_rights_in_its_rooms(grade_cells, sandbox):
    """Catches an answer that may mount or unmount, since whoever makes rooms may do everything in them."""
    look = "import re\nheld = re.findall(r'^Cap(?:Prm|Eff|Bnd):\\s+(\\w+)', open('/proc/self/status').read(), re.M)\n"
    look += "assert len(held) == 3 and not any(int(rights, 16) for rights in held), held\n"
    look += "import ctypes\nassert ctypes.CDLL(None).umount(b'/tmp') == -1"
    assert grade_cells(look, MEANS).notes == []


def test_code_may_ask_itself_over_the_loopback(grade_cells, sandbox):
    """Catches a network of one's own that is down: a server and its client in one notebook are honest."""
    ask = "import socket\nwith socket.create_server(('127.0.0.1', 0)) as here:\n"
    ask += "    socket.create_connection(here.getsockname(), timeout=1).close()"
    assert grade_cells(ask, MEANS).notes == []


def test_scratch_is_removed_whatever_its_rights():
    """Catches folders that a notebook has locked, for a user who is not root and may not look into them."""
    folder = Path(tempfile.mkdtemp())
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.chown(folder, NOBODY, NOBODY)
                os.setuid(NOBODY)
            (folder / "x" / "y").mkdir(parents=True)
            (folder / "x" / "y" / "file").touch()
            (folder / "x" / "link").symlink_to("/")
            (folder / "x" / "y").chmod(0)
            (folder / "x").chmod(0)
            remove_tree(str(folder / "x"))
            os._exit(int((folder / "x").exists()))
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    folder.rmdir()


def test_a_process_that_cannot_be_ended_takes_the_sandbox_along(monkeypatch):
    """Catches a next notebook that meets what the last one started, where it outlived every try to end it."""
    ended: list[int] = []
    monkeypatch.setattr(server.os, "_exit", ended.append)
    monkeypatch.setattr(server, "_descendants", set)
    server._end_the_sandbox_unless_empty()
    assert ended == []
    monkeypatch.setattr(server, "_descendants", lambda: {4711})
    server._end_the_sandbox_unless_empty()
    assert ended == [1]


def open_sockets() -> list[str]:
    links = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(f"/proc/self/fd/{name}"))
    return [link for link in links if link.startswith("socket:")]


def test_a_sandbox_that_has_ended_itself_is_replaced_and_leaves_nothing_open(grade_cells, sandbox_with):
    """Catches a socket lost with each sandbox, and a run that does not go on without the first."""
    one = sandbox_with()
    opened = []
    for _ in range(3):
        assert grade_cells(MEANS, RANGES).points == 9
        opened.append(len(open_sockets()))
        one.process.kill()
        one.process.wait()
    assert opened[1:] == opened[:1] * 2
