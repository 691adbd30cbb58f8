"""Exercise 01, question learn: Stretch: learn the merges."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import drawn_once
from clearformer.tokenizers import N_BYTES, BytePairTokenizer

from .encode_checks import merge_pair
from .shared import LETTERS, WIDE

WORDS = re.compile(r"\s?\S+|\s+")  # words are given here, some of them with marks that the chapter's pattern cuts off


def draw_text(rng, characters, how_many):
    """Words of two to seven characters, most of them more than once."""
    vocabulary = ["".join(rng.choice(list(characters), int(rng.integers(2, 8)))) for _ in range(how_many)]
    vocabulary.append(characters[0] * 5)
    shares = rng.dirichlet(np.ones(len(vocabulary)))
    return WORDS.findall(" ".join(rng.choice(vocabulary, 4 * how_many, p=shares)))


def merges_before_a_tie(words, most):
    """How many merges, at most so many, are learned before two pairs are equally frequent."""
    spelled = [list(word.encode()) for word in words]
    for k in range(most):
        counts = Counter(pair for ids in spelled for pair in pairwise(ids)).most_common(2)
        if len({times for _, times in counts}) < 2:
            return k
        spelled = [merge_pair(ids, counts[0][0], N_BYTES + k) for ids in spelled]
    return most


@drawn_once
def draw_without_ties(rng, how_many, least):
    """A text, and so many merges that no rule for ties is needed. The third letter comes as a capital, too."""
    for _ in range(1000):
        letters = "".join(rng.choice(list(LETTERS), 3, replace=False))
        words = draw_text(rng, letters + letters[2].upper(), how_many)
        n_merges = merges_before_a_tie(words, 2 * least)
        if n_merges >= least:
            return words, n_merges
    raise ValueError(f"no text without ties came in a thousand draws of {how_many} words")


def long_texts(rng):
    """The last one has more than two hundred words."""
    words, n_merges = draw_without_ties(rng, 12, 5)
    return [(words, 1), (words, n_merges), draw_without_ties(rng, 20, 5), draw_without_ties(rng, 60, 6)]


def tied_texts(rng):
    """Each word once: almost every count is shared by several pairs."""
    cases = []
    for n in (2, 5, 9):
        words = ["".join(rng.choice(list(LETTERS), int(rng.integers(3, 6)))) for _ in range(5)]
        cases.append((WORDS.findall(" ".join(words)), n))
    return cases


def small_texts(rng):
    one, other = map(str, rng.choice(list(LETTERS), 2, replace=False))
    wide = rng.choice(list(WIDE), 2, replace=False)
    return [
        (draw_text(rng, one + other + "".join(wide), 8), 6),
        ([one * 7 + other * 2, " " + one * 7], 30),
        ([one, " " + other], 3),
        ([wide[0], " " + wide[1]], 9),
        ([one * 5, *[f" {other}{wide[0]}"] * 3], 4),
        ([f"{one}o\u0308", f" {other}o\u0308"], 2),  # ö in two characters
        ([one + other, "   "], 2),  # spaces alone are a word, too
        (draw_text(rng, one + other, 4), 0),
    ]


def learn_by_library(words, n_merges):
    return list(BytePairTokenizer("".join(words), n_merges, pattern=WORDS).ranks)


QUESTION = Question(
    id="learn",
    title="Stretch: learn the merges",
    name="learn_merges",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals("long texts", 7, long_texts, learn_by_library),
        equals("ties", 6, tied_texts, learn_by_library),
        equals("runs, bytes, and no pair left", 5, small_texts, learn_by_library),
        more={"ties": in_cases_of("ties")},
    ),
    hints=(
        "Each round has three steps: count the pairs of neighbours in all words, choose one, merge it in every "
        "word. The next round counts the pieces that are there then.",
        "For the ties: Python compares tuples entry by entry, so one tuple can hold both wishes, the large "
        "count and the small ids. In which direction does each of the two have to point?",
        "Test three small cases by hand: a word that comes twice, a run of four equal letters, and more merges "
        "than there are pairs.",
    ),
    section="byte-pairs-by-hand",
    inputs=Inputs(no_sizes="a list of words"),
)

right, wrong = answers_to(QUESTION)


@right
def words_with_their_counts(words, n_merges):
    spelled = {}
    for word in words:
        key = tuple(word.encode())
        spelled[key] = spelled.get(key, 0) + 1
    merges = []
    for new in range(256, 256 + n_merges):
        counts = {}
        for pieces, frequency in spelled.items():
            for pair in (pieces[i : i + 2] for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + frequency
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = {}
        for pieces, frequency in spelled.items():
            done, i = [], 0
            while i < len(pieces):
                found = pieces[i : i + 2] == best
                done.append(new if found else pieces[i])
                i += 2 if found else 1
            after[tuple(done)] = after.get(tuple(done), 0) + frequency
        spelled = after
    return merges


@right
def strings_of_characters(words, n_merges):
    from collections import Counter

    texts = [word.encode().decode("latin-1") for word in words]
    merges = []
    for k in range(n_merges):
        counts = Counter(text[i : i + 2] for text in texts for i in range(len(text) - 1))
        if not counts:
            return merges
        most = max(counts.values())
        best = min(pair for pair in counts if counts[pair] == most)
        merges.append((ord(best[0]), ord(best[1])))
        texts = [text.replace(best, chr(256 + k)) for text in texts]
    return merges


@right
def sorted_by_pair_and_then_by_count(words, n_merges):
    from itertools import pairwise

    lists, merges = [list(bytes(word, "utf-8")) for word in words], []
    while len(merges) < n_merges and any(len(pieces) > 1 for pieces in lists):
        every = [pair for pieces in lists for pair in pairwise(pieces)]
        ordered = sorted(sorted(set(every)), key=every.count, reverse=True)
        a, b = ordered[0]
        for pieces in lists:
            for i in range(len(pieces)):
                if pieces[i : i + 2] == [a, b]:
                    pieces[i : i + 2] = [256 + len(merges)]
        merges.append((a, b))
    return merges


@right
def as_often_written(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "You count the bytes once and return the most frequent pairs; after each merge the counting begins again, "
    "with the merged piece."
)
def counted_only_once(words, n_merges):
    counts = {}
    for word in words:
        pieces = tuple(word.encode())
        for pair in (pieces[i : i + 2] for i in range(len(pieces) - 1)):
            counts[pair] = counts.get(pair, 0) + 1
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]


@wrong("In a run such as aaa you count one pair; the formula counts every place where two neighbours stand.")
def runs_counted_without_overlap(words, n_merges):
    lists, merges = ["".join(map(chr, word.encode())) for word in words], []
    for k in range(n_merges):
        pairs = {text[i : i + 2] for text in lists for i in range(len(text) - 1)}
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-sum(text.count(pair) for text in lists), pair))
        merges.append((ord(best[0]), ord(best[1])))
        lists = [text.replace(best, chr(256 + k)) for text in lists]
    return merges


wrong.edits("""
# as_often_written
## second_tie_by_appearance: Where the first pieces are equal, too, you take the pair that came first; the second piece
decides.
- best = min(counts, key=lambda pair: (-counts[pair], pair))
+ best = min(counts, key=lambda pair: (-counts[pair], pair[0]))
## first_met_wins: Among equally frequent pairs you take the one that you met first; the smaller ids should win.
- best = min(counts, key=lambda pair: (-counts[pair], pair))
+ best = max(counts, key=counts.get)
## larger_ids_win: Among equally frequent pairs you take the one with the larger ids.
+ best = max(counts, key=lambda pair: (counts[pair], pair))
## larger_second_id_wins: Among equally frequent pairs with the same first id you take the one with the larger second
id.
+ best = min(counts, key=lambda pair: (-counts[pair], pair[0], -pair[1]))
## smaller_sum_wins: You settle ties by the sum of the two ids; the first id decides, and the second only if the first
ones are equal.
+ best = min(counts, key=lambda pair: (-counts[pair], sum(pair), pair))
## frequency_ignored: You count every different word once, however often it occurs in the text.
- lists, merges = [tuple(word.encode()) for word in words], []
+ lists, merges = [tuple(word.encode()) for word in dict.fromkeys(words)], []
## across_words: You let pairs cross from one word into the next.
+ lists, merges = [tuple("".join(words).encode())], []
## learned_from_characters [text-to-tokens]: You start from the numbers of the characters; the ids below 256 are bytes,
and some letters take two or three of them.
+ lists, merges = [tuple(map(ord, word)) for word in words], []
## letters_composed [text-to-tokens]: You join a letter and its accent into one character first, so the bytes are not
those of the words that came.
+ lists, merges = [tuple(__import__("unicodedata").normalize("NFC", word).encode()) for word in words], []
## spaces_left_out [text-to-tokens]: You leave out a word of spaces; its bytes count like those of any other word.
+ lists, merges = [tuple(word.encode()) for word in words if word.strip()], []
## new_ids_from_257: Your first merge gets the id 257; the bytes end at 255, so it should get 256.
- done.append(256 + k if found else pieces[i])
+ done.append(257 + k if found else pieces[i])
## order_ignored: You count a pair and its mirror image as one; a followed by b is not the same pair as b followed by a.
  for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
