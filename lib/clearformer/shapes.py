"""Shapes are written once, in the signature, and checked from there.

``@shaped`` reads the jaxtyping annotations of a function and turns a misfit into a ``TypeError`` or ``ValueError``
that says what came, what was expected and what the letters mean, so that the body is left with the mathematics.
"""

import functools
import inspect
import typing

from clearformer.checks import check_flag, shorten

MEANING = {
    "B": "batch",
    "N": "target positions",
    "S": "source positions",
    "D": "model width",
    "H": "heads",
    "K": "width per head",
    "Kv": "width of a value",
    "F": "hidden width",
    "V": "vocabulary size",
    "P": "numbers per patch",
    "C": "colour channels",
    "W": "kernel width",
}
SHARED = " Write 1 for an axis that all share, e.g. mask[:, None, None], or leave out all axes in front of the last."
DTYPE_HELP = {
    "float": "Convert it with .astype(float) in NumPy or .float() in torch.",
    "int": "Ids are whole numbers; convert them with .astype(int) in NumPy or .long() in torch.",
}
SIZES = {"D": "d_model", "K": "d_head"}  # what a module calls the letters that it fixes
Function = typing.TypeVar("Function", bound=typing.Callable)
MOST_KINDS = 512  # combinations of shapes that a function remembers before it starts afresh


def shaped(function: Function) -> Function:
    """Check the annotated arguments of ``function``. Each combination of shapes, dtypes and devices is checked once.

    Under ``torch.compile`` nothing is checked, so that a compiled graph holds the mathematics alone.

    Raises: TypeError for something that is no array or has the wrong kind of numbers; ValueError for a
    wrong number of axes, an empty axis, or two arguments that disagree about a letter, a dtype or a device.
    """
    parameters, specs = _specs(function)
    plain = _plain_specs(function)
    if any(_library(annotation) == "torch" for annotation, _ in specs.values()):
        from torch.compiler import is_compiling
    else:
        is_compiling = bool  # always False: the reference is never compiled, and needs no torch
    accepted = set()

    @functools.wraps(function)
    def checked_function(*args, **kwargs):
        if is_compiling():
            return function(*args, **kwargs)
        kinds = (*map(_kind, args), *kwargs, *map(_kind, kwargs.values()))
        if kinds not in accepted:
            given = dict(zip(parameters, args, strict=False)) | kwargs
            _check_plain(function.__name__, given, plain)
            _check_all(function.__name__, given, specs, {})
            if len(accepted) >= MOST_KINDS:
                accepted.clear()
            accepted.add(kinds)
        return function(*args, **kwargs)

    return checked_function


def shaped_module(forward: Function) -> Function:
    """For the ``forward`` of a module: where it fails, look for the argument that does not fit, and say so instead.

    Nothing is checked as long as it works, so a forward pass costs what it did. Beside the annotations an argument has
    to fit the module: its ``d_model`` is D, its ``d_head`` K, and numbers come in the dtype of its weights, unless
    ``torch.autocast`` converts them. Errors are explained, but not the signal by which checkpointing ends a pass.

    Raises: as ``shaped``; else what ``forward`` raised.
    """
    parameters, specs = _specs(forward)
    plain = _plain_specs(forward)

    @functools.wraps(forward)
    def call(self, *args, **kwargs):
        try:
            return forward(self, *args, **kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, Warning) as error:
            name = type(self).__name__
            if str(error).startswith(f"{name}:"):
                raise  # it says itself what is wrong
            from torch import is_autocast_enabled

            given = dict(zip(parameters[1:], args, strict=False)) | kwargs
            weights = [p for p in self.parameters() if p.is_floating_point()]
            mine = {letter: getattr(self, size, None) for letter, size in SIZES.items()}
            mine |= {what: _common_value({getattr(weight, what) for weight in weights}) for what in ("dtype", "device")}
            known = {what: (value, f"this {name}") for what, value in mine.items() if value is not None}
            if any(map(is_autocast_enabled, ("cpu", "cuda"))):
                known["dtype"] = None, "torch.autocast"  # which converts by itself
            try:
                _check_plain(name, given, plain)
                _check_all(name, given, specs, known)
            except (TypeError, ValueError) as misfit:
                raise misfit from error
            raise

    return call


