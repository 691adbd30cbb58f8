"""Checks of the display equations of chapter 19, rewards."""

from math import exp, log, sqrt

import torch
from clearbook.assistant import group_advantages, preference_loss

from tests.claims.pages import definitions
from tests.equations.registry import equation, table

PAGE = "chapters/19-rewards.ipynb"


@equation("eq-best-of-n", "805019386d")
def best_of_n(rng):
    """Against attempts that were all listed: a deck with a quarter of right cards, put back each time."""
    p, n = [0.25, 0.4], [3, 5]
    printed = table(lambda i: 1 - (1 - p[i]) ** n[i], 2)
    return printed, [chance_by_enumeration(q, attempts) for q, attempts in zip(p, n, strict=True)]


def chance_by_enumeration(p, n):
    """The chance that at least one of n is right, added up over all rows of right and wrong that have one."""
    rows = [[bool(number >> place & 1) for place in range(n)] for number in range(1, 2**n)]
    return sum(p ** sum(row) * (1 - p) ** (n - sum(row)) for row in rows)


def slopes(of):
    """How much ``of`` the four answers changes with each of their logits, whose softmax is (1/8, 3/8, 1/2)."""
    logits = torch.tensor([1.0, 3.0, 4.0], dtype=torch.float64).log()
    return torch.autograd.functional.jacobian(lambda z: of(z.softmax(0)), logits).numpy()


@equation("eq-policy-gradient", "9d696a4cfe")
def policy_gradient(rng):
    """Line by line against autograd; the attempts of the last line come exactly as often as they are likely."""
    pi, s, y, G = [1 / 8, 3 / 8, 1 / 2], rng.normal(size=3), [2, 1, 2, 0, 1, 2, 1, 2], 8
    mean_reward = torch.tensor(pi, dtype=torch.float64) @ torch.tensor(s)
    slope = slopes(lambda p: p @ torch.tensor(s))
    of_pi, of_ln = slopes(lambda p: p), slopes(torch.log)
    return [
        (table(lambda: sum(pi[a] * s[a] for a in range(3))), mean_reward),
        (table(lambda v: sum(s[a] * of_pi[a, v] for a in range(3)), 3), slope),
        (table(lambda v: sum(s[a] * pi[a] * of_pi[a, v] / pi[a] for a in range(3)), 3), slope),
        (table(lambda v: sum(pi[a] * s[a] * of_ln[a, v] for a in range(3)), 3), slope),
        (table(lambda v: 1 / G * sum(s[y[i]] * of_ln[y[i], v] for i in range(G)), 3), slope),
    ]


@equation("eq-baseline", "b90446472f")
def baseline(rng):
    """Answer by answer, where nothing is 0 yet; then what the slopes of all answers add up to."""
    pi, b = [1 / 8, 3 / 8, 1 / 2], rng.normal()
    of_pi, of_ln = slopes(lambda p: p), slopes(torch.log)
    return [
        (table(lambda a, v: pi[a] * b * of_ln[a, v], 3, 3), slopes(lambda p: b * p)),
        (table(lambda v: sum(of_pi[a, v] for a in range(3)), 3), slopes(lambda p: p.sum())),
    ]


@equation("eq-advantage", "749759021c")
def advantage(rng):
    s, G = rng.integers(2, size=8).astype(float) + rng.normal(size=8), 8

    def std(values):
        centre = sum(values) / len(values)
        return sqrt(sum((value - centre) ** 2 for value in values) / len(values))

    mean = table(lambda: 1 / G * sum(s[j] for j in range(G)))
    printed = table(lambda i: (s[i] - float(mean)) / (std(s) + 1e-4), G)  # the library keeps alike groups finite
    return [(mean, s.mean()), (printed, group_advantages(torch.tensor(s)[None])[0].numpy())]


@equation("eq-group-loss", "21c61d23ec")
def group_loss(rng):
    """The answers' surprisals, weighed by the advantages."""
    G, logits = 6, torch.tensor(rng.normal(size=(1, 4)))
    a, y = group_advantages(torch.tensor(rng.normal(size=(1, G))))[0].numpy(), rng.integers(4, size=G)
    p = logits.softmax(-1).numpy()[0]
    printed = table(lambda: -1 / G * sum(a[i] * log(p[y[i]]) for i in range(G)))
    surprisal = torch.nn.functional.cross_entropy(logits.expand(G, 4), torch.tensor(y), reduction="none")
    return printed, float((torch.tensor(a) * surprisal).mean())


@equation("eq-clip", "0d2cf7c9f3")
def clip(rng):
    """Against the two cases told apart, and the page's own loss on rows of five tokens of which a mask hides some."""
    lengths, eps = [2, 5, 3], 0.2
    N, G = sum(lengths), len(lengths)
    rho = [rng.uniform(0.4, 1.9, size=n) for n in lengths]
    a, N_i = rng.normal(size=G), lengths
    cut = [[min(max(ratio, 1 - eps), 1 + eps) for ratio in row] for row in rho]
    printed = table(
        lambda: -1 / N * sum(min(rho[i][t] * a[i], cut[i][t] * a[i]) for i in range(G) for t in range(N_i[i]))
    )
    ratio, worth = torch.tensor([*rho[0], *rho[1], *rho[2]]), torch.tensor(a).repeat_interleave(torch.tensor(lengths))
    held = torch.where(worth > 0, ratio.clamp(max=1 + eps), ratio.clamp(min=1 - eps))
    return [(printed, -float((held * worth).mean())), (printed, of_the_page(rng, rho, a, eps))]


def of_the_page(rng, rho, a, eps):
    """The loss that the page defines; behind the end of an attempt stands anything, and it gets no slope."""
    counts = torch.tensor([[float(t < len(row)) for t in range(5)] for row in rho])
    log_ratio, old = (torch.tensor(rng.normal(size=(len(rho), 5))) for _ in range(2))
    for filled, row in zip(log_ratio, rho, strict=True):
        filled[: len(row)] = torch.tensor(row).log()
    log_p = (old + log_ratio).requires_grad_()
    clipped = definitions(PAGE, ("setup", "clip-steps:clipped")).clipped
    loss = clipped(log_p, old, torch.tensor(a)[:, None], counts, eps)
    (slope,) = torch.autograd.grad(loss, log_p)
    assert not slope[counts == 0].any()
    return float(loss.detach())


@equation("eq-reward-loss", "7f5ce71977")
def reward_loss(rng):
    """Of one pair; the library's loss on preferences without a reference."""
    c, r = rng.normal(size=2)
    printed = table(lambda: -log(1 / (1 + exp(-(c - r)))))
    nothing = torch.zeros(1, dtype=torch.float64)
    return printed, float(preference_loss(torch.tensor([c]), torch.tensor([r]), nothing, nothing, 1.0))
