"""Heads that are cut and positions that turn: every number beside what the library computes."""

import itertools

import numpy as np
import torch
from clearformer.positions import Rotary
from clearformer.reference.positions import sinusoidal


def test_heads_are_cut_as_torch_cuts_them(show):
    """Catches entries in another place than torch puts them, for every size that can be chosen."""
    shown = show("view-transpose").guess()
    for N, H, K in itertools.product((2, 3, 4), (1, 2, 3), (1, 2, 3)):
        shown.set(tokens=N, heads=H, width=K)
        q = torch.tensor([[10 * n + d for d in range(H * K)] for n in range(1, N + 1)])
        for way, heads in (("transpose", q.unflatten(-1, (H, K)).transpose(0, 1)), ("view", q.view(H, N, K))):
            shown.press("way", way)
            cells = shown.element.locator('[data-value^="head-"]')
            read = cells.evaluate_all("all => all.map(e => [e.dataset.value.split('-')[1], e.innerText])")
            assert read == [[str(h), str(x)] for h, head in enumerate(heads.tolist()) for row in head for x in row]
    shown.set(tokens=3, heads=2, width=2, entry=6)
    assert shown.element.locator('td[style*="outline"]').all_inner_texts() == ["21", "21"]


def tokens_of_head_0(N, H, K):
    """The tokens of which head 0 holds all features, some, or nothing where `view` has cut."""
    token = torch.arange(1, N + 1).repeat_interleave(H * K).view(H, N, K)[0]
    held = {n: int((token == n).sum()) for n in range(1, N + 1)}
    return {
        "all features": [n for n, count in held.items() if count == H * K],
        "some features": [n for n, count in held.items() if 0 < count < H * K],
        "nothing": [n for n, count in held.items() if count == 0],
    }


def test_what_it_says_of_a_cut_by_view_is_so(show):
    """Catches a token that is said to be whole in a head where half of it stands in the next one."""
    shown = show("view-transpose").guess()
    shown.press("way", "view")
    for N, H, K in itertools.product((2, 3, 4), (2, 3), (1, 2, 3)):
        shown.set(tokens=N, heads=H, width=K, entry=1)
        parts = [
            f"{share} of {'token' if len(tokens) == 1 else 'tokens'} {', '.join(map(str, tokens))}"
            for share, tokens in tokens_of_head_0(N, H, K).items()
            if tokens
        ]
        said = f"Head 0 holds {', '.join(parts[:-1])} and {parts[-1]}. The framed number is in head 0."
        whole = not tokens_of_head_0(N, H, K)["some features"]
        assert shown.says == ("The second goal is reached. " if whole else "") + said


def turned_hands(width, base, place):
    hands = torch.cat((torch.ones(1, 1, 1, width // 2), torch.zeros(1, 1, 1, width // 2)), dim=-1).double()
    return Rotary(width, 100, base=base, dtype=torch.float64)(hands, slice(place, place + 1)).flatten()


def clock_score(width, base, late, n, s):
    if late:
        P = sinusoidal(100, width, first_pair=1)
        return P[:, n] @ P[:, s]
    return (turned_hands(width, base, n) @ turned_hands(width, base, s)).item()


def test_the_hands_of_the_clocks_turn_as_the_library_turns_them(show):
    """Catches hands that turn the other way round or shrink, which a score of two of them does not show."""
    shown = show("rotary-clock")
    shown.press("width", 8)
    shown.set(base=4, query=5, key=2, both=1)
    ends = "e => [...e.querySelectorAll('svg line.thick')].map(l => [l.x2.baseVal.value, -l.y2.baseVal.value])"
    drawn = np.array(shown.element.evaluate(ends)).reshape(4, 2, 2)  # pair, key and query, x and y
    for hand, place, length in ((0, 3, 34), (1, 6, 28)):
        expected = turned_hands(8, 10_000.0, place).view(2, 4).T.numpy()
        np.testing.assert_allclose(drawn[:, hand], length * expected, atol=1e-4)


def test_rotary_scores_know_the_distance_alone(show):
    """Catches hands turned by other angles than the library's, and a score that moves when both tokens do."""
    shown = show("rotary-clock")
    for width, base, late in ((2, 4, False), (8, 4, False), (16, 4, False), (16, 4, True), (4, 1.5, False)):
        shown.press("width", width)
        shown.set(base=base)
        shown.control("late").set_checked(late)
        for n, s in ((2, 1), (0, 5), (20, 0)):
            scores = set()
            for both in (0, 47):
                shown.set(query=n, key=s, both=both)
                expected = clock_score(width, 10.0**base, late, n + both, s + both)
                shown.verify({"score": expected, "mean": 2 * expected / width, "distance": n - s, "base": 10**base})
                scores.add(shown.text("score"))
                pairs = list(map(float, shown.texts(*(f"pair-{i}" for i in range(width // 2)))))
                assert abs(sum(pairs) - expected) < 0.0006 * len(pairs)
            assert len(scores) == 1


def test_a_rotary_score_of_the_chapter_comes_back(show):
    """Catches a start from which the chapter's cos 1 = 0.54 and 6.137 cannot be found."""
    shown = show("rotary-clock")
    shown.press("width", 2)
    assert round(float(shown.text("score")), 2) == 0.54
    shown.press("width", 16)
    assert round(float(shown.text("mean")), 2) == 0.94
    shown.set(query=4)
    assert round(float(shown.text("mean")), 2) == 0.69
    shown.set(query=6)
    shown.verify({"score": 6.137})
