"""Checks of the display equations of chapter 18, tuning."""

from math import exp, log

import numpy as np
import torch
from clearbook.assistant import LowRank, counted_loss, preference_loss

from tests.equations.registry import equation, table

N, V, D, E, R = 5, 7, 4, 6, 3  # R is the rank


@equation("eq-answer-loss", "6b6af21e4e")
def answers_alone(rng):
    logits, w = rng.normal(size=(1, N, V)), rng.integers(V, size=N)
    m = [0.0, 1.0, 0.0, 1.0, 1.0]
    p = torch.tensor(logits[0]).softmax(-1).numpy()
    printed = table(lambda: -sum(m[n] * log(p[n, w[n]]) for n in range(N)) / sum(m[n] for n in range(N)))
    found = counted_loss(torch.tensor(logits), torch.tensor(w)[None], torch.tensor([m], dtype=torch.float64))
    return printed, found


@equation("eq-lora", "c924bc6980")
def low_rank(rng):
    W, b, A, B = rng.normal(size=(E, D)), rng.normal(size=E), rng.normal(size=(R, D)), rng.normal(size=(E, R))
    x, layer = rng.normal(size=D), LowRank(torch.nn.Linear(D, E), R).double()
    with torch.no_grad():
        for parameter, values in ((layer.linear.weight, W), (layer.linear.bias, b), (layer.A, A), (layer.B, B)):
            parameter.copy_(torch.tensor(values))
        found = layer(torch.tensor(x)).numpy()
        merged = layer.merged()(torch.tensor(x)).numpy()
    printed = table(
        lambda e: (
            sum(W[e, d] * x[d] for d in range(D))
            + b[e]
            + sum(B[e, r] * A[r, d] * x[d] for r in range(R) for d in range(D))
        ),
        E,
    )
    return [(printed, found), (printed, merged)]


@equation("eq-dpo", "05bbe94f6a")
def preference(rng):
    pi_c, pi_r, rho_c, rho_r = (float(p) for p in rng.uniform(0.1, 0.9, size=4))
    beta = 0.3

    def sigma(z):
        return 1 / (1 + exp(-z))

    printed = table(lambda: -log(sigma(beta * (log(pi_c / rho_c) - log(pi_r / rho_r)))))
    logs = (torch.tensor([log(p)], dtype=torch.float64) for p in (pi_c, pi_r, rho_c, rho_r))
    return printed, preference_loss(*logs, beta)


@equation("eq-short-answers", "ee873fea3a")
def brevity(rng):
    """Where the two answers part, by bisection: the slopes of their losses, each over its own tokens, cancel."""
    short, long, low, high = 4, 10, 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        low, high = (p, high) if 1 / (short * (1 - p)) < 1 / (long * p) else (low, p)
    printed = table(lambda: (1 / 10) / (1 / 4 + 1 / 10))
    return printed, p


@equation("eq-task-vector", "3846d63b7e")
def added_weights(rng):
    theta_0, plus, minus = rng.normal(size=(3, D))
    share = 0.4
    printed = table(lambda d: theta_0[d] + share * (plus[d] - minus[d]), D)
    return printed, np.add(theta_0, np.multiply(share, np.subtract(plus, minus)))


@equation("eq-choice", "1a9fcf9380")
def preferred(rng):
    """Bradley and Terry's choice is a softmax over the two rewards."""
    s_c, s_r = rng.normal(size=2)
    printed = table(lambda: 1 / (1 + exp(-(s_c - s_r))))
    return printed, torch.tensor([s_c, s_r]).softmax(0)[0]


def drawn(rng):
    rho = rng.uniform(0.1, 1, size=V)
    return rho / rho.sum(), rng.normal(size=V), 0.7


@equation("eq-penalised", "f6fd0daa21")
def penalised_reward(rng):
    rho, s, beta = drawn(rng)
    pi = torch.tensor(rng.normal(size=V)).softmax(0)
    printed = table(
        lambda: (
            sum(float(pi[y]) * s[y] for y in range(V))
            - beta * sum(float(pi[y]) * log(float(pi[y]) / rho[y]) for y in range(V))
        )
    )
    divergence = torch.distributions.kl_divergence(
        torch.distributions.Categorical(pi), torch.distributions.Categorical(torch.tensor(rho))
    )
    return printed, (pi * torch.tensor(s)).sum() - beta * divergence


@equation("eq-best-policy", "365fc2d15b")
def solved(rng):
    """The best policy as a softmax; at it the slope of the penalised reward is the same for every answer."""
    rho, s, beta = drawn(rng)
    printed = table(lambda y: rho[y] * exp(s[y] / beta) / sum(rho[z] * exp(s[z] / beta) for z in range(V)), V)
    slopes = s - beta * np.log(printed / rho) - beta
    return [(printed, torch.tensor(np.log(rho) + s / beta).softmax(0)), (slopes - slopes[0], np.zeros(V))]
