"""What a head sees of a picture as a reader moves it: every weight beside what the library computes."""

import numpy as np
import pytest
from clearformer.reference.attention import attention_weights

from tests.book.explorables.shown import stored_data

NOTHING = ()


def patch_weights(head: int, target: int, hidden: tuple[int, ...] = NOTHING) -> np.ndarray:
    """The weights of one target over the class token and the patches."""
    data = stored_data("patch-attention")
    N = len(data["queries"]) // data["heads"]
    own = slice(head * N, (head + 1) * N)
    K, q = np.array(data["keys"][own]).T, np.array(data["queries"][own][target])[:, None]
    scores = K.T @ q / np.sqrt(len(q))
    scores[list(hidden)] = -np.inf
    return attention_weights(scores)[:, 0]


def test_every_head_gives_every_token_its_weights(show):
    """Catches a head that reads another's rows, a missing root, and patches in another order."""
    data, shown = stored_data("patch-attention"), show("patch-attention").guess()
    for head in range(data["heads"]):
        shown.press("head", head)
        for target in (0, 1, 6, 16):
            shown.set(target=target)
            shown.agrees_with("weight", patch_weights(head, target))
    assert shown.page.complaints == []


def test_what_is_hidden_goes_to_the_others(show):
    """Catches weights that no longer sum to 1, and a patch that stays hidden."""
    shown = show("patch-attention").guess()
    for s in (6, 11):
        shown.press(f"hide-{s}")
    kept = [s for s in range(17) if s not in (6, 11)]
    expected = patch_weights(0, 0, hidden=(6, 11))
    shown.verify({f"weight-{s}": expected[s] for s in kept})
    assert shown.texts("weight-6", "weight-11") == ["×", "×"] and "sum to 1" in shown.says
    shown.press("hide-6")
    shown.verify({"weight-6": patch_weights(0, 0, hidden=(11,))[6]})
    shown.press("show-all")
    shown.agrees_with("weight", patch_weights(0, 0))


def test_somebody_is_always_left_to_look_at(show):
    """Catches a softmax over nothing."""
    shown = show("patch-attention").guess()
    for s in range(17):
        shown.press(f"hide-{s}")
    assert shown.text("weight-16") == "1.00"


@pytest.mark.parametrize("hide", [False, True])
def test_a_sharp_look_can_be_found(show, hide):
    """Catches a goal out of reach, one that every look reaches, and one that is reached by hiding the rest."""
    data, shown = stored_data("patch-attention"), show("patch-attention").guess()
    looks = {(h, n): patch_weights(h, n)[1:].max() for h in range(data["heads"]) for n in range(1, 17)}
    sharpest, dullest = max(looks, key=looks.get), min(looks, key=looks.get)
    assert 1 <= sum(most >= data["goal"] for most in looks.values()) <= len(looks) // 4
    for (head, target), reached in ((sharpest, not hide), (dullest, False)):
        shown.press("head", head)
        shown.set(target=target)
        if hide:
            shown.press("hide-0")
        assert ("goal is reached" in shown.says) == reached
        shown.press("show-all")
