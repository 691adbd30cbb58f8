"""Named wrong solutions of exercise 16: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()
WRONG = wrong


# graph


@wrong(
    "graph",
    says="You read every edge against its direction: the first number of a row speaks, the second hears.",
    section="a-graph-is-a-mask",
)
def against_the_arrows(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[s, n] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="You let every edge lead both ways; these edges have a direction.",
    section="a-graph-is-a-mask",
)
def both_ways(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = hears[s, n] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="Your nodes never hear themselves, not even with `loops`.",
    section="a-graph-is-a-mask",
)
def never_oneself(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="Your nodes always hear themselves, also without `loops`.",
    section="a-graph-is-a-mask",
)
def always_oneself(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="An edge that is listed twice counts twice in your average; it is still one edge.",
    section="a-graph-is-a-mask",
)
def counted_twice(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] += 1
    if loops:
        hears[range(N), range(N)] = np.maximum(hears.diagonal(), 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="A pair that is listed twice counts twice, and a loop is added to one that is listed; each is one edge.",
    section="a-graph-is-a-mask",
)
def counted(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.eye(N) * loops
    for s, n in edges:
        hears[n, s] += 1
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="Without `loops` you strike out a loop that is listed as an edge; an edge (n, n) counts in any case.",
    section="a-graph-is-a-mask",
)
def only_loops_of_the_list(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    np.fill_diagonal(hears, float(loops))
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="Your scores lack the scale, the root of K.",
    section="a-graph-is-a-mask",
)
def not_scaled(q, k, v, edges, loops):
    N = len(q)
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="You divide the scores by K and not by its root.",
    section="a-graph-is-a-mask",
)
def scaled_by_the_width(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / K
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="You scale the scores by the width of the values; it is the width of queries and keys that counts.",
    section="a-graph-is-a-mask",
)
def scaled_by_the_values(q, k, v, edges, loops):
    N = len(q)
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(v.shape[1])
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says=(
        "Your softmax runs over all nodes, and the neighbours are picked afterwards: their weights sum to less than 1."
    ),
    section="a-graph-is-a-mask",
)
def softmax_over_everyone(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return hears * powers / powers.sum(axis=1, keepdims=True) @ v


@wrong(
    "graph",
    says="You let every node hear every other: the edges play no part in your weights.",
    section="a-graph-is-a-mask",
)
def everyone(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


@wrong(
    "graph",
    says="You take the plain mean of the neighbours; queries and keys decide how much each of them counts.",
    section="a-graph-is-a-mask",
)
def plain_mean(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    np.where(hears > 0, scores, -np.inf)
    powers = hears
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="You set the scores of strangers to 0, and the softmax gives them weight all the same.",
    section="a-graph-is-a-mask",
)
def zero_scores(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = hears * scores
    powers = np.exp(table - table.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


@wrong(
    "graph",
    says="A node that hears nobody divides 0 by 0 in your function; it should get zeros.",
    section="a-graph-is-a-mask",
)
def nobody_is_nan(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    powers = np.exp(table - table.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


@wrong(
    "graph",
    says="A node that hears nobody gets the mean of all nodes in your function; it should get zeros.",
    section="a-graph-is-a-mask",
)
def nobody_hears_all(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -1e9)
    powers = np.exp(table - table.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


@wrong(
    "graph",
    says="A node that hears nobody keeps its own value in your function; it should get zeros.",
    section="a-graph-is-a-mask",
)
def nobody_keeps_its_own(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return np.where(hears.any(axis=1)[:, None], powers @ v / total, v)


@wrong(
    "graph",
    says="Large scores overflow in your exponential.",
    section="a-graph-is-a-mask",
)
def large_scores_overflow(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    powers = np.where(hears > 0, np.exp(scores), 0)
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="You subtract the largest score of the whole table, and the powers of some nodes all round to 0.",
    section="a-graph-is-a-mask",
)
def the_largest_of_all(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    top = scores.max()
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="The score that you subtract may be that of a stranger, and the powers of all neighbours round to 0.",
    section="a-graph-is-a-mask",
)
def the_largest_of_a_row(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    powers = hears * np.exp(scores - scores.max(axis=1, keepdims=True))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="Your weights sum to 1 over those who hear a node; they should over those whom a node hears.",
    section="a-graph-is-a-mask",
)
def over_those_who_hear(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=0), table.max(axis=0), 0)
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=0)
    total[total == 0] = 1
    return powers / total @ v


@wrong(
    "graph",
    says="Your queries and keys have changed places: the node that hears asks, its neighbours offer keys.",
    section="a-graph-is-a-mask",
)
def asked_the_wrong_way(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = k @ q.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="You add the messages up with weights that are not divided by their sum.",
    section="a-graph-is-a-mask",
)
def sum_of_messages(q, k, v, edges, loops):
    N, K = q.shape
    hears = np.zeros((N, N))
    for s, n in edges:
        hears[n, s] = 1
    if loops:
        np.fill_diagonal(hears, 1)
    scores = q @ k.T / np.sqrt(K)
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v


@wrong(
    "graph",
    says="You add a loop on top of one that is listed, and the node hears itself twice.",
    section="a-graph-is-a-mask",
)
def loops_on_top(q, k, v, edges, loops):
    N = len(q)
    hears = np.zeros((N, N))
    hears[edges[:, 1], edges[:, 0]] = 1
    if loops:
        hears = hears + np.eye(N)
    scores = q @ k.T / np.sqrt(q.shape[1])
    table = np.where(hears > 0, scores, -np.inf)
    top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
    powers = hears * np.exp(np.minimum(scores - top, 0))
    total = powers.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return powers @ v / total


@wrong(
    "graph",
    says="Each message overwrites the one before: a node keeps the value of the last edge in the list.",
    section="a-graph-is-a-mask",
)
def last_message(q, k, v, edges, loops):
    y = v.copy() if loops else np.zeros(v.shape)
    for s, n in edges:
        y[n] = v[s]
    return y


# gated


@wrong(
    "gated",
    says="You take the mean of the token away first, as LayerNorm does; RMSNorm leaves it in.",
    section="five-switches",
)
def with_the_mean(x, gamma, W_gate, W_in, W_out, eps):
    x0 = x - x.mean(axis=1, keepdims=True)
    normed = gamma * x0 / np.sqrt((x0**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You divide by the spread about the mean; RMSNorm divides by the root of the mean square.",
    section="five-switches",
)
def variance_below(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You divide by the length of the token; the squares are to be averaged over its features.",
    section="five-switches",
)
def sum_of_squares(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).sum(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You average the squares over the tokens; every token has its own norm.",
    section="five-switches",
)
def over_the_tokens(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=0, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You divide by the mean square and forget its root.",
    section="five-switches",
)
def no_root(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / ((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your ε is added to the root; it belongs under it.",
    section="five-switches",
)
def epsilon_outside(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / (np.sqrt((x**2).mean(axis=1, keepdims=True)) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your norm ignores ε.",
    section="five-switches",
)
def no_epsilon(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True))
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your norm ignores γ.",
    section="five-switches",
)
def no_gamma(x, gamma, W_gate, W_in, W_out, eps):
    normed = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your network reads the token as it came; it should read the normed one.",
    section="five-switches",
)
def norm_forgotten(x, gamma, W_gate, W_in, W_out, eps):
    normed = x
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your gate reads the token as it came, and only the value the normed one; both read the normed one.",
    section="five-switches",
)
def gate_not_normed(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = x @ W_gate.T
    gate = z / (1 + np.exp(-z))
    return x + (gate * (normed @ W_in.T)) @ W_out.T, 3 * len(W_gate) // 2


@wrong(
    "gated",
    says="Your gate reads the normed token, and W_in the one that came; both read the normed one.",
    section="five-switches",
)
def value_not_normed(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    return x + (gate * (x @ W_in.T)) @ W_out.T, 3 * len(W_gate) // 2


@wrong(
    "gated",
    says="Your norm stands behind the layer; here it stands before the network, inside the residual.",
    section="five-switches",
)
def norm_behind(x, gamma, W_gate, W_in, W_out, eps):
    z = x @ W_gate.T
    y = x + (z / (1 + np.exp(-z)) * (x @ W_in.T)) @ W_out.T
    return gamma * y / np.sqrt((y**2).mean(axis=1, keepdims=True) + eps), 3 * len(W_gate) // 2


@wrong(
    "gated",
    says="The residual is missing: what the network says is added to the token.",
    section="five-switches",
)
def no_residual(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You add the network to the normed token; the residual takes the token as it came.",
    section="five-switches",
)
def normed_residual(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return normed + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your gate is the logistic function alone; SiLU multiplies it by its argument.",
    section="five-switches",
)
def sigmoid_gate(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = 1 / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="The exponent of your SiLU has the wrong sign: the gate shuts where its argument is large.",
    section="five-switches",
)
def silu_turned_round(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(z))
    return x + (gate * (normed @ W_in.T)) @ W_out.T, 3 * len(W_gate) // 2


@wrong(
    "gated",
    says="Your gate is a ReLU; here it is SiLU.",
    section="five-switches",
)
def relu_gate(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = np.maximum(z, 0)
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your gate is a GELU; here it is SiLU.",
    section="five-switches",
)
def tanh_gelu(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / 2 * (1 + np.tanh(0.7978845608 * (z + 0.044715 * z**3)))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You put the activation behind W_in; it belongs behind W_gate.",
    section="five-switches",
)
def wrong_half(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_in.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_gate.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You put an activation behind both matrices; one of the two stays linear.",
    section="five-switches",
)
def both_activated(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T) / (1 + np.exp(-normed @ W_in.T))) @ W_out.T, width


@wrong(
    "gated",
    says="You add gate and value; they are multiplied.",
    section="five-switches",
)
def added_gate(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate + (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="W_gate plays no part in your network.",
    section="five-switches",
)
def no_gate(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    normed @ W_gate.T
    width = 3 * len(W_gate) // 2
    return x + ((normed @ W_in.T) / (1 + np.exp(-normed @ W_in.T))) @ W_out.T, width


@wrong(
    "gated",
    says="Your gate becomes ∞ / ∞ for large arguments; write it with powers that cannot be that large.",
    section="five-switches",
)
def overflowing_gate(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z * np.exp(z) / (1 + np.exp(z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your count goes the wrong way: it is the plain network that may be wider.",
    section="five-switches",
)
def two_thirds(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 2 * len(W_gate) // 3
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You return the width of the gated network, but with one matrix less a plain one may be wider.",
    section="five-switches",
)
def same_width(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = len(W_gate)
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You round the count up, and the plain network has more numbers than the gated one.",
    section="five-switches",
)
def rounded_up(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = -(-3 * len(W_gate) // 2)
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your plain network has fewer numbers than the three matrices; it may have as many.",
    section="five-switches",
)
def strictly_fewer(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 0
    while 2 * (width + 1) * x.shape[1] < 3 * W_gate.size:
        width += 1
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your count is the number of entries of the matrices; asked is a width.",
    section="five-switches",
)
def numbers_for_width(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * W_gate.size
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You count one matrix in the plain network; it has two.",
    section="five-switches",
)
def twice_the_width(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate)
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your count is no whole number; a network has whole hidden units.",
    section="five-switches",
)
def half_a_unit(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) / 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="Your count is a rule of thumb about D; it follows from the sizes of the three matrices.",
    section="five-switches",
)
def eight_thirds(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 4 * x.shape[1]
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong(
    "gated",
    says="You multiply by γ behind the network; it belongs to the norm.",
    section="five-switches",
)
def gamma_behind(x, gamma, W_gate, W_in, W_out, eps):
    normed = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    return x + gamma * ((gate * (normed @ W_in.T)) @ W_out.T), 3 * len(W_gate) // 2


@wrong(
    "gated",
    says="You norm the hidden features; the token is normed before the network reads it.",
    section="five-switches",
)
def hidden_normed(x, gamma, W_gate, W_in, W_out, eps):
    z = x @ W_gate.T
    hidden = z / (1 + np.exp(-z)) * (x @ W_in.T)
    hidden = hidden / np.sqrt((hidden**2).mean(axis=1, keepdims=True) + eps)
    return x + gamma * (hidden @ W_out.T), 3 * len(W_gate) // 2


# experts


@wrong(
    "experts",
    says="`renormalise` changes nothing in your function; it asks for the sum of p over the chosen experts only.",
    section="a-mixture-of-experts",
)
def never_divided(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You always divide the factors by their sum, also without `renormalise`.",
    section="a-mixture-of-experts",
)
def always_divided(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You divide the factors by their sum exactly where it is not asked for.",
    section="a-mixture-of-experts",
)
def switch_turned_round(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if not renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says=("With `renormalise` you divide by the number of chosen experts and not by the sum of their probabilities."),
    section="a-mixture-of-experts",
)
def divided_by_k(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / k
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says=("With `renormalise` you divide by a sum over the tokens; it is a sum over the chosen experts of one token."),
    section="a-mixture-of-experts",
)
def divided_over_tokens(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / np.maximum(factors.sum(axis=0), 1e-300)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You give all chosen experts the same factor, 1 / k; theirs is their probability.",
    section="a-mixture-of-experts",
)
def all_equal(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    factors = chosen / k
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You add up what the chosen experts say without any factor.",
    section="a-mixture-of-experts",
)
def factor_one(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    factors = chosen
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="Your factors are the scores themselves; they should be probabilities.",
    section="a-mixture-of-experts",
)
def factors_are_scores(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * logits
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You let all experts speak; only the k best of each token do.",
    section="a-mixture-of-experts",
)
def everyone_speaks(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You choose the experts with the smallest scores.",
    section="a-mixture-of-experts",
)
def the_worst(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You choose k + 1 experts.",
    section="a-mixture-of-experts",
)
def one_too_many(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, : k + 1]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You choose one expert, whatever k is.",
    section="a-mixture-of-experts",
)
def only_the_best(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :1]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You take the first k experts for every token; the scores of the token choose.",
    section="a-mixture-of-experts",
)
def the_first_experts(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.tile(np.arange(k), (N, 1))
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="In your function every expert chooses k tokens; it is the tokens that choose experts.",
    section="a-mixture-of-experts",
)
def experts_choose_tokens(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=0)[:k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=0)
    factors = chosen * p
    if renormalise:
        factors = factors / np.maximum(factors.sum(axis=1, keepdims=True), 1e-300)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="Your softmax runs over the tokens; the probabilities of one token sum to 1.",
    section="a-mixture-of-experts",
)
def softmax_over_tokens(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=0))
    p = powers / powers.sum(axis=0)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says=(
        "Your softmax runs over the chosen experts only, so that the factors sum to 1 in any case and "
        "the mean probabilities know only them."
    ),
    section="a-mixture-of-experts",
)
def softmax_of_the_chosen(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    p = chosen * powers / (chosen * powers).sum(axis=1, keepdims=True)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says=(
        "Your factors are sorted and your experts are not: the largest factor goes to expert 0 and not "
        "to the one it belongs to."
    ),
    section="a-mixture-of-experts",
)
def sorted_against_unsorted(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    factors = -np.sort(-factors, axis=1)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="You divide the counts by N; with k choices for each token there are k · N.",
    section="a-mixture-of-experts",
)
def shares_of_tokens(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / N, p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="The factor E of the loss is missing.",
    section="a-mixture-of-experts",
)
def no_e(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(np.sum(f * P))


@wrong(
    "experts",
    says="Your loss has the factor k in place of E.",
    section="a-mixture-of-experts",
)
def k_for_e(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(k * np.sum(f * P))


@wrong(
    "experts",
    says="You take the mean over the experts, which loses the factor E twice over.",
    section="a-mixture-of-experts",
)
def a_mean_over_experts(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(np.mean(f * P))


@wrong(
    "experts",
    says="Your loss holds the mean probabilities twice and no counts: it cannot see what was chosen.",
    section="a-mixture-of-experts",
)
def probabilities_twice(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    _f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(P * P))


@wrong(
    "experts",
    says="Your loss holds the counts twice and no probabilities: it has no gradient.",
    section="a-mixture-of-experts",
)
def counts_twice(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f = chosen.sum(axis=0) / (k * N)
    return y, float(E * np.sum(f * f))


@wrong(
    "experts",
    says="Your mean probabilities leave out the experts that were not chosen.",
    section="a-mixture-of-experts",
)
def probabilities_of_the_chosen(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), (chosen * p).mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="Your loss is N times too large: probabilities are averaged over the tokens, and counts divided by k · N.",
    section="a-mixture-of-experts",
)
def sum_for_mean(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.sum(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says=(
        "In the loss you use the factors of the sum; its mean probability is p as it was, "
        "before anyone was chosen and anything divided."
    ),
    section="a-mixture-of-experts",
)
def factors_in_the_loss(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), factors.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="With `renormalise` your loss is made of the divided factors; it is the same with and without.",
    section="a-mixture-of-experts",
)
def probabilities_overwritten(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, np.argsort(-logits, axis=1)[:, :k], 1.0, axis=1)
    if renormalise:
        p = chosen * p
        p = p / p.sum(axis=1, keepdims=True)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return np.einsum("ne,ned->nd", chosen * p, outputs), float(E * np.sum(f * P))


@wrong(
    "experts",
    says=("In your loss a probability counts only for tokens that chose the expert; the mean of p is over all tokens."),
    section="a-mixture-of-experts",
)
def loss_token_by_token(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    return y, float(E * np.sum(chosen * p) / (k * N))


@wrong(
    "experts",
    says="Your counts know only the first choice of each token; all k count.",
    section="a-mixture-of-experts",
)
def only_first_choices(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = np.bincount(best[:, 0], minlength=E) / N, p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="Large scores overflow in your exponential.",
    section="a-mixture-of-experts",
)
def overflow(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits)
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


@wrong(
    "experts",
    says="Your pair is in the wrong order: first the sums, then the loss.",
    section="a-mixture-of-experts",
)
def other_order(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return float(E * np.sum(f * P)), y


# museum


@wrong(
    "museum",
    says="This is the museum piece as it was.",
    section="attention-that-fits-into-a-state",
)
def as_it_was(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
        S = S + np.outer(fk[n], v[n])
        z = fk[n]
    return y


@wrong(
    "museum",
    says="You read the state before the token is written into it.",
    section="attention-that-fits-into-a-state",
)
def read_before_write(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
    return y


@wrong(
    "museum",
    says="You read the state before the token is written into it, and the first output is 0 / 0.",
    section="attention-that-fits-into-a-state",
)
def nothing_by_nothing(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        y[n] = fq[n] @ S / (fq[n] @ z)
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
    return y


@wrong(
    "museum",
    says="The numerator is read before the token is written, and the denominator after.",
    section="attention-that-fits-into-a-state",
)
def reads_state_too_early(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
        S = S + np.outer(fk[n], v[n])
    return y


@wrong(
    "museum",
    says="Your denominator knows the last key only; it sums over the past as the numerator does.",
    section="attention-that-fits-into-a-state",
)
def last_key_only(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="Both of your sums forget the past: every output is its own value.",
    section="attention-that-fits-into-a-state",
)
def last_token_only(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = np.outer(fk[n], v[n])
        z = fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="The positive branch of your features lacks its + 1: the two branches do not meet at 0.",
    section="attention-that-fits-into-a-state",
)
def a_gap_at_zero(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="Your queries have the features of the chapter; your keys still have those of the museum piece.",
    section="attention-that-fits-into-a-state",
)
def keys_with_a_gap(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
    table = np.tril(fq @ fk.T)
    return table @ v / table.sum(axis=1, keepdims=True)


@wrong(
    "museum",
    says="Your keys have the features of the chapter; your queries still have those of the museum piece.",
    section="attention-that-fits-into-a-state",
)
def queries_with_a_gap(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    table = np.tril(fq @ fk.T)
    return table @ v / table.sum(axis=1, keepdims=True)


@wrong(
    "museum",
    says="You add 1 on both branches of the features, and they have a gap as before.",
    section="attention-that-fits-into-a-state",
)
def one_on_both_branches(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0))) + 1
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0))) + 1
    table = np.tril(fq @ fk.T)
    return table @ v / table.sum(axis=1, keepdims=True)


@wrong(
    "museum",
    says=("Two slips are repaired; the features of the museum piece still have a gap, and the denominator a floor."),
    section="attention-that-fits-into-a-state",
)
def two_of_three(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
    return y


@wrong(
    "museum",
    says="Your denominator has a floor, which spoils the average where all features are small.",
    section="attention-that-fits-into-a-state",
)
def a_floor(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
    return y


@wrong(
    "museum",
    says="You add a small number to the denominator, which spoils the average where all features are small.",
    section="attention-that-fits-into-a-state",
)
def something_added(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z + 1e-6)
    return y


@wrong(
    "museum",
    says="Your features are a ReLU and can all be 0; those of the chapter are positive everywhere.",
    section="attention-that-fits-into-a-state",
)
def features_of_relu(q, k, v):
    fq, fk = np.maximum(q, 0), np.maximum(k, 0)
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="Your features can be negative: you have the ELU without the 1 that lifts it.",
    section="attention-that-fits-into-a-state",
)
def elu_without_one(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)) - 1)
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)) - 1)
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="You use queries and keys as they are, without the feature map: weights can be negative.",
    section="attention-that-fits-into-a-state",
)
def no_features(q, k, v):
    fq, fk = q, k
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="Your features are x + 1 on both sides of 0 and become negative.",
    section="attention-that-fits-into-a-state",
)
def lifted_only(q, k, v):
    fq, fk = q + 1, k + 1
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="Your features are the exponential on both sides of 0; above 0 the chapter has another branch.",
    section="attention-that-fits-into-a-state",
)
def exponential_features(q, k, v):
    fq, fk = np.exp(q), np.exp(k)
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="The queries go through no feature map in your function.",
    section="attention-that-fits-into-a-state",
)
def keys_only(q, k, v):
    fq = q
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="The keys go through no feature map in your function.",
    section="attention-that-fits-into-a-state",
)
def queries_only(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = k
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="Your denominator sums the keys themselves; it should sum their features.",
    section="attention-that-fits-into-a-state",
)
def raw_denominator(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + k[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="You do not divide: without the denominator it is a sum and no average.",
    section="attention-that-fits-into-a-state",
)
def not_divided(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S
    return y


@wrong(
    "museum",
    says="You divide by the number of tokens; the weights have to sum to 1, whatever they are.",
    section="attention-that-fits-into-a-state",
)
def divided_by_count(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (n + 1)
    return y


@wrong(
    "museum",
    says="You divide by the sum of the keys’ features and leave the query out of the denominator.",
    section="attention-that-fits-into-a-state",
)
def divided_by_features(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / z.sum()
    return y


@wrong(
    "museum",
    says="Every output of yours reads the state of the whole text: the future leaks in.",
    section="attention-that-fits-into-a-state",
)
def the_future_leaks(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1])
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
    return fq @ S / (fq @ z)[:, None]


@wrong(
    "museum",
    says="This is causal attention with a softmax; asked is linear attention.",
    section="attention-that-fits-into-a-state",
)
def softmax_instead(q, k, v):
    table = np.where(np.tri(len(q)) > 0, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    powers = np.exp(table - table.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


@wrong(
    "museum",
    says=(
        "You scale the queries by the root of K before the feature map, as softmax attention does; "
        "linear attention has no scale."
    ),
    section="attention-that-fits-into-a-state",
)
def scaled(q, k, v):
    q = q / np.sqrt(q.shape[1])
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


@wrong(
    "museum",
    says="You divide the state itself at every token, so that the past is divided again and again.",
    section="attention-that-fits-into-a-state",
)
def value_divided(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        S = S / (fq[n] @ z)
        y[n] = fq[n] @ S
    return y


@wrong(
    "museum",
    says="The order of reading and writing is repaired; `ones` and `pairs` still tell of two other places.",
    section="attention-that-fits-into-a-state",
)
def only_the_order(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = fk[n]
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
    return y


@wrong(
    "museum",
    says="Your denominator now sums over the past; `alone` and `pairs` still tell of two other places.",
    section="attention-that-fits-into-a-state",
)
def only_the_sum(q, k, v):
    fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
    return y


@wrong(
    "museum",
    says="Your features are repaired; `alone` and `ones` still tell of two other places.",
    section="attention-that-fits-into-a-state",
)
def only_the_features(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
        S = S + np.outer(fk[n], v[n])
        z = fk[n]
    return y


# space


@wrong(
    "space",
    says="You begin with zeros, whatever the state before the first token is.",
    section="a-state-space-in-a-page",
)
def start_ignored(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = np.zeros(h0.shape), np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="The state that you are given never fades in your outputs.",
    section="a-state-space-in-a-page",
)
def start_never_fades(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = np.zeros(h0.shape), np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * (h + h0)).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="The state that you are given fades one step too late in your outputs.",
    section="a-state-space-in-a-page",
)
def start_fades_late(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = np.zeros(h0.shape), np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * (h + a**n * h0)).sum(axis=1)
    return kernel, y, h + a**N * h0


@wrong(
    "space",
    says="You read the state before the token is written into it.",
    section="a-state-space-in-a-page",
)
def read_before_write_in_the_state(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        y[n] = (c * h).sum(axis=1)
        h = a * h + b * x[n][:, None]
    return kernel, y, h


@wrong(
    "space",
    says="The state that you return is the one before the last token.",
    section="a-state-space-in-a-page",
)
def state_before_last(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    before, h, y = h0, h0, np.zeros(x.shape)
    for n in range(N):
        before = h
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, before


@wrong(
    "space",
    says="What is left of the given state is missing from the state that you return.",
    section="a-state-space-in-a-page",
)
def start_lost_at_the_end(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    y = np.stack([(c * h0 * a ** (n + 1)).sum(axis=1) for n in range(N)])
    for n in range(N):
        y[n] += sum(kernel[:, j] * x[n - j] for j in range(n + 1))
    return kernel, y, sum(a ** (N - 1 - n) * b * x[n][:, None] for n in range(N))


@wrong(
    "space",
    says="What a token brings in fades at once in your recurrence; only the old state does.",
    section="a-state-space-in-a-page",
)
def fades_with_the_token(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * (h + b * x[n][:, None])
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your state never fades.",
    section="a-state-space-in-a-page",
)
def never_fades(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your state takes the tokens in whole, without `b`.",
    section="a-state-space-in-a-page",
)
def no_b(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You multiply the old state by `b` as well.",
    section="a-state-space-in-a-page",
)
def b_on_the_state(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = b * (a * h + x[n][:, None])
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You let a token in with 1 − a; here it is `b`, and need not sum to 1 with a.",
    section="a-state-space-in-a-page",
)
def leaky_average(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + (1 - a) * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your outputs are a mean over the R numbers of a state; they are a sum.",
    section="a-state-space-in-a-page",
)
def mean_of_states(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).mean(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your outputs sum the states without the weights `c`.",
    section="a-state-space-in-a-page",
)
def no_c(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = h.sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel begins with the first power of a; a token that is 0 steps back has not faded.",
    section="a-state-space-in-a-page",
)
def kernel_one_power_late(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a ** (j + 1)).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel is the wrong way round: its first column is for the token itself.",
    section="a-state-space-in-a-page",
)
def kernel_turned_round(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N - 1, -1, -1)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel leaves out `b`.",
    section="a-state-space-in-a-page",
)
def kernel_without_b(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel leaves out `c`.",
    section="a-state-space-in-a-page",
)
def kernel_without_c(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel is a mean over the R numbers of a state; it is a sum.",
    section="a-state-space-in-a-page",
)
def kernel_of_means(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).mean(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You sum a, b and c over the R numbers before you multiply; each product has its own power.",
    section="a-state-space-in-a-page",
)
def kernel_of_sums(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([c.sum(axis=1) * b.sum(axis=1) * a.sum(axis=1) ** j for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You multiply by a j times over as a · j; it is a power.",
    section="a-state-space-in-a-page",
)
def kernel_times_j(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a * j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You take powers by logarithms, and a factor that is 0 or negative has none.",
    section="a-state-space-in-a-page",
)
def kernel_by_logarithms(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * np.exp(j * np.log(a))).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You take powers of the size of a and lose its sign.",
    section="a-state-space-in-a-page",
)
def kernel_of_sizes(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * np.abs(a) ** j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="You take the power of the whole product, b and c included; only a fades again and again.",
    section="a-state-space-in-a-page",
)
def powers_of_all(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([((c * b * a) ** j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel contains the state that was given; it belongs to the outputs only.",
    section="a-state-space-in-a-page",
)
def kernel_with_start(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * (b + h0) * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your kernel is N×D; asked is D×N.",
    section="a-state-space-in-a-page",
)
def kernel_transposed(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel.T, y, h


@wrong(
    "space",
    says="Your results are in another order: first the kernel, then the outputs, then the last state.",
    section="a-state-space-in-a-page",
)
def outputs_first(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return y, kernel, h


@wrong(
    "space",
    says="Your outputs are the convolution alone, so that the given state is missing from them.",
    section="a-state-space-in-a-page",
)
def outputs_from_kernel_alone(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    y = np.stack([np.convolve(kernel[d], x[:, d])[:N] for d in range(len(a))], axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your convolution goes round in a circle: the last tokens leak into the first outputs.",
    section="a-state-space-in-a-page",
)
def round_and_round(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    spectra = np.fft.rfft(kernel, axis=1) * np.fft.rfft(x.T, axis=1)
    start = [(c * a ** (n + 1) * h0).sum(axis=1) for n in range(N)]
    return kernel, np.fft.irfft(spectra, N, axis=1).T + np.array(start), h


@wrong(
    "space",
    says="Your convolution is centred: each output reads tokens that come later.",
    section="a-state-space-in-a-page",
)
def centred(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    start = [(c * a ** (n + 1) * h0).sum(axis=1) for n in range(N)]
    y = np.stack([np.convolve(kernel[d], x[:, d], "same") for d in range(len(a))], axis=1)
    return kernel, y + np.array(start), h


@wrong(
    "space",
    says="Your kernel is the answer to a single 1 from the given state; it should be the answer from zeros.",
    section="a-state-space-in-a-page",
)
def impulse_from_the_state(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * (b * a**j + h0 * a ** (j + 1))).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong(
    "space",
    says="Your first output is read from the given state, and every token comes one place too late.",
    section="a-state-space-in-a-page",
)
def given_state_first(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    states = [h0]
    for n in range(N - 1):
        states.append(a * states[-1] + b * x[n][:, None])
    return kernel, np.stack([(c * h).sum(axis=1) for h in states]), states[-1]


# chunks


@wrong(
    "chunks",
    says="You begin every chunk with an empty state: nothing is handed on.",
    section="attention-that-fits-into-a-state",
)
def state_dropped(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own, S, z = np.zeros((V, K)), np.zeros((V, K)), np.zeros(K)
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="You begin every chunk with an empty sum for the denominator; it is handed on like the state.",
    section="attention-that-fits-into-a-state",
)
def norm_dropped(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own, z = np.zeros((V, K)), np.zeros(K)
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your denominator does not fade with the gates.",
    section="attention-that-fits-into-a-state",
)
def norm_never_fades(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your sums do not fade: the gates play no part.",
    section="attention-that-fits-into-a-state",
)
def never_fades_in_chunks(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = S + np.outer(v[n], k[n])
        z = z + k[n]
        own = own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Within a chunk nothing fades in your `inside`; the gates between the two tokens belong there, too.",
    section="attention-that-fits-into-a-state",
)
def fades_outside_only(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="You weaken a token by its own gate as well; a gate weakens what came before it.",
    section="attention-that-fits-into-a-state",
)
def gate_of_its_own(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * (S + np.outer(v[n], k[n]))
        z = g[n] * (z + k[n])
        own = g[n] * (own + np.outer(v[n], k[n]))
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="You use the gate of the token before: each gate weakens the past at its own token.",
    section="attention-that-fits-into-a-state",
)
def gate_one_late(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        late = g[n - 1] if n else 1.0
        if n % size == 0:
            own = np.zeros((V, K))
        S = late * S + np.outer(v[n], k[n])
        z = late * z + k[n]
        own = late * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Between two tokens of a chunk you take the gate of the earlier one and leave out that of the later one.",
    section="attention-that-fits-into-a-state",
)
def gate_of_the_earlier(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s:n]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says=(
        "You let the gate weaken what comes in, and the state by the rest: here g is what lives on, and "
        "a token enters whole."
    ),
    section="attention-that-fits-into-a-state",
)
def the_other_way_round(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + (1 - g[n]) * np.outer(v[n], k[n])
        z = g[n] * z + (1 - g[n]) * k[n]
        own = g[n] * own + (1 - g[n]) * np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / max(z @ q[n], 1e-300)
    return y, inside, S


@wrong(
    "chunks",
    says="You apply the feature map to q and k; here they are features already.",
    section="attention-that-fits-into-a-state",
)
def features_of_features(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    q, k = q + 1, k + 1
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="You let the state live by 1 − g; g is the share that lives.",
    section="attention-that-fits-into-a-state",
)
def one_minus_gate(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = (1 - g[n]) * S + np.outer(v[n], k[n])
        z = (1 - g[n]) * z + k[n]
        own = (1 - g[n]) * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says=(
        "The gate of the first token of a chunk weakens nothing in your function; it weakens the state "
        "that was handed on."
    ),
    section="attention-that-fits-into-a-state",
)
def first_gate_of_chunk_skipped(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        live = g[n] if n % size else 1.0
        S = live * S + np.outer(v[n], k[n])
        z = live * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="In a chunk the state that was handed on is weakened by one gate only; each token up to n has one.",
    section="attention-that-fits-into-a-state",
)
def only_first_gate(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own, old, zold, fresh = np.zeros((V, K)), g[n] * S, g[n] * z, np.zeros(K)
        own, fresh = g[n] * own + np.outer(v[n], k[n]), g[n] * fresh + k[n]
        S, z = old + own, zold + fresh
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="The state that was handed on reaches every token of the chunk whole; the gates on the way weaken it.",
    section="attention-that-fits-into-a-state",
)
def old_state_unweakened(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = 1.0
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says="The state that was handed on is not weakened by the gate of the token that reads it.",
    section="attention-that-fits-into-a-state",
)
def own_gate_left_out(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start:n])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says="You weaken the handed-on state in the numerator, but not the handed-on sum in the denominator.",
    section="attention-that-fits-into-a-state",
)
def old_norm_unweakened(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says="Your outputs read their own chunk only; the state that was handed on is never read.",
    section="attention-that-fits-into-a-state",
)
def own_chunk_only(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = 0.0
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says="You weaken the handed-on state for every token by all gates of the chunk, later ones included.",
    section="attention-that-fits-into-a-state",
)
def whole_chunk_gate(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            shut = np.prod(g[n : n + size])
            own, old, zold, fresh = np.zeros((V, K)), shut * S, shut * z, np.zeros(K)
        own, fresh = g[n] * own + np.outer(v[n], k[n]), g[n] * fresh + k[n]
        S, z = old + own, zold + fresh
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Within a chunk your tokens read the whole chunk, also what comes later.",
    section="attention-that-fits-into-a-state",
)
def not_causal_in_chunk(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        stop = min(n - n % size + size, N)
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        more, extra = np.zeros((V, K)), np.zeros(K)
        for s in range(n + 1, stop):
            more, extra = more + np.outer(v[s], k[s]), extra + k[s]
        inside[n] = (own + more) @ q[n]
        y[n] = (S + more) @ q[n] / ((z + extra) @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says=(
        "You divide one running product of gates by another, which is 0 / 0 once a gate is 0 or the product too small."
    ),
    section="attention-that-fits-into-a-state",
)
def quotients_of_products(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    alive = np.cumprod(g)
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        past = (alive[n] / alive[: n + 1])[:, None] * k[: n + 1]
        S, z = v[: n + 1].T @ past, past.sum(axis=0)
        near = n - n % size
        own = v[near : n + 1].T @ past[near:]
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Within a chunk you divide one running product of gates by another, which fails where a product is 0.",
    section="attention-that-fits-into-a-state",
)
def quotients_in_a_chunk(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        run = np.cumprod(g[start:stop])
        for n in range(start, stop):
            alive = np.array([run[n - start] / run[s - start] for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says=("You keep gates away from 0, for the sake of a logarithm or a quotient; a gate of 0 forgets everything."),
    section="attention-that-fits-into-a-state",
)
def gates_floored(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    g = np.maximum(g, 0.01)
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your `inside` is divided by the denominator; it is a part of the numerator.",
    section="attention-that-fits-into-a-state",
)
def inside_divided(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n] / (z @ q[n])
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your `inside` is the whole numerator; only tokens of the same chunk belong to it.",
    section="attention-that-fits-into-a-state",
)
def inside_is_all(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = S @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your `inside` holds what came from earlier chunks, and so the other part of the numerator.",
    section="attention-that-fits-into-a-state",
)
def outside_for_inside(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = (S - own) @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your `inside` leaves the token itself out.",
    section="attention-that-fits-into-a-state",
)
def inside_without_itself(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = (own - np.outer(v[n], k[n])) @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your `inside` is a sliding window of the last tokens; a chunk has a fixed start.",
    section="attention-that-fits-into-a-state",
)
def window_for_chunk(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = 0.0
        for s in range(max(0, n - size + 1), n + 1):
            inside[n] += np.prod(g[s + 1 : n + 1]) * (k[s] @ q[n]) * v[s]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your outputs are not divided by the denominator.",
    section="attention-that-fits-into-a-state",
)
def not_divided_in_chunks(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n]
    return y, inside, S


@wrong(
    "chunks",
    says="A last chunk that is shorter than the others is left out of your function.",
    section="attention-that-fits-into-a-state",
)
def tail_left_out(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N - N % size):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@wrong(
    "chunks",
    says="Your state is K×V; asked is V×K.",
    section="attention-that-fits-into-a-state",
)
def state_transposed(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S.T


@wrong(
    "chunks",
    says="The state that you return knows only the last chunk.",
    section="attention-that-fits-into-a-state",
)
def state_of_last_chunk(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, own


@wrong(
    "chunks",
    says="Tokens enter the state at the end of their chunk at full strength; later gates of the chunk weaken them.",
    section="attention-that-fits-into-a-state",
)
def fresh_in_the_state(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + v[chunk].T @ k[chunk]
        z = np.prod(g[chunk]) * z + k[chunk].sum(axis=0)
    return y, inside, S


@wrong(
    "chunks",
    says="At the end of a chunk the old state is added whole; all gates of the chunk have weakened it.",
    section="attention-that-fits-into-a-state",
)
def old_state_whole(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = S + (v[chunk].T * alive) @ k[chunk]
        z = z + alive @ k[chunk]
    return y, inside, S


@wrong(
    "chunks",
    says="At the end of a chunk your new state replaces the old one, and only the chunk before is remembered.",
    section="attention-that-fits-into-a-state",
)
def one_chunk_back(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = (v[chunk].T * alive) @ k[chunk]
        z = alive @ k[chunk]
    return y, inside, S
