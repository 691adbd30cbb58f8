"""Checks of exercise 16: graphs with nodes that hear nobody, gates that forget everything, chunks of any length."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import close, draw_sizes, shape_slip


def parts_slip(value, *shapes):
    """A sentence when the value is no tuple of arrays of these shapes; () stands for one number."""
    if not isinstance(value, tuple | list) or len(value) != len(shapes):
        return f"The result should be a tuple of {len(shapes)}."
    for place, (part, shape) in enumerate(zip(value, shapes, strict=True)):
        if shape and (slip := shape_slip(part, shape, f"Part {place} of the result")):
            return slip
        if not shape and np.ndim(part):
            return f"Part {place} of the result should be one number."
    return None


def part_right(place, draw, reference, shapes):
    """A check of one part of a result, so that it earns its points whatever the others are."""

    def test(ask, rng):
        for args in draw(rng):
            came = ask(*args)
            if slip := parts_slip(came, *shapes(*args)):
                return slip
            expected = reference(*args)[place]
            if not np.allclose(came[place], expected, rtol=0, atol=1e-9 * max(1.0, float(np.abs(expected).max()))):
                return f"Part {place} of your result, counted from 0, is not right."
        return None

    return test


# graph


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
    return [draw_graph(rng, factor=40.0), draw_graph(rng, False, factor=1e4)]


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


# gated


def gated_reference(x, gamma, W_gate, W_in, W_out, eps):
    """Token by token, hidden unit by hidden unit."""
    y = np.empty_like(x)
    for n, token in enumerate(x):
        normed = gamma * token / np.sqrt(sum(token**2) / len(token) + eps)
        hidden = []
        for to_gate, to_value in zip(W_gate, W_in, strict=True):
            z = float(to_gate @ normed)
            gate = z / (1 + np.exp(-z)) if z > -700 else 0.0
            hidden.append(gate * float(to_value @ normed))
        y[n] = token + W_out @ np.array(hidden)
    return y, (W_gate.size + W_in.size + W_out.size) // (2 * len(gamma))


def draw_gated(rng, factor=1.0, eps=1e-5, steep=1.0, n_tokens=None):
    N, D, F = draw_sizes(rng, 3)
    N = n_tokens or N
    W_gate, W_in, W_out = (rng.normal(size=shape) / np.sqrt(shape[1]) for shape in ((F, D), (F, D), (D, F)))
    x = factor * (rng.normal(size=(N, D)) + 0.7)
    return x, rng.uniform(0.5, 2, size=D), steep * W_gate, W_in, W_out, eps


def ordinary_layers(rng):
    return [draw_gated(rng), draw_gated(rng), draw_gated(rng, n_tokens=1)]


def extreme_layers(rng):
    """ε as large as the tokens, tokens like 10 000, gates that are open or shut."""
    return [draw_gated(rng, eps=0.1, factor=0.3), draw_gated(rng, factor=1e4), draw_gated(rng, steep=2e3)]


def gated_shapes(x, *rest):
    return x.shape, ()


# experts


def experts_reference(logits, outputs, k, renormalise):
    """Token by token."""
    N, E = logits.shape
    y, counts, mean = np.zeros((N, outputs.shape[2])), np.zeros(E), np.zeros(E)
    for n in range(N):
        powers = np.exp(logits[n] - max(logits[n]))
        p = powers / sum(powers)
        chosen = sorted(range(E), key=lambda e: -logits[n, e])[:k]
        total = sum(p[e] for e in chosen) if renormalise else 1.0
        for e in chosen:
            y[n] += p[e] / total * outputs[n, e]
            counts[e] += 1 / (k * N)
        mean += p / N
    return y, float(E * sum(counts * mean))


def draw_tokens(rng, k, renormalise, factor=1.0, n_tokens=None):
    """Some experts are liked more than others."""
    N, E, D = draw_sizes(rng, 3)
    N = n_tokens or N
    logits = factor * (rng.normal(size=(N, E)) + 0.8 * rng.normal(size=E))
    return logits, rng.normal(size=(N, E, D)), k, renormalise


def plain_factors(rng):
    return [draw_tokens(rng, 2, False), draw_tokens(rng, 1, False), draw_tokens(rng, 3, False)]


def divided_factors(rng):
    return [draw_tokens(rng, 2, True), draw_tokens(rng, 3, True), draw_tokens(rng, 1, True)]


def sharp_routers(rng):
    cases = [draw_tokens(rng, 2, False, factor=30.0), draw_tokens(rng, 1, True, factor=1e4)]
    return [*cases, draw_tokens(rng, 2, True, n_tokens=1)]


def experts_shapes(logits, outputs, k, renormalise):
    return (len(outputs), outputs.shape[2]), ()


# museum


def phi(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_reference(q, k, v):
    """Pair by pair."""
    y = np.zeros_like(v)
    for n in range(len(q)):
        weights = [sum(phi(k[s]) * phi(q[n])) for s in range(n + 1)]
        y[n] = sum(weight * v[s] for s, weight in enumerate(weights)) / sum(weights)
    return y


def draw_sequence(rng, factor=1.0, shift=0.0, n_tokens=None):
    N, K, V = draw_sizes(rng, 3)
    N = n_tokens or N
    return rng.normal(size=(N, K)) + shift, rng.normal(size=(N, K)) + shift, factor * rng.normal(size=(N, V))


def ordinary_sequences(rng):
    return [draw_sequence(rng), draw_sequence(rng), draw_sequence(rng, factor=1e4)]


def faint_sequences(rng):
    """Features that are nearly 0, features in the hundreds, one token."""
    cases = [draw_sequence(rng, shift=-30.0), draw_sequence(rng, shift=900.0)]
    return [*cases, draw_sequence(rng, n_tokens=1)]


def an_average_of_the_past(ask, rng):
    q, k, v = draw_sequence(rng)
    before = ask(q, k, v)
    if slip := shape_slip(before, v.shape):
        return slip
    if not close(before[0], v[0]):
        return "The first token has only itself to look at, so its output is its value; yours is something else."
    if not close(ask(q, k, np.ones_like(v)), np.ones_like(v)):
        return "Where all values are 1 every average is 1; your outputs are not, so your weights do not sum to 1."
    later = v.copy()
    later[-1] += 1.0
    if not close(ask(q, k, later)[:-1], before[:-1]):
        return "The last value was changed, and earlier outputs of yours change with it."
    if not close(ask(q[:2], k[:2], v[:2]), before[:2]):
        return "The first two tokens alone should give the same outputs as at the start of the text; yours differ."
    if (ask(q, k, np.eye(len(k))[:, :3]) < -1e-12).any():
        return "A weight of yours is negative."
    return None


# space


def space_reference(x, a, b, c, h0):
    """The recurrence, one number of state at a time."""
    N, (D, R) = len(x), a.shape
    kernel, y, last = np.zeros((D, N)), np.zeros((N, D)), np.zeros((D, R))
    for d, r in np.ndindex(D, R):
        h, once = h0[d, r], b[d, r]
        for n in range(N):
            h = a[d, r] * h + b[d, r] * x[n, d]
            y[n, d] += c[d, r] * h
            kernel[d, n] += c[d, r] * once
            once *= a[d, r]
        last[d, r] = h
    return kernel, y, last


def draw_space(rng, start=True, n_tokens=None, factor=1.0):
    """Factors of both signs, and one of them 0."""
    N, D, R = draw_sizes(rng, 3)
    N = n_tokens or N
    a = rng.uniform(0.3, 0.98, size=(D, R)) * rng.choice([-1, 1], size=(D, R), p=[0.3, 0.7])
    a[1, 2] = 0.0
    b, c = rng.normal(size=(2, D, R))
    return factor * rng.normal(size=(N, D)), a, b, c, start * rng.normal(size=(D, R))


def from_a_state(rng):
    return [draw_space(rng), draw_space(rng, factor=1e4), draw_space(rng, n_tokens=1)]


def several_spaces(rng):
    return [draw_space(rng), draw_space(rng, start=False), draw_space(rng, n_tokens=1)]


def from_zeros(rng):
    return [draw_space(rng, False), draw_space(rng, False, n_tokens=1)]


def space_shapes(x, a, *rest):
    return (len(a), len(x)), x.shape, a.shape


def handed_on(ask, rng):
    x, a, b, c, h0 = draw_space(rng, n_tokens=11)
    whole = ask(x, a, b, c, h0)
    if slip := parts_slip(whole, *space_shapes(x, a)):
        return slip
    for cut in (1, 4):
        first = ask(x[:cut], a, b, c, h0)
        if slip := parts_slip(first, *space_shapes(x[:cut], a)):
            return slip
        rest = ask(x[cut:], a, b, c, first[2])
        if slip := parts_slip(rest, *space_shapes(x[cut:], a)):
            return slip
        if not close(np.concatenate([first[1], rest[1]]), whole[1]):
            return f"Cut after token {cut}, with the state handed on, your outputs are not those of the whole text."
        if not close(rest[2], whole[2]):
            return f"Cut after token {cut}, with the state handed on, your last state is not that of the whole text."
    if not close(first[0], whole[0][:, :cut]):
        return "The kernel of a shorter text is the beginning of the kernel of a longer one; yours is not."
    return None


# chunks


def chunks_reference(q, k, v, g, size):
    """Pair by pair, with the product of the gates in between."""
    N, V = v.shape
    numerator, inside, denominator = np.zeros((N, V)), np.zeros((N, V)), np.zeros(N)
    state = np.zeros((V, k.shape[1]))
    for n in range(N):
        state = g[n] * state + np.outer(v[n], k[n])
        for s in range(n + 1):
            weight = np.prod(g[s + 1 : n + 1]) * sum(k[s] * q[n])
            numerator[n] += weight * v[s]
            denominator[n] += weight
            if s // size == n // size:
                inside[n] += weight * v[s]
    return numerator / denominator[:, None], inside, state


def draw_chunks(rng, size, n_tokens=None, gates=(0.4, 1.0), forget=(), factor=1.0):
    N, K, V = draw_sizes(rng, 3)
    N = n_tokens or N
    K, V = draw_sizes(rng, 2, [s for s in (5, 7, 9, 11, 13, 17) if s != N])
    g = rng.uniform(*gates, size=N)
    g[list(forget)] = 0.0
    q, k = rng.uniform(0.1, 2, size=(2, N, K))
    return q, k, factor * rng.normal(size=(N, V)), g, size


def several_chunks(rng):
    return [draw_chunks(rng, 4, 13), draw_chunks(rng, 3, 11), draw_chunks(rng, 5, 13, factor=1e4)]


def chunks_of_any_length(rng):
    """One chunk, chunks of one token, a chunk that is longer than the text, one token."""
    return [draw_chunks(rng, 11, 11), draw_chunks(rng, 1, 7), draw_chunks(rng, 20, 9), draw_chunks(rng, 2, 1)]


def strong_gates(rng):
    """Gates of 0, and gates so small that a product of all of them is 0 in float64."""
    cases = [draw_chunks(rng, 4, 13, forget=(2, 6)), draw_chunks(rng, 5, 11, forget=(0, 5))]
    return [*cases, draw_chunks(rng, 13, 13, gates=(1e-60, 1e-40))]


def chunks_shapes(q, k, v, g, size):
    return v.shape, v.shape, (v.shape[1], k.shape[1])


def the_cut_does_not_matter(ask, rng):
    q, k, v, g, _ = draw_chunks(rng, 4, 13)
    whole = ask(q, k, v, g, 13)
    if slip := parts_slip(whole, *chunks_shapes(q, k, v, g, 13)):
        return slip
    for size in (1, 3, 6):
        came = ask(q, k, v, g, size)
        if slip := parts_slip(came, *chunks_shapes(q, k, v, g, size)):
            return slip
        if not close(came[0], whole[0]):
            return f"In chunks of {size} your outputs are not those of one chunk of all tokens."
        if not close(came[2], whole[2]):
            return f"In chunks of {size} your last state is not that of one chunk of all tokens."
        later = v.copy()
        later[-1] += 1.0
        if not close(ask(q, k, later, g, size)[0][:-1], came[0][:-1]):
            return "The last value was changed, and earlier outputs of yours change with it."
    return None


EXERCISE = Exercise(
    slug="16-what-comes-after",
    title="What comes after",
    chapter="chapters/16-what-comes-after",
    questions=(
        Question(
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
            section="a-graph-is-a-mask",
        ),
        Question(
            id="gated",
            title="Two switches in one layer: RMSNorm and SwiGLU",
            name="gated_layer",
            minutes=12,
            difficulty=1,
            checks=(
                equals("layer and width", 4, ordinary_layers, gated_reference),
                holds("the layer alone", 4, part_right(0, ordinary_layers, gated_reference, gated_shapes)),
                equals("large ε, large tokens, steep gates", 3, extreme_layers, gated_reference),
                holds("the width alone", 3, part_right(1, ordinary_layers, gated_reference, gated_shapes)),
            ),
            hints=(
                "Three steps: norm, gated network, residual. Which of the three sees the token as it came?",
                "RMSNorm divides by the root of the mean of squares, with ε under the root, and takes no mean away. "
                "Of the two matrices that read the token only one has an activation behind it.",
                "Count the numbers of three matrices of D times F, and ask how wide a layer with two matrices may be.",
            ),
            section="five-switches",
        ),
        Question(
            id="experts",
            title="A router and its load",
            name="mixture",
            minutes=16,
            difficulty=2,
            checks=(
                equals("factors as they are", 5, plain_factors, experts_reference),
                equals("factors divided by their sum", 4, divided_factors, experts_reference),
                equals("a sharp router, one token", 3, sharp_routers, experts_reference),
                holds("the sum alone", 3, part_right(0, divided_factors, experts_reference, experts_shapes)),
                holds("the loss alone", 3, part_right(1, plain_factors, experts_reference, experts_shapes)),
            ),
            hints=(
                "Make a table of tokens and experts that is 1 where an expert was chosen and 0 elsewhere. Both parts "
                "of the result can be read off that table and the probabilities.",
                "The probabilities are a softmax over all experts, before anyone is chosen. Dividing the factors "
                "changes the sum, and says nothing about the loss.",
                "In the loss one of the two shares is a count and the other a mean of probabilities. Each of them "
                "sums to 1 over the experts: check that with your numbers.",
            ),
            section="a-mixture-of-experts",
        ),
        Question(
            id="museum",
            title="Repair the museum piece: one token after another",
            name="running_attention",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 6, ordinary_sequences, linear_reference),
                equals("faint and strong features, one token", 4, faint_sequences, linear_reference),
                holds("an average of the past", 5, an_average_of_the_past),
            ),
            hints=(
                "Do the first token by hand with the museum piece. What is in the state when it is read, and what "
                "should be?",
                "Two things are summed up over the past, one for the numerator and one for the denominator. Follow "
                "each of them through the loop for three tokens.",
                "The feature map has two branches that meet where its argument is 0. Compare both with the equation "
                "of the chapter, and the denominator, too: it contains nothing but features.",
            ),
            section="attention-that-fits-into-a-state",
        ),
        Question(
            id="space",
            title="A state space and its kernel",
            name="state_and_kernel",
            minutes=12,
            difficulty=2,
            checks=(
                equals("from zeros", 4, from_zeros, space_reference),
                equals("from a state", 4, from_a_state, space_reference),
                holds("the kernel alone", 3, part_right(0, several_spaces, space_reference, space_shapes)),
                holds("handed on", 5, handed_on),
            ),
            hints=(
                "Outputs and last state come from a loop over the tokens. For the kernel ask what a single 1 at the "
                "start of a long row of zeros leaves behind.",
                "The token itself, 0 steps back, has not faded at all. The state that you are given has faded once "
                "already when the first output is read.",
                "Each of the R numbers of a state has a power of its own factor; the sum over them comes last. And a "
                "factor may be 0 or negative, so leave logarithms out.",
            ),
            section="a-state-space-in-a-page",
        ),
        Question(
            id="chunks",
            title="Stretch: linear attention that forgets, in chunks",
            name="chunked_attention",
            minutes=23,
            difficulty=3,
            checks=(
                equals("several chunks", 6, several_chunks, chunks_reference),
                equals("chunks of any length", 4, chunks_of_any_length, chunks_reference),
                equals("gates that forget everything", 4, strong_gates, chunks_reference),
                holds("inside alone", 3, part_right(1, several_chunks, chunks_reference, chunks_shapes)),
                holds("the cut does not matter", 3, the_cut_does_not_matter),
            ),
            hints=(
                "Write down what one pair of tokens s ≤ n contributes to the numerator of n: which gates stand "
                "between them? Then ask for which pairs both are in the same chunk.",
                "Inside a chunk you need a table of products of gates. What came before the chunk reaches token n "
                "through one state, which all gates of the chunk up to n have weakened.",
                "A quotient of two running products fails as soon as a gate is 0. A product can also be built up row "
                "by row: the row of the next token is the row before, times one gate, and a 1 on the diagonal.",
            ),
            section="attention-that-fits-into-a-state",
        ),
    ),
)
