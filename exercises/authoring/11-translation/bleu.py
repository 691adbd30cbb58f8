"""Exercise 11, question bleu: what papers quote: BLEU."""

from collections import Counter
from math import exp

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def bleu_reference(written, wanted, longest):
    exact = sum(map(lambda a, b: list(a) == list(b), written, wanted)) / len(wanted)
    product_of_precisions = 1.0
    for n in range(1, longest + 1):
        hits, total = 0, 0
        for ours, theirs in zip(written, wanted, strict=True):
            a, b = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (ours, theirs))
            hits, total = hits + (a & b).total(), total + a.total()
        product_of_precisions *= hits / total if total else 0.0
    c, r = (sum(map(len, texts)) for texts in (written, wanted))
    if product_of_precisions == 0:
        return exact, 0.0
    return exact, product_of_precisions ** (1 / longest) * min(1.0, exp(1 - r / c))


def garble(rng, words, V, change, drop, double):
    """A translation with mistakes: other words, words left out, words said twice."""
    text = [int(rng.integers(V)) if rng.random() < change else word for word in words]
    return [word for word in text if rng.random() >= drop for _ in range(1 + (rng.random() < double))]


def draw_texts(rng, longest=None, drop=0.1, double=0.1, change=0.15):
    """Sentences of few different words, so that n-grams occur several times; some are exactly right."""
    B, V = int(rng.integers(5, 7)), 4
    wanted = [rng.integers(V, size=n).tolist() for n in rng.integers(4, 9, size=B)]
    written = [garble(rng, words, V, change, drop, double) for words in wanted]
    written[0], written[1] = list(wanted[0]), list(wanted[1])
    written, wanted = [*written, list(written[-1])], [*wanted, list(wanted[-1])]  # a pair that comes twice counts twice
    return written, wanted, longest or int(rng.integers(2, 5))


def short_texts(rng):
    """Fewer words than are wanted, so that the penalty counts; one text has none at all."""
    cases = []
    for longest in (1, 3, 4):
        written, wanted, _ = draw_texts(rng, drop=0.3, double=0.0)
        written[2], written[3] = [], written[3][:1]
        cases.append((written, wanted, longest))
    return [*cases, ([[7], []], [[7], [8]], 1)]


def long_texts(rng):
    """More words than are wanted: the penalty is 1, and repeated words are no hits."""
    cases = [draw_texts(rng, longest, drop=0.0, double=0.5) for longest in (1, 2, 4)]
    written, wanted, _ = draw_texts(rng, drop=0.0, double=0.0, change=0.1)
    written[0] = wanted[0] = rng.integers(4, size=9).tolist()
    return [*cases, (written, wanted, 6)]


def nothing_right(rng):
    """Orders without a hit or without any n-gram."""
    wanted = [rng.integers(5, size=n).tolist() for n in (6, 4, 7)]
    strangers = [[word + 5 for word in words] for words in wanted]
    single = [words[:1] for words in wanted]
    backwards = [[1, 11], [2, 22]], [[11, 1], [22, 2]], 2
    return [(strangers, wanted, 2), (single, wanted, 2), (single, single, 2), ([[], [], []], wanted, 1), backwards]


QUESTION = Question(
    id="bleu",
    title="What papers quote: BLEU",
    name="exact_and_bleu",
    minutes=30,
    difficulty=2,
    checks=with_battery(
        equals("values", 2, lambda rng: [draw_texts(rng) for _ in range(2)], bleu_reference),
        equals("texts too short", 3, short_texts, bleu_reference),
        equals("texts too long", 2, long_texts, bleu_reference),
        equals("nothing right", 2, nothing_right, bleu_reference),
        more={"boundary": in_cases_of("nothing right")},
    ),
    hints=(
        "Do the example by hand first: list the n-grams that were written with how often each came, and the "
        "wanted ones in the same way.",
        "Nothing is divided inside of a sentence. Two sums run over the whole batch for each order, and so do "
        "the two lengths.",
        "A geometric mean is the exponential of the mean of logarithms. Before you take one, ask whether "
        "there was any hit; and the penalty never makes a score larger.",
    ),
    section="bleu-and-chrf",
    inputs=Inputs(no_sizes="lists of sentences, each of its own length"),
)

