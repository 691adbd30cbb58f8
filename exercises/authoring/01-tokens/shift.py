"""Exercise 01, question shift: inputs and targets."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import SIZES, draw_sizes


def texts(rng):
    """In the last two the id 0 is a token of the text, and the start token."""
    ordinary = [
        (rng.integers(start // 2, start, size=n), start)
        for n, start in zip(draw_sizes(rng, 3), (40, 57, 100_000), strict=True)
    ]
    return [*ordinary, (rng.permutation(7), 40), (1 + rng.permutation(7), 0)]


def short_texts(rng):
    return [(rng.integers(1, 40, size=n), 40 + int(rng.integers(9))) for n in (1, 2)]


def shift_by_one(ids, start):
    return np.concatenate([[start], ids])[:-1], ids


def sees_only_the_past(ask, rng):
    ids, start = rng.integers(0, 40, size=int(rng.choice(SIZES))), 40
    n = int(rng.integers(1, len(ids) - 1))
    edited = ids.copy()
    edited[n:] = (edited[n:] + 1 + rng.integers(0, 30)) % 40
    answers = [ask(given, start) for given in (ids, edited)]
    for answer in answers:
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            return "The result should be a tuple of two: the inputs and the targets."
        if any(not isinstance(part, np.ndarray) or part.shape != ids.shape for part in answer):
            return f"For a text of {len(ids)} tokens both parts should be arrays of {len(ids)} ids."
    (inputs, targets), (edited_inputs, _) = answers
    if (inputs[: n + 1] != edited_inputs[: n + 1]).any():
        return f"The text was edited from token {n} on, and what the model reads before it predicts token {n} changed."
    if start in targets:
        return "The start token is among your targets, but it is never predicted."
    if start not in inputs[:1]:
        return "Nothing stands before the first token of your text, so its prediction has nothing to look at."
    return None


QUESTION = Question(
    id="shift",
    title="Inputs and targets",
    name="inputs_and_targets",
    minutes=6,
    difficulty=1,
    checks=with_battery(
        equals("values", 5, texts, shift_by_one, dtype="int"),
        equals("one and two tokens", 2, short_texts, shift_by_one, dtype="int"),
        holds("only the past is read", 3, sees_only_the_past),
    ),
    hints=(
        "Make the small table of the chapter for a text of your own, with one column for each prediction.",
        "Every token of the text has to be predicted once, the first one too. How many columns is that?",
        "The last token of the text is predicted, and nothing is predicted from it. Something else moves in at "
        "the other end.",
    ),
    section="the-token-before-the-first",
    inputs=Inputs(axes("N")),
)

right, wrong = answers_to(QUESTION)


@right
def concatenated(ids, start):
    return np.concatenate(([start], ids[:-1])), ids


@right
def written_into_a_copy(ids, start):
    inputs = ids.copy()
    inputs[1:] = ids[:-1]
    inputs[0] = start
    return inputs, ids.copy()


@right
def one_longer_then_cut(ids, start):
    whole = np.array([start, *ids])
    return whole[:-1], whole[1:]


@wrong("You shift inside the array that came in, so the caller's text is lost.")
def changes_its_argument(ids, start):
    targets = ids.copy()
    ids[1:] = targets[:-1]
    ids[0] = start
    return ids, targets


wrong.edits("""
# concatenated
## not_shifted [common-mistakes]: Inputs and targets are the same: the model only has to copy what it reads.
- return np.concatenate(([start], ids[:-1])), ids
+ return ids, ids
## no_start_token: You leave out the start token, so the first token of the text is never predicted.
+ return ids[:-1], ids[1:]
## inputs_one_longer: Your inputs do not end one token early: their last column predicts a token that the text does not
have.
+ return np.concatenate([[start], ids]), ids
## start_in_both: You put the start token before the targets too, but it is never predicted.
+ return np.concatenate([[start], ids[:-1]]), np.concatenate([[start], ids[:-1]])
## roles_swapped: You have inputs and targets exchanged: the model would read a token and predict the one before it.
+ return ids, np.concatenate([[start], ids[:-1]])
## rolled_round: You roll the text round, so the last token stands before the first and gives the end away.
+ return np.roll(ids, 1), ids
## start_at_the_end: You put the start token behind the text, as if it marked the end.
+ return ids, np.concatenate([ids[1:], [start]])
## shifted_twice: You shift by two: the model is to predict a token without seeing the one just before it.
+ return np.concatenate([[start, start], ids])[: len(ids)], ids
## always_zero: You take 0 for the start token and leave the id that came unused; 0 is a word of the text's vocabulary.
+ return np.concatenate([[0], ids[:-1]]), ids
## zero_for_nothing: You take the id 0 for an empty position; it is a word of the text's vocabulary.
+ return np.concatenate(([start], ids[:-1])), np.where(ids == 0, start, ids)
## backwards: You read the text from its end.
+ return np.concatenate([[start], ids[::-1][:-1]]), ids[::-1]
## ids_become_floats: Your ids have become floating-point numbers; a look-up wants whole ones.
+ return np.concatenate([np.full(1, float(start)), ids[:-1]]), ids
## ids_in_few_bits: You keep the ids in an integer type that is too small for a vocabulary, and large ones wrap round.
+ return np.concatenate(([start], ids[:-1])).astype(np.uint16), ids.astype(np.uint16)
## rolled_back: You roll the text back by one: the last token has to predict the first, where the start token should.
+ return ids, np.roll(ids, -1)

# written_into_a_copy
## first_token_replaced: You write the start token over the first one without shifting, so from the second column on the
model copies.
- inputs[1:] = ids[:-1]

# one_longer_then_cut
## rolled_with_start: You roll the text with its start token round, so the last column is to predict the start token.
- return whole[:-1], whole[1:]
+ return whole, np.roll(whole, -1)
""")
