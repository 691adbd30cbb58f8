"""Checks of exercise 14: dicts of predictions, shapes of results."""

from clearcheck.author.cases import shape_slip

LIMIT = 1e-8  # of comparisons between two answers of the learner's


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if slip := shape_slip(array, shape, f"The array at position {place} of your result"):
            return slip
    return None
