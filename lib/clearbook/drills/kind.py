"""What one kind of drill consists of."""

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple


class Kind(NamedTuple):
    """``ranges`` are drawn, ``derived`` follows; ``formulas`` are asked for, ``slips`` are wrong ones, with a hint."""

    build: Callable
    ranges: dict[str, range]
    derived: dict[str, str]
    question: str
    formulas: dict[str, str]
    slips: MappingProxyType | dict[str, dict[str, str]] = MappingProxyType({})
