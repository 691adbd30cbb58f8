"""Checks of exercise 08: rows against the library's columns, one sequence at a time, and properties of the whole."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.reference import attention, layers, multihead, positions, tokens
from clearformer.reference.functions import relu

_spec = spec_from_file_location("clearcheck_parts_08", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

SIZES = (4, 5, 6, 7, 9, 11, 13)  # no one divides another
CLOSE = 1e-9


def draw_sizes(rng, how_many, among=SIZES):
    return [int(size) for size in rng.choice(among, how_many, replace=False)]


def close(value, expected):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    return bool(np.allclose(value, expected, rtol=0, atol=CLOSE * scale))


def shape_slip(value, shape):
    """A sentence when the value is no array of this shape, else None."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return None
    came = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return f"The result should be an array of shape {shape}; yours is {came}."


# The reference: one sequence at a time, tokens in columns.


def per_sequence(function, *batches):
    return np.stack([function(*rows) for rows in zip(*batches, strict=True)])


def attention_reference(x, z, norm, maps, n_heads, mask=None):
    """X + MHA(LN(X)) of one sequence, D×N; the mask is S×N."""
    X = layers.layer_norm(x, *norm)
    Z = X if z is None else z
    cut = [np.stack(np.split(W, n_heads, axis=1)).swapaxes(1, 2) for W in maps[:3]]
    U_o = np.stack(np.split(maps[3], n_heads, axis=0)).swapaxes(1, 2)
    return x + multihead.cross_attention(X, Z, *cut, U_o, mask)[0]


def feed_forward_reference(x, block):
    return x + layers.mlp(layers.layer_norm(x, *block["norm_2"]), *block["mlp"], relu)


def embedded(E, ids, places=True):
    x = tokens.embed(E, ids)
    return x + positions.sinusoidal(len(ids), len(E)) if places else x


def encoder_reference(p, ids, n_heads, positions=True):
    def one(sequence):
        x = embedded(p["E"], sequence, positions)
        for block in p["blocks"]:
            x = attention_reference(x, None, block["norm_1"], block["self"], n_heads)
            x = feed_forward_reference(x, block)
        return layers.layer_norm(x, *p["norm"]).T

    return per_sequence(one, ids)


def decoder_reference(p, ids, memory, n_heads):
    def one(sequence, z):
        x = embedded(p["E"], sequence)
        mask = attention.causal_mask(len(sequence))
        for block in p["blocks"]:
            x = attention_reference(x, None, block["norm_1"], block["self"], n_heads, mask)
            x = attention_reference(x, z.T, block["norm_cross"], block["cross"], n_heads)
            x = feed_forward_reference(x, block)
        return layers.layer_norm(x, *p["norm"]).T @ p["head"]

    return per_sequence(one, ids, memory)


# Parameters


def random_norm(rng, D):
    return rng.normal(size=D) + 1.0, rng.normal(size=D)


def random_maps(rng, D):
    return tuple(rng.normal(size=(D, D)) / np.sqrt(D) for _ in range(4))


def random_block(rng, D, F, cross):
    wide = rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=F)
    narrow = rng.normal(size=(D, F)) / np.sqrt(F), rng.normal(size=D)
    block = {"norm_1": random_norm(rng, D), "self": random_maps(rng, D)}
    if cross:
        block |= {"norm_cross": random_norm(rng, D), "cross": random_maps(rng, D)}
    return block | {"norm_2": random_norm(rng, D), "mlp": (*wide, *narrow)}


def random_stack(rng, D, F, n_words, n_blocks, cross):
    blocks = [random_block(rng, D, F, cross) for _ in range(n_blocks)]
    p = {"E": rng.normal(size=(D, n_words)), "blocks": blocks, "norm": random_norm(rng, D)}
    return p | {"head": rng.normal(size=(D, n_words - 1)) / np.sqrt(D)} if cross else p


def random_sizes(rng):
    """Batch, targets, sources, heads and width of a head; D is H·K, and even for the sinusoids."""
    B, N, S = draw_sizes(rng, 3, (4, 7, 9, 11))
    H = int(rng.choice([2, 3]))
    K = 6 if H == 2 and rng.random() < 0.5 else 10
    return B, N, S, H, K


# mask


