"""Exercise 12, question museum: repair the BERT whose loss looks fine."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes

from . import parts
from .parts import (
    ACTIVATIONS,
    attend,
    gelu,  # noqa: F401 - edits use it
    gelu_tanh,  # noqa: F401 - edits use it
    linear,
    norm,
    softmax,
)
from .shared import HEADS, HIDDEN, PLACES, WORDS, logits_slip


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


def draw_bert(rng, eps=1e-12, act="gelu", gain=1.0, n_blocks=1, one_head=False, places=0):
    (H, K), V, L, F = draw_sizes(rng, 2, HEADS), rng.choice(WORDS), rng.choice(PLACES), rng.choice(HIDDEN)
    H, K = (1, 4 * K) if one_head else (H, K)
    D, M = H * K, n_blocks
    config = {"hidden_act": act, "layer_norm_eps": eps, "num_attention_heads": H, "num_hidden_layers": M}
    w = {"tokens": 0.5 * rng.normal(size=(V, D)), "positions": 0.5 * rng.normal(size=((places or L) + 4, D))}
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
    longest = len(w["positions"]) - n_padding
    N = min(n_tokens or int(rng.integers(4, longest)), longest)
    ids = rng.integers(0, len(w["tokens"]), N + n_padding)
    types = np.zeros(N + n_padding, dtype=np.int64)
    types[N:] = np.arange(n_padding) % 2 == 0  # padding has a type, too, and is computed like the others
    if second:
        types[int(rng.integers(1, N)) : N] = 1
    return ids, types, np.arange(N + n_padding) < N


def draw_question(rng, second=False, n_padding=0, n_tokens=None, **options):
    w, config = draw_bert(rng, **options)
    return w, config, *sentence(rng, w, n_tokens, second, n_padding)


def questions(*settings):
    return lambda rng: [draw_question(rng, **setting) for setting in settings]


def both_types(ask, rng):
    """Types swapped together with their vectors change nothing; swapped alone they change everything."""
    w, config, ids, types, real = args = draw_question(rng, second=True)
    found, other = ask(*args), ask(w, config, ids, 1 - types, real)
    if slip := logits_slip(found, ids, w["tokens"]) or logits_slip(other, ids, w["tokens"]):
        return slip
    if close(other, found, 1e-6):
        return "With the two parts of the sentence exchanged in `types` the logits must change, but yours do not."
    swapped = ask(w | {"types": w["types"][::-1].copy()}, config, ids, 1 - types, real)
    if not close(swapped, found):
        return "Exchange the two vectors of the types and the types with them: nothing may change, but your logits do."
    return None


def padding_is_nothing(ask, rng):
    for options in ({}, {"gain": 3e4}, {"places": 60, "n_tokens": 57}):
        w, config, ids, types, real = args = draw_question(rng, n_padding=3, **options)
        N = int(real.sum())
        found, alone = ask(*args), ask(w, config, ids[:N].copy(), types[:N].copy(), real[:N].copy())
        if slip := logits_slip(found, ids, w["tokens"]) or logits_slip(alone, ids[:N], w["tokens"]):
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


QUESTION = Question(
    id="museum",
    title="Repair the BERT whose loss looks fine",
    name="bert_logits",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals(
            "plain sentences",
            5,
            questions(
                {"n_blocks": 2}, {"n_tokens": 1}, {"gain": 30.0}, {"n_blocks": 3, "one_head": True}, {"n_blocks": 0}
            ),
            bert_logits,
        ),
        equals(
            "other options", 2, questions({"eps": 0.1, "act": "gelu_new"}, {"eps": 0.1, "act": "relu"}), bert_logits
        ),
        holds("two parts", 2, both_types),
        holds("padding", 3, padding_is_nothing),
        equals(
            "everything together",
            2,
            questions(
                {"second": True, "n_padding": 2, "eps": 1e-3, "n_blocks": 2},
                {"second": True, "n_padding": 4, "gain": 1e4, "n_tokens": 99},
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
    inputs=Inputs(no_sizes="a dict of arrays, of sizes of which none divides another"),
)

right, wrong = answers_to(QUESTION)


@right
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


@right
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


@right
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


@right
def as_often_written(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


wrong.edits("""
# settings_first
## normed_before_and_after: You norm what attention reads as well, as in later models; here a norm only follows each
half.
- q, k, v = linear(x, w, block + "q"), linear(x, w, block + "k"), linear(x, w, block + "v")
+ z = norm(x, w, block + "norm_1", eps)
+ q, k, v = linear(z, w, block + "q"), linear(z, w, block + "k"), linear(z, w, block + "v")
## norm_first: The norms of the blocks stand first, as in GPT-2; in BERT they come after each half.
- q, k, v = linear(x, w, block + "q"), linear(x, w, block + "k"), linear(x, w, block + "v")
+ q, k, v = (linear(norm(x, w, block + "norm_1", eps), w, block + part) for part in "qkv")
- x = norm(x + linear(y, w, block + "out"), w, block + "norm_1", eps)
- x = norm(x + linear(activation(linear(x, w, block + "up")), w, block + "down"), w, block + "norm_2", eps)
+ x = x + linear(y, w, block + "out")
+ x = x + linear(activation(linear(norm(x, w, block + "norm_2", eps), w, block + "up")), w, block + "down")
# attention_by_hand
## too_little_taken_off: 10,000 is taken off the scores of padding; where scores are in the tens of thousands that does
not hide it.
- scores[:, :, ~real] = -np.inf
+ scores[:, :, ~real] -= 10_000
# as_often_written
## museum_piece: This is the museum piece as it was.
- eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
- x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
+ eps, bend = 1e-5, gelu_tanh
+ may_look = np.ones((len(ids), len(ids)), dtype=bool)
+ x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][0]
## padding_left: Padding is still looked at.
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
+ may_look = np.ones((len(ids), len(ids)), dtype=bool)
## types_left: Your tokens all get type 0's vector.
- x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
+ x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][0]
## padding_of_type_0: Your padding always gets the vector of type 0; it gets that of its type, like every other token.
+ x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][np.where(real, types, 0)]
## eps_left: The ε of the norms is still that of another model.
- eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
+ eps, bend = 1e-5, ACTIVATIONS[config["hidden_act"]]
## activation_left: The activation is still the tanh formula, whatever the configuration says.
+ eps, bend = config["layer_norm_eps"], gelu_tanh
## always_exact: The activation is always the exact GELU; the configuration may ask for another.
+ eps, bend = config["layer_norm_eps"], gelu
## relu_unknown: You choose between two activations; the configuration may ask for any of those in `ACTIVATIONS`.
+ eps, bend = config["layer_norm_eps"], gelu_tanh if config["hidden_act"] == "gelu_new" else gelu
## types_and_padding_left: Activation and ε follow the configuration; token types and padding are still ignored.
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
- x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
+ may_look = np.ones((len(ids), len(ids)), dtype=bool)
+ x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][0]
## settings_left: Token types and padding are right; activation and ε still do not follow the configuration.
- eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
+ eps, bend = 1e-5, gelu_tanh
## head_activation_left: The layer before the head still uses the tanh formula.
- y = bend(linear(x, w, "transform"))
+ y = gelu_tanh(linear(x, w, "transform"))
## block_activation_left: Only the layer before the head follows the configuration; the blocks use the tanh formula.
- y = bend(linear(x, w, f"blocks.{i}.up"))
+ y = gelu_tanh(linear(x, w, f"blocks.{i}.up"))
## first_norm_eps_left: The norm after the embedding still has the old ε.
- x = norm(x, w, "norm", eps)
+ x = norm(x, w, "norm", 1e-5)
## last_norm_eps_left: The norm before the head still has the old ε.
- y = norm(y, w, "transform_norm", eps)
+ y = norm(y, w, "transform_norm", 1e-5)
## padding_looks_at_itself_alone: Your padding looks only at itself; its rows follow the rule of all others.
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
+ may_look = np.outer(real, real) | np.eye(len(ids), dtype=bool)
## eps_of_bert_itself: Your norms all use BERT's usual ε of 10⁻¹²; take it from the configuration.
- eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
+ eps, bend = 1e-12, ACTIVATIONS[config["hidden_act"]]
## block_eps_left: The norms in the blocks still have the old ε.
- x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
+ x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", 1e-5)
- x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
+ x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", 1e-5)
## padding_sees_itself: You let padding look at itself; nobody may look at padding, padding included.
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
+ may_look = real | np.eye(len(ids), dtype=bool)
## padding_sees_everything: You let padding look at everything; nobody may look at padding, padding included.
+ may_look = real | ~real[:, None]
## padding_asks_nothing: Your mask hides rows: padding sees nothing, which is NaN, and everyone still looks at padding.
+ may_look = np.ones((len(ids), len(ids)), dtype=bool) & real[:, None]
## rows_hidden_but_itself: Your mask hides rows: padding looks only at itself, and everyone still looks at padding. It
is the columns of padding that are hidden.
+ may_look = np.eye(len(ids), dtype=bool) | real[:, None]
## padding_neither_way: Your mask lets padding look at nothing, and a softmax of nothing is NaN.
+ may_look = np.ones((len(ids), len(ids)), dtype=bool) & real & real[:, None]
## true_hides: You read True as padding; here it says that the token is real.
+ may_look = ~real
## padding_set_to_zero [which-slip-would-you-notice]: Keys and values of padding are set to zero, but a score of 0 still
takes its share of the weight.
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
+ may_look = np.ones((len(ids), len(ids)), dtype=bool)
  q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
+ k, v = k * real[:, None], v * real[:, None]
## padding_cut_from_the_text: You cut off padded tokens; their own logits are missing from the result.
  eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
+ ids, types, real = ids[real], types[real], real[real]
## causal: You let nobody look at a later token, as in GPT; BERT reads both ways.
- may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
+ may_look = np.tri(len(ids), dtype=bool) & real
## types_exchanged: You swap the two token types.
- x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
+ x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][1 - types]
## types_added_later: You add the vectors of the types after the first norm; add them before it.
- x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
- x = norm(x, w, "norm", eps)
+ x = w["tokens"][ids] + w["positions"][: len(ids)]
+ x = norm(x, w, "norm", eps) + w["types"][types]
## head_bias_lost: The bias of the head got lost on the way.
- return y @ w["tokens"].T + w["head.bias"]
+ return y @ w["tokens"].T
""")
