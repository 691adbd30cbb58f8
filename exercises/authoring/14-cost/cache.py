"""Exercise 14, question cache: a plan for the cache."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds


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


QUESTION = Question(
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
        "Begin with one token of one sequence in one layer: how many numbers are kept of it, and for how many heads?",
        "Everything else multiplies: layers, sequences, bytes, and the tokens that are kept. Which of these "
        "stops growing at some point?",
        "For the second result ask first whether the budget holds a full window of all sequences. If it does "
        "not, divide it by what one more token costs, and think about the rest of the division.",
    ),
    section="a-budget-for-the-cache",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def token_by_token(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    longest = budget // token
    return token * min(N, W), longest if longest < W else 0


@right
def window_first(M, D, H, G, W, b, B, N, budget):
    numbers = M * 2 * G * D // H
    full_window = b * B * numbers * W
    kept = N if N < W else W
    if budget >= full_window:
        return kept * b * B * numbers, 0
    return kept * b * B * numbers, int(budget / (b * B * numbers))


@right
def with_an_array(M, D, H, G, W, b, B, N, budget):
    layer = np.empty((2, G, D // H), dtype=np.int8)
    each = layer.size * M * B * b
    longest = 0
    if budget < each * W:
        longest, _ = divmod(budget, each)
    return int(np.minimum(N, W)) * each, longest


wrong.edits("""
# token_by_token
## a_set_for_each_head: You keep keys and values for every head; there are only G sets of them.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * B * M * D
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## keys_alone: You keep the keys and forget the values, or the other way round.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = b * B * M * G * (D // H)
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## groups_of_full_width: You give each group the full width D; a head is D/H wide.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * B * M * G * D
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## width_of_a_group: You divide the width among the groups; the width of a key is that of a head, D/H.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * B * M * H * (D // G)
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## one_sequence: Your cache is that of one sequence; each of the B sequences has its own.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * M * G * (D // H)
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## budget_for_one_sequence: Your budget pays for one sequence, and there are B.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * M * G * (D // H)
+ return B * token * min(N, W), 0 if token * W <= budget else budget // token
## limit_for_all_together: Your limit counts the tokens of all B sequences together; asked is how many each of them may
have.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * M * G * (D // H)
+ return B * token * min(N, W), 0 if B * token * W <= budget else budget // token
## one_layer: Your cache is that of one layer; each of the M layers has its own.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * b * B * G * (D // H)
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## numbers_for_bytes: You count numbers and not bytes.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 2 * B * M * G * (D // H)
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## bits_for_bytes: You count bits: b is in bytes already.
- token = 2 * b * B * M * G * (D // H)
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ token = 16 * b * B * M * G * (D // H)
+ return token * min(N, W), 0 if token * W <= budget else budget // token
## nothing_forgotten [a-cache-that-rolls]: You keep every token, also those that have left the window.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * N, 0 if token * W <= budget else budget // token
## always_a_full_window: You reserve the whole window for a text that is shorter.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * W, 0 if token * W <= budget else budget // token
## newest_not_kept [a-cache-that-rolls]: You keep W − 1 tokens; the newest is one of the W, and it lies in the cache as
well.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W - 1), 0 if token * (W - 1) <= budget else budget // token
## newest_kept_besides [common-mistakes]: You keep W tokens besides the newest; it is one of the W.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W + 1), 0 if token * (W + 1) <= budget else budget // token
## a_limit_in_any_case [a-cache-that-rolls]: Where the budget holds a full window a text may be as long as it likes; you
give a limit all the same.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W), budget // token
## exactly_a_window_is_too_little [a-cache-that-rolls]: A budget that holds the full window exactly holds it; you still
give a limit there.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W), 0 if token * W < budget else budget // token
## rounded_up: You round up: the last of your tokens does not fit in full.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W), 0 if token * W <= budget else -(-budget // token)
## what_is_left: Your second result is what is left of the budget when N tokens are stored, not how many it holds.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W), 0 if token * W <= budget else max(budget // token - N, 0)
## window_as_the_limit [a-cache-that-rolls]: Where the budget holds the whole window you give the window as a limit;
there is none, older tokens go.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W), min(budget // token, W)
## compared_with_the_text [a-cache-that-rolls]: You ask whether the budget holds N tokens; there is no limit if it holds
the window.
- longest = budget // token
- return token * min(N, W), longest if longest < W else 0
+ return token * min(N, W), 0 if budget // token >= N else budget // token
""")
