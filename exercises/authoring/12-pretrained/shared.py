"""Checks of exercise 12: files made byte by byte, weights all at random, sizes of which none divides another."""

import numpy as np
from clearcheck.author.cases import draw_sizes, shape_slip

HEADS = (3, 4, 5)  # heads and their widths, small enough for models of many blocks


WORDS, PLACES, HIDDEN = (37, 41, 43), (7, 11, 13), (17, 19, 23, 29)  # none divides another, or a product of heads


def draw_sizes_of_gpt2(rng, n_blocks=2, square=False):
    (H, K), V, L, F = draw_sizes(rng, 2, HEADS), rng.choice(WORDS), rng.choice(PLACES), rng.choice(HIDDEN)
    D = H * K
    return {
        "n_embd": D,
        "n_head": H,
        "n_layer": n_blocks,
        "vocab_size": int(V),
        "n_positions": int(L),
        "n_inner": D if square else int(F),
    }


def draw_gpt2(rng, sizes, prefix="transformer.", masks=False, gain=1.0):
    """A file of GPT-2 with every number at random; `gain` makes queries and keys larger, and so the scores."""
    D, F, L = sizes["n_embd"], sizes["n_inner"], sizes["n_positions"]

    def table(*shape):
        return rng.normal(size=shape) / np.sqrt(shape[0])

    def pair(name, rows, columns):
        return {f"{name}.weight": table(rows, columns), f"{name}.bias": 0.3 * rng.normal(size=columns)}

    def scale(name):
        return {f"{name}.weight": rng.uniform(0.5, 1.5, size=D), f"{name}.bias": 0.3 * rng.normal(size=D)}

    theirs = {"wte.weight": rng.normal(size=(sizes["vocab_size"], D)), "wpe.weight": rng.normal(size=(L, D))}
    for i in range(sizes["n_layer"]):
        block = scale("ln_1") | pair("attn.c_attn", D, 3 * D) | pair("attn.c_proj", D, D)
        block["attn.c_attn.weight"][:, : 2 * D] *= np.sqrt(gain)
        block["attn.c_attn.bias"][: 2 * D] *= np.sqrt(gain)
        if masks:
            block["attn.bias"] = np.tri(L)[None, None]
            block["attn.masked_bias"] = np.float64(-1e4)
        block |= scale("ln_2") | pair("mlp.c_fc", D, F) | pair("mlp.c_proj", F, D)
        theirs |= {f"h.{i}.{name}": array for name, array in block.items()}
    theirs |= scale("ln_f")
    named = {prefix + name: array for name, array in theirs.items()}
    if masks:
        named["lm_head.weight"] = theirs["wte.weight"].copy()
    return {str(name): named[name] for name in rng.permutation(list(named))}


def logits_slip(found, ids, tokens):
    """Not a table of finite numbers with a row for each id and a column for each word."""
    if slip := shape_slip(found, (len(ids), len(tokens))):
        return slip
    finite = np.isfinite(found).all()
    return None if finite else "Some of your logits are nan or inf; a finite number is expected in every place."
