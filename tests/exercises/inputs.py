"""What the arguments of each question are, for the lint of the graded inputs in lint.py.

A new question needs an entry: the sizes that its arguments have, by letters, or the reason why it has none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Inputs:
    """`sizes(*args)` gives letters and sizes; `scores(*args)` the numbers that enter a softmax."""

    sizes: Callable[..., dict[str, int]] | None = None
    scores: Callable[..., np.ndarray] | None = None
    alike: tuple[str, ...] = ()  # the checks in which sizes agree on purpose
    only_distinct: str = ""  # why one size may be a multiple of another
    no_sizes: str = ""  # why no sizes are named
    no_softmax: str = ""  # why scores are no scores of a softmax


def axes(*names: str) -> Callable[..., dict[str, int]]:
    """The letters of the axes of the array arguments in turn; the same letter has the same size everywhere."""

    def sizes(*args) -> dict[str, int]:
        found: dict[str, int] = {}
        arrays = [value for value in args if isinstance(value, np.ndarray)]
        for letters, array in zip(names, arrays, strict=True):
            for letter, size in zip(letters, array.shape, strict=True):
                if found.setdefault(letter, size) != size:
                    raise ValueError(f"{letter} is {found[letter]} and {size} in one case")
        return found

    return sizes


def heads_of_rows(x, W_in, n_heads, head):
    return {"N": len(x), "H": n_heads, "K": x.shape[1] // n_heads}


def patches_of_image(image, size):
    channels, rows, columns = image.shape
    return {"C": channels, "side": size, "down": rows // size, "across": columns // size}


def image_and_positions(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    return {"B": B, "C": C, "s": s, "down": rows // s, "across": columns // s, "D": len(W)}


def split_tokens(q, n_heads):
    return {"B": q.shape[0], "N": q.shape[1], "H": n_heads, "K": q.shape[2] // n_heads}


def stored_maps(qkv, out, n_heads):
    K = out.shape[1] // n_heads
    return {"H": n_heads, "K": K} | ({} if len(out) == n_heads * K else {"D": len(out)})


def kernel_and_tokens(kernel, n_tokens, border):
    """Once the kernel is as long as the sequence, on purpose."""
    return {"N": n_tokens} | ({"W": len(kernel)} if len(kernel) != n_tokens else {})


def batch_and_places(x, P, starts):
    """Once there are as many sentences as tokens, on purpose."""
    B, N, D = x.shape
    return {"N": N, "D": D, "L": len(P)} | ({"B": B} if B != N else {})


def grouped(q, k, v):
    return {"B": q.shape[0], "H": q.shape[1], "N": q.shape[2], "K": q.shape[3], "S": k.shape[2], "V": v.shape[3]}


def batch_layer(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    return {"B": B, "N": N, "D": D, "H": n_heads, "K": W_q.shape[1] // n_heads}


def axes_of_a_head(Q, K, V, *rest):
    """Under a causal mask there are as many sources as targets, on purpose."""
    sizes = {"K": len(Q), "N": Q.shape[1], "V": len(V)}
    return sizes if K.shape == Q.shape else sizes | {"S": K.shape[1]}


def scores_of_groups(q, k, v):
    return q @ k.repeat(q.shape[1] // k.shape[1], axis=1).swapaxes(2, 3) / np.sqrt(q.shape[3])


def scores_of_batch(x, W_q, W_k, W_v, W_o, n_heads, causal):
    q, k = (np.stack(np.split(x @ W, n_heads, axis=2)) for W in (W_q, W_k))
    return q @ k.swapaxes(2, 3) / np.sqrt(W_q.shape[1] // n_heads)


def scores_of_heads(X, U_q, U_k, U_v, U_o):
    return (U_k @ X).swapaxes(1, 2) @ (U_q @ X) / np.sqrt(U_q.shape[1])


def scores_of_rotary(q, k, v, *places):
    """Before the turns, which change no score's size."""
    return q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])


