"""Checks of exercise 04: heads, tokens, widths and batch that do not divide each other."""

from functools import partial

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import CLOSE, SIZES, close, draw_sizes, scaled, shape_slip, varied
from clearformer.reference import attention, multihead

# split and join


def split_heads(q, n_heads):
    return np.stack(np.split(q, n_heads, axis=-1), axis=1)


def merge_heads(y):
    return np.concatenate(list(np.moveaxis(y, 1, 0)), axis=-1)


def heads_of_a_batch(rng, **given):
    """B, H, N and K, with some of them given."""
    drawn = dict(zip("BHNK", draw_sizes(rng, 4), strict=True)) | given
    return tuple(drawn[letter] for letter in "BHNK")


def tokens_to_split(rng, **given):
    B, H, N, K = heads_of_a_batch(rng, **given)
    return rng.normal(size=(B, N, H * K)), H


ordinary_tokens = varied(tokens_to_split, {}, {}, {"B": 1})
small_tokens = varied(tokens_to_split, {"N": 1}, {"H": 1}, {"K": 1})


def one_token_in_every_head(ask, rng):
    B, H, N, K = heads_of_a_batch(rng)
    q = rng.normal(size=(B, N, H * K))
    heads = ask(q, H)
    if slip := shape_slip(heads, (B, H, N, K)):
        return slip
    b, n = int(rng.integers(B)), int(rng.integers(1, N))
    edited = q.copy()
    edited[b, n] += 1.0
    changed = ~np.isclose(ask(edited, H), heads, rtol=0, atol=CLOSE)
    tokens = np.flatnonzero(changed[b].any(axis=(0, 2)))
    if changed[[other for other in range(B) if other != b]].any():
        return f"After an edit of one sequence of the batch (number {b}) your heads of another sequence change."
    if list(tokens) != [n] or not changed[b, :, n].all():
        return f"After an edit of token {n} every head should change, and for that token only; yours do not."
    return None


def heads_to_join(rng, **given):
    return (rng.normal(size=heads_of_a_batch(rng, **given)),)


ordinary_heads = varied(heads_to_join, {}, {}, {"B": 1})
small_heads = varied(heads_to_join, {"N": 1}, {"H": 1}, {"K": 1})


def undoes_the_split(ask, rng):
    q, H = tokens_to_split(rng)
    joined = ask(split_heads(q, H))
    if slip := shape_slip(joined, q.shape):
        return slip
    if not close(joined, q):
        return "Tokens that were split and then joined by your function are not the tokens they were."
    return None


# concatenate


def outputs_of_heads(X, U_q, U_k, U_v, U_o):
    return multihead.multi_head_concatenated(X, U_q, U_k, U_v, U_o)[0]


def tokens_and_heads(rng, n_tokens=None, n_heads=None):
    D, N, H, K, V = draw_sizes(rng, 5)
    N, H = n_tokens or N, n_heads or H
    U_q, U_k, U_v = (rng.normal(size=(H, width, D)) / np.sqrt(D) for width in (K, K, V))
    return rng.normal(size=(D, N)), U_q, U_k, U_v, rng.normal(size=(H, D, V)) / np.sqrt(V)


ordinary_layers = varied(tokens_and_heads, {}, {}, {"n_tokens": 1}, {"n_heads": 1})
large_layers = scaled(tokens_and_heads, 6.0, 150.0)


def heads_add_up(ask, rng):
    X, *maps = tokens_and_heads(rng)
    Y = ask(X, *maps)
    if slip := shape_slip(Y, X.shape):
        return slip
    H = len(maps[0])
    order = np.roll(np.arange(H), 1)
    if not close(ask(X, *(U[order] for U in maps)), Y):
        return "The same heads in another order are the same layer, but your outputs change."
    alone = [ask(X, *(U[h : h + 1] for U in maps)) for h in range(H)]
    if not all(isinstance(part, np.ndarray) and part.shape == Y.shape for part in alone):
        return "With a single head your outputs have another shape."
    if not close(sum(alone), Y):
        return "Your layer is not the sum of its heads: each head alone, added up, gives other outputs."
    apart = [a for a in range(1, H) if not close(alone[a], alone[0])]
    return None if apart else "Heads with other maps must give other outputs, but yours are all alike."


# values


def value_matrices(qkv, out, n_heads):
    width = out.shape[1] // n_heads
    rows = qkv[2 * out.shape[1] :]
    parts = [slice(h * width, (h + 1) * width) for h in range(n_heads)]
    return multihead.low_rank_values(np.stack([out[:, p] for p in parts]), np.stack([rows[p] for p in parts]))


