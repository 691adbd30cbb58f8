"""Attention of inputs with another number of axes than sequences in heads have."""

import pytest

from tests.clearformer.attention_variants import EXPLICIT, LINEAR, inputs, run
from tests.clearformer.tolerance import assert_close


@pytest.mark.parametrize("name", EXPLICIT | LINEAR)
@pytest.mark.parametrize("index", [(0, 0), (0,), (None,)], ids=["no axis in front", "one", "three"])
def test_any_number_of_axes_may_stand_in_front(index, name):
    """Catches an axis that is counted from the front, in the values or in a gradient."""
    function = (EXPLICIT | LINEAR)[name]
    whole = run(function, *inputs(requires_grad=True), causal=True)
    part = run(function, *(t[index].requires_grad_() for t in inputs()), causal=True)
    for expected, mine in zip(whole, part, strict=True):
        assert_close(mine, expected[index])