def masked_reference(q, k, v, may_look):
    def head(Q, K, V):
        return attention.attend(Q.T, K.T, V.T, may_look.T)[0].T

    return np.stack([per_sequence(head, *heads) for heads in zip(q, k, v, strict=True)])


def heads_and_mask(rng, n_targets=None, n_sources=None):
    B, H, N, S, K, V = draw_sizes(rng, 6)
    N, S = n_targets or N, n_sources or S
    q, k, v = rng.normal(size=(B, H, N, K)), rng.normal(size=(B, H, S, K)), rng.normal(size=(B, H, S, V))
    may_look = rng.random((N, S)) < 0.5
    may_look[np.arange(N), rng.integers(S, size=N)] = True
    return q, k, v, may_look


def ordinary_masks(rng):
    q, k, v, may_look = heads_and_mask(rng)
    causal = np.tri(q.shape[2], k.shape[2], dtype=bool)
    cases = [(q, k, v, may_look), (q, k, v, causal), (q, k, v, np.ones_like(causal))]
    return [*cases, heads_and_mask(rng, n_targets=1), heads_and_mask(rng, n_sources=1)]


def large_masked(rng):
    cases = []
    for factor in (30.0, 1e4):
        q, k, v, may_look = heads_and_mask(rng)
        cases.append((factor * q, k, v, may_look))
    q, k, v, may_look = heads_and_mask(rng)
    k = np.abs(k)
    k[:, :, 2] *= 1e4  # one source outshines all others, and is hidden from every second target
    may_look[:, 2] = np.arange(len(may_look)) % 2 == 0
    may_look[:, 3] = True
    return [*cases, (np.abs(q), k, v, may_look)]


def nowhere_to_look(rng):
    cases = []
    for factor in (1.0, 100.0):
        q, k, v, may_look = heads_and_mask(rng)
        may_look[rng.integers(len(may_look))] = False
        cases.append((factor * q, k, v, may_look))
    return cases


def hidden_stays_hidden(ask, rng):
    q, k, v, may_look = heads_and_mask(rng)
    s, n = 1, 2
    may_look[:, s], may_look[:, 3] = False, True
    may_look[n, s] = True
    before = ask(q, k, v, may_look)
    if slip := shape_slip(before, (*q.shape[:3], v.shape[3])):
        return slip
    k_edited, v_edited = k.copy(), v.copy()
    k_edited[:, :, s] += 1.0
    v_edited[:, :, s] -= 2.0
    moved = np.abs(ask(q, k_edited, v_edited, may_look) - before).max(axis=(0, 1, 3)) > CLOSE
    if not moved[n]:
        return f"Target {n} may look at source {s}, but an edit of that source leaves its output as it was."
    if moved.sum() > 1:
        other = int(np.flatnonzero(moved & (np.arange(len(moved)) != n))[0])
        return f"Source {s} is hidden from target {other}, but after an edit of source {s} its output moves."
    return None


# cross


def part_reference(x, z, norm, maps, n_heads, causal):
    def one(rows, memory):
        mask = attention.causal_mask(len(rows)) if causal else None
        return attention_reference(rows.T, None if z is None else memory.T, norm, maps, n_heads, mask).T

    return per_sequence(one, x, x if z is None else z)


def part_arguments(rng, cross, causal=False, n_targets=None, n_sources=None, scale=1.0):
    B, N, S, H, K = random_sizes(rng)
    N, S, D = n_targets or N, n_sources or S, H * K
    x = scale * (rng.normal(size=(B, N, D)) + 2 * rng.normal(size=D))
    z = scale * rng.normal(size=(B, S, D)) if cross else None
    return x, z, random_norm(rng, D), random_maps(rng, D), H, causal


def looking_at_itself(rng):
    lengths = ({}, {"causal": True}, {"causal": True, "n_targets": 1})
    return [part_arguments(rng, False, **given) for given in lengths]


def looking_at_others(rng):
    lengths = ({}, {}, {"n_targets": 1}, {"n_sources": 1})
    return [part_arguments(rng, True, **given) for given in lengths]


def loud_sources(rng):
    cases = []
    for factor in (10.0, 1e3):
        x, z, norm, (W_q, W_k, W_v, W_o), H, causal = part_arguments(rng, True)
        cases.append((x, z, norm, (factor * W_q, W_k, W_v, W_o), H, causal))
    return cases


