"""Exercise 01, question encode: encode a word with byte pairs."""

from itertools import pairwise

from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import more_cases, with_battery
from clearformer.tokenizers import N_BYTES, BytePairTokenizer

from .shared import LETTERS, WIDE


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
    pieces = [bytes([b]) for b in range(N_BYTES)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    rest, ids = word.encode(), []
    while rest:
        ids.append(max((k for k, piece in enumerate(pieces) if rest.startswith(piece)), key=lambda k: len(pieces[k])))
        rest = rest[len(pieces[ids[-1]]) :]
    return ids


def tells_the_order(word, merges):
    """Whether other orders than that of the list lead to other ids: not every word can tell."""
    others = [longest_first(word, merges)]
    others += [by_preference(word, merges, prefer) for prefer in (lambda k, n: -k, lambda k, n: (-n, k))]
    return encode_by_library(word, merges) not in others


def telling_case(draw):
    """The first draw that tells the order of the merges, of at most a thousand."""
    return next(case for case in (draw() for _ in range(1000)) if tells_the_order(*case))


def known_words(rng):
    """Words as the chapter has them, with a space in front, and with a capital letter."""

    def draw(how_many):
        one, other, third = rng.choice(list(LETTERS), 3, replace=False).tolist()
        word = " " + draw_word(rng, [one, other, third.upper()], 24)
        return word, draw_merges(rng, word, how_many)

    return [telling_case(lambda n=n: draw(n)) for n in (5, 8, 12)]


def new_words(rng):
    def draw(how_many):
        letters = rng.choice(list(LETTERS), 3, replace=False).tolist()
        return draw_word(rng, letters, 20), draw_merges(rng, draw_word(rng, letters, 24), how_many)

    a, b, c = map(ord, rng.choice(list(LETTERS), 3, replace=False))
    one_text_two_pairs = f"{a:c}{b:c}{c:c}{a:c}{b:c}", [(a, b), (b, c), (a, 257)]  # 256 and c spell what a and 257 do
    other_merges = f"{a:c}{b:c}{c:c}{a:c}{b:c}", [(b, c), (a, 256)]  # of the same word
    many = f"{a:c}{b:c}{c:c}" * 90, [*((0, k) for k in range(N_BYTES)), (a, b), (2 * N_BYTES, c)]  # a long word, too
    return [*(telling_case(lambda n=n: draw(n)) for n in (6, 12, 20)), one_text_two_pairs, other_merges, many]


def wide_letters(rng):
    one, other = map(str, rng.choice(list(LETTERS), 2, replace=False))
    wide, rare = map(str, rng.choice(list(WIDE), 2, replace=False))
    characters = one + other + wide
    pairs = draw_merges(rng, draw_word(rng, characters, 16), 8)
    return [
        (draw_word(rng, characters, 16), pairs),
        (one + rare + wide, pairs[:2]),
        (one, pairs),
        (f"  {draw_word(rng, characters, 5)}\no\u0308 ", []),  # other spaces, and ö in two characters
    ]


def digits_within_digits(rng):
    """The letter ŏ is the bytes 197 and 143, which written in digits end as the pair of 97 and 143 does."""
    letter = str(rng.choice(list(LETTERS)))
    return [(f"{letter}\u014f{letter}", [(97, 143)])]


def encode_by_library(word, merges):
    """The library's encoder with merges that were handed to it."""
    tokenizer = BytePairTokenizer("", 0)
    tokenizer.ranks = {tuple(pair): N_BYTES + k for k, pair in enumerate(merges)}
    return tokenizer.encode(word)


QUESTION = Question(
    id="encode",
    title="Encode a word with byte pairs",
    name="encode_word",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("words the merges come from", 5, known_words, encode_by_library),
        equals("new words", 5, new_words, encode_by_library),
        equals("letters of several bytes", 4, wide_letters, encode_by_library),
        more={"extremes": more_cases("letters of several bytes", digits_within_digits)},
    ),
    hints=(
        "Start from the bytes of the word, and do by hand what the chapter did with tea and team: one merge "
        "at a time, over the whole word.",
        "Write the merge of one pair as a function of its own and try it on a run such as aaaa and aaa. A "
        "piece that was used up by one merge cannot be used again by its neighbour.",
        "Who decides which pair comes next: the word, or the list? The place of a pair in the list also says "
        "which id it gets.",
    ),
    section="byte-pairs-by-hand",
    inputs=Inputs(no_sizes="a word and a list of pairs"),
)

