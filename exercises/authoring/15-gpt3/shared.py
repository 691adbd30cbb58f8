"""Checks of exercise 15: sizes that fit nowhere twice, unequal shares, workers with nothing to do."""

import numpy as np


def draw_model(rng):
    V, N, D, M, F = (int(size) for size in rng.choice((23, 29, 31, 37, 41, 43, 47, 53), 5, replace=False))
    return V, N, D, M, F


def entries_close(reference, draw, *names):
    """A test for `holds`: some entries of a dict, numbers or arrays, each worth its points whatever the others are."""

    def test(ask, rng):
        for arguments in draw(rng):
            found, expected = ask(*arguments), reference(*arguments)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                came, right = np.asarray(found[name]), np.asarray(expected[name])
                if came.shape != right.shape or came.dtype.kind != right.dtype.kind:
                    return f"Under {name!r} comes {_kind(came)}, expected {_kind(right)}."
                if not np.allclose(came, right, rtol=1e-9, atol=0):
                    return f"Your entry {name!r} is {_short(came)}, which is not right."
        return None

    return test


def _kind(array):
    kind = {"i": "whole numbers", "f": "numbers", "b": "truth values"}.get(array.dtype.kind, "something else")
    return f"an array of {kind} of shape {array.shape}" if array.ndim else f"one of {kind}"


def _short(array):
    return np.array2string(array, precision=5, threshold=24).replace("\n", "")
