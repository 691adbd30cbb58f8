"""Named wrong solutions of exercise 03: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# weights


@wrong(
    "weights",
    says="The softmax runs over the queries: your rows sum to 1, not your columns.",
    section="where-the-softmax-goes",
)
def softmax_over_queries(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@wrong(
    "weights",
    says="The softmax runs over the whole table: all weights of all queries together sum to 1.",
    section="where-the-softmax-goes",
)
def softmax_over_everything(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@wrong(
    "weights",
    says="You divide the scores themselves by their sum; the exponential is missing.",
    section="where-the-softmax-goes",
)
def no_exponential(scores):
    return scores / scores.sum(axis=0)


@wrong(
    "weights",
    says="You take the exponentials and never divide them by their sum.",
    section="where-the-softmax-goes",
)
def never_divided(scores):
    return np.exp(scores - scores.max(axis=0))


@wrong(
    "weights",
    says="Every score goes through a sigmoid of its own, so the tokens do not compete for the query.",
    section="where-the-softmax-goes",
)
def sigmoid_of_each(scores):
    return 1 / (1 + np.exp(-scores))


@wrong(
    "weights",
    says="You give the whole weight to the largest score; a soft maximum shares it out.",
    section="where-the-softmax-goes",
)
def hard_maximum(scores):
    return (scores == scores.max(axis=0)).astype(float)


@wrong(
    "weights",
    says="The sign is turned round: the lowest score gets the largest weight.",
    section="where-the-softmax-goes",
)
def lowest_score_wins(scores):
    powers = np.exp(scores.min(axis=0) - scores)
    return powers / powers.sum(axis=0)


@wrong(
    "weights",
    says="Your weights are the logarithms of the weights.",
    section="where-the-softmax-goes",
)
def logarithms(scores):
    shifted = scores - scores.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))


@wrong(
    "weights",
    says="You return the table lying on its side: one row per query instead of one column.",
    section="where-the-softmax-goes",
)
def transposed_result(scores):
    powers = np.exp(scores - scores.max(axis=0))
    return (powers / powers.sum(axis=0)).T


@wrong(
    "weights",
    says="You scale the scores inside the softmax, but this function gets scores that are ready to use.",
    section="why-divide-by-the-square-root-of-k",
)
def scaled_once_more(scores):
    scaled = scores / np.sqrt(scores.shape[0])
    powers = np.exp(scaled - scaled.max(axis=0))
    return powers / powers.sum(axis=0)


@wrong(
    "weights",
    says="A small number is added to the denominator, so no column sums to 1 exactly.",
    section="where-the-softmax-goes",
)
def padded_denominator(scores):
    powers = np.exp(scores - scores.max(axis=0))
    return powers / (powers.sum(axis=0) + 1e-5)


@wrong(
    "weights",
    says="The exponential meets large scores as they are and overflows.",
    section="where-the-softmax-goes",
)
def no_maximum(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=0)


@wrong(
    "weights",
    says="You subtract one maximum of the whole table: for a query whose scores all lie far below it every "
    "exponential becomes 0.",
    section="where-the-softmax-goes",
)
def one_maximum_for_all(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=0)


@wrong(
    "weights",
    says="Your maxima and sums have lost an axis and are stretched along the wrong one.",
    section="where-the-softmax-goes",
)
def lost_axis(scores):
    powers = np.exp(scores - scores.max(axis=1))
    return powers / powers.sum(axis=1)


@wrong(
    "weights",
    says="You work inside the array that came in, so the caller's scores are gone afterwards.",
    section="where-the-softmax-goes",
)
def changes_its_argument(scores):
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    return scores / scores.sum(axis=0)


@wrong(
    "weights",
    says="You compute in single precision and lose half of the digits.",
    section="where-the-softmax-goes",
)
def single_precision(scores):
    powers = np.exp((scores - scores.max(axis=0)).astype(np.float32))
    return powers / powers.sum(axis=0)


# ladder


@wrong(
    "ladder",
    says="The roles are swapped: the query stands on the row and the key on the column.",
    section="query-on-the-column-or-on-the-row",
)
def query_on_the_row(X, U_q, U_k):
    return (U_q @ X).T @ (U_k @ X)


@wrong(
    "ladder",
    says="You compare the tokens themselves: this is the first rung, and U_q and U_k play no part.",
    section="the-ladder-of-scores",
)
def first_rung(X, U_q, U_k):
    return X.T @ X


@wrong(
    "ladder",
    says="You use U_q for both roles: this is the second rung, so your scores are symmetric.",
    section="the-ladder-of-scores",
)
def queries_only(X, U_q, U_k):
    return (U_q @ X).T @ (U_q @ X)


@wrong(
    "ladder",
    says="You use U_k for both roles: this is the second rung, so your scores are symmetric.",
    section="the-ladder-of-scores",
)
def keys_only(X, U_q, U_k):
    return (U_k @ X).T @ (U_k @ X)


@wrong(
    "ladder",
    says="You add the two maps into one: every token gets a single projection, so your scores are symmetric.",
    section="the-ladder-of-scores",
)
def sum_of_maps(X, U_q, U_k):
    U = U_q + U_k
    return (U @ X).T @ (U @ X)


@wrong(
    "ladder",
    says="You average the scores of both directions, which makes them symmetric again.",
    section="the-ladder-of-scores",
)
def both_directions(X, U_q, U_k):
    scores = (U_k @ X).T @ (U_q @ X)
    return (scores + scores.T) / 2


@wrong(
    "ladder",
    says="The scores are already divided by a square root; this question asks for plain dot products.",
    section="why-divide-by-the-square-root-of-k",
)
def scaled_too_early(X, U_q, U_k):
    return (U_k @ X).T @ (U_q @ X) / np.sqrt(len(U_q))


@wrong(
    "ladder",
    says="You return weights: the softmax belongs to the next step.",
    section="where-the-softmax-goes",
)
def softmax_included(X, U_q, U_k):
    scores = (U_k @ X).T @ (U_q @ X)
    powers = np.exp(scores - scores.max(axis=0))
    return powers / powers.sum(axis=0)


@wrong(
    "ladder",
    says="This is the papers' product for tokens in rows; with tokens in columns it pairs features with features.",
    section="query-on-the-column-or-on-the-row",
)
def features_against_features(X, U_q, U_k):
    return (U_q @ X) @ (U_k @ X).T


@wrong(
    "ladder",
    says="Two neighbours in a product have different inner sizes: one has to be turned or to change places.",
    section="the-ladder-of-scores",
)
def no_transpose(X, U_q, U_k):
    return (U_k @ X) @ (U_q @ X)


@wrong(
    "ladder",
    says="A reshape is no transpose: it gives the right shape and mixes the numbers of different tokens.",
    section="the-ladder-of-scores",
)
def reshaped_keys(X, U_q, U_k):
    keys = U_k @ X
    return keys.reshape(keys.shape[1], keys.shape[0]) @ (U_q @ X)


@wrong(
    "ladder",
    says="You divide by the lengths of the vectors: a cosine forgets how long queries and keys are.",
    section="the-ladder-of-scores",
)
def cosine(X, U_q, U_k):
    queries, keys = U_q @ X, U_k @ X
    return (keys / np.linalg.norm(keys, axis=0)).T @ (queries / np.linalg.norm(queries, axis=0))


# rungs


@wrong(
    "rungs",
    says="You ask only whether the scores are symmetric, and there are symmetric scores that no U can make.",
    section="second-rung-project-first",
)
def symmetric_is_enough(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    return "projected" if np.abs(scores - scores.T).max() <= limit else "query-key"


@wrong(
    "rungs",
    says="You ask about the eigenvalues of one triangle and never whether the other triangle mirrors it.",
    section="second-rung-project-first",
)
def one_triangle(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    return "projected" if np.linalg.eigvalsh(scores).min() >= -limit else "query-key"


@wrong(
    "rungs",
    says="Eigenvalues with a real part of at least 0 do not make a table symmetric.",
    section="second-rung-project-first",
)
def real_parts(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    return "projected" if np.linalg.eigvals(scores).real.min() >= -limit else "query-key"


@wrong(
    "rungs",
    says="You look at the diagonal only: scores of tokens with themselves may be fine where the table is not.",
    section="second-rung-project-first",
)
def diagonal_only(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= limit
    return "projected" if symmetric and np.diag(scores).min() >= 0 else "query-key"


@wrong(
    "rungs",
    says="You ask for entries of at least 0, but a dot product of two projected tokens may well be negative.",
    section="second-rung-project-first",
)
def no_negative_entry(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= limit
    return "projected" if symmetric and scores.min() >= 0 else "query-key"


@wrong(
    "rungs",
    says="A determinant of at least 0 allows an even number of negative eigenvalues.",
    section="second-rung-project-first",
)
def determinant(X, scores):
    size = np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= 1e-6 * size:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= 1e-6 * size
    return "projected" if symmetric and np.linalg.det(scores / size) >= -1e-6 else "query-key"


@wrong(
    "rungs",
    says="Tables with an eigenvalue of 0, up to rounding, fall through: a U with fewer rows than there are tokens "
    "makes such tables.",
    section="second-rung-project-first",
)
def strictly_positive(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= limit
    return "projected" if symmetric and np.linalg.eigvalsh(scores).min() > limit else "query-key"


@wrong(
    "rungs",
    says="You compare a table with its mirror image to the last bit, and rounding decides.",
    section="second-rung-project-first",
)
def exact_symmetry(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    symmetric = (scores == scores.T).all()
    return "projected" if symmetric and np.linalg.eigvalsh(scores).min() >= -limit else "query-key"


@wrong(
    "rungs",
    says="Your limit for rounding does not grow with the scores.",
    section="second-rung-project-first",
)
def absolute_limit(X, scores):
    limit = 1e-9
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= limit
    return "projected" if symmetric and np.linalg.eigvalsh(scores).min() >= -limit else "query-key"


@wrong(
    "rungs",
    says="Your limit for negative eigenvalues does not grow with the scores, so large ones fall through.",
    section="second-rung-project-first",
)
def absolute_limit_for_eigenvalues(X, scores):
    if np.allclose(scores, X.T @ X):
        return "dot"
    positive = np.linalg.eigvalsh(scores).min() >= -1e-9
    return "projected" if positive and np.allclose(scores, scores.T) else "query-key"


@wrong(
    "rungs",
    says="You never name the lowest rung, though some of the tables are the plain dot products.",
    section="second-rung-project-first",
)
def never_dot(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    symmetric = np.abs(scores - scores.T).max() <= limit
    positive = np.linalg.eigvalsh((scores + scores.T) / 2).min() >= -limit
    return "projected" if symmetric and positive else "query-key"


@wrong(
    "rungs",
    says="You call every symmetric positive semi-definite table plain dot products, but the tokens X are given.",
    section="second-rung-project-first",
)
def any_tokens_will_do(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    symmetric = np.abs(scores - scores.T).max() <= limit
    positive = np.linalg.eigvalsh((scores + scores.T) / 2).min() >= -limit
    return "dot" if symmetric and positive else "query-key"


@wrong(
    "rungs",
    says="The highest rung can make every table here; the question asks for the lowest rung that can.",
    section="second-rung-project-first",
)
def highest_rung_always(X, scores):
    return "query-key"


@wrong(
    "rungs",
    says="You judge by the rank, but the rank of a table tells only how wide the projection has to be.",
    section="second-rung-project-first",
)
def by_rank(X, scores):
    if np.abs(scores - X.T @ X).max() <= 1e-6 * np.abs(scores).max():
        return "dot"
    return "projected" if np.linalg.matrix_rank(scores, tol=1e-6 * np.abs(scores).max()) < len(scores) else "query-key"


@wrong(
    "rungs",
    says="You compare each score with the mean of two on the diagonal. That tests the tokens in pairs, and what every "
    "pair allows may still be impossible for three.",
    section="second-rung-project-first",
)
def pairs_only(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    own = np.diag(scores)
    symmetric = np.abs(scores - scores.T).max() <= limit
    return "projected" if symmetric and (scores <= (own + own[:, None]) / 2 + limit).all() else "query-key"


@wrong(
    "rungs",
    says="You ask that every token scores highest with itself. Vectors of one length do, but those that U makes "
    "may have many lengths.",
    section="first-rung-the-dot-product",
)
def highest_with_itself(X, scores):
    limit = 1e-6 * np.abs(scores).max()
    if np.abs(scores - X.T @ X).max() <= limit:
        return "dot"
    symmetric = np.abs(scores - scores.T).max() <= limit
    return "projected" if symmetric and (scores <= np.diag(scores) + limit).all() else "query-key"


# scaling


@wrong(
    "scaling",
    says="The scores are not scaled at all.",
    section="why-divide-by-the-square-root-of-k",
)
def no_scale(Q, K, V):
    scores = K.T @ Q
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="You scale twice, or leave out the root: that takes more away than the sum has added.",
    section="why-divide-by-the-square-root-of-k",
)
def scaled_twice(Q, K, V):
    scores = K.T @ Q / len(Q)
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="You multiply by the root, so wide queries saturate the softmax even more.",
    section="why-divide-by-the-square-root-of-k",
)
def multiplied_by_root(Q, K, V):
    scores = K.T @ Q * np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="The size under the root is the width of the values, which no score has ever summed over.",
    section="why-divide-by-the-square-root-of-k",
)
def root_of_value_width(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(V))
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="The size under the root is the number of keys, so a longer sequence would flatten its own weights.",
    section="why-divide-by-the-square-root-of-k",
)
def root_of_number_of_keys(Q, K, V):
    scores = K.T @ Q / np.sqrt(K.shape[1])
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="The size under the root is the number of queries, which have nothing to do with each other.",
    section="why-divide-by-the-square-root-of-k",
)
def root_of_number_of_queries(Q, K, V):
    scores = K.T @ Q / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="You scale after the softmax: the weights no longer sum to 1 and their saturation stays.",
    section="why-divide-by-the-square-root-of-k",
)
def scaled_after_softmax(Q, K, V):
    scores = K.T @ Q
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0)) / np.sqrt(len(Q))


@wrong(
    "scaling",
    says="The softmax runs over the queries: tokens compete for a key instead of for a query.",
    section="where-the-softmax-goes",
)
def competing_queries(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return V @ (weights / weights.sum(axis=1, keepdims=True))


@wrong(
    "scaling",
    says="The softmax runs over all pairs at once, so the queries share one single weight of 1.",
    section="where-the-softmax-goes",
)
def competing_pairs(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max())
    return V @ (weights / weights.sum())


@wrong(
    "scaling",
    says="There is no softmax: you add up values with raw scores.",
    section="where-the-softmax-goes",
)
def no_softmax(Q, K, V):
    return V @ (K.T @ Q) / np.sqrt(len(Q))


@wrong(
    "scaling",
    says="You average the keys: what a token offers and what it is found by are two things.",
    section="values",
)
def keys_as_values(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    return K @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="You return the weights and never use the values.",
    section="values",
)
def weights_only(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0)


@wrong(
    "scaling",
    says="Your outputs lie in rows; here every token is a column.",
    section="query-on-the-column-or-on-the-row",
)
def outputs_as_rows(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    return (V @ (weights / weights.sum(axis=0))).T


@wrong(
    "scaling",
    says="Queries and keys have swapped places: your weights have one column per key, and the values do not fit.",
    section="query-on-the-column-or-on-the-row",
)
def roles_swapped(Q, K, V):
    scores = Q.T @ K / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="This is the formula for tokens in rows, typed for tokens in columns: its tables do not fit together.",
    section="query-on-the-column-or-on-the-row",
)
def formula_for_rows(Q, K, V):
    scores = Q @ K.T / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "scaling",
    says="The exponential meets large scores as they are and overflows.",
    section="where-the-softmax-goes",
)
def overflowing(Q, K, V):
    weights = np.exp(K.T @ Q / np.sqrt(len(Q)))
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="You subtract one maximum of the whole table: for a query whose scores all lie far below it every "
    "exponential becomes 0.",
    section="where-the-softmax-goes",
)
def one_maximum_for_all_queries(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max())
    return V @ (weights / weights.sum(axis=0))


@wrong(
    "scaling",
    says="You return the outputs and the weights; this question asks for the outputs alone.",
    section="values",
)
def outputs_and_weights(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    weights = weights / weights.sum(axis=0)
    return V @ weights, weights


@wrong(
    "scaling",
    says="Two slips at once: the softmax runs over the queries, and the scores are not scaled.",
    section="where-the-softmax-goes",
)
def competing_queries_unscaled(Q, K, V):
    scores = K.T @ Q
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return V @ (weights / weights.sum(axis=1, keepdims=True))


# dimensions


@wrong(
    "dimensions",
    says="Your two layouts are exchanged: what you give for rows is the columns' answer and the other way round.",
    section="query-on-the-column-or-on-the-row",
)
def layouts_exchanged(n, m, d, k, v, layout):
    if layout == "columns":
        return {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, v)}
    return {"Q": (k, n), "K": (k, m), "V": (v, m), "A": (m, n), "O": (v, n)}


@wrong(
    "dimensions",
    says="You give the same shapes for both layouts, but transposing the tokens transposes every table.",
    section="the-matrix-form",
)
def same_for_both(n, m, d, k, v, layout):
    return {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, v)}


@wrong(
    "dimensions",
    says="Your A compares features with features; attention compares tokens with tokens.",
    section="the-matrix-form",
)
def weights_over_features(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (d, d), "O": (n, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="Your A has the width of the queries: it is the product with the inner and the outer size mixed up.",
    section="the-matrix-form",
)
def weights_over_width(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (k, k), "O": (n, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="You take keys and values from the tokens that ask.",
    section="query-on-the-column-or-on-the-row",
)
def keys_from_the_askers(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (n, k), "V": (n, v), "A": (n, n), "O": (n, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="You take the queries from the tokens that are looked at.",
    section="query-on-the-column-or-on-the-row",
)
def queries_from_the_sources(n, m, d, k, v, layout):
    in_rows = {"Q": (m, k), "K": (n, k), "V": (n, v), "A": (m, n), "O": (m, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="Only A lies on its side: its query is on the wrong index for this layout.",
    section="query-on-the-column-or-on-the-row",
)
def weights_transposed(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (m, n), "O": (n, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="A has the same shape in both your layouts.",
    section="query-on-the-column-or-on-the-row",
)
def weights_the_same(n, m, d, k, v, layout):
    if layout == "rows":
        return {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, v)}
    return {"Q": (k, n), "K": (k, m), "V": (v, m), "A": (n, m), "O": (v, n)}


@wrong(
    "dimensions",
    says="Your A pairs the tokens that ask with themselves; they look at others here.",
    section="the-matrix-form",
)
def weights_over_targets(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, n), "O": (n, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="Your values and outputs have the width of the keys, but the values have a map of their own.",
    section="values",
)
def values_as_wide_as_keys(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, k), "A": (n, m), "O": (n, k)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="You give every table the width of the tokens, as on the slide, where all maps are square.",
    section="the-matrix-form",
)
def all_as_wide_as_tokens(n, m, d, k, v, layout):
    in_rows = {"Q": (n, d), "K": (m, d), "V": (m, d), "A": (n, m), "O": (n, d)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="Your output has one token per source: it should answer the tokens that ask.",
    section="values",
)
def one_output_per_source(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (m, v)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@wrong(
    "dimensions",
    says="Your output is as wide as a token that goes in; no step brings it back to that width here.",
    section="values",
)
def output_as_wide_as_tokens(n, m, d, k, v, layout):
    in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, d)}
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


# matrix-form


@wrong(
    "matrix-form",
    says="You multiply the rows by the maps as they are, but they were made to stand to the left of a column.",
    section="the-matrix-form",
)
def maps_as_they_are(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q, X_rows @ U_k, X_rows @ U_v
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="You turn a map round only when its shape forces you to; a square map fits both ways and means two things.",
    section="the-matrix-form",
)
def turned_when_it_must(X_rows, U_q, U_k, U_v):
    D = X_rows.shape[1]
    Q, K, V = (X_rows @ (U if U.shape[0] == D else U.T) for U in (U_q, U_k, U_v))
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="The softmax runs down the columns, but in rows the tokens of one query stand side by side.",
    section="query-on-the-column-or-on-the-row",
)
def softmax_down_the_columns(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0) @ V


@wrong(
    "matrix-form",
    says="Queries and keys have swapped places: row n of your weights belongs to key n.",
    section="query-on-the-column-or-on-the-row",
)
def keys_on_the_rows(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = K @ Q.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="You make the weights in columns and use them in rows: they reach the values on their side.",
    section="query-on-the-column-or-on-the-row",
)
def column_weights_in_rows(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = K @ Q.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0) @ V


@wrong(
    "matrix-form",
    says="The root is of the width of the tokens, not of what a score sums over.",
    section="why-divide-by-the-square-root-of-k",
)
def root_of_token_width(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(X_rows.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="The root is of the number of tokens: the axes have changed places and your scale has not followed.",
    section="why-divide-by-the-square-root-of-k",
)
def root_of_row_count(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="The scores are not scaled, as on the slide; this question asks for the scaled form.",
    section="why-divide-by-the-square-root-of-k",
)
def unscaled_as_on_the_slide(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="Two slips at once: the softmax runs down the columns, and the scores are not scaled.",
    section="query-on-the-column-or-on-the-row",
)
def unscaled_and_down_the_columns(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0) @ V


@wrong(
    "matrix-form",
    says="Your outputs lie in columns; this question asks for one row per token.",
    section="the-matrix-form",
)
def outputs_as_columns(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True) @ V).T


@wrong(
    "matrix-form",
    says="You average the tokens themselves and leave U_v out.",
    section="values",
)
def tokens_as_values(X_rows, U_q, U_k, U_v):
    Q, K = X_rows @ U_q.T, X_rows @ U_k.T
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ X_rows


@wrong(
    "matrix-form",
    says="Queries and keys come from the same map, so your scores are symmetric.",
    section="the-ladder-of-scores",
)
def one_map_for_both(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_q.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


@wrong(
    "matrix-form",
    says="The exponential meets large scores as they are and overflows.",
    section="where-the-softmax-goes",
)
def overflowing_rows(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    weights = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return weights / weights.sum(axis=1, keepdims=True) @ V


# equivariance: what is left of the museum piece after no, one or two repairs, and other ways to miss


@wrong(
    "equivariance",
    says="This is the museum piece as it stood: all three experiments still go wrong.",
    section="permutation-equivariance",
)
def as_exhibited(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, tokens = keys.shape
    scores = keys.reshape(tokens, height) @ queries / np.sqrt(tokens)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong(
    "equivariance",
    says="The scale is repaired; the tokens are still mixed up, and the softmax still has the wrong axis.",
    section="permutation-equivariance",
)
def only_scale_repaired(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, tokens = keys.shape
    scores = keys.reshape(tokens, height) @ queries / np.sqrt(height)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong(
    "equivariance",
    says="The softmax is repaired; the tokens are still mixed up, and the sharpness still hangs on the length.",
    section="permutation-equivariance",
)
def only_softmax_repaired(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, tokens = keys.shape
    scores = keys.reshape(tokens, height) @ queries / np.sqrt(tokens)
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return values @ (powers / powers.sum(axis=0, keepdims=True))


@wrong(
    "equivariance",
    says="The tokens keep their numbers now; the softmax has the wrong axis, and the sharpness hangs on the length.",
    section="where-the-softmax-goes",
)
def only_transpose_repaired(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = keys.T @ queries / np.sqrt(keys.shape[1])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong(
    "equivariance",
    says="One slip is left: a line changes which number belongs to which token and keeps the shape right.",
    section="permutation-equivariance",
)
def tokens_still_mixed(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, tokens = keys.shape
    scores = keys.reshape(tokens, height) @ queries / np.sqrt(height)
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return values @ (powers / powers.sum(axis=0, keepdims=True))


@wrong(
    "equivariance",
    says="One slip is left: the weights of one query do not sum to 1, so the outputs are no averages.",
    section="where-the-softmax-goes",
)
def softmax_still_wrong(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = keys.T @ queries / np.sqrt(len(keys))
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong(
    "equivariance",
    says="One slip is left: the weights get flatter when the sequence gets longer.",
    section="why-divide-by-the-square-root-of-k",
)
def scale_still_wrong(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = keys.T @ queries / np.sqrt(keys.shape[1])
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return values @ (powers / powers.sum(axis=0, keepdims=True))


@wrong(
    "equivariance",
    says="The scale is gone: nothing depends on the length any more, but the scores grow with their width.",
    section="why-divide-by-the-square-root-of-k",
)
def scale_removed(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = keys.T @ queries
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return values @ (powers / powers.sum(axis=0, keepdims=True))


@wrong(
    "equivariance",
    says="Queries and keys have swapped places; no permutation can show it, a comparison of values can.",
    section="query-on-the-column-or-on-the-row",
)
def queries_and_keys_swapped(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = queries.T @ keys / np.sqrt(len(keys))
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return values @ (powers / powers.sum(axis=0, keepdims=True))


@wrong(
    "equivariance",
    says="Your outputs are all alike: a plain mean follows every order, but it is no attention.",
    section="values",
)
def plain_mean(X, U_q, U_k, U_v):
    values = U_v @ X
    return np.repeat(values.mean(axis=1, keepdims=True), X.shape[1], axis=1)


@wrong(
    "equivariance",
    says="Every token gets its own value back: that follows every order, but no token looks at another.",
    section="values",
)
def own_value(X, U_q, U_k, U_v):
    return U_v @ X


@wrong(
    "equivariance",
    says="You sort the tokens first: now the order of the input is lost instead of followed.",
    section="permutation-equivariance",
)
def sorted_tokens(X, U_q, U_k, U_v):
    X = X[:, np.argsort(X[0])]
    scores = (U_k @ X).T @ (U_q @ X) / np.sqrt(len(U_k))
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return U_v @ X @ (powers / powers.sum(axis=0, keepdims=True))


WRONG = wrong
