"""Exercise 09, question cut: what is read and what is asked for."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery


def cut_reference(ids, starts, length):
    pieces = [ids[start : start + length + 1] for start in starts.tolist()]
    rows = torch.stack(pieces)
    return rows[:, :-1], rows[:, 1:]


def draw_args(rng, tokens=41, rows=5, length=7):
    ids = rng.integers(100, size=tokens)
    return ids, rng.permutation(tokens - length)[:rows], length


def ordinary_cases(rng):
    return [draw_args(rng), draw_args(rng, 67, 3, 11), draw_args(rng, 53, 7, 4)]


def at_the_limits(rng):
    """Windows of one token, one row alone, the first and the last window there is, a window of all, a large vocabulary,
    a long text.

    GPT-2 has 50,257 tokens: more than 16 bits with a sign can count; the text has more than 16 bits without one can.
    """
    ids = rng.integers(100, size=23)
    last = ids, np.array([16, 0, 16, 9]), 6
    wide = 50_000 + rng.integers(257, size=41), rng.permutation(34)[:5], 7
    return [
        draw_args(rng, length=1),
        draw_args(rng, rows=1),
        last,
        (ids, np.array([0]), 22),
        wide,
        draw_args(rng, 70_001, 11, 5),
    ]


def one_position_apart(ask, rng):
    ids, starts, length = np.arange(61), rng.permutation(50)[:4], 9
    came = ask(ids, starts, length)
    if not isinstance(came, tuple | list) or len(came) != 2:
        return "A pair is expected: what is read, and what is asked for."
    read, asked = (np.asarray(part) for part in came)
    shape = 4, length
    if read.shape != shape or asked.shape != shape:
        return f"For 4 starts and length={length} both parts have the shape {shape}; yours {read.shape}, {asked.shape}."
    if not (asked == read + 1).all():
        return "On the text 0, 1, 2, … each token that is asked for should be one more than what is read there."
    return None


QUESTION = Question(
    id="cut",
    title="What is read, and what is asked for",
    name="cut",
    minutes=15,
    difficulty=1,
    checks=with_battery(
        equals("values", 4, ordinary_cases, cut_reference),
        equals("at the limits", 2, at_the_limits, cut_reference),
        holds("one position apart", 2, one_position_apart),
        off={"one of each": "a text is longer than a row, and every row lies within it"},
    ),
    hints=(
        "How many tokens of the text does one row need, if N are read and N are asked for?",
        "`starts[:, None] + torch.arange(n)` is a table of positions, with a row for each start.",
        "Cut rows of `length + 1` tokens. What is read leaves out the last of them. And what is asked for?",
    ),
    section="what-is-asked-for-at-each-position",
    inputs=Inputs(lambda ids, starts, length: {"T": len(ids), "B": len(starts), "N": length}, no_softmax="ids"),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def table_of_places(ids, starts, length):
    rows = ids[starts[:, None] + torch.arange(length + 1)]
    return rows[:, :-1], rows[:, 1:]


@right
def two_tables(ids, starts, length):
    places = starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)
    read, asked = ids[places], ids[places + 1]
    return read, asked


@right
def all_windows_first(ids, starts, length):
    windows = ids.unfold(0, length + 1, 1)[starts]
    return windows[:, :length], windows[:, 1:]


@right
def row_after_row(ids, starts, length):
    read = [ids[s : s + length] for s in starts]
    asked = [ids[s + 1 : s + 1 + length] for s in starts]
    return torch.stack(read), torch.stack(asked)


wrong.edits("""
# two_tables
## rows_in_one_piece: Your rows follow one another from the first start on; each row has a start of its own.
- places = starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)
+ places = starts[0] + torch.arange(len(starts) * length).reshape(len(starts), length)
## not_shifted [common-mistakes]: What is asked for is what is read: the model learns to copy its own token.
- read, asked = ids[places], ids[places + 1]
+ read, asked = ids[places], ids[places]
## shifted_by_two: What is asked for lies two positions on; the next token is one on.
+ read, asked = ids[places], ids[(places + 2).clamp(max=len(ids) - 1)]
## shifted_back: What is asked for is the token before; the model would be trained to write backwards.
+ read, asked = ids[places + 1], ids[places]
## the_start_left_out: Your rows begin one position after their starts.
+ read, asked = ids[(places + 1).clamp(max=len(ids) - 1)], ids[(places + 2).clamp(max=len(ids) - 1)]
## rolled: Within a row you roll the tokens round: the last position is asked for the first token of its row.
+ read, asked = ids[places], ids[places].roll(-1, dims=1)
## one_too_short: Your rows are one token too short: N should be read, and N asked for.
+ read, asked = ids[places][:, :-1], ids[places][:, 1:]
## one_too_long: Your rows are one token too long: what is read should have N of them, and so should what is asked for.
- places = starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)
+ places = (starts.unsqueeze(1) + torch.arange(length + 1)).clamp(max=len(ids) - 2)
## tokens_down_the_rows: Your tables lie on their sides: give each start a row of its own.
- return read, asked
+ return read.T, asked.T
## one_window_after_another: You take each start as the number of a window of N tokens; it is a position in the text.
- places = starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)
+ places = (starts.unsqueeze(1) * length + torch.arange(length)) % (len(ids) - 1)
## next_row_asked: What is asked for comes from the next row of the batch.
- read, asked = ids[places], ids[places + 1]
+ read, asked = ids[places], ids[places + 1].roll(-1, dims=0)
## only_the_last_asked: Only the token after the window is asked for; ask each of its positions for its own next one.
+ read, asked = ids[places], ids[places[:, -1:] + 1]
## places_for_tokens: You return positions in the text, not the tokens that stand there.
+ read, asked = places, places + 1
## places_in_too_few_bits: You keep positions in so few bits that those of a long text do not fit.
- places = starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)
+ places = (starts.unsqueeze(1) + torch.arange(length).unsqueeze(0)).short().long()
## too_few_bits: Your ids are kept in so few bits that those of a large vocabulary do not fit.
- return read, asked
+ return read.short(), asked.short()
""")
