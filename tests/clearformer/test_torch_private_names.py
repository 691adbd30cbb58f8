"""Every name of PyTorch that we use without a promise that it stays: an upgrade that takes one away fails here.

What begins with an underscore is looked for in the tree, as an attribute, as an import and in texts that name
functions; what has no underscore and no documentation is tried in the way in which we use it.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from clearcheck.worker.forbidden_names import WAYS
from clearcheck.worker.torch_modules import DRAWN
from clearformer.pretrained.folders import _SkipDraws
from torch import nn
from torch.overrides import TorchFunctionMode

from tools import ROOT

FOLDERS = ("lib", "tools", "benchmarks", "exercises", "tests")
# The name, and what would be lost without it.
PRIVATE = {
    "torch._C._len_torch_function_stack": "whether a call leaves a mode of torch behind, in a test",
    "torch._dynamo": "imported before a learner's training is timed; counts breaks of a graph, in a benchmark",
    "torch._native_multi_head_attention": "another way to call a forbidden function",
    "torch._scaled_dot_product_attention_math": "another way to call a forbidden function",
    "torch._scaled_dot_product_flash_attention_for_cpu": "another way to call a forbidden function",
    "torch._transformer_encoder_layer_fwd": "another way to call a forbidden function",
    "torch.ops.aten._scaled_dot_product": "the fused attention among the operations of a trace, in a test",
    "torch.optim.optimizer._global_optimizer_post_hooks": "whether a call leaves a hook behind, in a test",
    "torch.optim.optimizer._global_optimizer_pre_hooks": "whether a call leaves a hook behind, in a test",
    "torch.utils._python_dispatch": "the operations of a layer, in a test",
}
BEGINNINGS = ("torch.ops.aten._scaled_dot_product",)  # of several names, of which each kind of processor has its own
IN_TEXT = re.compile(r"(?:\w+\.)*_[A-Za-z]\w*(?:\.\w+)*")


def resolved(name: str):
    """Raises: AttributeError where there is no such thing."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(".".join(parts[:i]))
            except ModuleNotFoundError:
                raise AttributeError(f"PyTorch {torch.__version__} has no {name}: {PRIVATE.get(name)}") from None
    return found


def aliases(tree: ast.Module) -> dict[str, str]:
    """What a module calls torch and its parts: `nn` is torch.nn. One of ours may hand on torch itself."""
    names = {"torch": "torch"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_torch(alias.name):
                    names[alias.asname or "torch"] = alias.name if alias.asname else "torch"
        if isinstance(node, ast.ImportFrom) and is_torch(node.module or ""):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def is_torch(name: str) -> bool:
    return name.partition(".")[0] == "torch"


def private_names(source: str) -> set[str]:
    """The names of torch with a part that begins with one underscore, up to the last such part."""
    tree = ast.parse(source)
    known = aliases(tree)
    used = set(known.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first in known:
                used.add(".".join([known[first], *rest]))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and IN_TEXT.fullmatch(node.value):
            used |= set(named_in_text(node.value))
    found = {shortened(name) for name in used if any(is_private(part) for part in name.split("."))}
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


def named_in_text(text: str) -> Iterator[str]:
    """A text that is a name of torch, or the last part of one."""
    if is_torch(text):
        yield text
    elif text.startswith("aten."):
        yield f"torch.ops.{text}"
    elif callable(getattr(torch, text, None)):
        yield f"torch.{text}"


def is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")


def shortened(name: str) -> str:
    """A name up to its last private part."""
    parts = name.split(".")
    last = max(i for i, part in enumerate(parts) if is_private(part))
    return ".".join(parts[: last + 1])


def files() -> list[Path]:
    """Every Python file that may use torch, but for this one."""
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if path != Path(__file__))


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_name_is_still_there(name):
    """Catches a version of PyTorch that has renamed or dropped it."""
    if name in BEGINNINGS:
        module, _, beginning = name.rpartition(".")
        assert [known for known in dir(torch) if known.startswith(beginning)], module
    else:
        assert resolved(name) is not None


def test_every_private_name_that_is_used_is_in_the_list():
    """Catches a name that an upgrade could take away unseen, and one in the list that nobody uses any longer."""
    used: dict[str, list[str]] = {}
    for path in files():
        source = path.read_text(encoding="utf-8")
        if "torch" in source:
            for name in private_names(source):
                used.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: where for name, where in used.items() if name not in PRIVATE} == {}
    assert set(PRIVATE) - set(used) == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ntorch._dynamo.explain(f)", {"torch._dynamo"}),
        ("from torch.optim import optimizer as o\no._hooks.clear()", {"torch.optim.optimizer._hooks"}),
        ("from torch.nn.modules.module import _addindent", {"torch.nn.modules.module._addindent"}),
        ("import torch._inductor.config as c", {"torch._inductor"}),
        ("import torch\nwith_it = 'torch._C'", {"torch._C"}),
        ("import torch\ntorch._C._depth()", {"torch._C._depth"}),
        ("import torch\ncalled = ('_softmax', 'aten._softmax.default')", {"torch._softmax", "torch.ops.aten._softmax"}),
        ("import torch\nself._mine = torch.__version__\nother = '_mine'", set()),
    ],
)
def test_names_are_found_in_every_form(source, found):
    """Catches the test above passing because it reads nothing."""
    assert private_names(source) == found


def test_what_is_forbidden_is_what_torch_has():
    """Catches a function that has got another name, and so is forbidden in vain."""
    for ways, _ in WAYS:
        assert all(callable(resolved(name)) for name in ways if name.startswith("torch."))


class Called(TorchFunctionMode):
    """The names of all functions that are called."""

    def __init__(self):
        self.names: list[str] = []
        super().__init__()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(function.__name__)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("build", [lambda: nn.Linear(3, 2), lambda: nn.Embedding(3, 2), lambda: nn.LayerNorm(3)])
def test_modules_draw_their_first_values_by_the_names_that_we_know(build):
    """Catches a way of drawing that a loaded model does not spare, which costs seconds."""
    assert all(callable(getattr(nn.init, name)) for name in DRAWN)
    with Called() as called:
        build()
    state = torch.get_rng_state()
    with _SkipDraws():
        build()
    assert torch.equal(torch.get_rng_state(), state), called.names


def test_a_profile_tells_of_every_piece_of_memory():
    """Catches another place or another form of the events that clearbook.costs and the benchmark of memory add up."""
    with torch.profiler.profile(profile_memory=True) as profile:
        kept = torch.empty(1000)
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    assert kept.nbytes in [event.nbytes() for event in events]