def head_by_head(W, n_heads, back=False):
    return {"H": n_heads, "K": len(W) // (3 * n_heads)} | ({"E": W.shape[1]} if W.ndim > 1 else {})


def blocks_of_text(Q, blocks, causal):
    return {"K": Q.shape[0], "N": Q.shape[1], "V": len(blocks[0][1])}


def scores_of_blocks(Q, blocks, causal):
    return np.concatenate([keys for keys, _ in blocks], axis=1).T @ Q / np.sqrt(len(Q))


def scores_of_pages(Q, pool_K, pool_V, tables, lengths):
    """Each query with each key of its own group in the pool; places that hold nothing are left out."""
    share = Q.shape[1] // pool_K.shape[1]
    table = np.einsum("bghk,pgkr->bghpr", Q.reshape(len(Q), -1, share, Q.shape[2]), pool_K) / np.sqrt(Q.shape[2])
    return table[np.isfinite(table)]


COUNTED = "the arguments are the sizes, and the task names those that may agree"

INPUTS = {
    ("01-tokens", "encode"): Inputs(no_sizes="a word and a list of pairs"),
    ("01-tokens", "embed"): Inputs(axes("DV", "N")),
    ("01-tokens", "counts"): Inputs(no_sizes=COUNTED),
    ("01-tokens", "patches"): Inputs(patches_of_image),
    ("01-tokens", "rows"): Inputs(heads_of_rows),
    ("01-tokens", "shift"): Inputs(axes("N")),
    ("01-tokens", "learn"): Inputs(no_sizes="a list of words"),
    ("02-attention", "waiting"): Inputs(no_sizes=COUNTED),
    ("02-attention", "softmax"): Inputs(axes("SN"), lambda scores, axis: scores),
    ("02-attention", "lookup"): Inputs(axes("KN", "KS", "VS"), lambda Q, K, V, temperature: K.T @ Q / temperature),
    ("02-attention", "convolution"): Inputs(kernel_and_tokens),
    ("02-attention", "hull"): Inputs(axes("DC", "DN")),  # C corners, D + 1 of them
    ("02-attention", "signs"): Inputs(axes("SN")),
    ("02-attention", "gradient"): Inputs(axes("DS", "SN", "DN"), lambda X, scores, dY: scores),
    ("03-self-attention", "weights"): Inputs(axes("SN"), lambda scores: scores),
    ("03-self-attention", "ladder"): Inputs(axes("DN", "KD", "KD")),
    ("03-self-attention", "rungs"): Inputs(axes("DN", "NN"), no_softmax="they are sorted by what could have made them"),
    ("03-self-attention", "scaling"): Inputs(
        axes("KN", "KS", "VS"), lambda Q, K, V: K.T @ Q / np.sqrt(len(K))
    ),
    ("03-self-attention", "dimensions"): Inputs(lambda *args: dict(zip("nmdkv", args, strict=False))),
    ("03-self-attention", "matrix-form"): Inputs(
        axes("ND", "KD", "KD", "VD"),
        lambda X, U_q, U_k, U_v: X @ U_k.T @ U_q @ X.T / np.sqrt(len(U_q)),
        alike=("square maps",),
    ),
    ("03-self-attention", "equivariance"): Inputs(
        axes("DN", "KD", "KD", "VD"), lambda X, U_q, U_k, U_v: X.T @ U_k.T @ U_q @ X / np.sqrt(len(U_q))
    ),
    ("04-multi-head", "split"): Inputs(split_tokens),
    ("04-multi-head", "join"): Inputs(axes("BHNK")),
    ("04-multi-head", "concatenate"): Inputs(axes("DN", "HKD", "HKD", "HVD", "HDV"), scores_of_heads),
    ("04-multi-head", "values"): Inputs(stored_maps),
    ("04-multi-head", "counts"): Inputs(no_sizes=COUNTED),
    ("04-multi-head", "groups"): Inputs(grouped, scores_of_groups),
    ("04-multi-head", "museum"): Inputs(batch_layer, scores_of_batch),
    ("05-feed-forward", "mlp"): Inputs(axes("DN", "FD", "F", "DF", "D"), alike=("equal sizes",)),
    ("05-feed-forward", "gelu"): Inputs(axes("DN")),
    ("05-feed-forward", "lamp"): Inputs(axes("W")),
    ("05-feed-forward", "position-wise"): Inputs(lambda Y, experiments: dict(zip("DN", Y.shape, strict=True))),
    ("05-feed-forward", "lone-token"): Inputs(no_sizes="all matrices of a stack are square, of one size"),
    ("05-feed-forward", "counts"): Inputs(no_sizes=COUNTED),
    ("05-feed-forward", "backward"): Inputs(axes("DN", "FD", "F", "DF", "DN"), alike=("equal sizes",)),
    ("06-position", "sinusoids"): Inputs(
        lambda n_tokens, d_model, start=0: {"N": n_tokens, "D": d_model}, only_distinct="d_model is even"
    ),
    ("06-position", "slip"): Inputs(no_sizes=COUNTED),
    ("06-position", "placing"): Inputs(batch_and_places),
    ("06-position", "relative"): Inputs(lambda q, r, n_sources: {"N": q.shape[-2], "K": q.shape[-1]}),
    ("06-position", "rotary"): Inputs(lambda x, positions: {"N": x.shape[-2], "D": x.shape[-1]}),
    ("06-position", "mask"): Inputs(no_sizes=COUNTED),
    ("06-position", "museum"): Inputs(
        lambda q, k, v, *places: {"N": q.shape[-2], "K": q.shape[-1], "V": v.shape[-1]},
        scores_of_rotary,
        only_distinct="the width of a head is even",
    ),
    ("07-residual-norm", "layer-norm"): Inputs(axes("DN", "D", "D")),
    ("07-residual-norm", "norms"): Inputs(axes("BDN")),
    ("07-residual-norm", "prints"): Inputs(axes("DN", "DN"), alike=("squares that hide a slip",)),
    ("07-residual-norm", "museum"): Inputs(axes("BND", "DD")),
    ("07-residual-norm", "block"): Inputs(lambda X, *rest: {"D": X.shape[0], "N": X.shape[1]}),
    ("07-residual-norm", "depth"): Inputs(axes("MDD", "D")),
    ("07-residual-norm", "backward"): Inputs(axes("DN", "D", "DN"), alike=("equal sizes",)),
    ("08-encoder-decoder", "mask"): Inputs(
        axes("BHNK", "BHSK", "BHSV", "NS"),
        lambda q, k, v, may_look: q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]),
    ),
    ("08-encoder-decoder", "cross"): Inputs(
        lambda x, z, norm, maps, H, causal: {
            "B": len(x), "N": x.shape[1], "K": x.shape[2] // H, **({} if z is None else {"S": z.shape[1]})
        },
        only_distinct="D is even and a product of the heads and their width",
    ),
    ("08-encoder-decoder", "encoder"): Inputs(lambda p, ids, H, positions=True: {"B": len(ids), "N": ids.shape[1]}),
    ("08-encoder-decoder", "decoder"): Inputs(
        lambda p, ids, memory, H: {"B": len(ids), "N": ids.shape[1], "S": memory.shape[1]}
    ),
    ("08-encoder-decoder", "count"): Inputs(no_sizes=COUNTED),
    ("08-encoder-decoder", "learn"): Inputs(
        lambda p, sources, targets, H: {"B": len(sources), "S": sources.shape[1], "N": targets.shape[1]},
        only_distinct="several lengths are small, so that the model trains quickly",
    ),
    ("08-encoder-decoder", "cache"): Inputs(no_sizes="old and new tokens are cut from one sequence"),
    ("09-language-model", "surprise"): Inputs(
        lambda P, text: {"V": len(P), "L": len(text)}, only_distinct="short texts"
    ),
    ("09-language-model", "bits"): Inputs(no_sizes="batches and tokens are cut from one log"),
    ("09-language-model", "discount"): Inputs(lambda ids, V, d: {"N": len(ids), "V": V}),
    ("09-language-model", "loss"): Inputs(
        lambda logits, ids, lengths: dict(zip("BTV", logits.shape, strict=True)), lambda logits, ids, lengths: logits
    ),
    ("09-language-model", "filter"): Inputs(
        lambda logits, *settings: dict(zip("BV", logits.shape, strict=True)),
        lambda logits, temperature, *cuts: logits / (temperature or 1),
    ),
    ("09-language-model", "induction"): Inputs(lambda A, ids: {"H": len(A), "N": len(ids)}),
    ("09-language-model", "pack"): Inputs(no_sizes="lists of whole numbers, so that the bits are exact"),
    ("10-images", "count"): Inputs(no_sizes=COUNTED),
    ("10-images", "tokens"): Inputs(image_and_positions),
    ("10-images", "pool"): Inputs(lambda x, h: {"B": len(x), "N": x.shape[1] - 1, "D": x.shape[2]}),
    ("10-images", "look"): Inputs(
        lambda A, rows: {"B": len(A), "H": A.shape[1], "down": rows, "across": (A.shape[2] - 1) // rows}
    ),
    ("10-images", "hide"): Inputs(lambda x, *rest: dict(zip("BND", x.shape, strict=True))),
    ("10-images", "loss"): Inputs(lambda drawn, *rest: dict(zip("BNL", drawn.shape, strict=True))),
    ("10-images", "resize"): Inputs(no_sizes="both grids are given as pairs, and once they agree in an axis"),
    ("11-translation", "batch"): Inputs(no_sizes="lists of sentences, each of its own length"),
    ("11-translation", "masks"): Inputs(
        lambda source, read, padding: dict(zip("BSN", (*source.shape, read.shape[1]), strict=True))
    ),
    ("11-translation", "loss"): Inputs(axes("BNV", "BN"), lambda logits, *rest: logits),
    ("11-translation", "museum"): Inputs(
        lambda p, source, read, padding: dict(zip("BSND", (*source.shape, read.shape[1], p["E"].shape[1]), strict=True))
    ),
    ("11-translation", "bleu"): Inputs(no_sizes="lists of sentences, each of its own length"),
    ("11-translation", "align"): Inputs(no_sizes="each sentence has lengths of its own"),
    ("11-translation", "beam"): Inputs(no_sizes=COUNTED),
    ("12-pretrained", "file"): Inputs(no_sizes="the bytes of a file"),
    ("12-pretrained", "names"): Inputs(no_sizes="a dict of arrays, of sizes of which none divides another"),
    ("12-pretrained", "restack"): Inputs(head_by_head),
    ("12-pretrained", "misfits"): Inputs(no_sizes="dicts of shapes and of arrays, of different sizes"),
    ("12-pretrained", "fold"): Inputs(no_sizes="all maps are square, of one size"),
    ("12-pretrained", "museum"): Inputs(no_sizes="a dict of arrays, of sizes of which none divides another"),
    ("12-pretrained", "logits"): Inputs(no_sizes="a dict of arrays, of sizes of which none divides another"),
    ("13-backward-by-hand", "softmax"): Inputs(axes("SN", "SN")),
    ("13-backward-by-hand", "attend"): Inputs(
        axes_of_a_head, lambda Q, K, V, *rest: K.T @ Q / np.sqrt(len(Q))
    ),
    ("13-backward-by-hand", "masks"): Inputs(axes("NN", "VN", "VN"), lambda C, *rest: C),
    ("13-backward-by-hand", "costs"): Inputs(no_sizes=COUNTED),
    ("13-backward-by-hand", "layer"): Inputs(
        axes("DN", "HKD", "HKD", "HVD", "HDV", "DN"), lambda *args: scores_of_heads(*args[:5])
    ),
    ("13-backward-by-hand", "blocks"): Inputs(
        axes("KN", "KS", "VS", "VN", "N", "VN"), lambda Q, K, *rest: K.T @ Q / np.sqrt(len(Q))
    ),
    ("14-cost", "exponent"): Inputs(axes("I", "I")),
    ("14-cost", "block"): Inputs(no_sizes=COUNTED),
    ("14-cost", "cache"): Inputs(no_sizes=COUNTED),
    ("14-cost", "merge"): Inputs(axes("N", "N", "VN", "N", "N", "VN")),
    ("14-cost", "blocks"): Inputs(blocks_of_text, scores_of_blocks),
    ("14-cost", "rolling"): Inputs(
        axes("K", "V", "K", "KW", "VW"), lambda k, v, q, keys, *rest: q @ keys / np.sqrt(len(q))
    ),
    ("14-cost", "paged"): Inputs(
        lambda Q, pool_K, pool_V, *rest: {"K": Q.shape[2], "V": pool_V.shape[2], "R": pool_V.shape[3]}, scores_of_pages
    ),
    ("15-gpt3", "parameters"): Inputs(no_sizes=COUNTED),
    ("15-gpt3", "step"): Inputs(no_sizes=COUNTED),
    ("15-gpt3", "memory"): Inputs(no_sizes=COUNTED),
    ("15-gpt3", "split"): Inputs(axes("FD", "F", "DF", "D")),
    ("15-gpt3", "museum"): Inputs(lambda W, *rest: {"E": W.shape[0], "D": W.shape[1]}),
    ("15-gpt3", "pipeline"): Inputs(lambda forward, backward, m: {"w": len(forward), "m": m}),
    ("15-gpt3", "adam"): Inputs(axes("P", "RP")),
    ("16-what-comes-after", "graph"): Inputs(
        lambda q, k, v, edges, loops: {"N": len(q), "K": q.shape[1], "V": v.shape[1]},
        lambda q, k, *rest: q @ k.T / np.sqrt(q.shape[1]),
    ),
    ("16-what-comes-after", "gated"): Inputs(axes("ND", "D", "FD", "FD", "DF")),
    ("16-what-comes-after", "experts"): Inputs(axes("NE", "NED"), lambda logits, *rest: logits),
    ("16-what-comes-after", "museum"): Inputs(axes("NK", "NK", "NV")),
    ("16-what-comes-after", "space"): Inputs(axes("ND", "DR", "DR", "DR", "DR")),
    ("16-what-comes-after", "chunks"): Inputs(axes("NK", "NK", "NV", "N")),
}  # fmt: skip
