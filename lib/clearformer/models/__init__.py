"""Whole models, put together from the parts of the library."""

import clearformer

__all__ = [name for name, home in clearformer._HOME.items() if home.startswith("models.")]
__getattr__ = clearformer.__getattr__  # imports a model when it is asked for


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
