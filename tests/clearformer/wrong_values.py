"""Values of every wrong kind, and what is called with them."""

import contextlib
import io
import math
import re
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import clearformer
import numpy as np
import torch
from clearformer.models import gpt

LIBRARY = str(Path(clearformer.__file__).parent)
SECONDS = 2
SENTENCE = re.compile(r"[\w.][\w., ]*: \S")
B, N, S, D, H, K, V = 2, 5, 7, 12, 3, 4, 11
WRONG: tuple = (
    None,
    True,
    "text",
    b"bytes",
    "",
    -1,
    0,
    1,
    2.5,
    -0.5,
    math.nan,
    math.inf,
    10**6,
    [],
    [1, 2],
    (3,),
    [[1, 2], [3]],
    {},
    {"a": 1},
    {1, 2},
    object(),
    len,
    int,
    range(3),
    slice(0, 9, 2),
    Path("nowhere"),
    np.int64(2),
    np.float32(0.5),
    np.zeros((2, 3)),
    np.ones((2, 5), int),
)


def wrong_tensors() -> Iterator[torch.Tensor]:
    for shape in ((), (1,), (3,), (0, 4), (B, N), (B, N, D), (B, N, D + 1), (B, H, N, K), (1, 1, 1, 1, 1)):
        yield torch.zeros(shape)
        yield torch.full(shape, 3)
    yield torch.zeros(B, N, D, dtype=torch.complex64)
    yield torch.zeros(B, N, D, dtype=torch.float16)
    yield torch.zeros(B, N, D, dtype=torch.float64)
    yield torch.zeros(B, N, D, device="meta")
    yield torch.full((B, N), 99)
    yield torch.full((B, N), -1)
    yield torch.zeros(B, N, dtype=torch.uint8)
    yield torch.zeros(N, N, dtype=torch.bool)
    yield torch.zeros(B, N, D).to_sparse()


class Target:
    """A callable and arguments that are right, each made anew for each call."""

    def __init__(self, name: str, call: Callable, /, **right: Callable):
        self.name, self.call, self.right = name, call, right

    def outcomes(self) -> Iterator[tuple[str, str, str]]:
        """For each wrong argument its name, how it ended and, in one line, what was said."""
        yield "all right", *self.outcome({}, seconds=math.inf)  # which imports what the others need, too
        for name in self.right:
            for wrong in (*WRONG, *wrong_tensors()):
                yield f"{name}={describe(wrong)}", *self.outcome({name: wrong})

    def outcome(self, changed: dict, seconds: float = SECONDS) -> tuple[str, str]:
        arguments = {name: make() for name, make in self.right.items()} | changed
        positional = [arguments.pop(name) for name in [*arguments] if name.startswith("_")]
        try:
            with limit_time(seconds), contextlib.redirect_stderr(io.StringIO()):
                self.call(*positional, **arguments)
        except TimeoutError:
            return "hangs", ""
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            words = " ".join(str(error).split())[:160]
            own = frames[-1].filename.startswith(LIBRARY) and SENTENCE.match(str(error))
            return ("told" if own else "raw"), f"{type(error).__name__}: {words}"
        return "ran", ""


@contextlib.contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds if math.isfinite(seconds) else 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def describe(value) -> str:
    if isinstance(value, torch.Tensor | np.ndarray):
        return f"{type(value).__name__} {value.dtype} {tuple(value.shape)} {getattr(value, 'device', '')}"
    return repr(value)[:40]


def constant(value) -> Callable:
    return lambda: value


def make_gpt(**options) -> gpt.GPT:
    torch.manual_seed(0)
    return gpt.GPT(gpt.GPTConfig(V, 16, D, H, 1, **options))


def ids(n: int = N) -> torch.Tensor:
    return torch.arange(B * n).reshape(B, n) % V


def rows(n: int, generator: torch.Generator):
    return ids()[:n], ids()[:n]


def sizes(**values) -> dict:
    return {name: constant(value) for name, value in values.items()}
