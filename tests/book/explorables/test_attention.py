"""Look-up, attention, masks and the cache as a reader moves them: every number beside what the library computes."""

import itertools
import math

import numpy as np
import pytest
from clearformer.reference.attention import attend, attention_weights, causal_mask
from clearformer.reference.functions import softmax

from tests.book.explorables.shown import stored_data


def column(rows) -> np.ndarray:
    """Vectors of tokens, one a row in the data, as the reference keeps them."""
    return np.array(rows, dtype=float).T


def city_vector(word: str, pairs: list[str]) -> np.ndarray:
    """As chapter 2 makes it: pairs of neighbouring letters, counted, to length 1."""
    padded = f" {word.lower()} "
    counts = np.array([sum(padded[i : i + 2] == pair for i in range(len(padded))) for pair in pairs], dtype=float)
    return counts / max(np.linalg.norm(counts), 1.0)


@pytest.mark.parametrize("typed", [False, True])
def test_soft_lookup_answers_as_a_softmax_does(show, typed):
    """Catches weights of another temperature, a word read otherwise than in the chapter, an answer off the map."""
    data, shown = stored_data("soft-lookup"), show("soft-lookup").guess()
    keys, values = column(data["keys"]), column(data["values"])
    for word, exponent in itertools.product(["Wien", "Paris-Lisbon", ""] if typed else data["words"], (-2, -1, 0, 0.5)):
        shown.set(word=word) if typed else shown.press("sample", word)
        shown.set(temperature=exponent)
        scores = keys.T @ city_vector(word, data["pairs"])
        weights = softmax(scores / 10**exponent, axis=0)
        shown.verify({"temperature": 10**exponent})
        shown.agrees_with("score", scores)
        shown.agrees_with("weight", weights)
        shown.agrees_with("answer", values @ weights)
    shown.set(word="Oslo", temperature=-2)
    assert "no way to say “not found”" in shown.says
    shown.set(word="Bern")
    assert "answered with Berlin" in shown.says


def walk_agrees(shown, q, K, V, root):
    weights = attend(q, K, V)[1] if root else attention_weights(K.T @ q)
    scores = K.T @ q / (math.sqrt(len(q)) if root else 1)
    shown.agrees_with("score", scores)
    shown.agrees_with("exp", np.exp(scores))
    shown.agrees_with("weight", weights)
    shown.agrees_with("product", V * weights.T)
    shown.verify({"exp-sum": np.exp(scores).sum(), "weight-sum": 1, "output": (V @ weights).item()})


def test_walk_takes_every_target_with_and_without_the_root(show):
    """Catches a step that is not attention's, or a root that divides the wrong thing."""
    data, shown = stored_data("attention-walk"), show("attention-walk").guess()
    Q, K, V = column(data["queries"]), column(data["keys"]), np.array([data["values"]])
    shown.verify({"output": 0.328, "exp-sum": 61.3, "weight-2": 0.0163})
    for root in (False, True):
        for n in (0, 1, 2, 3):
            shown.press("target", n)
            walk_agrees(shown, Q[:, [n]], K, V, root)
        shown.control("root").set_checked(not root)
    for step, word in ((1, "makes a query"), (2, "meets every key"), (3, "divided by their sum"), (4, "takes")):
        shown.press("step", step)
        assert word in shown.says and shown.element.locator("tr.lit").count() >= 1


def test_walk_follows_what_is_moved(show):
    """Catches a slider or a drag that moves another vector, and a start that cannot be found again."""
    data, shown = stored_data("attention-walk"), show("attention-walk").guess()
    Q, K, V = column(data["queries"]), column(data["keys"]), np.array([data["values"]])
    q, moved_K, moved_V = Q[:, [2]].copy(), K.copy(), V.copy()
    shown.set(part_0=-1.5, part_1=2)
    q[:, 0] = -1.5, 2
    walk_agrees(shown, q, K, V, False)
    shown.control("part").select_option("key 3")
    shown.set(part_0=0.5, part_1=-0.5)
    moved_K[:, 3] = 0.5, -0.5
    shown.control("part").select_option("value 1")
    assert shown.control("part-1").is_disabled()
    shown.set(part_0=2)
    moved_V[0, 1] = 2
    walk_agrees(shown, q, moved_K, moved_V, False)
    shown.press("target", 0)
    shown.press("step", 2)
    shown.control("root").set_checked(True)
    shown.press("reset")
    walk_agrees(shown, Q[:, [2]], K, V, False)
    assert "takes" in shown.says  # the step of the start
    shown.control("part").select_option("query")
    plane = shown.element.locator("svg").last
    box = plane.bounding_box()
    plane.drag_to(plane, source_position={"x": 120, "y": 120}, target_position={"x": 0.75 * box["width"], "y": 30})
    q[:, 0] = float(shown.text("part-0")), float(shown.text("part-1"))
    assert q[0, 0] > 1 and q[1, 0] > 1
    walk_agrees(shown, q, K, V, False)