def _specs(function: typing.Callable) -> tuple[list[str], dict[str, tuple]]:
    """The parameters of a function, and for the arrays the jaxtyping part and the other types that it allows."""
    parameters, specs = inspect.signature(function).parameters, {}
    for name, parameter in parameters.items():
        options = typing.get_args(parameter.annotation) or (parameter.annotation,)
        others = tuple(option for option in options if not hasattr(option, "dim_str"))
        if len(others) == len(options) - 1:
            specs[name] = next(option for option in options if hasattr(option, "dim_str")), others
    return list(parameters), specs


def _plain_specs(function: typing.Callable) -> dict[str, type]:
    """The parameters that are True or False, or a module: what beside arrays is handed to a function by mistake."""
    annotations = {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}
    return {
        name: annotation
        for name, annotation in annotations.items()
        if annotation is bool or getattr(annotation, "__qualname__", "") == "Module"
    }


def _check_plain(caller: str, given: dict, plain: dict[str, type]) -> None:
    for name in plain.keys() & given.keys():
        if plain[name] is bool:
            check_flag(caller, name, given[name])
        elif not isinstance(given[name], plain[name]):
            raise TypeError(
                f"{caller}: {name}={shorten(given[name])} is of type {type(given[name]).__name__}, expected a "
                "torch.nn.Module, such as GPT(config)."
            )


def _check_all(caller: str, given: dict, specs: dict[str, tuple], known: dict) -> None:
    """Compare the arguments with their annotations; ``known`` is what letters stand for already."""
    for name, (annotation, others) in specs.items():
        if name in given and not isinstance(given[name], others):
            _check(caller, name, given[name], annotation, known)


def extremes(whole: typing.Any) -> tuple[int, int] | None:
    """The least and the largest of a tensor's whole numbers, where looking at them stops nothing.

    That is on the CPU, outside of ``torch.compile`` and ``torch.func.vmap``; elsewhere None.
    """
    from torch.compiler import is_compiling

    if whole.device.type != "cpu" or is_compiling():
        return None
    try:
        low, high = whole.aminmax()
        return int(low), int(high)
    except RuntimeError:  # vmap has no single value
        return None


