"""What options of theirs say together: fields of ours that have no option of their own, read, written and compared."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from clearformer.checks import shorten
from clearformer.models.options import each_layer


class Together(NamedTuple):
    """Fields of ours from several options of theirs, and those options from our configuration.

    ``write`` need not be right for what they cannot say: what is written is read again and compared.
    """

    fields: tuple[str, ...]
    read: Callable[[dict], dict]
    write: Callable[[Any], dict]


def meaning(config: Any, name: str) -> Any:
    """What a field of ours comes to: what each layer has of its own, callables by what is bound to them."""
    if name in ("rope", "window", "layers"):
        return [tuple(map(function_and_arguments, layer)) for layer in each_layer(config)]
    return function_and_arguments(getattr(config, name))


def function_and_arguments(value: Any) -> Any:
    """A callable as the function, and the arguments that are not its defaults; anything else as it is."""
    if not callable(value):
        return value
    function, arguments = (value.func, dict(value.keywords)) if isinstance(value, partial) else (value, {})
    places = value.args if isinstance(value, partial) else ()
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a function in C
        known = {}
    given = {name: it for name, it in arguments.items() if name not in known or known[name].default != it}
    return function, places, {name: function_and_arguments(it) for name, it in given.items()}


LARGEST = 2**60  # no size or factor is so large; what is does not fit into torch's whole numbers


def read_number(
    options: dict, name: str, default: float | int | None = None, *, among: str = "config.json"
) -> float | int:
    """A number among ``options``. Raises: ValueError where it is missing without a ``default``, or is no number."""
    value = options.get(name)
    value = default if value is None else value
    if value is None:
        raise ValueError(f"from_pretrained: {among} lacks {name!r}.")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"from_pretrained: {name}={shorten(value)} in {among}, expected a number.")
    if not abs(value) < LARGEST:
        raise ValueError(f"from_pretrained: {name}={shorten(value)} in {among}, expected a number below 2 to the 60.")
    return value


def read_whole(options: dict, name: str, default: int | None = None, *, among: str = "config.json") -> int:
    """A whole number among ``options``, from 1 on. Raises: ValueError where there is none."""
    value = read_number(options, name, default, among=among)
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"from_pretrained: {name}={shorten(value)} in {among}, expected a whole number of at least 1.")
    return value


def read_flag(options: dict, name: str, default: bool) -> bool:
    """True or False among ``options``. Raises: ValueError for anything else."""
    value = options.get(name)
    value = default if value is None else value
    if not isinstance(value, bool):
        raise ValueError(f"from_pretrained: {name}={shorten(value)} in config.json, expected true or false.")
    return value


def read_list(options: dict, name: str, n: int, *, among: str = "config.json") -> list:
    """A list with ``n`` entries. Raises: ValueError for anything else."""
    value = options.get(name)
    if not isinstance(value, list | tuple) or len(value) != n:
        raise ValueError(f"from_pretrained: {name}={shorten(value)} in {among}, expected a list of {n}.")
    return list(value)


def read_items(options: dict, name: str) -> list:
    """A list of any length, an empty one where the option is missing. Raises: ValueError for anything else."""
    value = options.get(name)
    if value is not None and not isinstance(value, list | tuple):
        raise ValueError(f"from_pretrained: {name}={shorten(value)} in config.json, expected a list.")
    return list(value or ())


def d_head(options: dict) -> int:
    """The width of a head: their option, or an equal share."""
    return read_whole(
        options, "head_dim", max(read_whole(options, "hidden_size") // read_whole(options, "num_attention_heads"), 1)
    )
