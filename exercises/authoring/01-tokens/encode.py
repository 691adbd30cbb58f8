"""Exercise 01, question encode: from text to ids, as GPT-2 does it."""

import re

from clearcheck import answers_to

from .encode_checks import QUESTION

right, wrong = answers_to(QUESTION)


@right
def merge_after_merge(text, merges, pattern):
    result = []
    for word in re.findall(pattern, text):
        ids = list(word.encode("utf-8"))
        for k, (a, b) in enumerate(merges):
            i = 0
            while i < len(ids) - 1:
                if ids[i] == a and ids[i + 1] == b:
                    ids[i : i + 2] = [256 + k]
                i += 1
        result.extend(ids)
    return result


@right
def build_a_new_list(text, merges, pattern):
    def encode_word(word):
        pieces = [byte for byte in bytes(word, "utf-8")]
        for new, pair in enumerate(merges, start=256):
            done = []
            for piece in pieces:
                if done and (done[-1], piece) == pair:
                    done[-1] = new
                else:
                    done.append(piece)
            pieces = done
        return pieces

    return [i for word in re.findall(pattern, text) for i in encode_word(word)]


@right
def as_a_string_of_characters(text, merges, pattern):
    ids = []
    for found in re.finditer(pattern, text):
        spelled = found.group().encode().decode("latin-1")
        for k, (a, b) in enumerate(merges):
            spelled = spelled.replace(chr(a) + chr(b), chr(256 + k))
        ids += [ord(character) for character in spelled]
    return ids


@right
def lowest_rank_first(text, merges, pattern):
    from itertools import pairwise

    def merged(ids, pair, new):
        done = []
        for i in ids:
            if done and done[-1] == pair[0] and i == pair[1]:
                done[-1] = new
            else:
                done.append(i)
        return done

    rank, result = {pair: k for k, pair in enumerate(merges)}, []
    for word in re.findall(pattern, text):
        ids = list(word.encode())
        for _ in merges:
            present = [rank[pair] for pair in pairwise(ids) if pair in rank]
            if not present:
                break
            ids = merged(ids, merges[min(present)], 256 + min(present))
        result += ids
    return result


@right
def as_often_written(text, merges, pattern):
    result = []
    for word in re.findall(pattern, text):
        ids = list(word.encode())
        for k, pair in enumerate(merges):
            done, i = [], 0
            while i < len(ids):
                found = tuple(ids[i : i + 2]) == pair
                done.append(256 + k if found else ids[i])
                i += 2 if found else 1
            ids = done
        result += ids
    return result


@wrong(
    "You take the longest known piece from the left; encoding replays the merges in the order in which they were "
    "learned."
)
def longest_piece_first(text, merges, pattern):
    known = [bytes([b]) for b in range(256)]
    for a, b in merges:
        known.append(known[a] + known[b])
    ids = []
    for word in re.findall(pattern, text):
        rest = word.encode()
        while rest:
            length = max(n for n in range(1, len(rest) + 1) if rest[:n] in known)
            ids.append(known.index(rest[:length]))
            rest = rest[length:]
    return ids


@wrong(
    "You walk through the word once and merge whatever known pair stands there, whether or not another one was "
    "learned before it."
)
def whatever_stands_there(text, merges, pattern):
    rank, result = {tuple(pair): k for k, pair in enumerate(merges)}, []
    for word in re.findall(pattern, text):
        ids, i = list(word.encode()), 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) in rank:
                ids[i : i + 2] = [256 + rank[ids[i], ids[i + 1]]]
            else:
                i += 1
        result += ids
    return result


@wrong(
    "You merge the first known pair from the left and start over; the pair that was learned first comes first, "
    "wherever in the word it stands."
)
def first_known_pair(text, merges, pattern):
    rank, result = {tuple(pair): k for k, pair in enumerate(merges)}, []
    for word in re.findall(pattern, text):
        ids = list(word.encode())
        while places := [i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) in rank]:
            i = places[0]
            ids[i : i + 2] = [256 + rank[ids[i], ids[i + 1]]]
        result += ids
    return result


@wrong("You replace pairs in a text of digits, where one id is found inside another: 97 143 stands in 197 143, too.")
def ids_in_digits(text, merges, pattern):
    ids = []
    for word in re.findall(pattern, text):
        digits = " ".join(map(str, word.encode()))
        for k, (a, b) in enumerate(merges):
            digits = digits.replace(f"{a} {b}", str(256 + k))
        ids += map(int, digits.split())
    return ids