def _kind(value: object) -> tuple:
    """All that the checks look at."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return type(value), shape, dtype, getattr(value, "device", None), getattr(value, "layout", None)


def _library(annotation: typing.Any) -> str:
    return annotation.array_type.__module__.split(".")[0]


def _check(caller: str, name: str, value: typing.Any, annotation: typing.Any, known: dict) -> None:
    """Compare one argument with its annotation; ``known`` collects what each letter stands for so far."""
    library = _library(annotation)
    if not isinstance(value, annotation.array_type):
        raise TypeError(
            f"{caller}: {name} is of type {type(value).__name__}, expected {library}.{annotation.array_type.__name__} "
            f"({_legend(annotation.dim_str)}). "
            f"Convert it with {'torch.as_tensor' if library == 'torch' else 'np.asarray'}(...)."
        )
    if library == "torch" and str(value.layout) != "torch.strided":
        raise TypeError(f"{caller}: {name} is sparse ({value.layout}), expected a dense tensor: {name}.to_dense().")
    dtype, kind = str(value.dtype).removeprefix("torch."), annotation.__name__.split("[")[0].lower()
    if dtype not in annotation.dtypes:
        help = _mask_help(value) if kind == "bool" else DTYPE_HELP[kind]
        raise TypeError(f"{caller}: {name} has dtype {dtype}, expected {kind}. {help}")
    alike = ("device", "dtype") if kind == "float" else ("device",)
    for what in alike if library == "torch" else ():  # NumPy converts by itself
        mine = getattr(value, what)
        expected, source = known.setdefault(what, (mine, name))
        if expected not in (mine, None):
            spelled = f'"{expected}"' if what == "device" else str(expected)
            like = f"{source}.{what}" if source.isidentifier() else spelled
            raise ValueError(
                f"{caller}: {name} has {what} {mine}, but {source} has {expected}, expected one {what} for both. "
                f"Convert one of them, e.g. {name}.to({like})."
            )
    _check_axes(caller, name, tuple(value.shape), annotation.dim_str, known)


def _mask_help(mask: typing.Any) -> str:
    """How numbers become a mask: by their values one tells a mask of ones from one that is added to scores."""
    said = "A mask is boolean, True = may look; "
    try:
        low, high = float(mask.min()), float(mask.max())
    except (RuntimeError, TypeError, ValueError):  # no numbers, complex ones, or none that can be looked at
        low = high = 0.0
    if low < 0 and high <= 0:
        return said + "yours holds 0 and negative numbers, to be added to scores: write mask == 0."
    if low >= 0 and high > 0:
        return said + "write mask > 0 if yours holds numbers."
    return said + "write mask > 0 if 1 means that a target may look, mask == 0 if yours is added to scores."


def _common_value(several: set) -> object:
    """The one that all share, or None."""
    return several.pop() if len(several) == 1 else None


def _check_axes(caller: str, name: str, shape: tuple[int, ...], dim_str: str, known: dict) -> None:
    """Match ``shape`` with letters; a leading ``*batch`` takes any number of axes, ``#`` allows size 1."""
    letters = dim_str.split()
    variadic = letters[0].startswith("*")
    n_leading = len(shape) - len(letters) + variadic
    if n_leading < 0 or (n_leading and not variadic):
        raise ValueError(
            f"{caller}: {name} has shape {shape} with {len(shape)} axes, expected {_legend(dim_str)}. "
            "Reshape it or add the missing axis."
        )
    sizes = (shape[:n_leading], *shape[n_leading:]) if variadic else shape
    for letter, size in zip(letters, sizes, strict=True):
        plain = letter.lstrip("*#")
        if size == 0:
            raise ValueError(f"{caller}: {name} has shape {shape}: {_meaning(plain)} is empty. At least one is needed.")
        expected, source = known.setdefault(plain, (size, f"{name} of shape {shape}"))
        if size != expected and not ("#" in letter and _broadcasts(size, expected)):
            raise ValueError(
                f"{caller}: {name} has shape {shape}, so {_meaning(plain)} = {size}, but {plain} = {expected} "
                f"in {source}. Expected {_legend(dim_str)}.{SHARED if dim_str.startswith('*#') else ''}"
            )


def _broadcasts(size: typing.Any, expected: typing.Any) -> bool:
    """Whether a size, or a tuple of sizes, stretches to ``expected``.

    NumPy's rule, but for one thing: where some of the leading axes are missing, those that are there must be 1. A mask
    of shape (3, N, S) for q of shape (2, 3, N, K) could mean three heads or three sequences.
    """
    if isinstance(size, int):
        return size == 1
    if len(size) < len(expected):
        return all(a == 1 for a in size)
    return len(size) == len(expected) and all(a in (1, b) for a, b in zip(size, expected, strict=True))


def _meaning(letter: str) -> str:
    return f"{letter} ({MEANING[letter]})" if letter in MEANING else letter


def _legend(dim_str: str) -> str:
    letters = [letter.lstrip("#") for letter in dim_str.split()]
    plain = ", ".join("..." if letter.startswith("*") else letter for letter in letters)
    known = [f"{letter} = {MEANING[letter]}" for letter in letters if letter in MEANING]
    return f"axes ({plain}){': ' if known else ''}{', '.join(known)}"
