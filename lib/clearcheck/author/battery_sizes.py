"""The entries of the battery on sizes: one of each, an odd number of each, one head, and many tokens."""

from collections.abc import Iterator

import numpy as np

from clearcheck.author.battery_cases import Case, CaseEntry, Source

MANY = 600  # tokens: more than the 512 for which tables and masks are often made beforehand
HEADS = ("n_heads", "heads", "n_groups", "groups", "n_layers", "layers")
Letters = dict[str, int]


def _letters(source: Source, args: Case) -> Letters:
    """The sizes of a case by letter, where no two agree, so that an axis tells which letter it is."""
    inputs = source.inputs
    if inputs is None or inputs.sizes is None or not any(isinstance(value, np.ndarray) for value in args):
        return {}
    try:
        found = inputs.sizes(*args)
    except (ValueError, TypeError, IndexError):
        return {}
    return found if len(set(found.values())) == len(found) and min(found.values(), default=0) > 1 else {}


def _cut(args: Case, sizes: Letters, wanted: Letters) -> Case:
    """The case with the first so many entries along each axis of these letters, in pairs and lists of arrays too."""
    by_size = {size: wanted[letter] for letter, size in sizes.items() if letter in wanted}
    return tuple(_cut_value(value, by_size) for value in args)


def _cut_value(value, by_size: dict[int, int]):
    if isinstance(value, np.ndarray):
        return value[tuple(slice(by_size.get(size, size)) for size in value.shape)].copy()
    if isinstance(value, tuple | list):
        return type(value)(_cut_value(entry, by_size) for entry in value)
    return value


def _fitting(source: Source, sizes: Letters, args: Case, every: Iterator[Letters]) -> list[Case]:
    """The cut cases that still have the announced sizes, and that the reference answers."""
    cut = ((_cut(args, sizes, wanted), {**sizes, **wanted}) for wanted in every)
    return [case for case, announced in cut if _has(source, case, announced) and source.answers(case)]


def _has(source: Source, case: Case, sizes: Letters) -> bool:
    try:
        return source.inputs is not None and source.inputs.sizes is not None and source.inputs.sizes(*case) == sizes
    except (ValueError, TypeError, IndexError):
        return False


def _one_of_each(source: Source, args: Case) -> list[Case]:
    """Each size of a function once as 1, and all of them together; one token and one head of a module."""
    if source.how == "module":
        return [case for case in _small_modules(args[0]) if source.answers(case)]
    sizes = _letters(source, args)
    singles: list[Letters] = [{letter: 1} for letter in sizes]
    return _fitting(source, sizes, args, iter([*singles, dict.fromkeys(sizes, 1)] if sizes else []))


def _small_modules(plan: dict) -> Iterator[Case]:
    if plan["gives"] != "output" or plan["weights"] is None or len(plan["calls"]) != 1:
        return
    quiet = {**plan, "training": False}
    inputs = plan["calls"][0]
    yield from (({**quiet, "calls": [_one_token(inputs, place)]},) for place in _sequences(inputs))
    for name in HEADS:
        if plan["sizes"].get(name, 1) > 1:
            yield ({**quiet, "sizes": {**plan["sizes"], name: 1}},)


def _sequences(inputs: tuple) -> list[int]:
    """The places of the inputs whose axis 1 is that of tokens, each length once."""
    long = [(value.shape[1], i) for i, value in enumerate(inputs) if _has_tokens(value)]
    return list({length: i for length, i in reversed(long)}.values())


def _has_tokens(value) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 1 and value.shape[1] > 1


def _one_token(inputs: tuple, place: int) -> tuple:
    length = inputs[place].shape[1]
    return tuple(_first_token(value, length) for value in inputs)


def _first_token(value, length: int):
    if isinstance(value, np.ndarray) and value.dtype == bool and value.shape[-2:] == (length, length):
        return np.ones((*value.shape[:-2], 1, 1), dtype=bool)  # of a table of who may look: it sees itself
    return value[:, :1] if _has_tokens(value) and value.shape[1] == length else value


def _odd(source: Source, args: Case) -> list[Case]:
    """Every even size one less: a half, or every second one, is then no whole number."""
    sizes = _letters(source, args)
    even: Letters = {letter: size - 1 for letter, size in sizes.items() if size % 2 == 0}
    fewest: Letters = {letter: 3 for letter, size in sizes.items() if size > 3}
    return _fitting(source, sizes, args, (wanted for wanted in (even, fewest) if wanted))


def _many(source: Source, args: Case) -> list[Case]:
    """One row of many tokens; what stands in them repeats with other signs, so that no two halves are alike."""
    (plan,) = args
    if plan["gives"] != "output" or plan["weights"] is None or len(plan["calls"]) != 1:
        return []
    inputs = plan["calls"][0]
    if not inputs or not all(isinstance(value, np.ndarray) and value.ndim > 1 for value in inputs):
        return []
    if not any(map(_has_tokens, inputs)) or any(len(value) != len(inputs[0]) for value in inputs):
        return []
    case = ({**plan, "training": False, "calls": [tuple(map(_lengthened, inputs))]},)
    return [case] if source.answers(case) else []


def _lengthened(value: np.ndarray) -> np.ndarray:
    times = -(-MANY // value.shape[1])
    many = np.concatenate([np.roll(value[:1], turn, axis=-1 if value.ndim > 2 else 1) for turn in range(times)], axis=1)
    if value.dtype.kind == "f":
        many = many * np.where(np.arange(many.shape[1]) % 7 < 3, 1, -1).reshape(1, -1, *(many.ndim - 2) * (1,))
    return many[:, :MANY]


SIZES = (
    CaseEntry(
        "one of each",
        ("function", "tensors", "module"),
        "the sizes of a loop and of a text are those that it is given",
        "its arguments have no sizes of which one is left",
        "With a single one of something (a token, a feature, a head) the same should hold.",
        _one_of_each,
    ),
    CaseEntry(
        "odd sizes",
        ("function", "tensors"),
        "the sizes of a module are given by its weights",
        "its arguments have no sizes that can be odd",
        "With an odd number of something the same should hold.",
        _odd,
    ),
    CaseEntry(
        "many tokens",
        ("module",),
        "a function has no table that it makes beforehand",
        "its inputs are no rows of tokens that can be longer",
        f"With {MANY} tokens the same should hold: the task names no longest text.",
        _many,
    ),
)
