"""What the checks of exercises are made of: sizes that never fit by chance, cases, and sentences about shapes."""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache, wraps

import numpy as np

from clearcheck.grading.describe import describe

SIZES = (4, 5, 6, 7, 9, 11, 13)  # no one divides another
CLOSE = 1e-9


def draw_sizes(rng: np.random.Generator, how_many: int, among: Sequence[int] = SIZES) -> list[int]:
    """Different sizes, so that a transposed table does not fit."""
    return [int(size) for size in rng.choice(among, how_many, replace=False)]


def draw_mask(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """A mask of this shape, True where a target, in the axis before the last, may look; each sees a source at least.

    It is no triangle, and the diagonal is not always in sight, so that it cannot be guessed.
    """
    mask = rng.random(shape) < 0.5
    seen = rng.integers(shape[-1], size=(*shape[:-1], 1))
    np.put_along_axis(mask, seen, values=True, axis=-1)
    return mask


def drawn_once(draw: Callable) -> Callable:
    """A draw that is dear, as one that tries until something fits: kept for each state of the generator.

    A seed gives every submission the same arguments. The generator goes on from where the draw had left it.
    """

    @lru_cache(maxsize=512)
    def draw_from_state(state: str, args: tuple, options: tuple) -> tuple[object, Mapping]:
        rng = np.random.default_rng()
        rng.bit_generator.state = json.loads(state)
        return draw(rng, *args, **dict(options)), rng.bit_generator.state

    @wraps(draw)
    def draw_again(rng: np.random.Generator, *args, **options):
        result, state = draw_from_state(json.dumps(rng.bit_generator.state), args, tuple(options.items()))
        rng.bit_generator.state = state
        return deepcopy(result)

    return draw_again


def varied(draw: Callable, *settings: dict) -> Callable:
    """Cases for `equals`: one call of `draw(rng, …)` for each setting of its keyword arguments."""
    return lambda rng: [draw(rng, **setting) for setting in settings]


def scaled(draw: Callable, *factors: float) -> Callable:
    """Cases for `equals`: one draw for each factor, which multiplies its first argument, and so the scores."""

    def cases(rng):
        draws = ((factor, *draw(rng)) for factor in factors)
        return [(factor * first, *rest) for factor, first, *rest in draws]

    return cases


def close(value, expected, atol: float = CLOSE) -> bool:
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=atol))


def shape_slip(value, shape: tuple[int, ...], what: str = "The result") -> str | None:
    """A sentence when the value is no array of this shape, else None."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return None
    came = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return f"{what} should be an array of shape {shape}; yours is {came}."


def shapes_slip(came, shapes: Sequence[tuple[int, ...]], parts: Sequence[int] | None = None) -> str | None:
    """A sentence when the result is no tuple of arrays of these shapes, else None; of all, or of `parts` alone."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if parts is not None and place not in parts:
            continue
        if not isinstance(array, np.ndarray):
            return f"At position {place} of your result {describe(array)} came; an array of shape {shape} is expected."
        if array.shape != shape:
            return f"The array at position {place} of your result should have the shape {shape}."
    return None
