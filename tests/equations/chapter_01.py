"""The equations of chapter 1, tokens."""

from collections import Counter
from math import sqrt

import numpy as np
import torch
from clearformer.layout import to_reference, to_torch
from clearformer.reference.attention import attend
from clearformer.reference.functions import softmax
from clearformer.reference.tokens import embed, embed_patches, one_hot, patches
from clearformer.tokenizers import WORD, BytePairTokenizer
from sklearn.metrics import r2_score

from tests.equations.registry import equation, table

D, N, V, K = 3, 4, 7, 5
C, SIDE, G_DOWN, G = 2, 3, 2, 4  # channels, side of a patch, patches from top to bottom, patches side by side


@equation("eq-one-hot", "cd2681a2ba")
def one_hot_columns(rng):
    w = np.array([5, 2, 6, 2])
    return table(lambda v, n: float(v == w[n]), V, N), one_hot(w, V)


@equation("eq-one-hot-distance", "040a7ccd48")
def distance_of_two_words(rng):
    columns = one_hot(np.array([5, 2, 6, 1]), V)
    different = np.ones((N, N)) - np.eye(N)
    printed = table(lambda a, b: sqrt(sum((columns[v, a] - columns[v, b]) ** 2 for v in range(V))), N, N)
    return printed, sqrt(2) * different


@equation("eq-pair-count", "1fc459ce3a")
def how_often_a_pair_occurs(rng):
    text = "tea team steam tea team tea tea steam stem team"
    letters = sorted(set(text.encode()))
    counted = Counter(WORD.findall(text))
    f = list(counted.values())
    words = [[letters.index(letter) for letter in word.encode()] for word in counted]
    size = len(letters)
    printed = table(
        lambda a, b: sum(
            f[u] * sum(float(words[u][i] == a) * float(words[u][i + 1] == b) for i in range(len(words[u]) - 1))
            for u in range(len(words))
        ),
        size,
        size,
    )
    hot = [one_hot(np.array(word), size) for word in words]
    by_product = sum(times * columns[:, :-1] @ columns[:, 1:].T for times, columns in zip(f, hot, strict=True))
    best = [letters[i] for i in np.unravel_index(printed.argmax(), printed.shape)]
    (merged,) = BytePairTokenizer(text, 1).ranks
    return [(printed, by_product), (np.array(best), np.array(merged))]


@equation("eq-embedding", "3d2acca943")
def embedding_as_a_product(rng):
    E, ids = rng.normal(size=(D, V)), np.array([5, 2, 6, 2])
    onehot = one_hot(ids, V)
    return [
        (table(lambda d, n: sum(E[d, v] * onehot[v, n] for v in range(V)), D, N), embed(E, ids)),
        (embed(E, ids), E @ onehot),
    ]


@equation("eq-lookup", "d94a79b4fa")
def embedding_as_a_look_up(rng):
    E, w = rng.normal(size=(D, V)), np.array([5, 2, 6, 2])
    in_torch = torch.nn.functional.embedding(torch.as_tensor(w), torch.as_tensor(E.T)).numpy().T
    printed = table(lambda d, n: E[d, w[n]], D, N)
    return [(printed, embed(E, w)), (printed, in_torch)]


@equation("eq-patch-order", "cc0c56e712")
def where_a_pixel_goes(rng):
    s = SIDE
    image = rng.random(size=(C, G_DOWN * s, G * s))
    P = patches(image, s)
    left = table(lambda c, i, j, a, b: P[(c * s + i) * s + j, a * G + b], C, s, s, G_DOWN, G)
    right = table(lambda c, i, j, a, b: image[c, a * s + i, b * s + j], C, s, s, G_DOWN, G)
    return left, right


@equation("eq-patch-embedding", "82388c8af7")
def a_patch_becomes_a_token(rng):
    image = rng.random(size=(C, G_DOWN * SIDE, G * SIDE))
    vec, W = patches(image, SIDE), rng.normal(size=(K, C * SIDE**2))
    printed = table(lambda d, n: sum(W[d, p] * vec[p, n] for p in range(C * SIDE**2)), K, G_DOWN * G)
    return printed, embed_patches(W, vec)


