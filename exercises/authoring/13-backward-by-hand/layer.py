"""Exercise 13, question layer: heads and the fourth path."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import shapes_slip
from clearformer.reference.multihead import multi_head_concatenated, multi_head_concatenated_backward

from .shared import close, disagreement


def layer_reference(X, U_q, U_k, U_v, U_o, dY):
    dX, *_, dU_o = multi_head_concatenated_backward(X, U_q, U_k, U_v, U_o, dY)
    return dX + dY, dU_o


def draw_layer(rng, n_tokens=None, n_heads=None, size=1.0, sizes=None):
    D, N, K, Kv = sizes or (int(size) for size in rng.choice((3, 5, 7, 11, 13), 4, replace=False))
    H = n_heads or 2
    X = rng.normal(size=(D, n_tokens or N))
    shapes = (H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv)
    maps = [rng.normal(size=shape) / np.sqrt(shape[2]) for shape in shapes]
    maps[0] *= size
    return X, *maps, rng.normal(size=X.shape)


def ordinary_layers(rng):
    return [draw_layer(rng), draw_layer(rng, n_tokens=1), draw_layer(rng, n_heads=1), draw_layer(rng, sizes=4 * (5,))]


def certain_layers(rng):
    """The first has scores that are all far below 0."""
    *cases, (X, U_q, U_k, *rest) = (draw_layer(rng, size=size) for size in (60.0, 1.5e4, 1.5e4))
    return [(np.abs(X), np.abs(U_q), -np.abs(U_k), *rest), *cases]


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


def scores_of_heads(X, U_q, U_k, U_v, U_o):
    return (U_k @ X).swapaxes(1, 2) @ (U_q @ X) / np.sqrt(U_q.shape[1])


QUESTION = Question(
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
    inputs=Inputs(axes("DN", "HKD", "HKD", "HVD", "HDV", "DN"), lambda *a: scores_of_heads(*a[:5]), alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def four_paths(X, U_q, U_k, U_v, U_o, dY):
    def plain_weights(q, k):
        scores = k.T @ q / np.sqrt(len(q))
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    dX = dY.copy()
    dU_o = []
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = plain_weights(q, k)
        e = u_o.T @ dY
        G = A * (v.T @ e - (v @ A * e).sum(axis=0)) / np.sqrt(len(q))
        dX = dX + u_q.T @ (k @ G) + u_k.T @ (q @ G.T) + u_v.T @ (e @ A.T)
        dU_o.append(dY @ (v @ A).T)
    return dX, np.array(dU_o)


@right
def stacked_p(X, U_q, U_k, U_v, U_o, dY):
    def plain_weights(q, k):
        scores = k.T @ q / np.sqrt(len(q))
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    H = len(U_q)
    total, outputs = np.zeros_like(X), []
    for h in range(H):
        Q, K, V = (U[h] @ X for U in (U_q, U_k, U_v))
        A = plain_weights(Q, K)
        E = U_o[h].T @ dY
        dA = V.T @ E
        G = (A * dA - A * (A * dA).sum(axis=0)) / len(Q) ** 0.5
        P = np.concatenate([K @ G, Q @ G.T, E @ A.T])
        total += np.concatenate([U_q[h], U_k[h], U_v[h]]).T @ P
        outputs.append(V @ A)
    return total + dY, np.stack([dY @ Y.T for Y in outputs])


@right
def all_heads_at_once(X, U_q, U_k, U_v, U_o, dY):
    Q, K, V = (maps @ X for maps in (U_q, U_k, U_v))
    scores = K.transpose(0, 2, 1) @ Q / np.sqrt(Q.shape[1])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    A = raised / raised.sum(axis=1, keepdims=True)
    E = np.einsum("hdv,dn->hvn", U_o, dY)
    dA = np.einsum("hvs,hvn->hsn", V, E)
    G = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    dX = np.einsum("hkd,hks,hsn->dn", U_q, K, G) + np.einsum("hkd,hkn,hsn->ds", U_k, Q, G)
    dX += np.einsum("hvd,hvn,hsn->ds", U_v, E, A) + dY
    return dX, np.einsum("dn,hvs,hsn->hdv", dY, V, A)


@right
def as_often_written(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY)


@right
def as_often_written_too(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = dY.copy(), np.zeros_like(U_o)
    for h in range(len(U_q)):
        A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
        dX += U_q[h].T @ dq + U_k[h].T @ dk + U_v[h].T @ dv
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


@wrong("The factor 1/√K is missing on the way back.", section="step-3-from-scores-to-queries-and-keys")
def layer_without_scale(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    root = np.sqrt(U_q.shape[1])
    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
    scores = layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k"), residual=0.0)[0]
    return dX + (root - 1) * scores, dU_o


@wrong(
    "Your outputs of the heads, in the gradient by U_o, are made with the weights transposed.",
    section="several-heads",
)
def outputs_with_weights_transposed(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
    for h in range(len(U_q)):
        A, v, _, _, _ = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
        dU_o[h] = dY @ (v @ A.T).T
    return dX, dU_o


@wrong("The residual's path adds ones; what passes through it is dY.")
def ones_for_errors(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    dX, dU_o = np.ones_like(X), np.zeros_like(U_o)
    for h in range(len(U_q)):
        q, k, v = U_q[h] @ X, U_k[h] @ X, U_v[h] @ X
        A, e, root = soft(k.T @ q / np.sqrt(len(q))), U_o[h].T @ dY, np.sqrt(len(q))
        G = A * (v.T @ e - (v @ A * e).sum(axis=0)) / root
        dX += U_q[h].T @ k @ G + U_k[h].T @ q @ G.T + U_v[h].T @ e @ A.T
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


wrong.edits("""
# as_often_written
## three_paths: These are the three paths of the post; the residual connection is a fourth.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ return layer(X, U_q, U_k, U_v, U_o, dY, residual=0.0)
## residual_for_each_head: You add the residual's path once for each head; there is one residual connection.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ return layer(X, U_q, U_k, U_v, U_o, dY, residual=float(len(U_q)))
## residual_adds_x: The residual's path adds the input itself; on the way back it is the gradient that passes.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY, residual=0.0)
+ return dX + X, dU_o
## values_alone [several-heads]: Only the path through the values and the residual's are there: queries and keys are
made of X, too.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ return layer(X, U_q, U_k, U_v, U_o, dY, keep=("v",))
## no_keys [several-heads]: The path through the keys is missing.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ return layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "v"))
## no_queries [several-heads]: The path through the queries is missing.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ return layer(X, U_q, U_k, U_v, U_o, dY, keep=("k", "v"))
## no_values [several-heads]: The path through the values is missing.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ return layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k"))
## first_head_alone [several-heads]: What comes back from the first head alone arrives at X; all heads add up.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, _ = layer(X, U_q[:1], U_k[:1], U_v[:1], U_o[:1], dY)
+ return dX, layer(X, U_q, U_k, U_v, U_o, dY)[1]
## last_head_alone [several-heads]: What comes back from the last head alone arrives at X: each head overwrites what
came before.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, _ = layer(X, U_q[-1:], U_k[-1:], U_v[-1:], U_o[-1:], dY)
+ return dX, layer(X, U_q, U_k, U_v, U_o, dY)[1]
## heads_averaged [several-heads]: The heads are averaged on the way back; in the forward pass they are added.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY, residual=0.0)
+ return dY + dX / len(U_q), dU_o
## values_for_outputs [several-heads]: Your gradient by U_o is made of the values; the outputs of the head are what U_o
multiplies.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, _ = layer(X, U_q, U_k, U_v, U_o, dY)
+ return dX, np.stack([dY @ (u_v @ X).T for u_v in U_v])
## output_matrix_transposed [several-heads]: Your gradient by U_o is transposed.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
+ return dX, dU_o.transpose(0, 2, 1)
## heads_added_in_the_matrix [several-heads]: Your gradient by U_o is the same for all heads; each has outputs of its
own.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
+ return dX, np.broadcast_to(dU_o.sum(axis=0), dU_o.shape).copy()
## first_output_matrix [several-heads]: All heads get their errors through the first output matrix; each has its own.
- return layer(X, U_q, U_k, U_v, U_o, dY)
+ dX, _ = layer(X, U_q, U_k, U_v, np.broadcast_to(U_o[0], U_o.shape), dY)
+ return dX, layer(X, U_q, U_k, U_v, U_o, dY)[1]

