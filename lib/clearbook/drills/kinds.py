"""What the drills ask: for every kind the arrays that are built, the sizes that are drawn, and the question.

The arrays are built on torch's meta device, where they have shapes and no numbers. Formulas are Python in the letters
of the sizes; they are shown beside the answers, which come from the arrays.
"""

import torch
from clearformer.attention import attend
from clearformer.blocks import Block
from clearformer.cache import KVCache
from clearformer.layers import FeedForward
from clearformer.multihead import MultiHeadAttention
from clearformer.patches import patchify
from torch import empty, nn
from torch.utils.flop_counter import FlopCounterMode

from clearbook.drills.kind import Kind
from clearbook.drills.later_kinds import LATER


def _attention(n, d, k, v):
    return _cross(n, n, d, k, v)


def _cross(n, m, d, k, v):
    Q, K, V = empty(n, d) @ empty(d, k), empty(m, d) @ empty(d, k), empty(m, d) @ empty(d, v)
    weights = (Q @ K.mT).softmax(dim=1)
    return {"Q": Q, "K": K, "V": V, "scores": Q @ K.mT, "weights": weights, "O": weights @ V}


def _columns(D, N, S, K, Kv):
    Q, keys, V = empty(K, D) @ empty(D, N), empty(K, D) @ empty(D, S), empty(Kv, D) @ empty(D, S)
    A = (keys.mT @ Q).softmax(dim=0)
    return {"Q": Q, "keys": keys, "V": V, "A": A, "Y": V @ A}


def _heads(B, N, H, K, D):
    q, k, v = (t.unflatten(2, (H, K)).transpose(1, 2) for t in (empty(B, N, D) @ empty(D, 3 * D)).split(D, dim=2))
    weights = (q @ k.mT).softmax(dim=3)
    joined = (weights @ v).transpose(1, 2).flatten(2)
    return {"q": q, "weights": weights, "y": weights @ v, "joined": joined, "output": joined @ empty(D, D)}


def _groups(B, N, G, r, K, H, D):
    layer, cache = MultiHeadAttention(D, H, n_kv_heads=G, bias=False, attend=attend), KVCache(1, B, G, N, K)[0]
    weights = layer(empty(B, N, D), cache=cache)[1]
    kept = sum(stored[0, :, 0].numel() for stored in cache.filled())
    return {"qkv_weight": layer.qkv.weight, "keys": cache.k, "weights": weights, "kept_per_token": kept}


def _embedding(B, N, V, D):
    table = nn.Embedding(V, D)
    x = table(empty(B, N, dtype=torch.long))
    return {"weight": table.weight, "x": x, "logits": x @ table.weight.mT, "parameters": table.weight.numel()}


def _patches(B, C, s, D, rows, columns, **_):
    patches = patchify(empty(B, C, rows, columns), s)
    project = nn.Linear(patches.shape[2], D)
    tokens = torch.cat([empty(B, 1, D), project(patches)], dim=1)
    return {"patches": patches, "weight": project.weight, "tokens": tokens}


def _parameters(H, K, r, D, F):
    parts = {"attention": MultiHeadAttention(D, H), "feed_forward": FeedForward(D, F), "block": Block(D, H, F)}
    return {name: sum(p.numel() for p in part.parameters()) for name, part in parts.items()}


def _flops(N, H, K, D):
    layer, x = MultiHeadAttention(D, H, attend=attend), empty(1, N, D)
    total, projections = _count_flops(lambda: layer(x)), _count_flops(lambda: layer.out(layer.qkv(x)[..., :D]))
    return {"projections": projections, "pairs": total - projections, "total": total}


