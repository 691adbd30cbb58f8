"""Checks of exercise 01: words with runs and letters of several bytes, images with four different sizes."""

from itertools import pairwise

import numpy as np
from clearcheck import AnswerProblem, Exercise, Question, equals, holds
from clearcheck.authoring import SIZES, draw_sizes, varied
from clearcheck.exercise import NotAnswered, Stopped
from clearformer.reference import tokens
from clearformer.tokenizers import N_BYTES, WORD, BytePairTokenizer

LETTERS = "aeinorst"
WIDE = "üßéお茶"  # two or three bytes each


def draw_ids(rng, n_vocab, n_tokens):
    """Ids with the last one among them and, where there is room, one that comes twice."""
    ids = rng.integers(0, n_vocab, size=n_tokens)
    ids[-1] = n_vocab - 1
    ids[0] = ids[-2] if n_tokens > 2 else ids[0]
    return ids


# encode


def merged(ids, pair, new):
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
        ids = merged(ids, pair, N_BYTES + k)
    return pairs


def by_preference(word, merges, prefer):
    """Ids when the present pair with the lowest `prefer(place in the list, pairs of the word)` is merged first."""
    ids, places = list(word.encode()), {pair: k for k, pair in enumerate(merges)}
    while present := [pair for pair in pairwise(ids) if pair in places]:
        best = min(present, key=lambda pair: prefer(places[pair], present.count(pair)))
        ids = merged(ids, best, N_BYTES + places[best])
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
    return encoded(word, merges) not in others


def telling_case(draw):
    """The first draw that tells the order of the merges, of at most a thousand."""
    return next(case for case in (draw() for _ in range(1000)) if tells_the_order(*case))


def known_words(rng):
    def draw(how_many):
        word = draw_word(rng, rng.choice(list(LETTERS), 3, replace=False).tolist(), 24)
        return word, draw_merges(rng, word, how_many)

    return [telling_case(lambda n=n: draw(n)) for n in (5, 8, 12)]


def new_words(rng):
    def draw(how_many):
        letters = rng.choice(list(LETTERS), 3, replace=False).tolist()
        return draw_word(rng, letters, 20), draw_merges(rng, draw_word(rng, letters, 24), how_many)

    return [telling_case(lambda n=n: draw(n)) for n in (6, 12, 20)]


def wide_letters(rng):
    one, other = map(str, rng.choice(list(LETTERS), 2, replace=False))
    wide, rare = map(str, rng.choice(list(WIDE), 2, replace=False))
    characters = one + other + wide
    pairs = draw_merges(rng, draw_word(rng, characters, 16), 8)
    return [
        (draw_word(rng, characters, 16), pairs),
        (one + rare + wide, pairs[:2]),
        (one, pairs),
        (draw_word(rng, characters, 5), []),
    ]


def encoded(word, merges):
    """The library's encoder with merges that were handed to it."""
    tokenizer = BytePairTokenizer("", 0)
    tokenizer.ranks = {tuple(pair): N_BYTES + k for k, pair in enumerate(merges)}
    return tokenizer.encode(word)


# embed


def words_of_a_table(rng):
    D, V, N = draw_sizes(rng, 3)
    return [(rng.normal(size=(d, v)), draw_ids(rng, v, n)) for d, v, n in ((D, V, N), (V, N, D), (N, D, V))]


def one_word(rng):
    D, V = draw_sizes(rng, 2)
    return [(rng.normal(size=(D, V)), np.array([i])) for i in (0, V - 1, int(rng.integers(1, V - 1)))]


def refuses_foreign_ids(ask, rng):
    D, V, N = draw_sizes(rng, 3)
    E, ids = rng.normal(size=(D, V)), draw_ids(rng, V, N)
    sentences = [refusal_slip(ask, E, with_one(ids, foreign)) for foreign in (-1, V, V + 3, -V - 2)]
    return next((sentence for sentence in sentences if sentence), None)


def with_one(ids, foreign):
    changed = ids.copy()
    changed[1] = foreign
    return changed


