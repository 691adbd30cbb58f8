"""The equations of chapter 1, tokens."""

import numpy as np
import torch
from clearbook.columns import to_reference, to_torch
from clearformer.reference.functions import softmax
from clearformer.reference.tokens import embed, embed_backward, embed_patches, one_hot, patches

from tests.equations.registry import equation, table

D, N, V, K = 3, 4, 7, 5
C, SIDE, G_DOWN, G = 2, 3, 2, 4  # channels, side of a patch, patches from top to bottom, patches side by side


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


@equation("eq-embedding-gradient", "0df274274b")
def gradient_of_the_embedding(rng):
    E, ids, slopes = rng.normal(size=(D, V)), np.array([5, 2, 6, 2]), rng.normal(size=(D, N))
    onehot = one_hot(ids, V)
    weight = torch.tensor(E.T, requires_grad=True)
    (torch.nn.functional.embedding(torch.as_tensor(ids), weight).T * torch.as_tensor(slopes)).sum().backward()
    printed = table(lambda d, v: sum(slopes[d, n] * onehot[v, n] for n in range(N)), D, V)
    return [(printed, embed_backward(ids, slopes, V)), (printed, weight.grad.numpy().T)]


@equation("eq-patch-embedding", "82388c8af7")
def a_patch_becomes_a_token(rng):
    image = rng.random(size=(C, G_DOWN * SIDE, G * SIDE))
    vec, W = patches(image, SIDE), rng.normal(size=(K, C * SIDE**2))
    printed = table(lambda d, n: sum(W[d, p] * vec[p, n] for p in range(C * SIDE**2)), K, G_DOWN * G)
    return printed, embed_patches(W, vec)


@equation("eq-transpose", "c0ab21565a")
def columns_to_rows(rng):
    U, X = rng.normal(size=(K, D)), rng.normal(size=(D, N))
    linear = torch.nn.functional.linear(to_torch(X), torch.as_tensor(U))
    left = table(lambda n, k: sum(U[k, d] * X[d, n] for d in range(D)), N, K)
    right = table(lambda n, k: sum(X.T[n, d] * U.T[d, k] for d in range(D)), N, K)
    return [(left, linear[0]), (right, linear[0]), (right, to_reference(linear).T)]


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
