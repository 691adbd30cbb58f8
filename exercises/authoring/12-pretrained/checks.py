"""Checks of exercise 12: files made byte by byte, weights all at random, sizes of which none divides another."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import close, draw_sizes, shape_slip
from clearcheck.exercise import AnswerProblem, NotAnswered, Stopped

_spec = spec_from_file_location("clearcheck_parts_12", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

HEADS = (3, 4, 5)  # heads and their widths, small enough for models of many blocks
WORDS, PLACES, HIDDEN = (37, 41, 43), (7, 11, 13), (17, 19, 23, 29)  # none divides another, or a product of heads

# file

KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
NAMES = ("wte.weight", "h.0.ln_1.bias", "größe", "h.10.mlp.c_fc.weight", "a", "lm_head.bias", "ε", "z.weight")


def encoded(array, dtype) -> bytes:
    if dtype != "BF16":
        return array.astype(KINDS[dtype]).tobytes()
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()


def decoded(data: bytes, dtype) -> np.ndarray:
    if dtype != "BF16":
        return np.frombuffer(data, KINDS[dtype]).astype(np.float64)
    return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").astype(np.float64)


def written(rng, tensors, metadata=True, spaces=0) -> np.ndarray:
    """A file whose header names the tensors in another order than that in which their bytes lie."""
    body, places = b"", {}
    for name in rng.permutation(list(tensors)):
        array, dtype = tensors[name]
        data = encoded(array, dtype)
        places[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    header = {"__metadata__": {"format": "pt"}} if metadata else {}
    for name in sorted(tensors, reverse=bool(rng.integers(2))):
        header[name] = places[name]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (spaces + -len(text) % 8)
    return np.frombuffer(len(text).to_bytes(8, "little") + text + body, np.uint8)


def draw_tensors(rng, dtypes, n_tensors=5):
    """Tensors with one, two and three axes, one a single number, of sizes of which none divides another."""
    names = [str(name) for name in rng.permutation(NAMES)[:n_tensors]]
    shapes = [tuple(draw_sizes(rng, axes)) for axes in (2, 1, 3, 0, 2, 2, 1)]
    found = {}
    for place, (name, shape) in enumerate(zip(names, shapes, strict=False)):
        found[name] = (rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3), dtypes[place % len(dtypes)])
    return found


def ordinary_files(rng):
    return [
        (written(rng, draw_tensors(rng, ["F32"])),),
        (written(rng, draw_tensors(rng, ["F32"]), metadata=False),),
        (written(rng, draw_tensors(rng, ["F32", "F64"])),),
    ]


def half_files(rng):
    return [
        (written(rng, draw_tensors(rng, dtypes), bool(rng.integers(2))),)
        for dtypes in (["F16"], ["BF16"], ["F16", "BF16", "F32"])
    ]


def odd_files(rng):
    """Headers of less than 256 bytes and of many, an empty tensor, and no tensor at all."""
    small = {"a": (rng.normal(size=draw_sizes(rng, 2)), "F32")}
    empty = draw_tensors(rng, ["F32"], 3) | {"none": (np.zeros((0, 4)), "F32")}
    return [
        (written(rng, small, metadata=False),),
        (written(rng, draw_tensors(rng, ["F64", "F32"]), spaces=8 * int(rng.integers(90, 200))),),
        (written(rng, empty),),
        (written(rng, {}, metadata=bool(rng.integers(2)), spaces=8 * int(rng.integers(1, 9))),),
    ]


def read_tensors(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"a file of {len(data)} bytes, of which the header alone should fill {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if end != len(data):
        raise ValueError(f"a file of {len(data)} bytes, its header speaks of {end}")
    tensors = {}
    for name, entry in header.items():
        first, last = (start + offset for offset in entry["data_offsets"])
        tensors[name] = decoded(data[first:last], entry["dtype"]).reshape(entry["shape"])
    return tensors


def refusal(ask, content):
    """How the function refused a file: the kind of exception and its text, or None where it gave a result."""
    try:
        ask(content)
    except (NotAnswered, Stopped):
        raise
    except AnswerProblem:
        reply = ask.calls[-1].reply
        return (reply["type"], reply["text"]) if reply["kind"] == "raised" else None
    return None


def damaged_files(ask, rng):
    whole = written(rng, draw_tensors(rng, ["F32"]))
    start = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    more = rng.integers(0, 256, 4 * int(rng.integers(2, 9)), dtype=np.uint8)
    read = ask(whole)
    if not isinstance(read, dict):
        return "For a file that is whole your function should return a dict."
    if any(array.dtype != np.float64 for array in read.values() if isinstance(array, np.ndarray)):
        return "Every array should be of dtype float64, but one of yours is not."
    damages = {
        "lacks its last byte": whole[:-1],
        "lacks its last numbers": whole[: -4 * int(rng.integers(1, 4))],
        "goes on after its last tensor": np.concatenate([whole, more]),
        "ends within its header": whole[: start - int(rng.integers(3, 30))],
    }
    refusals = {damage: refusal(ask, content.copy()) for damage, content in damages.items()}
    for damage, content in damages.items():
        if refusals[damage] is None:
            return f"Your function returns a result for a file that {damage}; it should raise a ValueError."
        kind, text = refusals[damage]
        if kind != "ValueError":
            return f"For a file that {damage} your function raises {kind}; a ValueError of yours is expected."
        wanted = {"came": len(content)} | ({} if len(content) < start else {"should have come": len(whole)})
        for what, number in wanted.items():
            if str(number) not in text.replace(",", "").replace("_", ""):
                return f"For a file that {damage} the text of your ValueError does not say how many bytes {what}."
    return None


# names


def draw_sizes_of_gpt2(rng, n_blocks=2, square=False):
    (H, K), V, L, F = draw_sizes(rng, 2, HEADS), rng.choice(WORDS), rng.choice(PLACES), rng.choice(HIDDEN)
    D = H * K
    return {
        "n_embd": D, "n_head": H, "n_layer": n_blocks, "vocab_size": int(V), "n_positions": int(L),
        "n_inner": D if square else int(F),
    }  # fmt: skip


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


def files_of_gpt2(**options):
    settings = options.pop("settings", ({},))

    def cases(rng):
        return [(draw_gpt2(rng, draw_sizes_of_gpt2(rng, **setting), **options),) for setting in settings]

    return cases


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


# restack


def restack(W, n_heads, back=False):
    rest = W.shape[1:]
    first, second = (3, n_heads) if back else (n_heads, 3)
    blocks = W.reshape(first, second, len(W) // (3 * n_heads), *rest)
    return np.swapaxes(blocks, 0, 1).reshape(W.shape)


def draw_stack(rng, back, bias=False, n_heads=None):
    H, K, E = draw_sizes(rng, 3, (4, 5, 7, 9, 11, 13))
    H = n_heads or H
    return (rng.normal(size=(3 * H * K, *([] if bias else [E]))), H, *([] if back is None else [back]))


def stacks(*settings):
    return lambda rng: [draw_stack(rng, *setting) for setting in settings]


def there_and_back(ask, rng):
    for bias in (False, True):
        W, n_heads, _ = draw_stack(rng, False, bias)
        what = "a bias" if bias else "a matrix"
        there = ask(W, n_heads, False)
        if slip := shape_slip(there, W.shape, f"For {what} the result"):
            return slip
        if close(there, W):
            return f"For {what} of {n_heads} heads something has to move, but your result is what came in."
        back = ask(there, n_heads, True)
        if slip := shape_slip(back, W.shape, f"For {what} the way back"):
            return slip
        if not close(back, W):
            return f"There and back should give {what} as it was, but yours comes out otherwise."
        if close(ask(W, n_heads, True), there):
            return f"For {what} of {n_heads} heads the way there and the way back differ, but yours give the same."
    W, n_heads, _ = draw_stack(rng, False, n_heads=1)
    if not close(ask(W, 1, False), W):
        return "With a single head both orders are the same, but you move something."
    return None


# misfits


def draw_shapes(rng, n_blocks=2):
    D, V, F = draw_sizes(rng, 3)
    shapes = {"tokens": (V, D), "norm.weight": (D,), "head": (V, D)}
    for i in range(n_blocks):
        shapes |= {f"blocks.{i}.q": (D, D), f"blocks.{i}.up": (F, D), f"blocks.{i}.down": (D, F), f"blocks.{i}.b": (F,)}
    shapes = {str(name): shapes[name] for name in rng.permutation(list(shapes))}
    return shapes, {name: rng.normal(size=shape) for name, shape in shapes.items()}


def shuffled(rng, tensors):
    return {str(name): tensors[name] for name in rng.permutation(list(tensors))}


def missing_and_unexpected(rng):
    cases = []
    for n_lost, n_more in ((2, 0), (0, 2), (3, 3)):
        shapes, tensors = draw_shapes(rng)
        for name in rng.permutation(list(shapes))[:n_lost]:
            del tensors[str(name)]
        for number in rng.permutation(9)[:n_more]:
            tensors[f"blocks.{2 + number}.q"] = rng.normal(size=shapes["blocks.0.q"])
        cases.append((shapes, shuffled(rng, tensors), {}))
    return cases


def other_shapes(rng):
    cases = []
    for kind in ("transposed", "one row more", "one column more", "other axes", "flat"):
        shapes, tensors = draw_shapes(rng)
        names = rng.permutation([name for name, shape in shapes.items() if len(set(shape)) == 2])[:3]
        for name in map(str, names):
            found = tensors[name]
            tensors[name] = {
                "transposed": found.T.copy(), "one row more": np.vstack([found, found[:1]]),
                "one column more": np.hstack([found, found[:, :1]]),
                "other axes": found[None], "flat": found.ravel(),
            }[kind]  # fmt: skip
        if kind == "one row more":
            del tensors["norm.weight"]
            tensors["norm.gamma"] = rng.normal(size=shapes["norm.weight"])
        cases.append((shapes, shuffled(rng, tensors), {}))
    return cases


def tied(rng):
    """A weight under its second name only, under both and equal, and under both and not equal in various ways."""
    cases = []
    for kind in (
        "second",
        "equal",
        "both other",
        "one entry",
        "a hair",
        "transposed",
        "neither",
        "second misshapen",
        "first misshapen",
    ):
        shapes, tensors = draw_shapes(rng, 1)
        shapes.pop("head")
        head, ties = tensors.pop("head"), {"head": "tokens", "norm.gamma": "norm.weight"}
        if kind == "equal":
            head = tensors["tokens"].copy()
        if kind == "one entry":
            head = tensors["tokens"].copy()
            head[-1, -1] += 0.5
        if kind == "a hair":
            head = tensors["tokens"] * (1 + 1e-9)
        if kind == "first misshapen":
            tensors["tokens"] = head.T.copy()
        if kind == "transposed":
            head = tensors["tokens"].T.copy()
        if kind in ("second", "second misshapen"):
            head = tensors.pop("tokens") if kind == "second" else tensors.pop("tokens").T.copy()
        if kind == "neither":
            del tensors["tokens"]
        else:
            tensors["head"] = head
        if kind in ("second", "one entry"):
            tensors["norm.gamma"] = tensors.pop("norm.weight")
        cases.append((shapes, shuffled(rng, tensors), ties))
    return cases


def misfits(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    seconds = {first: [second for second in ties if ties[second] == first] for first in shapes}
    for name in shapes:
        if not any(known in tensors for known in (name, *seconds[name])):
            found["missing"].append(name)
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif name in ties and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


def everything_at_once(rng):
    shapes, tensors = draw_shapes(rng)
    del tensors["blocks.1.q"], shapes["head"]
    tensors |= {"blocks.0.down": tensors["blocks.0.down"].T.copy(), "blocks.0.bias": rng.normal(size=3)}
    tensors["blocks.1.b"] = tensors["blocks.1.b"][:-1].copy()
    complete = draw_shapes(rng)
    ties = {"head": "tokens"}
    return [(shapes, shuffled(rng, tensors), ties), (*complete, {}), ({}, {}, {}), (complete[0], {}, {})]


# fold


def draw_layer(rng, gain=1.0):
    H, K = draw_sizes(rng, 2, HEADS)
    D = H * K
    layer = {name: (rng.normal(size=(D, D)) / np.sqrt(D), rng.normal(size=D)) for name in ("q", "k", "v", "out")}
    W, b = layer["q"]
    layer["q"] = gain * W, gain * b
    return {"norm": (rng.uniform(0.5, 1.5, size=D) * rng.choice([-1, 1], size=D), rng.normal(size=D)), **layer}


def fold(layer):
    scale, shift = layer["norm"]
    (q, b_q), (k, _), (v, b_v), (out, b_out) = (layer[name] for name in ("q", "k", "v", "out"))
    nothing = np.zeros(len(scale))
    return {
        "norm": (np.ones(len(scale)), nothing),
        "q": (q * scale, b_q + q @ shift),
        "k": (k * scale, nothing),
        "v": (v * scale, nothing),
        "out": (out, b_out + out @ (v @ shift + b_v)),
    }


def layers_to_fold(rng):
    return [(draw_layer(rng),), (draw_layer(rng),), (draw_layer(rng, 1e4),)]


def run_layer(layer, x, n_heads, may_look):
    pairs = {f"{name}.{kind}": value for name in layer for kind, value in zip(("weight", "bias"), layer[name])}  # noqa: B905
    z = parts.norm(x, pairs, "norm", 1e-5)
    q, k, v = (parts.linear(z, pairs, part) for part in "qkv")
    return parts.linear(parts.attend(q, k, v, n_heads, may_look), pairs, "out")


def layer_slip(found, layer):
    """A sentence when the result has not the form of a layer, else None."""
    if not isinstance(found, dict) or found.keys() != layer.keys():
        return "The result should be a dict with the keys of the layer that came in."
    for name, pair in layer.items():
        if not isinstance(found[name], tuple | list) or len(found[name]) != 2:
            return f"Under {name!r} a pair is expected."
        for what, array, old in zip(("first", "second"), found[name], pair, strict=True):
            if slip := shape_slip(array, old.shape, f"The {what} of your pair {name!r}"):
                return slip
    return None


def folded_part(*names):
    """A check of some entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        layer = draw_layer(rng)
        found, expected = ask(layer), fold(layer)
        if slip := layer_slip(found, layer):
            return slip
        for name in names:
            for what, array, right in zip(("first", "second"), found[name], expected[name], strict=True):
                if not close(array, right):
                    return f"The {what} of your pair {name!r} is not right; others are not looked at here."
        return None

    return test


