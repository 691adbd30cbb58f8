"""How much of a translation is also in a wanted one: BLEU by words, chrF by letters, over a whole list."""

import math
import re
from collections import Counter
from collections.abc import Sequence

LONGEST, LETTERS, BETA = 4, 6, 2  # words in a row, letters in a row; recall counts so many times as much


def bleu(written: Sequence[str], wanted: Sequence[str]) -> float:
    """Geometric mean of four clipped precisions, times the brevity penalty; 0 if one of the four is 0.

    Words and marks are tokens of their own, marks inside of words as well: don't has three. Where there are none, it is
    equal to sacrebleu's corpus score without smoothing, divided by 100; its tokens keep don't, 3.5 and e-mail whole.

    Source: Papineni et al. 2002, section 2.3.
    Raises: ValueError for two lists of different lengths or without a sentence.
    """
    _same_length("bleu", written, wanted)
    ours, theirs = ([re.findall(r"\w+|[^\w\s]", text) for text in side] for side in (written, wanted))
    hits, n_ours, _ = _counts(ours, theirs, LONGEST)
    c, r = (sum(map(len, side)) for side in (ours, theirs))
    if 0 in hits:
        return 0.0
    mean = sum(math.log(hit / n) for hit, n in zip(hits, n_ours, strict=True)) / LONGEST
    return math.exp(mean + min(0.0, 1 - r / c))


def chrf(written: Sequence[str], wanted: Sequence[str]) -> float:
    """F-score of the letters: mean precision and mean recall of one to six letters in a row, spaces left out.

    Equal to sacrebleu's corpus chrF2, divided by 100.

    Source: Popović 2015, section 3.
    Raises: ValueError for two lists of different lengths or without a sentence.
    """
    _same_length("chrf", written, wanted)
    ours, theirs = (["".join(text.split()) for text in side] for side in (written, wanted))
    orders = [(h, o, t) for h, o, t in zip(*_counts(ours, theirs, LETTERS, fair=True), strict=True) if o and t]
    if not any(h for h, _, _ in orders):
        return 0.0
    precision, recall = (sum(order[0] / order[k] for order in orders) / len(orders) for k in (1, 2))
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def _counts(written: Sequence, wanted: Sequence, longest: int, *, fair: bool = False) -> tuple[list[int], ...]:
    """Hits, pieces written and pieces wanted, for pieces of 1 to ``longest`` tokens, over all sentences.

    With ``fair`` pieces do not count where the wanted sentence is too short to have one.
    """
    found = [[0] * longest for _ in range(3)]
    for ours, theirs in zip(written, wanted, strict=True):
        for n in range(1, longest + 1):
            mine, right = (Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1)) for s in (ours, theirs))
            mine = mine if right or not fair else Counter()
            for counts, more in zip(found, (mine & right, mine, right), strict=True):
                counts[n - 1] += more.total()
    return tuple(found)


def _same_length(caller: str, written: Sequence[str], wanted: Sequence[str]) -> None:
    if len(written) != len(wanted) or not wanted:
        raise ValueError(f"{caller}: {len(written)} texts are compared with {len(wanted)}; expected as many, and some.")
