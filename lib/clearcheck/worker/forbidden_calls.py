"""Notice a call of what a task forbids, such as `torch.nn.MultiheadAttention`, under whatever name it is called.

A profiler sees each Python function by its code object, and a function mode of torch each function of torch, also where
C code calls it, as in `map`, and where it is a method of tensors. A C function from elsewhere takes a profile hook in
Python, which makes every call slower; threads that the answer starts have such a hook, too. What its source calls by
name is seen wherever that runs (`named_calls`), and so is an answer that takes the profiler away.

It is a reminder and no wall: code that means to hide a call can, as in another process or by a name that it makes at
run time. Operators (`@`) are no calls.
"""

import contextlib
import cProfile
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import CodeType, FunctionType

from clearcheck.worker.call_request import Misfit
from clearcheck.worker.forbidden_names import MEASURING, TORCH
from clearcheck.worker.named_calls import named_calls

SHORT = {"torch.nn.functional.": "F.", "torch.nn.": "nn.", "numpy.": "np."}
UNWATCHED = "sys.setprofile"
REASONS = {
    UNWATCHED: "which takes away what notices forbidden calls: leave it out",
    **dict.fromkeys(MEASURING, "which disturbs how its memory is measured: leave it out"),
}
MEASURER = "clearcheck.worker.guarded_call"  # which measures as an answer may not
IN_NUMPY = "and its arguments are arrays: this task is to be done in NumPy, without PyTorch"
TO_WRITE = "which is what this task asks you to write: build it from its parts"


def forbid_calls(
    names: tuple[str, ...], answer: Callable | None = None
) -> contextlib.AbstractContextManager[list[str]]:
    """Raises: Misfit when the body is over, had it called one of these, or does the source of the `answer`."""
    targets = _targets(names, len(sys.modules))
    if not targets.named and not targets.all_of_torch:
        return contextlib.nullcontext([])
    return _watch(targets, targets.written_in(answer))


class _Targets:
    """What is forbidden: all by id, functions in Python by code, those of torch by their last names, other ones in C
    by id, and whether all of torch is.
    """

    def __init__(self, names: tuple[str, ...]):
        self.names = names
        self.all_of_torch = TORCH in names and TORCH in sys.modules
        self.named: dict[int, str] = {}
        self.kept: list = []  # so that no id is given to another object
        self.codes: dict[CodeType, str] = {}
        self.from_torch: dict[str, str] = {}
        self.from_c: dict[int, str] = {}
        for name in names:
            target = None if name == TORCH else _resolve(name)
            if target is not None:
                self._add(name, inspect.unwrap(target))

    def _add(self, name: str, target):
        self.named[id(target)] = name
        self.kept.append(target)
        parts = vars(target).values() if isinstance(target, type) else [target]
        functions = [part for part in parts if isinstance(part, FunctionType)]
        self.codes |= {function.__code__: name for function in functions}
        if not isinstance(target, type) and name.startswith("torch."):
            self.from_torch.setdefault(name.rpartition(".")[2], name)  # the question's own words come first
        elif not functions:
            self.from_c[id(target)] = name

    def written_in(self, answer: Callable | None) -> list[str]:
        """The first of them that the source of the answer calls."""
        if not self.named:
            return []
        found = (id(inspect.unwrap(call) if isinstance(call, FunctionType) else call) for call in named_calls(answer))
        return [self.named[one] for one in found if one in self.named][:1]

    def called_from_c(self, function) -> str | None:
        """The name of a function in C, as a profile hook is given it, where it is one of them."""
        if id(function) in self.from_c:
            return self.from_c[id(function)]
        last = getattr(function, "__name__", "")
        if not _is_of_torch(function):
            return None
        return self.from_torch.get(last) or (f"torch.{last}" if self.all_of_torch else None)


@functools.lru_cache(maxsize=64)
def _targets(names: tuple[str, ...], loaded: int) -> _Targets:
    """What stands under the names while so many modules are loaded: finding it takes longer than many an answer."""
    return _Targets(names)


def _is_of_torch(function) -> bool:
    """Whether a function in C is one of torch's modules, or a method of its tensors."""
    home = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    return str(home).partition(".")[0] == TORCH


