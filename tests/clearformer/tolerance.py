"""How far two right answers may be apart, by dtype: the one place where tolerances stand."""

import torch

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 2e-2}


def assert_close(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal up to the tolerance of the dtype. Raises: AssertionError with the first differing index."""
    tolerance = TOLERANCE[actual.dtype]
    torch.testing.assert_close(actual, expected.to(actual.dtype), rtol=tolerance, atol=tolerance)
