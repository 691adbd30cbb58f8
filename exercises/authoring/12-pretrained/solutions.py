"""Right solutions of exercise 12, as different from each other as learners' answers are."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import Solutions

_spec = spec_from_file_location("clearcheck_parts_12", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

# In a notebook these names are given, or the learner's own.
softmax, gelu, gelu_tanh, ACTIVATIONS = parts.softmax, parts.gelu, parts.gelu_tanh, parts.ACTIVATIONS
linear, norm, attend, ours_from_gpt2 = parts.linear, parts.norm, parts.attend, parts.ours_from_gpt2

right = Solutions()
SOLUTIONS = right


# file


@right("file")
def with_struct(content):
    import struct

    data = bytes(content)
    if len(data) < 8:
        raise ValueError(f"{len(data)} bytes")
    (length,) = struct.unpack("<Q", data[:8])
    if len(data) < 8 + length:
        raise ValueError(f"The header should reach to byte {8 + length}, but only {len(data)} bytes came.")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    tensors, end = {}, 0
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        left, right = entry["data_offsets"]
        end = max(end, right)
        if entry["dtype"] == "BF16":
            whole = np.zeros((right - left) // 2, "<u4")
            if right <= len(body):
                whole[:] = np.frombuffer(body[left:right], "<u2")
            numbers = (whole * 65536).view("<f4")
        else:
            kind = np.dtype({"F16": "<f2", "F32": "<f4", "F64": "<f8"}[entry["dtype"]])
            numbers = np.frombuffer(body[left:right].ljust(right - left), kind)
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    if end != len(body):
        raise ValueError(f"expected {8 + length + end} bytes, got {len(data)}")
    return tensors


@right("file")
def sizes_first(content):
    data = content.tobytes()
    header_end = 8 + sum(byte << 8 * place for place, byte in enumerate(data[:8]))
    if header_end > len(data):
        raise ValueError(f"only {len(data):,} bytes")
    header = json.loads(data[8:header_end].decode("utf-8"))
    header = {name: entry for name, entry in header.items() if "dtype" in entry}
    total = header_end + sum(b - a for a, b in (entry["data_offsets"] for entry in header.values()))
    if total != len(data):
        raise ValueError(f"a file of {len(data)} bytes, which should have {total}")

    def numbers(dtype, raw):
        if dtype == "BF16":
            pairs = np.frombuffer(raw, np.uint8).reshape(-1, 2)
            return np.hstack([np.zeros_like(pairs), pairs]).ravel().view("<f4")
        return np.frombuffer(raw, "<f" + str(int(dtype[1:]) // 8))

    return {
        name: numbers(entry["dtype"], data[header_end:][slice(*entry["data_offsets"])])
        .astype("float64")
        .reshape(entry["shape"])
        for name, entry in header.items()
    }


@right("file")
def number_by_number(content):
    import struct

    length = int.from_bytes(bytes(content[:8].tolist()), "little")
    try:
        header = json.loads(bytes(content[8 : 8 + length].tolist()))
    except ValueError as error:
        raise ValueError(f"a damaged header in a file of {len(content)} bytes") from error
    header.pop("__metadata__", None)
    body = content[8 + length :]
    end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(body) != end:
        raise ValueError(f"{len(content)} bytes are not {8 + length + end}")
    letters = {"F16": "e", "F32": "f", "F64": "d"}
    tensors = {}
    for name, entry in header.items():
        raw = bytes(body[entry["data_offsets"][0] : entry["data_offsets"][1]].tolist())
        if entry["dtype"] == "BF16":
            raw = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2))
        letter = letters.get(entry["dtype"], "f")
        numbers = [value for (value,) in struct.iter_unpack("<" + letter, raw)]
        tensors[name] = np.array(numbers, dtype=float).reshape(entry["shape"])
    return tensors


# names


@right("names")
def by_pattern(theirs):
    fixed = {"wte.weight": "tokens", "wpe.weight": "positions", "ln_f.weight": "norm.weight", "ln_f.bias": "norm.bias"}
    layers = {
        "ln_1": "norm_1", "ln_2": "norm_2", "attn.c_proj": "out", "mlp.c_fc": "up", "mlp.c_proj": "down",
    }  # fmt: skip
    ours = {}
    for full, array in theirs.items():
        name = full[len("transformer.") :] if full.startswith("transformer.") else full
        pieces = name.split(".")
        if name in fixed:
            ours[fixed[name]] = array.copy()
        elif pieces[0] == "h" and pieces[-2] == "c_attn":
            D = array.shape[-1] // 3
            for place, part in enumerate("qkv"):
                third = array[..., place * D : (place + 1) * D]
                ours[f"blocks.{pieces[1]}.{part}.{pieces[-1]}"] = np.transpose(third).copy()
        elif pieces[0] == "h" and ".".join(pieces[2:-1]) in layers:
            ours[f"blocks.{pieces[1]}.{layers['.'.join(pieces[2:-1])]}.{pieces[-1]}"] = np.transpose(array).copy()
    return ours


@right("names")
def from_our_side(theirs):
    def its(name):
        return theirs[name] if name in theirs else theirs["transformer." + name]

    ours = {"tokens": its("wte.weight"), "positions": its("wpe.weight")}
    ours |= {"norm.weight": its("ln_f.weight"), "norm.bias": its("ln_f.bias")}
    i = 0
    while any(name.endswith(f"h.{i}.ln_1.weight") for name in theirs):
        q, k, v = np.hsplit(its(f"h.{i}.attn.c_attn.weight"), 3)
        b_q, b_k, b_v = np.split(its(f"h.{i}.attn.c_attn.bias"), 3)
        block = {"q.weight": q.T, "k.weight": k.T, "v.weight": v.T, "q.bias": b_q, "k.bias": b_k, "v.bias": b_v}
        for mine, name in {"out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}.items():
            block |= {f"{mine}.weight": its(f"h.{i}.{name}.weight").T, f"{mine}.bias": its(f"h.{i}.{name}.bias")}
        for n in "12":
            block |= {f"norm_{n}.{kind}": its(f"h.{i}.ln_{n}.{kind}") for kind in ("weight", "bias")}
        ours |= {f"blocks.{i}.{name}": array for name, array in block.items()}
        i += 1
    return ours


@right("names")
def rewritten_names(theirs):
    import re

    ours = {}
    for name, array in theirs.items():
        name = re.sub(r"^transformer\.", "", name)
        if re.search(r"\.attn\.(masked_)?bias$", name) or name == "lm_head.weight":
            continue
        if ".c_" in name and array.ndim == 2:
            array = np.einsum("io->oi", array)
        for old, new in (
            (r"^wte\.weight$", "tokens"), (r"^wpe\.weight$", "positions"), (r"^ln_f\.", "norm."), (r"^h\.", "blocks."),
            (r"\.ln_", ".norm_"), (r"attn\.c_proj", "out"), (r"mlp\.c_fc", "up"), (r"mlp\.c_proj", "down"),
        ):  # fmt: skip
            name = re.sub(old, new, name)
        if "attn.c_attn" in name:
            for part, third in zip("qkv", np.vsplit(array, 3) if array.ndim == 2 else np.split(array, 3), strict=True):
                ours[name.replace("attn.c_attn", part)] = third
        else:
            ours[name] = array
    return ours


# restack


@right("restack")
def axes_exchanged(W, n_heads, back=False):
    shape = (3, n_heads, -1) if back else (n_heads, 3, -1)
    return np.moveaxis(W.reshape(*shape, *W.shape[1:]), 0, 1).reshape(W.shape)


@right("restack")
def piece_by_piece(W, n_heads, back=False):
    K = len(W) // (3 * n_heads)
    out = np.zeros(W.shape)
    for head in range(n_heads):
        for part in range(3):
            theirs = slice((3 * head + part) * K, (3 * head + part + 1) * K)
            ours = slice((n_heads * part + head) * K, (n_heads * part + head + 1) * K)
            if back:
                out[theirs] = W[ours]
            else:
                out[ours] = W[theirs]
    return out


@right("restack")
def pieces_sorted(W, n_heads, back=False):
    pieces = np.split(W, 3 * n_heads)
    step = n_heads if back else 3
    return np.concatenate([piece for first in range(step) for piece in pieces[first::step]])


# misfits


@right("misfits")
def two_loops(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    for name in sorted(shapes):
        names = [name] + [second for second, first in ties.items() if first == name]
        if all(known not in tensors for known in names):
            found["missing"].append(name)
    for name in sorted(tensors):
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif tuple(tensors[name].shape) != tuple(shapes[first]):
            found["misshapen"].append(name)
        elif name in ties and first in tensors:
            same = tensors[first].shape == tensors[name].shape and (tensors[first] == tensors[name]).all()
            if not same:
                found["unequal"].append(name)
    return found


@right("misfits")
def with_sets(shapes, tensors, ties):
    wanted = dict(shapes) | {second: shapes[first] for second, first in ties.items() if first in shapes}
    came = set(tensors) & set(wanted)
    misshapen = {name for name in came if tensors[name].shape != wanted[name]}
    both = {second for second in ties if second in came - misshapen and ties[second] in tensors}
    return {
        "missing": sorted(set(shapes) - {ties.get(name, name) for name in came}),
        "unexpected": sorted(set(tensors) - set(wanted)),
        "misshapen": sorted(misshapen),
        "unequal": sorted(s for s in both if not np.array_equal(tensors[s], tensors[ties[s]])),
    }


@right("misfits")
def one_by_one(shapes, tensors, ties):
    left = {name: tensors[name] for name in tensors}
    missing, misshapen, unequal = [], [], []
    for name, shape in shapes.items():
        given = [left.pop(name)] if name in left else []
        if given and given[0].shape != shape:
            misshapen.append(name)
        some = bool(given)
        for second in [second for second in ties if ties[second] == name and second in left]:
            other, some = left.pop(second), True
            if other.shape != shape:
                misshapen.append(second)
            elif given and (other.shape != given[0].shape or np.any(other != given[0])):
                unequal.append(second)
        if not some:
            missing.append(name)
    result = {"missing": missing, "unexpected": list(left), "misshapen": misshapen, "unequal": unequal}
    return {kind: sorted(names) for kind, names in result.items()}


# fold


@right("fold")
def one_formula_each(layer):
    scale, shift = layer["norm"]
    zeros = np.zeros_like(shift)
    (W_q, b_q), (W_k, _), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "k", "v", "out"))
    return {
        "norm": (np.ones_like(scale), zeros),
        "q": (W_q * scale, b_q + W_q @ shift),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ (b_v + W_v @ shift)),
    }


@right("fold")
def entry_by_entry(layer):
    gamma, beta = layer["norm"]
    D = len(gamma)
    new = {name: (np.array(pair[0]), np.array(pair[1])) for name, pair in layer.items()}
    for name in ("q", "k", "v"):
        W, b = new[name]
        for e in range(D):
            for d in range(D):
                b[e] += W[e, d] * beta[d]
                W[e, d] *= gamma[d]
    for e in range(D):
        new["out"][1][e] += sum(new["out"][0][e, d] * new["v"][1][d] for d in range(D))
    new["k"][1].fill(0)
    new["v"][1].fill(0)
    return {**new, "norm": (np.full(D, 1.0), np.full(D, 0.0))}


@right("fold")
def measured_on_tokens(layer):
    """The maps as functions of the normalised token: their value at 0 and at the unit vectors says all."""
    gamma, beta = layer["norm"]
    D = len(gamma)

    def seen(name):
        W, b = layer[name]
        at_zero = W @ beta + b
        return np.stack([W @ (gamma * e + beta) + b - at_zero for e in np.eye(D)], axis=1), at_zero

    q, (k, _), (v, constant) = seen("q"), seen("k"), seen("v")
    none = np.zeros(D)
    out = (layer["out"][0], layer["out"][0] @ constant + layer["out"][1])
    return {"norm": (none + 1, none), "q": q, "k": (k, none), "v": (v, none), "out": out}


# museum


@right("museum")
def settings_first(w, config, ids, types, real):
    eps, activation = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    x = w["tokens"][ids] + w["positions"][np.arange(len(ids))] + w["types"][types]
    x = norm(x, w, "norm", eps)
    may_look = np.ones((len(ids), 1), dtype=bool) & real
    for i in range(config["num_hidden_layers"]):
        block = f"blocks.{i}."
        q, k, v = linear(x, w, block + "q"), linear(x, w, block + "k"), linear(x, w, block + "v")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, block + "out"), w, block + "norm_1", eps)
        x = norm(x + linear(activation(linear(x, w, block + "up")), w, block + "down"), w, block + "norm_2", eps)
    return norm(activation(linear(x, w, "transform")), w, "transform_norm", eps) @ w["tokens"].T + w["head.bias"]


@right("museum")
def padding_cut_off(w, config, ids, types, real):
    """Keys and values of the sentence only; no mask is needed then."""
    f = ACTIVATIONS[config["hidden_act"]]

    def normed(x, name):
        return norm(x, w, name, config["layer_norm_eps"])

    x = normed(w["tokens"][ids] + w["positions"][: ids.size] + np.where(types[:, None] == 1, *w["types"][::-1]), "norm")
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k[real], v[real], config["num_attention_heads"], True)
        x = normed(x + linear(y, w, f"blocks.{i}.out"), f"blocks.{i}.norm_1")
        x = normed(x + linear(f(linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down"), f"blocks.{i}.norm_2")
    return np.einsum("nd,vd->nv", normed(f(linear(x, w, "transform")), "transform_norm"), w["tokens"]) + w["head.bias"]


@right("museum")
def attention_by_hand(w, config, ids, types, real):
    H, eps = config["num_attention_heads"], config["layer_norm_eps"]
    bend = ACTIVATIONS[config["hidden_act"]]
    one_hot = np.eye(len(w["types"]))[types]
    x = norm(w["tokens"][ids] + w["positions"][: len(ids)] + one_hot @ w["types"], w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (np.stack(np.split(linear(x, w, f"blocks.{i}.{part}"), H, axis=1)) for part in "qkv")
        scores = q @ k.swapaxes(1, 2) / q.shape[2] ** 0.5
        scores[:, :, ~real] = -np.inf
        y = np.hstack(list(softmax(scores) @ v))
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        x = norm(x + linear(bend(linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = norm(bend(linear(x, w, "transform")), w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


# logits


@right("logits")
def by_own_names(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    activation = ACTIVATIONS[config["activation_function"]]
    x = w["tokens"][ids] + w["positions"][: len(ids)]
    causal = np.tril(np.ones((len(ids), len(ids)), dtype=bool))
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        x = x + linear(attend(q, k, v, config["n_head"], causal), w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(activation(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@right("logits")
def by_their_names(theirs, config, ids):
    w = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    eps, f = config["layer_norm_epsilon"], ACTIVATIONS[config["activation_function"]]

    def conv(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x, N = w["wte.weight"][ids] + w["wpe.weight"][: len(ids)], len(ids)
    for i in range(config["n_layer"]):
        q, k, v = np.split(conv(norm(x, w, f"h.{i}.ln_1", eps), f"h.{i}.attn.c_attn"), 3, axis=1)
        x = x + conv(attend(q, k, v, config["n_head"], np.arange(N)[:, None] >= np.arange(N)), f"h.{i}.attn.c_proj")
        x = x + conv(f(conv(norm(x, w, f"h.{i}.ln_2", eps), f"h.{i}.mlp.c_fc")), f"h.{i}.mlp.c_proj")
    return np.inner(norm(x, w, "ln_f", eps), w["wte.weight"])


@right("logits")
def token_by_token(theirs, config, ids):
    """With a cache of keys and values: no mask, since nobody later is there yet."""
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    f, kept, rows = ACTIVATIONS[config["activation_function"]], {}, []
    for n, word in enumerate(ids):
        x = (w["tokens"][word] + w["positions"][n])[None]
        for i in range(config["n_layer"]):
            z = norm(x, w, f"blocks.{i}.norm_1", eps)
            for part in "kv":
                kept.setdefault((i, part), []).append(linear(z, w, f"blocks.{i}.{part}")[0])
            k, v = np.array(kept[i, "k"]), np.array(kept[i, "v"])
            y = attend(linear(z, w, f"blocks.{i}.q"), k, v, config["n_head"], True)
            x = x + linear(y, w, f"blocks.{i}.out")
            z = f(linear(norm(x, w, f"blocks.{i}.norm_2", eps), w, f"blocks.{i}.up"))
            x = x + linear(z, w, f"blocks.{i}.down")
        rows.append(w["tokens"] @ norm(x, w, "norm", eps)[0])
    return np.array(rows)