def facts_of_cross_attention(ask, rng):
    x, z, *rest = part_arguments(rng, True)
    before = ask(x, z, *rest)
    if slip := shape_slip(before, x.shape):
        return slip
    z_edited, x_edited, b = z.copy(), x.copy(), 1
    z_edited[b, 2] += rng.normal(size=z.shape[2])
    x_edited[b, 2] += rng.normal(size=x.shape[2])
    moved = np.abs(ask(x, z_edited, *rest) - before).max(axis=2) > CLOSE
    if not moved[b].all():
        n = int(np.flatnonzero(~moved[b])[0])
        return f"After an edit of source 2 every output of its sequence should move; yours of target {n} stays."
    if moved[np.arange(len(x)) != b].any():
        return f"After an edit in sequence {b} of the batch, outputs of another sequence move."
    moved = np.abs(ask(x_edited, z, *rest) - before).max(axis=2) > CLOSE
    if moved.sum() > 1 or not moved[b, 2]:
        return "In cross-attention no target sees another one: after an edit of target 2 only output 2 may move."
    order = np.roll(np.arange(z.shape[1]), 2)
    if not close(ask(x, z[:, order], *rest), before):
        return "The sources in another order are the same sources, but your outputs change."
    return None


# encoder


def encoder_arguments(rng, n_blocks=2, n_tokens=None, **given):
    B, N, _, H, K = random_sizes(rng)
    N, words = n_tokens or N, 13
    p = random_stack(rng, H * K, 17, words, n_blocks, cross=False)
    return (p, rng.integers(words, size=(B, N)), H, *given.values())


def ordinary_encoders(rng):
    return [encoder_arguments(rng), encoder_arguments(rng, n_blocks=3), encoder_arguments(rng, n_tokens=1)]


def encoders_without_positions(rng):
    return [encoder_arguments(rng, positions=False), encoder_arguments(rng, n_blocks=1, positions=False)]


def order_of_tokens(ask, rng):
    p, ids, H = encoder_arguments(rng)
    ids[:, 0] = (ids[:, 1] + 1) % 13  # so that another order is another sequence
    order = np.roll(np.arange(ids.shape[1]), 1)
    bare, placed = ask(p, ids, H, False), ask(p, ids, H, True)
    for came in (bare, placed):
        if slip := shape_slip(came, (*ids.shape, len(p["E"]))):
            return slip
    if not close(ask(p, ids[:, order], H, False), bare[:, order]):
        return "Without positions the outputs must follow their tokens into another order; yours do not."
    if close(ask(p, ids[:, order], H, True), placed[:, order]):
        return "With positions another order must give other outputs, but yours only follow their tokens."
    return None


def sequences_of_a_batch(ask, rng):
    p, ids, H = encoder_arguments(rng)
    came = ask(p, ids, H)
    if slip := shape_slip(came, (*ids.shape, len(p["E"]))):
        return slip
    if not close(ask(p, ids[::-1].copy(), H), came[::-1]):
        return "The sequences of the batch in another order must give the same outputs in that order; yours change."
    if not close(ask(p, ids[1:2], H), came[1:2]):
        return "A sequence alone must give the same outputs as in its batch, but yours differ."
    edited = ids.copy()
    edited[:, -1] = (ids[:, -1] + 1) % 13
    if close(ask(p, edited, H)[:, 0], came[:, 0]):
        return "An encoder has no mask: an edit of the last token must reach output 0, but yours stays."
    return None


# decoder


def decoder_arguments(rng, n_blocks=2, n_targets=None, n_sources=None):
    B, N, S, H, K = random_sizes(rng)
    N, S, words = n_targets or N, n_sources or S, 15
    p = random_stack(rng, H * K, 17, words, n_blocks, cross=True)
    return p, rng.integers(words, size=(B, N)), rng.normal(size=(B, S, H * K)), H


def ordinary_decoders(rng):
    lengths = ({}, {"n_blocks": 3}, {"n_targets": 1}, {"n_sources": 1})
    return [decoder_arguments(rng, **given) for given in lengths]


def logits_slip(came, p, ids):
    return shape_slip(came, (*ids.shape, p["head"].shape[1]))


