"""Exercise 01, question encode: what its checks draw, and the question."""

import re
from itertools import pairwise

from clearcheck import Inputs, Question, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearformer.tokenizers import N_BYTES, WORD

from .gpt2 import ANY_TEXTS, END, MERGES, NOVEL, PATTERN
from .shared import LETTERS, WIDE, library_tokenizer

UNCUT = "(?s:.+)"  # the whole text is one word
SINGLE_DIGITS = r" ?[^\W\d_]+|\d| ?(?:_|[^\w\s])+|\s+"
SECONDS = 3.0  # a right answer takes a fiftieth of it


def merge_pair(ids, pair, new):
    result, i = [], 0
    while i < len(ids):
        found = tuple(ids[i : i + 2]) == pair
        result.append(new if found else ids[i])
        i += 2 if found else 1
    return result


def draw_word(rng, characters, length):
    """A word with a run of three and a run of two, and every character in it."""
    first, second = characters[:2]
    drawn = [*rng.choice(list(characters), length), first * 3, second * 2, *characters]
    return "".join(rng.permutation(drawn))


def draw_merges(rng, word, how_many):
    """Pairs in the order in which someone might have learned them; each stands in `word` when its turn comes."""
    ids, pairs = list(word.encode()), []
    for k in range(how_many):
        present = sorted(set(pairwise(ids)))
        if not present:
            break
        doubles = [pair for pair in present if pair[0] == pair[1]]
        pool = doubles if k == 0 and doubles else present
        pair = pool[rng.integers(len(pool))]
        pairs.append(pair)
        ids = merge_pair(ids, pair, N_BYTES + k)
    return pairs


def by_preference(word, merges, prefer):
    """Ids when the present pair with the lowest `prefer(place in the list, pairs of the word)` is merged first."""
    ids, places = list(word.encode()), {pair: k for k, pair in enumerate(merges)}
    while present := [pair for pair in pairwise(ids) if pair in places]:
        best = min(present, key=lambda pair: prefer(places[pair], present.count(pair)))
        ids = merge_pair(ids, best, N_BYTES + places[best])
    return ids


def longest_first(word, merges):
    """Ids when the longest known piece is taken from the left."""
    pieces, rest, ids = library_tokenizer(merges).pieces, word.encode(), []
    while rest:
        ids.append(max((k for k, piece in enumerate(pieces) if rest.startswith(piece)), key=lambda k: len(pieces[k])))
        rest = rest[len(pieces[ids[-1]]) :]
    return ids


def tells_the_order(word, merges, pattern):
    """Whether other orders than that of the list lead to other ids: not every word can tell."""
    others = [longest_first(word, merges)]
    others += [by_preference(word, merges, prefer) for prefer in (lambda k, n: -k, lambda k, n: (-n, k))]
    return encode_by_library(word, merges, pattern) not in others


def telling_case(draw):
    """The first draw that tells the order of the merges, of at most a thousand."""
    return next(case for case in (draw() for _ in range(1000)) if tells_the_order(*case))


def single_words(rng):
    """Words that the merges come from, others, one that two pairs spell, and a long one; none of them is cut."""

    def own(how_many):
        one, other, third = rng.choice(list(LETTERS), 3, replace=False).tolist()
        word = " " + draw_word(rng, [one, other, third.upper()], 24)
        return word, draw_merges(rng, word, how_many), UNCUT

    def new(how_many):
        letters = rng.choice(list(LETTERS), 3, replace=False).tolist()
        return draw_word(rng, letters, 20), draw_merges(rng, draw_word(rng, letters, 24), how_many), UNCUT

    a, b, c = map(ord, rng.choice(list(LETTERS), 3, replace=False))
    twice_spelled = [(a, b), (b, c), (a, 257)], [(b, c), (a, 256)]  # 256 and c spell what a and 257 do
    long = f"{a:c}{b:c}{c:c}" * 90, [*((0, k) for k in range(N_BYTES)), (a, b), (2 * N_BYTES, c)], UNCUT
    return [
        *(telling_case(lambda n=n: own(n)) for n in (5, 12)),
        *(telling_case(lambda n=n: new(n)) for n in (6, 12, 20)),
        *((f"{a:c}{b:c}{c:c}{a:c}{b:c}", merges, UNCUT) for merges in twice_spelled),
        long,
    ]