right, wrong = answers_to(QUESTION)


@right
def counted_by_numpy(written, wanted, longest):
    exact = np.mean([list(ours) == list(theirs) for ours, theirs in zip(written, wanted, strict=True)])
    lengths = sum(len(text) for text in written), sum(len(text) for text in wanted)
    precisions = []
    for n in range(1, longest + 1):
        hits, total = 0, 0
        for ours, theirs in zip(written, wanted, strict=True):
            places = range(max(len(ours) - n + 1, 0))
            grams, found = np.unique([repr(ours[i : i + n]) for i in places], return_counts=True)
            pieces = [repr(theirs[i : i + n]) for i in range(len(theirs) - n + 1)]
            hits += sum(min(k, pieces.count(gram)) for gram, k in zip(grams, found, strict=True))
            total += len(places)
        precisions.append(hits / total if total else 0.0)
    if min(precisions) == 0:
        return float(exact), 0.0
    penalty = 1.0 if lengths[0] >= lengths[1] else np.exp(1 - lengths[1] / lengths[0])
    return float(exact), float(penalty * np.exp(np.mean(np.log(precisions))))


@right
def crossing_out(written, wanted, longest):
    hits, total = np.zeros(longest), np.zeros(longest)
    right_ones = c = r = 0
    for ours, theirs in zip(written, wanted, strict=True):
        right_ones += ours == theirs
        c, r = c + len(ours), r + len(theirs)
        for n in range(1, longest + 1):
            left = [theirs[i : i + n] for i in range(len(theirs) - n + 1)]
            for i in range(len(ours) - n + 1):
                total[n - 1] += 1
                if ours[i : i + n] in left:
                    left.remove(ours[i : i + n])
                    hits[n - 1] += 1
    score = 0.0
    if hits.all():
        score = np.prod(hits / total) ** (1 / longest) * np.exp(min(0, 1 - r / c))
    return right_ones / len(written), score


@right
def grams_as_text(written, wanted, longest):
    def grams(text, n):
        words = [str(word) for word in text]
        return [" ".join(words[i : i + n]) for i in range(max(0, len(words) - n + 1))]

    mean_log = 0.0
    exact = sum(str(a) == str(b) for a, b in zip(written, wanted, strict=True)) / len(written)
    for n in range(1, longest + 1):
        ours, theirs = [grams(a, n) for a in written], [grams(b, n) for b in wanted]
        hits = sum(min(a.count(gram), b.count(gram)) for a, b in zip(ours, theirs, strict=True) for gram in set(a))
        if hits == 0:
            return exact, 0.0
        mean_log += np.log(hits / sum(len(a) for a in ours)) / longest
    c, r = (len([word for text in texts for word in text]) for texts in (written, wanted))
    return exact, np.exp(mean_log + (0 if c > r else 1 - r / c))


@right
def as_often_written(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "You count n-grams over the whole batch before you clip, so that a word is a hit that is wanted in another "
    "sentence only."
)
def clipped_over_the_batch(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        ours = [tuple(a[i : i + n]) for a in written for i in range(len(a) - n + 1)]
        theirs = [tuple(b[i : i + n]) for b in wanted for i in range(len(b) - n + 1)]
        hits, total = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours)), len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong("You compute a BLEU of each sentence and average; hits, n-grams and lengths are summed over the batch.")
