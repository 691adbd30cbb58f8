"""Take a list for an array or a shape, and an array for a list, where the task asks for the other: with a remark."""

import numpy as np

AS_ARRAY = "A list was taken as {array}; the task asks for {array}: {makes} makes one."
MAKES = {"an array": "np.array(…)", "a tensor": "torch.tensor(…)", "tensors": "torch.stack(…)"}
AS_TUPLE = "A list was taken as a tuple of whole numbers: tuple(…) makes one."
AS_SEQUENCE = "{array} was taken as a {kind}; the task asks for a {kind}: {kind}(…) makes one."


def coerce_like(value, like, remarks: list[str], array: str = "an array"):
    """The value with its lists turned to arrays, and its arrays to lists or tuples, where `like` has those.

    `like` is a result of the reference; one of other arguments will do. Each turn is told in `remarks`.
    """
    if isinstance(like, np.ndarray):
        return _array(value, like, remarks, array)
    if isinstance(like, dict) and isinstance(value, dict):
        return {key: coerce_like(entry, like.get(key), remarks, array) for key, entry in value.items()}
    if not isinstance(like, tuple | list):
        return value
    if isinstance(value, np.ndarray) and value.ndim and (isinstance(like, list) or len(value) == len(like)):
        remarks.append(AS_SEQUENCE.format(array=array.capitalize(), kind=type(like).__name__))
        value = type(like)(value)
    if not isinstance(value, tuple | list) or not like:
        return value
    if isinstance(value, list) and isinstance(like, tuple) and all(type(entry) is int for entry in like):
        remarks.append(AS_TUPLE)
    models = like if len(like) == len(value) else [like[0]] * len(value)
    return type(value)(coerce_like(entry, model, remarks, array) for entry, model in zip(value, models, strict=True))


def as_array(value: tuple | list) -> np.ndarray | None:
    """Nested lists of numbers as an array, None where they are of uneven lengths or hold something else."""
    try:
        array = np.array(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in "biufc" else None


def _array(value, like: np.ndarray, remarks: list[str], words: str):
    array = as_array(value) if isinstance(value, tuple | list) and like.ndim else None
    if array is None:
        return value
    plain = all(type(leaf) in (int, float, bool) for leaf in _leaves(value))
    remarks.append(AS_ARRAY.format(array=words, makes=MAKES["tensors" if words == "a tensor" and not plain else words]))
    if not array.size and array.shape == like.shape[: array.ndim]:
        array = array.reshape(like.shape)  # a list without rows does not say how long they are
    # In a list 2 says what 2.0 says, and a number of Python says nothing of its precision.
    known = like.dtype.kind == "f" and (array.dtype.kind in "iu" or (array.dtype.kind == "f" and plain))
    return array.astype(like.dtype) if known or not array.size else array


def _leaves(value):
    if isinstance(value, tuple | list):
        for entry in value:
            yield from _leaves(entry)
    else:
        yield value
