"""Right solutions of exercise 02, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# waiting


@right("waiting")
def by_formula(n_tokens, width, kernel):
    layers = max(1, int(np.ceil((n_tokens - 1) / (kernel - 1))))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width * width),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens * n_tokens * width),
    }


@right("waiting")
def by_walking_back(n_tokens, width, kernel):
    layers, known = 1, n_tokens - 1 - (kernel - 1)
    while known > 0:
        layers, known = layers + 1, known - (kernel - 1)
    per_layer = kernel * width * n_tokens
    return dict(
        attention=(1, n_tokens**2 * width + n_tokens**2 * width),
        convolution=(layers, layers * per_layer),
        recurrence=(n_tokens, n_tokens * (width**2 + width**2)),
    )


@right("waiting")
def by_spreading(n_tokens, width, kernel):
    knows = np.zeros(n_tokens, dtype=bool)
    knows[0], layers = True, 0
    while layers == 0 or not knows[-1]:
        knows, layers = np.convolve(knows, np.ones(kernel))[:n_tokens] > 0, layers + 1
    result = {"recurrence": [n_tokens, 0], "convolution": [layers, 0], "attention": [1, 0]}
    result["recurrence"][1] = sum(2 * width**2 for _ in range(n_tokens))
    result["convolution"][1] = sum(n_tokens * kernel * width for _ in range(layers))
    result["attention"][1] = sum(2 * n_tokens * width for _ in range(n_tokens))
    return result


# softmax


@right("softmax")
def with_kept_axes(scores, axis):
    powers = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@right("softmax")
def group_by_group(scores, axis):
    def one(group):
        powers = np.exp(group - group.max())
        return powers / powers.sum()

    return np.apply_along_axis(one, axis, scores)


@right("softmax")
def axis_to_the_front(scores, axis):
    moved = np.moveaxis(scores, axis, 0)
    moved = np.exp(moved - moved.max(axis=0))
    return np.moveaxis(moved / moved.sum(axis=0), 0, axis)


@right("softmax")
def by_log_sum_exp(scores, axis):
    total = np.logaddexp.reduce(scores, axis=axis, keepdims=True)
    return np.exp(scores - total)


# lookup


@right("lookup")
def in_columns(Q, K, V, temperature):
    scores = K.T @ Q / temperature
    powers = np.exp(scores - scores.max(axis=0))
    return V @ (powers / powers.sum(axis=0))


@right("lookup")
def in_rows_and_turned(Q, K, V, temperature):
    scores = Q.T @ K / temperature
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.T


@right("lookup")
def one_query_at_a_time(Q, K, V, temperature):
    answers = np.zeros((V.shape[0], Q.shape[1]))
    for n, query in enumerate(Q.T):
        scores = np.array([key @ query / temperature for key in K.T])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        for weight, value in zip(weights, V.T, strict=True):
            answers[:, n] += weight * value
    return answers


@right("lookup")
def divided_at_the_end(Q, K, V, temperature):
    scores = np.einsum("ks,kn->sn", K, Q) / temperature
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return np.einsum("vs,sn->vn", V, powers) / powers.sum(axis=0)


# convolution


@right("convolution")
def with_loops(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular":
                A[(n - j) % n_tokens, n] += kernel[j]
            elif n >= j:
                A[n - j, n] = kernel[j]
    if border == "renormalised":
        for n in range(n_tokens):
            A[:, n] = A[:, n] / sum(A[:, n])
    return A


@right("convolution")
def by_steps(kernel, n_tokens, border="circular"):
    s, n = np.meshgrid(np.arange(n_tokens), np.arange(n_tokens), indexing="ij")
    steps = n - s
    if border == "circular":
        steps = steps % n_tokens
    longer = np.concatenate([kernel, np.zeros(n_tokens)])
    A = np.where(steps >= 0, longer[np.abs(steps)], 0.0)
    return A / A.sum(axis=0, keepdims=True) if border == "renormalised" else A


@right("convolution")
def by_diagonals(kernel, n_tokens, border="circular"):
    A = sum(weight * np.eye(n_tokens, k=j) for j, weight in enumerate(kernel))
    if border == "circular":
        A = A + sum(weight * np.eye(n_tokens, k=j - n_tokens) for j, weight in enumerate(kernel) if j > 0)
    if border == "renormalised":
        A = A / A.sum(axis=0)
    return A + np.zeros((n_tokens, n_tokens))


@right("convolution")
def column_by_column(kernel, n_tokens, border="circular"):
    columns = []
    for n in range(n_tokens):
        column = np.zeros(n_tokens)
        if border == "circular":
            for j, weight in enumerate(kernel):
                column[n - j] += weight  # an index below 0 counts from the end, as wanted here
        else:
            heard = kernel[: n + 1]
            column[n + 1 - len(heard) : n + 1] = heard[::-1]
        columns.append(column / column.sum() if border == "renormalised" else column)
    return np.stack(columns, axis=1)


# hull


@right("hull")
def by_solving(X, Y):
    table = np.vstack([X, np.ones((1, X.shape[1]))])
    wanted = np.vstack([Y, np.ones((1, Y.shape[1]))])
    A = np.linalg.solve(table, wanted)
    return (A > -1e-9).all(axis=0)


@right("hull")
def from_the_last_token(X, Y):
    """Weights of all tokens but the last, as steps away from it; the last one gets what is left."""
    last = X[:, -1:]
    first = np.linalg.inv(X[:, :-1] - last) @ (Y - last)
    return np.minimum(first.min(axis=0), 1 - first.sum(axis=0)) >= -1e-9


@right("hull")
def by_volumes(X, Y):
    """Each weight is a ratio of two determinants (Cramer's rule)."""
    table = np.vstack([np.ones(X.shape[1]), X])
    whole, found = np.linalg.det(table), []
    for y in Y.T:
        weights = []
        for s in range(X.shape[1]):
            replaced = table.copy()
            replaced[:, s] = np.concatenate([[1.0], y])
            weights.append(np.linalg.det(replaced) / whole)
        found.append(min(weights) > -1e-9)
    return np.array(found)


# signs


@right("signs")
def with_where(M):
    plus, minus = np.where(M > 0, M, 0.0), np.where(M < 0, -M, 0.0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    fair = np.full(M.shape, 1 / M.shape[0])
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), fair)
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), fair)
    return p, A_1, q, A_2