def refusal_slip(ask, E, ids):
    """A sentence when a call with a foreign id does not end in a ValueError, else None."""
    case = f"For an embedding of {E.shape[1]} ids and the id {ids[1]}"
    try:
        ask(E, ids)
    except (NotAnswered, Stopped):
        raise
    except AnswerProblem:
        kind = ask.calls[-1].reply.get("type")
        return None if kind == "ValueError" else f"{case} your function raised {kind}; a ValueError is expected."
    return f"{case} your function returned a result; a ValueError is expected."


# counts


def draw_bill(rng):
    """n_vocab, n_text, C, rows, columns, size, D."""
    size = int(rng.integers(3, 9))
    down, across = rng.choice((4, 5, 6, 7, 9), 2, replace=False)
    channels = int(rng.choice((2, 5)))
    return (
        int(rng.integers(300, 9000)),
        int(rng.integers(50, 300)),
        channels,
        int(down) * size,
        int(across) * size,
        size,
    )


def any_images(rng):
    return [(*draw_bill(rng), D) for D in draw_sizes(rng, 4)]


def grey_squares(rng):
    cases = []
    for D in draw_sizes(rng, 3):
        n_vocab, n_text, _, side, _, size = draw_bill(rng)
        cases.append((n_vocab, n_text, 1, side, side, size, D))
    return cases


def bill(n_vocab, n_text, channels, rows, columns, size, D):
    n_patches = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n_patches),
        "pairs": n_patches**2,
    }


# patches


def draw_image(rng, channels=None):
    """An image whose channels, patch side and two grid sides all differ."""
    C, size, down, across = (int(n) for n in rng.permutation([3, 4, 5, 7]))
    return rng.normal(size=(channels or C, down * size, across * size)), size


colour_images = varied(draw_image, {}, {}, {}, {})


def grey_images(rng):
    size = int(rng.integers(2, 6))
    whole = rng.normal(size=(1, size, size)), size
    return [draw_image(rng, channels=1), draw_image(rng, channels=1), whole]


def one_square_each(ask, rng):
    image, size = draw_image(rng)
    before = ask(image, size)
    C, rows, columns = image.shape
    down, across = rows // size, columns // size
    # Not one of the squares, such as the first, whose number is the same when the grid is counted downwards.
    squares = [(a, b) for a in range(down) for b in range(across) if a * across + b != b * down + a]
    a, b = squares[rng.integers(len(squares))]
    edited = image.copy()
    edited[:, a * size : (a + 1) * size, b * size : (b + 1) * size] += 1
    after = ask(edited, size)
    shape = C * size**2, rows * columns // size**2
    for P in (before, after):
        if not isinstance(P, np.ndarray) or P.shape != shape:
            return f"The result should be an array of shape {shape}, one column for each patch."
    touched = np.flatnonzero((before != after).any(axis=0))
    if len(touched) != 1:
        return f"Only one square of the image was painted over, but {len(touched)} columns of your result changed."
    if touched[0] != a * across + b:
        return (
            f"The square in row {a} and column {b} of the grid was painted over, and your column {touched[0]} changed."
        )
    return None


# rows


def draw_heads(rng, n_tokens=None):
    """x (N×D), W_in (3D×D) and H; D = HK, and of N, H and K none divides another."""
    H, K = (int(n) for n in rng.choice([3, 4, 5], 2, replace=False))
    D = H * K
    x = rng.normal(size=(n_tokens or int(rng.choice([7, 11, 13])), D))
    return x, rng.normal(size=(3 * D, D)), H


def some_heads(rng):
    return [(*draw, head) for draw in (draw_heads(rng), draw_heads(rng)) for head in (0, 1, draw[2] - 1)]


def single_tokens(rng):
    draw = draw_heads(rng, n_tokens=1)
    D = int(rng.choice(SIZES))
    single_head = rng.normal(size=(1, D)), rng.normal(size=(3 * D, D)), 1, 0
    return [(*draw, 1), single_head]


