"""Exercise 17, question scan: a recurrence in rounds, each of which reaches twice as far."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, shape_slip


def scan_reference(a, b):
    """After each round the state of every token as if the text began 2, 4, 8 … tokens before its end."""
    N, reach, rounds = len(a), 1, []
    while reach < N:
        reach *= 2
        h = np.zeros(b.shape)
        for n in range(N):
            for s in range(max(0, n - reach + 1), n + 1):
                h[n] = a[s] * h[n] + b[s]
        rounds.append(h)
    return np.array(rounds).reshape(len(rounds), *b.shape)


def draw_args(rng, N, D, gates=(0.2, 1.0), factor=1.0, forget=()):
    a = rng.uniform(*gates, size=(N, D))
    a[list(forget)] = 0.0
    return a, factor * rng.normal(size=(N, D))


def whole_powers(rng):
    return [draw_args(rng, 8, 3), draw_args(rng, 4, 5), draw_args(rng, 16, 3, factor=1e4)]


def other_lengths(rng):
    return [draw_args(rng, 11, 3), draw_args(rng, 5, 7), draw_args(rng, 9, 2), draw_args(rng, 7, 4)]


def short_texts(rng):
    """One token, which needs no round, two and three."""
    return [draw_args(rng, 1, 3), draw_args(rng, 2, 5), draw_args(rng, 3, 2)]


def strong_gates(rng):
    """Gates of 0, of either sign, and so small that a product of all is 0."""
    cases = [draw_args(rng, 11, 4, forget=(2, 7)), draw_args(rng, 9, 2, gates=(-1.0, 1.0))]
    return [*cases, draw_args(rng, 13, 3, gates=(1e-60, 1e-40))]


def the_last_round_is_the_recurrence(ask, rng):
    a, b = draw_args(rng, 13, 5)
    came = ask(a, b)
    if slip := shape_slip(came, (4, 13, 5), "For 13 tokens of 5 features the result"):
        return slip
    h = np.zeros(5)
    for n in range(13):
        h = a[n] * h + b[n]
        if not close(came[-1][n], h):
            return f"After your last round token {n}, counted from 0, does not hold its state of the recurrence."
    return None


QUESTION = Question(
    id="scan",
    title="A recurrence in few rounds",
    name="scan",
    minutes=18,
    difficulty=2,
    checks=with_battery(
        equals("lengths that are powers of two", 4, whole_powers, scan_reference),
        equals("other lengths", 4, other_lengths, scan_reference),
        equals("short texts", 2, short_texts, scan_reference),
        equals("strong gates", 3, strong_gates, scan_reference),
        holds("the last round", 2, the_last_round_is_the_recurrence),
        more={"boundary": in_cases_of("short texts")},
    ),
    hints=(
        "Two steps in a row are one step of the same kind. First h ↦ a h + b, then h ↦ A h + B: write down what "
        "comes out, and which number stands before h.",
        "In the first round each token takes the step before it into its own, in the second what stands two tokens "
        "before it, then four. Those that have nothing so far before them stay as they are.",
        "Both a and b of a round are made from those of the round *before*. Compute the new ones from the old ones "
        "first, and then replace both.",
    ),
    section="selective-states-mamba",
    inputs=Inputs(axes("ND", "ND")),
)

right, wrong = answers_to(QUESTION)


@right
def with_slices(a, b):
    a, b, rounds, step = a.copy(), b.copy(), [], 1
    while step < len(a):
        new_b = np.concatenate([b[:step], a[step:] * b[:-step] + b[step:]])
        new_a = np.concatenate([a[:step], a[step:] * a[:-step]])
        a, b = new_a, new_b
        rounds.append(b)
        step *= 2
    return np.array(rounds).reshape(-1, *b.shape)


@right
def token_by_token(a, b):
    N, step, rounds = len(a), 1, []
    while step < N:
        old_a, old_b = a, b
        a, b = old_a.copy(), old_b.copy()
        for n in range(step, N):
            a[n] = old_a[n] * old_a[n - step]
            b[n] = old_a[n] * old_b[n - step] + old_b[n]
        rounds.append(b)
        step = 2 * step
    return np.stack(rounds) if rounds else np.zeros((0, *b.shape))


@right
def with_padding(a, b):
    R, D = int(np.ceil(np.log2(len(a)))), a.shape[1]
    found = np.zeros((R, *b.shape))
    for r in range(R):
        step = 2**r
        before_a = np.vstack([np.ones((step, D)), a])[: len(a)]
        before_b = np.vstack([np.zeros((step, D)), b])[: len(b)]
        a, b = a * before_a, a * before_b + b
        found[r] = b
    return found


@right
def windows_of_the_recurrence(a, b):
    rounds, reach = [], 2
    while reach < 2 * len(a):
        h = np.zeros(b.shape)
        for n in range(len(a)):
            for s in range(max(0, n + 1 - reach), n + 1):
                h[n] = a[s] * h[n] + b[s]
        rounds.append(h)
        reach *= 2
    return np.array(rounds).reshape(-1, *b.shape)


wrong.edits("""
# with_slices
## gates_not_merged: Your gates stay as they were; two steps that become one multiply theirs.
- a, b = new_a, new_b
+ b = new_b
## gates_added: You add the gates of two steps; they are multiplied.
- new_a = np.concatenate([a[:step], a[step:] * a[:-step]])
+ new_a = np.concatenate([a[:step], a[step:] + a[:-step]])
## order_reversed: You let the later step come first: it is the later gate that weakens the earlier input.
- new_b = np.concatenate([b[:step], a[step:] * b[:-step] + b[step:]])
+ new_b = np.concatenate([b[:step], a[:-step] * b[step:] + b[:-step]])
## earlier_gate: You weaken what comes from before by its own gate; the gate of the later token does that.
+ new_b = np.concatenate([b[:step], a[:-step] * b[:-step] + b[step:]])
## not_weakened: You add what stands before as it is; the gate weakens it.
+ new_b = np.concatenate([b[:step], b[:-step] + b[step:]])
## inputs_weakened: You weaken a token's own input by its gate, too.
+ new_b = np.concatenate([b[:step], a[step:] * (b[:-step] + b[step:])])
## first_tokens_emptied: Your first tokens, which have nothing so far before them, become 0; they stay as they are.
+ new_b = np.concatenate([0 * b[:step], a[step:] * b[:-step] + b[step:]])
## one_more_round: You go on for a round that changes nothing any more.
- while step < len(a):
+ while step <= len(a):
## one_round_short: You stop a round too early: the last tokens do not know of the first.
+ while 2 * step < len(a):
## the_start_too: You also give what there is before the first round.
- a, b, rounds, step = a.copy(), b.copy(), [], 1
+ a, b, rounds, step = a.copy(), b.copy(), [b], 1
## gates_returned: You return the gates of each round; asked for is what each token holds.
- rounds.append(b)
+ rounds.append(a)
## new_gates_used: You weaken by the gate that this round has already merged; take the one before the round.
- new_a = np.concatenate([a[:step], a[step:] * a[:-step]])
- a, b = new_a, new_b
+ new_a = np.concatenate([a[:step], a[step:] * a[:-step]])
+ a, b = new_a, np.concatenate([b[:step], new_a[step:] * b[:-step] + b[step:]])
## one_array_for_all: All your rounds are one array, which goes on changing: append a copy.
- return np.array(rounds).reshape(-1, *b.shape)
+ return np.array([b for _ in rounds]).reshape(-1, *b.shape)
## last_round_alone: You return the last round alone; all of them are asked for.
- return np.array(rounds).reshape(-1, *b.shape)
+ return b