right, wrong = answers_to(QUESTION)


@right
def merge_after_merge(word, merges):
    ids = list(word.encode("utf-8"))
    for k, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i : i + 2] = [256 + k]
            i += 1
    return ids


@right
def lowest_rank_first(word, merges):
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    ids = list(word.encode())
    while True:
        present = [rank[pair] for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
        if not present:
            return ids
        best, old = min(present), ids
        ids, i = [], 0
        while i < len(old):
            if tuple(old[i : i + 2]) == tuple(merges[best]):
                ids.append(256 + best)
                i += 2
            else:
                ids.append(old[i])
                i += 1


@right
def build_a_new_list(word, merges):
    pieces = [byte for byte in bytes(word, "utf-8")]
    for new, pair in enumerate(merges, start=256):
        done = []
        whole = []  # whether this piece was made by the merge under way
        for piece in pieces:
            if done and not whole[-1] and (done[-1], piece) == tuple(pair):
                done[-1], whole[-1] = new, True
            else:
                done.append(piece)
                whole.append(False)
        pieces = done
    return pieces


@right
def as_a_string_of_characters(word, merges):
    text = word.encode().decode("latin-1")
    for k, (a, b) in enumerate(merges):
        text = text.replace(chr(a) + chr(b), chr(256 + k))
    return [ord(character) for character in text]


@right
def as_often_written(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    while True:
        present = [rank[pair] for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
        if not present:
            return ids
        ids = merged(ids, merges[min(present)], 256 + min(present))


@right
def as_often_written_too(word, merges):
    ids = list(word.encode())
    for k, pair in enumerate(merges):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(256 + k if found else ids[i])
            i += 2 if found else 1
        ids = done
    return ids


@wrong(
    "You take the longest known piece from the left; encoding replays the merges in the order in which they were "
    "learned."
)
def longest_piece_first(word, merges):
    pieces = {bytes([b]): b for b in range(256)}
    by_id = {b: bytes([b]) for b in range(256)}
    for k, (a, b) in enumerate(merges):
        by_id[256 + k] = by_id[a] + by_id[b]
        pieces.setdefault(by_id[256 + k], 256 + k)
    rest, ids = word.encode(), []
    while rest:
        length = max(n for n in range(1, len(rest) + 1) if rest[:n] in pieces)
        ids.append(pieces[rest[:length]])
        rest = rest[length:]
    return ids


@wrong("You go through the list of merges once from its end, so a piece is looked for before it can have been made.")
def one_backward_pass(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = list(word.encode())
    for k in reversed(range(len(merges))):
        ids = merged(ids, merges[k], 256 + k)
    return ids


@wrong(
    "You walk through the word once and merge whatever known pair stands there, whether or not another one was "
    "learned before it."
)
def whatever_stands_there(word, merges):
    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    i = 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) in rank:
            ids[i : i + 2] = [256 + rank[ids[i], ids[i + 1]]]
        else:
            i += 1
    return ids


@wrong(
    "You compare the list with the bytes of the word alone, so a piece that was made by a merge is never merged again."
)
def bytes_only(word, merges):
    ids = list(word.encode())
    rank = {tuple(pair): 256 + k for k, pair in enumerate(merges)}
    done, i = [], 0
    while i < len(ids):
        pair = tuple(ids[i : i + 2])
        done.append(rank.get(pair, ids[i]))
        i += 2 if pair in rank else 1
    return done


@wrong(
    "You start from the numbers of the characters; the ids below 256 are bytes, and some letters take two or "
    "three of them.",
    section="text-to-tokens",
)
def characters_for_bytes(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = [ord(character) for character in word]
    for k, pair in enumerate(merges):
        ids = merged(ids, pair, 256 + k)
    return ids


@wrong("Your first merge gets the id 257; the bytes end at 255, so it should be 256.")
def ids_one_too_high(word, merges):
    ids = [i + (i > 255) for i in map(ord, word.encode().decode("latin-1"))]
    for k, pair in enumerate(merges):
        a, b = (i + (i > 255) for i in pair)
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == (a, b):
                ids[i : i + 2] = [257 + k]
            i += 1
    return ids


@wrong("You carry out each merge at one place of the word; carry it out wherever its pair occurs.")
def first_occurrence_only(word, merges):
    ids = list(word.encode())
    for k, (a, b) in enumerate(merges):
        for i in range(len(ids) - 1):
            if (ids[i], ids[i + 1]) == (a, b):
                ids[i : i + 2] = [256 + k]
                break
    return ids


@wrong(
    "You merge the first known pair from the left and start over; the pair that was learned first comes first, "
    "wherever in the word it stands."
)
def first_known_pair(word, merges):
    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    while True:
        places = [i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) in rank]
        if not places:
            return ids
        i = places[0]
        ids[i : i + 2] = [256 + rank[ids[i], ids[i + 1]]]


@wrong("Your new ids count the merges that were found in this word; a merge has one id, whatever the word.")
def numbered_by_what_was_found(word, merges):
    ids, found = list(word.encode("utf-8")), 0
    for pair in merges:
        done, i = [], 0
        while i < len(ids):
            here = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(256 + found if here else ids[i])
            i += 2 if here else 1
        found += len(done) < len(ids)
        ids = done
    return ids


wrong.edits("""
# merge_after_merge
## ids_from_zero: You give a merged piece its place in the list as its id, but ids 0 to 255 are taken by the bytes.
- return ids
+ return [i if i < 256 else i - 256 for i in ids]
## pairs_by_spelling: You look for neighbours that spell what a pair spells, but a merge is for two ids: other pairs can
spell the same.
  ids = list(word.encode("utf-8"))
+ text = [bytes([byte]) for byte in range(256)]
  for k, (a, b) in enumerate(merges):
+     text.append(text[a] + text[b])
...
- if ids[i] == a and ids[i + 1] == b:
+ if text[ids[i]] + text[ids[i + 1]] == text[256 + k]:
## runs_from_the_right: You merge a run such as aaa from its right end; the chapter reads every word from the left.
- i = 0
- while i < len(ids) - 1:
-     if ids[i] == a and ids[i + 1] == b:
+ for i in range(len(ids) - 2, -1, -1):
+     if ids[i : i + 2] == [a, b]:

# as_often_written
## latest_merge_first: You apply the latest merge first, but the oldest one in the list has precedence.
- ids = merged(ids, merges[min(present)], 256 + min(present))
+ ids = merged(ids, merges[max(present)], 256 + max(present))
## counts_again: You count the pairs of the new word and merge the most frequent known one; encoding is not to count
again.
- present = [rank[pair] for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
+ present = [pair for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
- ids = merged(ids, merges[min(present)], 256 + min(present))
+ best = min(present, key=lambda pair: (-present.count(pair), rank[pair]))
+ ids = merged(ids, best, 256 + rank[best])

# as_often_written_too
## overlapping_pairs: In a run such as aaa you use the piece in the middle twice, so the decoded word would be longer
than the word.
  found = tuple(ids[i : i + 2]) == tuple(pair)
+ again = i + 2 < len(ids) and tuple(ids[i + 1 : i + 3]) == tuple(pair)
- i += 2 if found else 1
+ i += 2 if found and not again else 1
## either_order: You also merge the pair the other way round: b followed by a is not the pair (a, b).
- found = tuple(ids[i : i + 2]) == tuple(pair)
+ found = sorted(ids[i : i + 2]) == sorted(pair)
## last_piece_lost: You lose the word's last piece when it is not part of a pair.
- while i < len(ids):
+ while i < len(ids) - 1:
## space_stripped [text-to-tokens]: You strip the word: the space in front of it is a byte of its own, and it belongs to
the word.
- ids = list(word.encode())
+ ids = list(word.strip().encode())
## spaces_joined [text-to-tokens]: You make one space of several in a row, but each of them is a byte.
+ ids = list(__import__("re").sub(" +", " ", word).encode())
## letters_composed [text-to-tokens]: You join a letter and its accent into one character first, so the bytes are not
those of the word that came.
+ ids = list(__import__("unicodedata").normalize("NFC", word).encode())
## lower_case [text-to-tokens]: You turn capital letters into small ones; they are other bytes, and the text could not
be restored from your ids.
+ ids = list(word.lower().encode())
""")