def digits_within_digits(rng):
    """The letter ŏ is the bytes 197 and 143, which written in digits end as the pair of 97 and 143 does."""
    letter = str(rng.choice(list(LETTERS)))
    return [(f"{letter}\u014f{letter}", [(97, 143)], UNCUT)]


def wide_letters(rng):
    one, other = map(str, rng.choice(list(LETTERS), 2, replace=False))
    wide, rare = map(str, rng.choice(list(WIDE), 2, replace=False))
    characters = one + other + wide
    pairs = draw_merges(rng, draw_word(rng, characters, 16), 8)
    return [
        (draw_word(rng, characters, 16), pairs, UNCUT),
        (one + rare + wide, pairs[:2], UNCUT),
        (one, pairs, UNCUT),
        (f"  {draw_word(rng, characters, 5)}\no\u0308 ", [], UNCUT),  # other spaces, and ö in two characters
    ]


def texts_by_gpt2(rng):
    """A novel from some place on, and texts whose merges GPT-2 has."""
    start = int(rng.integers(90))
    few = int(rng.integers(20, 60))
    return [(NOVEL[start:], MERGES, PATTERN), (NOVEL[-200:], MERGES[:few], PATTERN), (ANY_TEXTS[5], MERGES, PATTERN)]


def cut_texts(rng):
    """Merges that fit across a cut, and other patterns than GPT-2's."""
    a, b = rng.choice(list(LETTERS), 2, replace=False).tolist()
    across = f"{a}{b} {a}{b} {a}{b}, {a}{b}", [(ord(b), 32), (ord(a), ord(b)), (32, 257), (257, 44)], PATTERN
    digits = [(ord("1"), ord("9")), (256, ord("8")), (32, ord("1")), (ord("2"), ord("0"))]
    return [
        across,
        ("198 1984 2019", digits, PATTERN),
        ("198 1984 2019", digits, SINGLE_DIGITS),
        ("snake_case isn't 1984", [(95, 99), (39, 116), (110, 39)], WORD.pattern),
    ]


def texts_of_every_kind(rng):
    """Each with GPT-2's merges, and with merges from its own bytes, some of which cross a cut."""
    return [(text, merges, PATTERN) for text in ANY_TEXTS for merges in (MERGES, draw_merges(rng, text, 12))]


def every_text_comes_back(ask, rng):
    for text, merges, pattern in texts_of_every_kind(rng):
        ids, pieces = ask(text, merges, pattern), library_tokenizer(merges).pieces
        if not isinstance(ids, list) or not all(type(i) is int and 0 <= i < len(pieces) for i in ids):
            return f"For the text {text!r} a list of ids from 0 to {len(pieces) - 1} is expected."
        came = b"".join(pieces[i] for i in ids).decode(errors="replace")
        if came != text:
            return f"The text {text!r} does not come back: put together again, your ids give {came!r}."
    return None


def encode_by_library(text, merges, pattern):
    return library_tokenizer(merges, re.compile(pattern)).encode(text)


QUESTION = Question(
    id="encode",
    title="From text to ids, as GPT-2 does it",
    name="encode",
    minutes=12,
    difficulty=2,
    seconds=SECONDS,
    checks=with_battery(
        equals("single words", 3, single_words, encode_by_library),
        equals("letters of several bytes", 2, wide_letters, encode_by_library),
        equals("GPT-2's merges", 3, texts_by_gpt2, encode_by_library),
        equals("where the pattern cuts", 4, cut_texts, encode_by_library),
        holds("every text comes back", 2, every_text_comes_back),
        more={
            "extremes": more_cases("letters of several bytes", digits_within_digits),
            "empty": more_cases("GPT-2's merges", lambda rng: [("", MERGES, PATTERN), (END, [], PATTERN)]),
        },
    ),
    hints=(
        "First cut, then merge: each word that the pattern finds is encoded by itself. Start from its bytes, and do by "
        "hand what the chapter did with tea and team: one merge at a time, over the whole word.",
        "Write the merge of one pair as a function of its own and try it on a run such as aaaa and aaa. A "
        "piece that was used up by one merge cannot be used again by its neighbour.",
        "Who decides which pair comes next: the word, or the list? The place of a pair in the list also says "
        "which id it gets.",
    ),
    section="byte-pairs-by-hand",
    inputs=Inputs(no_sizes="a text, a list of pairs and a pattern"),
)