# as_often_written_too
## errors_of_the_output [several-heads]: The head gets the gradient by Y itself; between the head and Y stands its
output matrix.
  dX, dU_o = dY.copy(), np.zeros_like(U_o)
  for h in range(len(U_q)):
-     A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
+     A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], dY)
## projections_exchanged [several-heads]: The projections of queries and keys have changed places where their gradients
go to X.
- dX += U_q[h].T @ dq + U_k[h].T @ dk + U_v[h].T @ dv
+ dX += U_k[h].T @ dq + U_q[h].T @ dk + U_v[h].T @ dv
## layer_softmax_skipped [step-2-back-through-the-softmax]: The softmax is left out where the gradient goes back to
queries and keys.
- A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
- dX += U_q[h].T @ dq + U_k[h].T @ dk + U_v[h].T @ dv
+ A, v, _, _, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
+ G = v.T @ (U_o[h].T @ dY) / np.sqrt(U_q.shape[1])
+ dX += U_q[h].T @ (U_k[h] @ X @ G) + U_k[h].T @ (U_q[h] @ X @ G.T) + U_v[h].T @ dv
## writes_into_the_errors [several-heads]: You add to dY itself, so that the next head gets other errors: begin with a
copy.
- dX, dU_o = dY.copy(), np.zeros_like(U_o)
+ dX, dU_o = dY, np.zeros_like(U_o)

## layer_largest_from_zero: Your largest score is never below 0; where all scores are, every exponential vanishes.
- e = np.exp(scores - scores.max(axis=0))
+ e = np.exp(scores - scores.max(axis=0, initial=0))
""")
