"""What the checks of question model draw and try: weights by name, sources with padding, one part after the other."""

import numpy as np
from clearcheck.author.torch_arguments import module_call

from .parts import PAD
from .shared import adding_nothing, alter, block, differ, linear, norm

N_SOURCE, N_TARGET, D_FF = 19, 13, 17
RATE = 0.4  # of dropout
LAST = {"encoder": ("attention.out", "feed_forward.down")}  # the last layers of the parts of a block
LAST["decoder"] = (*LAST["encoder"], "cross.out")
PARTS = {"attention": "attention", "feed_forward": "the feed-forward layer", "cross": "the cross-attention"}


def draw_args(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, n_layers=2, padded=0, **options):
    """Ids without padding, but for the last `padded` ones of the first source."""
    sizes = {"n_source": N_SOURCE, "n_target": N_TARGET, "n_layers": n_layers}
    sizes |= {"d_model": d_model, "n_heads": n_heads, "d_ff": D_FF}
    tables = {"embed_source": N_SOURCE, "embed_target": N_TARGET}
    weights = {f"{name}.table.weight": rng.normal(size=(n, d_model)) for name, n in tables.items()}
    for layer in range(n_layers):
        weights |= block(rng, f"encoder.{layer}.", d_model, D_FF, cross=False)
        weights |= block(rng, f"decoder.{layer}.", d_model, D_FF, cross=True)
    weights |= norm(rng, "norm_source", d_model) | norm(rng, "norm_target", d_model)
    weights |= linear(rng, "head", d_model, N_TARGET)
    source, target = rng.integers(1, N_SOURCE, size=(rows, sources)), rng.integers(1, N_TARGET, size=(rows, targets))
    source[0, sources - padded :] = PAD
    return module_call(sizes, (source, target), weights=weights, **options)


def outputs(rng):
    given = {"padded": 2}, {}, {"targets": 1}, {"n_layers": 1}, {"n_layers": 0}, {"rows": 1}, {"n_layers": 3}
    given += {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2, "padded": 1}, {"sources": 1}
    given += {"targets": 6, "sources": 6, "padded": 3}, {"rows": 1, "targets": 40, "sources": 33, "padded": 20}
    cases = [*(draw_args(rng, **one) for one in given), *nearly_alike(rng)]
    return [*cases, draw_args(rng, rows=1, targets=140, sources=150, d_model=6, n_layers=1)]


def nearly_alike(rng):
    """Tables that all but take the positions away again, so that the ε of the norm at the end of a stack counts."""
    for side, n_layers in (("source", 1), ("target", 0)):
        (plan,) = draw_args(rng, n_layers=n_layers)
        weights = adding_nothing(plan["weights"], *(f"encoder.0.{last}" for last in LAST["encoder"] if n_layers))
        weights[f"embed_{side}.table.weight"][1:6] = 0.02 * rng.normal(size=(5, 12)) - waves(5, 12)
        yield ({**plan, "weights": weights, "calls": [2 * (np.arange(1, 6)[None],)]},)


def waves(n_positions, d_model):
    angles = np.arange(n_positions)[:, None] * 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(n_positions, d_model)


def encoded(rng):
    """What `encode` gives of a source: the memory and the mask of what is no padding."""
    cases = [draw_args(rng, **one) for one in ({"padded": 2}, {"rows": 3, "sources": 4}, {"sources": 1})]
    return [({**plan, "method": "encode", "calls": [plan["calls"][0][:1]]},) for (plan,) in cases]


def decoded(rng):
    """What `decode` gives of a target, a memory and a mask that were made elsewhere."""
    cases = []
    for sources in (7, 4):
        (plan,) = draw_args(rng)
        memory, mask = rng.normal(size=(2, sources, 12)), rng.random(size=(2, 1, 1, sources)) < 0.7
        mask[..., 0] = True
        cases.append(({**plan, "method": "decode", "calls": [(plan["calls"][0][1], memory, mask)]},))
    return cases


