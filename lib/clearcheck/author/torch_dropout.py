"""A test for `holds` in questions about PyTorch: what dropout takes from each part of a block."""

from itertools import combinations

import numpy as np

from clearcheck.author.torch_checks import Draw, Test, equal_in_float32

SHARE = 0.08  # how far the share of zeros may be from the rate; a thousand numbers are within half of that


def numbers_dropped(draw: Draw, parts: dict[str, str], inside: tuple[str, ...] = ()) -> Test:
    """What each part adds to the stream, the first input, is dropped number by number and scaled by 1/(1 − p).

    `draw(rng)` gives a call with a thousand numbers or more, weights by name and the size "dropout"; `parts` has the
    name of the last layer of each part, and the part in words. All parts but one are silenced: their last layer is 0.
    In those that are named in `inside`, all that reaches their last layer is dropped or kept as one before, at the same
    rate, as with the weight of a single token in a single head; the last layer has no bias in these calls.
    With all of them silenced the stream has to come back, or what follows would blame dropout for another mistake.
    """

    def test(ask, rng):
        (plan,), masks = draw(rng), []
        x, rate = plan["calls"][0][0], plan["sizes"]["dropout"]
        shape = f"Your module should give one tensor of shape {x.shape}."
        still = ask({**_zero_layers(plan, list(parts)), "training": False})
        if not isinstance(still, np.ndarray) or still.shape != x.shape:
            return shape
        if not equal_in_float32(x, still):
            return "Where no part adds anything to the stream, your module should give back its input; yours does not."
        for last, name in parts.items():
            alone = _zero_layers(plan, [other for other in parts if other != last])
            still, moving = (ask({**alone, "training": training}) for training in (False, True))
            if any(not isinstance(y, np.ndarray) or y.shape != x.shape for y in (still, moving)):
                return shape
            limit = 1e-4 * max(1.0, float(np.abs(moving).max()))
            given, added = still - x, moving - x
            if slip := _factor_slip(name, given, added, rate, limit, last in inside):
                return slip
            lost, nothing = np.abs(added) < limit, np.abs(given) < 10 * limit  # what is nearly 0 tells nothing
            before = lost.all(axis=-1, keepdims=True) if last in inside else False  # nor what was lost inside
            masks.append(np.ma.array(lost, mask=nothing | before))
            long = [axis for axis in range(x.ndim) if x.shape[axis] > 1]
            if any((masks[-1].any(axis=axis) == masks[-1].all(axis=axis)).all() for axis in long):
                return "Your dropout drops whole tokens, features or positions; each number is to be drawn on its own."
            if abs(masks[-1].mean() - rate) > SHARE:
                return f"With p = {rate} your module drops {masks[-1].mean():.0%} of what {name} adds."
        if any((one == other).all() for one, other in combinations(masks, 2)):
            return "Two parts lose the same numbers; what each part adds is to be drawn anew."
        return None

    return test


def _factor_slip(name: str, given, added, rate: float, limit: float, inside: bool) -> str | None:
    """A sentence where a number that a part adds in train() mode is neither 0 nor scaled up as it should be."""
    dropped, kept = (np.abs(added - factor * given) < limit for factor in (0, 1 / (1 - rate)))
    if inside and (dropped | kept).all():
        lost = np.ma.array(dropped, mask=np.abs(given) < 10 * limit)  # what is nearly 0 tells nothing
        if lost.any() and (lost.any(axis=-1) == lost.all(axis=-1)).all():
            return f"In train() mode something is dropped inside of {name}, and nothing of what it adds."
        return f"Inside of {name} nothing is dropped in train() mode: hand the rate on to it."
    if inside:
        kept = np.abs(added - given / (1 - rate) ** 2) < limit
    if (dropped | kept).all():
        return None
    factor = "1/(1 − p)², since weights inside are dropped, too," if inside else "1/(1 − p)"
    return (
        f"Where {name} alone adds something to the stream, each number that it adds should in train() mode be 0 or "
        f"{factor} times that of eval() mode, with p = {rate}; yours is not."
    )


def _zero_layers(plan: dict, layers: list[str]) -> dict:
    zeros = {
        f"{layer}.{kind}": 0 * plan["weights"][f"{layer}.{kind}"] for layer in layers for kind in ("weight", "bias")
    }
    return {**plan, "weights": plan["weights"] | zeros}
