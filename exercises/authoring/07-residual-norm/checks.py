"""Checks of exercise 07: tokens far from mean 0 and spread 1, random scales and shifts, an ε that can be seen."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.reference import layers

SIZES = (4, 5, 6, 7, 9, 11, 13)  # no one divides another
CLOSE = 1e-9
EPS = 1e-5


def draw_sizes(rng, how_many):
    return [int(size) for size in rng.choice(SIZES, how_many, replace=False)]


def close(value, expected, limit=CLOSE):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=limit))


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if not isinstance(array, np.ndarray) or array.shape != shape:
            return f"The array at position {place} of your result should have the shape {shape}."
    return None


def draw_tokens(rng, shape):
    """Tokens with a mean and a spread that a norm has work to do on; both differ from token to token."""
    N = shape[-1]
    means = rng.normal(size=(*shape[:-2], 1, N)) + 2 * rng.choice([-1, 1])
    return means + rng.uniform(0.5, 3, size=(*shape[:-2], 1, N)) * rng.normal(size=shape)


# layer norm


def with_scale(rng, X, *eps):
    D = len(X)
    return X, rng.normal(size=D), rng.normal(size=D), *eps


def ordinary_tokens(rng):
    cases = []
    for n_tokens, eps in ((None, [0.1]), (None, []), (1, [0.5]), (None, [0.02])):
        D, N = draw_sizes(rng, 2)
        cases.append(with_scale(rng, draw_tokens(rng, (D, n_tokens or N)), *eps))
    return cases


def special_tokens(rng):
    """Constant tokens, tokens that ε makes smaller, huge ones, and ones far from 0."""
    D, N = draw_sizes(rng, 2)
    mixed = rng.normal(size=(D, N)) * 10.0 ** rng.integers(-4, 4, size=N)
    mixed[:, 1] = float(rng.integers(2, 9))
    mixed[:, 2] = 0.0
    far = 3e5 + 3 * rng.normal(size=(D, N))
    return [with_scale(rng, mixed, EPS), with_scale(rng, far, EPS), with_scale(rng, 1e4 * rng.normal(size=(D, N)))]


def every_token_alone(ask, rng):
    D, N = draw_sizes(rng, 2)
    X, gamma, beta = with_scale(rng, draw_tokens(rng, (D, N)))
    Y = ask(X, gamma, beta, 0.1)
    if not isinstance(Y, np.ndarray) or Y.shape != (D, N):
        return f"The result should be an array of shape {(D, N)}."
    edited = X.copy()
    edited[:, 2] += rng.normal(size=D)
    others = np.arange(N) != 2
    Y_edited = ask(edited, gamma, beta, 0.1)
    if not close(Y_edited[:, others], Y[:, others]):
        return "After an edit of token 2 only its own output may change, but others of yours do."
    if close(Y_edited[:, 2], Y[:, 2]):
        return "After an edit of token 2 its own output must change, but yours does not."
    stretched = ask(4.0 * X - 3.0, gamma, beta, 1.6)
    if not close(stretched, Y, 1e-8):
        return "Stretch all tokens by 4, shift them by −3 and take 16 times the ε: the output must stay as it was."
    if not close(ask(-X, gamma, beta, 0.1) + Y, np.repeat(2 * beta[:, None], N, axis=1), 1e-8):
        return "Your outputs for X and −X should lie at opposite sides of the shift β."
    return None


# norms


def normalise(x, kind, eps):
    if kind == "BatchNorm":
        centred = x - x.mean(axis=(0, 2), keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=(0, 2), keepdims=True) + eps)
    ones = np.ones(x.shape[1])
    if kind == "LayerNorm":
        return np.stack([layers.layer_norm(X, ones, 0 * ones, eps) for X in x])
    return np.stack([layers.rms_norm(X, ones, eps) for X in x])


def batches(kind):
    def cases(rng):
        found = []
        for n_sequences, n_tokens, eps in ((None, None, 0.1), (None, 1, EPS), (1, None, 0.3), (None, None, EPS)):
            B, D, N = draw_sizes(rng, 3)
            x = draw_tokens(rng, (n_sequences or B, D, n_tokens or N))
            found.append((x + rng.normal(size=(D, 1)), kind, eps))
        return found

    return cases


def who_notices(ask, rng):
    """One number of one token is edited; only a norm of the whole batch may tell the others."""
    B, D, N = draw_sizes(rng, 3)
    x = draw_tokens(rng, (B, D, N))
    edited, token = x.copy(), np.zeros((B, N), dtype=bool)
    edited[1, 2, 3] += 5.0
    token[1, 3] = True
    for kind in ("LayerNorm", "RMSNorm", "BatchNorm"):
        before, after = ask(x, kind, 0.1), ask(edited, kind, 0.1)
        if not all(isinstance(y, np.ndarray) and y.shape == x.shape for y in (before, after)):
            return f"The result should be an array of shape {x.shape}."
        moved = np.abs(after - before) > CLOSE
        if kind != "BatchNorm":
            if moved.any(axis=1)[~token].any():
                return f"After an edit of one token {kind} may change that token only, but more of your tokens move."
            if not moved[1, :, 3].all():
                return f"After an edit of one feature {kind} must change all features of that token; some stay."
        elif not moved[:, 2].all() or np.delete(moved, 2, axis=1).any():
            return f"After an edit of feature 2 of one token {kind} must change that feature everywhere, and no other."
    return None


# prints


def prints(X):
    """The three prints, typed as they stand."""
    with np.errstate(all="ignore"):
        off_rows = X - X.mean(axis=1, keepdims=True)
        off_sums = X - X.sum(axis=0)
        sigma = np.sqrt((off_sums**2).mean(axis=0))
        ones = np.ones(len(X))
        return {
            "A": off_rows / np.sqrt((off_rows**2).mean(axis=1, keepdims=True)),
            "B": off_sums / np.sqrt(sigma + EPS),
            "C": layers.layer_norm(X, ones, 0 * ones, EPS),
        }


def possible_prints(X, Y):
    return "".join(
        letter for letter, made in prints(X).items() if np.allclose(made, Y, rtol=0, atol=1e-3, equal_nan=True)
    )


def typed(X, print_):
    return X, np.round(prints(X)[print_], 5)


def draw_print_tokens(rng):
    D, N = draw_sizes(rng, 2)
    return draw_tokens(rng, (D, N))


def circulant(rng, spread, mean):
    """Every row and every column holds the same numbers."""
    D = draw_sizes(rng, 1)[0]
    row = rng.normal(size=D)
    row = spread * (row - row.mean()) / row.std() + mean
    return np.stack([np.roll(row, n) for n in range(D)])


def mistyped(X, slip):
    """Prints with one slip too few or too many: no print makes these."""
    mean, total = X.mean(axis=0), X.sum(axis=0)
    sigma = np.sqrt(((X - total) ** 2).mean(axis=0))
    return X, (
        (X - mean) / np.sqrt(X.std(axis=0) + EPS),
        (X - total) / np.sqrt(sigma**2 + EPS),
        (X - total) / np.sqrt(X.std(axis=0) + EPS),
        (X - mean) / np.sqrt(sigma + EPS),
        (X - X.mean(axis=1, keepdims=True)) / X.std(axis=0),
        (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).sum(axis=0)) + EPS),
        (X - X.mean(axis=1, keepdims=True)) / np.sqrt(X.std(axis=1, keepdims=True)),
    )[slip]


def spoil_one(Y):
    return Y + 0.01 * (np.arange(Y.size) == Y.size - 1).reshape(Y.shape)


def spoil_all_but_one(Y):
    return Y + 1.0 * (np.arange(Y.size) != Y.size - 1).reshape(Y.shape)


def spoil_later_tokens(Y):
    return np.concatenate([Y[:, :1], np.roll(Y[:, 1:], 1, axis=0)], axis=1)


def rolled(Y):
    """Every column has mean 0 and spread 1, and is not that of X."""
    return np.roll(Y, 1, axis=0)


def one_print_or_none(rng):
    cases = [typed(draw_print_tokens(rng), letter) for letter in "ABC"]
    X = draw_print_tokens(rng)
    cases.append((X, np.round(X / np.sqrt((X**2).mean(axis=0) + EPS), 5)))
    X = draw_print_tokens(rng)
    cases.append((X, np.round((X - X.mean(axis=0)) / np.sqrt(X.var(axis=0, ddof=1) + EPS), 5)))
    cases += [(X, np.round(Y, 5)) for X, Y in map(mistyped, [draw_print_tokens(rng) for _ in range(7)], range(7))]
    for spoil in (spoil_one, spoil_all_but_one, spoil_later_tokens, rolled):
        X, Y = typed(draw_print_tokens(rng), "C")
        cases.append((X, spoil(Y)))
    return [cases[i] for i in rng.permutation(len(cases))]


def standard_tokens(rng):
    """Mean 0 and spread 1: on such tokens both slips of B are out of sight."""
    cases = []
    for letter in "CBA":
        X = rng.normal(size=draw_sizes(rng, 2))
        cases.append(typed((X - X.mean(axis=0)) / X.std(axis=0), letter))
    return [cases[i] for i in rng.permutation(len(cases))]


def squares(rng):
    """Circulant matrices, on which the axis does not matter; the last two are so small that the ε shows."""
    cases = [typed(circulant(rng, 3.0, 2.0), letter) for letter in "AC"]
    cases += [typed(circulant(rng, 1.0, 0.0), "B")]
    cases += [typed(circulant(rng, 0.01, 2.0), letter) for letter in "AC"]
    return [cases[i] for i in rng.permutation(len(cases))]


def nothing_by_nothing(rng):
    """A sequence of one token, a feature that is equal everywhere, a token of equal numbers."""
    cases = []
    for letter in "ABC":
        one = draw_print_tokens(rng)[:, :1].copy()
        cases.append(typed(one, letter))
    for letter in "AC":
        X = draw_print_tokens(rng)
        X[1] = float(rng.integers(2, 9))
        cases.append(typed(X, letter))
    X = draw_print_tokens(rng)
    X[:, 2] = float(rng.integers(2, 9))
    cases.append(typed(X, "C"))
    lonely = np.full((draw_sizes(rng, 1)[0], 1), float(rng.integers(2, 9)))
    return [*cases, typed(lonely, "C")]


# museum


def causal_layer(x, W):
    ones = np.ones(x.shape[2])
    normed = np.stack([layers.layer_norm(rows.T, ones, 0 * ones, EPS).T for rows in x])
    so_far = np.cumsum(normed, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far @ W
    return np.stack([layers.rms_norm(rows.T, ones, EPS).T for rows in stream])


def draw_layer(rng, n_sequences=None, n_tokens=None):
    """Tokens in rows, with a mean that makes the residual visible, and a map."""
    B, N, D = draw_sizes(rng, 3)
    shape = (n_sequences or B, n_tokens or N, D)
    x = rng.normal(size=(*shape[:2], 1)) + 2 + rng.uniform(0.5, 2, size=(*shape[:2], 1)) * rng.normal(size=shape)
    return x, rng.normal(size=(D, D)) / np.sqrt(D)


def ordinary_layers(rng):
    return [draw_layer(rng), draw_layer(rng, n_tokens=1), draw_layer(rng, n_sequences=1)]


def extreme_layers(rng):
    """Large tokens, tiny ones (where ε shows), a constant token, and a map that drowns the residual."""
    x, W = draw_layer(rng)
    far = x.copy()
    far[:, 1] = float(rng.integers(2, 9))
    return [(1000 + x, W), (1e-3 * x, 1e-3 * W), (far, W), (x, 50 * W)]


def table_slip(y, x):
    if isinstance(y, np.ndarray) and y.shape == x.shape:
        return None
    return f"The result should be an array of shape {x.shape}."


def no_future(ask, rng):
    x, W = draw_layer(rng)
    later = x.copy()
    later[:, -1] += rng.normal(size=x.shape[2])
    y, y_later = ask(x, W), ask(later, W)
    if slip := table_slip(y, x) or table_slip(y_later, x):
        return slip
    if not close(y_later[:, :-1], y[:, :-1]):
        return "After an edit of the last token the outputs of earlier ones change: the layer sees the future."
    if close(y_later[:, -1], y[:, -1]):
        return "After an edit of the last token its own output must change, but yours does not."
    earlier = x.copy()
    earlier[:, 0] += rng.normal(size=x.shape[2])
    if close(ask(earlier, W)[:, -1], y[:, -1]):
        return "After an edit of the first token the output of the last must change, but yours does not."
    return None


def no_length(ask, rng):
    x, W = draw_layer(rng)
    y, shorter = ask(x, W), ask(x[:, :-1].copy(), W)
    if slip := table_slip(y, x) or table_slip(shorter, x[:, :-1]):
        return slip
    if not close(shorter, y[:, :-1]):
        return "Without the last token the outputs of the earlier ones are not what they were with it."
    if close(y, ask(x, 2 * W)):
        return "With a map twice as large the outputs must change, but yours do not."
    return None


def silent_map(ask, rng):
    x, W = draw_layer(rng)
    y = ask(x, 0 * W)
    if slip := table_slip(y, x):
        return slip
    if not close(y, causal_layer(x, 0 * W)):
        return "With a map of zeros only the residual and the final norm are left, but your outputs are others."
    if close(ask(x, W), y):
        return "The map must change the outputs, but yours are those of a map of zeros."
    return None


# block


def block(X, norm_1, norm_2, form):
    def look_back(Z):
        return np.cumsum(Z, axis=1) / np.arange(1, Z.shape[1] + 1)

    def think(Z):
        return np.maximum(Z, 0)

    if form == "pre-norm":
        Y = X + look_back(layers.layer_norm(X, *norm_1))
        return Y + think(layers.layer_norm(Y, *norm_2))
    if form == "post-norm":
        Y = layers.layer_norm(X + look_back(X), *norm_1)
        return layers.layer_norm(Y + think(Y), *norm_2)
    Y = X + layers.layer_norm(look_back(X), *norm_1)
    return Y + think(Y)


def draw_block(rng, n_tokens=None):
    D, N = draw_sizes(rng, 2)
    X = draw_tokens(rng, (D, n_tokens or N)) + 2
    return X, *((rng.normal(size=D), rng.normal(size=D)) for _ in range(2))


def blocks(form):
    def cases(rng):
        return [(*draw_block(rng), form), (*draw_block(rng, 1), form), (*draw_block(rng), form)]

    return cases


def shifted_stream(ask, rng):
    """The same number added to every feature of every token: no norm sees it."""
    X, norm_1, norm_2 = draw_block(rng)
    shift = 3.0 + rng.uniform(0, 2)
    for form in ("pre-norm", "post-norm"):
        before, after = ask(X, norm_1, norm_2, form), ask(X + shift, norm_1, norm_2, form)
        if not all(isinstance(Y, np.ndarray) and Y.shape == X.shape for Y in (before, after)):
            return f"The result should be an array of shape {X.shape}."
        moved = after - before
        if form == "pre-norm" and not close(moved, np.full(X.shape, shift), 1e-8):
            return (
                f"With {shift:.3g} added to every number of X all outputs of a pre-norm block should rise by "
                f"{shift:.3g}, since the stream passes no norm; yours rise by {moved.min():.3g} to {moved.max():.3g}."
            )
        if form == "post-norm" and not close(moved, 0 * X, 1e-8):
            return (
                f"With {shift:.3g} added to every number of X the output of this post-norm block should stay, "
                f"since all of the stream passes the norms; yours changes by up to {np.abs(moved).max():.3g}."
            )
    if close(ask(X, norm_1, norm_2, "post-norm"), ask(X, norm_1, norm_2, "pre-norm"), 1e-3):
        return "Your pre-norm and your post-norm block give the same."
    return None


# depth


def gradient_sizes(parts, top):
    D = len(top)
    with_, without = [top], [top]
    for J in parts[::-1]:
        with_.append(with_[-1] + J.T @ with_[-1])
        without.append(J.T @ without[-1])
    gains = (parts**2).sum(axis=(1, 2))[::-1] / D
    sizes = {
        "measured with": [np.linalg.norm(g) for g in with_] / np.linalg.norm(top),
        "measured without": [np.linalg.norm(g) for g in without] / np.linalg.norm(top),
        "predicted with": np.sqrt(np.cumprod([1.0, *(1 + gains)])),
        "predicted without": np.sqrt(np.cumprod([1.0, *gains])),
    }
    return {name: np.asarray(lengths)[::-1].copy() for name, lengths in sizes.items()}


def draw_parts(rng, n_parts=None):
    """Parts of different gains, so that their order shows, and a gradient that is not of length 1."""
    M, D = draw_sizes(rng, 2)
    M = n_parts or M
    gains = rng.permutation(np.linspace(0.4, 1.4, M + 1))[:M]
    parts = gains[:, None, None] * rng.normal(size=(M, D, D)) / np.sqrt(D)
    return parts, rng.uniform(2, 4) * rng.normal(size=D)


def draw_stacks(rng):
    return [draw_parts(rng), draw_parts(rng, 1), draw_parts(rng)]


def two_entries(kind):
    """A check of two entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        for n_parts in (None, 3):
            parts, top = draw_parts(rng, n_parts)
            found, expected = ask(parts, top), gradient_sizes(parts, top)
            for name in (f"{kind} with", f"{kind} without"):
                if not isinstance(found, dict) or name not in found:
                    return f"The result should be a dict with the key {name!r}."
                if not isinstance(found[name], np.ndarray) or found[name].shape != (len(parts) + 1,):
                    return f"For {len(parts)} parts the entry {name!r} should be an array of {len(parts) + 1} lengths."
                if not close(found[name], expected[name], 1e-8 * max(1.0, expected[name].max())):
                    return f"For {len(parts)} parts of width {len(top)} your entry {name!r} is not right."
        return None

    return test