def blind_to_the_future(ask, rng):
    p, ids, memory, H = decoder_arguments(rng)
    before, n = ask(p, ids, memory, H), 2
    if slip := logits_slip(before, p, ids):
        return slip
    edited = ids.copy()
    edited[:, n] = (ids[:, n] + 1) % 13
    moved = np.abs(ask(p, edited, memory, H) - before).max(axis=(0, 2)) > CLOSE
    if moved[:n].any():
        return f"After an edit of token {n} your output {int(np.flatnonzero(moved)[0])} moves, which stands before it."
    if not moved[n:].all():
        late = n + int(np.flatnonzero(~moved[n:])[0])
        return f"After an edit of token {n} your output {late} should move, for it may look there; it stays."
    prefix = ask(p, ids[:, :n], memory, H)
    if not close(prefix, before[:, :n]):
        return f"The first {n} outputs must be those of the first {n} tokens alone; yours differ."
    return None


def reads_the_memory(ask, rng):
    p, ids, memory, H = decoder_arguments(rng)
    before = ask(p, ids, memory, H)
    if slip := logits_slip(before, p, ids):
        return slip
    edited = memory.copy()
    edited[:, -1] += rng.normal(size=memory.shape[2])
    moved = np.abs(ask(p, ids, edited, H) - before).max(axis=2) > CLOSE
    if not moved.all():
        n = int(np.argwhere(~moved)[0][1])
        return f"After an edit of the last source every output should move; yours of token {n} stays."
    if not close(ask(p, ids, np.roll(memory, 1, axis=1), H), before):
        return "The memory's tokens in another order are the same memory, but your outputs change."
    return None


# count


def count_reference(V_source, V_target, D, H, F, M, tied):
    """The numbers in arrays of these sizes, counted one by one."""
    rng = np.random.default_rng(0)
    stacks = random_stack(rng, D, F, V_source, M, False), random_stack(rng, D, F, V_target + 1, M, True)
    return sum(sum(found(stack)) for stack in stacks) - (D * V_target if tied else 0)


def found(tree):
    """The size of every array."""
    if isinstance(tree, np.ndarray):
        return [tree.size]
    return [size for entry in (tree.values() if isinstance(tree, dict) else tree) for size in found(entry)]


def sizes_of_models(rng, tied):
    cases = []
    for M in rng.choice([1, 2, 3, 4], 3, replace=False):
        V_source, V_target, D, F = draw_sizes(rng, 4, (10, 14, 17, 19, 22, 26))
        H = int(rng.choice([2, 3, 5]))
        cases.append((V_source, V_target, D * H, H, F, int(M), tied))
    return cases


# learn

START_STEPS, STEPS, BATCH, LENGTH, DIGITS, WIDTH, RATE = 10, 90, 32, 4, 5, 16, 0.02
GUESSING = LENGTH * np.log(DIGITS) / (LENGTH + 1)  # the end token stands where it always stands
HOPELESS = 1.6


def over(function, *trees):
    """One function over the arrays of trees of the same form."""
    first = trees[0]
    if isinstance(first, dict):
        return {key: over(function, *(tree[key] for tree in trees)) for key in first}
    if isinstance(first, list | tuple):
        return type(first)(over(function, *entries) for entries in zip(*trees, strict=True))
    return function(*trees)


def loss_reference(p, sources, targets, n_heads):
    """The mean over batch and place, with logsumexp written out."""
    start = p["decoder"]["head"].shape[1]
    written = np.column_stack([np.full(len(targets), start), targets[:, :-1]])
    logits = parts.decoder(p["decoder"], written, parts.encoder(p["encoder"], sources, n_heads), n_heads)
    top = logits.max(axis=2)
    normaliser = top + np.log(np.exp(logits - top[..., None]).sum(axis=2))
    one_hot = np.eye(start)[targets]
    return ((normaliser - (one_hot * logits).sum(axis=2)).sum()) / targets.size


def gradients_reference(p, sources, targets, n_heads):
    from clearcheck.tape import value_and_gradients

    return value_and_gradients(loss_reference, p, sources, targets, n_heads)


def model(rng, D, F, V_source, V_target, n_blocks=1):
    return {
        "encoder": random_stack(rng, D, F, V_source, n_blocks, False),
        "decoder": random_stack(rng, D, F, V_target + 1, n_blocks, True),
    }


