"""A slow check keeps its last result while the answer, with all that it uses, is unchanged, and never longer."""

import pytest
from clearcheck import notebook as in_notebook
from clearcheck.learner import kept_results
from clearcheck.learner.kept_results import answer_of

from .toy_notebook import MEANS

ANSWER = "def column_means(table):\n    return helper(table) / unit"
HELPER = "def helper(table):\n    return table.mean(axis=0)"
MODULE = """
import torch
class Base(torch.nn.Module):
    rate = 1
class Answer(Base):
    sizes = (1, 2)
    def __init__(self, width=3):
        super().__init__()
        self.width = width
    def forward(self, x):
        return x * self.width * unit
"""


@pytest.fixture
def evaluated(monkeypatch) -> list[str]:
    """The questions that were evaluated and not looked up, each result being taken for a slow one."""
    monkeypatch.setattr(kept_results, "SLOW", 0.0)
    asked: list[str] = []

    def evaluate(question, *rest, now=in_notebook.evaluate):
        asked.append(question.id)
        return now(question, *rest)

    monkeypatch.setattr(in_notebook, "evaluate", evaluate)
    return asked


def test_an_unchanged_answer_is_checked_once(run, evaluated):
    """Would catch eight seconds of training in `check`, and the same once more in `progress` and in `case`."""
    printing = MEANS.replace("    return", "    print('seen')\n    return")
    first = run(f'{printing}\ncheck("means")')
    again = run('check("means")')
    assert repr(first) == repr(again) and "seen" in repr(again)
    assert "6 of 6 points" in repr(run(f"{printing}\nprogress()"))
    run('case("means")')
    assert evaluated.count("means") == 1
    run('check("means", seed=3)')
    assert evaluated.count("means") == 2


def test_a_quick_check_is_not_kept(run, evaluated, monkeypatch):
    """Would catch a kept result where there is nothing to be won."""
    monkeypatch.setattr(kept_results, "SLOW", 1e9)
    run(f'{MEANS}\ncheck("means")')
    run('check("means")')
    assert evaluated == ["means", "means"]


def test_a_call_that_was_stopped_is_asked_again(run, evaluated):
    """Would catch a verdict of a busy minute that no further check lifts."""
    for _ in range(2):
        run('def column_means(table):\n    raise MemoryError\ncheck("means")')
    assert evaluated == ["means"]
    for _ in range(2):
        run('def column_means(table):\n    while True: pass\ncheck("means")')
    assert evaluated == ["means"] * 3


@pytest.mark.parametrize(
    "change",
    [
        ANSWER.replace("/ unit", "* unit"),
        HELPER.replace("axis=0", "axis=1"),
        HELPER.replace("axis=0", "axis=None"),
        "unit = 2.0",
        "unit = 1",
        "unit = np.ones(1)",
        "helper = np.mean",
        "abs = 3\nhelper = abs",
    ],
)
def test_whatever_the_answer_uses_counts(run, evaluated, change):
    """Would catch a verdict on a helper, a number or a function that is no longer the same."""
    run(f'{HELPER}\nunit = 1.0\n{ANSWER}\ncheck("means")')
    run('elsewhere = 5\ncheck("means")')
    assert evaluated == ["means"]
    run(f'{change}\ncheck("means")')
    assert evaluated == ["means", "means"]


def space_of(source: str) -> dict:
    space: dict = {"__name__": "__main__"}
    exec(source, space)
    return space


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rate = 1", "rate = 2"),
        ("sizes = (1, 2)", "sizes = (1, 3)"),
        ("width=3", "width=4"),
        ("x * self", "x + self"),
        ("class Answer(Base)", "class Answer(torch.nn.Module)"),
        ("unit", "np"),
    ],
)
def test_a_module_is_known_by_its_methods_and_bases(old, new):
    """Would catch a class that counts as the same for its name, and one that is never the same as itself."""
    before = answer_of("Answer", space_of(f"import numpy as np\nunit = np.ones(3)\n{MODULE}"))
    assert before is not None
    assert answer_of("Answer", space_of(f"import numpy as np\nunit = np.ones(3)\n{MODULE}")) == before
    assert answer_of("Answer", space_of(f"import numpy as np\nunit = np.ones(3)\n{MODULE.replace(old, new)}")) != before


@pytest.mark.parametrize(
    "source",
    [
        "cache = {}\ndef f(x):\n    return cache.get(x)",
        "def f(x):\n    return f.calls\nf.calls = 0",
        "def f(x):\n    return globals()['y']",
        "def f(x, kept={}):\n    return kept",
        "import functools\n@functools.lru_cache\ndef f(x):\n    return x",
        "import numpy as np\nrng = np.random.default_rng(0)\ndef f(x):\n    return rng.normal()",
        "import numpy as np\ndraw = np.random.default_rng(0).normal\ndef f(x):\n    return draw()",
        "class A:\n    seen = {}\ndef f(x):\n    return A.seen",
        "import torch\nmodel = torch.nn.Linear(1, 1)\ndef f(x):\n    return model(x)",
    ],
)
def test_what_may_have_changed_inside_is_not_kept(source):
    """Would catch a kept verdict where a model was trained, or a generator or a cache went on, in between."""
    assert answer_of("f", space_of(source)) is None


def test_a_file_beside_the_notebook_may_have_been_edited(tmp_path, monkeypatch):
    """Would catch a kept verdict after a change in a file of the learner's own that was loaded anew."""
    (tmp_path / "own_helper_of_mine.py").write_text("def g(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    sources = [
        "import own_helper_of_mine as own\ndef f(x):\n    return own.g(x)",
        "from own_helper_of_mine import g\ndef f(x):\n    return g(x)",
    ]
    assert all(answer_of("f", space_of(source)) is not None for source in sources)
    monkeypatch.chdir(tmp_path)
    assert all(answer_of("f", space_of(source)) is None for source in sources)
