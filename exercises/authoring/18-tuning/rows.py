"""Exercise 18, question rows: a conversation as two rows and what counts."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery

ASSISTANT = 2


def conversation_reference(roles, lengths, tokens, end, length):
    ids, counts, start = [end], [0], 0
    for role, n in zip(roles, lengths, strict=True):
        answer = role == ASSISTANT
        ids += [role, *tokens[start : start + n], *([end] if answer else [])]
        counts += [0] + [int(answer)] * n + ([1] if answer else [])
        start += n
    ids, counts = ids[: length + 1], counts[: length + 1]
    left = length + 1 - len(ids)
    ids, counts = np.array(ids + left * [end]), np.array(counts + left * [0])
    return ids[:-1], ids[1:], counts[1:]


def draw_args(rng, roles=(0, 1, 2, 1, 2), length=40, end=99):
    lengths = rng.integers(2, 6, size=len(roles))
    return np.array(roles), lengths, rng.integers(3, 90, size=lengths.sum()), end, length


def any_ids(rng):
    """Turns that hold the ids of roles and of the end, which mean nothing there, and ids of a large vocabulary."""
    end = 50_256
    tokens = np.array([1, 2, 7, end, 2, 40_000, end, 0, 2, 33_000, 1, 5, 2, end])
    return np.array([0, 1, 2, 1, 2]), np.array([2, 3, 4, 2, 3]), tokens, end, 29


def with_room(rng):
    return [draw_args(rng), draw_args(rng, (1, 2)), draw_args(rng, (0, 1, 2, 2, 1), 37, 95), any_ids(rng)]


def cut_off(rng):
    return [
        draw_args(rng, length=9),
        draw_args(rng, (1, 2, 1, 2, 1, 2), 13),
        draw_args(rng, (2, 1, 2), 3),
        draw_args(rng, length=1),
        draw_args(rng, (2, 2, 1, 2, 2, 2), length=1),
    ]


def empty_turns(rng):
    """An answer of no tokens has an end to be learned; a conversation that begins with an answer, or has no token."""
    one = np.array([1, 2]), np.array([3, 0]), rng.integers(3, 90, size=3), 99, 11
    nothing = np.array([1]), np.array([0]), np.zeros(0, dtype=np.int64), 99, 7
    return [one, draw_args(rng, (2, 1)), draw_args(rng, (1,)), nothing]


def only_counts(ask, rng):
    """What counts, whatever the ids are."""
    args = draw_args(rng)
    came, expected = ask(*args), conversation_reference(*args)
    if not isinstance(came, tuple | list) or len(came) != 3:
        return "Three arrays are expected: what is read, what is asked for, and what counts."
    counts = np.asarray(came[2])
    if counts.shape != expected[2].shape:
        return f"For length={args[-1]} the counts have the shape {expected[2].shape}; yours {counts.shape}."
    if counts.sum() != expected[2].sum():
        return f"In a conversation with {expected[2].sum()} positions that count, {counts.sum()} are counted."
    return None if (counts == expected[2]).all() else "As many positions count as should, but some others."


QUESTION = Question(
    id="rows",
    title="What counts in a conversation",
    name="conversation_rows",
    minutes=20,
    difficulty=1,
    checks=with_battery(
        equals("room to spare", 5, with_room, conversation_reference),
        equals("cut off", 3, cut_off, conversation_reference),
        equals("empty and first answers", 3, empty_turns, conversation_reference),
        holds("what counts", 3, only_counts),
    ),
    hints=(
        "Make one row of ids first, and beside it a row of zeros and ones of the same length.",
        "The role token of an answer is put in by the program; its end is written by the model. Which of them counts?",
        "Cut both rows to length + 1, fill both up, and shift at the very end: the counts go with what is asked for.",
    ),
    section="a-conversation-is-one-text",
    inputs=Inputs(no_sizes="the turns are cut from one row of tokens"),
)

right, wrong = answers_to(QUESTION)


@right
def turn_by_turn(roles, lengths, tokens, end, length):
    row, counts = [end], [0]
    starts = np.cumsum(lengths) - lengths
    for role, start, n in zip(roles, starts, lengths, strict=True):
        answer = int(role == 2)
        said = list(tokens[start : start + n]) + answer * [end]
        row += [role, *said]
        counts += [0] + [answer] * len(said)
    missing = max(0, length + 1 - len(row))
    row = np.array(row + missing * [end])[: length + 1]
    counts = np.array(counts + missing * [0])[: length + 1]
    return row[:-1], row[1:], counts[1:]


@right
def into_full_arrays(roles, lengths, tokens, end, length):
    size = len(tokens) + 2 * len(roles) + length + 2
    ids, counts, place, start = np.full(size, end), np.zeros(size, dtype=int), 1, 0
    for role, n in zip(roles, lengths, strict=True):
        ids[place] = role
        ids[place + 1 : place + 1 + n] = tokens[start : start + n]
        if role == 2:
            counts[place + 1 : place + 2 + n] = 1
        place, start = place + 1 + n + (role == 2), start + n
    return ids[:length], ids[1 : length + 1], counts[1 : length + 1]


@right
def pairs_of_id_and_count(roles, lengths, tokens, end, length):
    row, left = [(end, 0)], list(tokens)
    for role, n in zip(roles, lengths, strict=True):
        said, left = left[:n], left[n:]
        row.append((role, 0))
        row.extend((token, int(role == 2)) for token in said)
        if role == 2:
            row.append((end, 1))
    row = (row + (length + 1) * [(end, 0)])[: length + 1]
    ids, counts = np.array(row).T
    return ids[:-1], ids[1:], counts[1:]


wrong.edits("""
# turn_by_turn
## told_by_the_id: You skip an answer's tokens that have the id of a role; count them.
- return row[:-1], row[1:], counts[1:]
+ return row[:-1], row[1:], counts[1:] * (row[1:] != 2)
## not_shifted [common-mistakes]: You do not shift counts with the ids: they belong to what is asked for.
+ return row[:-1], row[1:], counts[:-1]
## asked_is_read: You ask for the same ids you read.
+ return row[:-1], row[:-1], counts[1:]
## role_counts: You count the role token of an answer; the program puts it in.
- counts += [0] + [answer] * len(said)
+ counts += [answer] + [answer] * len(said)
## end_does_not_count: You do not count an answer's end, so the model never learns to stop.
+ counts += [0] + [answer] * n + [0] * answer
## everything_counts: You count every token, those of the user as well.
+ counts += [1] + [1] * len(said)
## questions_count: You count the questions and not the answers.
+ counts += [0] + [1 - answer] * len(said)
## only_the_end_counts: You count only the end of an answer; its tokens count as well.
+ counts += [0] + [0] * n + [1] * answer
## end_everywhere: You give every turn an end; only an answer has one.
- said = list(tokens[start : start + n]) + answer * [end]
+ said = list(tokens[start : start + n]) + [end]
## empty_answer_without_end: Your empty answers have no end; an empty answer still has its end, which counts.
+ said = list(tokens[start : start + n]) + answer * min(n, 1) * [end]
## no_end: No answer gets an end.
+ said = list(tokens[start : start + n])
## no_role_tokens: The role tokens are missing.
- row += [role, *said]
- counts += [0] + [answer] * len(said)
+ row += said
+ counts += [answer] * len(said)
## no_first_end: The end token in front of the conversation is missing.
- row, counts = [end], [0]
+ row, counts = [], []
## user_answers: You treat the user's turn as an answer: it counts, and gets an end.
- answer = int(role == 2)
+ answer = int(role > 0)
## system_answers: You treat the system's turn as an answer: it counts, and gets an end.
- answer = int(role == 2)
+ answer = int(role != 1)
## system_counts: You count the system's turn; only what the assistant says counts.
- counts += [0] + [answer] * len(said)
+ counts += [0] + [int(role != 1)] * len(said)
## empty_turn_left_out: You leave out a turn of no tokens; its role token is part of the text, and so is the end of an
empty answer.
  for role, start, n in zip(roles, starts, lengths, strict=True):