# backward


def with_gradient(rng, D, N, *eps):
    return draw_tokens(rng, (D, N)), rng.normal(size=D) + 0.5, rng.normal(size=(D, N)), *eps


def ordinary_gradients(rng):
    cases = []
    for n_tokens, eps in ((None, [0.1]), (None, []), (1, [0.5]), (None, [0.02])):
        D, N = draw_sizes(rng, 2)
        cases.append(with_gradient(rng, D, n_tokens or N, *eps))
    return cases


def gradients_of_equal_sizes(rng):
    return [with_gradient(rng, size, size, eps) for size, eps in zip(draw_sizes(rng, 2), (0.1, EPS), strict=True)]


def scale_and_shift(ask, rng):
    """The two gradients of the parameters, so that they earn their points whatever the one by X is."""
    D, N = draw_sizes(rng, 2)
    arguments = with_gradient(rng, D, N, 0.1)
    found = ask(*arguments)
    if slip := shapes_slip(found, ((D, N), (D,), (D,))):
        return slip
    expected = layers.layer_norm_backward(*arguments)
    for place, name in ((1, "gamma"), (2, "beta")):
        if not close(found[place], expected[place], 1e-8):
            return f"Your gradient by {name} is not right; the others are not looked at here."
    return None


def gradient_check(ask, rng):
    D, N = draw_sizes(rng, 2)
    X, gamma, dY, eps = with_gradient(rng, D, N, 0.1)
    values, step = [X, gamma, rng.normal(size=D)], 1e-5
    found = ask(X, gamma, dY, eps)
    if slip := shapes_slip(found, [value.shape for value in values]):
        return slip
    for place, name in enumerate(("X", "gamma", "beta")):
        direction = rng.normal(size=values[place].shape)
        moved = [[*values[:place], values[place] + sign * step * direction, *values[place + 1 :]] for sign in (1, -1)]
        up, down = ((dY * layers.layer_norm(*arguments, eps)).sum() for arguments in moved)
        measured, claimed = (up - down) / (2 * step), (found[place] * direction).sum()
        if abs(measured - claimed) > 1e-5 * max(1.0, abs(measured)):
            return (
                f"Along a random direction of {name} the loss rises by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


def nothing_along_the_mean(ask, rng):
    D, N = draw_sizes(rng, 2)
    X, gamma, dY, eps = with_gradient(rng, D, N, 0.1)
    whole = ask(X, gamma, dY, eps)
    if slip := shapes_slip(whole, ((D, N), (D,), (D,))):
        return slip
    if not close(whole[0].sum(axis=0), np.zeros(N), 1e-8):
        return (
            "A shift of a whole token changes nothing, so its gradient must sum to 0 over the features; yours does not."
        )
    halves = [ask(X[:, part].copy(), gamma, dY[:, part].copy(), eps) for part in (slice(0, 2), slice(2, N))]
    if not close(whole[0], np.concatenate([halves[0][0], halves[1][0]], axis=1), 1e-8):
        return "The gradient by a token depends on that token alone, but yours changes with its company."
    if not close(whole[1], halves[0][1] + halves[1][1], 1e-8):
        return "All tokens share one gamma, so its gradients from two parts of the sequence add up; yours do not."
    if any(close(array, 0 * array) for array in whole):
        return "One of your gradients is 0 everywhere."
    return None


EXERCISE = Exercise(
    slug="07-residual-norm",
    title="Residuals and normalisation",
    chapter="chapters/07-residual-norm",
    questions=(
        Question(
            id="layer-norm",
            title="LayerNorm",
            name="layer_norm",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 5, ordinary_tokens, layers.layer_norm),
                equals("constant, huge and far tokens", 3, special_tokens, layers.layer_norm),
                holds("every token alone", 4, every_token_alone),
            ),
            hints=(
                "How many means are there, and over how many numbers does each run? In a D×N matrix, which axis has "
                "to vanish?",
                "The mean and the variance have one number for each column and line up by themselves. The scale and "
                "the shift have one for each row, and have to be stood upright.",
                "Do the centring once, keep its result, and make the variance from that. Then try ε = 3 on the token "
                "of the example: is it inside the root, beside the variance?",
            ),
            section="one-token-at-a-time",
        ),
        Question(
            id="norms",
            title="Three norms for one batch",
            name="normalise",
            minutes=12,
            difficulty=1,
            checks=(
                equals("LayerNorm", 3, batches("LayerNorm"), normalise),
                equals("RMSNorm", 3, batches("RMSNorm"), normalise),
                equals("BatchNorm", 3, batches("BatchNorm"), normalise),
                holds("who notices", 3, who_notices),
            ),
            hints=(
                "For each of the three ask: which numbers share one mean, or one mean square? Number the axes of a "
                "B×D×N array, and write down those along which they lie.",
                "Let the axes stay in the result with length 1, so that the means line up with x again. An `axis` "
                "may be a pair of numbers.",
                "One of the three subtracts nothing, and averages squares. Another has D means in all, each over "
                "everything in the batch that carries this feature.",
            ),
            section="what-is-averaged",
        ),
        Question(
            id="prints",
            title="Two prints with slips",
            name="possible_prints",
            minutes=18,
            difficulty=2,
            checks=(
                equals("one print or none", 5, one_print_or_none, possible_prints),
                equals("tokens that hide a slip", 3, standard_tokens, possible_prints),
                equals("squares that hide a slip", 2, squares, possible_prints),
                equals("0 divided by 0", 2, nothing_by_nothing, possible_prints),
            ),
            hints=(
                "Type each of the three as a function of X, word for word, also where you know better. Which index is "
                "bound by each sum, and what stands in front of it?",
                "B uses the μ that it has printed in all places, and what it calls σ is already a root. A has one mean "
                "for each row.",
                "Compare all entries of a candidate with all of Y, NaN in the same places included; `np.allclose` has "
                "an option for that, and a relative tolerance that you do not want.",
            ),
            section="the-norm-that-sees-the-future",
        ),
        Question(
            id="museum",
            title="Repair the layer that sees the future",
            name="causal_layer",
            minutes=18,
            difficulty=2,
            checks=(
                holds("the future", 3, no_future),
                holds("cut off", 3, no_length),
                holds("silent map", 2, silent_map),
                equals("values", 6, ordinary_layers, causal_layer),
                equals("extreme tokens and maps", 2, extreme_layers, causal_layer),
            ),
            hints=(
                "Here tokens are rows, in a batch: write the meaning of axis 0, 1 and 2 beside every line, and compare "
                "with the four sentences of the task, one after the other.",
                "How many tokens has the third one seen, itself included? And how many has it seen according to the "
                "museum piece, if the sequence has ten?",
                "A residual connection adds to the stream, and in a pre-norm layer no norm ever touches that. What "
                "does the museum piece add to, in the line that makes `stream`?",
            ),
            section="the-norm-that-sees-the-future",
        ),
        Question(
            id="block",
            title="Where the norm goes",
            name="block",
            minutes=15,
            difficulty=2,
            checks=(
                equals("pre-norm", 4, blocks("pre-norm"), block),
                equals("post-norm", 4, blocks("post-norm"), block),
                equals("Jiang's form", 3, blocks("Jiang"), block),
                holds("a shift of the stream", 3, shifted_stream),
            ),
            hints=(
                "Draw each form as a line, the stream, with two parts beside it. Where does a part read, where "
                "is its output added, and on which of the lines do the two norms sit?",
                "The second half starts from what the first half made, both for what its part reads and for what is "
                "added to. Give the result of the first half a name and never use X again.",
                "Tokens with a large mean show what goes wrong: in one form it passes to the output unchanged, in "
                "another nothing is left of it. Each norm has a scale and a shift of its own.",
            ),
            section="where-the-norm-goes",
        ),
        Question(
            id="depth",
            title="A gradient on its way down",
            name="gradient_sizes",
            minutes=20,
            difficulty=2,
            checks=(
                holds("measured", 4, two_entries("measured")),
                holds("predicted", 4, two_entries("predicted")),
                equals("all four", 4, draw_stacks, gradient_sizes),
            ),
            hints=(
                "Which part does a gradient meet first on its way down, and what stands between the gradient above a "
                "part and the one below it? Shapes do not tell, since J is square.",
                "The loss grows by g·dx above the part, and dx is J times something there. Move J to the other side of "
                "the product. With a residual connection, what else arrives?",
                "For the prediction with residuals draw a right triangle: one side is what came from above, the other "
                "is s_m times as long. How long is the third, and what does the next part make of it?",
            ),
            section="identity-plus-a-bit",
        ),
        Question(
            id="backward",
            title="Stretch: the gradient of LayerNorm",
            name="layer_norm_backward",
            minutes=27,
            difficulty=3,
            checks=(
                holds("scale and shift", 3, scale_and_shift),
                equals("values", 6, ordinary_gradients, layers.layer_norm_backward),
                equals("equal sizes", 2, gradients_of_equal_sizes, layers.layer_norm_backward),
                holds("gradient check", 4, gradient_check),
                holds("what has no gradient", 3, nothing_along_the_mean),
            ),
            hints=(
                "Work on one token. Name what stands before scale and shift x̂, and the gradient that arrives there; γ "
                "has a part in it. The gradients by γ and β need no more than this: which axis do they sum over?",
                "A small change of x changes x̂ in three ways: directly, through the mean, and through the standard "
                "deviation. The last is σ = √(var + ε), and its slope by x_d is x̂_d / D.",
                "Each of the last two ways takes something out of the arriving gradient: its mean, and its mean "
                "product with x̂, along x̂. All three share one factor; it belongs to the token.",
            ),
            section="one-token-at-a-time",
        ),
    ),
)