def nothing_dropped(rng):
    """In train() mode, with a rate of 0, given or not."""
    (plan,) = draw_args(rng, training=True)
    return [(plan,), ({**plan, "sizes": plan["sizes"] | {"dropout": 0.0}},)]


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, padded=3, gives="gradients")]


def dropped_in_its_places(ask, rng):
    """One embedding or part of a block after the other gives something else than zeros, and the others nothing."""
    (plan,) = draw_args(rng, rows=6)
    (source, target), memory = plan["calls"][0], rng.normal(size=(6, 7, 12))
    source[:], target[:] = np.arange(1, 8), np.arange(1, 6)
    plan = {**plan, "sizes": plan["sizes"] | {"dropout": RATE}}
    sides = {"source": ("encode", "encoder", (source,)), "target": ("decode", "decoder", (target, memory, shown(7)))}
    still = []
    for side, (method, stack, inputs) in sides.items():
        ends = [f"{stack}.{i}.{last}" for i in (0, 1) for last in LAST[stack]]
        table = f"embed_{side}.table.weight"
        for alone in ("", f"embed_{side}", *ends):
            weights = adding_nothing(plan["weights"], *(end for end in ends if end != alone))
            if alone != f"embed_{side}":  # what is embedded is 0, and stays so whatever is dropped
                weights[table] = weights[table].copy()
                weights[table][1 : 1 + inputs[0].shape[1]] = -waves(inputs[0].shape[1], 12)
            asked = {**plan, "weights": weights, "method": method, "calls": [inputs]}
            came = [ask({**asked, "training": training}) for training in (False, True)]
            one, two = (pair[0] if method == "encode" else pair for pair in came)
            moves = np.abs(one - two).max() > 1e-4
            if moves and not alone:
                return f"Where embedding and blocks add nothing, train() mode changes what `{method}` gives: drop less."
            if alone and not moves:
                still.append(named(alone))
    if not still:
        return None
    return f"With dropout={RATE} in train() mode nothing is dropped of what these add: {', '.join(still)}."


def named(place):
    """An embedding, or a part of a block by the path of its last layer."""
    if "." not in place:
        return f"`{place}`"
    stack, number, part, _ = place.split(".")
    return f"{PARTS[part]} of {stack}[{number}]"


def shown(sources):
    """A mask that hides nothing."""
    return np.ones((6, 1, 1, sources), dtype=bool)


def blind_to_the_future(ask, rng):
    (plan,) = draw_args(rng)
    source, target = plan["calls"][0]
    shape = (*target.shape, N_TARGET)
    one, two, three = ask(
        {**plan, "calls": [(source, target), (source, alter(target, (slice(None), 2))), (source, target[:, :2])]}
    )
    if np.shape(one) != shape:
        return f"For a target of shape {target.shape} the scores should have the shape {shape}; yours {np.shape(one)}."
    if differ(one, two)[:2].any():
        return "Target 2 was changed, and a score at an earlier position moved: it saw the future."
    if not differ(one, two)[2:].all():
        return "Target 2 was changed: the scores at its position and at all later ones should move."
    return (
        "The first two positions alone should get the scores that they get in the whole."
        if differ(one[:, :2], three).any()
        else None
    )


def the_source_is_read_in_order(ask, rng):
    (plan,) = draw_args(rng)
    source, target = plan["calls"][0]
    longer = np.concatenate([source, np.full((len(source), 3), PAD)], axis=1)
    calls = (source, alter(source, (slice(None), -1))), (source[:, ::-1].copy(), longer)
    one, two, three, four = ask({**plan, "calls": [(given, target) for pair in calls for given in pair]})
    if not differ(one, two).all():
        return "The last source was changed: the scores at every position should move."
    if not differ(one, three).any():
        return "The source backwards gave the same scores: its positions are unknown."
    moved = "Three tokens of padding more at the end of the source changed the scores; nothing may look at them."
    return moved if differ(one, four).any() else None