def stored_weights(rng, usual):
    K, H, D = draw_sizes(rng, 3)
    D = H * K if usual else D
    return rng.normal(size=(3 * H * K, D)) / np.sqrt(D), rng.normal(size=(D, H * K)) / np.sqrt(K), H


def usual_width(rng):
    return [stored_weights(rng, usual=True) for _ in range(2)]


def other_width(rng):
    wide, narrow = stored_weights(rng, usual=False), rng.normal(size=(3 * 6, 7))
    return [wide, (narrow, rng.normal(size=(7, 6)), 2), (narrow, rng.normal(size=(7, 6)), 1)]


def thin_and_together(ask, rng):
    K, H = draw_sizes(rng, 2)
    D = H * K
    qkv, out = rng.normal(size=(3 * D, D)) / np.sqrt(D), rng.normal(size=(D, D)) / np.sqrt(K)
    matrices = ask(qkv, out, H)
    if slip := shape_slip(matrices, (H, D, D)):
        return slip
    ranks = [int(np.linalg.matrix_rank(V_h)) for V_h in matrices]
    if max(ranks) > K:
        return (
            f"A head passes on {K} numbers of a token, so its matrix has rank {K} at most; one of yours "
            f"has {max(ranks)}."
        )
    x, A = rng.normal(size=D), matrices.sum(axis=0)
    if not close(A @ x, out @ (qkv[2 * D :] @ x)):
        return (
            "When all heads look at one and the same token, together they give what the stored weights make of it in "
            "one go; the sum of your matrices does not."
        )
    return None


# counts


def count(what, D, N, H, K, G):
    width, shared = H * K, 2 * G * K
    sizes = {"queries": (width, D), "keys and values": (shared, D), "output": (D, width)}
    if what == "parameters":
        return sum(rows * columns + rows for rows, columns in sizes.values())
    if what == "flops":
        return sum(2 * rows * columns * N for rows, columns in sizes.values()) + 2 * (2 * N * N * width)
    return H * N * N if what == "scores" else shared


def layers_to_count(what):
    def cases(rng):
        found = []
        for _ in range(2):
            K, m, N = (int(rng.choice(options)) for options in ((7, 9, 11), (2, 3), (13, 17, 19)))
            G, D = int(rng.choice((4, 5))), int(rng.choice((23, 29, 31)))
            found += [
                (what, G * K, N, G, K, G),
                (what, D, N, G, K, G),
                (what, D, N, m * G, K, G),
                (what, D, N, m * G, K, 1),
            ]
        return found

    return cases


# groups


