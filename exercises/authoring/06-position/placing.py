"""Exercise 06, question placing: repair the museum piece: positions in a batch."""

from itertools import combinations

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip
from torch import nn

from .shared import LENGTHS, WIDTHS, draw

ROUNDED = 1e-5  # in float32


def add_positions(x, P, starts):
    positions = (starts[:, None] + torch.arange(x.shape[1])).clamp(min=0)
    return x + P[positions]


def draw_batch(rng, starts, n_tokens=None, width=None):
    """Sentences with the given starts, and a table that is long enough."""
    B = len(starts)
    while True:
        N, D = draw(rng, LENGTHS, WIDTHS)
        N = n_tokens or N
        L = int(rng.choice((61, 67, 71)))
        if all(max(pair) % min(pair) for pair in combinations([size for size in (B, N, D) if size > 1], 2)):
            return rng.normal(size=(B, N, D)), rng.normal(size=(L, D)), np.array(starts, dtype=np.int64)


def continued_sentences(rng):
    cases = []
    for B in (3, 3):
        starts = rng.choice(np.arange(1, 30), B, replace=False)
        cases.append(draw_batch(rng, starts))
    cases.append(draw_batch(rng, rng.choice(np.arange(1, 30), 3, replace=False), n_tokens=1))
    x, P, starts = draw_batch(rng, rng.choice(np.arange(1, 30), 3, replace=False))
    starts[1] = len(P) - x.shape[1]  # and ends with the last row of the table
    return [*cases, (x, P, starts)]


def padded_sentences(rng):
    """Padding on the left, also longer than the sentence; as many sentences as tokens, where a lost axis fits."""
    mixed = [-int(rng.integers(1, 4)), int(rng.integers(2, 9)), 0]
    all_padding = [int(rng.integers(1, 20)), -int(rng.integers(15, 25)), -int(rng.integers(1, 4))]
    N = int(rng.choice((4, 5)))
    square = rng.choice(np.arange(-3, 9), N, replace=False)
    x, P, starts = draw_batch(rng, square, n_tokens=1)
    x = rng.normal(size=(N, N, x.shape[2]))
    return [draw_batch(rng, mixed), draw_batch(rng, all_padding), (x, P, starts)]


def whose_order_matters(ask, rng):
    x, P, starts = draw_batch(rng, rng.choice(np.arange(1, 30), 3, replace=False))
    Y = ask(x, P, starts)
    if slip := shape_slip(Y, x.shape):
        return slip
    order = np.roll(np.arange(3), int(rng.integers(1, 3)))
    if not close(ask(x[order], P, starts[order]), Y[order], ROUNDED):
        return "Sentences in another order should give the same results in that order; yours depend on the slot."
    words = np.roll(np.arange(x.shape[1]), 1)
    if close(ask(x[:, words], P, starts), Y[:, words], ROUNDED):
        return "Words in another order should give more than reordered results, but yours do not see the order."
    alone = ask(x[:1], P, starts[:1])
    if not close(alone, Y[:1], ROUNDED):
        return "A sentence should get the same vectors alone as in a batch; yours depend on the other sentences."
    cut = 2
    pieces = [ask(x[:, :cut].copy(), P, starts), ask(x[:, cut:].copy(), P, starts + cut)]
    if not close(np.concatenate(pieces, axis=1), Y, ROUNDED):
        return "Read in two pieces, the second with later starts, a sentence gets other vectors than read at once."
    return None


def batch_and_positions(x, P, starts):
    """Once there are as many sentences as tokens, on purpose."""
    B, N, D = x.shape
    return {"N": N, "D": D, "L": len(P)} | ({"B": B} if B != N else {})


QUESTION = Question(
    id="placing",
    title="Repair the museum piece: positions in a batch",
    name="add_positions",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("continued sentences", 5, continued_sentences, add_positions),
        equals("padding on the left", 4, padded_sentences, add_positions),
        holds("whose order matters", 3, whose_order_matters),
    ),
    hints=(
        "Make the table of positions first, one row for each sentence, before you look anything up in P.",
        "A position is made of two parts: one depends on the sentence, the other on the column. To add a list "
        "that runs down to one that runs across, one of the two needs another axis.",
        "Indexing P with a whole table of numbers gives a vector for every entry of the table. What does "
        "PyTorch do with a negative number there, and what should it do here?",
    ),
    section="positions-on-the-wrong-axis",
    inputs=Inputs(batch_and_positions),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def table_of_positions(x, P, starts):
    positions = starts[:, None] + torch.arange(x.shape[1])[None, :]
    return x + P[positions.clamp(min=0)]


@right
def sentence_by_sentence(x, P, starts):
    rows = []
    for sentence, start in zip(x, starts.tolist(), strict=True):
        rows.append(torch.stack([token + P[max(0, start + n)] for n, token in enumerate(sentence)]))
    return torch.stack(rows)


@right
def one_hot_rows(x, P, starts):
    positions = starts.unsqueeze(1) + torch.arange(x.shape[1])
    positions[positions < 0] = 0
    return x + nn.functional.one_hot(positions, len(P)).to(P.dtype) @ P


