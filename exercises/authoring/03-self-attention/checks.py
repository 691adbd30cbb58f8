"""Checks of exercise 03: sizes that do not divide each other; ordinary, saturated and huge scores."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import CLOSE, close, draw_sizes, scaled, shape_slip, varied
from clearformer.reference import attention

ROUNDING = 1e-6  # of the largest score: what the question "rungs" calls rounding


def first_bad_column(value, expected):
    return int(np.flatnonzero(~np.isclose(value, expected, rtol=0, atol=CLOSE).all(axis=0))[0])


# weights


def ordinary_scores(rng):
    S, N = draw_sizes(rng, 2)
    return [(rng.normal(size=shape),) for shape in ((S, N), (N, S), (1, N), (S, 1))]


def large_scores(rng):
    S, N = draw_sizes(rng, 2)
    saturated, huge = 30 * rng.normal(size=(S, N)), 1e4 * rng.normal(size=(N, S))
    shifted = rng.normal(size=(S, N)) + 1e4 * np.where(np.arange(N) % 2, 1.0, -1.0)
    return [(saturated,), (huge,), (shifted,)]


def columns_are_shares(ask, rng):
    S, N = draw_sizes(rng, 2)
    scores = rng.normal(size=(S, N))
    weights = ask(scores)
    if slip := shape_slip(weights, (S, N)):
        return slip
    sums = weights.sum(axis=0)
    if not close(sums, np.ones(N)):
        n = first_bad_column(sums[None], 1.0)
        return f"The weights of one query must sum to 1; in your column {n} they sum to {sums[n]:.4g}."
    if (weights <= 0).any():
        return "Every weight must be above 0: exp never gives 0 for scores of this size."
    if not close(ask(scores + rng.normal(size=N)), weights):
        return "Adding one number to all scores of a query must leave its weights as they are; yours change."
    edited = scores.copy()
    edited[1, 2] += 1.5
    others = np.arange(N) != 2
    if not close(ask(edited)[:, others], weights[:, others]):
        return "After an edit of scores[1, 2] only column 2 of the weights may change; yours change elsewhere."
    if ask(edited)[1, 2] <= weights[1, 2]:
        return "A higher score must mean a larger weight, but yours did not grow."
    return None


# ladder


def tokens_and_two_maps(rng):
    cases = []
    for n_tokens in (None, None, 1):
        D, N, K = draw_sizes(rng, 3)
        N = n_tokens or N
        U_q, U_k = (rng.normal(size=(K, D)) / np.sqrt(D * np.sqrt(K)) for _ in range(2))
        cases.append((rng.normal(size=(D, N)), U_q, U_k))
    return cases


def huge_tokens(rng):
    X, U_q, U_k = tokens_and_two_maps(rng)[0]
    return [(100 * X, U_q, U_k), (X, 1e4 * U_q, U_k)]


def who_asks(ask, rng):
    D, N, K = draw_sizes(rng, 3)
    asker, source = (int(token) for token in rng.choice(N, 2, replace=False))
    X, U_q, U_k = np.zeros((D, N)), np.zeros((K, D)), np.zeros((K, D))
    X[0, asker] = X[1, source] = U_q[0, 0] = U_k[0, 1] = 1.0
    scores = ask(X, U_q, U_k)
    if slip := shape_slip(scores, (N, N)):
        return slip
    expected = np.zeros((N, N))
    expected[source, asker] = 1.0
    if close(scores, expected):
        return None
    found = [tuple(int(i) for i in index) for index in np.argwhere(np.abs(scores) > CLOSE)]
    shown = "none" if not found else f"at {found[0]}" if len(found) == 1 else f"at {len(found)} places"
    return (
        f"Only token {asker} has a query and only token {source} has a key, so exactly one score is not 0 "
        f"and it stands in the column of the token that asks; your scores are non-zero {shown}."
    )


# rungs


def lowest_rung(X, scores):
    limit = ROUNDING * np.abs(scores).max()
    if np.abs(scores - attention.scores_dot(X)).max() <= limit:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= limit
    if symmetric and np.linalg.eigvalsh((scores + scores.T) / 2).min() >= -limit:
        return "projected"
    return "query-key"


def mirrored(scores):
    """Symmetric to the last bit, so that rounding decides only where a case wants it to."""
    return (scores + scores.T) / 2


def independent_tokens(rng):
    N = 5
    D = int(rng.choice([7, 9, 11]))
    return rng.normal(size=(D, N)), D, N


def one_of_each(rng):
    X, D, _ = independent_tokens(rng)
    U, U_q, U_k = rng.normal(size=(13, D)), rng.normal(size=(4, D)), rng.normal(size=(4, D))
    return [
        (X, mirrored(attention.scores_projected(X, U))),
        (X, attention.scores_dot(X)),
        (X, attention.scores_query_key(X, U_q, U_k)),
    ]


def look_alikes(rng):
    """Symmetric without being a Gram matrix, and positive without being symmetric."""
    X, D, N = independent_tokens(rng)
    stretch = np.diag(rng.uniform(0.5, 1.5, N))
    prefers_others = stretch @ (np.ones((N, N)) - 0.7 * np.eye(N)) @ stretch  # N − 1 eigenvalues below 0
    basis = np.linalg.qr(np.column_stack([np.ones(N), rng.normal(size=(N, N - 1))]))[0]
    one_below = basis @ np.diag([-0.5, 1.0, 2.0, 3.0, 4.0]) @ basis.T  # its diagonal is above 0 all the same
    left, right = np.tril(rng.uniform(1, 2, (N, N)), -1), np.triu(rng.uniform(1, 2, (N, N)), 1)
    looks_left = np.eye(N) + right - right.T
    return [
        (X, prefers_others),
        (X, one_below),
        (X, mirrored(attention.scores_projected(X, rng.normal(size=(13, D))))),
        (X, -attention.scores_dot(X)),
        (X, 3 * np.eye(N) + right),
        (X, 3 * np.eye(N) + left),
        (X, looks_left),
        (X, attention.scores_dot(X)),
    ]


def rounded_and_short(rng):
    """Zero eigenvalues, rounding that grows with the scores, and a sequence of one token."""
    X, D, N = independent_tokens(rng)
    U = rng.normal(size=(2, D))
    flat, gram = mirrored(attention.scores_projected(X, U)), attention.scores_dot(100 * X)
    full = 1e4 * attention.scores_projected(X, rng.normal(size=(13, D)))
    noise = 1e-10 * rng.normal(size=(N, N))
    token = rng.normal(size=(D, 1))
    return [
        (X, flat),
        (X, 1e4 * (flat - 1e-9 * np.abs(flat).max() * np.eye(N))),
        (X, full + noise * np.abs(full).max()),
        (100 * X, gram + noise * np.abs(gram).max()),
        (X, 1e-3 * attention.scores_query_key(X, U, rng.normal(size=(2, D)))),
        (token, attention.scores_dot(token)),
        (token, 2 * attention.scores_dot(token)),
        (token, -attention.scores_dot(token)),
    ]


# scaling


def outputs(Q, K, V):
    return attention.attend(Q, K, V)[0]


def queries_keys_values(rng, n_targets=None, n_sources=None, width=None):
    K, V, N, S = draw_sizes(rng, 4)
    K, N, S = width or K, n_targets or N, n_sources or S
    return rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(V, S))


ordinary_heads = varied(queries_keys_values, {}, {}, {"n_targets": 1}, {"n_sources": 1}, {"width": 1})


def large_heads(rng):
    cases = scaled(queries_keys_values, 30.0, 1e4)(rng)
    Q, K, V = queries_keys_values(rng)
    Q[0], K[0] = 1e4 * np.where(np.arange(Q.shape[1]) % 2, 1.0, -1.0), 2.0
    return [*cases, (Q, K, V)]


def averages_of_values(ask, rng):
    Q, K, V = queries_keys_values(rng)
    Y = ask(Q, K, V)
    if slip := shape_slip(Y, (len(V), Q.shape[1])):
        return slip
    order = rng.permutation(K.shape[1])
    if not close(ask(Q, K[:, order], V[:, order]), Y):
        return "Keys and values shuffled alike are the same set of pairs, but your outputs change."
    alike = np.repeat(K[:, :1], K.shape[1], axis=1)
    if not close(ask(Q, alike, V), np.repeat(V.mean(axis=1, keepdims=True), Q.shape[1], axis=1)):
        return "When all keys are equal every output is the plain mean of the values; yours is not."
    above, below = Y - V.max(axis=1, keepdims=True), V.min(axis=1, keepdims=True) - Y
    outside = np.maximum(above, below) > CLOSE
    if outside.any():
        d, n = np.argwhere(outside)[0]
        return f"An average stays between its terms, but your Y[{d}, {n}] is outside the range of row {d} of V."
    if close(ask(2 * Q, K, V), Y):
        return "Other queries must get other averages, but your outputs do not depend on Q."
    return None


# dimensions


def table_shapes(n, m, d, k, v, layout):
    """Shapes of Q, K, V, A and O, read off tables of zeros that went through the formulas."""
    targets, sources = np.zeros((d, n)), np.zeros((d, m))
    Q, K, V = np.zeros((k, d)) @ targets, np.zeros((k, d)) @ sources, np.zeros((v, d)) @ sources
    Y, A = attention.attend(Q, K, V)
    tables = {"Q": Q, "K": K, "V": V, "A": A, "O": Y}
    return {name: table.shape if layout == "columns" else table.T.shape for name, table in tables.items()}


def in_layout(layout):
    def cases(rng):
        return [(*draw_sizes(rng, 5), layout) for _ in range(3)] + [(1, *draw_sizes(rng, 4), layout)]

    return cases


# matrix form


def outputs_in_rows(X_rows, U_q, U_k, U_v):
    X = X_rows.T
    return attention.attend(U_q @ X, U_k @ X, U_v @ X)[0].T


def rows_and_maps(rng, n_tokens=None, square=False):
    N, D, K, V = draw_sizes(rng, 4)
    K, V = (D, D) if square else (K, V)
    X_rows = rng.normal(size=(n_tokens or N, D))
    U_q, U_k, U_v = (rng.normal(size=(height, D)) / np.sqrt(D) for height in (K, K, V))
    return X_rows, U_q, U_k, U_v


ordinary_rows = varied(rows_and_maps, {}, {}, {"n_tokens": 1})
lecture_sizes = varied(rows_and_maps, {"square": True}, {"square": True})
large_rows = scaled(rows_and_maps, 5.0, 100.0)


# equivariance


def outputs_in_columns(X, U_q, U_k, U_v):
    return attention.attend(U_q @ X, U_k @ X, U_v @ X)[0]


def columns_and_maps(rng, n_tokens=None):
    X_rows, *maps = rows_and_maps(rng, n_tokens)
    return X_rows.T.copy(), *maps


ordinary_columns = varied(columns_and_maps, {}, {}, {"n_tokens": 1})
large_columns = scaled(columns_and_maps, 5.0, 100.0)


def no_exchange(ask, X, *maps):
    """A sentence when tokens do not look at each other: such a function has every property below for free."""
    Y = ask(X, *maps)
    if slip := shape_slip(Y, (len(maps[2]), X.shape[1])):
        return slip
    edited = X.copy()
    edited[-1, 0] += 1.0
    if close(ask(edited, *maps)[:, 1:], Y[:, 1:]):
        return "An edit of token 0 must reach the other tokens' outputs, but yours stay as they were."
    if close(Y, np.repeat(Y[:, :1], Y.shape[1], axis=1)):
        return "Different tokens ask different questions, but all your outputs are the same."
    return None


def follows_the_order(ask, rng):
    X, *maps = columns_and_maps(rng)
    if slip := no_exchange(ask, X, *maps):
        return slip
    order = np.roll(np.arange(X.shape[1]), int(rng.integers(1, X.shape[1])))
    Y = ask(X, *maps)
    if not close(ask(X[:, order], *maps), Y[:, order]):
        return "With the columns of X in another order your outputs are not the same ones in that order."
    return None


def averages_ones_to_one(ask, rng):
    X, U_q, U_k, U_v = columns_and_maps(rng)
    X[0], U_v[0] = 1.0, np.eye(len(X))[0]
    if slip := no_exchange(ask, X, U_q, U_k, U_v):
        return slip
    Y = ask(X, U_q, U_k, U_v)
    if not close(Y[0], np.ones(X.shape[1])):
        worst = Y[0][np.argmax(np.abs(Y[0] - 1))]
        return f"Every token has a 1 in feature 0, so every average has one too; yours gives {worst:.4g}."
    return None


def ignores_copies(ask, rng):
    X, *maps = columns_and_maps(rng)
    if slip := no_exchange(ask, X, *maps):
        return slip
    Y = ask(X, *maps)
    twice = ask(np.concatenate([X, X], axis=1), *maps)
    if not close(twice, np.concatenate([Y, Y], axis=1)):
        return "With every token in the sequence twice, each average stays what it was; your outputs change."
    return None


EXERCISE = Exercise(
    slug="03-self-attention",
    title="Self-attention",
    chapter="chapters/03-self-attention",
    questions=(
        Question(
            id="weights",
            title="Attention weights and their axis",
            name="attention_weights",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 6, ordinary_scores, attention.attention_weights),
                equals("large scores", 2, large_scores, attention.attention_weights),
                holds("shares of one query", 2, columns_are_shares),
            ),
            hints=(
                "A column belongs to one query. Say in words which entries of the table compete with each other.",
                "Which index disappears when you sum over the things that compete? NumPy's `axis` names "
                "exactly that "
                "index.",
                "For huge scores: what can you subtract from all entries of a column without changing any "
                "share? "
                "`keepdims=True` keeps the result ready for broadcasting.",
            ),
            section="where-the-softmax-goes",
        ),
        Question(
            id="ladder",
            title="Query–key scores",
            name="query_key_scores",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 6, tokens_and_two_maps, attention.scores_query_key),
                equals("large tokens", 2, huge_tokens, attention.scores_query_key),
                holds("who asks whom", 4, who_asks),
            ),
            hints=(
                "Make the two tables first, one with all queries and one with all keys, and write down both shapes.",
                "Every entry is a dot product of one column of the first table with one column of the "
                "second. Which "
                "of the two does the row number of the result belong to?",
                "A matrix product takes rows from its left factor and columns from its right factor. One "
                "of your two "
                "tables has to turn its columns into rows.",
            ),
            section="the-ladder-of-scores",
        ),
        Question(
            id="rungs",
            title="Which rung do these scores need?",
            name="lowest_rung",
            minutes=15,
            difficulty=3,
            checks=(
                equals("one of each", 4, one_of_each, lowest_rung),
                equals("look-alikes", 5, look_alikes, lowest_rung),
                equals("rounding and one token", 3, rounded_and_short, lowest_rung),
            ),
            hints=(
                "Begin with the lowest rung: it has nothing to choose, so there is only one table it can make.",
                "Scores of the projected rung are dot products of the vectors Ux with themselves. Which "
                "two properties "
                "does every such table have, whatever U is?",
                "A direction in which the table gives a negative number, zᵀCz < 0, rules the projected "
                "rung out. "
                "`np.linalg.eigvalsh` finds the most negative one, but it reads one triangle only, and "
                "rounding turns "
                "an exact 0 into something like −1e-12 times the largest score.",
            ),
            section="the-ladder-of-scores",
        ),
        Question(
            id="scaling",
            title="Scaled dot-product attention",
            name="attend",
            minutes=12,
            difficulty=2,
            checks=(
                equals("values", 8, ordinary_heads, outputs),
                equals("large scores", 3, large_heads, outputs),
                holds("averages of the values", 3, averages_of_values),
            ),
            hints=(
                "Three steps: scores, weights, averages. Write the shape of each table beside its line.",
                "The scale undoes the growth of one sum. How many products does one score add up?",
                "Check three places: which size is under the root, on which side of the softmax the scale "
                "acts, and "
                "which axis the softmax runs along when one column is one query.",
            ),
            section="why-divide-by-the-square-root-of-k",
        ),
        Question(
            id="dimensions",
            title="The lecture's “Dimensions?”",
            name="shapes",
            minutes=8,
            difficulty=1,
            checks=(
                equals("rows", 5, in_layout("rows"), table_shapes),
                equals("columns", 5, in_layout("columns"), table_shapes),
            ),
            hints=(
                "Ask of each table what it holds one of per token, and for which tokens: those that ask or "
                "those "
                "that are looked at.",
                "In a product the two inner sizes must be equal and vanish. Write Q = XW_Q with the shapes "
                "below it, "
                "then the other four.",
                "A transpose swaps the two numbers of a shape. What happens to a whole formula when you transpose it?",
            ),
            section="the-matrix-form",
        ),
        Question(
            id="matrix-form",
            title="From columns to rows",
            name="self_attention_rows",
            minutes=12,
            difficulty=2,
            checks=(
                equals("values", 7, ordinary_rows, outputs_in_rows),
                equals("square maps", 4, lecture_sizes, outputs_in_rows),
                equals("large scores", 3, large_rows, outputs_in_rows),
            ),
            hints=(
                "Transpose the equation q = U_q x of one token: what stands to the right of the row xᵀ?",
                "In rows, A[n, s] belongs to query n. So the tokens that compete for query n stand side by side.",
                "Test yourself without the grader: put X = X_rows.T through your column functions of the "
                "questions "
                "above, transpose the result and compare, also when all three maps are square.",
            ),
            section="the-matrix-form",
        ),
        Question(
            id="equivariance",
            title="Stretch: repair the museum piece",
            name="repaired_attention",
            minutes=20,
            difficulty=3,
            checks=(
                equals("values", 6, ordinary_columns, outputs_in_columns),
                equals("large scores", 2, large_columns, outputs_in_columns),
                holds("another order", 4, follows_the_order),
                holds("average of ones", 3, averages_ones_to_one),
                holds("every token twice", 3, ignores_copies),
            ),
            hints=(
                "Each of the three experiments is upset by something else. Go through the lines one by one "
                "and ask: "
                "does this line know which number belongs to which token?",
                "A right shape is no proof: print keys and what the museum makes of it for a 2 × 3 table "
                "of the "
                "numbers 0 to 5. Does token 0 still have its own numbers?",
                "Then two questions are left. Do the weights of one query sum to 1? Does any factor depend "
                "on how "
                "many tokens there are, and should it?",
            ),
            section="permutation-equivariance",
        ),
    ),
)
