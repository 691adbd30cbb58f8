"""Call one function of a learner safely, in whatever process this runs: time limit, no output, no exception out.

The notebook, the worker and the diagnosis all go through `call_named`, so that they cannot disagree.
"""

import contextlib
import importlib
import io
import linecache
import re
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, TracebackType

import numpy as np

from clearcheck.worker.call_request import CallRequest, Misfit, modules_to_import
from clearcheck.worker.failing_operation import failing_operation
from clearcheck.worker.forbidden_calls import forbid_calls
from clearcheck.worker.limits import KEPT_PRINTED, MAX_TEXT, NET
from clearcheck.worker.named_calls import named_in
from clearcheck.worker.own_warnings import warnings_at_their_cause
from clearcheck.worker.time_limit import TimeLimit, run_limited
from clearcheck.worker.values import pack, unpack

MOST_DECORATORS = 20
SMALL_MODEL = "clearcheck.worker.small_model"
REFUSED = "a refusal of the model"  # an operation: its text says all, in whatever line of the answer it is called
FEW = 32  # so many parts of a result are looked at for memory that they share with an argument


class Counter(io.TextIOBase):
    """Takes what the learner's code prints and counts it; only the beginning is kept, however much it is."""

    def __init__(self):
        self.characters = 0
        self.kept = ""

    def write(self, text: str) -> int:
        self.kept += text[: KEPT_PRINTED - len(self.kept)]
        self.characters += len(text)
        return len(text)


@contextlib.contextmanager
def capture_output() -> Iterator[Counter]:
    counter = Counter()
    with contextlib.redirect_stdout(counter), contextlib.redirect_stderr(counter):
        yield counter


def call_named(namespace: Mapping, asked: CallRequest, packed: bytes, source: str = "") -> dict:
    """Do what is `asked` with `namespace[asked.name]` and give a reply; its "kind" says how the call ended.

    With the `source` of all that is in the namespace only those forbidden calls are watched for that it can make.
    """
    if asked.name not in namespace:
        return {"kind": "missing"}
    function = namespace[asked.name]
    if not callable(function):
        return {"kind": "no function", "type": short_line(type(function).__name__)}
    scope = scope_of(function)
    try:
        drive = _driver(asked.how)
    except ImportError as error:
        return exception_reply(error, scope)
    reply = run_guarded(lambda: _call(drive, function, asked, packed, source), asked.seconds, scope, asked.net)
    if "text" in reply and isinstance(function, FunctionType | type):
        # Under the name that was asked for, which the text of a TypeError holds, not the one it was defined with.
        known = re.escape(function.__qualname__)
        reply["text"] = re.sub(rf"(?<![\w.>]){known}(?=[.(])", asked.name, reply["text"])
    return reply


def scope_of(function: Callable) -> dict | None:
    """The namespace in which a function, or the methods of a class, were written."""
    parts = [function, *vars(function).values()] if isinstance(function, type) else [function]
    return next((part.__globals__ for part in map(_unwrap, parts) if hasattr(part, "__globals__")), None)


def _unwrap(part):
    """What stands under decorators such as `@torch.no_grad()`."""
    for _ in range(MOST_DECORATORS):
        if not isinstance(part, FunctionType) or "__wrapped__" not in vars(part):
            break
        part = vars(part)["__wrapped__"]
    return part


def run_guarded(action: Callable[[], dict], seconds: float, scope: dict | None, net: float = NET) -> dict:
    """Run `action` under a time limit and turn whatever it raises into a reply; KeyboardInterrupt passes.

    The reply says how many characters were "printed", and holds the first of them as "output".
    """
    with capture_output() as counter, warnings_at_their_cause():
        reply = _run_to_reply(action, seconds, scope, net)
    return {**reply, "printed": counter.characters, "output": counter.kept}


