"""Exercise 17, question reads: the bytes that one more token reads in a model of several kinds of layers."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def bytes_read(full, window, state, lengths, G, K, W, H):
    """Layer by layer, token by token, number by number."""
    found = []
    for n in lengths:
        numbers = 0
        for _ in range(full):
            numbers += sum(2 * G * K for _ in range(int(n)))
        for _ in range(window):
            numbers += sum(2 * G * K for s in range(int(n)) if n - s <= W)
        numbers += state * H * K**2
        found.append(2 * numbers)
    n = 1
    while 2 * G * K * n <= H * K**2:
        n += 1
    return np.array(found), n


def drawn(rng, full, window, state, lengths, sizes=None):
    G, K, W, H = sizes or (int(rng.choice([2, 3])), int(rng.choice([8, 12])), int(rng.integers(20, 40)), 7)
    return full, window, state, np.array(lengths), G, K, W, H


def one_kind(rng):
    return [
        drawn(rng, 5, 0, 0, (3, 11, 70)),
        drawn(rng, 0, 6, 0, (90, 57, 43)),
        drawn(rng, 0, 0, 7, (5, 19, 200, 1)),
    ]


def hybrids(rng):
    return [
        drawn(rng, 3, 0, 9, (2, 60, 130, 31)),
        drawn(rng, 2, 5, 11, (100, 64, 210)),
        drawn(rng, 4, 12, 0, (77, 150), (2, 16, 21, 5)),
    ]


def short_texts(rng):
    """Texts shorter than the window, as long as it, and one longer; one token."""
    W, w = int(rng.integers(20, 40)), int(rng.integers(6, 12))
    lengths = (1, W - 1, W, W + 1, W // 2)
    return [drawn(rng, 1, 3, 2, lengths, (2, 6, W, 5)), drawn(rng, 0, 4, 0, (1, w + 1, w, w - 1), (3, 5, w, 2))]


def where_they_cross(rng):
    """Sizes for which both are equal at some length, and others; a single token that reads more than a state."""
    sizes = (2, 16, 20, 8), (4, 10, 20, 16), (3, 7, 20, 5), (2, 9, 20, 6), (5, 4, 30, 2), (1, 12, 15, 5)
    return [drawn(rng, 2, 1, 6, rng.integers(5, 60, size=2), size) for size in sizes]


QUESTION = Question(
    id="reads",
    title="What one more token reads",
    name="bytes_read",
    minutes=12,
    difficulty=1,
    checks=with_battery(
        equals("one kind of layer", 3, one_kind, bytes_read, parts=(0,)),
        equals("hybrids", 3, hybrids, bytes_read, parts=(0,)),
        equals("short texts", 2, short_texts, bytes_read, parts=(0,)),
        equals("where they cross", 4, where_they_cross, bytes_read, parts=(1,)),
        more={"boundary": in_cases_of("short texts")},
        off={"ids": "the numbers are lengths of texts, which are int64, and no ids"},
    ),
    hints=(
        "Three numbers first: what one layer of each kind reads for token n. Only one of them grows without end.",
        "A window reads no more than W tokens, and no more than there are. A state is a table of K × K for each of its "
        "heads, whatever n is.",
        "*More than* is not *at least*: where the two are equal, the full layer does not read more yet. Take whole "
        "numbers with `//`.",
    ),
    section="what-must-be-read",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(full, window, state, lengths, G, K, W, H):
    token = 2 * G * K
    numbers = full * token * lengths + window * token * np.minimum(lengths, W) + state * H * K * K
    return 2 * numbers, H * K * K // token + 1


@right
def token_by_token(full, window, state, lengths, G, K, W, H):
    token, fixed = 2 * G * K, state * H * K**2
    told = [2 * (full * token * int(n) + window * token * min(int(n), W) + fixed) for n in lengths]
    first = 1
    while first * token <= H * K**2:
        first += 1
    return np.array(told), first


@right
def with_floats(full, window, state, lengths, G, K, W, H):
    seen = np.where(lengths > W, W, lengths)
    cache = 4.0 * G * K * (full * lengths + window * seen)
    return (cache + 2.0 * state * H * K**2).astype(int), int(np.floor(H * K / (2 * G))) + 1


wrong.edits("""
# as_often_written
## keys_alone: You count the keys alone; the values are read, too.
- token = 2 * G * K
+ token = G * K
## heads_for_groups: A layer of attention keeps keys and values of its G groups, not of H heads.
+ token = 2 * H * K
## numbers_for_bytes: You count numbers; each takes two bytes.
- return 2 * numbers, H * K * K // token + 1
+ return numbers, H * K * K // token + 1
## window_not_cut: Your windows read the whole text; they read no more than W tokens.
- numbers = full * token * lengths + window * token * np.minimum(lengths, W) + state * H * K * K
+ numbers = full * token * lengths + window * token * lengths + state * H * K * K
## window_always_full: Your windows read W tokens even of a shorter text.
+ numbers = full * token * lengths + window * token * (W + 0 * lengths) + state * H * K * K
## window_with_itself_beside: Your windows read W tokens and the token itself; it is one of the W.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W + 1) + state * H * K * K
## window_one_short: Your windows read W − 1 tokens; they read W, the token itself among them.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W - 1) + state * H * K * K
## window_without_itself: Your windows leave the token itself out; it is one of those that they read.
+ numbers = full * token * lengths + window * token * np.minimum(lengths - 1, W) + state * H * K * K
## itself_left_out: You leave the token itself out: token n reads n tokens.
+ numbers = full * token * (lengths - 1) + window * token * np.minimum(lengths - 1, W) + state * H * K * K
## state_of_a_vector: Your state has K numbers for each head; it is a table of K × K.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W) + state * H * K
## one_table_for_all: You count one table for all heads; each of the H heads has its own.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W) + state * K * K
## state_of_groups: Your state has a table for each of G groups; it has one for each of H heads.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W) + state * G * K * K
## state_grows: Your state grows with the text; its size stays.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W) + state * H * K * K * lengths
## state_forgotten: The layers with a state read nothing in your count.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W)
## state_twice: You count the state twice; there is one table, in which keys and values are one.
+ numbers = full * token * lengths + window * token * np.minimum(lengths, W) + 2 * state * H * K * K
## all_full: You count every layer as full.
+ numbers = (full + window + state) * token * lengths
## one_layer_each: You count one layer of each kind; there are `full`, `window` and `state` of them.
+ numbers = (full > 0) * token * lengths + (window > 0) * token * np.minimum(lengths, W) + (state > 0) * H * K * K
## added_up: You add up what all tokens before have read as well; the question is what one more token reads.
+ numbers = full * token * lengths * (lengths + 1) // 2 + window * token * np.minimum(lengths, W) + state * H * K * K
## at_least: Where both read the same your full layer counts as reading more.
- return 2 * numbers, H * K * K // token + 1
+ return 2 * numbers, -(-H * K * K // token)
## last_of_less: You give the last length at which the full layer reads no more; the question is the first at which it
does.
+ return 2 * numbers, H * K * K // token
## a_quotient: Your length is not a whole number of tokens.
+ return 2 * numbers, H * K * K / token
## keys_cross_alone: For the crossing you count the keys alone; a full layer reads keys and values.
+ return 2 * numbers, H * K * K // (G * K) + 1
## layers_in_the_crossing: The crossing is that of one layer with one layer; the numbers of layers play no part.
+ return 2 * numbers, max(state, 1) * H * K * K // (max(full, 1) * token) + 1
""")