@right("signs")
def output_by_output(M):
    S, N = M.shape
    sizes, averages = np.zeros((2, N)), np.full((2, S, N), 1 / S)
    for n in range(N):
        for part, sign in enumerate((1.0, -1.0)):
            weights = np.array([max(sign * weight, 0.0) for weight in M[:, n]])
            sizes[part, n] = weights.sum()
            if sizes[part, n] > 0:
                averages[part, :, n] = weights / weights.sum()
    return sizes[0], averages[0], sizes[1], averages[1]


@right("signs")
def by_absolute_values(M):
    result = []
    for part in ((np.abs(M) + M) / 2, (np.abs(M) - M) / 2):
        size = part.sum(axis=0)
        average = np.ones_like(M) / len(M)
        average[:, size > 0] = part[:, size > 0] / size[size > 0]
        result += [size, average]
    return tuple(result)


# gradient


@right("gradient")
def by_products(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0))
    A = A / A.sum(axis=0)
    dX, dA = dY @ A.T, X.T @ dY
    return dX, dA, A * (dA - (A * dA).sum(axis=0))


@right("gradient")
def with_jacobians(X, scores, dY):
    dscores, A = np.zeros_like(scores), np.zeros_like(scores)
    dA = np.einsum("ds,dn->sn", X, dY)
    for n in range(scores.shape[1]):
        a = np.exp(scores[:, n] - max(scores[:, n]))
        a = a / sum(a)
        A[:, n] = a
        dscores[:, n] = (np.diag(a) - np.outer(a, a)) @ dA[:, n]
    return np.einsum("dn,sn->ds", dY, A), dA, dscores


@right("gradient")
def through_the_outputs(X, scores, dY):
    """The average of dA over a column is the product of the output with its gradient."""
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = powers / powers.sum(axis=0, keepdims=True)
    Y = X @ A
    dA = (dY.T @ X).T
    return (A @ dY.T).T, dA, A * dA - A * np.sum(Y * dY, axis=0, keepdims=True)


@right("gradient")
def sum_by_sum(X, scores, dY):
    (D, S), N = X.shape, scores.shape[1]
    A = np.exp(scores - scores.max(axis=0))
    A /= A.sum(axis=0)
    dX, dA, dscores = np.zeros((D, S)), np.zeros((S, N)), np.zeros((S, N))
    for s in range(S):
        for n in range(N):
            dX[:, s] += dY[:, n] * A[s, n]
            dA[s, n] = X[:, s] @ dY[:, n]
    for n in range(N):
        for s in range(S):
            for t in range(S):
                dscores[s, n] += dA[t, n] * A[t, n] * ((s == t) - A[s, n])
    return dX, dA, dscores


SOLUTIONS = right
