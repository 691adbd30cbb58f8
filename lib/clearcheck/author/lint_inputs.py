"""The rules on what the checks of a question draw, for each case and each seed. A rule yields sentences."""

import inspect
import re
from itertools import combinations

import numpy as np

from clearcheck.author.subject import SEEDS, leaves
from clearcheck.grading.evaluate import generator
from clearcheck.worker.values import pack

LENGTHS = ("N", "S")  # the letters of a number of tokens
BIAS = re.compile(r"b|b_\w+|bias\w*|beta\w*|gamma\w*")
POSITION = re.compile(r"pos|positions?|places?|offset|first_position")
EPSILON = re.compile(r"eps|epsilon")
MASK = re.compile(r"mask|allowed|may_look")
SCORES = re.compile(r"scores?|logits")


def described(subject, question):
    inputs = question.inputs
    if inputs is None or not (inputs.sizes or inputs.no_sizes):
        yield "its inputs do not say which sizes its arguments have."


def sizes_differ(subject, question):
    inputs = question.inputs
    if inputs is None or inputs.sizes is None:
        return
    announced = set(inputs.alike)
    for name, args in subject.asked(question):
        found = [size for size in inputs.sizes(*args).values() if size > 1]
        equal = len(set(found)) < len(found)
        if name in inputs.alike:
            announced -= {name} if equal else set()
        elif equal or (not inputs.only_distinct and any(max(pair) % min(pair) == 0 for pair in combinations(found, 2))):
            yield f"{name}: the sizes {inputs.sizes(*args)}; none may be equal to or divide another."
            return
    for name in sorted(announced):
        yield f"{name}: equal ones were announced, and in each of its cases all sizes differ."


def one_token(subject, question):
    inputs = question.inputs
    if inputs is None or inputs.sizes is None:
        return
    found = [inputs.sizes(*args) for _, args in subject.asked(question)]
    for letter in LENGTHS:
        lengths = {sizes[letter] for sizes in found if letter in sizes}
        if lengths and (1 not in lengths or len(lengths) == 1):
            yield f"{letter} is never 1, or always: a sequence of one token finds a squeeze and a broadcast."


def scores(subject, question):
    inputs = question.inputs
    if inputs is None or inputs.scores is None:
        return
    drawn = [(name, inputs.scores(*args)) for name, args in subject.asked(question)]
    if not drawn:
        return
    first = drawn[0][0]
    spread = np.std(np.concatenate([table.ravel() for name, table in drawn if name == first and table.size > 9]))
    if not 0.4 < spread < 2.5:
        yield f"{first}: the scores spread by {spread:.2g}; 0.4 to 2.5 is neither flat nor saturated."
    largest = [np.abs(table).max() for name, table in drawn if name != first]
    if not any(20 < size < 2_000 for size in largest):
        yield "no check but the first has saturated scores, 20 to 2 000."
    if not any(size > 5_000 for size in largest):
        yield "no check but the first has scores like 10 000, which overflow."


def biases(subject, question):
    for values in subject.named(question, BIAS):
        for value in values:
            array = np.asarray(value)
            if (array == 0).any() or (array.size > 1 and np.ptp(array) == 0):
                yield "a bias (or γ, β) that is 0 or the same everywhere hides its absence."
                return


def positions(subject, question):
    for named in subject.named(question, POSITION):
        values = [value for value in named if not isinstance(value, bool)]  # a switch is no position
        if not values:
            continue
        arrays = [np.atleast_1d(value) for value in values]
        if not any(array.min() > 0 for array in arrays):
            yield "positions always begin with 0; once they have to begin later."
        if all(np.ndim(value) for value in values) and not any(
            len(array) > 2 and (np.diff(array) != 1).any() for array in arrays
        ):
            yield "positions always follow one another; once they have to leave some out."


def epsilon(subject, question):
    for values in (subject.sizes_named if question.how == "module" else subject.named)(question, EPSILON):
        if not any(value >= 0.05 for value in values):
            yield "ε is always tiny; once it has to be 0.1, so that its place shows."


def masks(subject, question):
    for values in subject.named(question, MASK):
        tables = [value for value in values if isinstance(value, np.ndarray) and value.dtype == bool and value.ndim > 1]
        empty = [(~table).all(axis=axis).any() for table in tables for axis in (-1, -2)]
        if tables and not any(empty):
            yield "no mask hides everything from a query."


def defaults(subject, question):
    parameters = inspect.signature(subject.right.of(question.id)[0].function).parameters.values()
    drawn = [args for _, args in subject.asked(question)] + subject.asked_by_properties(question)
    for place, parameter in enumerate(parameters):
        if parameter.default is not parameter.empty and all(len(args) > place for args in drawn):
            yield f"{parameter.name} is never left out, so that another default than the task's is not noticed."


def fresh_and_double(subject, question):
    for check in question.checks:
        if hasattr(check, "cases"):
            one, other = (check.cases(generator(question, check.name, seed)) for seed in SEEDS[:2])
            if pack(one) == pack(other):
                yield f"{check.name}: every seed draws the same case."
    arrays = [array for args in subject.asked_by_properties(question) for array in leaves(args)]
    arrays += [array for _, args in subject.asked(question) for array in leaves(args)]
    exact: tuple[type, ...] = (np.float64, np.int64, np.bool_, np.uint8)  # the last are the bytes of a file
    exact += () if question.how == "function" else (np.float32,)  # in which PyTorch is asked
    if any(array.dtype not in exact for array in arrays):
        yield "an argument in single precision; float64 is expected."


def softmax_described(subject, question):
    inputs = question.inputs
    if inputs is not None and inputs.scores is None and not inputs.no_softmax and list(subject.named(question, SCORES)):
        yield "its inputs do not say how its scores come from its arguments."


ON_INPUTS = (
    described,
    softmax_described,
    sizes_differ,
    one_token,
    scores,
    biases,
    positions,
    epsilon,
    masks,
    defaults,
    fresh_and_double,
)
