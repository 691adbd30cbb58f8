"""Values in the words of a message: kinds and shapes, and no long arrays."""

import numpy as np

from clearcheck.values import Unsupported


def describe(value) -> str:
    """A value in a few words."""
    if isinstance(value, Unsupported):
        return value.what
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict of {len(value)}"
    if isinstance(value, np.ndarray | np.generic | float) and not isinstance(value, bool):
        return number(value)
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "…"


def describe_arguments(args: tuple) -> str:
    """The arguments by their shapes: "arguments of shapes (5, 7) and (7,)"."""
    if args and all(isinstance(value, np.ndarray) for value in args):
        shapes = [str(value.shape) for value in args]
        plural = len(shapes) > 1
        listed = ", ".join(shapes[:-1]) + " and " + shapes[-1] if plural else shapes[0]
        return f"arguments of shapes {listed}" if plural else f"an argument of shape {listed}"
    return f"the arguments ({', '.join(map(describe, args))})" if args else "a call without arguments"


def number(value) -> str:
    return f"{value:.4g}" if np.asarray(value).dtype.kind in "fc" else str(value)
