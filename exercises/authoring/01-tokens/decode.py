"""Exercise 01, question decode: from ids back to text."""

from clearcheck import AnswerProblem, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearformer.tokenizers import N_BYTES

from .encode_checks import draw_merges, draw_word
from .gpt2 import ANY_TEXTS, END, MERGES, NOVEL
from .shared import LETTERS, WIDE, library_tokenizer


def decoded(ids, merges):
    """The pieces of the library's tokeniser, and behind them the special token."""
    pieces = [*library_tokenizer(merges).pieces, END.encode()]
    return b"".join(pieces[i] for i in ids).decode(errors="replace")


def drawn_pieces(rng):
    """Ids in any order, pieces of pieces among them; the same without merges."""
    characters = [*rng.choice(list(LETTERS), 3, replace=False).tolist(), " "]
    merges = draw_merges(rng, draw_word(rng, characters, 30), 12)
    plain = sorted({*characters, *characters[0].upper()})
    few = [ord(c) for c in rng.choice(plain, 9)]
    new = [N_BYTES + int(k) for k in rng.permutation(len(merges))]
    return [(new + few, merges), ([*few, new[0], *few[::-1]], merges), (few, []), ([new[-1]], merges)]


def real_texts(rng):
    """The last one has each of its letters as one piece."""
    start = int(rng.integers(90))
    letters = [str(letter) for letter in rng.choice(list(WIDE[:3]), 2, replace=False)]
    texts = [(library_tokenizer(MERGES).encode(text), MERGES) for text in (NOVEL[start:], *ANY_TEXTS)]
    return [*texts, ([256, ord("s"), 257], [tuple(letter.encode()) for letter in letters])]


def special_and_broken(rng):
    """The special token, alone and between others, and bytes that are no whole character."""
    end, few = N_BYTES + len(MERGES), int(rng.integers(3, 30))
    wide, letter = str(rng.choice(list(WIDE[-2:]))).encode(), ord(rng.choice(list(LETTERS)))
    pairs = [(wide[1], wide[2]), (letter, letter)]  # the end of a character of three bytes
    return [
        ([end], MERGES),
        ([262, end, 32, letter, end, letter], MERGES),
        ([letter, N_BYTES + few, letter], MERGES[:few]),
        ([letter, N_BYTES, letter], []),
        ([wide[0], 256, 257], pairs),
        ([letter, wide[0], letter], MERGES),
        ([256, letter, *wide[:2]], pairs),
        ([255, letter, 254], MERGES),  # no text has these two bytes
        ([], MERGES),
    ]


def what_no_text_says(ask, rng):
    """Errors are told by what they mean, since each answer has its own line that raises them."""
    for ids, merges in special_and_broken(rng):
        told = f"For the ids {ids} and {len(merges)} merges your function"
        try:
            came = ask(ids, merges)
        except AnswerProblem:
            call = ask.calls[-1]
            if call.raised("UnicodeDecodeError"):
                return f"{told} ended in a UnicodeDecodeError; bytes that are no whole character should become �."
            if N_BYTES + len(merges) in ids and (call.raised("LookupError") or call.raised("ValueError")):
                return f"{told} raised {call.reply['type']}. Is {N_BYTES + len(merges)} known? It is {END}."
            raise
        if came != decoded(ids, merges):
            return f"{told} returned {came!r}; this is not right."
    return None


def every_text_comes_back(ask, rng):
    for text in (*ANY_TEXTS, NOVEL):
        for merges in (MERGES, draw_merges(rng, text, 12)):
            came = ask(library_tokenizer(merges).encode(text), merges)
            if came != text:
                return f"The ids of the text {text!r} do not lead back to it: you give {came!r}."
    return None


QUESTION = Question(
    id="decode",
    title="And back to text",
    name="decode",
    minutes=8,
    difficulty=1,
    checks=with_battery(
        equals("pieces of pieces", 3, drawn_pieces, decoded),
        equals("real texts", 2, real_texts, decoded),
        holds("no whole character, or no text", 2, what_no_text_says),
        holds("every text comes back", 1, every_text_comes_back),
        more={"empty": in_cases_of("real texts")},
    ),
    hints=(
        "Which bytes does the piece 256 have? Then it is easy to say which ones the piece 257 has, also where its pair "
        "holds 256.",
        "Make the list of the bytes of all pieces first: 256 single bytes, and then one entry for each merge.",
        "Join the bytes of all ids before you read them as a text, since a character may be parted between two tokens. "
        "`bytes.decode` has an argument that says what becomes of bytes that are no text.",
    ),
    section="back-to-text-decode",
    inputs=Inputs(no_sizes="a list of ids and a list of pairs"),
)

right, wrong = answers_to(QUESTION)