def same_function(ask, rng):
    for gain in (1.0, 30.0):
        layer = draw_layer(rng, gain)
        D, N = len(layer["norm"][0]), 5
        n_heads = next(H for H in HEADS if D % H == 0)
        found = ask(layer)
        if slip := layer_slip(found, layer):
            return slip
        x, causal = rng.normal(size=(N, D)) + 2, np.tri(N, dtype=bool)
        before, after = (run_layer(it, x, n_heads, causal) for it in (layer, found))
        if not close(after, before, 1e-8):
            off = np.abs(after - before).max()
            return f"Your layer is another function: on five tokens it differs by up to {off:.3g}."
        for name, expected in (("k", 0.0), ("v", 0.0), ("norm", 0.0)):
            if np.abs(found[name][1] - expected).max() > 0:
                return f"The second of the pair {name!r} should be all zeros, but yours is not."
        if not (found["norm"][0] == 1).all():
            return "The scale of the norm should be all ones, but yours is not."
    return None


# museum


def bert_logits(w, config, ids, types, real):
    eps, act, n_heads = config["layer_norm_eps"], parts.ACTIVATIONS[config["hidden_act"]], config["num_attention_heads"]
    x = parts.norm(w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types], w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (parts.linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = parts.linear(parts.attend(q, k, v, n_heads, real), w, f"blocks.{i}.out")
        x = parts.norm(x + y, w, f"blocks.{i}.norm_1", eps)
        y = parts.linear(act(parts.linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
        x = parts.norm(x + y, w, f"blocks.{i}.norm_2", eps)
    y = parts.norm(act(parts.linear(x, w, "transform")), w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


def draw_bert(rng, eps=1e-12, act="gelu", gain=1.0, n_blocks=1):
    (H, K), V, L, F = draw_sizes(rng, 2, HEADS), rng.choice(WORDS), rng.choice(PLACES), rng.choice(HIDDEN)
    D, M = H * K, n_blocks
    config = {"hidden_act": act, "layer_norm_eps": eps, "num_attention_heads": H, "num_hidden_layers": M}
    w = {"tokens": 0.5 * rng.normal(size=(V, D)), "positions": 0.5 * rng.normal(size=(L + 4, D))}
    w |= {"types": 0.5 * rng.normal(size=(2, D)), "head.bias": rng.normal(size=V)}
    maps = {"transform": (D, D)}
    for i in range(M):
        maps |= {f"blocks.{i}.{part}": (D, D) for part in ("q", "k", "v", "out")}
        maps |= {f"blocks.{i}.up": (F, D), f"blocks.{i}.down": (D, F)}
    for name, shape in maps.items():
        w[f"{name}.weight"] = rng.normal(size=shape) / np.sqrt(shape[1])
        w[f"{name}.bias"] = 0.3 * rng.normal(size=shape[0])
        if name.endswith(".q"):
            w[f"{name}.weight"] *= gain
    for name in ("norm", "transform_norm", *(f"blocks.{i}.norm_{j}" for i in range(M) for j in (1, 2))):
        w |= {f"{name}.weight": rng.uniform(0.5, 1.5, size=D), f"{name}.bias": 0.3 * rng.normal(size=D)}
    return w, config


def sentence(rng, w, n_tokens=None, second=False, n_padding=0):
    """Ids, token types and which of the tokens are no padding; a second part has type 1."""
    N = n_tokens or int(rng.integers(4, len(w["positions"]) - n_padding))
    ids = rng.integers(0, len(w["tokens"]), N + n_padding)
    types = np.zeros(N + n_padding, dtype=np.int64)
    if second:
        types[int(rng.integers(1, N)) : N] = 1
    return ids, types, np.arange(N + n_padding) < N


def draw_question(rng, second=False, n_padding=0, n_tokens=None, **options):
    w, config = draw_bert(rng, **options)
    return w, config, *sentence(rng, w, n_tokens, second, n_padding)


def questions(*settings):
    return lambda rng: [draw_question(rng, **setting) for setting in settings]


def table_slip(found, args):
    return shape_slip(found, (len(args[2]), len(args[0]["tokens"])))


def both_types(ask, rng):
    """Types swapped together with their vectors change nothing; swapped alone they change everything."""
    w, config, ids, types, real = args = draw_question(rng, second=True)
    found = ask(*args)
    if slip := table_slip(found, args):
        return slip
    other = ask(w, config, ids, 1 - types, real)
    if slip := table_slip(other, args):
        return slip
    if close(other, found, 1e-6):
        return "With the two parts of the sentence exchanged in `types` the logits must change, but yours do not."
    swapped = ask(w | {"types": w["types"][::-1].copy()}, config, ids, 1 - types, real)
    if not close(swapped, found):
        return "Exchange the two vectors of the types and the types with them: nothing may change, but your logits do."
    return None


def padding_is_nothing(ask, rng):
    for options in ({}, {"gain": 3e4}):
        w, config, ids, types, real = args = draw_question(rng, n_padding=3, **options)
        N = int(real.sum())
        found, alone = ask(*args), ask(w, config, ids[:N].copy(), types[:N].copy(), real[:N].copy())
        if slip := table_slip(found, args) or table_slip(alone, (w, config, ids[:N])):
            return slip
        if not close(found[:N], alone, 1e-8):
            off = np.abs(found[:N] - alone).max()
            return (
                f"Without its padding a sentence should get the logits that it has with it; yours differ by {off:.2g}."
            )
        if options:
            continue
        edited = ids.copy()
        edited[N:] = (edited[N:] + 1) % len(w["tokens"])
        if not close(ask(w, config, edited, types, real)[:N], found[:N], 1e-8):
            return "Other ids in the padding should leave the logits of the sentence alone, but yours change."
        edited = ids.copy()
        edited[N - 1] = (edited[N - 1] + 1) % len(w["tokens"])
        if close(ask(w, config, edited, types, real)[0], found[0], 1e-6):
            return "Another last word must change the logits of the first, since BERT reads both ways; yours stay."
    return None


# logits


def gpt2_logits(theirs, config, ids):
    w, N = parts.ours_from_gpt2(theirs), len(ids)
    eps, act = config["layer_norm_epsilon"], parts.ACTIVATIONS[config["activation_function"]]
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = parts.norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (parts.linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = parts.attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + parts.linear(y, w, f"blocks.{i}.out")
        z = parts.norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + parts.linear(act(parts.linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return parts.norm(x, w, "norm", eps) @ w["tokens"].T


def draw_text(rng, n_tokens=None, eps=1e-5, act="gelu_new", square=False, n_blocks=1, **options):
    sizes = draw_sizes_of_gpt2(rng, n_blocks, square)
    theirs = draw_gpt2(rng, sizes, **options)
    N = n_tokens or int(rng.integers(4, sizes["n_positions"]))
    config = {**sizes, "layer_norm_epsilon": eps, "activation_function": act}
    return theirs, config, rng.integers(0, sizes["vocab_size"], N)


def texts(*settings):
    return lambda rng: [draw_text(rng, **setting) for setting in settings]


def logits_slip(found, theirs, ids):
    name = next(name for name in theirs if name.endswith("wte.weight"))
    return shape_slip(found, (len(ids), len(theirs[name])))


def only_the_past(ask, rng):
    theirs, config, ids = draw_text(rng)
    found, shorter = ask(theirs, config, ids), ask(theirs, config, ids[:-2].copy())
    if slip := logits_slip(found, theirs, ids) or logits_slip(shorter, theirs, ids[:-2]):
        return slip
    if not close(found[:-2], shorter, 1e-8):
        return "The first tokens alone should get the logits that they have in the whole text, but yours differ."
    edited = ids.copy()
    edited[0] = (edited[0] + 1) % config["vocab_size"]
    if close(ask(theirs, config, edited)[-1], found[-1], 1e-6):
        return "Another first word must change the logits of the last, but yours stay."
    swapped = ids.copy()
    swapped[[0, 1]] = 3, 5
    other = swapped.copy()
    other[[0, 1]] = 5, 3
    if close(ask(theirs, config, swapped)[-1], ask(theirs, config, other)[-1], 1e-6):
        return "The order of the words before it must change the logits of the last, but yours stay."
    return None


def a_word_more(ask, rng):
    """The head is the embedding: an edited vector changes one column of the logits, and the vector itself is read."""
    theirs, config, ids = draw_text(rng)
    word = next(word for word in range(config["vocab_size"]) if word not in ids)
    found = ask(theirs, config, ids)
    if slip := logits_slip(found, theirs, ids):
        return slip
    longer = {**theirs, "transformer.wte.weight": theirs["transformer.wte.weight"].copy()}
    longer["transformer.wte.weight"][word] *= 2
    after = ask(longer, config, ids)
    if slip := logits_slip(after, theirs, ids):
        return slip
    others = np.arange(config["vocab_size"]) != word
    if not close(after[:, others], found[:, others], 1e-8):
        return "A word that was not read got a vector twice as long: only its own logits may change, but others do."
    if not close(after[:, word], 2 * found[:, word], 1e-8):
        return "A word that was not read got a vector twice as long: its logits must double, but yours do not."
    return None


EXERCISE = Exercise(
    slug="12-pretrained",
    title="Pretrained models",
    chapter="chapters/12-pretrained",
    questions=(
        Question(
            id="file",
            title="A file, read by hand",
            name="read_tensors",
            minutes=20,
            difficulty=2,
            checks=(
                equals("F32 and F64", 6, ordinary_files, read_tensors),
                equals("F16 and BF16", 4, half_files, read_tensors),
                equals("short, long and empty headers", 2, odd_files, read_tensors),
                holds("whole and damaged files", 4, damaged_files),
            ),
            hints=(
                "Draw the file as three boxes: eight bytes, the header, the numbers. With which byte of the file "
                "does each box begin? The offsets in the header count from the beginning of one of them.",
                "`content.tobytes()` gives bytes, which can be cut, turned into a whole number by `int.from_bytes` "
                "and read by `json.loads` and `np.frombuffer`. Bytes have an order, and the lowest comes first here.",
                "For BF16 read whole numbers of 16 bits, make them 32 bits wide before you shift, and let `view` "
                "take the same bits for a float. For damage, compare two lengths: the bytes that came, and where the "
                "last tensor ends.",
            ),
            section="a-file-read-by-hand",
        ),
        Question(
            id="names",
            title="From their names to ours",
            name="ours_from_gpt2",
            minutes=18,
            difficulty=2,
            checks=(
                holds("names, norms and embeddings", 4, right_names),
                equals("whole files", 5, files_of_gpt2(masks=True), parts.ours_from_gpt2),
                equals(
                    "eleven blocks, and no prefix",
                    3,
                    files_of_gpt2(settings=({"n_blocks": 11},), prefix=""),
                    parts.ours_from_gpt2,
                ),
                equals(
                    "square matrices",
                    2,
                    files_of_gpt2(settings=({"square": True, "n_blocks": 1},)),
                    parts.ours_from_gpt2,
                ),
                holds("the same products", 2, same_products),
            ),
            hints=(
                "Write the table first: their name, our name, what happens to the array. How many of ours come from "
                "one of theirs, and which of theirs have no row?",
                "No shape can tell whether a matrix has to be turned: it depends on the layer. Which of the arrays "
                "with two axes belong to no layer of the kind `x @ W + b`?",
                "The columns of c_attn are the outputs: first all of q, then all of k, then all of v. Turn it first, "
                "and they lie one under the other. Cut the number of a block out at the dots, for `h.1` begins "
                "`h.11` too.",
            ),
            section="a-table-for-each-model",
        ),
        Question(
            id="restack",
            title="Head by head, and back",
            name="restack",
            minutes=12,
            difficulty=2,
            checks=(
                equals("matrices, to ours", 4, stacks((None,), (False,), (False,)), restack),
                equals("matrices, back", 3, stacks((True,), (True,)), restack),
                equals("biases", 2, stacks((False, True), (True, True), (None, True)), restack),
                holds("there and back", 3, there_and_back),
            ),
            hints=(
                "A row of W has three numbers: which head, which of the three parts, which row of it. Which of them "
                "changes fastest as you go down in their file, and which slowest?",
                "Give the first axis of W these three numbers as axes of its own, and exchange two of them. The "
                "third stays where it is.",
                "On the way back the first axis is cut in the order of *our* file. Whatever axes follow the first, "
                "none or one, can be passed on to `reshape` as they are.",
            ),
            section="the-same-numbers-laid-out-otherwise",
        ),
        Question(
            id="misfits",
            title="All misfits at once",
            name="misfits",
            minutes=15,
            difficulty=2,
            checks=(
                equals("missing and unexpected", 4, missing_and_unexpected, misfits),
                equals("other shapes", 3, other_shapes, misfits),
                equals("second names", 4, tied, misfits),
                equals("everything at once, and nothing", 3, everything_at_once, misfits),
            ),
            hints=(
                "Go through the names twice: once through those that the model has, once through those that came. "
                "Which of the four lists can be filled on which of the two ways?",
                "A tensor under a second name counts as the weight of the first name: it has to have that shape, and "
                "with it the weight is not missing.",
                "For each tensor that came ask in this order: is it known at all, has it the shape, and only then, "
                "does it equal the one under its first name, if that came too?",
            ),
            section="what-is-refused",
        ),
        Question(
            id="fold",
            title="Numbers that nothing depends on",
            name="fold",
            minutes=15,
            difficulty=2,
            checks=(
                holds("queries and norm", 3, folded_part("q", "norm")),
                holds("keys", 2, folded_part("k")),
                holds("values and out", 3, folded_part("v", "out")),
                equals("all of it", 2, layers_to_fold, fold),
                holds("the same function", 2, same_function),
            ),
            hints=(
                "Write the norm's output as γ ∘ x̂ + β and put it into `W z + b`. Which part of the result depends "
                "on x̂, and which is a constant that can join the bias?",
                "The scale belongs to the *inputs* of a map, one number for each column of W. The constant that W "
                "makes of the shift uses W as it was, before any scaling.",
                "Of the three biases that you have then, the softmax divides one out. The weights of a target sum to "
                "1, so another reaches `out` unchanged, at every target: what does `out` make of it?",
            ),
            section="which-slip-would-you-notice",
        ),
        Question(
            id="museum",
            title="Repair the BERT whose loss looks fine",
            name="bert_logits",
            minutes=20,
            difficulty=3,
            checks=(
                equals("plain sentences", 5, questions({"n_blocks": 2}, {"n_tokens": 1}, {"gain": 30.0}), bert_logits),
                equals(
                    "other options",
                    2,
                    questions({"eps": 0.1, "act": "gelu_new"}, {"eps": 0.1, "act": "relu"}),
                    bert_logits,
                ),
                holds("two parts", 2, both_types),
                holds("padding", 3, padding_is_nothing),
                equals(
                    "everything together",
                    2,
                    questions(
                        {"second": True, "n_padding": 2, "eps": 1e-3, "n_blocks": 2},
                        {"second": True, "n_padding": 4, "gain": 1e4},
                    ),
                    bert_logits,
                ),
            ),
            hints=(
                "Go through the arguments and through the keys of `config`, and tick off each one that the museum "
                "piece uses. Four ticks are missing.",
                "How many calls of `norm` are there, and how many of an activation? Each of them has a setting in "
                "the configuration, those after the last block too.",
                "`attend` takes one row of truth values for all targets as readily as a table. Padding is what "
                "nobody may look at: is that a matter of rows or of columns?",
            ),
            section="which-choice-differs-where",
        ),
        Question(
            id="logits",
            title="Stretch: GPT-2 from its file",
            name="gpt2_logits",
            minutes=25,
            difficulty=3,
            checks=(
                equals("logits", 6, texts({"n_blocks": 2}, {"n_tokens": 1}, {"square": True}), gpt2_logits),
                equals(
                    "other options and large scores",
                    4,
                    texts(
                        {"eps": 0.1, "act": "gelu"},
                        {"eps": 0.1, "act": "relu", "prefix": "", "masks": True},
                        {"gain": 40.0, "n_blocks": 2},
                        {"gain": 1e4},
                    ),
                    gpt2_logits,
                ),
                holds("only the past", 3, only_the_past),
                holds("one matrix, two uses", 3, a_word_more),
            ),
            hints=(
                "Begin with your `ours_from_gpt2`, and then write the model down as the table of choices describes "
                "it: what stands before the first block, in a block, after the last?",
                "Norm first: each half of a block reads the normalised stream and adds to the raw one. One norm is "
                "left for the end. Who may look at whom is a triangle, `np.tri`.",
                "The head is the embedding, turned: one column of logits for each word, and no bias. Take activation "
                "and ε from the configuration. If values are off by less than 1 %, compare your settings with it.",
            ),
            section="equal-logits",
            uses=("names",),
        ),
    ),
)