+     if n == 0:
+         continue
## filled_with_zeros: You fill the positions after the conversation with 0, not with the end token.
- row = np.array(row + missing * [end])[: length + 1]
+ row = np.array(row + missing * [0])[: length + 1]
## filling_counts: You count the filling after the conversation.
- counts = np.array(counts + missing * [0])[: length + 1]
+ counts = np.array(counts + missing * [1])[: length + 1]
## beginning_cut_off: A conversation that is too long loses its beginning; its end should be cut off.
- row = np.array(row + missing * [end])[: length + 1]
- counts = np.array(counts + missing * [0])[: length + 1]
+ row = np.array(row + missing * [end])[-length - 1 :]
+ counts = np.array(counts + missing * [0])[-length - 1 :]
## one_too_short: Both rows are one token too short.
- return row[:-1], row[1:], counts[1:]
+ return row[:-2], row[1:-1], counts[1:-1]
## end_forced: You put an end where a long conversation is cut; what is cut off simply stops.
- row = np.array(row + missing * [end])[: length + 1]
+ row = np.array((row + missing * [end])[:length] + [end])
## last_answer_alone: You count the last answer alone; the assistant's earlier turns count as well.
- counts += [0] + [answer] * len(said)
+ counts = [0] * (len(counts) + 1) + [1] * len(said) if answer else counts + [0] * (n + 1)

# pairs_of_id_and_count
## cut_one_too_soon: You keep `length` ids of a text that is too long; keep one more, to be asked for.
- row = (row + (length + 1) * [(end, 0)])[: length + 1]
+ row = row[:length] + (length + 1 - len(row[:length])) * [(end, 0)]
""")
