"""Notice a call of what a task forbids, such as `torch.nn.MultiheadAttention`, under whatever name it is called.

A profile hook sees each Python function by its code object and each C function that Python code calls; a function mode
of torch sees functions of that name also where C code calls them, as in `map`, and where they are methods of tensors.
Code that takes the hook away (`sys.setprofile`) is not noticed, and operators (`@`) are no calls.
"""

import contextlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

from clearcheck.worker.asked import Misfit

SHORT = {"torch.nn.functional.": "F.", "torch.nn.": "nn.", "numpy.": "np."}


@contextlib.contextmanager
def forbidding(names: tuple[str, ...]) -> Iterator[None]:
    """Raises: Misfit when the body is over, had it called one of these."""
    if not names:
        yield
        return
    codes, others = _targets(names)
    used: list[str] = []

    by_identity = {id(target): name for name, target in others.items()}

    def hook(frame, event, arg):
        if event == "call":
            if frame.f_code in codes:
                used.append(codes[frame.f_code])
        elif event == "c_call" and id(arg) in by_identity:
            used.append(by_identity[id(arg)])

    before = sys.getprofile()
    try:
        with _torch_functions(others, used):
            sys.setprofile(hook)
            yield
    except Exception:
        if not used:
            raise
    finally:
        sys.setprofile(before)
    if used:
        raise Misfit(f"called `{_short(used[0])}`, which is what this task asks you to write: build it from its parts")


def _targets(names: tuple[str, ...]) -> tuple[dict[CodeType, str], dict[str, object]]:
    """The code objects of what is written in Python, and each function whatever it is written in, by their names."""
    codes, others = {}, {}
    for name in names:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            continue  # what is not installed cannot be called
        target = inspect.unwrap(_resolved(name))
        parts = vars(target).values() if isinstance(target, type) else [target]
        functions = [part for part in parts if isinstance(part, FunctionType)]
        codes |= {function.__code__: name for function in functions}
        others |= {} if isinstance(target, type) else {name: target}
    return codes, others


def _resolved(name: str):
    """Raises: ImportError, AttributeError where there is no such thing."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            found = importlib.import_module(".".join(parts[:end]))
            for part in parts[end:]:
                found = getattr(found, part)
            return found
    raise ImportError(f"Question: forbids names {name!r}, which is in no module; write it as torch.nn.Linear is.")


def _torch_functions(others: dict[str, object], used: list[str]) -> contextlib.AbstractContextManager:
    wanted = {name.rpartition(".")[2]: name for name in others if name.startswith("torch.")}
    if not wanted:
        return contextlib.nullcontext()
    from clearcheck.worker.torch_calls import Watched

    return Watched(wanted, used)


def _short(name: str) -> str:
    start = next((start for start in SHORT if name.startswith(start)), "")
    return SHORT.get(start, "") + name.removeprefix(start)