def grouped_attend(q, k, v):
    m = q.shape[1] // k.shape[1]
    outputs = [
        [attention.attend(q[b, h].T, k[b, h // m].T, v[b, h // m].T)[0].T for h in range(q.shape[1])]
        for b in range(len(q))
    ]
    return np.array(outputs)


def grouped_heads(rng, m, G, n_targets=None, n_sources=None):
    """G groups of m heads: m · G is one of the sizes, and the other sizes do not divide it."""
    B, N, S, K, V = draw_sizes(rng, 5, [size for size in SIZES if size != m * G])
    N, S = n_targets or N, n_sources or S
    return rng.normal(size=(B, m * G, N, K)), rng.normal(size=(B, G, S, K)), rng.normal(size=(B, G, S, V))


def shared_heads(rng):
    lengths = {"n_targets": 1}, {"n_sources": 1}
    return [grouped_heads(rng, 2, 3), grouped_heads(rng, 3, 2), *(grouped_heads(rng, 2, 3, **one) for one in lengths)]


all_or_one = varied(grouped_heads, {"m": 1, "G": 5}, {"m": 5, "G": 1})
large_groups = scaled(partial(grouped_heads, m=3, G=2), 30.0, 1e4)


def an_edit_stays_in_its_group(ask, rng):
    q, k, v = grouped_heads(rng, 2, 3)
    y = ask(q, k, v)
    if slip := shape_slip(y, (*q.shape[:3], v.shape[3])):
        return slip
    odd_tokens = (np.arange(k.shape[2]) % 2)[:, None]  # the same edit of all keys would change no weight
    for name in ("keys", "values"):
        group = int(rng.integers(1, 3))
        offered = {"keys": k.copy(), "values": v.copy()}
        offered[name][:, group] += odd_tokens * rng.normal(size=offered[name].shape[-1])
        changed = ~np.isclose(ask(q, *offered.values()), y, rtol=0, atol=CLOSE)
        heads = [int(h) for h in np.flatnonzero(changed.any(axis=(0, 2, 3)))]
        if heads != [2 * group, 2 * group + 1]:
            return (
                f"With 6 heads in 3 groups an edit of the {name} of group {group} (counting from 0) reaches "
                f"your heads {heads}: these are not the heads of that group."
            )
    return None


# museum


def repaired_layer(x, W_q, W_k, W_v, W_o, n_heads, causal):
    N = x.shape[1]
    mask = np.tri(N, dtype=bool).T if causal else None
    U_q, U_k, U_v = (np.stack(np.split(W.T, n_heads)) for W in (W_q, W_k, W_v))
    U_o = np.stack(np.split(W_o.T, n_heads, axis=1))
    return np.stack([multihead.multi_head_concatenated(one.T, U_q, U_k, U_v, U_o, mask)[0].T for one in x])


def batch_and_layer(rng, causal, factor=1.0, **given):
    B, N, H, K, D = draw_sizes(rng, 5)
    N, H = given.get("N", N), given.get("H", H)
    maps = [rng.normal(size=(D, H * K)) / np.sqrt(D) for _ in range(3)]
    return factor * rng.normal(size=(B, N, D)), *maps, rng.normal(size=(H * K, D)) / np.sqrt(K), H, causal


def all_tokens(rng):
    return [batch_and_layer(rng, False), batch_and_layer(rng, False), batch_and_layer(rng, False, N=1)]


def earlier_tokens(rng):
    return [batch_and_layer(rng, True), batch_and_layer(rng, True), batch_and_layer(rng, True, H=1)]


def large_batches(rng):
    return [batch_and_layer(rng, False, 6.0), batch_and_layer(rng, True, 150.0)]


def no_exchange(ask, x, *rest):
    """A sentence when tokens do not look at each other: such a layer has every property below for free."""
    y = ask(x, *rest, False)
    if slip := shape_slip(y, x.shape):
        return slip
    edited = x.copy()
    edited[:, -1] += 1.0
    if close(ask(edited, *rest, False)[:, :-1], y[:, :-1]):
        return "Without `causal` an edit of the last token must reach the other outputs; yours stay as they were."
    return None


def order_and_future(ask, rng):
    x, *rest, _ = batch_and_layer(rng, True)
    if slip := no_exchange(ask, x, *rest):
        return slip
    N = x.shape[1]
    order = np.roll(np.arange(N), int(rng.integers(1, N)))
    if not close(ask(x[:, order], *rest, False), ask(x, *rest, False)[:, order]):
        return "With the tokens in another order your outputs are not the same ones in that order."
    edited, before = x.copy(), ask(x, *rest, True)
    if slip := shape_slip(before, x.shape):
        return slip
    edited[:, -1] += 1.0
    if not close(ask(edited, *rest, True)[:, :-1], before[:, :-1]):
        return "Causal, and yet an edit of the last token changes your outputs for earlier tokens."
    return None


def ignored_features(ask, rng):
    x, W_q, W_k, W_v, W_o, H, _ = batch_and_layer(rng, False)
    if slip := no_exchange(ask, x, W_q, W_k, W_v, W_o, H):
        return slip
    y = ask(x, W_q, W_k, W_v, W_o, H, False)
    longer = np.concatenate([x, rng.normal(size=x.shape)], axis=-1)
    maps = [np.concatenate([W, np.zeros_like(W)]) for W in (W_q, W_k, W_v)]
    came = ask(longer, *maps, np.concatenate([W_o, W_o], axis=1), H, False)
    if not close(came, np.concatenate([y, y], axis=-1)):
        return "Features that every map multiplies by 0 must change nothing, but your outputs change."
    parts = zip(*(np.split(W, H, axis=1) for W in (W_q, W_k, W_v)), np.split(W_o, H), strict=True)
    alone = [ask(x, *part, 1, False) for part in parts]
    if not all(isinstance(part, np.ndarray) and part.shape == y.shape for part in alone) or not close(sum(alone), y):
        return "Each head run alone, and then added up, gives other outputs than your layer."
    return None


EXERCISE = Exercise(
    slug="04-multi-head",
    title="Multi-head attention",
    chapter="chapters/04-multi-head",
    questions=(
        Question(
            id="split",
            title="Cut tokens into heads",
            name="split_heads",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 6, ordinary_tokens, split_heads),
                equals("one token, one head, width one", 2, small_tokens, split_heads),
                holds("a token is in every head", 2, one_token_in_every_head),
            ),
            hints=(
                "Write down which features of a token belong to head 0, which to head 1, for D = 6 and 3 heads.",
                "Two steps: one gives every token an inner table of heads, and moves no number in memory; the other "
                "changes the order of the axes.",
                "After the first step the axes are batch, token, head, feature of the head. Compare with the order "
                "that is asked for: which two have to change places?",
            ),
            section="the-reshape-trick",
        ),
        Question(
            id="join",
            title="Join heads into tokens",
            name="merge_heads",
            minutes=8,
            difficulty=1,
            checks=(
                equals("values", 4, ordinary_heads, merge_heads),
                equals("one token, one head, width one", 2, small_heads, merge_heads),
                holds("undoes the split", 2, undoes_the_split),
            ),
            hints=(
                "You have split tokens. Which was your last step? The way back begins by undoing it.",
                "Two axes can be glued together only when they are neighbours, and in the right order.",
                "Before gluing, the numbers of one token have to lie next to one another: head after head, within "
                "each token.",
            ),
            section="the-reshape-trick",
        ),
        Question(
            id="concatenate",
            title="Concatenate, then project",
            name="multi_head_concatenated",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 8, ordinary_layers, outputs_of_heads),
                equals("large scores", 3, large_layers, outputs_of_heads),
                holds("a sum of heads", 5, heads_add_up),
            ),
            hints=(
                "Begin with one head: queries, keys and values of width K, K and Kv, then scaled attention as in "
                "chapter 3.",
                "Each head hands over a table with Kv rows. Decide whether you add up full-size contributions or "
                "stack these tables; both are one and the same product of block matrices.",
                "If you stack: the tables lie on top of one another in the order of the heads, so the output maps "
                "must stand in the same order, side by side. Look at whether a reshape would do that.",
            ),
            section="concatenate-then-project",
        ),
        Question(
            id="values",
            title="Turner's matrices from stored weights",
            name="value_matrices",
            minutes=12,
            difficulty=2,
            checks=(
                equals("heads as wide as the token", 5, usual_width, value_matrices),
                equals("other widths", 3, other_width, value_matrices),
                holds("thin, and together the whole", 4, thin_and_together),
            ),
            hints=(
                "First find the rows of `qkv` that make values: how many rows are there of each of the three kinds?",
                "Head h makes K values out of a token with some *rows* of that part. The output matrix multiplies "
                "these K numbers: with which of its rows or columns?",
                "Read the product from right to left, as a token meets it: first D numbers become K, then K become D.",
            ),
            section="concatenate-then-project",
        ),
        Question(
            id="counts",
            title="What do heads cost?",
            name="count",
            minutes=15,
            difficulty=2,
            checks=(
                equals("parameters", 5, layers_to_count("parameters"), count, atol=1e-12),
                equals("FLOPs", 5, layers_to_count("flops"), count, atol=1e-12),
                equals("scores", 2, layers_to_count("scores"), count, atol=1e-12),
                equals("cache", 2, layers_to_count("cached"), count, atol=1e-12),
            ),
            hints=(
                "Draw the four maps as rectangles and write height and width at each: queries, keys, values, output. "
                "Which of them does G change?",
                "A map has as many biases as it has outputs. And a product of an a × b and a b × c matrix takes 2abc "
                "FLOPs.",
                "Besides the four maps there are two products for every head that has queries, whether or not it "
                "shares its keys; both have the number of tokens in them twice.",
            ),
            section="what-heads-cost",
        ),
        Question(
            id="groups",
            title="Groups that share keys and values",
            name="grouped_attend",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 6, shared_heads, grouped_attend),
                equals("one group, or one each", 2, all_or_one, grouped_attend),
                equals("large scores", 2, large_groups, grouped_attend),
                holds("an edit stays in its group", 4, an_edit_stays_in_its_group),
            ),
            hints=(
                "List for H = 6 and G = 3, counting from 0, which key-value head each of the six heads uses.",
                "When keys and values have H heads as well, a product broadcasts over batch and heads. So give every "
                "head its own copy of what its group has: in which order do the copies stand?",
                "Neighbouring heads share: a copy follows its original at once. Then transpose the last two axes of "
                "the keys, and only those.",
            ),
            section="sharing-keys-and-values",
        ),
        Question(
            id="museum",
            title="Stretch: repair the museum piece",
            name="repaired_layer",
            minutes=20,
            difficulty=3,
            checks=(
                equals("all tokens", 5, all_tokens, repaired_layer),
                equals("causal", 4, earlier_tokens, repaired_layer),
                equals("large scores", 2, large_batches, repaired_layer),
                holds("order and future", 4, order_and_future),
                holds("ignored features, heads apart", 3, ignored_features),
            ),
            hints=(
                "The softmax and the mask are right. Look at each line that changes a shape, and at the number under "
                "the root.",
                "Put 10·token + feature into x and identity matrices into the maps, and look at what each head gets; "
                "then look at what becomes of it on the way back.",
                "Two lines move numbers from token to token without changing any shape, and the second partly undoes "
                "the first. The third slip depends on how wide a token is, where it should depend on how wide a head "
                "is.",
            ),
            section="the-mistake-that-keeps-every-shape",
        ),
    ),
)
