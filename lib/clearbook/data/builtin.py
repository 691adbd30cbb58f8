"""Real data that needs no download: it comes with Python or with a library."""

import codecs
import contextlib
import datetime
import random
from collections.abc import Callable
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

LANGUAGES = {"de": "German", "fr": "French"}
Pairs = list[tuple[str, str]]


def _translations(en: str, de: str, fr: str) -> dict[str, str]:
    return {"en": en, "de": de, "fr": fr}


WHO = (
    _translations("She", "Sie", "Elle"),
    _translations("He", "Er", "Il"),
    _translations("My sister", "Meine Schwester", "Ma sœur"),
    _translations("The teacher", "Der Lehrer", "Le professeur"),
)
DONE = (  # what somebody has done, and to what
    (_translations("wrote", "geschrieben", "écrit"), _translations("the letter", "den Brief", "la lettre")),
    (_translations("found", "gefunden", "trouvé"), _translations("the key", "den Schlüssel", "la clé")),
    (_translations("bought", "gekauft", "acheté"), _translations("the house", "das Haus", "la maison")),
    (_translations("saw", "gesehen", "vu"), _translations("the film", "den Film", "le film")),
    (_translations("sold", "verkauft", "vendu"), _translations("the bicycle", "das Fahrrad", "le vélo")),
    (_translations("read", "gelesen", "lu"), _translations("the book", "das Buch", "le livre")),
    (_translations("lost", "verloren", "perdu"), _translations("the bag", "die Tasche", "le sac")),
    (_translations("opened", "geöffnet", "ouvert"), _translations("the door", "die Tür", "la porte")),
)


def zen_text() -> str:
    """The Zen of Python by Tim Peters, as the standard library holds it: 21 lines, the same in every version."""
    with contextlib.redirect_stdout(None):  # the module prints itself when it is imported for the first time
        import this
    return codecs.decode(this.s, "rot13")


def python_reference_text() -> str:
    """What ``help("for")`` and its like print: the Python reference by topics, about half a million characters.

    The text differs between versions of Python, and so does every number that is computed from it.

    Source: ``pydoc_data.topics`` of the running Python, in the order of the topics' names.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name].strip() for name in sorted(topics)) + "\n"


def digits() -> tuple[Float[Tensor, "B 1 8 8"], Int[Tensor, "B"]]:
    """1,797 handwritten digits of 8 × 8 pixels, grey values from 0 to 1, with their labels 0 to 9.

    Source: UCI "Optical recognition of handwritten digits", as scikit-learn ships it.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = torch.as_tensor(bunch.images / 16.0, dtype=torch.float32)[:, None]
    return images, torch.as_tensor(bunch.target)


def split_text(text: str, held_out: float = 0.1) -> tuple[str, str]:
    """The beginning of ``text`` to learn from and its end, the fraction ``held_out``, to test on.

    Neighbouring lines resemble each other, so the cut is made once and not sentence by sentence.

    Raises: ValueError if one of the two parts would be empty.
    """
    cut = round(len(text) * (1 - held_out))
    if not 0 < held_out < 1 or cut in (0, len(text)):
        raise ValueError(
            f"split_text: held_out={held_out} leaves one part of the {len(text)} characters empty. "
            "Choose a fraction between 0 and 1, for example 0.1."
        )
    return text[:cut], text[cut:]


def random_windows(
    ids: Int[Tensor, "T"], length: int, n: int, generator: torch.Generator
) -> tuple[Int[Tensor, "B N"], Int[Tensor, "B N"]]:
    """Inputs and targets for a language model: ``n`` windows of ``ids`` from random places, and the same one id later.

    Raises: ValueError if ``n`` or ``length`` is not positive or ``ids`` is shorter than a window and its last target.
    """
    _check_window("random_windows", ids, length)
    if n < 1:
        raise ValueError(f"random_windows: n={n} windows were asked for. At least one is needed.")
    starts = torch.randint(len(ids) - length, (n, 1), generator=generator)
    windows = ids[starts + torch.arange(length + 1)]
    return windows[:, :-1], windows[:, 1:]


def all_windows(ids: Int[Tensor, "T"], length: int) -> tuple[Int[Tensor, "B N"], Int[Tensor, "B N"]]:
    """Inputs and targets of consecutive windows, so that every target is met once; a shorter rest is left out.

    Raises: ValueError if ``length`` is not positive or ``ids`` is shorter than a window and its last target.
    """
    _check_window("all_windows", ids, length)
    used = (len(ids) - 1) // length * length
    return ids[:used].view(-1, length), ids[1 : used + 1].view(-1, length)


