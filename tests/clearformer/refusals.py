"""What a call says as it refuses what it was given."""

from collections.abc import Callable

import pytest


def refusal(error: type[Exception], call: Callable, *arguments, **options) -> str:
    """The message with which the call raises this error: the test fails where it raises another, or none."""
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)