def mask_agrees(shown, data, mask, where, nudge):
    C, values = np.array(data["scores"]), np.array(data["values"])
    both = []
    for change in (nudge, 0):
        changed = C.copy()
        changed[-1] += change
        late = attention_weights(changed)
        both.append({"before": attention_weights(changed, mask), "after": late * mask, "none": late}[where])
    weights = both[0]
    outputs = [values @ A for A in both]
    seen = mask | (where == "none")
    shown.verify({f"weight-{s}-{n}": weights[s, n] for s, n in np.argwhere(seen)})
    assert set(shown.texts(*(f"weight-{s}-{n}" for s, n in np.argwhere(~seen)))) <= {"×"} and not weights[~seen].any()
    shown.agrees_with("sum", weights.sum(axis=0))
    shown.agrees_with("output", outputs[0])
    shown.agrees_with("moved", outputs[0] - outputs[1])


def test_a_mask_hides_the_future_before_the_softmax_only(show):
    """Catches weights of another mask, and a leak that is not told, or told where there is none."""
    data, shown = stored_data("causal-mask"), show("causal-mask").guess()
    for where, nudge in itertools.product(("before", "after", "none"), (-4, 0, 2)):
        shown.press("where", where)
        shown.set(nudge=nudge)
        mask_agrees(shown, data, causal_mask(5), where, nudge)
        assert ("A leak: outputs 1, 2, 3, 4 may" in shown.says) == (where == "after" and nudge != 0)
        assert ("No leak" in shown.says) == (where == "before" and nudge != 0)


def test_a_mask_can_be_painted(show):
    """Catches a cell that opens another one, and a target without any source."""
    data, shown = stored_data("causal-mask"), show("causal-mask").guess()
    mask = causal_mask(5)
    shown.set(nudge=2)
    for s, n in ((4, 1), (0, 0), (2, 3), (0, 2)):
        shown.press(f"cell-{s}-{n}")
        mask[s, n] = not mask[s, n]
        mask_agrees(shown, data, mask, "before", 2)
    assert not mask[:, 0].any() and "outputs 1, 3, 4 may not see token 5" in shown.says
    shown.press("causal")
    mask_agrees(shown, data, causal_mask(5), "before", 2)


def test_a_cache_gives_what_attention_gives(show):
    """Catches weights or counts of another step, and outputs that depend on whether keys and values are kept."""
    data, shown = stored_data("kv-cache"), show("kv-cache").guess()
    Q, K, V = (column(data[name]) for name in ("queries", "keys", "values"))
    outputs, _ = attend(Q, K, V, causal_mask(Q.shape[1]))
    for cached in ("true", "false"):
        shown.press("cache", cached)
        for n in range(1, Q.shape[1] + 1):
            shown.set(step=n)
            weights = attend(Q[:, [n - 1]], K[:, :n], V[:, :n])[1]
            shown.agrees_with("weight", weights)
            numbers = [float(x) for x in shown.text("output").strip("()").split()]
            np.testing.assert_allclose(numbers, outputs[:, n - 1], atol=0.00501)
            made = [3 if cached == "true" else 3 * i for i in range(1, n + 1)]
            kept = n * (len(K) + len(V)) if cached == "true" else 0
            shown.verify({"now": made[-1], "so-far": sum(made), "kept": kept})
            states = shown.element.locator('[data-value^="query-"], [data-value^="key-"], [data-value^="value-"]')
            assert sum("made" in text for text in states.all_inner_texts()) == made[-1]
    shown.set(step=1)
    shown.press("next")
    assert shown.text("step") == "2"