def _check_window(caller: str, ids: Tensor, length: int) -> None:
    if length < 1:
        raise ValueError(f"{caller}: length={length}. A window holds at least one id.")
    if len(ids) <= length:
        raise ValueError(
            f"{caller}: the text has {len(ids)} ids, expected at least {length + 1}: a window of length={length} and "
            "the target of its last id. Choose a shorter window or a longer text."
        )


@cache
def number_words(number: int, language: str) -> str:
    """A number in words, for a language code that num2words knows, such as "en" or "de"."""
    from num2words import num2words

    # Its one slip below a million: "einhunderteinstausend" for 101,000.
    return num2words(number, lang=language).replace("einstausend", "eintausend")


def number_pairs(
    language: str, n_train: int, n_held_out: int, *, below: int = 1_000_000, seed: int = 0
) -> tuple[Pairs, Pairs]:
    """Numbers in English words with their translation; no number is both in the first list and in the held-out one.

    The numbers are drawn from 0 to ``below`` - 1; the same seed gives the same two lists.

    Source: num2words. German says the ones before the tens, twenty-one is "einundzwanzig", so a model has to reorder.
    Raises: ValueError for a language that is not in ``LANGUAGES``, or for more pairs than there are numbers.
    """
    return _pairs("number_pairs", language, (n_train, n_held_out), range(below), number_words, seed)


def date_pairs(
    language: str, n_train: int, n_held_out: int, *, years: tuple[int, int] = (1900, 2099), seed: int = 0
) -> tuple[Pairs, Pairs]:
    """Dates with their weekday in English and in another language; no date is in both lists.

    ``years`` are the first and the last one, both included; the same seed gives the same two lists.

    Source: Babel, the format "full" of the Unicode locale data: "Thursday, March 5, 1987" is "jeudi 5 mars 1987".
    Raises: ValueError for a language that is not in ``LANGUAGES``, or for more pairs than there are days.
    """
    from babel.dates import format_date

    def write(day: int, lang: str) -> str:
        return format_date(datetime.date.fromordinal(day), "full", locale=lang)

    first, last = datetime.date(years[0], 1, 1), datetime.date(years[1], 12, 31)
    days = range(first.toordinal(), last.toordinal() + 1)
    return _pairs("date_pairs", language, (n_train, n_held_out), days, write, seed)


def sentence_pairs(language: str, n_train: int, n_held_out: int, *, seed: int = 0) -> tuple[Pairs, Pairs]:
    """Sentences that end in a date, with their translation; no sentence is in both lists.

    "He sold the bicycle on March 5, 1987." is "Er hat das Fahrrad am 5. März 1987 verkauft.": both languages need two
    words for "sold", and German says the second one at the end, behind the date.

    Source: Babel, the format "long" of the Unicode locale data, for the dates.
    Raises: ValueError for a language that is not in ``LANGUAGES``, or for more pairs than there are sentences.
    """
    from babel.dates import format_date

    first, n_days = datetime.date(1900, 1, 1).toordinal(), 73_000  # up to the year 2099

    def write(number: int, lang: str) -> str:
        number, day = divmod(number, n_days)
        who, (done, what) = WHO[number % len(WHO)][lang], (side[lang] for side in DONE[number // len(WHO)])
        date = format_date(datetime.date.fromordinal(first + day), "long", locale=lang)
        forms = {"en": "{who} {done} {what} on {date}.", "de": "{who} hat {what} am {date} {done}."}
        return forms.get(lang, "{who} a {done} {what} le {date}.").format(who=who, done=done, what=what, date=date)

    every = range(len(WHO) * len(DONE) * n_days)
    return _pairs("sentence_pairs", language, (n_train, n_held_out), every, write, seed)


def _pairs(
    caller: str, language: str, sizes: tuple[int, int], things: range, write: Callable[[int, str], str], seed: int
) -> tuple[Pairs, Pairs]:
    """Draw different things, write each in both languages, cut the list in two."""
    if language not in LANGUAGES:
        known = ", ".join(f'"{code}" ({name})' for code, name in LANGUAGES.items())
        raise ValueError(f"{caller}: language {language!r} is not known. Choose from {known}.")
    if min(sizes) < 0 or sum(sizes) > len(things):
        raise ValueError(
            f"{caller}: n_train={sizes[0]} and n_held_out={sizes[1]} were asked for, expected sizes from 0 "
            f"that add up to at most {len(things)}: so many different ones there are. Ask for fewer or widen the range."
        )
    drawn = random.Random(seed).sample(things, sum(sizes))
    pairs = [(write(thing, "en"), write(thing, language)) for thing in drawn]
    return pairs[: sizes[0]], pairs[sizes[0] :]
