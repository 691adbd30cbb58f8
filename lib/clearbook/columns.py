"""The one bridge between the two sides: the reference keeps a token in a column, torch keeps it in a row."""

import torch
from clearformer.shapes import shaped
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor


@shaped
def to_torch(X: Float[ndarray, "D N"], dtype: torch.dtype = torch.float64) -> Float[Tensor, "1 N D"]:
    """A reference matrix as a torch batch of one sequence."""
    return torch.as_tensor(X.T, dtype=dtype)[None].contiguous()


@shaped
def to_reference(x: Float[Tensor, "B N D"]) -> Float[ndarray, "D N"]:
    """A torch batch of one sequence as a reference matrix, in float64.

    Raises: ValueError for a batch of several sequences.
    """
    if len(x) != 1:
        raise ValueError(
            f"to_reference: x holds a batch of {len(x)} sequences, expected 1: the reference knows no batch axis. "
            "Convert one sequence at a time, x[i:i+1]."
        )
    return x[0].detach().cpu().double().numpy().T