def _count_flops(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def _cache(M, B, G, N, K):
    stored = [t for layer in KVCache(M, B, G, N, K, dtype=torch.bfloat16).layers for t in (layer.k, layer.v)]
    return {"numbers": sum(t.numel() for t in stored), "bytes": sum(t.nbytes for t in stored)}


def _decode(M, B, G, r, N, K, H, D, F):
    attention, feed_forward = MultiHeadAttention(D, H, n_kv_heads=G, bias=False), FeedForward(D, F)
    matrices = [p.bfloat16() for part in (attention, feed_forward) for p in part.parameters() if p.dim() == 2]
    x = empty(B, 1, D)
    flops = _count_flops(lambda: feed_forward(attention.out(attention.qkv(x)[..., :D])))
    return {"weights": M * sum(p.nbytes for p in matrices), "cache": _cache(M, B, G, N, K)["bytes"], "flops": M * flops}


def _roofline(n, D, E, R, W):
    weight, x = empty(E, D, dtype=torch.bfloat16), empty(n, D, dtype=torch.bfloat16)
    flops, y = _count_flops(lambda: x @ weight.mT), x @ weight.mT
    moved = sum(array.nbytes for array in (weight, x, y))
    return {"flops": flops, "moved": moved, "arithmetic": flops // (1000 * R), "traffic": moved // W}


def _training(M, H, K, r, D, F):
    weights = [p.bfloat16() for p in Block(D, H, F).parameters()]
    gradients, others = map(torch.empty_like, weights), [p.float() for p in weights for _ in ("copy", "mean", "square")]
    states = [*weights, *gradients, *others]
    return {"writing": M * sum(p.nbytes for p in weights), "training": M * sum(p.nbytes for p in states)}


SMALL, HEADS = range(3, 20), {"H": range(2, 9), "K": range(3, 13)}
KINDS = {
    "attention": Kind(
        _attention,
        {"n": SMALL, "d": SMALL, "k": SMALL, "v": SMALL},
        {},
        "Tokens are rows, as on the lecture's slides: n = {n} tokens of width d = {d}. `W_Q` and `W_K` have k = {k} "
        "columns, `W_V` has v = {v}. Shapes of `Q`, `K`, `V`, of the `scores` before the softmax and the "
        "`weights` after it, and of the output `O`?",
        {"Q": "(n, k)", "K": "(n, k)", "V": "(n, v)", "scores": "(n, n)", "weights": "(n, n)", "O": "(n, v)"},
    ),
    "cross-attention": Kind(
        _cross,
        {"n": SMALL, "m": SMALL, "d": SMALL, "k": SMALL, "v": SMALL},
        {},
        "A decoder with n = {n} tokens looks at m = {m} outputs of an encoder, all of width d = {d}, all in rows. "
        "Queries and keys have width k = {k}, values v = {v}. Shapes of `Q`, `K`, `V`, `scores`, `weights`, `O`?",
        {"Q": "(n, k)", "K": "(m, k)", "V": "(m, v)", "scores": "(n, m)", "weights": "(n, m)", "O": "(n, v)"},
    ),
    "columns": Kind(
        _columns,
        {"D": SMALL, "N": SMALL, "S": SMALL, "K": SMALL, "Kv": SMALL},
        {},
        "Tokens are columns, as in Turner's note: N = {N} targets look at S = {S} sources, all of width D = {D}. "
        "`U_q` and `U_k` have K = {K} rows, `U_v` has Kv = {Kv}. Shapes of `Q`, `keys`, `V`, of the weights `A` and "
        "the output `Y`?",
        {"Q": "(K, N)", "keys": "(K, S)", "V": "(Kv, S)", "A": "(S, N)", "Y": "(Kv, N)"},
    ),
    "heads": Kind(
        _heads,
        {"B": range(2, 9), "N": SMALL, **HEADS},
        {"D": "H * K"},
        "A torch batch of B = {B} sequences of N = {N} tokens of width D = {D} goes through H = {H} heads. Shapes of "
        "`q` after the cut into heads, of the `weights`, of the heads' outputs `y`, of these `joined`, and of the "
        "layer's `output`?",
        {
            "q": "(B, H, N, D // H)",
            "weights": "(B, H, N, N)",
            "y": "(B, H, N, D // H)",
            "joined": "(B, N, D)",
            "output": "(B, N, D)",
        },
    ),
    "groups": Kind(
        _groups,
        {"B": range(2, 9), "N": SMALL, "G": range(2, 6), "r": range(2, 5), "K": range(3, 13)},
        {"H": "G * r", "D": "H * K"},
        "H = {H} heads of queries share G = {G} heads of keys and values; D = {D}, no biases, B = {B} sequences of "
        "N = {N} tokens. Shapes of `qkv_weight` (output × input, as torch stores it), of the cached `keys` and of the "
        "`weights`; and how many numbers are `kept_per_token` of one sequence, keys and values together?",
        {
            "qkv_weight": "(D + 2 * G * D // H, D)",
            "keys": "(B, G, N, D // H)",
            "weights": "(B, H, N, N)",
            "kept_per_token": "2 * G * D // H",
        },
        {"kept_per_token": {"G * D // H": "keys or values; both are kept.", "2 * D": "that is without sharing."}},
    ),
    "embedding": Kind(
        _embedding,
        {"B": range(2, 9), "N": SMALL, "V": range(200, 60_000), "D": range(20, 2_000)},
        {},
        "B = {B} sequences of N = {N} ids from a vocabulary of V = {V} are embedded in width D = {D}, in torch. Shapes "
        "of the embedding's `weight`, of the tokens `x`, and of the `logits` that the same weight makes from them? How "
        "many `parameters` is that?",
        {"weight": "(V, D)", "x": "(B, N, D)", "logits": "(B, N, V)", "parameters": "V * D"},
        {"parameters": {"2 * V * D": "the weight is used twice and stored once."}},
    ),
    "patches": Kind(
        _patches,
        {"B": range(2, 9), "C": range(1, 5), "s": SMALL, "a": SMALL, "b": SMALL, "D": range(20, 1_000)},
        {"rows": "a * s", "columns": "b * s", "N": "a * b", "P": "C * s * s"},
        "B = {B} images of C × rows × columns = {C} × {rows} × {columns} are cut into squares of s × s = {s} × {s} "
        "pixels, and each is projected to width D = {D} by a `torch.nn.Linear`. Shapes of the `patches`, of the "
        "projection's `weight`, and of the `tokens` with a class token in front?",
        {
            "patches": "(B, rows // s * columns // s, C * s * s)",
            "weight": "(D, C * s * s)",
            "tokens": "(B, rows // s * columns // s + 1, D)",
        },
    ),
    "parameters": Kind(
        _parameters,
        {**HEADS, "r": range(2, 6)},
        {"D": "H * K", "F": "r * D"},
        "Width D = {D}, H = {H} heads, hidden width F = {F}, biases everywhere. Count the parameters of the "
        "multi-head `attention`, of the `feed_forward` layer, and of the whole `block` with its two LayerNorms.",
        {
            "attention": "4 * D * D + 4 * D",
            "feed_forward": "2 * D * F + F + D",
            "block": "4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D",
        },
        {
            "attention": {
                "4 * D * D": "the biases are missing.",
                "3 * D * D + 3 * D": "one of the four is missing.",
                "H * (4 * D * D + 4 * D)": "a head has width D / H.",
            },
            "feed_forward": {"2 * D * F": "the biases are missing."},
            "block": {
                "4 * D * D + 5 * D + 2 * D * F + F": "the norms are missing.",
                "4 * D * D + 7 * D + 2 * D * F + F": "each of the two norms has a gain and a shift.",
            },
        },
    ),
    "flops": Kind(
        _flops,
        {"N": range(16, 129), **HEADS},
        {"D": "H * K"},
        "One sequence of N = {N} tokens of width D = {D} goes through attention with H = {H} heads. How many FLOPs of "
        "matrix products are in the four `projections`, in what is done for `pairs` of tokens, and in `total`?",
        {"projections": "8 * D * D * N", "pairs": "4 * D * N * N", "total": "8 * D * D * N + 4 * D * N * N"},
        {
            "projections": {
                "4 * D * D * N": "half: a multiplication and an addition are two FLOPs.",
                "6 * D * D * N": "the output projection is missing.",
            },
            "pairs": {
                "2 * D * N * N": "half: count the scores, and the averages; each product has two FLOPs a term.",
                "4 * H * D * N * N": "a head has width D / H.",
            },
        },
    ),
    "cache": Kind(
        _cache,
        {"M": range(4, 97), "B": range(2, 33), "G": range(2, 33), "N": range(512, 8_193), "K": range(32, 257)},
        {},
        "A model of M = {M} layers with G = {G} heads of keys and values, each of width K = {K}, writes B = {B} texts "
        "of N = {N} tokens with a KV cache in bfloat16. How many `numbers` does it hold, and how many `bytes`?",
        {"numbers": "2 * M * B * G * N * K", "bytes": "4 * M * B * G * N * K"},
        {
            "numbers": {
                "M * B * G * N * K": "keys or values; both are kept.",
                "2 * B * G * N * K": "for one layer only.",
            },
            "bytes": {
                "2 * M * B * G * N * K": "a bfloat16 number takes two bytes.",
                "8 * M * B * G * N * K": "that would be float32.",
            },
        },
    ),
    "decode-step": Kind(
        _decode,
        {
            "M": range(8, 81),
            "B": range(2, 65),
            "G": range(2, 9),
            "r": range(2, 9),
            "N": range(512, 8_193),
            "K": range(32, 129),
        },
        {"H": "G * r", "D": "H * K", "F": "4 * D"},
        "A model of M = {M} blocks of width D = {D}, with H = {H} heads that share G = {G} heads of keys and values "
        "and a hidden width of F = {F}, writes one token more for B = {B} texts at once. Each has N = {N} tokens in a "
        "cache; cache and weights are in bfloat16. How many bytes are fetched of the blocks' `weights` (biases and "
        "norms left out), how many of the `cache`, and how many `flops` do the products with these weights take?",
        {
            "weights": "2 * M * (2 * D * D + 2 * G * D // H * D + 2 * D * F)",
            "cache": "4 * M * B * N * G * D // H",
            "flops": "2 * M * B * (2 * D * D + 2 * G * D // H * D + 2 * D * F)",
        },
        {
            "weights": {
                "2 * M * B * (2 * D * D + 2 * G * D // H * D + 2 * D * F)": "they are fetched once for all texts.",
                "2 * M * (4 * D * D + 2 * D * F)": "keys and values are made for the shared heads alone.",
            },
            "cache": {
                "4 * M * N * G * D // H": "that is one text's; each has its own.",
                "4 * M * B * N * D": "that is without sharing.",
            },
            "flops": {"2 * M * (2 * D * D + 2 * G * D // H * D + 2 * D * F)": "every text has a token to multiply."},
        },
    ),
    "roofline": Kind(
        _roofline,
        {
            "n": range(1, 600),
            "D": range(1_024, 16_385, 128),
            "E": range(1_024, 16_385, 128),
            "R": range(100, 2_001, 20),
            "W": range(900, 8_001, 50),
        },
        {},
        "n = {n} tokens of width D = {D} are multiplied by an E × D matrix, E = {E}, all in bfloat16, on a machine of "
        "R = {R} teraflop/s and W = {W} gigabytes a second. How many `flops` is that, how many bytes are `moved` if "
        "each of the three matrices is moved once? How many nanoseconds at least, rounded down, does the `arithmetic` "
        "take, and how many the `traffic`?",
        {
            "flops": "2 * n * D * E",
            "moved": "2 * (D * E + n * D + n * E)",
            "arithmetic": "2 * n * D * E // (1000 * R)",
            "traffic": "2 * (D * E + n * D + n * E) // W",
        },
        {
            "flops": {"n * D * E": "half: a multiplication and an addition are two FLOPs."},
            "moved": {
                "2 * D * E": "tokens come, and results go.",
                "2 * (D * E + n * D)": "the results go back, too.",
                "4 * (D * E + n * D + n * E)": "a bfloat16 number has two bytes.",
            },
        },
    ),
    "training": Kind(
        _training,
        {"M": range(4, 97), "H": range(8, 97), "K": range(64, 129, 8), "r": range(2, 6)},
        {"D": "H * K", "F": "r * D"},
        "M = {M} blocks have width D = {D}, H = {H} heads, hidden width F = {F}, and biases everywhere. How many bytes "
        "do their weights take for `writing`, in bfloat16? And how many do all states take for `training` in mixed "
        "precision with Adam: weights and gradients in bfloat16, a copy and two moments in float32?",
        {
            "writing": "2 * M * (4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D)",
            "training": "16 * M * (4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D)",
        },
        {
            "training": {
                "12 * M * (4 * D * D + 9 * D + 2 * D * F + F)": "weights and gradients have two bytes each.",
                "14 * M * (4 * D * D + 9 * D + 2 * D * F + F)": "the gradients have two bytes as well.",
                "8 * M * (4 * D * D + 9 * D + 2 * D * F + F)": "copy and moments are in float32.",
            }
        },
    ),
    **LATER,
}
