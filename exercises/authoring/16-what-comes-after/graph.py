"""Exercise 16, question graph: messages along the edges of a graph."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import close, draw_sizes, shape_slip


def graph_reference(q, k, v, edges, loops):
    """Node by node, the neighbours in a set."""
    y = np.zeros((len(q), v.shape[1]))
    for n in range(len(q)):
        heard = {int(s) for s, t in edges if t == n} | ({n} if loops else set())
        if not heard:
            continue
        heard = sorted(heard)
        scores = np.array([sum(q[n] * k[s]) for s in heard]) / np.sqrt(q.shape[1])
        powers = np.exp(scores - max(scores))
        y[n] = sum(power * v[s] for power, s in zip(powers, heard, strict=True)) / sum(powers)
    return y


def draw_graph(rng, loops=True, factor=1.0, n_nodes=None, lonely=False):
    """A ring in random order, as many edges again, some of them listed twice, and one from a node to itself."""
    N, K, V = draw_sizes(rng, 3)
    if n_nodes == 1:
        N, K, V = 1, *draw_sizes(rng, 2)
    ring = rng.permutation(N)
    edges = np.concatenate([np.stack([ring, np.roll(ring, 1)], axis=1), rng.integers(N, size=(N, 2))])
    edges = np.concatenate([edges, edges[N - 1 : N + 2], [[ring[0], ring[0]]]])
    if lonely:
        edges = edges[edges[:, 1] != ring[1]]
    if n_nodes == 1:
        edges = edges[:0]
    edges = edges[rng.permutation(len(edges))]
    return factor * rng.normal(size=(N, K)), rng.normal(size=(N, K)), rng.normal(size=(N, V)), edges, loops


def with_neighbours(rng):
    return [draw_graph(rng), draw_graph(rng, loops=False), draw_graph(rng)]


def without_neighbours(rng):
    cases = [draw_graph(rng, False, lonely=True), draw_graph(rng, False, n_nodes=1)]
    return [*cases, draw_graph(rng, True, n_nodes=1), draw_graph(rng, True, lonely=True)]


def sharp_scores(rng):
    """The last ones are all far below 0."""
    cases = [draw_graph(rng, factor=40.0), draw_graph(rng, False, factor=1e4)]
    q, k, *rest = draw_graph(rng, False, factor=1e4)
    return [*cases, (np.abs(q), -np.abs(k), *rest)]


def who_hears_whom(ask, rng):
    q, k, v, edges, loops = draw_graph(rng, loops=False)
    before = ask(q, k, v, edges, loops)
    if slip := shape_slip(before, (len(q), v.shape[1])):
        return slip
    s = int(rng.integers(len(q)))
    other = v.copy()
    other[s] += 1.0
    changed = set(np.flatnonzero(np.abs(ask(q, k, other, edges, loops) - before).max(axis=1) > 1e-12).tolist())
    hears = {int(target) for source, target in edges if source == s}
    if extra := sorted(changed - hears):
        return f"The value of node {s} changed, and so did your output {extra[0]}, to which no edge leads from {s}."
    if lost := sorted(hears - changed):
        return f"An edge leads from node {s} to node {lost[0]}, but your output {lost[0]} ignores the value of {s}."
    order = rng.permutation(len(q))
    place = np.argsort(order)
    if not close(ask(q[order], k[order], v[order], place[edges], loops), before[order]):
        return "Nodes and edges were numbered in another order; your outputs should come in that order, too."
    return None


QUESTION = Question(
    id="graph",
    title="Messages along the edges of a graph",
    name="graph_messages",
    minutes=12,
    difficulty=1,
    checks=(
        equals("values", 5, with_neighbours, graph_reference),
        equals("nodes that hear nobody, one node", 4, without_neighbours, graph_reference),
        equals("sharp scores", 3, sharp_scores, graph_reference),
        holds("who hears whom", 3, who_hears_whom),
    ),
    hints=(
        "Turn the list of edges into a table of truth values first. Which of its two axes counts those who "
        "hear, and what happens if an edge is listed twice?",
        "The softmax of a node runs over its neighbours and over nobody else: what is not a neighbour must "
        "have the weight 0 before you divide, not after.",
        "For a node without neighbours the sum of all powers is 0. Decide what that node gets before you "
        "divide by it, and take care which maximum you subtract.",
    ),
    section="a-state-instead-of-a-cache",
    inputs=Inputs(
        lambda q, k, v, edges, loops: {"N": len(q), "K": q.shape[1], "V": v.shape[1]},
        lambda q, k, *rest: q @ k.T / np.sqrt(q.shape[1]),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def table_of_edges(q, k, v, edges, loops):
    N, K = q.shape
    heard = np.zeros((N, N))
    heard[edges[:, 1], edges[:, 0]] = 1
    if loops:
        heard[np.arange(N), np.arange(N)] = 1
    scores = q @ k.T / K**0.5
    lowest = scores.min() - 1
    largest = np.where(heard > 0, scores, lowest).max(axis=1, keepdims=True)
    powers = heard * np.exp(np.minimum(scores - largest, 0))
    total = powers.sum(axis=1, keepdims=True)
    return np.divide(powers @ v, total, out=np.zeros(v.shape), where=total > 0)


@right
def node_by_node(q, k, v, edges, loops):
    result = np.zeros(v.shape)
    for node in range(len(q)):
        speakers = set(edges[edges[:, 1] == node, 0].tolist())
        if loops:
            speakers.add(node)
        if speakers:
            speakers = list(speakers)
            score = k[speakers] @ q[node] / np.sqrt(len(q[node]))
            share = np.exp(score - score.max())
            result[node] = share / share.sum() @ v[speakers]
    return result


@right
def edge_by_edge(q, k, v, edges, loops):
    pairs = {(int(s), int(n)) for s, n in edges}
    if loops:
        pairs |= {(n, n) for n in range(len(q))}
    score = {(s, n): float(q[n] @ k[s]) / np.sqrt(q.shape[1]) for s, n in pairs}
    top = {n: max(value for (_, m), value in score.items() if m == n) for _, n in pairs}
    above, below = np.zeros(v.shape), np.zeros(len(q))
    for (s, n), value in score.items():
        above[n] += np.exp(value - top[n]) * v[s]
        below[n] += np.exp(value - top[n])
    below[below == 0] = 1.0
    return above / below[:, None]


@right
def as_often_written(q, k, v, edges, loops):
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
    return powers @ v / total


@wrong("A pair that is listed twice counts twice, and a loop is added to one that is listed; each is one edge.")
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


@wrong("Your softmax runs over all nodes, and the neighbours are picked afterwards: their weights sum to less than 1.")
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


@wrong("You let every node hear every other: the edges play no part in your weights.")
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


@wrong("You set the scores of strangers to 0, and the softmax gives them weight all the same.")
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


@wrong("A node that hears nobody divides 0 by 0 in your function; it should get zeros.")
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


@wrong("A node that hears nobody gets the mean of all nodes in your function; it should get zeros.")
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


@wrong("Each message overwrites the one before: a node keeps the value of the last edge in the list.")
def last_message(q, k, v, edges, loops):
    y = v.copy() if loops else np.zeros(v.shape)
    for s, n in edges:
        y[n] = v[s]
    return y


wrong.edits("""
# as_often_written
## against_the_arrows: You read every edge against its direction: the first number of a row speaks, the second hears.
- hears[n, s] = 1
+ hears[s, n] = 1
## both_ways: You let every edge lead both ways; these edges have a direction.
- hears[n, s] = 1
+ hears[n, s] = hears[s, n] = 1
## never_oneself: Your nodes never hear themselves, not even with `loops`.
- if loops:
-     np.fill_diagonal(hears, 1)
## always_oneself: Your nodes always hear themselves, also without `loops`.
- if loops:
-     np.fill_diagonal(hears, 1)
+ np.fill_diagonal(hears, 1)
## counted_twice: An edge that is listed twice counts twice in your average; it is still one edge.
- hears[n, s] = 1
+ hears[n, s] += 1
- np.fill_diagonal(hears, 1)
+ hears[range(N), range(N)] = np.maximum(hears.diagonal(), 1)
## only_loops_of_the_list: Without `loops` you strike out a loop that is listed as an edge; an edge (n, n) counts in any
case.
- if loops:
-     np.fill_diagonal(hears, 1)
+ np.fill_diagonal(hears, float(loops))
## not_scaled: Your scores lack the scale, the root of K.
- scores = q @ k.T / np.sqrt(K)
+ scores = q @ k.T
## scaled_by_the_width: You divide the scores by K and not by its root.
- scores = q @ k.T / np.sqrt(K)
+ scores = q @ k.T / K
## scaled_by_the_values: You scale the scores by the width of the values; it is the width of queries and keys that
counts.
- scores = q @ k.T / np.sqrt(K)
+ scores = q @ k.T / np.sqrt(v.shape[1])
## plain_mean: You take the plain mean of the neighbours; queries and keys decide how much each of them counts.
- table = np.where(hears > 0, scores, -np.inf)
- top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
- powers = hears * np.exp(np.minimum(scores - top, 0))
+ np.where(hears > 0, scores, -np.inf)
+ powers = hears
## nobody_keeps_its_own: A node that hears nobody keeps its own value in your function; it should get zeros.
- return powers @ v / total
+ return np.where(hears.any(axis=1)[:, None], powers @ v / total, v)
## large_scores_overflow: Large scores overflow in your exponential.
- table = np.where(hears > 0, scores, -np.inf)
- top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
- powers = hears * np.exp(np.minimum(scores - top, 0))
+ powers = np.where(hears > 0, np.exp(scores), 0)
## the_largest_from_zero: Your largest score is never below 0; where all scores are, every exponential vanishes.
- top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
+ top = np.where(hears.any(axis=1), table.max(axis=1, initial=0), 0)[:, None]
## the_largest_of_all: You subtract the largest score of the whole table, and the powers of some nodes all round to 0.
- table = np.where(hears > 0, scores, -np.inf)
- top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
+ top = scores.max()
## the_largest_of_a_row: The score that you subtract may be that of a stranger, and the powers of all neighbours round
to 0.
- table = np.where(hears > 0, scores, -np.inf)
- top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
- powers = hears * np.exp(np.minimum(scores - top, 0))
+ powers = hears * np.exp(scores - scores.max(axis=1, keepdims=True))
## over_those_who_hear: Your weights sum to 1 over those who hear a node; they should over those whom a node hears.
- top = np.where(hears.any(axis=1), table.max(axis=1), 0)[:, None]
+ top = np.where(hears.any(axis=0), table.max(axis=0), 0)
- total = powers.sum(axis=1, keepdims=True)
+ total = powers.sum(axis=0)
- return powers @ v / total
+ return powers / total @ v
## asked_the_wrong_way: Your queries and keys have changed places: the node that hears asks, its neighbours offer keys.
- scores = q @ k.T / np.sqrt(K)
+ scores = k @ q.T / np.sqrt(K)
## sum_of_messages: You add the messages up with weights that are not divided by their sum.
- return powers @ v / total
+ return powers @ v
## loops_on_top: You add a loop on top of one that is listed, and the node hears itself twice.
-     np.fill_diagonal(hears, 1)
- scores = q @ k.T / np.sqrt(K)
+     hears = hears + np.eye(N)
+ scores = q @ k.T / np.sqrt(q.shape[1])
""")
