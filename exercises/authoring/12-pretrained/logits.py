"""Exercise 12, question logits: Stretch: GPT-2 from its file."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close

from . import parts
from .parts import (
    ACTIVATIONS,
    attend,
    gelu,  # noqa: F401 - edits use it
    gelu_tanh,  # noqa: F401 - edits use it
    linear,
    norm,
    ours_from_gpt2,
    softmax,  # noqa: F401 - edits use it
)
from .shared import draw_gpt2, draw_sizes_of_gpt2, logits_slip


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


def draw_text(rng, n_tokens=None, eps=1e-5, act="gelu_new", square=False, n_blocks=1, zero=False, **options):
    sizes = draw_sizes_of_gpt2(rng, n_blocks, square)
    theirs = draw_gpt2(rng, sizes, **options)
    N = min(n_tokens or int(rng.integers(4, sizes["n_positions"])), sizes["n_positions"])
    config = {**sizes, "layer_norm_epsilon": eps, "activation_function": act}
    ids = rng.integers(0, sizes["vocab_size"], N)
    if zero:  # a word like any other, and no padding
        ids[1] = 0
    return theirs, config, ids


def texts(*settings):
    return lambda rng: [draw_text(rng, **setting) for setting in settings]


def only_the_past(ask, rng):
    theirs, config, ids = draw_text(rng)
    tokens = theirs["transformer.wte.weight"]
    found, shorter = ask(theirs, config, ids), ask(theirs, config, ids[:-2].copy())
    if slip := logits_slip(found, ids, tokens) or logits_slip(shorter, ids[:-2], tokens):
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
    tokens = theirs["transformer.wte.weight"].copy()
    tokens[word] *= 2
    found, after = ask(theirs, config, ids), ask({**theirs, "transformer.wte.weight": tokens}, config, ids)
    if slip := logits_slip(found, ids, tokens) or logits_slip(after, ids, tokens):
        return slip
    others = np.arange(config["vocab_size"]) != word
    if not close(after[:, others], found[:, others], 1e-8):
        return "A word that was not read got a vector twice as long: only its own logits may change, but others do."
    if not close(after[:, word], 2 * found[:, word], 1e-8):
        return "A word that was not read got a vector twice as long: its logits must double, but yours do not."
    return None


QUESTION = Question(
    id="logits",
    title="Stretch: GPT-2 from its file",
    name="gpt2_logits",
    minutes=30,
    difficulty=3,
    checks=with_battery(
        equals("logits", 5, texts({"n_blocks": 11}, {"n_tokens": 1}, {"square": True, "n_tokens": 99}), gpt2_logits),
        equals(
            "other options and large scores",
            4,
            texts(
                {"eps": 0.1, "act": "gelu", "zero": True},
                {"eps": 0.1, "act": "relu", "prefix": "", "masks": True},
                {"gain": 40.0, "n_blocks": 2},
                {"gain": 1e4},
            ),
            gpt2_logits,
        ),
        holds("only the past", 3, only_the_past),
        holds("one matrix, two uses", 2, a_word_more),
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
    leans_on=("names",),
    inputs=Inputs(no_sizes="a dict of arrays, of sizes of which none divides another"),
)

right, wrong = answers_to(QUESTION)


@right
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


@right
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


@right
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


@right
def as_often_written(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong("The norms come after each half, as in BERT; in GPT-2 they come first.", section="which-choice-differs-where")
def norm_after(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        x = norm(x + linear(bend(linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    return norm(x, w, "norm", eps) @ w["tokens"].T


wrong.edits("""
# as_often_written
## one_block_left_out: You leave the last block out: count how many your loop runs.
- for i in range(config["n_layer"]):
+ for i in range(max(1, config["n_layer"] - 1)):
## no_mask [which-choice-differs-where]: Every token looks at later ones; GPT-2 is causal.
- y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
+ y = attend(q, k, v, config["n_head"], np.ones((N, N), dtype=bool))
## mask_turned [which-choice-differs-where]: The mask lies on its side: tokens look at later ones, and not at those
before them.
+ y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool).T)
## not_even_itself [which-choice-differs-where]: Your mask hides a token from itself, so that the first one sees nothing
and becomes NaN.
+ y = attend(q, k, v, config["n_head"], np.tri(N, k=-1, dtype=bool))
## second_norm_forgotten [which-choice-differs-where]: Your feed-forward layer reads the raw stream; it needs its own
norm before it.
- z = norm(x, w, f"blocks.{i}.norm_2", eps)
- x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
+ x = x + linear(bend(linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
## scaled_twice: You scale the queries, and `attend` scales the scores once more.
  q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
+ q = q / np.sqrt(q.shape[1] // config["n_head"])
## no_norm_at_the_end [which-choice-differs-where]: The norm behind the last block is missing.
- return norm(x, w, "norm", eps) @ w["tokens"].T
+ return x @ w["tokens"].T
## same_norm_twice [which-choice-differs-where]: You use the first norm for both halves.
- z = norm(x, w, f"blocks.{i}.norm_2", eps)
+ z = norm(x, w, f"blocks.{i}.norm_1", eps)
## stream_replaced: What attention gives takes the place of the stream; it should be added to it.
- x = x + linear(y, w, f"blocks.{i}.out")
+ x = linear(y, w, f"blocks.{i}.out")
## stream_normalised: The output of each half is added to the normalised stream; the raw one has to go on.
- x = x + linear(y, w, f"blocks.{i}.out")
+ x = z + linear(y, w, f"blocks.{i}.out")
- x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
+ x = z + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
## stream_normalised_at_attention: The output of attention is added to the normalised stream; the raw one has to go on.
- x = x + linear(y, w, f"blocks.{i}.out")
+ x = z + linear(y, w, f"blocks.{i}.out")
## not_scaled: You do not divide the scores by √K.
  q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
+ q = q * np.sqrt(q.shape[1] // config["n_head"])
## scaled_by_the_width: You divide the scores by the root of the model's width; use the width of a head.
+ q = q / np.sqrt(config["n_head"])
## projection_turned [the-same-numbers-laid-out-otherwise]: The matrix that joins the heads lies the wrong way round;
being square, it fits either way.
- x = x + linear(y, w, f"blocks.{i}.out")
+ x = x + y @ w[f"blocks.{i}.out.weight"] + w[f"blocks.{i}.out.bias"]
## exact_gelu [which-choice-differs-where]: The activation is always the exact GELU; the configuration of GPT-2 names
the tanh formula.
- bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
+ bend, N = gelu, len(ids)
## always_tanh [which-choice-differs-where]: The activation is always the tanh formula; the configuration may name
another.
+ bend, N = gelu_tanh, len(ids)
## eps_of_its_own [which-choice-differs-where]: Your norms always use the ε 0.00001; take it from the configuration.
- w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
+ w, eps = ours_from_gpt2(theirs), 1e-5
## last_norm_of_its_own [which-choice-differs-where]: The ε of the last norm is not that of the configuration.
- return norm(x, w, "norm", eps) @ w["tokens"].T
+ return norm(x, w, "norm", 1e-12) @ w["tokens"].T
## positions_forgotten [which-choice-differs-where]: The positions are missing: without them the words before a token
have no order.
- x = w["tokens"][ids] + w["positions"][:N]
+ x = w["tokens"][ids]
## positions_from_one [which-slip-would-you-notice]: Your positions begin with 1; the first token's should be 0.
+ x = w["tokens"][ids] + w["positions"][1 : N + 1]
## positions_of_the_words [which-choice-differs-where]: The positions are looked up by the id of the word, not by
where it stands.
+ x = w["tokens"][ids] + w["positions"][ids]
## positions_twice [which-choice-differs-where]: You add the positions again in every block; add them once.
  for i in range(config["n_layer"]):
+     x = x + (w["positions"][:N] if i else 0)
## embedding_scaled [which-choice-differs-where]: The embedding is multiplied by the root of D, as in Marian; GPT-2
takes it as it is.
- x = w["tokens"][ids] + w["positions"][:N]
+ x = np.sqrt(w["tokens"].shape[1]) * w["tokens"][ids] + w["positions"][:N]
## one_head: You take all of a block's width for one head.
- y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
+ y = attend(q, k, v, 1, np.tri(N, dtype=bool))
## keys_and_values_exchanged [which-slip-would-you-notice]: Keys and values are exchanged.
- q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
+ q, v, k = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
## keys_first [the-same-numbers-laid-out-otherwise]: c_attn is cut into keys, queries and values; the queries
come first.
+ k, q, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
## first_block_only: All blocks use the weights of block 0.
- for i in range(config["n_layer"]):
+ for i in [0] * config["n_layer"]:
## blocks_reversed [which-slip-would-you-notice]: The blocks come in reverse order.
+ for i in range(config["n_layer"])[::-1]:
## blocks_sorted_as_text: The blocks come in the order of their names as text, where 10 stands before 2.
+ for i in sorted(range(config["n_layer"]), key=str):
## probabilities: These are probabilities; logits come before the softmax.
- return norm(x, w, "norm", eps) @ w["tokens"].T
+ return softmax(norm(x, w, "norm", eps) @ w["tokens"].T)
## last_token_only: Only your last token gets logits; every token should.
+ return norm(x[-1:], w, "norm", eps) @ w["tokens"].T
## head_at_random [one-matrix-two-uses-weight-tying]: You take the head from `lm_head.weight`, or make it up where that
is missing; use the embedding.
+ head = theirs.get("lm_head.weight", np.cos(np.arange(w["tokens"].size)).reshape(w["tokens"].shape))
+ return norm(x, w, "norm", eps) @ head.T
## attention_beside_feed_forward: Both your halves read the stream that came in; the second should read what the first
made of it.
  y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
+ z = norm(x, w, f"blocks.{i}.norm_2", eps)
- z = norm(x, w, f"blocks.{i}.norm_2", eps)
""")
