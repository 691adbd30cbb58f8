"""Checks of the display equations of chapter 11, translation."""

from math import prod

import numpy as np
import torch
from clearformer.generation import generate
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig, translation_loss

from tests.equations.registry import equation, table

D, V, S, B = 8, 11, 7, 5
PADDING, START, END = 8, 9, 10
LENGTHS = [3, 2, 6, 4, 5]  # tokens that each target has to write, with its end


@equation("eq-translation-loss", "59bfc5cddf")
def translation_loss_(rng):
    model, (z, w) = translator(), pairs()
    log_p, lengths = log_probabilities(model, z, w), np.array(LENGTHS)
    printed = table(
        lambda i: (
            -(1 / sum(lengths[b] for b in range(B)))
            * sum(sum(log_p[b][n, w[b, n + 1]] for n in range(lengths[b])) for b in range(B))
        ),
        1,
    )
    return printed, [translation_loss(model, z, w).item()]


@equation("eq-exact-match", "a7385ee0f9")
def exact_match(rng):
    """Against what ``generate`` writes; the targets are made to be right in full, in part and not at all."""
    model, (z, w) = translator(), pairs()
    torch.manual_seed(2)  # a head that is not tied, else it repeats what it reads
    model.head.weight = torch.nn.Parameter(3 * torch.randn(V, D).double(), requires_grad=False)
    model.head.bias[START] = model.head.bias[PADDING] = -99.0
    written = generate(model.conditioned_on(z), w[:, :1], w.shape[1] - 1)
    for b in (2, 3, 4):
        w[b, 1 : LENGTHS[b] + 1] = written[b, 1 : LENGTHS[b] + 1]
    w[3, LENGTHS[3]] = (w[3, LENGTHS[3]] + 1) % 8
    same = [torch.equal(written[b, : n + 1], w[b, : n + 1]) for b, n in enumerate(LENGTHS)]
    assert 0 < sum(same) < B
    best = [rows.argmax(axis=1) for rows in log_probabilities(model, z, w)]
    lengths, w = np.array(LENGTHS), w.numpy()
    printed = table(
        lambda i: 1 / B * sum(prod(best[b][n] == w[b, n + 1] for n in range(lengths[b])) for b in range(B)), 1
    )
    return printed, [sum(same) / B]


def translator():
    torch.manual_seed(0)
    config = Seq2SeqConfig(V, 16, D, 2, 1, padding=PADDING, start=START, end=END, n_decoder_layers=2)
    model = Seq2Seq(config).double().requires_grad_(False)
    _ = model.head.bias.normal_()
    return model.eval()


def pairs():
    """Sources with padding at the end, and targets of every one of the ``LENGTHS``."""
    torch.manual_seed(1)
    z, w = torch.randint(8, (B, S)), torch.full((B, max(LENGTHS) + 1), PADDING)
    z[1, 5:] = z[4, 3:] = PADDING
    for b, n in enumerate(LENGTHS):
        w[b, :n], w[b, 0], w[b, n] = torch.randint(8, (n,)), START, END
    return z, w


def log_probabilities(model, z, w):
    """One sentence at a time, without its padding: log p of every word at every place."""
    found = []
    for b, n in enumerate(LENGTHS):
        source = z[b][z[b] != PADDING][None]
        found.append(model(source, w[b : b + 1, :n])[0].log_softmax(-1).numpy())
    return found