def pairs_and_model(rng, n_targets=None, n_sources=None, scale=1.0, n_blocks=1):
    B, N, S = draw_sizes(rng, 3, (4, 5, 7))
    p = model(rng, 6, 11, 13, 9, n_blocks)
    p["decoder"]["head"] = scale * p["decoder"]["head"]
    sources, targets = rng.integers(9, size=(B, n_sources or S)), rng.integers(9, size=(B, n_targets or N))
    return p, sources, targets, 2


def ordinary_pairs(rng):
    lengths = ({}, {"n_blocks": 2}, {"n_targets": 1}, {"n_sources": 1})
    return [pairs_and_model(rng, **given) for given in lengths]


def sure_models(rng):
    return [pairs_and_model(rng, scale=30.0), pairs_and_model(rng, scale=1e4)]


def gradient_check(ask, rng):
    arguments = pairs_and_model(rng)
    _, gradients = pair_of(ask(*arguments))
    directions = over(lambda array: rng.normal(size=array.shape), arguments[0])
    values = []
    for sign in (1, -1):
        moved = over(lambda array, step, sign=sign: array + sign * 1e-5 * step, arguments[0], directions)
        values.append(pair_of(ask(moved, *arguments[1:]))[0])
    measured = (values[0] - values[1]) / 2e-5
    predicted = sum(leaves(over(lambda array, step: float((array * step).sum()), gradients, directions)))
    if abs(measured - predicted) > 1e-4 * max(1.0, abs(measured)):
        return (
            f"A small step in all parameters changes your loss by {measured:.4g} per unit; "
            f"your gradients predict {predicted:.4g}."
        )
    return None


def pair_of(came):
    if not isinstance(came, tuple | list) or len(came) != 2 or not isinstance(came[0], int | float | np.generic):
        raise ValueError("a pair of a number and a dict is expected")
    return float(came[0]), came[1]


def leaves(tree):
    if isinstance(tree, dict):
        return [leaf for entry in tree.values() for leaf in leaves(entry)]
    return [leaf for entry in tree for leaf in leaves(entry)] if isinstance(tree, list | tuple) else [tree]


def backwards(sources):
    """The digits in reverse order, and an end token: one more target than there are sources."""
    return np.column_stack([sources[:, ::-1], np.full(len(sources), DIGITS)])


def starting_model(rng):
    p = model(rng, WIDTH, 2 * WIDTH, DIGITS, DIGITS + 1)
    for stack in p.values():
        stack["norm"] = (np.ones(WIDTH), np.zeros(WIDTH))
        for block in stack["blocks"]:
            block |= {name: (np.ones(WIDTH), np.zeros(WIDTH)) for name in block if name.startswith("norm")}
            block["mlp"] = tuple(array * (array.ndim == 2) for array in block["mlp"])
    return p


def learns(ask, rng):
    """Adam with the learner's gradients on fresh pairs, then writing with the grader's own model."""
    p = starting_model(rng)
    mean, square = over(np.zeros_like, p), over(np.zeros_like, p)
    for step in range(1, STEPS + 1):
        sources = rng.integers(DIGITS, size=(BATCH, LENGTH))
        _, gradients = pair_of(ask(p, sources, backwards(sources), 2))
        mean = over(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        square = over(lambda s, g: 0.98 * s + 0.02 * g * g, square, gradients)
        p = over(lambda array, m, s, step=step: array - moved_by(m, s, step), p, mean, square)
        if step == STEPS // 3 and (loss := loss_reference(p, sources, backwards(sources), 2)) > HOPELESS:
            return (
                f"After {step} steps along your gradients the loss, as the grader computes it, is {loss:.3g}; "
                f"guessing every digit gives {GUESSING:.3g}."
            )
    sources = rng.integers(DIGITS, size=(200, LENGTH))
    share = (written_by(p, sources) == backwards(sources))[:, :LENGTH].mean()
    if share < 0.6:
        return (
            f"After {STEPS} steps along your gradients the model writes {share:.0%} of the digits of fresh strings "
            f"rightly, when it has to write alone; guessing gives {1 / DIGITS:.0%}, and at least 60% are expected."
        )
    return None


def moved_by(mean, square, step):
    rate = RATE * min(1.0, step / START_STEPS)
    return rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.98**step)) + 1e-8)


def written_by(p, sources):
    memory = parts.encoder(p["encoder"], sources, 2)
    written = np.full((len(sources), 1), DIGITS + 1)
    for _ in range(LENGTH + 1):
        following = parts.decoder(p["decoder"], written, memory, 2)[:, -1].argmax(axis=1)
        written = np.column_stack([written, following])
    return written[:, 1:]


