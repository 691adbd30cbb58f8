"""The program of chapter 15 in which two processes talk: it equals one process, and tells which of them died."""

import re
import subprocess
import sys

import nbformat
import pytest
import torch

from tests.notebooks.kept_file import load_kept_file
from tools import ROOT

CHAPTERS = ROOT / "chapters"
FILE = CHAPTERS / "two_processes.py"
PAGE = CHAPTERS / "15-gpt3.ipynb"
CODE_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def run(*words):
    return subprocess.run([sys.executable, FILE, *words], cwd=ROOT, capture_output=True, text=True, timeout=600)


@pytest.fixture
def program(monkeypatch):
    monkeypatch.syspath_prepend(CHAPTERS)
    return load_kept_file(FILE)


def test_what_the_page_shows_of_it_is_what_it_does():
    """Catches code on the page that was left behind when the program changed."""
    cell = next(cell for cell in nbformat.read(PAGE, as_version=4).cells if cell.id == "two-processes")
    shown = CODE_BLOCK.findall(cell.source)
    assert len(shown) == 3 and all(block.strip() in FILE.read_text(encoding="utf-8") for block in shown)


@pytest.mark.slow
def test_two_processes_have_the_losses_of_one():
    """Catches unequal shares that count alike, a bias added twice, and a sum that is missing on the way back."""
    done = run()
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(.+?) +loss .*, (.*)$", done.stdout, re.MULTILINE) == [
        ("by rows", "as in one process"),
        ("overlapped", "as in one process"),
        ("by features", "as in one process"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_the_command_says_which_rank_died_and_stops_the_other(rank):
    """Catches a process that waits for ever for a sum, and a report that names the one that was stopped."""
    done = run("--stop", str(rank))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"two_processes.py: rank {rank} died (exit code 3); rank {1 - rank} was stopped"
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", ["overlapped", "by features"])
def test_a_death_in_the_middle_of_any_way_is_told(way):
    """Catches an error of sending that is lost in a hook of the backward pass, or while sums are waited for."""
    alone = f"import two_processes; two_processes.together(dies=1, ways=[{way!r}])"
    done = subprocess.run([sys.executable, "-c", alone], cwd=CHAPTERS, capture_output=True, text=True, timeout=600)
    assert done.stderr.splitlines()[-1] == "RuntimeError: rank 1 died (exit code 3); rank 0 was stopped"


def test_sums_are_on_their_way_while_the_backward_pass_goes_on(program, monkeypatch):
    """Catches sums that all begin when the last gradient is there, and hooks that stay behind."""
    events = []

    class Sum:
        def wait(self):
            events.append("waited")

    def sent(x, async_op=False):
        events.append("sent")
        return Sum()

    monkeypatch.setattr(program.dist, "is_initialized", lambda: True)
    monkeypatch.setattr(program.dist, "all_reduce", sent)
    model = program.GPT(7, d_model=8, n_heads=2, n_layers=2)
    first = next(iter(model.parameters()))
    first.register_hook(lambda gradient: events.append("the lowest layer"))
    ids = torch.randint(7, (3, 5))
    program.overlapped(model, ids, 0, 2)
    weights = len(list(model.parameters()))
    assert events.count("sent") == weights + 1 and events.count("waited") == weights  # the last is that of the loss
    assert events[: events.index("the lowest layer")].count("sent") > weights / 2
    assert events.index("waited") > events.index("the lowest layer")
    before = len(events)
    program.loss_of_share(model, ids, 0, 2).backward()
    assert events[before:] == ["the lowest layer"]


@pytest.mark.parametrize(
    ("codes", "told"),
    [
        ([75, -9], "rank 1 died (exit code -9); rank 0 was stopped"),
        ([1, -15], "rank 0 died (exit code 1); rank 1 was stopped"),
        ([3, 4], "rank 0 died (exit code 3); rank 1 died (exit code 4)"),
        ([75, 0], "the processes have lost each other, and none says why; rank 0 was stopped"),
    ],
)
def test_the_report_tells_who_died_from_who_was_stopped(program, codes, told):
    assert program.report(codes) == told


def test_the_parts_of_a_block_add_up_to_it(program):
    """Catches a head that is cut in two, a unit that nobody has, and a bias that is added twice."""
    from gpt import Block

    torch.manual_seed(0)
    parts = []
    for rank in range(2):
        torch.manual_seed(1)
        block = Block(12, 4, 20).double()
        x = torch.randn(2, 5, 12, dtype=torch.float64)
        heads, network = block.attention(x), block.feed_forward(x)
        program.cut(block, rank, 2)
        parts.append((block.attention(x), block.feed_forward(x)))
    torch.testing.assert_close(parts[0][0] + parts[1][0], heads)
    torch.testing.assert_close(parts[0][1] + parts[1][1], network)


@pytest.mark.parametrize("words", [("--stop",), ("--stop", "2"), ("3",)])
def test_other_words_are_told_the_usage(program, words):
    with pytest.raises(SystemExit, match=r"usage: .*--stop 0 or --stop 1"):
        program.main(*words)


def test_heads_that_do_not_come_out_even_are_refused(program):
    from gpt import Block

    with pytest.raises(ValueError, match="3 processes cannot share 4 heads evenly"):
        program.cut(Block(12, 4, 20), 0, 3)
