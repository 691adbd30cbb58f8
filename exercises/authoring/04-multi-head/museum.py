"""Exercise 04, question museum: Stretch: repair the museum piece."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import Mask, with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip
from clearformer.reference import multihead


def repaired_layer(x, W_q, W_k, W_v, W_o, n_heads, causal):
    N = x.shape[1]
    mask = np.tri(N, dtype=bool).T if causal else None
    U_q, U_k, U_v = (np.stack(np.split(W.T, n_heads)) for W in (W_q, W_k, W_v))
    U_o = np.stack(np.split(W_o.T, n_heads, axis=1))
    return np.stack([multihead.multi_head_concatenated(one.T, U_q, U_k, U_v, U_o, mask)[0].T for one in x])


def batch_and_layer(rng, causal, factor=1.0, **given):
    B, N, H, K, D = given.get("sizes") or draw_sizes(rng, 5)
    N, H = given.get("N", N), given.get("H", H)
    maps = [rng.normal(size=(D, H * K)) / np.sqrt(D) for _ in range(3)]
    return factor * rng.normal(size=(B, N, D)), *maps, rng.normal(size=(H * K, D)) / np.sqrt(K), H, causal


def all_tokens(rng):
    given = {}, {}, {"N": 1}, {"sizes": (5, 7, 6, 1, 4)}, {"sizes": (4, 3, 3, 3, 9)}, {"sizes": (4, 5, 1, 7, 7)}
    return [batch_and_layer(rng, False, **one) for one in given]


def earlier_tokens(rng):
    return [batch_and_layer(rng, True), batch_and_layer(rng, True), batch_and_layer(rng, True, H=1)]


def large_batches(rng):
    return [batch_and_layer(rng, *given) for given in ((False, 6.0), (True, 150.0), (True, 1500.0))]


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


def draw_far_scores(rng, factor):
    x, W_q, *rest = batch_and_layer(rng, True)
    return x, factor * W_q, *rest


def last_token_changed(args):
    """The last token is another, and the outputs of those before it."""
    x, *rest = args
    edited = x.copy()
    edited[:, -1] += 1.0
    yield (edited, *rest), lambda y: y[:, :-1]


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


def batch_layer(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    return {"B": B, "N": N, "D": D, "H": n_heads, "K": W_q.shape[1] // n_heads}


def scores_of_batch(x, W_q, W_k, W_v, W_o, n_heads, causal):
    q, k = (np.stack(np.split(x @ W, n_heads, axis=2)) for W in (W_q, W_k))
    return q @ k.swapaxes(2, 3) / np.sqrt(W_q.shape[1] // n_heads)


QUESTION = Question(
    id="museum",
    title="Stretch: repair the museum piece",
    name="repaired_layer",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals("all tokens", 5, all_tokens, repaired_layer),
        equals("causal", 4, earlier_tokens, repaired_layer),
        equals("large scores", 2, large_batches, repaired_layer),
        holds("order and future", 4, order_and_future),
        holds("ignored features, heads apart", 3, ignored_features),
        mask=Mask("causal", draw_far_scores, last_token_changed),
        also=("causal",),
        off={"boundary": "what an answer compares is the table of who may look, which is 0 or 1"},
    ),
    hints=(
        "The softmax and the mask are right. Look at each line that changes a shape, and at the number under the root.",
        "Put 10·token + feature into x and identity matrices into the maps, and look at what each head gets; "
        "then look at what becomes of it on the way back.",
        "Two lines move numbers from token to token without changing any shape, and the second partly undoes "
        "the first. The third slip depends on how wide a token is, where it should depend on how wide a head "
        "is.",
    ),
    section="the-mistake-that-keeps-every-shape",
    inputs=Inputs(batch_layer, scores_of_batch, alike=("all tokens",)),
)

right, wrong = answers_to(QUESTION)


@right
def three_repairs(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N) > 0, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@right
def one_head_after_another(x, W_q, W_k, W_v, W_o, n_heads, causal):
    N, K = x.shape[1], len(W_o) // n_heads
    y = np.zeros((*x.shape[:2], W_o.shape[1]))
    for h in range(n_heads):
        own = slice(h * K, h * K + K)
        scores = np.einsum("bnk,bsk->bns", x @ W_q[:, own], x @ W_k[:, own]) / np.sqrt(K)
        if causal:
            scores[:, np.triu(np.ones((N, N), dtype=bool), 1)] = -np.inf
        A = np.exp(scores - scores.max(axis=2, keepdims=True))
        y += (A / A.sum(axis=2, keepdims=True)) @ (x @ W_v[:, own]) @ W_o[own]
    return y


@right
def with_letters(x, W_q, W_k, W_v, W_o, n_heads, causal):
    D = x.shape[2]
    U_q, U_k, U_v = (W.reshape(D, n_heads, -1) for W in (W_q, W_k, W_v))
    q, k, v = (np.einsum("bnd,dhk->bhnk", x, U) for U in (U_q, U_k, U_v))
    scores = np.einsum("bhnk,bhsk->bhns", q, k) * U_q.shape[2] ** -0.5
    if causal:
        scores = scores + np.where(np.tri(x.shape[1], dtype=bool), 0, -np.inf)
    A = np.exp(scores - scores.max(axis=3)[..., None])
    A = A / A.sum(axis=3)[..., None]
    return np.einsum("bhns,bhsk,hkd->bnd", A, v, W_o.reshape(n_heads, -1, W_o.shape[1]), optimize=True)


@right
def as_often_written(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong("This is the museum piece as it stood: three slips are left.")
def as_exhibited(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.reshape(B, N, -1) @ W_o


@wrong(
    "Every token gets its own value back: nothing leaks, but no token looks at another.",
    section="found-by-a-property",
)
def own_value(x, W_q, W_k, W_v, W_o, n_heads, causal):
    return x @ W_v @ W_o


wrong.edits("""
# three_repairs
## mask_lost [found-by-a-property]: You lost the mask on the way: with `causal` a token must not look at later ones.
- if causal:
-     scores = np.where(np.tri(N) > 0, scores, -np.inf)
## masked_to_zero [found-by-a-property]: You changed the mask: a score of 0 is a score like any other, and its
exponential is 1.
- scores = np.where(np.tri(N) > 0, scores, -np.inf)
+ scores = scores * np.tri(N)
## hundred_for_infinity [found-by-a-property]: You changed the mask: a score can lie below −100, and then a later token
gets the weight.
+ scores = np.where(np.tri(N) > 0, scores, -100.0)
## mask_always [found-by-a-property]: You mask always: without `causal` every token may look at every token.
- if causal:
-     scores = np.where(np.tri(N) > 0, scores, -np.inf)
+ scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)

