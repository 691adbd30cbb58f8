"""Exercise 03, question ladder: query–key scores."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, close, draw_sizes, shape_slip
from clearformer.reference import attention


def tokens_and_two_maps(rng):
    cases = []
    for n_tokens, width in ((None, None), (None, None), (1, None), (5, 5), (None, 1)):
        D, N, K = (5, 5, 5) if n_tokens == 5 else draw_sizes(rng, 3)
        N, K = n_tokens or N, width or K
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
    if found == [(source, asker)]:
        value = f"{scores[source, asker]:.4g}"
        return f"The one score that is not 0 stands in the right place, but {value} is not the dot product there."
    shown = "nowhere" if not found else f"at {found[0]}" if len(found) == 1 else f"at {len(found)} places"
    return (
        f"Only token {asker} has a query and only token {source} has a key, so exactly one score is not 0 "
        f"and it stands in the column of the token that asks; your scores are non-zero {shown}."
    )


QUESTION = Question(
    id="ladder",
    title="Query–key scores",
    name="query_key_scores",
    minutes=10,
    difficulty=1,
    checks=with_battery(
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
    inputs=Inputs(axes("DN", "KD", "KD"), alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def tables_then_product(X, U_q, U_k):
    queries, keys = U_q @ X, U_k @ X
    return keys.T @ queries


@right
def sum_over_width(X, U_q, U_k):
    return np.einsum("ks,kn->sn", np.einsum("kd,ds->ks", U_k, X), np.einsum("kd,dn->kn", U_q, X))


@right
def one_matrix_between(X, U_q, U_k):
    return X.T @ (U_k.T @ U_q) @ X


@right
def pair_by_pair(X, U_q, U_k):
    N = X.shape[1]
    scores = np.zeros((N, N))
    for s in range(N):
        for n in range(N):
            scores[s, n] = np.dot(U_k @ X[:, s], U_q @ X[:, n])
    return scores


wrong.edits("""
# tables_then_product
## cosine: You divide by the lengths of the vectors: a cosine forgets how long queries and keys are.
- return keys.T @ queries
+ return (keys / np.linalg.norm(keys, axis=0)).T @ (queries / np.linalg.norm(queries, axis=0))
## single_precision: You compute in single precision and lose half of the digits of the tokens that came.
- queries, keys = U_q @ X, U_k @ X
+ queries, keys = (U_q @ X).astype(np.float32), (U_k @ X).astype(np.float32)
## causal: You hide the sources after the target; this question asks for the scores of all pairs.
- return keys.T @ queries
+ return np.triu(keys.T @ queries)

# sum_over_width
## query_on_the_row [query-on-the-column-or-on-the-row]: The roles are swapped: your query is on the row; it belongs on
the column.
- return np.einsum("ks,kn->sn", np.einsum("kd,ds->ks", U_k, X), np.einsum("kd,dn->kn", U_q, X))
+ return (U_q @ X).T @ (U_k @ X)
## first_rung: You compare the tokens themselves: this is the first rung, and U_q and U_k play no part.
+ return X.T @ X
## queries_only: You use U_q for both roles: this is the second rung, so your scores are symmetric.
+ return (U_q @ X).T @ (U_q @ X)
## keys_only: You use U_k for both roles: this is the second rung, so your scores are symmetric.
+ return (U_k @ X).T @ (U_k @ X)
## sum_of_maps: You add the two maps into one: every token gets a single projection, so your scores are symmetric.
+ U = U_q + U_k
+ return (U @ X).T @ (U @ X)
## both_directions: You average the scores of both directions, which makes them symmetric again.
+ scores = (U_k @ X).T @ (U_q @ X)
+ return (scores + scores.T) / 2
## scaled_too_early [why-divide-by-the-square-root-of-k]: You divide the scores by a square root; this question asks for
plain dot products.
+ return (U_k @ X).T @ (U_q @ X) / np.sqrt(len(U_q))
## softmax_included [where-the-softmax-goes]: You return weights: the softmax belongs to the next step.
+ scores = (U_k @ X).T @ (U_q @ X)
+ powers = np.exp(scores - scores.max(axis=0))
+ return powers / powers.sum(axis=0)
## features_against_features [query-on-the-column-or-on-the-row]: This is the papers' product for tokens in rows; with
tokens in columns it pairs features with features.
+ return (U_q @ X) @ (U_k @ X).T
## no_transpose: Two neighbours in your product have different inner sizes; one has to be transposed.
+ return (U_k @ X) @ (U_q @ X)
## reshaped_keys: You reshape the keys, which mixes the numbers of different tokens; transpose them instead.
+ keys = U_k @ X
+ return keys.reshape(keys.shape[1], keys.shape[0]) @ (U_q @ X)
""")