@equation("eq-patch-convolution", "dd27e85f3e")
def patch_embedding_as_a_convolution(rng):
    s = SIDE
    image, W = rng.random(size=(C, G_DOWN * s, G * s)), rng.normal(size=(K, C * s * s))
    printed = table(
        lambda d, a, b: sum(
            W[d, (c * s + i) * s + j] * image[c, a * s + i, b * s + j]
            for c in range(C)
            for i in range(s)
            for j in range(s)
        ),
        K,
        G_DOWN,
        G,
    )
    filters = torch.as_tensor(W).reshape(K, C, s, s)
    in_torch = torch.nn.functional.conv2d(torch.as_tensor(image)[None], filters, stride=s)[0].numpy()
    return [(printed, in_torch), (printed.reshape(K, -1), embed_patches(W, patches(image, s)))]


@equation("eq-share-lost", "1a86497328")
def share_of_the_picture_lost(rng):
    p, guess = rng.normal(size=(D, N)), rng.normal(size=(D, N))
    mean = p.mean(axis=1)
    printed = table(
        lambda: (
            sum(sum((p[i, n] - guess[i, n]) ** 2 for i in range(D)) for n in range(N))
            / sum(sum((p[i, n] - mean[i]) ** 2 for i in range(D)) for n in range(N))
        )
    )
    return printed, 1 - r2_score(p.T, guess.T, multioutput="variance_weighted")


@equation("eq-transpose", "c0ab21565a")
def columns_to_rows(rng):
    U, X = rng.normal(size=(K, D)), rng.normal(size=(D, N))
    linear = torch.nn.functional.linear(to_torch(X), torch.as_tensor(U))
    left = table(lambda n, k: sum(U[k, d] * X[d, n] for d in range(D)), N, K)
    right = table(lambda n, k: sum(X.T[n, d] * U.T[d, k] for d in range(D)), N, K)
    return [(left, linear[0]), (right, linear[0]), (right, to_reference(linear).T)]


@equation("eq-linear", "1ab6569c41")
def a_linear_layer_of_torch(rng):
    layer = torch.nn.Linear(D, K, dtype=torch.float64)
    x = rng.normal(size=(N, D))
    W, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    printed = table(lambda n, k: sum(x[n, d] * W[k, d] for d in range(D)) + b[k], N, K)
    return printed, layer(torch.as_tensor(x)).detach()


@equation("eq-in-proj", "97c3124966")
def the_stacked_projection(rng):
    width, heads, per_head = 6, 2, 3
    mha = torch.nn.MultiheadAttention(width, heads, bias=False, batch_first=True, dtype=torch.float64)
    U_q, U_k, U_v = rng.normal(size=(3, width, width))
    W_in = np.concatenate([U_q, U_k, U_v])
    mha.in_proj_weight.data.copy_(torch.as_tensor(W_in))
    mha.out_proj.weight.data.copy_(torch.eye(width))
    X = rng.normal(size=(width, N))
    stack = table(lambda r, n: sum(W_in[r, d] * X[d, n] for d in range(width)), 3 * width, N)
    Q, K_all, V_all = np.split(stack, 3)
    by_head = [slice(h * per_head, (h + 1) * per_head) for h in range(heads)]
    outputs = np.concatenate([attend(Q[rows], K_all[rows], V_all[rows])[0] for rows in by_head])
    theirs = to_reference(mha(to_torch(X), to_torch(X), to_torch(X))[0])
    return [(stack, np.concatenate([U_q @ X, U_k @ X, U_v @ X])), (outputs, theirs)]


def next_word(rng):
    """p(next | the last two) of a random model; the last id of the first two axes is the start token."""
    return softmax(rng.normal(size=(V + 1, V + 1, V)), axis=2)


@equation("eq-chain", "e70c372269")
def a_product_of_conditionals(rng):
    p, start = next_word(rng), V
    printed = table(lambda a, b, c: p[start, start, a] * p[start, a, b] * p[a, b, c], V, V, V)
    model = torch.distributions.Categorical(torch.as_tensor(p))
    texts = list(np.ndindex(V, V, V))
    log_p = [
        sum(
            model.log_prob(torch.tensor(word))[before]
            for word, before in zip(w, [(V, V), (V, w[0]), w[:2]], strict=True)
        )
        for w in texts
    ]
    return printed, torch.stack(log_p).exp().reshape(V, V, V)


@equation("eq-sums-to-one", "5a7cf6ad1b")
def all_texts_together(rng):
    p, start = softmax(rng.normal(size=(V + 1, V)), axis=1), V
    return table(lambda: sum(p[start, a] * p[a, b] for a in range(V) for b in range(V))), 1.0
