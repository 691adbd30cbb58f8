"""Exercise 01, question embed: an embedding that refuses foreign ids."""

import numpy as np
from clearcheck import AnswerProblem, Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes
from clearcheck.grading.question import CallStopped, NotAnswered
from clearformer.reference import tokens


def reference(E, ids):
    return tokens.embed(E, ids.astype(int))  # the library asks for that type, and the task for no particular one


OTHERS = {
    "AssertionError": " Python leaves out every assert when it runs with -O: write if … and raise.",
    "IndexError": " An IndexError speaks of a place in an array; it is the id, a value, that is wrong.",
}


def draw_ids(rng, n_vocab, n_tokens):
    """Ids with the last one among them and, where there is room, one that comes twice."""
    ids = rng.integers(0, n_vocab, size=n_tokens)
    ids[-1] = n_vocab - 1
    ids[0] = ids[-2] if n_tokens > 2 else ids[0]
    return ids


def words_of_a_table(rng):
    D, V, N = draw_sizes(rng, 3)
    cases = [(rng.normal(size=(d, v)), draw_ids(rng, v, n)) for d, v, n in ((D, V, N), (V, N, D), (N, D, V), (D, D, D))]
    few, more, most = sorted((D, V, N))
    E = rng.normal(size=(most, few)) * (np.arange(few) > 0)  # a word may stand at the origin
    large = 331  # ids that do not fit into a byte
    wide, thin = rng.normal(size=(few, large)), rng.normal(size=(1, few))
    return [*cases, (E, np.arange(more) % few), (wide, draw_ids(rng, large, more)), (thin, draw_ids(rng, few, more))]


def one_word(rng):
    D, V = draw_sizes(rng, 2)
    return [(rng.normal(size=(D, V)), np.array([i])) for i in (0, V - 1, int(rng.integers(1, V - 1)))]


def refuses_foreign_ids(ask, rng):
    D, V, N = draw_sizes(rng, 3)
    E, ids = rng.normal(size=(D, V)), draw_ids(rng, V, N)
    foreign = {-1: 1, V: 0, V + 3: -1, -V - 2: -1, 2**32: 1}  # with its position in the text
    foreign |= {id: 0 for id in (-2, -V, -int(rng.integers(3, V)))}  # all of them name a column to NumPy
    texts = [(with_one(ids, place, id), id) for id, place in foreign.items()]
    texts += [(np.array([id]), id) for id in (-1, V)]
    texts += [(with_one(draw_ids(rng, V, 3_000), -1, V), V)]  # behind a long text
    slips = [refusal_slip(ask, E, text, id) for text, id in texts]  # all are asked, to tell one mistake from another
    failed = next((i for i, slip in enumerate(slips) if slip), None)  # asked again: `case` gives the last call
    return None if failed is None else refusal_slip(ask, E, *texts[failed]) or slips[failed]


def with_one(ids, place, foreign):
    changed = ids.copy()
    changed[place] = foreign
    return changed


def refusal_slip(ask, E, ids, foreign):
    """A sentence when a call with a foreign id does not end in a ValueError, else None."""
    where = "alone" if len(ids) == 1 else "among known ones"
    case = f"For an embedding of {E.shape[1]} ids and the id {foreign} {where}"
    try:
        came = "None" if ask(E, ids) is None else "a result"
    except (NotAnswered, CallStopped):
        raise
    except AnswerProblem:
        kind = ask.calls[-1].reply.get("type")
        if ask.calls[-1].raised("ValueError"):
            return None
        if kind is None:
            return f"{case} your function returned an object; a ValueError is expected: write raise, not return."
        return f"{case} your function raised {kind}; a ValueError is expected.{OTHERS.get(kind, '')}"
    return f"{case} your function returned {came}; a ValueError is expected."


