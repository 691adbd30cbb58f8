"""Checks of exercise 14: sums of powers, windows shorter and longer than the text, blocks that nobody may see."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import close, draw_sizes, shape_slip
from clearformer.reference import attention

LIMIT = 1e-8  # of comparisons between two answers of the learner's


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if slip := shape_slip(array, shape, f"The array at position {place} of your result"):
            return slip
    return None


# exponent


def exponents(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)


def draw_lengths(rng, how_many):
    """Growing lengths whose ratios differ, so that no step is a doubling."""
    return np.cumprod(rng.uniform(1.3, 3.5, size=how_many)) * rng.uniform(5, 40)


def one_power(rng):
    cases = []
    for how_many in (*draw_sizes(rng, 2), 2):
        N = draw_lengths(rng, how_many)
        noise = np.exp(rng.normal(size=how_many) / 5)
        cases.append((N, rng.uniform(1e-4, 1e3) * N ** rng.uniform(0.4, 2.6) * noise))
    return cases


def sums_of_powers(rng):
    cases = []
    for how_many in draw_sizes(rng, 2):
        N = draw_lengths(rng, how_many)
        cases.append((N, rng.uniform(1, 9) * 1e3 + rng.uniform(1, 9) * N + rng.uniform(0.01, 1) * N**2))
    return cases


def units_do_not_matter(ask, rng):
    how_many = draw_sizes(rng, 1)[0]
    N = draw_lengths(rng, how_many)
    T = N**1.5 * np.exp(rng.normal(size=how_many) / 5)
    plain = ask(N, T)
    if not isinstance(plain, tuple | list) or len(plain) != 2 or np.ndim(plain[0]) != 0:
        return "The result should be a tuple of one number and one array."
    if slip := shape_slip(plain[1], (how_many - 1,), "The second result"):
        return slip
    for other, what in (((N, 1000 * T), "in milliseconds instead of seconds"), ((12 * N, T), "in other units")):
        found = ask(*other)
        moved = abs(found[0] - plain[0]) > LIMIT or not close(found[1], plain[1], LIMIT)
        if moved:
            return f"With {'costs' if what.startswith('in m') else 'lengths'} {what} your exponents are others."
    return None


# block


def block_flops(N, D, H, F, W):
    near = min(N, W)
    pairs = near * (near + 1) // 2 + (N - near) * near
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


def draw_block(rng, long):
    H, K = int(rng.choice([2, 3, 5])), int(rng.choice([4, 7, 11]))
    D = H * K
    W = int(rng.integers(10, 40))
    N = int(rng.integers(3 * W, 9 * W)) if long else int(rng.integers(2, W))
    return N, D, H, int(rng.integers(2 * D + 3, 6 * D)), W


def long_texts(rng):
    return [draw_block(rng, True), draw_block(rng, True)]


def short_texts(rng):
    N, D, H, F, _ = draw_block(rng, True)
    return [draw_block(rng, False), (1, D, H, F, 7), (N, D, H, F, 1), (N, D, H, F, N)]


def entries_right(*names):
    """A check of some entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        for long in (True, False, True):
            sizes = draw_block(rng, long)
            found, expected = ask(*sizes), block_flops(*sizes)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                came = found[name]
                if isinstance(came, bool) or not isinstance(came, int | float | np.number):
                    return f"Under {name!r} a number is expected."
                if came != expected[name]:
                    shown = ", ".join(f"{letter} = {size}" for letter, size in zip("NDHFW", sizes, strict=True))
                    return f"For {shown} your entry {name!r} is {came:,}, which is not right."
        return None

    return test


# cache


