"""A latent in place of keys and values, and a draft beside its model: every number beside numpy and the chapters."""

import numpy as np
import pytest

from tests.book.explorables.shown import stored_data


def test_kept_and_multiplied_as_counted(show):
    """Catches a cache of keys alone, a latent that is unpacked for free, and bits of another rank."""
    data, shown = stored_data("latent-cache"), show("latent-cache").guess()
    H, K = data["heads"], data["width"]
    shown.verify({"kept": 2 * H * K, "products": 2 * H * K, "bits": data["full"]})
    for i, (R, bits) in enumerate(zip(data["ranks"], data["bits"], strict=True)):
        shown.set(rank=i)
        L, c, q, weights = np.ones((2 * H * K, R)), np.ones(R), np.ones((H, K)), np.ones(H)
        seen = 2 * q.size  # every head: a score with its key, an average with its value
        for way, products in (("unpacked", L.size * c.size // R + seen), ("absorbed", 2 * weights.size * c.size)):
            shown.press("way", way)
            shown.verify({"kept": R, "products": products, "bits": bits})
            reached = 4 * R <= 2 * H * K and bits - data["full"] <= 0.05 and products <= 2 * H * K
            assert ("goal is reached" in shown.says) == reached
        shown.press("way", "heads")
        assert "goal is reached" not in shown.says
    assert shown.page.complaints == []


def test_one_rank_reaches_the_goal():
    """Catches a goal that the measured bits put out of reach."""
    data = stored_data("latent-cache")
    all_of_them = 2 * data["heads"] * data["width"]
    kept = [
        rank
        for rank, bits in zip(data["ranks"], data["bits"], strict=True)
        if 4 * rank <= all_of_them and bits - data["full"] <= 0.05 and rank <= data["width"]
    ]
    assert len(kept) == 1


@pytest.mark.parametrize("parts", [(2, 2, 6), (5, 3, 2), (0, 1, 9), (10, 0, 0), (4, 3, 3)])
def test_what_is_written_is_the_law_of_the_model(show, parts):
    """Catches a replacement from p that is called right, an overlap that is none, and tokens of one draft token."""
    data, shown = stored_data("draft-overlap"), show("draft-overlap").guess()
    p, draft = np.array(data["p"]), np.array(parts) / sum(parts)
    shown.set(**{f"part_{w}": n for w, n in enumerate(parts)})
    both, left_out = np.minimum(p, draft), np.maximum(p - draft, 0)
    a = both.sum()
    for g in (1, 4, 8):
        shown.set(drafted=g)
        shown.verify({"a": a, "tokens": sum(a**i for i in range(g + 1))})
    shown.agrees_with("p", p)
    shown.agrees_with("accepted", both)
    shown.agrees_with("rest", left_out / max(left_out.sum(), 1e-300))
    shown.agrees_with("written", p)
    shown.press("from", "model")
    shown.agrees_with("written", both + (1 - a) * p)
    assert ("law is broken" in shown.says) == (not np.allclose(draft, p))


def test_a_good_draft_reaches_the_goal(show):
    """Catches a goal out of reach, one that a copy of the model reaches, and one with changed probabilities."""
    shown = show("draft-overlap").guess()
    shown.set(part_0=5, part_1=3, part_2=2)
    assert "goal is reached" not in shown.says and "the draft is the model" in shown.says
    shown.set(part_0=4, part_1=3, part_2=3)
    assert "goal is reached" in shown.says
    shown.press("from", "model")
    assert "goal is reached" not in shown.says
    shown.press("from", "rest")
    shown.set(part_0=2, part_1=2, part_2=6)
    assert "goal is reached" not in shown.says
    shown.set(part_0=0, part_1=0, part_2=0)
    assert "give one token a part" in shown.says and shown.text("a") == "–"