wrong.edits("""
# merge_after_merge
## ids_from_zero: You give a merged piece its place in the list as its id, but ids 0 to 255 are taken by the bytes.
- return result
+ return [i if i < 256 else i - 256 for i in result]
## list_for_each_word: You return a list for each word; one list of all ids is expected.
- result.extend(ids)
+ result.append(ids)
## pairs_by_spelling: You look for neighbours that spell what a pair spells, but a merge is for two ids: other pairs can
spell the same.
  def merge_after_merge(text, merges, pattern):
+     known = [bytes([byte]) for byte in range(256)]
...
- i = 0
+ i, known = 0, [*known[: 256 + k], known[a] + known[b]]
- if ids[i] == a and ids[i + 1] == b:
+ if known[ids[i]] + known[ids[i + 1]] == known[256 + k]:
## runs_from_the_right: You merge a run such as aaa from its right end; the chapter reads every word from the left.
- i = 0
- while i < len(ids) - 1:
-     if ids[i] == a and ids[i + 1] == b:
+ for i in range(len(ids) - 2, -1, -1):
+     if ids[i : i + 2] == [a, b]:

# lowest_rank_first
## latest_merge_first: You apply the latest merge first, but the oldest one in the list has precedence.
- ids = merged(ids, merges[min(present)], 256 + min(present))
+ ids = merged(ids, merges[max(present)], 256 + max(present))
## counts_again: You count the pairs of the new word and merge the most frequent known one; encoding is not to count
again.
+ best = max(sorted(present), key=present.count)
+ ids = merged(ids, merges[best], 256 + best)

# as_often_written
## one_backward_pass: You go through the list of merges once from its end, so a piece is looked for before it can have
been made.
- for k, pair in enumerate(merges):
+ for k, pair in reversed([*enumerate(merges)]):
## across_the_cuts: You merge across the cuts: the pattern parts the text into words, and no merge goes from one word
into the next.
- for word in re.findall(pattern, text):
+ for word in [text]:
## split_at_spaces: You split the text at its spaces, and they are lost: the pattern keeps each of them in a word.
+ for word in text.split():
## pattern_of_your_own: You cut with a pattern of your own; cut with the one that is handed to you.
+ for word in re.findall(r" ?[^\\W\\d_]+| ?\\d+| ?(?:_|[^\\w\\s])+|\\s+", text):
## each_word_once: You encode each different word once; a word that comes again has its ids again.
+ for word in dict.fromkeys(re.findall(pattern, text)):
## special_token_typed [numbers-and-tokens-that-are-not-text]: You make a special token of what was typed: nobody may be
able to type one, so <|endoftext|> is a text like any other.
- for word in re.findall(pattern, text):
-     ids = list(word.encode())
+ for word in re.findall(r"<\\|endoftext\\|>|" + pattern, text):
+     ids = [256 + len(merges)] if word == "<|endoftext|>" else list(word.encode())
## characters_for_bytes [text-to-tokens]: You start from the numbers of the characters; the ids below 256 are bytes, and
some letters take two or three of them.
- ids = list(word.encode())
+ ids = list(map(ord, word))
## letters_for_ids [text-to-tokens]: You return letters, as the chapter's code for English does; ids are expected, and
they begin with bytes.
+ ids = list(word)
## bytes_only: You compare the list with the bytes of the word alone, so a piece that was made by a merge is never
merged again.
- found = tuple(ids[i : i + 2]) == pair
+ found = tuple(ids[i : i + 2]) == pair and max(pair) < 256
## ids_one_too_high: Your first merge gets the id 257; the bytes end at 255, so it should be 256.
- done.append(256 + k if found else ids[i])
+ done.append(257 + k if found else ids[i])
## first_occurrence_only: You carry out each merge at one place of the word; carry it out wherever its pair occurs.
- found = tuple(ids[i : i + 2]) == pair
+ found = tuple(ids[i : i + 2]) == pair and 256 + k not in done
## numbered_by_what_was_found: Your new ids count the merges that were found in this word; a merge has one id, whatever
the word.
- ids = list(word.encode())
+ ids, made = list(word.encode()), 256
- done.append(256 + k if found else ids[i])
+ done.append(made if found else ids[i])
- ids = done
+ ids, made = done, made + (len(done) < len(ids))
## overlapping_pairs: In a run such as aaa you use the piece in the middle twice, so the decoded word would be longer
than the word.
  found = tuple(ids[i : i + 2]) == pair
+ again = i + 2 < len(ids) and tuple(ids[i + 1 : i + 3]) == pair
- i += 2 if found else 1
+ i += 2 if found and not again else 1
## either_order: You also merge the pair the other way round: b followed by a is not the pair (a, b).
- found = tuple(ids[i : i + 2]) == pair
+ found = sorted(ids[i : i + 2]) == sorted(pair)
## last_piece_lost: You lose the word's last piece when it is not part of a pair.
- while i < len(ids):
+ while i < len(ids) - 1:
## space_stripped [text-to-tokens]: You strip the word: the space in front of it is a byte of its own, and it belongs to
the word.
- ids = list(word.encode())
+ ids = list(word.strip().encode())
## spaces_joined [text-to-tokens]: You make one space of several in a row, but each of them is a byte.
+ ids = list(re.sub(" +", " ", word).encode())
## letters_composed [text-to-tokens]: You join a letter and its accent into one character first, so the bytes are not
those of the word that came.
+ ids = list(__import__("unicodedata").normalize("NFC", word).encode())
## lower_case [text-to-tokens]: You turn capital letters into small ones; they are other bytes, and the text could not
be restored from your ids.
+ ids = list(word.lower().encode())
""")