# token_by_token
## as_it_goes: You use tokens that this round has already changed; read from the round before.
- a, b = old_a.copy(), old_b.copy()
+ a, b = old_a.copy(), old_b.copy()
+ old_b = b
## three_times: Your reach grows threefold from round to round; it doubles.
- step = 2 * step
+ step = 3 * step
## one_further: Your reach grows by one token a round; it doubles.
+ step = step + 1

# with_padding
## round_a_circle: Your text is a circle: the first tokens take in what the last ones hold.
- before_a = np.vstack([np.ones((step, D)), a])[: len(a)]
- before_b = np.vstack([np.zeros((step, D)), b])[: len(b)]
+ before_a, before_b = np.roll(a, step, axis=0), np.roll(b, step, axis=0)
## rounded_down: You round the number of rounds down.
- R, D = int(np.ceil(np.log2(len(a)))), a.shape[1]
+ R, D = int(np.log2(len(a))), a.shape[1]
""")


@wrong("You read numbers that this round has already written: take both from the round before.")
def in_one_array(a, b):
    a, b, rounds, step = a.copy(), b.copy(), [], 1
    while step < len(a):
        for n in range(step, len(a)):
            b[n] = a[n] * b[n - step] + b[n]
            a[n] = a[n] * a[n - step]
        rounds.append(b.copy())
        step *= 2
    return np.array(rounds).reshape(-1, *b.shape)