+     pair = min(pair, pair[::-1])
- found = tuple(pieces[i : i + 2]) == best
+ found = tuple(pieces[i : i + 2]) in (best, best[::-1])
## no_pair_left: Your function ends in an error when no pair is left to merge; it should return the merges that it has.
- if not counts:
-     break
## stops_at_single_pairs: You stop when no pair comes twice, although there are still pairs to merge.
- if not counts:
+ if not counts or max(counts.values()) < 2:
## rarest_pair: You merge the rarest pair instead of the most frequent one.
- best = min(counts, key=lambda pair: (-counts[pair], pair))
+ best = min(counts, key=lambda pair: (counts[pair], pair))
## merged_once_per_word: You merge the pair at one place of each word and leave its other occurrences in pieces.
- found = tuple(pieces[i : i + 2]) == best
+ found = tuple(pieces[i : i + 2]) == best and (256 + k) not in done
## new_ids_instead_of_pairs: You return new ids with their counts; return the pairs that were merged.
- merges.append(best)
+ merges.append((256 + k, counts[best]))
## merges_forgotten: The merged words are thrown away, and the next pair is counted in the words as they came.
-     lists = after
+     pass
## one_merge_too_many: You learn one merge more than was asked for.
- for k in range(n_merges):
+ for k in range(n_merges + 1):

# words_with_their_counts
## lower_case [text-to-tokens]: You turn capital letters into small ones and so count the two together; they are
different bytes.
  for word in words:
-     key = tuple(word.encode())
+     key = tuple(word.lower().encode())
## once_a_word: You count a pair once for each word that has it; every place counts, as twice in banana.
- for pair in (pieces[i : i + 2] for i in range(len(pieces) - 1)):
+ for pair in {pieces[i : i + 2] for i in range(len(pieces) - 1)}:
""")