# as_often_written
## only_split_repaired: The split is repaired, and now the join shows its fault; the scale is wrong as well.
- B, N, _ = x.shape
+ B, N, D = x.shape
- scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
- return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o
+ return y.reshape(B, N, -1) @ W_o
## only_join_repaired: The join is repaired, and now the split shows its fault; the scale is wrong as well.
- B, N, _ = x.shape
- q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
- scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ B, N, D = x.shape
+ q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
+ scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
## only_scale_repaired: The scale is repaired; tokens still lose their numbers to one another, on the way in and on the
way out.
- q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
+ q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
- return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o
+ return y.reshape(B, N, -1) @ W_o
## split_still_wrong: One slip is left, on the way in: a head gets pieces of other tokens.
- q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
+ q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
## join_still_wrong: One slip is left, on the way out: a token gets pieces of other tokens.
- return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o
+ return y.reshape(B, N, -1) @ W_o
## scale_still_wrong [common-mistakes]: One slip is left: the sharpness depends on how wide a token is.
- B, N, _ = x.shape
+ B, N, D = x.shape
- scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
## scale_removed [common-mistakes]: The scale is gone: nothing depends on the width of a token any more, but the scores
grow with that of a head.
- scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ scores = q @ k.swapaxes(-1, -2)
## root_of_joined_width [common-mistakes]: You take the root of the width of all heads; a score sums over the width of
one.
+ scores = q @ k.swapaxes(-1, -2) / np.sqrt(W_q.shape[1])
## root_of_a_share [common-mistakes]: Under the root you divide the width of a token by the heads; the maps say how wide
a head is.
- B, N, _ = x.shape
+ B, N, D = x.shape
- scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ scores = q @ k.swapaxes(-1, -2) / np.sqrt(D / n_heads)
## every_h_th_in_and_out [the-reshape-trick]: Your heads take every H-th feature, in and out; the layer is consistent,
but these maps were made for neighbours.
- q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
+ q, k, v = ((x @ W).reshape(B, N, -1, n_heads).transpose(0, 3, 1, 2) for W in (W_q, W_k, W_v))
- return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o
+ return y.transpose(0, 2, 3, 1).reshape(B, N, -1) @ W_o
## every_h_th_on_the_way_in [the-reshape-trick]: On the way in your heads take every H-th feature, not neighbours.
- q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
+ q, k, v = ((x @ W).reshape(B, N, -1, n_heads).transpose(0, 3, 1, 2) for W in (W_q, W_k, W_v))
## alternating_on_the_way_out [the-reshape-trick]: On the way out your features alternate between the heads.
- return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o
+ return y.transpose(0, 2, 3, 1).reshape(B, N, -1) @ W_o
## softmax_spoilt [several-heads-at-once]: You moved the softmax to another axis: it was right in the museum piece.
- powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
- y = powers / powers.sum(axis=-1, keepdims=True) @ v
+ powers = np.exp(scores - scores.max(axis=-2, keepdims=True))
+ y = powers / powers.sum(axis=-2, keepdims=True) @ v
## width_from_the_tokens [the-reshape-trick]: You divide the width of a token among the heads; the maps say how wide a
head is.
- B, N, _ = x.shape
- q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
+ B, N, D = x.shape
+ shape = (B, N, n_heads, D // n_heads)
+ q, k, v = ((x @ W).reshape(shape).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
## mask_not_low_enough [found-by-a-property]: You hide later tokens with −10 000, but a score can lie below: take −∞.
- scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
+ scores = np.where(np.tri(N, dtype=bool), scores, -1e4)
## mask_added [found-by-a-property]: You take 10 000 off the scores of later tokens; one that is higher by more is still
seen, so take −∞.
+ scores = scores - 1e4 * ~np.tri(N, dtype=bool)
""")
