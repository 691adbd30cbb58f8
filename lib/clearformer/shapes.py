"""Shapes are written once, in the signature, and checked from there.

``@shaped`` reads the jaxtyping annotations of a function and turns a misfit into a ``TypeError`` or
``ValueError`` that says what came, what was expected and what the letters mean, so that the body of
the function is left with the mathematics.
"""

import functools
import inspect
import typing

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


MOST_KINDS = 512  # combinations of shapes that a function remembers before it starts afresh


def shaped(function):
    """Check the annotated arguments of ``function``; a combination of shapes, dtypes and devices is checked once.

    Under ``torch.compile`` nothing is checked, so that a compiled graph holds the mathematics alone.

    Raises: TypeError for something that is no array or has the wrong kind of numbers; ValueError for a
    wrong number of axes, an empty axis, or two arguments that disagree about a letter, a dtype or a device.
    """
    parameters = inspect.signature(function).parameters
    specs = {name: spec for name, p in parameters.items() if (spec := _spec(p.annotation)) is not None}
    compiling = _compiling_of([annotation for annotation, _ in specs.values()])
    accepted = set()

    @functools.wraps(function)
    def checked(*args, **kwargs):
        if compiling():
            return function(*args, **kwargs)
        kinds = (*map(_kind, args), *kwargs, *map(_kind, kwargs.values()))
        if kinds not in accepted:
            given = dict(zip(parameters, args, strict=False)) | kwargs
            known = {}
            for name, (annotation, optional) in specs.items():
                if name in given and not (optional and given[name] is None):
                    _check(function.__name__, name, given[name], annotation, known)
            if len(accepted) >= MOST_KINDS:
                accepted.clear()
            accepted.add(kinds)
        return function(*args, **kwargs)

    return checked


def _kind(value):
    """All that the checks look at."""
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value)
    return type(value), shape, getattr(value, "dtype", None), getattr(value, "device", None)


def _compiling_of(annotations):
    """A function that says whether torch is compiling; the reference never does, and needs no torch."""
    if any(annotation.array_type.__module__.startswith("torch") for annotation in annotations):
        from torch.compiler import is_compiling

        return is_compiling
    return lambda: False


def _spec(annotation):
    """The jaxtyping part of ``annotation`` and whether None is allowed beside it; None if there is none."""
    options = typing.get_args(annotation) if not hasattr(annotation, "dim_str") else (annotation,)
    arrays = [option for option in options if hasattr(option, "dim_str")]
    return (arrays[0], type(None) in options) if len(arrays) == 1 else None


def _check(caller, name, value, annotation, known):
    """Compare one argument with its annotation; ``known`` collects what each letter stands for so far."""
    if not isinstance(value, annotation.array_type):
        wanted = f"{annotation.array_type.__module__.split('.')[0]}.{annotation.array_type.__name__}"
        hint = "np.asarray(...)" if wanted.startswith("numpy") else "torch.as_tensor(...)"
        raise TypeError(
            f"{caller}: {name} is of type {type(value).__name__}, expected {wanted} ({_legend(annotation.dim_str)}). "
            f"Convert it with {hint}."
        )
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in annotation.dtypes:
        kind = annotation.__name__.split("[")[0].lower()
        raise TypeError(f"{caller}: {name} has dtype {dtype}, expected {kind}. {_DTYPE_HELP[kind]}")
    if annotation.array_type.__module__.startswith("torch"):
        _check_alike(caller, name, value, known)
    _check_axes(caller, name, tuple(value.shape), annotation.dim_str, known)


_DTYPE_HELP = {
    "float": "Convert it with .astype(float) in NumPy or .float() in torch.",
    "bool": "A mask is boolean, True = may look; write mask > 0 if yours holds numbers.",
    "int": "Ids are whole numbers; convert them with .astype(int) in NumPy or .long() in torch.",
}


def _check_alike(caller, name, tensor, known):
    """Tensors of one call share a device, and those with fractions a dtype; NumPy converts by itself."""
    for what in ("device", "dtype") if tensor.is_floating_point() else ("device",):
        mine = getattr(tensor, what)
        expected, source = known.setdefault(what, (mine, name))
        if mine != expected:
            raise ValueError(
                f"{caller}: {name} has {what} {mine}, but {source} has {expected}, expected one {what} for both. "
                f"Convert one of them, e.g. {name}.to({source}.{what})."
            )


def _check_axes(caller, name, shape, dim_str, known):
    """Match ``shape`` with letters; a leading ``*batch`` takes any number of axes, ``#`` allows size 1."""
    letters = dim_str.split()
    variadic = letters[0].startswith("*")
    fixed = letters[1:] if variadic else letters
    if len(shape) < len(fixed) or (len(shape) > len(fixed) and not variadic):
        raise ValueError(
            f"{caller}: {name} has shape {shape} with {len(shape)} axes, expected {_legend(dim_str)}. "
            "Reshape it or add the missing axis."
        )
    pairs = list(zip(fixed, shape[len(shape) - len(fixed) :], strict=True))
    if variadic:
        pairs.insert(0, (letters[0], shape[: len(shape) - len(fixed)]))
    for letter, size in pairs:
        plain = letter.lstrip("*#")
        if size == 0:
            raise ValueError(f"{caller}: {name} has shape {shape}: {_meaning(plain)} is empty. At least one is needed.")
        expected, source = known.setdefault(plain, (size, f"{name} of shape {shape}"))
        if size != expected and not ("#" in letter and _broadcasts(size, expected)):
            raise ValueError(
                f"{caller}: {name} has shape {shape}, so {_meaning(plain)} = {size}, but {plain} = {expected} "
                f"in {source}. Expected {_legend(dim_str)}."
            )


def _broadcasts(size, expected):
    """Whether a size, or a tuple of sizes, stretches to ``expected`` by NumPy's rule."""
    if isinstance(size, int):
        return size == 1
    padded = (1,) * (len(expected) - len(size)) + size
    return len(size) <= len(expected) and all(a in (1, b) for a, b in zip(padded, expected, strict=True))


def _meaning(letter):
    return f"{letter} ({MEANING[letter]})" if letter in MEANING else letter


def _legend(dim_str):
    letters = [letter.lstrip("#") for letter in dim_str.split()]
    plain = ", ".join("..." if letter.startswith("*") else letter for letter in letters)
    known = [f"{letter} = {MEANING[letter]}" for letter in letters if letter in MEANING]
    return f"axes ({plain}){': ' if known else ''}{', '.join(known)}"