QUESTION = Question(
    id="embed",
    title="An embedding that refuses foreign ids",
    name="embed",
    minutes=8,
    difficulty=1,
    checks=with_battery(
        equals("values", 6, words_of_a_table, reference),
        equals("one word", 2, one_word, reference),
        holds("ids outside the vocabulary", 4, refuses_foreign_ids),
        off={"boundary": "the first and the last id, and those beside them, are asked for by the other two checks"},
    ),
    hints=(
        "Which of the two sizes of E counts the words? A word's vector lies along the other one.",
        "There are two programs for the same thing, the product with one-hot columns and the look-up; pick one "
        "and test it against the other.",
        "Ask both programs what they do with −1 and with V: neither tells you in words that the id is foreign. "
        "So look at the ids before you use them.",
    ),
    section="tokens-to-vectors",
    inputs=Inputs(axes("DV", "N"), alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def product_with_one_hot(E, ids):
    V = E.shape[1]
    if (ids < 0).any() or (ids >= V).any():
        raise ValueError(f"an id is outside 0 to {V - 1}")
    O = np.zeros((V, len(ids)))  # noqa: E741
    O[ids, np.arange(len(ids))] = 1
    return E @ O


@right
def look_up(E, ids):
    for i in ids:
        if not 0 <= i < E.shape[1]:
            raise ValueError("embed: foreign id " + str(i))
    return E[:, ids]


@right
def rows_of_the_transpose(E, ids):
    if not set(ids.tolist()) <= set(range(E.shape[1])):
        raise ValueError("unknown word")
    return np.array([E.T[i] for i in ids]).T


@right
def as_often_written(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids]


wrong.edits("""
# rows_of_the_transpose
## zeros_for_foreign_ids: You quietly turn a foreign id into a column of zeros; raise a ValueError instead.
- if not set(ids.tolist()) <= set(range(E.shape[1])):
-     raise ValueError("unknown word")
- return np.array([E.T[i] for i in ids]).T
+ return E @ (np.arange(E.shape[1])[:, None] == ids).astype(float)
## clipped_ids [common-mistakes]: You clip foreign ids to the nearest known one, so a wrong tokeniser goes unnoticed.
+ return E[:, np.clip(ids, 0, E.shape[1] - 1)]
## ids_modulo_V [common-mistakes]: You wrap foreign ids round with the modulo, so a wrong tokeniser goes unnoticed.
+ return E[:, ids % E.shape[1]]
## rows_of_E: You look up rows of E, but a word has a column of its own.
+ return E[ids]

# as_often_written
## look_up_without_a_guard: Nothing stops a foreign id: in NumPy −1 quietly picks the last column, and a large id ends
in an IndexError.
- if ((ids < 0) | (ids >= E.shape[1])).any():
-     raise ValueError("an id is outside the vocabulary")
## ids_in_few_bits: You store the ids in a small integer type first, where a large one turns into another id.
- if ((ids < 0) | (ids >= E.shape[1])).any():
+ ids = ids.astype(np.int32)
+ if ((ids < 0) | (ids >= E.shape[1])).any():
## ids_in_one_byte: You store the ids in a byte, where 256 becomes 0: a larger vocabulary needs more room.
  if ((ids < 0) | (ids >= E.shape[1])).any():
      raise ValueError("an id is outside the vocabulary")
- return E[:, ids]
+ return E[:, ids.astype(np.uint8)]
## zeros_are_foreign: You tell a foreign id by its column of zeros, but the vector of a word may be all zeros.
- if ((ids < 0) | (ids >= E.shape[1])).any():
+ if not (E @ (np.arange(E.shape[1])[:, None] == ids)).any(axis=0).all():
## large_ids_only: You stop ids that are too large and let negative ones pass, which NumPy counts from the end.
- if ((ids < 0) | (ids >= E.shape[1])).any():
-     raise ValueError("an id is outside the vocabulary")
+ if ids.max() >= E.shape[1]:
+     raise ValueError("an id is too large")
## minus_one_alone: You stop −1 alone: to NumPy every id from −V to −1 is a word, counted from the end.
- if ((ids < 0) | (ids >= E.shape[1])).any():
+ if ((ids == -1) | (ids >= E.shape[1])).any():
## guard_one_too_wide: Your guard lets the id V through, but ids are counted from 0.
- if ((ids < 0) | (ids >= E.shape[1])).any():
+ if ids.min() < 0 or ids.max() > E.shape[1]:
## guard_one_too_narrow: Your guard refuses the last word of the vocabulary, although its id is valid.
+ if ids.min() < 0 or ids.max() >= E.shape[1] - 1:
## guard_counts_the_rows: Your guard compares the ids with the width D; the number of words is the other side of E.
+ if ids.min() < 0 or ids.max() >= len(E):
## tokens_in_rows [columns-or-rows]: Your tokens stand in rows, as torch.nn.Embedding gives them; here every token is a
column.
- return E[:, ids]
+ return E.T[ids]
## one_token_squeezed: Your result loses an axis where D or N is 1; X should be D × N there, too.
+ return np.squeeze(E[:, ids])
## one_hot_alone: You return the one-hot columns and never multiply them by E.
+ return (np.arange(E.shape[1])[:, None] == ids).astype(float)
## counted_from_one: You count the ids from 1, so every word gets the column of its neighbour.
+ return E[:, ids - 1]
## bag_of_words: You add up the columns of all tokens: the order of the text is gone.
+ return E[:, ids].sum(axis=1)
## each_word_once: You embed each different word once, in the order of the ids, instead of each token of the text.
+ return E[:, np.unique(ids)]
## scaled_by_root_D: You scale the columns by the root of D; that is not part of this embedding.
+ return E[:, ids] * np.sqrt(len(E))
## ids_as_numbers [what-a-transformer-eats]: You multiply by the ids as if they were measurements, but an id is a name.
+ return E[:, :1] * ids
## columns_of_unit_length: You scale every column to length 1; an embedding gives the columns back as they are.
+ return E[:, ids] / np.linalg.norm(E[:, ids], axis=0)
## assert_for_raise: Python leaves out every assert when it runs with -O: write if … and raise.
- if ((ids < 0) | (ids >= E.shape[1])).any():
-     raise ValueError("an id is outside the vocabulary")
+ assert ((ids >= 0) & (ids < E.shape[1])).all(), "an id is outside the vocabulary"
## error_returned: You return the error as if it were a result; it stops the program only where you raise it.
- raise ValueError("an id is outside the vocabulary")
+ return ValueError("an id is outside the vocabulary")
## index_error: An IndexError speaks of a place in an array; it is the id, a value, that is wrong.
+ raise IndexError("an id is outside the vocabulary")
""")