def mean_of_sentence_bleus(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    scores = []
    for a, b in zip(written, wanted, strict=True):
        precisions = []
        for n in range(1, longest + 1):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            precisions.append(hits / max(len(ours), 1))
        penalty = np.exp(min(0.0, 1 - len(b) / max(len(a), 1)))
        scores.append(0.0 if min(precisions) == 0 else np.exp(np.mean(np.log(precisions))) * penalty)
    return exact, float(np.mean(scores))


wrong.edits("""
# as_often_written
## log_of_no_hits: Where an order has no hit you take the logarithm of 0 or divide by 0.
- precisions.append(hits / max(total, 1))
+ precisions.append(np.divide(hits, total))
- if min(precisions) == 0:
+ if False:
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+ return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - np.divide(r, c))))
## not_clipped: Every written n-gram that occurs in the wanted sentence is a hit, however often it was written.
- hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
+ hits += sum(gram in theirs for gram in ours)
## each_once: Different n-grams are counted, each once; what was written twice and is wanted twice has two hits.
+ hits += len(set(ours) & set(theirs))
## sets_on_both_sides: Hits and n-grams are counted as sets, each different n-gram once.
- hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
- total += len(ours)
+ hits += len(set(ours) & set(theirs))
+ total += len(set(ours))
## recall: You divide by the number of wanted n-grams; a precision divides by those that were written.
- total += len(ours)
+ total += len(theirs)
## mean_of_sentences: You divide within each sentence and average the precisions; sum hits and n-grams over the batch
first.
- hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
- total += len(ours)
+ hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours)) / max(len(ours), 1)
+ total += 1
## one_long_text: You join all sentences into one text, whose n-grams then cross from one sentence into the next.
  c, r = sum(map(len, written)), sum(map(len, wanted))
+ written, wanted = ([[word for text in texts for word in text]] for texts in (written, wanted))
## arithmetic_mean: You take the ordinary mean of the precisions; BLEU takes the geometric one.
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+ return exact, float(np.mean(precisions) * np.exp(min(0.0, 1 - r / c)))
## product_without_root: You multiply the precisions without taking the root of their number.
+ return exact, float(np.prod(precisions) * np.exp(min(0.0, 1 - r / c)))
## longest_order_alone: You count only the longest order; all from 1 on should count.
+ return exact, float(precisions[-1] * np.exp(min(0.0, 1 - r / c)))
## no_penalty: There is no brevity penalty: whoever writes only the words that are sure gets a high score.
+ return exact, float(np.exp(np.mean(np.log(precisions))))
## penalty_for_length: Your penalty has c and r exchanged: it punishes texts that are too long.
+ return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - c / r)))
## penalty_is_a_ratio: Your penalty is c/r, not exp(1 − r/c).
+ return exact, float(np.exp(np.mean(np.log(precisions))) * min(1.0, c / r))
## orders_never_written_left_out: You leave out an order of which nothing was written; return 0 then.
-     precisions.append(hits / max(total, 1))
- if min(precisions) == 0:
+     if total:
+         precisions.append(hits / total)
+ if min(precisions, default=0) == 0:
## penalty_turned_round: Your penalty has r and c the wrong way round in its exponent: texts that are too short get a
bonus.
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+ return exact, float(np.exp(np.mean(np.log(precisions)) + max(0.0, 1 - c / r)))
## bonus_for_length: Texts that are too long get a penalty above 1 from you, which is a bonus; allow at most 1.
+ return exact, float(np.exp(np.mean(np.log(precisions)) + 1 - r / c))
## penalty_of_sentences: You average a penalty of each sentence; there is one, from the lengths of the whole batch.
+ penalties = [np.exp(min(0.0, 1 - len(b) / len(a))) if a else 0.0 for a, b in zip(written, wanted, strict=True)]
+ return exact, float(np.exp(np.mean(np.log(precisions))) * np.mean(penalties))
## empty_orders_left_out: Orders without a hit or without an n-gram are left out of your mean; return 0 then.
- if min(precisions) == 0:
+ precisions = [precision for precision in precisions if precision > 0]
+ if not precisions:
## division_by_nothing: When no n-gram was written you divide by 0.
- precisions.append(hits / max(total, 1))
+ precisions.append(hits / total)
## smoothed_by_one: You add 1 to hits and n-grams; here an order without a hit makes BLEU 0.
+ precisions.append((hits + 1) / (total + 1))
## written_and_wanted_exchanged: What was written and what is wanted have changed places: hits are divided by the wanted
n-grams, and the penalty is turned round.
  c, r = sum(map(len, written)), sum(map(len, wanted))
+ written, wanted, c, r = wanted, written, r, c
## one_order_too_few: The longest order is missing: your orders end one too early.
- for n in range(1, longest + 1):
+ for n in range(1, max(longest, 2)):
## share_of_words: Your first number is a share of right words; a sentence counts only if all of it is right.
- exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
+ exact = sum(x == y for a, b in zip(written, wanted, strict=True) for x, y in zip(a, b, strict=False)) / sum(
+     map(len, wanted)
+ )
## beginning_is_enough: You take a sentence as right when its beginning is; it has to be as long as what is wanted.
+ exact = sum(a == b[: len(a)] for a, b in zip(written, wanted, strict=True)) / len(wanted)
## sorted_words: You ignore the order of the words in the exact share; it should matter.
+ exact = sum(sorted(a) == sorted(b) for a, b in zip(written, wanted, strict=True)) / len(wanted)
## in_percent: Your numbers are percentages; shares between 0 and 1 are expected.
-     return exact, 0.0
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+     return 100 * exact, 0.0
+ return 100 * exact, 100 * float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
## bleu_in_percent: Your BLEU is a percentage, as papers print it; a share between 0 and 1 is expected.
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+ return exact, 100 * float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
## exact_share_lost: Where BLEU is 0 your exact share is 0 as well; short sentences can be right without any n-gram.
-     return exact, 0.0
+     return 0.0, 0.0
## bleu_alone: Only BLEU comes back; the share of exact sentences belongs before it.
-     return exact, 0.0
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+     return 0.0
+ return float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
## glued_ids: You glue the ids of an n-gram together, so that 1 and 11 read like 11 and 1; keep them apart.
- ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
- theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
+ ours = ["".join(map(str, a[i : i + n])) for i in range(len(a) - n + 1)]
+ theirs = ["".join(map(str, b[i : i + n])) for i in range(len(b) - n + 1)]
## grams_one_short: Your n-grams end one word early: the last one of each sentence is missing.
+ ours = [tuple(a[i : i + n]) for i in range(len(a) - n)]
+ theirs = [tuple(b[i : i + n]) for i in range(len(b) - n)]
## short_grams_too: At the end of a sentence you count pieces that are shorter than n words.
+ ours = [tuple(a[i : i + n]) for i in range(len(a))]
+ theirs = [tuple(b[i : i + n]) for i in range(len(b))]
## nearly_zero: You put a tiny number in place of an order without hits; return 0 then.
- precisions.append(hits / max(total, 1))
+ precisions.append(max(hits, 1e-9) / max(total, 1))
- return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))
+ return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / max(c, 1))))
## four_at_most: You stop at n-grams of four words; `longest` may be larger.
- for n in range(1, longest + 1):
+ for n in range(1, min(longest, 4) + 1):
## always_four: You always count n-grams of up to four words; the longest order is given.
- for n in range(1, longest + 1):
+ for n in range(1, 5):
## wanted_anywhere: You clip against what is wanted anywhere in the batch; a word is a hit where its own sentence wants
it.
- theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
+ theirs = [tuple(x[i : i + n]) for x in wanted for i in range(len(x) - n + 1)]
## each_pair_once: A pair of sentences that comes twice is counted once.
- for a, b in zip(written, wanted, strict=True):
+ for a, b in set(zip(map(tuple, written), map(tuple, wanted), strict=True)):
""")
