"""Exercise 09, question surprise: the surprise of a text."""

import itertools
import math

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import CLOSE, shape_slip


def surprise_reference(P, text):
    """The factors of the product, one by one."""
    mark = len(P) - 1
    known, surprises = [mark, mark, *map(int, text)], []
    for place, after in enumerate([*known[2:], mark]):
        p = P[known[place], known[place + 1], after]
        surprises.append(-np.log2(p) if p > 0 else np.inf)
    return np.array(surprises)


def draw_table(rng, n_vocab):
    return rng.dirichlet(np.full(n_vocab, 0.8), size=(n_vocab, n_vocab))


def text_and_table(rng, length):
    V = int(rng.choice([5, 7, 11]))
    return draw_table(rng, V), rng.integers(V - 1, size=length)


def ordinary_texts(rng):
    return [text_and_table(rng, length) for length in (9, 13, 6)]


def short_texts(rng):
    return [text_and_table(rng, length) for length in (0, 1, 2, 0)]


def certain_and_impossible(rng):
    cases = []
    for _ in range(2):
        P, text = text_and_table(rng, 13)
        V, known = len(P), [len(P) - 1, len(P) - 1, *text]
        P = P * (rng.random(P.shape) < 0.6)
        P[:, :, 0] += P.sum(axis=2) == 0
        P[known[5], known[6]] = np.eye(V)[text[5]]
        P[known[9], known[10], text[9]] = 0.0
        P[known[9], known[10], (text[9] + 1) % V] += 0.1
        cases.append((P / P.sum(axis=2, keepdims=True), text))
    return cases


def all_texts(ask, rng):
    """The probabilities of all texts of up to four letters, against what walking through the table leaves."""
    P = draw_table(rng, 3)
    state, ended, total = np.zeros((3, 3)), 0.0, 0.0
    state[2, 2] = 1.0
    for length in range(5):
        ended += float((state * P[:, :, 2]).sum())
        state = np.einsum("uv,uvw->vw", state, P)
        state[:, 2] = 0.0
        for letters in itertools.product(range(2), repeat=length):
            came = ask(P, np.array(letters, dtype=np.int64))
            if slip := shape_slip(came, (length + 1,)):
                return slip
            total += float(2.0 ** -came.sum())
        if abs(total - ended) > CLOSE:
            return (
                f"By the table, a text has at most {length} letters with the probability {ended:.4f}; "
                f"the probabilities that follow from your surprises sum to {total:.4f}."
            )
    return None


QUESTION = Question(
    id="surprise",
    title="The surprise of a text",
    name="text_surprises",
    minutes=10,
    difficulty=1,
    checks=(
        equals("values", 4, ordinary_texts, surprise_reference),
        equals("short texts", 2, short_texts, surprise_reference),
        equals("certain and impossible", 2, certain_and_impossible, surprise_reference),
        holds("all texts together", 2, all_texts),
    ),
    hints=(
        "Write down all factors of the product for a text of two tokens. How many are there, and which three "
        "tokens stands each of them for?",
        "Put marks around the text, so that every factor reads three neighbours of one longer list. How many "
        "marks does it need in front, and how many behind?",
        "The two tokens that came before choose the place in the table by its first two axes, the older one "
        "first; a surprise is in bits.",
    ),
    section="a-product-with-a-start-and-an-end",
    inputs=Inputs(lambda P, text: {"V": len(P), "L": len(text)}, only_distinct="short texts"),
)

right, wrong = answers_to(QUESTION)


@right
def three_neighbours(P, text):
    mark = P.shape[0] - 1
    padded = np.array([mark, mark, *text, mark], dtype=int)
    older, newer, coming = padded[:-2], padded[1:-1], padded[2:]
    return -np.log2(P[older, newer, coming])


@right
def step_by_step(P, text):
    u = v = len(P) - 1
    surprises = []
    for w in [int(token) for token in text] + [len(P) - 1]:
        surprises.append(-math.log(P[u, v, w], 2) if P[u, v, w] > 0 else math.inf)
        u, v = v, w
    return np.array(surprises)