@contextlib.contextmanager
def _watch(targets: _Targets, written: list[str]) -> Iterator[list[str]]:
    used: list[str] = []
    profiler = cProfile.Profile(subcalls=False, builtins=False)
    hook = _hook(targets, used)
    try:
        with contextlib.ExitStack() as watches:
            watches.enter_context(_watch_torch(targets, used))
            watches.enter_context(_profile_threads(hook))
            if targets.from_c:
                watches.enter_context(_profile_calls(hook))
            elif targets.codes:  # a profiler that has nothing to see makes an answer in NumPy slower
                watches.enter_context(profiler)
            watches.enter_context(_notice_unwatched(used))
            yield used
    except Exception:
        if not used and not _seen_by(profiler, targets):
            raise
    used += _seen_by(profiler, targets)
    if used or written:
        raise Misfit(_sentence(used + written, targets))


def _sentence(found: list[str], targets: _Targets) -> str:
    """About what comes first in the list of what is forbidden: the question's own words come before other ways."""
    name = min(found, key=lambda name: targets.names.index(name) if name in targets.names else len(targets.names))
    why = REASONS.get(name) or (IN_NUMPY if targets.all_of_torch and name.startswith("torch.") else TO_WRITE)
    return f"called `{_short_name(name)}`, {why}"


def _seen_by(profiler: cProfile.Profile, targets: _Targets) -> list[str]:
    return [targets.codes[entry.code] for entry in profiler.getstats() if entry.code in targets.codes]


def _hook(targets: _Targets, used: list[str]) -> Callable:
    def hook(frame, event, arg):
        if event == "call" and frame.f_code in targets.codes:
            used.append(targets.codes[frame.f_code])
        elif event == "c_call" and frame.f_globals.get("__name__") != MEASURER:
            used.extend(filter(None, [targets.called_from_c(arg)]))

    return hook


@contextlib.contextmanager
def _profile_calls(hook: Callable) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        yield
    finally:
        sys.setprofile(before)


@contextlib.contextmanager
def _profile_threads(hook: Callable) -> Iterator[None]:
    """In each thread that is started meanwhile."""
    before = threading.getprofile()
    threading.setprofile(hook)
    try:
        yield
    finally:
        threading.setprofile(before)


_unwatched: list[list[str]] = []  # where it is to be noted that somebody takes a profiler away


@contextlib.contextmanager
def _notice_unwatched(used: list[str]) -> Iterator[None]:
    _add_audit_hook()
    _unwatched.append(used)
    try:
        yield
    finally:
        _unwatched.pop()


@functools.cache
def _add_audit_hook():
    def note(event: str, args: tuple):
        # A new thread sets the hook that it was given by the same function.
        if event == UNWATCHED and _unwatched and sys._getframe(1).f_code.co_filename != threading.__file__:
            _unwatched[-1].append(UNWATCHED)

    sys.addaudithook(note)


def _resolve(name: str):
    """What a name stands for; None where its module is not loaded, so that nobody can have called it.

    Raises: AttributeError where the module has no such thing.
    """
    parts = name.split(".")
    loaded = [end for end in range(len(parts) - 1, 0, -1) if ".".join(parts[:end]) in sys.modules]
    if not loaded:
        return None
    found, rest = sys.modules[".".join(parts[: loaded[0]])], parts[loaded[0] :]
    if len(rest) > 1 and not hasattr(found, rest[0]) and find_spec(".".join(parts[: loaded[0] + 1])):
        return None
    for part in rest:
        found = getattr(found, part)
    return found


def _watch_torch(targets: _Targets, used: list[str]) -> contextlib.AbstractContextManager:
    if not targets.from_torch and not targets.all_of_torch:
        return contextlib.nullcontext()
    from clearcheck.worker.torch_calls import CallWatch

    return CallWatch(targets.from_torch, used, targets.all_of_torch)


def _short_name(name: str) -> str:
    start = next((start for start in SHORT if name.startswith(start)), "")
    return SHORT.get(start, "") + name.removeprefix(start)
