"""Checks of the display equations of chapter 9, a language model."""

from math import exp, log, log2, prod

import numpy as np
import torch
from clearbook.attention_maps import attention_weights
from clearbook.data.text_file import count_characters, marked_stream
from clearbook.head_scores import diagonal_score
from clearbook.ngrams import Ngrams
from clearformer.attention import attend
from clearformer.generation import keep_top_p
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss, surprisal
from clearformer.reference.functions import cross_entropy_backward
from clearformer.tokenizers import BytePairTokenizer

from tests.equations.registry import equation, table

V, N, D, M, H = 7, 9, 6, 3, 2


@equation("eq-surprise", "ad96e31f3f")
def surprise(rng):
    counted = Ngrams(rng.integers(V, size=50), 3, V)
    w = rng.integers(V, size=N + 1)
    p = np.array([counted.distribution(w[:n])[w[n]] for n in range(1, N + 1)])
    left = table(lambda i: -log2(prod(p[n] for n in range(N))), 1)
    right = table(lambda i: sum(-log2(p[n]) for n in range(N)), 1)
    of_gpt, ids = model(), torch.as_tensor(w)
    p_gpt = prefix_probabilities(of_gpt, ids)
    right_gpt = table(lambda i: sum(-log2(p_gpt[n]) for n in range(N)), 1)
    total = [counted.surprisal(w).sum()]
    return [(left, total), (right, total), (right_gpt, [surprisal(of_gpt, ids).sum()])]


@equation("eq-bits-per-character", "7078e768a3")
def bits_per_character(rng):
    """With tokens of several characters, so that N and C differ; also from the loss in nats a token."""
    tokenizer = BytePairTokenizer("tea tea tee", 3)
    paragraphs = ["tea tee", "tee"]
    ids, characters = marked_stream(paragraphs, tokenizer), count_characters(paragraphs)
    of_gpt = model(tokenizer.n_vocab + 1)
    p, tokens = prefix_probabilities(of_gpt, ids), len(ids) - 1
    assert tokens != characters
    printed = table(lambda i: 1 / characters * sum(-log2(p[n]) for n in range(tokens)), 1)
    nats = next_token_loss(of_gpt, ids[None, :-1], ids[None, 1:]).item()
    from_nats = [nats * tokens / (characters * log(2))]
    return [(printed, [surprisal(of_gpt, ids).sum() / characters]), (printed, from_nats)]


@equation("eq-perplexity", "798f66437a")
def perplexity(rng):
    """Of a model that is far from uniform, against the loss of training."""
    of_gpt, ids = model(), torch.as_tensor(rng.integers(V, size=N + 1))
    p = prefix_probabilities(of_gpt, ids)
    printed = table(lambda i: exp(1 / N * sum(-log(p[n]) for n in range(N))), 1)
    return printed, [next_token_loss(of_gpt, ids[None, :-1], ids[None, 1:]).exp().item()]


@equation("eq-vocabulary-softmax", "d5f6affbb1")
def vocabulary_softmax(rng):
    """Entry n of the tables is for token n + 1, and row n of x, whose first is the start token, predicts it."""
    of_gpt, ids = model(), torch.as_tensor(rng.integers(V, size=(1, N)))
    x, g = of_gpt.hidden_states(ids)[0].numpy(), of_gpt.head.weight.numpy()
    logit = table(lambda w, n: sum(g[w, d] * x[n, d] for d in range(D)), V, N)
    printed = table(lambda w, n: exp(logit[w, n]) / sum(exp(logit[v, n]) for v in range(V)), V, N)
    return printed, of_gpt(ids).softmax(dim=-1)[0].numpy().T


@equation("eq-surprise-gradient", "a244278113")
def surprise_gradient(rng):
    logits = rng.normal(size=V)
    p = np.exp(logits) / np.exp(logits).sum()
    printed = table(lambda w, v: p[v] - (v == w), V, V)
    columns = np.repeat(logits[:, None], V, axis=1)  # column w: the same logits, and w is what came
    leaf = torch.tensor(columns.T, requires_grad=True)
    torch.nn.functional.cross_entropy(leaf, torch.arange(V), reduction="sum").backward()
    by_hand = cross_entropy_backward(columns, np.arange(V), float(V)).T
    return [(printed, by_hand), (printed, leaf.grad.numpy())]


@equation("eq-temperature", "95d8009fb4")
def temperature(rng):
    logits, taus = rng.normal(size=V), [0.4, 1.0, 1.7]
    printed = table(lambda i, w: exp(logits[w] / taus[i]) / sum(exp(logits[v] / taus[i]) for v in range(V)), 3, V)
    return printed, [(torch.tensor(logits) / tau).softmax(dim=-1).numpy() for tau in taus]


@equation("eq-top-p", "52acaa1464")
def top_p(rng):
    logits = rng.normal(size=V) * 2
    p = np.sort(np.exp(logits) / np.exp(logits).sum())[::-1]
    least = [0.2, 0.6, 0.9, 1 - p[-1] / 2]  # the last one needs all tokens
    printed = table(lambda q: min(j for j in range(1, V + 1) if sum(p[i] for i in range(j)) >= least[q]), len(least))
    row = torch.tensor(logits)[None]
    return printed, [int(keep_top_p(row, q).isfinite().sum()) for q in least]


@equation("eq-head-score", "4317ebc741")
def head_score(rng):
    of_gpt, ids = model(), torch.as_tensor(rng.integers(V, size=(1, N)))
    for block in of_gpt.decoder.blocks:
        block.attention.attend = attend
    weights = attention_weights(of_gpt, ids)
    A = np.stack([w[0].numpy() for w in weights.values()]).swapaxes(-1, -2)  # layers, heads, sources, targets
    pairs = []
    for delta, first in ((1, 2), (3, 5)):
        printed = table(lambda m, h, d=delta, f=first: 1 / (N - f) * sum(A[m, h, n - d, n] for n in range(f, N)), M, H)
        pairs.append((printed, diagonal_score(weights, delta, first)))
    return pairs


def model(n_vocab=V):
    """A GPT in double precision whose weights are large enough to prefer some tokens."""
    torch.manual_seed(0)
    gpt = GPT(GPTConfig(n_vocab, 16, D, H, M)).double().requires_grad_(False)
    for weight in gpt.parameters():
        weight += 0.3 * torch.randn_like(weight)
    return gpt


def prefix_probabilities(gpt, ids):
    """The probability of every id but the first, each from a pass over its own prefix."""
    return [gpt(ids[None, :n])[0, -1].softmax(dim=-1)[ids[n]].item() for n in range(1, len(ids))]
