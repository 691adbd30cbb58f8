"""Byte pairs as a reader moves them: every token and count beside what the library's tokenizer makes of the text."""

import pytest
from clearbook.data.austen import austen_split
from clearformer.tokenizers import BytePairTokenizer

from tests.book.explorables.shown import stored_data

MOST_MERGES, SHOWN = 60, 240
TEXTS = {
    "empty": "",
    "one letter": "x",
    "tea": "tea team steam tea team tea tea steam stem",
    "signs": "f(x) == 3_000.50;\n\n\tif __name__ ...  end",
    "emoji": "🍵🍵 tea 🍵 👩‍👩‍👧 🍵",
    "Hindi": "पुस्तकालय कहाँ है? पुस्तकालय यहाँ है।",
    "right to left": "שלום עולם שלום",
    "no space": "ab" * 40,
    "ten thousand": austen_split()[1][0][:10_000],
}


def merges_of(text: str, n: int) -> BytePairTokenizer:
    return BytePairTokenizer(text, n)


def chips(shown) -> list[str]:
    return shown.element.locator(".piece").evaluate_all("all => all.map(chip => chip.textContent)")


def spelled(piece: bytes) -> str:
    """A piece as the page shows it: its characters, or its bytes where they are no whole, printable ones."""
    try:
        text = piece.decode().replace(" ", "␣").replace("\n", "⏎")
    except UnicodeDecodeError:
        text = ""
    return text if text.isprintable() and text else piece.hex(" ")


@pytest.mark.parametrize("name", TEXTS)
def test_the_tokens_are_those_of_the_library(show, name):
    """Catches a text that is cut otherwise, a tie that another pair wins, a merge that is applied in another order."""
    text, shown = TEXTS[name], show("byte-pairs")
    shown.set(text=text)
    for n in (0, 1, 7, MOST_MERGES):
        shown.set(merges=n)
        tokenizer = merges_of(text, n)
        ids = tokenizer.encode(text)
        shown.verify(
            {"merges": len(tokenizer.ranks), "bytes": len(text.encode()), "tokens": len(ids), "ids": tokenizer.n_vocab}
        )
        assert chips(shown) == [spelled(tokenizer.pieces[i]) for i in ids[:SHOWN]]
    assert shown.page.complaints == []
    assert ("rtl" if name == "right to left" else "ltr") == shown.element.locator(".pieces").get_attribute("dir")


def test_a_text_without_pairs_says_so(show):
    """Catches buttons for pairs that do not exist, and a division by no token."""
    shown = show("byte-pairs")
    for text, said in (("", "no text"), ("x", "No pair is left"), ("a a", "Guess")):
        shown.set(text=text)
        assert said in shown.says
        assert shown.element.locator("[data-control^=guess]:visible").count() == (1 if said == "Guess" else 0)
    shown.set(text="")
    assert shown.text("rate") == "–"


def guesses(shown) -> list[str]:
    return shown.element.locator("[data-control^=guess]:visible").all_inner_texts()


def test_a_guess_is_judged_by_the_counts(show):
    """Catches a right guess that is called wrong, a count that is shown before the guess, a row not broken."""
    shown = show("byte-pairs")
    names = guesses(shown)
    assert "t+e" in names and not any(c.isdigit() for c in "".join(names))
    shown.press(f"guess-{names.index('t+e')}")
    assert "Right: t+e stood together 9 times. In a row: 1." in shown.says and shown.text("merges") == "1"
    names = guesses(shown)
    wrong = next(i for i, name in enumerate(names) if name != "te+a")
    shown.press(f"guess-{wrong}")
    assert shown.says.startswith("No: te+a stood together 8 times") and shown.text("merges") == "2"
    assert shown.text("merged") == "t+e (9) te+a (8)"


def test_both_goals_can_be_reached(show):
    """Catches a goal that nobody can reach, or that is called reached too early."""
    shown = show("byte-pairs")
    text = stored_data("byte-pairs")["texts"][0]
    for n in range(5):
        assert "first goal is reached" not in shown.says
        (*_, (first, second)) = merges_of(text, n + 1).ranks
        pieces = merges_of(text, n + 1).pieces
        shown.press(f"guess-{guesses(shown).index(f'{spelled(pieces[first])}+{spelled(pieces[second])}')}")
    assert "first goal is reached" in shown.says
    shown.set(text="a" * 64)
    shown.set(merges=5)
    assert "second goal" not in shown.says and shown.text("tokens") == "2"
    shown.set(merges=6)
    assert "The second goal is reached: 6 merges, one token." in shown.says