# cache


def cache_arguments(rng, n_old, n_new, n_blocks=2):
    p, ids, memory, H = decoder_arguments(rng, n_blocks, n_old + n_new)
    cache = parts.continue_decoder(p, ids[:, :n_old], memory, [], H)[1] if n_old else []
    return p, ids[:, n_old:], memory, cache, H


def beginnings(rng):
    return [cache_arguments(rng, 0, 5), cache_arguments(rng, 0, 1)]


def single_steps(rng):
    return [cache_arguments(rng, 5, 1), cache_arguments(rng, 1, 1, n_blocks=3), cache_arguments(rng, 9, 1)]


def several_at_once(rng):
    return [cache_arguments(rng, 4, 3), cache_arguments(rng, 3, 7)]


def equal_at_every_step(ask, rng):
    p, ids, memory, H = decoder_arguments(rng, 2, 7)
    whole, cache, done = decoder_reference(p, ids, memory, H), [], 0
    for more in (3, 1, 1, 2):
        came = ask(p, ids[:, done : done + more], memory, cache, H)
        if not isinstance(came, tuple | list) or len(came) != 2:
            return "A pair is expected: the logits of the new tokens, and the cache."
        logits, cache = came
        if slip := shape_slip(logits, whole[:, done : done + more].shape):
            return slip
        if not close(logits, whole[:, done : done + more]):
            gap = np.abs(logits - whole[:, done : done + more]).max()
            return (
                f"With a prompt of 3 tokens and then 1, 1 and 2 more, the logits from token {done} on differ from the "
                f"full pass by up to {gap:.2g}."
            )
        done += more
    return None


BRINGS = {
    "embed": "01-tokens",
    "split_heads": "04-multi-head",
    "merge_heads": "04-multi-head",
    "mlp": "05-feed-forward",
    "sinusoidal": "06-position",
    "layer_norm": "07-residual-norm",
}

