"""What the checks of several exercises ask of a result that has several parts.

The file of a question imports it as its own, `from .result_parts import parts_slip`.
"""

import numpy as np
from clearcheck.author.cases import shape_slip


def parts_slip(value, *shapes):
    """A sentence when the value is no tuple of arrays of these shapes; () stands for one number."""
    if not isinstance(value, tuple | list) or len(value) != len(shapes):
        return f"The result should be a tuple of {len(shapes)}."
    for place, (part, shape) in enumerate(zip(value, shapes, strict=True)):
        if shape and (slip := shape_slip(part, shape, f"Part {place} of the result, counted from 0,")):
            return slip
        if not shape and np.ndim(part):
            return f"Part {place} of the result, counted from 0, should be one number."
    return None