def _run_to_reply(action: Callable[[], dict], seconds: float, scope: dict | None, net: float) -> dict:
    try:
        return run_limited(action, seconds, net)
    except TimeLimit as late:
        return {"kind": "time", "line": _line_of(late, scope), "waited": late.waited}
    except NotImplementedError as error:
        return {**exception_reply(error, scope), "kind": "unanswered", "by": _answer_with(error, scope)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return exception_reply(error, scope)


def exception_reply(error: BaseException, scope: dict | None) -> dict:
    """What a sentence needs to know about an exception, and what tells it from others of its kind."""
    return {
        "kind": "raised",
        "type": short_line(type(error).__name__),
        "bases": [short_line(kind.__name__) for kind in type.mro(type(error))],
        "text": _text_of(error),
        "line": _line_of(error, scope),
        "operation": REFUSED if _by_the_small_model(error) else failing_operation(_own_trace(error, scope)),
    }


def short_line(text: str) -> str:
    """A learner's text on one short line: no control characters, no memory addresses."""
    words = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", blank_unprintable(text[: 10 * MAX_TEXT]))
    return words if len(words) <= MAX_TEXT else words[: MAX_TEXT - 1] + "…"


def blank_unprintable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _driver(how: str) -> Callable:
    if how == "function":
        return lambda function, args: function(*args)
    for module in modules_to_import([how]):
        importlib.import_module(module)
    from clearcheck.worker.torch_calls import DRIVERS  # NumPy is enough for the rest

    return DRIVERS[how]


def _call(drive: Callable, function: Callable, asked: CallRequest, packed: bytes, source: str) -> dict:
    args = unpack(packed)
    forbidden = asked.forbidden_with(args)
    try:
        watch = forbid_calls(named_in(source, forbidden) if source else forbidden, function)
        with watch, _most_held(asked.measured) as held:
            result = drive(function, args)
    except Misfit as misfit:
        return {"kind": "misfit", "text": short_line(str(misfit))}
    value = unpack(pack(result))
    changed, shared = _changed_arguments(args, packed), _shared_arguments(args, result)
    return {"kind": "value", "value": value, "changed": changed, **({"shared": shared} if shared else {}), **held}


def _shared_arguments(args: tuple, result) -> list[int]:
    """Which of the arguments hold memory that the result holds as well, so that a change of one changes the other."""
    given = [_memory_of(value) for value in args]
    came = _memory_of(result)
    return [i for i, arrays in enumerate(given) if any(np.may_share_memory(a, b) for a in arrays for b in came)]


def _memory_of(value) -> list[np.ndarray]:
    """The array or tensor, or those of a short tuple or list, as arrays on the same memory."""
    return [array for entry in (value[:FEW] if isinstance(value, tuple | list) else [value]) for array in _array(entry)]


def _array(value) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    try:
        return [value.detach().numpy()] if type(value).__module__.split(".")[0] == "torch" else []
    except (AttributeError, TypeError, RuntimeError):  # no tensor, or one that NumPy does not have
        return []


def _changed_arguments(args: tuple, packed: bytes) -> list[int]:
    """Which of the arguments are no longer what was sent."""
    if pack(args) == packed:
        return []
    return [i for i, (now, sent) in enumerate(zip(args, unpack(packed), strict=True)) if pack(now) != pack(sent)]


@contextlib.contextmanager
def _most_held(measured: bool) -> Iterator[dict[str, int]]:
    """Afterwards "held" is the most bytes held at once, beyond those of before; nothing without `measured`."""
    held: dict[str, int] = {}
    if not measured:
        yield held
        return
    own = not tracemalloc.is_tracing()
    tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        yield held
    finally:
        held["held"] = max(0, tracemalloc.get_traced_memory()[1] - before)
        if own:
            tracemalloc.stop()


def _text_of(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return short_line(f"{error.msg}, line {error.lineno}")
        return short_line(str(error))
    except Exception:
        return ""


def _line_of(error: BaseException, scope: dict | None) -> str:
    """The learner's line in which it happened."""
    if isinstance(error, SyntaxError):
        return short_line((error.text or "").strip())
    trace = _own_trace(error, scope)
    return short_line(_source_line(trace)) if trace else ""


def _answer_with(error: BaseException, scope: dict | None) -> str:
    """The function or class at the top of the notebook in which it happened."""
    trace = _own_trace(error, scope)
    return trace.tb_frame.f_code.co_qualname.split(".")[0] if trace else ""


def _own_trace(error: BaseException, scope: dict | None) -> TracebackType | None:
    """The last entry of the traceback that stands in the learner's own namespace, and that has a source to show."""
    own, trace = None, error.__traceback__
    while trace is not None and scope is not None:
        if _is_own(trace.tb_frame.f_globals, scope) and (own is None or _source_line(trace)):
            own = trace
        trace = trace.tb_next
    return own


def _is_own(names: dict, scope: dict) -> bool:
    """Of a learner all cells share one namespace; what they are to an author are the files of one exercise."""
    package = scope.get("__package__")
    return names is scope or (bool(package) and names.get("__package__") == package)


def _by_the_small_model(error: BaseException) -> bool:
    """Whether the model that an answer writes with refused what it was given, in its own words."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == SMALL_MODEL


def _source_line(trace: TracebackType) -> str:
    return linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno).strip()
