"""Named wrong solutions of exercise 08: what learners write, and the sentence that tells them so."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import WrongSolutions
from clearcheck.tape import value_and_gradients

_spec = spec_from_file_location("clearcheck_parts_08", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

# In a notebook these names are the learner's own functions.
embed, split_heads, merge_heads, mlp = parts.embed, parts.split_heads, parts.merge_heads, parts.mlp
sinusoidal, layer_norm = parts.sinusoidal, parts.layer_norm
masked_attend, attention_part = parts.masked_attend, parts.attention_part
encoder, decoder = parts.encoder, parts.decoder

wrong = WrongSolutions()
WRONG = wrong


# mask


@wrong(
    "mask",
    says="The weights are computed over all sources and the hidden ones are set to 0 afterwards, so the future "
    "stays in the denominator.",
    section="what-happens-if-the-mask-comes-late",
)
def mask_comes_late(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    weights = weights * may_look
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="You mask after the softmax and divide by the sum that is left: where a hidden source took all the "
    "weight, that is 0 divided by 0.",
    section="what-happens-if-the-mask-comes-late",
)
def late_and_divided_again(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    weights = weights / weights.sum(axis=3, keepdims=True) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / total


@wrong(
    "mask",
    says="You read True as hidden; here it says that the target may look.",
    section="the-mask-goes-before-the-softmax",
)
def true_hides(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    may_look = ~may_look
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True)) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="A hidden score becomes 0 instead of vanishing, and the exponential of 0 is 1.",
    section="the-mask-goes-before-the-softmax",
)
def hidden_scores_zero(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = scores * may_look
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="The truth values are added to the scores as 1 and 0, which only favours the visible sources a little.",
    section="the-mask-goes-before-the-softmax",
)
def mask_added(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = scores + may_look
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="Where a target may look nowhere you divide 0 by 0 or subtract one infinity from another.",
    section="the-mask-goes-before-the-softmax",
)
def no_guard_for_nothing(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = np.where(may_look, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / total


@wrong(
    "mask",
    says="A target that may look nowhere gets the average of all values, because a large negative number is not −∞.",
    section="the-mask-goes-before-the-softmax",
)
def average_of_everything(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="You make a triangle of your own and never look at the mask that came in.",
    section="the-mask-goes-before-the-softmax",
)
def always_a_triangle(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    may_look = np.tri(q.shape[2], k.shape[2], dtype=bool)
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True)) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="The mask that came in is not used at all.",
    section="the-mask-goes-before-the-softmax",
)
def mask_ignored(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="The softmax runs over the targets; the sources of one target have to share its weight.",
    section="the-mask-goes-before-the-softmax",
)
def softmax_over_targets(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True)) * may_look
    total = weights.sum(axis=2, keepdims=True)
    return (weights / np.where(total > 0, total, 1.0)) @ v


@wrong(
    "mask",
    says="The scores are not divided by the square root of the width of a head.",
    section="the-mask-goes-before-the-softmax",
)
def never_scaled(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3)
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True)) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="The exponential meets large scores as they are and overflows.",
    section="the-mask-goes-before-the-softmax",
)
def overflows(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="You subtract the largest of all scores, hidden ones included; where a hidden score is huge every visible"
    " weight becomes 0.",
    section="the-mask-goes-before-the-softmax",
)
def maximum_before_hiding(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    weights = np.exp(scores - scores.max(axis=3, keepdims=True)) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="Your mask lies on its side: a row of the mask belongs to a target, as in the table of scores.",
    section="the-mask-goes-before-the-softmax",
)
def mask_transposed(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    may_look = may_look.T
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True)) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="Where a target may look nowhere, the same large negative number on all its scores leaves their "
    "differences, and so its weights, as they were.",
    section="the-mask-goes-before-the-softmax",
)
def large_negative_added(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = scores + np.where(may_look, 0.0, -1e9)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


@wrong(
    "mask",
    says="The exponential meets large scores as they are and overflows, and infinity times False is not a number.",
    section="the-mask-goes-before-the-softmax",
)
def overflows_behind_the_mask(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    weights = np.exp(scores) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights / np.where(total > 0, total, 1.0) @ v


@wrong(
    "mask",
    says="10,000 is taken off the hidden scores, and where scores are in the ten thousands that does not hide them.",
    section="the-mask-goes-before-the-softmax",
)
def too_little_taken_off(q, k, v, may_look):
    scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
    scores = scores - 1e4 * ~may_look
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    weights = weights / weights.sum(axis=3, keepdims=True)
    return weights @ v * may_look.any(axis=1)[:, None]


# cross


@wrong(
    "cross",
    says="You normalise the memory, which the encoder's last norm has done already.",
    section="encoder-and-decoder-together",
)
def memory_normed_again(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else layer_norm(z.reshape(-1, z.shape[2]).T, *norm).T.reshape(z.shape)
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="When the sequence looks at itself, keys and values are made of the raw x, and only the queries of the "
    "normalised one.",
    section="the-whole-block",
)
def sources_not_normed(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = x if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The norm is left out: queries, keys and values come from the raw stream.",
    section="the-whole-block",
)
def nothing_normed(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = x
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The input is not added to what attention gives, so nothing of the stream is left.",
    section="the-whole-block",
)
def no_residual(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="You add the normalised x; what is added to is the stream as it came.",
    section="the-whole-block",
)
def residual_of_the_norm(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return asking + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="A reshape was to turn rows into columns: it cuts the numbers anew, and the norm sees a mixture of tokens.",
    section="the-whole-block",
)
def rows_cut_into_columns(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(x.shape[2], -1), *norm).reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The norm takes its mean and spread over the tokens of a sequence; each token is normalised over its own "
    "features.",
    section="the-incremental-property",
)
def mean_over_the_tokens(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * norm[0] + norm[1]
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="z is never used: the sequence looks at itself all the time.",
    section="cross-attention",
)
def always_looks_at_itself(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The values come from the side that asks; where both lengths differ, keys and values no longer belong "
    "together.",
    section="cross-attention",
)
def values_from_the_target(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(asking @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="Queries come from the memory, keys and values from the sequence that asks.",
    section="cross-attention",
)
def roles_swapped(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(sources @ W_q, n_heads),
        split_heads(asking @ W_k, n_heads),
        split_heads(asking @ W_v, n_heads),
    )
    may_look = np.ones((sources.shape[1], x.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The triangle hides sources also where nothing is to be hidden.",
    section="the-encoder-has-no-mask",
)
def always_causal(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look)
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="causal is never looked at, so a token sees what comes after it.",
    section="the-mask-goes-before-the-softmax",
)
def never_causal(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The triangle is shifted by one, so that a token sees the next one.",
    section="the-mask-goes-before-the-softmax",
)
def sees_the_next(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look, 1) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The heads are joined without bringing the tokens to the front, so each row mixes several tokens.",
    section="cross-attention",
)
def heads_joined_by_reshape(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (
        split_heads(asking @ W_q, n_heads),
        split_heads(sources @ W_k, n_heads),
        split_heads(sources @ W_v, n_heads),
    )
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + masked_attend(q, k, v, may_look).reshape(x.shape) @ W_o


@wrong(
    "cross",
    says="The triangle is the other one: a token sees itself and what comes after it.",
    section="the-mask-goes-before-the-softmax",
)
def triangle_upside_down(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (split_heads(y @ W, n_heads) for y, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.triu(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The output map W_o is missing: the joined heads are added as they are.",
    section="cross-attention",
)
def output_map_forgotten(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, _ = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (split_heads(y @ W, n_heads) for y, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look))


@wrong(
    "cross",
    says="The norm comes last, over the sum; here it stands first, and what it gives is never added.",
    section="the-whole-block",
)
def norm_last(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = x
    sources = asking if z is None else z
    q, k, v = (split_heads(y @ W, n_heads) for y, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return layer_norm(
        (x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o).reshape(-1, x.shape[2]).T, *norm
    ).T.reshape(x.shape)


@wrong(
    "cross",
    says="split_heads is asked for as many heads as a head is wide; it wants the number of heads.",
    section="cross-attention",
)
def width_for_number(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (split_heads(y @ W, x.shape[2] // n_heads) for y, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="The maps are transposed; here they stand to the right of a row as they are.",
    section="cross-attention",
)
def maps_on_their_side(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = (W.T for W in maps)
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (split_heads(y @ W, n_heads) for y, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


@wrong(
    "cross",
    says="There is one head over all the features, whatever n_heads says.",
    section="cross-attention",
)
def one_wide_head(x, z, norm, maps, n_heads, causal):
    W_q, W_k, W_v, W_o = maps
    asking = layer_norm(x.reshape(-1, x.shape[2]).T, *norm).T.reshape(x.shape)
    sources = asking if z is None else z
    q, k, v = (split_heads(y @ W, 1) for y, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    may_look = np.ones((x.shape[1], sources.shape[1]), dtype=bool)
    may_look = np.tril(may_look) if causal else may_look
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


# encoder


@wrong(
    "encoder",
    says="Positions go by the slot in the batch, so every token of a sequence gets the same one.",
    section="the-incremental-property",
)
def places_by_batch_slot(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(len(ids), x.shape[2]).T[:, None]
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="No positions are added, so the order of the tokens is lost.",
    section="the-encoder-has-no-mask",
)
def positions_forgotten(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="positions=False is not looked at: the sinusoids are added all the same.",
    section="the-encoder-has-no-mask",
)
def positions_always(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The positions are added again in front of every block; they belong to the tokens alone.",
    section="the-encoder-has-no-mask",
)
def positions_in_each_block(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    for block in p["blocks"]:
        x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The positions begin at 1; the first token stands at place 0.",
    section="the-encoder-has-no-mask",
)
def positions_from_one(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2], 1).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The positions count from the end of the sequence.",
    section="the-encoder-has-no-mask",
)
def positions_backwards(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T[::-1]
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="Your encoder is causal; an encoder may read everything before it answers.",
    section="the-encoder-has-no-mask",
)
def masked_encoder(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The norm after the last block is missing.",
    section="blocks-on-blocks",
)
def no_last_norm(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return x


@wrong(
    "encoder",
    says="The last norm is applied after every block instead of once at the end.",
    section="blocks-on-blocks",
)
def norm_after_each_block(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
        x = alone(layer_norm, x, p["norm"])
    return x


@wrong(
    "encoder",
    says="Every block uses the parameters of the first one.",
    section="blocks-on-blocks",
)
def first_block_again(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in len(p["blocks"]) * p["blocks"][:1]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="What the feed-forward network gives replaces the stream instead of being added to it.",
    section="the-whole-block",
)
def no_residual_in_the_network(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="Both halves of a block use the first norm.",
    section="the-whole-block",
)
def norm_1_for_both(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_1"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The feed-forward half of the block is missing.",
    section="the-whole-block",
)
def network_forgotten(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="A reshape was to turn columns into rows: the numbers of different tokens are mixed.",
    section="the-whole-block",
)
def tokens_cut_anew(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = embed(p["E"], ids.ravel()).reshape(*ids.shape, -1)
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="attention_part has added the stream already, and you add it a second time.",
    section="the-whole-block",
)
def residual_twice(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = x + attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="You hand over x as z, so keys and values come from a stream that has not been normalised.",
    section="the-whole-block",
)
def stream_as_its_own_memory(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, x, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The feed-forward network reads the stream as it is; its norm stands before it.",
    section="the-whole-block",
)
def network_without_norm(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, x, block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The places run on from one sequence of the batch to the next; each sequence begins at 0.",
    section="the-incremental-property",
)
def places_run_on(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.size, x.shape[2]).T.reshape(x.shape)
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="Only the first block is used; the stream has to pass through all of them.",
    section="blocks-on-blocks",
)
def only_the_first_block(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"][:1]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "encoder",
    says="The embedding is multiplied by the square root of D, as in some models; here it is not.",
    section="blocks-on-blocks",
)
def embedding_scaled(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.sqrt(len(p["E"])) * np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


# decoder


@wrong(
    "decoder",
    says="The self-attention of the decoder has no mask, so every token sees what it is to predict.",
    section="the-mask-goes-before-the-softmax",
)
def sees_the_future(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The triangle is used in the cross-attention, too, and hides sources that have long been read.",
    section="four-facts-about-cross-attention",
)
def triangle_in_both(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, True)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="Both attentions look at the target: the memory is never read.",
    section="encoder-and-decoder-together",
)
def memory_unused(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, None, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The cross-attention is missing, so nothing is known about the source.",
    section="encoder-and-decoder-together",
)
def no_cross_attention(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The first attention of the block looks at the memory, too; the target never looks at itself.",
    section="encoder-and-decoder-together",
)
def self_at_memory(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, memory, block["norm_1"], block["self"], n_heads, False)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The cross-attention uses the maps of the self-attention.",
    section="encoder-and-decoder-together",
)
def self_maps_twice(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["self"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The cross-attention comes before the self-attention.",
    section="encoder-and-decoder-together",
)
def cross_before_self(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The memory is normalised once more before it is looked at.",
    section="cross-attention",
)
def memory_normed(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, alone(layer_norm, memory, p["norm"]), block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="You return probabilities: the scores go through a softmax that belongs to the loss.",
    section="encoder-and-decoder-together",
)
def probabilities(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    y = np.exp(alone(layer_norm, x, p["norm"]) @ p["head"])
    return y / y.sum(axis=2, keepdims=True)


@wrong(
    "decoder",
    says="The head is missing: you return the stream instead of one score for every word.",
    section="encoder-and-decoder-together",
)
def no_head(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


@wrong(
    "decoder",
    says="No positions are added to the target.",
    section="encoder-and-decoder-together",
)
def no_positions(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="Positions are counted from the end, so a new token gives every old one another number.",
    section="the-incremental-property",
)
def places_from_the_end(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T[::-1]
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The last norm runs over the tokens of the sequence, and so each output sees the later ones.",
    section="the-incremental-property",
)
def norm_over_the_sequence(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return (x * p["norm"][0] + p["norm"][1]) @ p["head"]


@wrong(
    "decoder",
    says="You shift the ids inside the decoder; they come with the start token in front, ready to be read.",
    section="encoder-and-decoder-together",
)
def already_shifted(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in np.roll(ids, 1, axis=1)])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="attention_part has added the stream already, and you add it a second time.",
    section="the-whole-block",
)
def stream_added_twice(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = x + attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = x + attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The norm between the last block and the head is missing.",
    section="blocks-on-blocks",
)
def no_norm_before_the_head(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return x @ p["head"]


@wrong(
    "decoder",
    says="norm_cross and norm_2 have changed places; each belongs to the step that it is named after.",
    section="encoder-and-decoder-together",
)
def norms_exchanged(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_2"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_cross"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The feed-forward network comes before the cross-attention; it is the last step of a block.",
    section="encoder-and-decoder-together",
)
def network_before_memory(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "decoder",
    says="The memory is looked at after the last block only; every block looks at it, between its other two steps.",
    section="encoder-and-decoder-together",
)
def memory_after_all_blocks(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    for block in p["blocks"]:
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
    return alone(layer_norm, x, p["norm"]) @ p["head"]


# count


@wrong(
    "count",
    says="You count a full D × D map for every head; the heads share one.",
    section="what-one-block-costs",
)
def a_map_for_each_head(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * H * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="You count biases in the maps of attention; they have none here.",
    section="what-one-block-costs",
)
def biases_in_attention(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D + 4 * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="You count three maps in attention and forget the output map.",
    section="what-one-block-costs",
)
def no_output_map(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 3 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="The norms at the end of the two stacks are forgotten.",
    section="what-one-block-costs",
)
def no_last_norms(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network)
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network)
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="The norms inside the blocks are not counted.",
    section="what-one-block-costs",
)
def no_norms_in_the_blocks(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="A block of the decoder has three norms, and you count two.",
    section="what-one-block-costs",
)
def two_norms_in_the_decoder(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 2 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="A block of the decoder has two attentions, and you count one.",
    section="what-one-block-costs",
)
def one_attention_in_the_decoder(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="The biases of the feed-forward network are forgotten.",
    section="what-one-block-costs",
)
def network_without_biases(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="The start token has a column of its own in E, and you do not count it.",
    section="what-one-block-costs",
)
def start_token_forgotten(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="The head has no score for the start token, which is never predicted.",
    section="what-one-block-costs",
)
def start_token_in_the_head(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * (V_target + 1))


@wrong(
    "count",
    says="tied is not looked at: shared numbers are counted twice.",
    section="what-one-block-costs",
)
def tied_counted_twice(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + D * V_target


@wrong(
    "count",
    says="tied is turned round: you count the head when it is shared and leave it out when it is not.",
    section="what-one-block-costs",
)
def tied_turned_round(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (D * V_target if tied else 0)


@wrong(
    "count",
    says="You count a learned position for every feature; the sinusoids are computed, not learned.",
    section="what-one-block-costs",
)
def positions_counted(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    norm = 2 * D
    return 2 * D + reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="You count one block in each stack, not M.",
    section="what-one-block-costs",
)
def one_block_each(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="The chapter's sum for a block holds for a hidden width of 4 D and for maps with biases; here the width is F, "
    "and the maps have none.",
    section="what-one-block-costs",
)
def sum_of_the_chapter(V_source, V_target, D, H, F, M, tied):
    reader = D * V_source + M * (12 * D * D + 13 * D) + 2 * D
    writer = D * (V_target + 1) + M * (16 * D * D + 19 * D) + 2 * D
    return reader + writer + (0 if tied else D * V_target)


@wrong(
    "count",
    says="You give the head a bias for each word; it is a map and nothing else.",
    section="what-one-block-costs",
)
def bias_of_the_head(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target) + V_target


@wrong(
    "count",
    says="One last norm is counted; encoder and decoder have one each.",
    section="what-one-block-costs",
)
def one_last_norm(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network)
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


# learn


@wrong(
    "learn",
    says="The decoder reads the targets as they are: in each column it is given the token that it is to predict.",
    section="encoder-and-decoder-together",
)
def reads_what_it_predicts(p, sources, targets, n_heads):
    def loss(p):
        written = targets
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The targets are rolled round, so that the last one stands in front instead of the start token.",
    section="encoder-and-decoder-together",
)
def last_token_first(p, sources, targets, n_heads):
    def loss(p):
        written = np.roll(targets, 1, axis=1)
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The text begins with word 0; the start token has an id of its own.",
    section="encoder-and-decoder-together",
)
def word_zero_starts(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), 0 * start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The inputs are shifted the wrong way: each column reads the token after the one it is to predict.",
    section="encoder-and-decoder-together",
)
def shifted_the_wrong_way(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([targets[:, 1:], np.full(len(targets), start)])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The encoder is given the targets, and the decoder only has to copy them from the memory.",
    section="encoder-and-decoder-together",
)
def encoder_reads_the_target(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], targets, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The softmax runs over the places; at each place the words compete with each other.",
    section="encoder-and-decoder-together",
)
def places_compete(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="You add up the losses of all targets; an average is asked for.",
    section="encoder-and-decoder-together",
)
def sum_instead_of_mean(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].sum()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The sign is missing: you return the mean of the log-probabilities, which training should raise, not lower.",
    section="encoder-and-decoder-together",
)
def sign_forgotten(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="You return one minus the mean probability; the loss is the mean of its negative logarithm.",
    section="encoder-and-decoder-together",
)
def one_minus_probability(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return 1 - np.exp(logs[batch, place, targets]).mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="You take the logarithm of a probability that has been rounded to 0.",
    section="encoder-and-decoder-together",
)
def quotient_under_the_log(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = np.log(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The memory is computed outside of what the tape follows, so no gradient reaches the encoder.",
    section="encoder-and-decoder-together",
)
def memory_cut_off(p, sources, targets, n_heads):
    memory = encoder(p["encoder"], sources, n_heads)

    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="This is the museum piece as it stands: its words do not compete, and it reads what it predicts.",
    section="encoder-and-decoder-together",
)
def museum_piece(p, sources, targets, n_heads):
    def loss(p):
        written = targets
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].sum() / len(targets)

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="You return the loss alone; the gradients are asked for as well.",
    section="encoder-and-decoder-together",
)
def loss_alone(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)[0]


@wrong(
    "learn",
    says="Inputs and targets are cut from the targets alone, so that the first token is never predicted and the "
    "start token never read.",
    section="encoder-and-decoder-together",
)
def first_token_never_asked(p, sources, targets, n_heads):
    def loss(p):
        written, wanted = targets[:, :-1], targets[:, 1:]
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(wanted.shape)
        return -logs[batch, place, wanted].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The scores are taken one place too late: they have read the token that they are to predict.",
    section="encoder-and-decoder-together",
)
def scores_one_place_late(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)[:, 1:]
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="The text begins with the last word of the head; the start token has the id after it.",
    section="encoder-and-decoder-together",
)
def last_word_starts(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1] - 1
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@wrong(
    "learn",
    says="You add up the losses of a target's tokens and average over the batch alone.",
    section="encoder-and-decoder-together",
)
def sum_for_each_pair(p, sources, targets, n_heads):
    def loss(p):
        start = p["decoder"]["head"].shape[1]
        written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
        memory = encoder(p["encoder"], sources, n_heads)
        logits = decoder(p["decoder"], written, memory, n_heads)
        logits = logits - logits.max(axis=2, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].sum() / len(targets)

    return value_and_gradients(loss, p)


# cache


@wrong(
    "cache",
    says="The places begin at 0 in every call; the new tokens stand behind the old ones.",
    section="what-breaks-it",
)
def places_from_zero(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2]).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="The places go by the number of new tokens and not by how many there were before.",
    section="what-breaks-it",
)
def places_by_new_tokens(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], N if cache else 0).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="The triangle does not know of the old tokens: its first row belongs to the first new one.",
    section="what-breaks-it",
)
def mask_not_shifted(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="The triangle is one short: a new token does not see itself.",
    section="what-breaks-it",
)
def only_the_old(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old - 1, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="There is no mask: with several new tokens at once, each sees those after it.",
    section="what-breaks-it",
)
def no_mask(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.ones((N, old + N), dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="The new keys and values are put before the old ones.",
    section="what-breaks-it",
)
def new_before_old(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([k, cache[m][0]], axis=2), np.concatenate([v, cache[m][1]], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="The cache that came in is not read: the new tokens look only at each other.",
    section="what-breaks-it",
)
def cache_forgotten(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, dtype=bool)
    for block in p["blocks"]:
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="The new cache holds the new tokens alone; the old ones are lost with it.",
    section="what-breaks-it",
)
def only_the_new_kept(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        kept.append((k, v))
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="Every block reads the keys and values of the first one.",
    section="what-breaks-it",
)
def first_block_for_all(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for block in p["blocks"]:
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[0][0], k], axis=2), np.concatenate([cache[0][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="You keep the queries in place of the keys; nobody asks for an old query again.",
    section="the-kv-cache",
)
def queries_kept(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((np.concatenate([cache[m][0], q], axis=2) if cache else q, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="You keep the normalised stream; keys and values, cut into heads, are asked for.",
    section="the-kv-cache",
)
def stream_kept(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((asking, asking))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="Keys and values are made of the raw stream, queries of the normalised one.",
    section="what-breaks-it",
)
def keys_not_normed(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(y @ W, n_heads) for y, W in zip((asking, x, x), block["self"][:3], strict=True))
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept


@wrong(
    "cache",
    says="You return the logits alone; the longer cache is lost.",
    section="what-breaks-it",
)
def cache_left_out_of_return(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"]


@wrong(
    "cache",
    says="You write into the list that came in, so the caller's cache is another one afterwards.",
    section="what-breaks-it",
)
def writes_into_the_cache(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    old, N = cache[0][0].shape[2] if cache else 0, ids.shape[1]
    x = np.stack([embed(p["E"], row).T for row in ids])
    x, kept = x + sinusoidal(N, x.shape[2], old).T, []
    may_look = np.tri(N, old + N, old, dtype=bool)
    for m, block in enumerate(p["blocks"]):
        asking = alone(layer_norm, x, block["norm_1"])
        q, k, v = (split_heads(asking @ W, n_heads) for W in block["self"][:3])
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        if cache:
            cache[m] = (k, v)
        kept.append((k, v))
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], kept
