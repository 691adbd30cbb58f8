"""Whole models, put together from the parts of the library."""

import clearformer

__all__ = [name for name, home in clearformer._HOME.items() if home.startswith("models.")]


def __getattr__(name: str):
    """A model, imported when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}, only {', '.join(sorted(__all__))}")
    return getattr(clearformer, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