@right
def piece_after_piece(ids, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    pieces.append(b"<|endoftext|>")
    return b"".join(pieces[i] for i in ids).decode("utf-8", errors="replace")


@right
def taken_apart_again(ids, merges):
    def bytes_of(i):
        if i < 256:
            return bytes([i])
        if i == 256 + len(merges):
            return b"<|endoftext|>"
        a, b = merges[i - 256]
        return bytes_of(a) + bytes_of(b)

    return str(b"".join(map(bytes_of, ids)), "utf-8", "replace")


@right
def merges_undone_from_the_last(ids, merges):
    known = dict(enumerate(merges, start=256))
    known[256 + len(merges)] = b"<|endoftext|>"
    for new in reversed(known):
        ids = [part for i in ids for part in (known[new] if i == new else [i])]
    return bytearray(ids).decode(errors="replace")


@right
def as_often_written(ids, merges):
    vocabulary = {i: bytes([i]) for i in range(256)}
    for k, pair in enumerate(merges):
        vocabulary[256 + k] = vocabulary[pair[0]] + vocabulary[pair[1]]
    vocabulary[256 + len(merges)] = b"<|endoftext|>"
    found = b""
    for i in ids:
        found += vocabulary[i]
    return found.decode(errors="replace")


wrong.edits("""
# piece_after_piece
## each_piece_alone: You read each piece as a text by itself, but a character may be parted between two of them: join
the bytes first.
- return b"".join(pieces[i] for i in ids).decode("utf-8", errors="replace")
+ return "".join(pieces[i].decode("utf-8", errors="replace") for i in ids)
## strict: Your function ends in an error where the bytes are no whole character; it should write �.
+ return b"".join(pieces[i] for i in ids).decode("utf-8")
## broken_left_out: You leave out bytes that are no whole character; � should stand in their place.
+ return b"".join(pieces[i] for i in ids).decode("utf-8", errors="ignore")
## bytes_for_characters [text-to-tokens]: You read each byte as a character; letters beyond those of English take two
bytes or more.
+ return b"".join(pieces[i] for i in ids).decode("latin-1")
## english_alone [text-to-tokens]: You read the bytes as ASCII, which has no letters but English ones; UTF-8 has all.
+ return b"".join(pieces[i] for i in ids).decode("ascii", errors="replace")
## bytes_returned: You return the bytes; a text is expected.
+ return b"".join(pieces[i] for i in ids)
## list_of_texts: You return a list of pieces; one text is expected.
+ return [pieces[i].decode("utf-8", errors="replace") for i in ids]
## shown_with_spaces: You put a space between the pieces; those that begin with one have it already.
+ return b" ".join(pieces[i] for i in ids).decode("utf-8", errors="replace")
## spaces_stripped: You strip the text; spaces at its beginning and its end belong to it.
+ return b"".join(pieces[i] for i in ids).decode("utf-8", errors="replace").strip()
## line_breaks_alike: You make all line breaks alike; each has to come back as it came.
+ return "\\n".join(b"".join(pieces[i] for i in ids).decode("utf-8", errors="replace").splitlines())
## letters_composed: You join a letter and its accent into one character, so the text that comes back is another.
+ return __import__("unicodedata").normalize("NFC", b"".join(pieces[i] for i in ids).decode("utf-8", errors="replace"))
## each_piece_once: You write each different piece once; a token that comes again is written again.
+ return b"".join(pieces[i] for i in dict.fromkeys(ids)).decode("utf-8", errors="replace")
## exchanged: The two halves of a pair have changed places.
- pieces.append(pieces[a] + pieces[b])
+ pieces.append(pieces[b] + pieces[a])
## no_special_token [numbers-and-tokens-that-are-not-text]: You know no special token: the id that follows those of the
merges is <|endoftext|>.
- pieces.append(b"<|endoftext|>")
## special_token_left_out [numbers-and-tokens-that-are-not-text]: You write nothing for the special token; its text is
expected.
+ pieces.append(b"")

# taken_apart_again
## parted_once: You take a piece apart once; its two halves may be merged pieces again.
- return bytes_of(a) + bytes_of(b)
+ return bytes([a, b])
## a_fixed_end [numbers-and-tokens-that-are-not-text]: You take 356 for the special token whatever the merges are; its
id is the first one behind them.
- if i == 256 + len(merges):
+ if i == 356:
## cut_at_the_end [numbers-and-tokens-that-are-not-text]: You stop at the special token; what comes after it is to be
written, too.
- return str(b"".join(map(bytes_of, ids)), "utf-8", "replace")
+ ids = ids[: [*ids, 256 + len(merges)].index(256 + len(merges)) + 1]
+ return str(b"".join(map(bytes_of, ids)), "utf-8", "replace")

# as_often_written
## one_merge_too_late: Your first merge makes the piece 257; the bytes end at 255, so it makes the piece 256.
- vocabulary[256 + k] = vocabulary[pair[0]] + vocabulary[pair[1]]
+ vocabulary[257 + k] = vocabulary[pair[0]] + vocabulary[pair[1]]
""")