@right
def nats_into_bits(P, text):
    mark = np.full(2, len(P) - 1)
    before = np.append(mark, text).astype(int)
    after = np.append(text, mark[0]).astype(int)
    rows = P[before[:-1], before[1:]]
    return -np.log(np.take_along_axis(rows, after[:, None], axis=1).ravel()) / np.log(2)


@right
def as_often_written(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong("Your third factor asks for the second token once more, as Turner's print does.")
def third_factor_repeats(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    coming = line[2:].copy()
    if len(coming) > 2:
        coming[2] = coming[1]
    return -np.log2(P[line[:-2], line[1:-1], coming])


wrong.edits("""
# as_often_written
## no_end: The end is not predicted: a text that stops has one factor more than it has tokens.
- line = np.array([mark, mark, *text, mark], dtype=int)
+ line = np.array([mark, mark, *text], dtype=int)
## no_start: You begin with the third token, for which two stand before it; the first two need marks to look at.
- line = np.array([mark, mark, *text, mark], dtype=int)
+ line = np.array([*text, mark], dtype=int)
## one_mark_in_front: With one mark in front your first factor is that of the second token.
- line = np.array([mark, mark, *text, mark], dtype=int)
+ line = np.array([mark, *text, mark], dtype=int)
## two_ends: You predict the mark twice at the end; the text has ended with the first one.
- line = np.array([mark, mark, *text, mark], dtype=int)
+ line = np.array([mark, mark, *text, mark, mark], dtype=int)
## younger_token_first: The two tokens before are in the wrong order: the first axis belongs to the older one.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log2(P[line[1:-1], line[:-2], line[2:]])
## coming_token_first: You look up the token that comes on the first axis of P; it belongs on the last.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log2(P[line[2:], line[:-2], line[1:-1]])
## in_nats [surprise-adds-up]: These are nats: a surprise in bits needs the logarithm to the base 2.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log(P[line[:-2], line[1:-1], line[2:]])
## sign_forgotten [surprise-adds-up]: The sign is missing: the logarithm of a probability is negative, and a surprise is
not.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return np.log2(P[line[:-2], line[1:-1], line[2:]])
## probabilities [surprise-adds-up]: These are the probabilities themselves, and no surprises yet.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return P[line[:-2], line[1:-1], line[2:]]
## starts_with_zero: In front of the text you have the id 0, which is a token like any other; the mark is the last id.
- line = np.array([mark, mark, *text, mark], dtype=int)
+ line = np.array([0, 0, *text, mark], dtype=int)
## first_from_averages: For the first token you average over all that may stand before it, but it is known what stands
there: the mark.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ p = P[line[:-2], line[1:-1], line[2:]]
+ p[0] = P.mean(axis=(0, 1))[line[2]]
+ return -np.log2(p)
## never_infinite [surprise-adds-up]: You add a small number before the logarithm, so that what cannot come has a finite
surprise.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log2(P[line[:-2], line[1:-1], line[2:]] + 1e-12)
## one_number [surprise-adds-up]: You return the surprise of the whole text; the single ones are asked for, which add up
to it.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log2(P[line[:-2], line[1:-1], line[2:]]).sum()
## running_sum [surprise-adds-up]: You add up on the way: each number should belong to one token alone.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log2(P[line[:-2], line[1:-1], line[2:]]).cumsum()
## marks_from_nowhere: Your mark has the id V, which no axis of P has; the last id is V − 1.
- mark = len(P) - 1
+ mark = len(P)
## one_token_of_context: You look at one token before and average over the other; the table knows both.
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ return -np.log2(P.mean(axis=0)[line[1:-1], line[2:]])
## refuses_zero [surprise-adds-up]: `math.log2` refuses a probability of 0, whose surprise is infinite; `np.log2` gives
infinity there.
- line = np.array([mark, mark, *text, mark], dtype=int)
- return -np.log2(P[line[:-2], line[1:-1], line[2:]])
+ line = [mark, mark, *text, mark]
+ return np.array([-math.log2(P[u, v, w]) for u, v, w in zip(line[:-2], line[1:-1], line[2:], strict=True)])
""")