def cache_plan(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else budget // token


def draw_cache(rng, short):
    """M, D, H, G, W, b, B and N; the text is shorter or longer than the window."""
    G, share, K = (int(rng.choice(sizes)) for sizes in ([3, 5], [2, 4], [7, 16]))
    M, B = (int(rng.integers(*limits)) for limits in ((6, 40), (2, 9)))
    W = int(rng.integers(500, 4000))
    N = int(rng.integers(20, W)) if short else int(rng.integers(2 * W, 9 * W))
    return M, G * share * K, G * share, G, W, int(rng.choice([1, 2, 4])), B, N


def with_budget(rng, sizes, tokens):
    """A budget that holds so many tokens of every sequence, and a part of one more."""
    M, D, H, G, _, b, B, _ = sizes
    token = 2 * b * B * M * G * (D // H)
    return *sizes, token * tokens + int(rng.integers(1, token))


def few(rng, W):
    return int(rng.integers(W // 90 + 2, W // 12))


def short_of_the_window(rng):
    """Once the budget holds more than the text and less than the window."""
    sizes = draw_cache(rng, True)
    W = sizes[4]
    roomy = (*sizes[:7], int(rng.integers(20, W // 8)))
    poor = draw_cache(rng, True)
    return [with_budget(rng, roomy, int(rng.integers(W // 4, W // 2))), with_budget(rng, poor, few(rng, poor[4]))]


def beyond_the_window(rng):
    cases = []
    for rolls in (True, False, True):
        sizes = draw_cache(rng, False)
        tokens = sizes[4] + int(rng.integers(0, 50)) if rolls else few(rng, sizes[4])
        cases.append(with_budget(rng, sizes, tokens))
    M, D, H, G, W, b, B, N = draw_cache(rng, False)
    exact = 2 * b * B * M * G * (D // H) * W
    return [*cases, (M, D, H, G, W, b, B, N, exact), (M, D, H, G, W, b, B, N, exact - 1)]


def bytes_alone(ask, rng):
    """The first of the two numbers, so that it earns its points whatever the other is."""
    for short in (True, False):
        sizes = draw_cache(rng, short)
        args = with_budget(rng, sizes, few(rng, sizes[4]))
        found = ask(*args)
        if not isinstance(found, tuple | list) or len(found) != 2:
            return "The result should be a tuple of two numbers."
        if found[0] != cache_plan(*args)[0]:
            shown = ", ".join(f"{letter} = {size:,}" for letter, size in zip("MDHGWbBN", args[:8], strict=True))
            return (
                f"For {shown} you find {found[0]:,} bytes, which is not right; the longest text is not looked at here."
            )
    return None


# merge


def merge(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    base = np.where(np.isfinite(m), m, 0.0)
    s_1, s_2 = np.exp(m_1 - base), np.exp(m_2 - base)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


def summary(C, V):
    """m, l and O of one block; all three are those of an empty one where every score is −∞."""
    m = C.max(axis=0)
    e = np.exp(C - np.where(np.isfinite(m), m, 0.0))
    return m, e.sum(axis=0), V @ e


def draw_parts(rng, N=None, how_many=2, scale=1.0, hide=False):
    """Summaries of blocks for the same targets; with `hide` some targets see nothing of the first, second or both."""
    S, width, n_targets = draw_sizes(rng, 3)
    n_targets = N or n_targets
    parts = []
    for _ in range(how_many):
        C = scale * rng.normal(size=(S, n_targets))
        if hide:
            C[0, :] = -np.inf
        parts.append([C, rng.normal(size=(width, S))])
    if hide:
        parts[0][0][:, 0] = parts[1][0][:, 1] = -np.inf
        for C, _ in parts:
            C[:, 2] = -np.inf
    return [summary(*part) for part in parts]


def joined(rng, **settings):
    one, two = draw_parts(rng, **settings)
    return *one, *two


def ordinary_blocks(rng):
    return [joined(rng), joined(rng), joined(rng, N=1)]


def large_scores(rng):
    return [joined(rng, scale=30.0), joined(rng, scale=1e4)]


def hidden_blocks(rng):
    return [joined(rng, hide=True), joined(rng, hide=True, scale=1e3)]


def order_of_blocks(ask, rng):
    a, b, c = draw_parts(rng, how_many=3, scale=3.0)
    shapes = [part.shape for part in a]
    if slip := shapes_slip(ask(*a, *b), shapes):
        return slip
    one, other = ask(*a, *b), ask(*b, *a)
    if not all(close(x, y, LIMIT) for x, y in zip(one, other, strict=True)):
        return "Merged the other way round, two blocks give something else with your function."
    left, right = ask(*ask(*a, *b), *c), ask(*a, *ask(*b, *c))
    if not all(close(x, y, LIMIT * max(1.0, np.abs(y).max())) for x, y in zip(left, right, strict=True)):
        return "Of three blocks it should not matter which two are merged first; with your function it does."
    return None


def average_in_the_end(ask, rng):
    S, width, N = draw_sizes(rng, 3)
    C, V = 2 * rng.normal(size=(S, N)), rng.normal(size=(width, S))
    found = ask(*summary(C[:2], V[:, :2]), *summary(C[2:], V[:, 2:]))
    if slip := shapes_slip(found, ((N,), (N,), (width, N))):
        return slip
    A = np.exp(C) / np.exp(C).sum(axis=0)
    if not close(found[2] / found[1], V @ A, LIMIT):
        return "O divided by l should be the average of all values with the softmax of all scores; yours is not."
    return None


# blocks


def attend_in_blocks(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    N, S = Q.shape[1], K.shape[1]
    C = K.T @ Q / np.sqrt(len(Q))
    if causal:
        C = np.where(np.arange(S)[:, None] <= np.arange(N) + S - N, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


def draw_blocks(rng, causal, scale=1.0, n_targets=None):
    """A few blocks of different sizes, the first with the smallest scores."""
    width, V, N = draw_sizes(rng, 3, (4, 5, 7, 11))
    N = n_targets or N
    sizes = [3, 1, 2, int(rng.integers(4, 7))] + ([N] if causal else [])
    order = rng.permutation(len(sizes))
    Q = rng.normal(size=(width, N))
    blocks = []
    for place, i in enumerate(order):
        strength = scale * (0.6 + 0.3 * place)
        blocks.append((strength * rng.normal(size=(width, sizes[i])), rng.normal(size=(V, sizes[i]))))
    return Q, blocks, causal


def full_attention(rng):
    return [draw_blocks(rng, False), draw_blocks(rng, False, n_targets=1)]


def the_past_only(rng):
    return [draw_blocks(rng, True), draw_blocks(rng, True), draw_blocks(rng, True, n_targets=1)]


def huge_scores(rng):
    return [
        draw_blocks(rng, causal, scale) for causal, scale in ((False, 60.0), (True, 60.0), (False, 1e4), (True, 1e4))
    ]


def cuts_do_not_matter(ask, rng):
    for causal in (False, True):
        Q, blocks, _ = draw_blocks(rng, causal)
        found = ask(Q, blocks, causal)
        shapes = ((len(blocks[0][1]), Q.shape[1]), (Q.shape[1],))
        if slip := shapes_slip(found, shapes):
            return slip
        K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
        singles = [(K[:, [s]], V[:, [s]]) for s in range(K.shape[1])]
        for other, what in (([(K, V)], "in one block"), (singles, "one by one")):
            if not all(close(x, y, LIMIT) for x, y in zip(ask(Q, other, causal), found, strict=True)):
                return f"The same sources {what} should give the same result; yours changes with the cuts."
    return None


def outputs_alone(ask, rng):
    """Y without L, so that it earns its points whatever the logarithm is."""
    for causal in (False, True):
        args = draw_blocks(rng, causal)
        found = ask(*args)
        Y = attend_in_blocks(*args)[0]
        if not isinstance(found, tuple | list) or len(found) != 2:
            return "The result should be a tuple of 2 arrays."
        if not close(found[0], Y, LIMIT):
            kind = "Of the past alone" if causal else "Without a mask"
            return f"{kind}, your outputs are not those of attention over all blocks; L is not looked at here."
    return None


# rolling


def rolling_step(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    held = min(length + 1, W)
    y, _ = attention.attend(q[:, None], keys[:, :held], values[:, :held])
    return y[:, 0], keys, values


def draw_step(rng, length_of, scale=1.0, room=None):
    """A cache after some tokens; what stands in columns that were never used is anything."""
    width, V, W = draw_sizes(rng, 3)
    W = room or W
    k, q, v = scale * rng.normal(size=width), rng.normal(size=width), rng.normal(size=V)
    return k, v, q, scale * rng.normal(size=(width, W)), rng.normal(size=(V, W)), int(length_of(W))


def room_left(rng):
    return [
        draw_step(rng, lambda W: 0),
        draw_step(rng, lambda W: W - 2),
        draw_step(rng, lambda W: rng.integers(1, W - 2)),
        draw_step(rng, lambda W: W - 1),
    ]


def after_a_round(rng):
    return [
        draw_step(rng, lambda W: W),
        draw_step(rng, lambda W: 2 * W - 1),
        draw_step(rng, lambda W: 5 * W + rng.integers(1, W - 1)),
        draw_step(rng, lambda W: 7, room=1),
    ]


def strong_scores(rng):
    cases = [
        draw_step(rng, lambda W, rounds=rounds: rounds * W + 2, scale) for scale in (60.0, 1e4) for rounds in (0, 3)
    ]
    return cases


def a_whole_text(ask, rng):
    width, V, W = draw_sizes(rng, 3, (4, 5, 7))
    N = 3 * W + 2
    Q, K, values_in = rng.normal(size=(width, N)), rng.normal(size=(width, N)), rng.normal(size=(V, N))
    places = np.arange(N)
    seen = (places[:, None] <= places) & (places[:, None] > places - W)
    Y, _ = attention.attend(Q, K, values_in, seen)
    keys, values = 9 + rng.normal(size=(width, W)), 9 + rng.normal(size=(V, W))
    for n in range(N):
        found = ask(K[:, n], values_in[:, n], Q[:, n], keys, values, n)
        if slip := shapes_slip(found, ((V,), (width, W), (V, W))):
            return slip
        if not close(found[0], Y[:, n], LIMIT):
            before = "; those before it are" if n else ""
            return f"With a window of {W}, your output of token {n} is not that of attention with a window{before}."
        keys, values = found[1], found[2]
    return None


# paged


def paged_attend(Q, pool_K, pool_V, tables, lengths):
    heads, groups = Q.shape[1], pool_K.shape[1]
    Y = np.zeros((len(Q), heads, pool_V.shape[2]))
    for i, (table, length) in enumerate(zip(tables, lengths, strict=True)):
        K, V = (np.concatenate(list(pool[table]), axis=2)[:, :, :length] for pool in (pool_K, pool_V))
        for h in range(heads):
            g = h // (heads // groups)
            Y[i, h] = attention.attend(Q[i, h][:, None], K[g], V[g])[0][:, 0]
    return Y


def draw_pool(rng, groups, share, scale=1.0, shared=False, full=False, sequences=None, old=False):
    """A pool of pages in which sequences lie scattered; unused places hold NaN, or numbers of old if `old`."""
    K, V, R = draw_sizes(rng, 3, (4, 5, 7, 9))
    B = sequences or 3
    lengths = [int(rng.integers(1, 3)) * R + (0 if full else int(rng.integers(1, R))) for _ in range(B)]
    if not full:
        lengths[0] = int(rng.integers(1, R))
    wanted = [-(-length // R) for length in lengths]
    pages = rng.permutation(sum(wanted) + 2).tolist()
    tables = []
    for n_pages in wanted:
        tables.append([pages.pop() for _ in range(n_pages)])
    pool_K, pool_V = (np.full((sum(wanted) + 2, groups, size, R), np.nan) for size in (K, V))
    if shared:  # the last sequence begins with the page of the one before
        tables[-1][0], lengths[-2] = tables[-2][0], max(lengths[-2], R)
    for table, length in zip(tables, lengths, strict=True):
        for place, page in enumerate(table):
            filled = min(R, length - place * R)
            for pool, factor in ((pool_K, scale), (pool_V, 1.0)):
                new = np.isnan(pool[page, 0, 0, :filled])
                drawn = factor * rng.normal(size=(groups, pool.shape[2], filled))
                pool[page, :, :, :filled] = np.where(new, drawn, pool[page, :, :, :filled])
    if old:
        for pool in (pool_K, pool_V):
            pool[:] = np.where(np.isnan(pool), rng.normal(size=pool.shape), pool)
    return rng.normal(size=(B, groups * share, K)), pool_K, pool_V, tables, lengths


def own_heads(rng):
    return [draw_pool(rng, 1, 1, old=True), draw_pool(rng, 3, 1), draw_pool(rng, 2, 1, full=True)]


def shared_keys(rng):
    return [draw_pool(rng, 2, 3, old=True), draw_pool(rng, 3, 2), draw_pool(rng, 1, 4, sequences=1)]


def shared_pages(rng):
    return [draw_pool(rng, 2, 2, shared=True, old=True), draw_pool(rng, 1, 3, shared=True)]


def strong_keys(rng):
    return [draw_pool(rng, 2, 3, scale, old=True) for scale in (60.0, 1e4)]


def moving_house(ask, rng):
    """The pages may lie anywhere in the pool."""
    Q, pool_K, pool_V, tables, lengths = draw_pool(rng, 2, 2, old=True)
    found = ask(Q, pool_K, pool_V, tables, lengths)
    if slip := shape_slip(found, (len(Q), Q.shape[1], pool_V.shape[2])):
        return slip
    new = rng.permutation(len(pool_K))
    order = np.argsort(new)
    moved = [[int(new[page]) for page in table] for table in tables]
    if not close(ask(Q, pool_K[order], pool_V[order], moved, lengths), found, LIMIT):
        return "When the pages move to other places of the pool, and the tables with them, your outputs change."
    other_way = list(reversed(range(len(Q))))
    turned = ask(Q[other_way], pool_K, pool_V, [tables[i] for i in other_way], [lengths[i] for i in other_way])
    if not close(turned, found[other_way], LIMIT):
        return "With the sequences in another order, their outputs should be the same in that order; yours are not."
    return None


EXERCISE = Exercise(
    slug="14-cost",
    title="Cost and long sequences",
    chapter="chapters/14-cost",
    questions=(
        Question(
            id="exponent",
            title="Exponents from measurements",
            name="exponents",
            minutes=10,
            difficulty=1,
            checks=(
                equals("one power", 4, one_power, exponents),
                equals("sums of powers", 3, sums_of_powers, exponents),
                holds("units do not matter", 3, units_do_not_matter),
            ),
            hints=(
                "A power law is a straight line once you have taken the logarithm. Of which of the two?",
                "Both results are slopes of the same picture: one of the line that fits all points best, one for each "
                "pair of neighbours. A slope is a rise divided by a run.",
                "`np.polyfit(x, y, 1)` gives slope and intercept, in this order. For the neighbours divide the "
                "differences of one list by those of the other; the lengths need not double.",
            ),
            section="what-grows-and-how-fast",
        ),
        Question(
            id="block",
            title="The operations of a block with a window",
            name="block_flops",
            minutes=15,
            difficulty=2,
            checks=(
                holds("what every token does alone", 3, entries_right("projections", "feed-forward")),
                holds("pairs", 4, entries_right("pairs", "scores and averages")),
                holds("overtakes", 3, entries_right("overtakes")),
                equals("all five, long texts", 2, long_texts, block_flops),
                equals("all five, short texts", 2, short_texts, block_flops),
            ),
            hints=(
                "A product of a p×q and a q×r matrix takes 2pqr operations. List the products of the block, and beside "
                "each the sizes; which of the arguments never appears?",
                "Draw the pairs as a triangle for a text shorter than the window. What does the picture become when "
                "the text goes on?",
                "For the last entry write down the inequality for N tokens and N² pairs, and divide by what both sides "
                "share. Take the first whole number for which it is true, not the one for which both are equal.",
            ),
            section="a-window",
        ),
        Question(
            id="cache",
            title="A plan for the cache",
            name="cache_plan",
            minutes=12,
            difficulty=2,
            checks=(
                holds("bytes", 5, bytes_alone),
                equals("texts shorter than the window", 3, short_of_the_window, cache_plan, dtype="int"),
                equals("texts beyond the window", 4, beyond_the_window, cache_plan, dtype="int"),
            ),
            hints=(
                "Begin with one token of one sequence in one layer: how many numbers are kept of it, and for how many "
                "heads?",
                "Everything else multiplies: layers, sequences, bytes, and the tokens that are kept. Which of these "
                "stops growing at some point?",
                "For the second result ask first whether the budget holds a full window of all sequences. If it does "
                "not, divide it by what one more token costs, and think about the rest of the division.",
            ),
            section="a-budget-for-the-cache",
        ),
        Question(
            id="merge",
            title="Merge two partial results",
            name="merge",
            minutes=15,
            difficulty=2,
            checks=(
                equals("ordinary blocks", 4, ordinary_blocks, merge),
                equals("large scores", 2, large_scores, merge),
                equals("hidden blocks", 4, hidden_blocks, merge),
                holds("order of the blocks", 2, order_of_blocks),
                holds("the average in the end", 2, average_in_the_end),
            ),
            hints=(
                "Each part measured its exponentials from its own largest score. To which common score can both be "
                "brought without the danger of an overflow?",
                "One factor for each part and target does it, and the factor is the same for l and for O. Along which "
                "axis of O do the targets lie?",
                "If both parts are empty, the larger of the two maxima is −∞ as well, and −∞ minus −∞ is not defined. "
                "Subtract something finite there; the factors of an empty part have to come out as 0.",
            ),
            section="what-to-remember-of-a-block",
        ),
        Question(
            id="blocks",
            title="Attention in blocks",
            name="attend_in_blocks",
            minutes=20,
            difficulty=3,
            checks=(
                holds("outputs alone", 4, outputs_alone),
                equals("all sources", 3, full_attention, attend_in_blocks),
                equals("the past only", 3, the_past_only, attend_in_blocks),
                equals("huge scores", 3, huge_scores, attend_in_blocks),
                holds("cuts do not matter", 3, cuts_do_not_matter),
            ),
            hints=(
                "Write a function for the summary of one block, m, l and O for all targets, and let your `merge` do "
                "the rest. What is the summary of no source at all?",
                "For the mask you need the number of a source in the whole text, so count the sources of the blocks "
                "that have gone by. And the targets are the last N of all S tokens.",
                "A block that lies wholly in the future of a target has the maximum −∞: give it the sums 0 before "
                "anything is subtracted. L is the maximum plus the logarithm of l, and a maximum alone is not enough.",
            ),
            section="merging-is-attention",
        ),
        Question(
            id="rolling",
            title="Repair the rolling cache",
            name="rolling_step",
            minutes=20,
            difficulty=2,
            checks=(
                equals("room left", 4, room_left, rolling_step),
                equals("after a round", 4, after_a_round, rolling_step),
                equals("strong scores", 2, strong_scores, rolling_step),
                holds("a whole text", 4, a_whole_text),
            ),
            hints=(
                "The table of the experiment says at which token it goes wrong for the first time. Something is wrong "
                "from the first token on, something else only later.",
                "In which column does token number `length` belong, when the first token has number 0? And how many "
                "columns hold a token once it is stored?",
                "A column that was never used holds a number all the same, and a softmax gives weight to every score "
                "it is shown. Cut keys and values before you compute scores, and work on copies.",
            ),
            section="a-cache-that-rolls",
        ),
        Question(
            id="paged",
            title="Stretch: a cache in pages",
            name="paged_attend",
            minutes=25,
            difficulty=3,
            checks=(
                equals("heads with keys of their own", 5, own_heads, paged_attend),
                equals("shared keys", 4, shared_keys, paged_attend),
                equals("shared pages", 3, shared_pages, paged_attend),
                equals("strong keys", 2, strong_keys, paged_attend),
                holds("moving house", 4, moving_house),
            ),
            hints=(
                "Take one sequence and one head. Which pages belong to it, in which order, and how many places of the "
                "last one are in use?",
                "Lay the pages of a sequence side by side, along the axis of the tokens, and cut off what lies beyond "
                "its length, before any number is used. Nothing times NaN is 0.",
                "The H heads come in G groups of neighbours: the first H / G heads use group 0. Find the group of head "
                "h with a whole-number division, and check it with three heads in each of two groups.",
            ),
            section="keys-fetched-once",
        ),
    ),
)