EXERCISE = Exercise(
    slug="08-encoder-decoder",
    title="Encoder and decoder",
    chapter="chapters/08-encoder-decoder",
    brings=BRINGS,
    questions=(
        Question(
            id="mask",
            title="The mask before the softmax",
            name="masked_attend",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 5, ordinary_masks, masked_reference),
                equals("large scores", 3, large_masked, masked_reference),
                equals("nowhere to look", 2, nowhere_to_look, masked_reference),
                holds("hidden stays hidden", 2, hidden_stays_hidden),
            ),
            hints=(
                "The sum in the denominator runs over the sources that a target may look at, and over no others. "
                "Which score makes a source vanish from it?",
                "The exponential of −∞ is 0. Where is the maximum taken that you subtract, before or after the "
                "hiding? A hidden score may be the largest of all.",
                "For a target that may look nowhere both the numerators and their sum are 0. Give the division "
                "another number in that place, and see that no maximum of nothing is taken.",
            ),
            section="the-mask-goes-before-the-softmax",
        ),
        Question(
            id="cross",
            title="One half of a block: attention, to itself or to others",
            name="attention_part",
            minutes=25,
            difficulty=2,
            uses=("mask",),
            checks=(
                equals("looking at itself", 4, looking_at_itself, part_reference),
                equals("looking at others", 4, looking_at_others, part_reference),
                equals("large scores", 2, loud_sources, part_reference),
                holds("facts of cross-attention", 4, facts_of_cross_attention),
            ),
            hints=(
                "Write the shape beside every line: which tables have N tokens, which have S, and which of them is "
                "square only when a sequence looks at itself?",
                "Your layer_norm wants a token in a column, and you have B sequences of rows. All tokens of all "
                "sequences may stand side by side in one table, for each is normalised alone. A reshape by itself "
                "never turns rows into columns.",
                "Three things are easily mixed up: who is normalised (the side that asks, and the memory was so "
                "already), who makes the queries, and what the result is added to.",
            ),
            section="cross-attention",
            brings=BRINGS,
        ),
        Question(
            id="encoder",
            title="The encoder",
            name="encoder",
            minutes=20,
            difficulty=2,
            uses=("cross",),
            checks=(
                equals("values", 5, ordinary_encoders, encoder_reference),
                equals("without positions", 3, encoders_without_positions, encoder_reference),
                holds("order of the tokens", 3, order_of_tokens),
                holds("sequences of a batch", 3, sequences_of_a_batch),
            ),
            hints=(
                "From ids to output there are four stations: columns of E, places, the blocks, one last norm. Print "
                "the shape after each of them.",
                "Your embed takes one row of ids, and gives columns. Hand it all ids of all sequences in one row, "
                "and think about which axis its result has to lose first.",
                "If a whole batch is right and one sequence alone is not, or the other way round, look where a place "
                "is added: its number must come from the column of the token, and from nothing else.",
            ),
            section="the-encoder-has-no-mask",
            brings=BRINGS,
        ),
        Question(
            id="decoder",
            title="The decoder",
            name="decoder",
            minutes=20,
            difficulty=2,
            uses=("cross",),
            checks=(
                equals("values", 8, ordinary_decoders, decoder_reference),
                holds("blind to the future", 4, blind_to_the_future),
                holds("reads the memory", 4, reads_the_memory),
            ),
            hints=(
                "Each block has three steps. For each of them say who looks at whom, which norm stands before it, and "
                "whether anything has to be hidden.",
                "The triangle is needed in one of the two attentions. In the other one the whole source was there "
                "before the first word was written.",
                "After the last block come the last norm and the scores of the words, without a softmax. If only the "
                "check of the future fails, change one token and print which outputs move.",
            ),
            section="encoder-and-decoder-together",
            brings=BRINGS,
        ),
        Question(
            id="count",
            title="How many numbers are learned?",
            name="count_parameters",
            minutes=10,
            difficulty=1,
            checks=(
                equals("untied", 5, lambda rng: sizes_of_models(rng, False), count_reference),
                equals("tied", 3, lambda rng: sizes_of_models(rng, True), count_reference),
            ),
            hints=(
                "Go through the dicts of the two stacks key by key and write down the shape of every array.",
                "A block of the decoder has one attention and one norm more than one of the encoder. The sizes of the "
                "maps do not know into how many heads they are cut.",
                "Two things are looked up and two are easily forgotten: the sinusoids are not learned, the start token "
                "is; and each stack ends with a norm of its own.",
            ),
            section="what-one-block-costs",
        ),
        Question(
            id="learn",
            title="Repair the museum piece: it learns",
            name="loss_and_gradients",
            minutes=25,
            difficulty=3,
            uses=("encoder", "decoder"),
            checks=(
                equals("values", 6, ordinary_pairs, gradients_reference),
                equals("sure models", 3, sure_models, gradients_reference),
                holds("gradient check", 3, gradient_check),
                holds("it learns", 8, learns),
            ),
            hints=(
                "The loss of the museum falls faster than an honest one can. In use the model has to write the "
                "first token before it has seen any of the target: what can stand in its first column then?",
                "Read the line with the exponentials: whose scores compete when the next token is chosen, those of "
                "the words at one place or those of one word at all places?",
                "The loss is an average over all targets of the batch, whose size does not depend on how many there "
                "are. For sure models, whose scores are in the thousands, take the logarithm of the sum by hand: "
                "subtract the largest score first, and never take the logarithm of a quotient that can be 0.",
            ),
            section="encoder-and-decoder-together",
            brings=BRINGS,
        ),
        Question(
            id="cache",
            title="Stretch: write with a cache",
            name="continue_decoder",
            minutes=30,
            difficulty=3,
            uses=("mask", "cross"),
            checks=(
                equals("with an empty cache", 4, beginnings, parts.continue_decoder),
                equals("one token more", 4, single_steps, parts.continue_decoder),
                equals("several at once", 4, several_at_once, parts.continue_decoder),
                holds("equal at every step", 4, equal_at_every_step),
            ),
            hints=(
                "Everything is as in your decoder, except for the sources of the self-attention: they are the old "
                "tokens and the new ones, and only the new ones have queries.",
                "Two things have to know how many tokens were there before: the places, and the mask. Draw the mask "
                "for 3 old and 2 new tokens: two rows, five columns.",
                "The cache that came in belongs to the caller: make a new list, in which every block has its own "
                "pair, the old entries before the new ones along the axis of tokens.",
            ),
            section="the-kv-cache",
            brings=BRINGS,
        ),
    ),
)