@right
def padded_table(x, P, starts):
    """A longer table, with the vector of position 0 once for every padded position."""
    before = max(0, -int(starts.min()))
    longer = torch.cat([P[:1].expand(before, -1), P])
    return torch.stack([s + longer[before + a : before + a + len(s)] for s, a in zip(x, starts, strict=True)])


wrong.edits("""
# table_of_positions
## as_exhibited: This is the museum piece as it stood: its vectors go to the sentences instead of the tokens.
- positions = starts[:, None] + torch.arange(x.shape[1])[None, :]
- return x + P[positions.clamp(min=0)]
+ how_many = len(x)
+ vectors = P[starts[0] + torch.arange(how_many)]
+ return x + vectors[:, None]
## by_batch_slot: You count along the batch: all tokens of a sentence get one vector, which depends on the sentence's
slot.
+ positions = (starts + torch.arange(len(x))).clamp(min=0)
+ return x + P[positions][:, None]
## sentences_counted: You count the sentences and leave out the starts: all tokens of a sentence get the vector of its
number.
+ return x + P[: len(x)][:, None]
## one_vector_for_all [common-mistakes]: All tokens of a sentence get its first position's vector: you never count on.
+ return x + P[starts.clamp(min=0)][:, None]
## last_vector_for_all [common-mistakes]: All tokens get the vector of the last position of their sentence.
+ return x + P[(starts + x.shape[1] - 1).clamp(min=0)][:, None]
## starts_forgotten [common-mistakes]: All your sentences begin at position 0: you do not use the starts.
+ return x + P[: x.shape[1]]
## first_start_for_all [common-mistakes]: The first sentence's start serves all of your sentences.
+ positions = (starts[0] + torch.arange(x.shape[1])).clamp(min=0)
+ return x + P[positions]
## from_the_end_of_the_table [learned-positions]: Your negative positions take vectors from the end of the table; give
them that of position 0.
+ return x + P[starts[:, None] + torch.arange(x.shape[1])]
## nothing_for_padding [learned-positions]: Your padding gets no vector at all; it should get that of position 0.
+ positions = starts[:, None] + torch.arange(x.shape[1])
+ return x + torch.where(positions[..., None] >= 0, P[positions], 0.0)
## cut_before_counting [learned-positions]: You cut the starts off at 0 before you count on, so padding takes up
positions and the first word is too late.
+ return x + P[starts.clamp(min=0)[:, None] + torch.arange(x.shape[1])]
## mirrored_positions [learned-positions]: You mirror negative positions: padding gets the vectors of real ones.
+ return x + P[(starts[:, None] + torch.arange(x.shape[1])).abs()]
## starts_subtracted [learned-positions]: Your starts are subtracted, as if each were the number of padded columns.
+ return x + P[(torch.arange(x.shape[1]) - starts[:, None]).clamp(min=0)]
## first_column_one_place_late [learned-positions]: You count each sentence one position too late; its first column
belongs at its start.
+ return x + P[(starts[:, None] + torch.arange(1, x.shape[1] + 1)).clamp(min=0)]
## multiplied_by_positions [what-a-position-has-to-be]: You multiply tokens by their positions instead of adding.
+ return x * P[(starts[:, None] + torch.arange(x.shape[1])).clamp(min=0)]
## appended [add-or-concatenate]: You append the positions, which doubles the width; add them instead.
+ positions = (starts[:, None] + torch.arange(x.shape[1])).clamp(min=0)
+ return torch.cat([x, P[positions]], dim=2)
## positions_alone [what-a-position-has-to-be]: You return the position vectors without the tokens.
+ return P[(starts[:, None] + torch.arange(x.shape[1])).clamp(min=0)] + 0 * x
## backwards [what-a-position-has-to-be]: You count backwards from the end of each sentence.
+ positions = (starts[:, None] + torch.arange(x.shape[1]).flip(0)).clamp(min=0)
+ return x + P[positions]
## written_into_x [what-a-position-has-to-be]: You add the positions into x itself, which belongs to the caller: the sum
has to be a new tensor.
+ x += P[(starts[:, None] + torch.arange(x.shape[1])).clamp(min=0)]
+ return x
## padding_blanked [learned-positions]: You blank the padded columns, words and all; keep the tokens and add the vector
of position 0.
+ positions = starts[:, None] + torch.arange(x.shape[1])
+ return torch.where(positions[..., None] < 0, 0.0, x + P[positions.clamp(min=0)])
## starts_moved_together: You move all sentences together until the earliest begins at 0, so a sentence depends on its
neighbours.
+ return x + P[(starts - starts.min())[:, None] + torch.arange(x.shape[1])]
## tokens_first: Your table of positions has a row for every token and a column for every sentence; the batch comes
first here.
+ return x + P[(starts + torch.arange(x.shape[1])[:, None]).clamp(min=0)]
## last_row_for_padding [learned-positions]: Your padding gets the last vector of the table; it should get that of
position 0.
+ positions = starts[:, None] + torch.arange(x.shape[1])
+ return x + P[torch.where(positions < 0, -1, positions)]
## starts_without_sign [learned-positions]: You drop the sign of the starts, so a padded sentence looks like a continued
one.
+ return x + P[starts.abs()[:, None] + torch.arange(x.shape[1])]
""")