def heads_fill_the_projection(ask, rng):
    x, W_in, H = draw_heads(rng)
    N, D = x.shape
    parts = [ask(x, W_in, H, head) for head in range(H)]
    for part in parts:
        if not isinstance(part, dict) or set(part) != {"Q", "K", "V"}:
            return "The result should be a dict with the keys Q, K and V."
        if any(not isinstance(part[key], np.ndarray) or part[key].shape != (D // H, N) for key in part):
            return f"Each of the three tables should have the shape {(D // H, N)}: one column for each token."
    for key, rows in zip("QKV", np.split(W_in, 3), strict=True):
        stacked = np.concatenate([part[key] for part in parts])
        if not np.allclose(stacked, rows @ x.T, rtol=0, atol=1e-9):
            return f"The tables {key} of all heads, one below the other, should be the {key} of the whole layer."
    return None


def head_tables(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    tables = [U[head * K : (head + 1) * K] @ x.T for U in np.split(W_in, 3)]
    return dict(zip("QKV", tables, strict=True))


# shift


def texts(rng):
    return [
        (rng.integers(1, 40, size=n), int(start)) for n, start in zip(draw_sizes(rng, 3), (40, 57, 99), strict=True)
    ]


def short_texts(rng):
    return [(rng.integers(1, 40, size=n), 40 + int(rng.integers(9))) for n in (1, 2)]


def shifted(ids, start):
    return np.concatenate([[start], ids])[:-1], ids


def sees_only_the_past(ask, rng):
    ids, start = rng.integers(0, 40, size=int(rng.choice(SIZES))), 40
    n = int(rng.integers(1, len(ids) - 1))
    edited = ids.copy()
    edited[n:] = (edited[n:] + 1 + rng.integers(0, 30)) % 40
    answers = [ask(given, start) for given in (ids, edited)]
    for answer in answers:
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            return "The result should be a tuple of two: the inputs and the targets."
        if any(not isinstance(part, np.ndarray) or part.shape != ids.shape for part in answer):
            return f"For a text of {len(ids)} tokens both parts should be arrays of {len(ids)} ids."
    (inputs, targets), (edited_inputs, _) = answers
    if (inputs[: n + 1] != edited_inputs[: n + 1]).any():
        return f"The text was edited from token {n} on, and what the model reads before it predicts token {n} changed."
    if start in targets:
        return "The start token is among your targets, but it is never predicted."
    if start not in inputs[:1]:
        return "Nothing stands before the first token of your text, so its prediction has nothing to look at."
    return None


# learn


def draw_text(rng, characters, how_many):
    """Words of two to seven characters, most of them more than once."""
    vocabulary = ["".join(rng.choice(list(characters), int(rng.integers(2, 8)))) for _ in range(how_many)]
    vocabulary.append(characters[0] * 5)
    shares = rng.dirichlet(np.ones(len(vocabulary)))
    return WORD.findall(" ".join(rng.choice(vocabulary, 4 * how_many, p=shares)))


def long_texts(rng):
    characters = ["".join(rng.choice(list(LETTERS), 4, replace=False)) for _ in range(3)]
    return [(draw_text(rng, drawn, 12), n) for drawn, n in zip(characters, (1, 6, 12), strict=True)]


def tied_texts(rng):
    """Each word once: almost every count is shared by several pairs."""
    cases = []
    for n in (2, 5, 9):
        words = ["".join(rng.choice(list(LETTERS), int(rng.integers(3, 6)))) for _ in range(5)]
        cases.append((WORD.findall(" ".join(words)), n))
    return cases


def small_texts(rng):
    one, other = map(str, rng.choice(list(LETTERS), 2, replace=False))
    wide = rng.choice(list(WIDE), 2, replace=False)
    return [
        (draw_text(rng, one + other + "".join(wide), 8), 6),
        ([one * 7 + other * 2, " " + one * 7], 30),
        ([one, " " + other], 3),
        ([one * 5, *[f" {other}{wide[0]}"] * 3], 4),
        (draw_text(rng, one + other, 4), 0),
    ]


def learned(words, n_merges):
    return list(BytePairTokenizer("".join(words), n_merges).ranks)


EXERCISE = Exercise(
    slug="01-tokens",
    title="Text and images as tokens",
    chapter="chapters/01-tokens",
    questions=(
        Question(
            id="encode",
            title="Encode a word with byte pairs",
            name="encode_word",
            minutes=15,
            difficulty=2,
            checks=(
                equals("words the merges come from", 5, known_words, encoded),
                equals("new words", 5, new_words, encoded),
                equals("letters of several bytes", 4, wide_letters, encoded),
            ),
            hints=(
                "Start from the bytes of the word, and do by pencil what the chapter did with tea and team: one merge "
                "at a time, over the whole word.",
                "Write the merge of one pair as a function of its own and try it on a run such as aaaa and aaa. A "
                "piece that was used up by one merge cannot be used again by its neighbour.",
                "Who decides which pair comes next: the word, or the list? The place of a pair in the list also says "
                "which id it gets.",
            ),
            section="byte-pairs-by-hand",
        ),
        Question(
            id="embed",
            title="An embedding that refuses foreign ids",
            name="embed",
            minutes=8,
            difficulty=1,
            checks=(
                equals("values", 6, words_of_a_table, tokens.embed),
                equals("one word", 2, one_word, tokens.embed),
                holds("ids outside the vocabulary", 4, refuses_foreign_ids),
            ),
            hints=(
                "Which of the two sizes of E counts the words? A word's vector lies along the other one.",
                "There are two programs for the same thing, the product with one-hot columns and the look-up; pick one "
                "and test it against the other.",
                "Ask both programs what they do with −1 and with V: neither tells you in words that the id is foreign. "
                "So look at the ids before you use them.",
            ),
            section="tokens-to-vectors",
        ),
        Question(
            id="counts",
            title="Shapes and pairs",
            name="sizes",
            minutes=8,
            difficulty=1,
            checks=(
                equals("any image", 5, any_images, bill),
                equals("grey squares", 3, grey_squares, bill),
            ),
            hints=(
                "Two of the four shapes belong to the model and do not change with the text or the image. Which?",
                "Draw an image of 4 by 6 pixels and cut it into squares of side 2. Count the squares, then count the "
                "numbers in one of them when there are three colours.",
                "The width D stands in all four shapes, since every token is a column of D numbers. The other side is "
                "something that you counted: ids, tokens, numbers in a patch, or patches.",
            ),
            section="an-image-is-a-sequence-too",
        ),
        Question(
            id="patches",
            title="Repair the museum piece: patches",
            name="patches",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 8, colour_images, tokens.patches),
                equals("grey images", 3, grey_images, tokens.patches),
                holds("one square, one column", 5, one_square_each),
            ),
            hints=(
                "Print what the museum makes of the numbers 0 to 15 in a 4 by 4 image. Which pixels share a column, "
                "and which should?",
                "Two loops over the corners of the squares are a good answer: cut one square with all its channels, "
                "flatten it, and look at the order in which its numbers come out.",
                "Without loops: give the grid row, the pixel row, the grid column and the pixel column an axis each. "
                "Five axes then have to be put in order before two of them are joined, and three.",
            ),
            section="an-image-is-a-sequence-too",
        ),
        Question(
            id="rows",
            title="Out of torch: one head, in columns",
            name="head_tables",
            minutes=12,
            difficulty=2,
            checks=(
                equals("values", 8, some_heads, head_tables),
                equals("one token", 3, single_tokens, head_tables),
                holds("all heads together", 3, heads_fill_the_projection),
            ),
            hints=(
                "First the tokens: they come in rows, and the formula with the stack in the chapter wants them in "
                "columns.",
                "W_in is a pile of three square matrices. Which axis of W_in is the pile along, and where does the "
                "second matrix begin?",
                "A head is a run of neighbouring rows of each of the three matrices, K of them. Write down the first "
                "row number of head 0, of head 1 and of head h.",
            ),
            section="the-concordance",
        ),
        Question(
            id="shift",
            title="Inputs and targets",
            name="inputs_and_targets",
            minutes=6,
            difficulty=1,
            checks=(
                equals("values", 5, texts, shifted, dtype="int"),
                equals("one and two tokens", 2, short_texts, shifted, dtype="int"),
                holds("only the past is read", 3, sees_only_the_past),
            ),
            hints=(
                "Make the small table of the chapter for a text of your own, with one column for each prediction.",
                "Every token of the text has to be predicted once, the first one too. How many columns is that?",
                "The last token of the text is predicted, and nothing is predicted from it. Something else moves in at "
                "the other end.",
            ),
            section="the-token-before-the-first",
        ),
        Question(
            id="learn",
            title="Stretch: learn the merges",
            name="learn_merges",
            minutes=25,
            difficulty=3,
            checks=(
                equals("long texts", 7, long_texts, learned),
                equals("ties", 6, tied_texts, learned),
                equals("runs, bytes, and no pair left", 5, small_texts, learned),
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
        ),
    ),
)
