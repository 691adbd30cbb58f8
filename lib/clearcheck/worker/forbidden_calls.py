"""Notice a call of what a task forbids, such as `torch.nn.MultiheadAttention`, under whatever name it is called.

A profiler sees each Python function by its code object, and a function mode of torch each function of torch, also where
C code calls it, as in `map`, and where it is a method of tensors. A C function from elsewhere takes a profile hook in
Python, which makes every call slower. Code that takes the profiler away (`sys.setprofile`) is not noticed, and
operators (`@`) are no calls.
"""

import contextlib
import cProfile
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

from clearcheck.worker.call_request import Misfit

UNDER = {  # what a function of torch calls, and others could call in its place
    "scaled_dot_product_attention": (
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention_for_cpu",
    ),
    "multi_head_attention_forward": ("_native_multi_head_attention", "_transformer_encoder_layer_fwd"),
}
SHORT = {"torch.nn.functional.": "F.", "torch.nn.": "nn.", "numpy.": "np."}


@contextlib.contextmanager
def forbid_calls(names: tuple[str, ...]) -> Iterator[None]:
    """Raises: Misfit when the body is over, had it called one of these."""
    if not names:
        yield
        return
    codes, from_torch, from_c = _targets(names)
    used: list[str] = []
    profiler = cProfile.Profile(subcalls=False, builtins=False)
    try:
        with _watch_torch(from_torch, used), _profile_calls(codes, from_c, used) if from_c else profiler:
            yield
    except Exception:
        if not used and not _forbidden_calls(codes, profiler):
            raise
    used += _forbidden_calls(codes, profiler)
    if used:
        raise Misfit(
            f"called `{_short_name(used[0])}`, which is what this task asks you to write: build it from its parts"
        )


def _targets(names: tuple[str, ...]) -> tuple[dict[CodeType, str], dict[str, str], dict[int, str]]:
    """What is written in Python by its code objects, functions of torch by their last names, other ones in C by id."""
    codes, from_torch, from_c = {}, {}, {}
    for name in names:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            continue  # what is not installed cannot be called
        target = inspect.unwrap(_resolve(name))
        parts = vars(target).values() if isinstance(target, type) else [target]
        functions = [part for part in parts if isinstance(part, FunctionType)]
        codes |= {function.__code__: name for function in functions}
        if not isinstance(target, type) and name.startswith("torch."):
            last = name.rpartition(".")[2]
            from_torch |= dict.fromkeys((last, *UNDER.get(last, ())), name)
        elif not functions:
            from_c[id(target)] = name
    return codes, from_torch, from_c


def _forbidden_calls(codes: dict[CodeType, str], profiler: cProfile.Profile) -> list[str]:
    return [codes[entry.code] for entry in profiler.getstats() if entry.code in codes]


@contextlib.contextmanager
def _profile_calls(codes: dict[CodeType, str], from_c: dict[int, str], used: list[str]) -> Iterator[None]:
    def hook(frame, event, arg):
        if event == "call" and frame.f_code in codes:
            used.append(codes[frame.f_code])
        elif event == "c_call" and id(arg) in from_c:
            used.append(from_c[id(arg)])

    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        yield
    finally:
        sys.setprofile(before)


def _resolve(name: str):
    """Raises: ImportError, AttributeError where there is no such thing."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            found = importlib.import_module(".".join(parts[:end]))
            for part in parts[end:]:
                found = getattr(found, part)
            return found
    raise ImportError(f"Question: forbids names {name!r}, which is in no module; write it as torch.nn.Linear is.")


def _watch_torch(from_torch: dict[str, str], used: list[str]) -> contextlib.AbstractContextManager:
    if not from_torch:
        return contextlib.nullcontext()
    from clearcheck.worker.torch_calls import CallWatch

    return CallWatch(from_torch, used)


def _short_name(name: str) -> str:
    start = next((start for start in SHORT if name.startswith(start)), "")
    return SHORT.get(start, "") + name.removeprefix(start)
