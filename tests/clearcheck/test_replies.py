"""When two calls ended alike."""

import numpy as np
import pytest
from clearcheck.grading.replies import same_error, same_value

INDEX = {"type": "IndexError", "text": "tuple index out of range", "line": "x.shape[1]", "operation": "index (5,)"}
SLIP = {"type": "NameError", "text": "name 'y' is not defined", "line": "return y"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (INDEX, INDEX | {"line": "table.shape[1]"}, True),
        (INDEX, INDEX | {"type": "KeyError"}, False),
        (INDEX, INDEX | {"operation": "index (7,)"}, False),
        (SLIP, SLIP, False),
    ],
)
def test_errors_are_the_same_for_their_kind_and_operation(one, other, same):
    """Would catch a mistake told of another exception in the same place, or of a slip of the pen, which has no idea."""
    assert same_error(one, other) is same_error(other, one) is same


@pytest.mark.parametrize("nested", [lambda x: (1, x), lambda x: [x], lambda x: {"a": (x,)}, lambda x: (np.array([x]),)])
def test_numbers_inside_of_containers_are_the_same_up_to_rounding(nested):
    """Would catch a mistake that loses its name, or the check itself, where its result is a tuple or a dict."""
    assert same_value(nested(3.0), nested(3.0 + 1e-12)) and not same_value(nested(3.0), nested(3.0 + 1e-6))
    assert same_value(nested(3.0), nested(3.0 + 1e-6), close=1e-5)
