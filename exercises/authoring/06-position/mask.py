"""Exercise 06, question mask: what the mask gives away."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def outputs_that_change(sees, i, j, n_blocks, positions):
    first, last = min(i, j), max(i, j)
    n = torch.arange(len(sees))
    changed = (n == i) | (n == j)
    if sees.all():
        return changed | positions
    between = (first < n) & (n < last)
    return changed | between | ((n > last) & (positions or n_blocks > 1))


def everybody(n_tokens):
    return np.ones((n_tokens, n_tokens), dtype=bool)


def the_past(n_tokens):
    return np.tri(n_tokens, dtype=bool)


def draw_swap(rng, n_tokens):
    """Two positions inside, with something before, between and behind them; the larger one first in half the cases."""
    first = int(rng.integers(1, n_tokens - 5))
    last = int(rng.integers(first + 2, n_tokens - 2))
    return (first, last) if rng.random() < 0.5 else (last, first)


def swaps(rng, mask, settings):
    cases = []
    for n_blocks, positions in settings:
        N = int(rng.integers(8, 13))
        cases.append((mask(N), *draw_swap(rng, N), n_blocks, positions))
    return cases


def without_mask(rng):
    return swaps(rng, everybody, ((1, False), (12, False), (2, False), (1, True), (3, True)))


def with_mask(rng):
    return swaps(rng, the_past, ((1, False), (1, False), (2, False), (3, False), (12, False)))


def mask_and_positions(rng):
    """Positions on top of the mask; neighbours, and both ends of the sequence."""
    N = int(rng.integers(8, 13))
    return [
        *swaps(rng, the_past, ((1, True), (2, True), (1, True))),
        (the_past(N), 3, 4, 1, False),
        (the_past(N), 3, 4, 1, True),
        (the_past(N), 5, 4, 2, False),
        (the_past(N), 6, 2, 1, False),
        (the_past(N), 1, 5, 1, False),
        (the_past(N), 0, N - 1, 1, False),
        (the_past(N), 3, 0, 2, False),
        (everybody(N), N - 1, 0, 2, False),
        (the_past(2), 1, 0, 1, False),
        (everybody(2), 0, 1, 1, False),
    ]


QUESTION = Question(
    id="mask",
    title="What the mask gives away",
    name="changed_by_swap",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("without a mask", 3, without_mask, outputs_that_change, dtype="bool"),
        equals("with a mask", 5, with_mask, outputs_that_change, dtype="bool"),
        equals("positions and edges", 4, mask_and_positions, outputs_that_change, dtype="bool"),
        more={"boundary": in_cases_of("positions and edges")},
        off={"ties": "the two positions that are put in order differ, as the task says"},
    ),
    hints=(
        "Ask of every position: whom may it look at (a row of `sees`), and is that the same set of vectors before and "
        "after?",
        "With a mask there are four kinds of positions: before both, at one of the two, between them, and "
        "behind both. Go through the four for one block, then for two.",
        "After the first block the tokens are no longer what they were: what did each of the two hear there, "
        "and does it hear the same when it stands at the other position?",
    ),
    section="the-mask-as-position-information",
    inputs=Inputs(no_sizes="both axes of the mask are the tokens, and two tokens are among the cases"),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def four_kinds_of_positions(sees, i, j, n_blocks, positions):
    first, last = sorted((i, j))
    causal = not sees[0, -1]
    found = []
    for n in range(len(sees)):
        if n in (first, last):
            found.append(True)
        elif not causal:
            found.append(positions)
        elif n < first:
            found.append(False)
        elif n < last:
            found.append(True)
        else:
            found.append(positions or n_blocks > 1)
    return torch.tensor(found)


@right
def by_sets(sees, i, j, n_blocks, positions):
    """What a token is after each block: itself, and the set of what it looked at."""
    n_tokens = len(sees)

    def states(words):
        tokens = [(word, n if positions else 0) for n, word in enumerate(words)]
        for _ in range(min(n_blocks, 2)):
            tokens = [(tokens[n], frozenset(tokens[s] for s in range(n_tokens) if sees[n, s])) for n in range(n_tokens)]
        return tokens

    before = list(range(n_tokens))
    after = before.copy()
    after[i], after[j] = before[j], before[i]
    return torch.tensor([a != b for a, b in zip(states(before), states(after), strict=True)])


@right
def as_often_written(sees, i, j, n_blocks, positions):
    n = torch.arange(len(sees))
    own = (n == i) | (n == j)
    if sees.all():
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))


@wrong("You let everything change, always; without positions most of it stays.", section="two-sentences-one-set")
def everything_changes(sees, i, j, n_blocks, positions):
    return torch.ones(len(sees), dtype=torch.bool)


@wrong(
    "Under a mask you let everything change, also what stands before both positions.",
)
def everything_under_a_mask(sees, i, j, n_blocks, positions):
    n = torch.arange(len(sees))
    return (n == i) | (n == j) | positions | (not sees.all())


wrong.edits("""
# as_often_written
## later_place_left_out: With one causal block you leave out the later of the two places itself.
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+ return (n >= min(i, j)) & ((n < max(i, j)) | positions | (n_blocks > 1))
## positions_from_the_second_block: Without a mask you let positions count only from the second block on; they are added
before the first.
- return own | positions
+ return own | (positions & (n_blocks > 1))
## one_block_hears_the_order: You let one causal block hear the order; behind both positions it hears the same set as
before.
- if sees.all():
-     return own | positions
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+ return own | positions if sees.all() else n >= min(i, j)
## mask_gives_nothing_away: With a mask and without positions you let only the two
positions change, as if the mask gave nothing away.
+ return n >= min(i, j) if positions and not sees.all() else own | positions
## between_forgotten: You forget the tokens between the two: they have one of them before them, and now it is the other.
+ return own | positions if sees.all() else own | ((n > max(i, j)) & (positions or n_blocks > 1))
## depth_leaks [two-sentences-one-set]: Without a mask you let a second block change every position; without positions
no number of blocks does that.
- return own | positions
+ return own | positions | (n_blocks > 1)
## positions_ignored [two-sentences-one-set]: Your answer does not look at `positions`: with them a position is part
of what a token says.
-     return own | positions
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+     return own
+ return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (n_blocks > 1))
## positions_ignored_under_a_mask: Under a mask your answer does not look at `positions`, but a set of other vectors has
another average.
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+ return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (n_blocks > 1))
## mask_the_wrong_way: Your mask looks the wrong way: the tokens before the two
positions cannot see them.
+ return own | ((n > min(i, j)) & (n < max(i, j))) | ((n < min(i, j)) & (positions or n_blocks > 1))
## word_by_word [two-sentences-one-set]: You follow the words to their new positions; the question is what changes
position by position.
-     return own | positions
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+     return torch.full((len(sees),), positions)
+ return ((n >= min(i, j)) & (n <= max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
## positions_lift_the_mask: With positions you let everything change, also what
stands before both positions and sees neither.
- if sees.all():
+ if positions or sees.all():
## order_of_i_and_j_assumed: You take i for the earlier position; the two come in any order.
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+ return own | ((n > i) & (n < j)) | ((n > j) & (positions or n_blocks > 1))
## three_blocks_wanted: You ask for three blocks where two are enough.
+ return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 2))
## depth_does_not_help: However many causal blocks there are, you let nothing behind both positions change; from the
second block on the sums differ.
+ return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & positions)
## between_wants_two_blocks: Between the two positions you want a second block, too; there the set itself has changed.
+ return own | ((n > min(i, j)) & (positions or n_blocks > 1))
## causal_turned_round: You have turned the two cases round: what you answer with a
causal mask holds without one. True in `sees` means may look.
- if sees.all():
+ if not sees.all():
## what_stays [two-sentences-one-set]: You say what stays; the question is what changes.
-     return own | positions
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+     return ~(own | positions)
+ return ~(own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1)))
## positions_listed: You list the positions that change; give one truth value for every position.
+     return (own | positions).nonzero()[:, 0]
+ found = own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+ return found.nonzero()[:, 0]
## positions_ignored_without_a_mask [two-sentences-one-set]: Without a mask your answer does not look at `positions`,
but an average notices which word has which position.
- return own | positions
+ return own
## own_positions_forgotten: You forget the two positions themselves: another token stands there now.
- own = (n == i) | (n == j)
+ other = (n != i) & (n != j)
-     return own | positions
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+     return other & positions
+ return other & (((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1)))
## earlier_place_forgotten: Under a mask you leave out the earlier of the two positions, where another token stands now.
-     return own | positions
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+     return (n == i) | (n == j) | positions
+ first, last = min(i, j), max(i, j)
+ return ((n > first) & (n <= last)) | ((n > last) & (positions or n_blocks > 1))
## ranges_from_i_to_j: Your ranges run from i to j, and come out empty when j is the earlier position.
+     return (n == i) | (n == j) | positions
+ return (n >= i) & ((n <= j) | positions | (n_blocks > 1))
## first_token_takes_part_alone: You let a swap with the first token stop at the later of the two; from the second block
on it goes further, as any other does.
- return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
+ behind = positions or (n_blocks > 1 and min(i, j) > 0)
+ return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & behind)
## never_causal: You answer as if every token saw all, whatever `sees` holds: look at an entry above its diagonal.
- if sees.all():
+ if sees[-1, 0]:
""")
