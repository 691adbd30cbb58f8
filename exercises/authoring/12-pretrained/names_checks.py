"""What question names is asked with: whole files, some layers alone, and what the layers do."""

import numpy as np
from clearcheck.author.cases import close, shape_slip

from . import parts
from .shared import draw_gpt2, draw_sizes_of_gpt2


def files_of_gpt2(**options):
    settings = options.pop("settings", ({},))

    def cases(rng):
        return [(draw_gpt2(rng, draw_sizes_of_gpt2(rng, **setting), **options),) for setting in settings]

    return cases


def right_layers(*names):
    """A check of some layers of every block, so that they earn their points whatever the others are."""

    def test(ask, rng):
        theirs = draw_gpt2(rng, draw_sizes_of_gpt2(rng, 2), masks=True)
        found, expected = ask(theirs), parts.ours_from_gpt2(theirs)
        if not isinstance(found, dict):
            return "The result should be a dict of arrays."
        for name, array in expected.items():
            if set(names) & set(name.split(".")):
                if name not in found:
                    return f"Your dict lacks the name {name!r}."
                if slip := shape_slip(found[name], array.shape, f"Your {name!r}"):
                    return slip
                if not close(found[name], array):
                    return (
                        f"Your {name!r} does not hold the numbers that it should; other layers are not looked at here."
                    )
        return None

    return test


def right_names(ask, rng):
    """Names and shapes, and what is copied as it is, so that they earn their points whatever the rest is."""
    for options in ({}, {"prefix": "", "masks": True}):
        theirs = draw_gpt2(rng, draw_sizes_of_gpt2(rng, 1), **options)
        found, expected = ask(theirs), parts.ours_from_gpt2(theirs)
        where = "For names without `transformer.`" if options else "For names with `transformer.`"
        if not isinstance(found, dict):
            return "The result should be a dict of arrays."
        for what, keys in (("lacks", expected.keys() - found.keys()), ("has", found.keys() - expected.keys())):
            if keys:
                return f"{where} your dict {what} the name {min(keys)!r}{', which is not ours' * (what == 'has')}."
        for name in sorted(expected):
            if name in ("tokens", "positions") or "norm" in name:
                if slip := shape_slip(found[name], expected[name].shape, f"{where} {name!r}"):
                    return slip
                if not close(found[name], expected[name]):
                    return f"{where} your {name!r} does not hold the numbers that it should."
    return None


def same_products(ask, rng):
    """What the layers do: x times their matrix must be x times ours, transposed."""
    sizes = draw_sizes_of_gpt2(rng, 1)
    theirs = draw_gpt2(rng, sizes)
    ours = ask(theirs)
    D, block = sizes["n_embd"], f"h.{sizes['n_layer'] - 1}."
    if not isinstance(ours, dict):
        return "The result should be a dict of arrays."
    for place, names in (("attn.c_attn", "qkv"), ("attn.c_proj", ["out"]), ("mlp.c_fc", ["up"])):
        x = rng.normal(size=(3, D))
        y = x @ theirs[f"transformer.{block}{place}.weight"] + theirs[f"transformer.{block}{place}.bias"]
        for name, expected in zip(names, np.split(y, len(names), axis=1), strict=True):
            name = f"blocks.{block[2:-1]}.{name}"
            W, b = ours.get(f"{name}.weight"), ours.get(f"{name}.bias")
            shape = (expected.shape[1], D)
            slip = shape_slip(W, shape, f"{name}.weight") or shape_slip(b, shape[:1], f"{name}.bias")
            if slip:
                return slip
            if not close(x @ W.T + b, expected):
                return f"`x @ W.T + b` with your {name!r} is not what their layer makes of x."
    return None
