"""Checks of exercise 13: sizes that all differ, weights from flat to certain, masks that hide everything once."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.reference import attention, functions
from clearformer.reference.multihead import multi_head_concatenated, multi_head_concatenated_backward

SIZES = (3, 4, 5, 7, 11, 13)  # no one divides another
CLOSE = 1e-9


def draw_sizes(rng, how_many):
    return [int(size) for size in rng.choice(SIZES, how_many, replace=False)]


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if not isinstance(array, np.ndarray) or array.shape != shape:
            return f"The array at position {place} of your result should have the shape {shape}."
    return None


def close(value, expected, limit=CLOSE):
    return bool(np.allclose(value, expected, rtol=0, atol=limit * max(1.0, np.abs(expected).max())))


def slope(loss, arrays, place, direction):
    """How fast the loss rises along a direction of one array, by two central differences."""

    def rise(step):
        moved = [array + step * direction if i == place else array for i, array in enumerate(arrays)]
        return loss(*moved)

    near, far = ((rise(step) - rise(-step)) / (2 * step) for step in (1e-3, 2e-3))
    return (4 * near - far) / 3


def disagreement(loss, names, arrays, gradients, rng):
    """A sentence for the first gradient that does not say what the loss does, else None."""
    for place, name in enumerate(names):
        direction = rng.normal(size=arrays[place].shape)
        measured, claimed = slope(loss, arrays, place, direction), (gradients[place] * direction).sum()
        if abs(measured - claimed) > 1e-6 * max(1.0, abs(measured)):
            return (
                f"Along a random direction of {name} the loss rises by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


# softmax


def softmax_reference(A, dA):
    return functions.softmax_backward(A, dA, axis=0)


def draw_weights(rng, n_sources=None, n_targets=None, spread=1.0):
    S, N = draw_sizes(rng, 2)
    shape = n_sources or S, n_targets or N
    return functions.softmax(spread * rng.normal(size=shape), axis=0), 2 + 3 * rng.normal(size=shape)


def ordinary_weights(rng):
    return [draw_weights(rng), draw_weights(rng, n_targets=1), draw_weights(rng, n_sources=1), draw_weights(rng)]


def certain_weights(rng):
    """Saturated columns, and weights that are exactly 0 and 1."""
    A, dA = draw_weights(rng, spread=30.0)
    hidden, d_hidden = draw_weights(rng)
    hidden[0] = 0.0
    hidden /= hidden.sum(axis=0)
    hidden[:, 1] = np.eye(len(hidden))[1]
    return [(A, dA), (hidden, d_hidden), (hidden, 1e4 * d_hidden)]


def what_one_gains(ask, rng):
    A, dA = draw_weights(rng)
    dC = ask(A, dA)
    if not isinstance(dC, np.ndarray) or dC.shape != A.shape:
        return f"The result should be an array of shape {A.shape}."
    if not close(dC.sum(axis=0), np.zeros(A.shape[1])):
        return (
            "What one source gains others lose: each column of the gradient must sum to 0, and one of yours does not."
        )
    if not close(ask(A, dA + rng.normal(size=A.shape[1])), dC):
        return "The same number added to all gradients of a column must change nothing, since the weights sum to 1."
    if close(dC, 0 * dC):
        return "Your gradient is 0 everywhere."
    edited = dA.copy()
    edited[:, 1] += rng.normal(size=len(A))
    others = np.arange(A.shape[1]) != 1
    if not close(ask(A, edited)[:, others], dC[:, others]):
        return (
            "The columns have nothing to do with each other, but an edit of one column of dA changes others of yours."
        )
    return None


# attend


def draw_head(rng, n_targets=None, n_sources=None, size=1.0):
    K, Kv, N, S = draw_sizes(rng, 4)
    N, S = n_targets or N, n_sources or S
    Q, keys = (np.sqrt(size) * rng.normal(size=(K, n)) for n in (N, S))
    return Q, keys, rng.normal(size=(Kv, S)), rng.normal(size=(Kv, N))


def ordinary_heads(rng):
    return [draw_head(rng), draw_head(rng, n_targets=1), draw_head(rng, n_sources=1), draw_head(rng)]


def certain_heads(rng):
    """Scores that saturate the softmax, and scores whose exponentials overflow."""
    return [draw_head(rng, size=60.0), draw_head(rng, size=3e4)]


def masked_heads(rng):
    """A causal mask, and random ones that hide everything from a target; once over scores far below 0."""
    K, Kv, N = draw_sizes(rng, 3)
    arrays = (rng.normal(size=(rows, N)) for rows in (K, K, Kv, Kv))
    cases = [(*arrays, np.triu(np.ones((N, N), dtype=bool)))]
    for size in (1.0, 1.0, 3e4):
        Q, keys, V, dY = draw_head(rng, size=size)
        if size > 1:
            Q, keys = np.abs(Q), -np.abs(keys)
        mask = rng.random((keys.shape[1], Q.shape[1])) < 0.6
        mask[:, 1] = False
        mask[0, 0] = True
        cases.append((Q, keys, V, dY, mask))
    return cases


def attend_check(ask, rng):
    Q, keys, V, dY = draw_head(rng)
    found = ask(Q, keys, V, dY)
    if slip := shapes_slip(found, (Q.shape, keys.shape, V.shape)):
        return slip

    def loss(Q, keys, V):
        return (dY * attention.attend(Q, keys, V)[0]).sum()

    return disagreement(loss, ("Q", "K", "V"), (Q, keys, V), found, rng)


def keys_together(ask, rng):
    """A vector added to all keys changes nothing; hidden sources get nothing."""
    Q, keys, V, dY = draw_head(rng)
    found = ask(Q, keys, V, dY)
    if slip := shapes_slip(found, (Q.shape, keys.shape, V.shape)):
        return slip
    if any(close(array, 0 * array) for array in found):
        return "One of your gradients is 0 everywhere."
    if not close(found[1].sum(axis=1), np.zeros(len(keys))):
        return "A vector added to all keys changes no weight, so dK must sum to 0 over the sources; yours does not."
    mask = np.ones((keys.shape[1], Q.shape[1]), dtype=bool)
    mask[2] = False
    hidden = ask(Q, keys, V, dY, mask)
    if slip := shapes_slip(hidden, (Q.shape, keys.shape, V.shape)):
        return slip
    if not close(np.concatenate([hidden[1][:, 2], hidden[2][:, 2]]), np.zeros(len(keys) + len(V))):
        return "A source that no target may see must get no gradient, neither its key nor its value; yours does."
    return None


# masks


def causal_reference(C, V, dY, order):
    seen = attention.causal_mask(len(C))
    weights = attention.attention_weights(C, seen if order == "before" else None)
    dC = functions.softmax_backward(weights, seen * (V.T @ dY), axis=0)
    return dC, dY @ (seen * weights).T


def draw_scores(rng, n_tokens=None, size=1.0):
    N, Kv = draw_sizes(rng, 2)
    N = n_tokens or N
    return size * rng.normal(size=(N, N)), 1 + rng.normal(size=(Kv, N)), rng.normal(size=(Kv, N))


def causal_cases(order):
    def cases(rng):
        first = [(*draw_scores(rng), order) for _ in range(2)]
        return [*first, (*draw_scores(rng, 1), order)]

    return cases


def certain_scores(rng):
    sizes = (60.0, 60.0, 1e4, 1e4)
    return [(*draw_scores(rng, size=size), order) for size, order in zip(sizes, ("before", "after") * 2, strict=True)]


def both_orders(ask, rng):
    C, V, dY = draw_scores(rng)
    for order in ("before", "after"):
        found = ask(C, V, dY, order)
        if slip := shapes_slip(found, (C.shape, V.shape)):
            return slip

        def loss(C, V, order=order):
            seen = attention.causal_mask(len(C))
            weights = attention.attention_weights(C, seen if order == "before" else None)
            return (dY * (V @ (seen * weights))).sum()

        if slip := disagreement(loss, ("C", "V"), (C, V), found, rng):
            return f'With order="{order}": {slip[0].lower()}{slip[1:]}'
        below = found[0][~attention.causal_mask(len(C))]
        if order == "before" and not close(below, 0 * below):
            return "With the mask before the softmax no gradient may reach a hidden score, but yours does."
        if order == "after" and close(below, 0 * below):
            return "With the mask after the softmax hidden scores stay in the denominator, but yours get no gradient."
    return None


# costs


def costs(N, S, K, Kv, H):
    pairs = H * N * S
    return {
        "forward": 2 * (K + Kv) * pairs,
        "backward": 4 * (K + Kv) * pairs,
        "recomputing": (6 * K + 4 * Kv) * pairs,
        "kept with weights": pairs + H * N * Kv,
        "kept without": H * N * Kv + H * N,
    }


def draw_costs(rng):
    cases = [tuple(int(size) for size in rng.permutation((5, 7, 8, 11, 13))) for _ in range(2)]
    return [*cases, (int(rng.integers(900, 1100)), 2048, 64, 48, 12), (1, 9, 4, 6, 5)]


def some_entries(names):
    def test(ask, rng):
        for sizes in draw_costs(rng):
            found, expected = ask(*sizes), costs(*sizes)
            for name in names:
                if not isinstance(found, dict) or name not in found:
                    return f"The result should be a dict with the key {name!r}."
                value = found[name]
                if isinstance(value, bool) or not isinstance(value, int | np.integer):
                    kind = type(value).__name__
                    return f"Your entry {name!r} should be a whole number, an int; yours is of the type {kind}."
                if value != expected[name]:
                    return f"For N, S, K, Kv, H = {sizes} your entry {name!r} is not right."
        return None

    return test


# layer


def layer_reference(X, U_q, U_k, U_v, U_o, dY):
    dX, *_, dU_o = multi_head_concatenated_backward(X, U_q, U_k, U_v, U_o, dY)
    return dX + dY, dU_o


def draw_layer(rng, n_tokens=None, n_heads=None, size=1.0):
    D, N, K, Kv = (int(size) for size in rng.choice((3, 5, 7, 11, 13), 4, replace=False))
    H = n_heads or 2
    X = rng.normal(size=(D, n_tokens or N))
    shapes = (H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv)
    maps = [rng.normal(size=shape) / np.sqrt(shape[2]) for shape in shapes]
    maps[0] *= size
    return X, *maps, rng.normal(size=X.shape)


def ordinary_layers(rng):
    return [draw_layer(rng), draw_layer(rng, n_tokens=1), draw_layer(rng, n_heads=1), draw_layer(rng)]


def certain_layers(rng):
    return [draw_layer(rng, size=60.0), draw_layer(rng, size=1.5e4)]


def one_entry(place):
    """A check of one of the two gradients, so that it earns its points whatever the other is."""

    def test(ask, rng):
        for n_heads in (2, 1):
            arguments = draw_layer(rng, n_heads=n_heads)
            found, expected = ask(*arguments), layer_reference(*arguments)
            if slip := shapes_slip(found, [array.shape for array in expected]):
                return slip
            if not close(found[place], expected[place]):
                return f"Your gradient by {('X', 'U_o')[place]} is not right; the other one is not looked at here."
        return None

    return test


def silent_heads(ask, rng):
    """With output matrices of zero the layer hands on its input."""
    X, U_q, U_k, U_v, U_o, dY = draw_layer(rng)
    found = ask(X, U_q, U_k, U_v, 0 * U_o, dY)
    if slip := shapes_slip(found, (X.shape, U_o.shape)):
        return slip
    if not close(found[0], dY):
        return "With U_o = 0 the output is the input, so dX must be dY; yours is not."

    def loss(X):
        return (dY * (X + multi_head_concatenated(X, U_q, U_k, U_v, U_o)[0])).sum()

    return disagreement(loss, ("X",), (X,), ask(X, U_q, U_k, U_v, U_o, dY), rng)


# blocks


def blockwise_reference(Q, K, V, Y, L, dY, width):
    A = np.exp(K.T @ Q / np.sqrt(len(Q)) - L)
    G = A * (V.T @ dY - (Y * dY).sum(axis=0)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


def kept(Q, keys, V):
    """What the forward pass keeps: outputs and logarithms of denominators."""
    scores = keys.T @ Q / np.sqrt(len(Q))
    top = scores.max(axis=0)
    return attention.attend(Q, keys, V)[0], top + np.log(np.exp(scores - top).sum(axis=0))


def with_kept(Q, keys, V, dY, width):
    return Q, keys, V, *kept(Q, keys, V), dY, width


def ordinary_blocks(rng):
    cases = []
    for n_targets, n_sources, width in ((None, 13, 4), (None, 11, 4), (1, 7, 3), (None, 1, 2)):
        N = n_targets or int(rng.choice((5, 9)))
        K, Kv = (int(size) for size in rng.permutation((2, 17)))
        Q, keys = rng.normal(size=(K, N)), rng.normal(size=(K, n_sources))
        cases.append(with_kept(Q, keys, rng.normal(size=(Kv, n_sources)), rng.normal(size=(Kv, N)), width))
    return cases


def all_widths(rng):
    """Blocks of one source, of all, of more than there are, and blocks that do not come out even."""
    K, Kv = (int(size) for size in rng.permutation((4, 11)))
    shapes = (K, 5), (K, 7), (Kv, 7), (Kv, 5)
    Q, keys, V, dY = (rng.normal(size=shape) for shape in shapes)
    return [with_kept(Q, keys, V, dY, width) for width in (1, 7, 9, 2, 5)]


def certain_blocks(rng):
    return [with_kept(*draw_head(rng, size=size), 4) for size in (60.0, 3e4)]


def what_was_kept(ask, rng):
    Q, keys, V, dY = draw_head(rng)
    Y, L = kept(Q, keys, V)
    shapes = Q.shape, keys.shape, V.shape
    others = ("Y", (Y + rng.normal(size=Y.shape), L)), ("L", (Y, L + rng.uniform(0.5, 1, size=L.shape)))
    answers = [ask(Q, keys, V, *given, dY, 4) for _, given in others]  # both, to tell which of the two is not used
    for (name, given), found in zip(others, answers, strict=True):
        if slip := shapes_slip(found, shapes):
            return slip
        if not all(map(close, found, blockwise_reference(Q, keys, V, *given, dY, 4))):
            return f"With another {name} than that of the forward pass your result is not what the formulas make of it."
    found = ask(Q, keys, V, Y, L, dY, 3)

    def loss(Q, keys, V):
        return (dY * attention.attend(Q, keys, V)[0]).sum()

    return shapes_slip(found, shapes) or disagreement(loss, ("Q", "K", "V"), (Q, keys, V), found, rng)


EXERCISE = Exercise(
    slug="13-backward-by-hand",
    title="The backward pass by hand",
    chapter="chapters/13-backward-by-hand",
    questions=(
        Question(
            id="softmax",
            title="Back through the softmax",
            name="softmax_backward",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 5, ordinary_weights, softmax_reference),
                equals("certain and hidden weights", 3, certain_weights, softmax_reference),
                holds("what one source gains", 4, what_one_gains),
            ),
            hints=(
                "In which columns does a score have a say? And which weights of that column does it change: one of "
                "them, or all?",
                "The derivative of weight s by score t is the weight s times (1 if s = t, else 0) minus the product of "
                "the two weights. Multiply by the gradients and add up over s: two terms are left.",
                "One of the terms holds a single number for each column, the mean of its gradients with its weights as "
                "shares. What a score gets is its weight times the distance from that mean.",
            ),
            section="step-2-back-through-the-softmax",
        ),
        Question(
            id="attend",
            title="Back through attention",
            name="attend_backward",
            minutes=22,
            difficulty=2,
            uses=("softmax",),
            checks=(
                equals("values", 6, ordinary_heads, attention.attend_backward),
                equals("masks", 5, masked_heads, attention.attend_backward),
                equals("certain and huge scores", 3, certain_heads, attention.attend_backward),
                holds("gradient check", 4, attend_check),
                holds("keys together, hidden sources", 4, keys_together),
            ),
            hints=(
                "Write the forward pass as three lines, scores, weights, outputs, and beside each what its gradient "
                "has to have as a shape. Which of the products have that shape?",
                "Backwards: from dY to the values and to the weights, from the weights to the scores, from the scores "
                "to queries and keys. Each product of the forward pass gives two on the way back.",
                "The factor in front of the scores appears once more in dQ and in dK, and not in dV. Where no source "
                "may be seen, subtract 0 instead of −∞, and divide by 1 instead of 0.",
            ),
            section="one-head-step-by-step",
        ),
        Question(
            id="masks",
            title="A sentence that is half true",
            name="causal_backward",
            minutes=18,
            difficulty=2,
            uses=("softmax",),
            checks=(
                equals("mask before the softmax", 4, causal_cases("before"), causal_reference),
                equals("mask after the softmax", 5, causal_cases("after"), causal_reference),
                equals("certain and huge scores", 3, certain_scores, causal_reference),
                holds("gradient check", 4, both_orders),
            ),
            hints=(
                "Write both forward passes as steps, with a name for each result. One of them has a step more, "
                "between the softmax and the outputs. What does that step do to a gradient on its way back?",
                "The softmax is undone at the point where it was taken: with the weights that came out of it, not with "
                "those that were left after the mask.",
                "With the mask last, a hidden weight is not used, so it gets no gradient; its score still does, "
                "through the sum in the denominator. The values never saw a hidden weight, in both orders.",
            ),
            section="the-causal-mask-read-in-two-ways",
        ),
        Question(
            id="costs",
            title="What it costs",
            name="costs",
            minutes=12,
            difficulty=1,
            checks=(
                holds("operations", 5, some_entries(("forward", "backward", "recomputing"))),
                holds("memory", 4, some_entries(("kept with weights", "kept without"))),
                equals("all five", 3, draw_costs, costs, dtype="int"),
            ),
            hints=(
                "A product of an a×b matrix with a b×c matrix has a·c entries. How many multiplications and additions "
                "is each of them?",
                "The forward pass of a head is two products. Each of them has two gradients, and each gradient is one "
                "product of the same three sizes.",
                "Whoever keeps no weights makes the scores once more, and nothing else. What is kept then has no size "
                "in it that counts sources.",
            ),
            section="faster-than-autograd",
        ),
        Question(
            id="layer",
            title="Heads and the fourth path",
            name="layer_backward",
            minutes=20,
            difficulty=2,
            uses=("attend", "softmax"),
            checks=(
                holds("by X", 5, one_entry(0)),
                holds("by U_o", 4, one_entry(1)),
                equals("values", 4, ordinary_layers, layer_reference),
                equals("certain and huge scores", 2, certain_layers, layer_reference),
                holds("silent heads", 3, silent_heads),
            ),
            hints=(
                "In how many places of the formula for Y does X stand, for one head, and for H of them? Each place is "
                "a path, and all paths add up.",
                "A head does not see dY. Between its outputs and Y stands its own output matrix, a product like any "
                "other: one gradient goes into the head, one belongs to the matrix.",
                "What comes back from a head are gradients by its queries, keys and values. Each goes through its own "
                "projection to X. One path has no matrix at all.",
            ),
            section="the-fourth-path",
        ),
        Question(
            id="blocks",
            title="Stretch: without the weights",
            name="blockwise_backward",
            minutes=23,
            difficulty=3,
            checks=(
                equals("values", 6, ordinary_blocks, blockwise_reference),
                equals("all widths", 4, all_widths, blockwise_reference),
                equals("certain and huge scores", 3, certain_blocks, blockwise_reference),
                holds("what was kept", 5, what_was_kept),
            ),
            hints=(
                "For one block you know its scores, and for each target the logarithm of its denominator. What is an "
                "exponential divided by a denominator, if you have the logarithm of the latter?",
                "Which of the three gradients has a column for each source, so that a block can finish its part, and "
                "which has a column for each target, so that all blocks add to it?",
                "The number to subtract is the mean of the gradients by the weights, with the weights as shares. Write "
                "it with the values, and pull the error out of the sum: what is left is the output.",
            ),
            section="faster-than-autograd",
        ),
    ),
)
