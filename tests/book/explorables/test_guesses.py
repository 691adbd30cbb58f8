"""What is asked before the numbers show: right answers beside the library's; and the goals, each within reach."""

import math
import re

import numpy as np
import pytest
import torch
from clearbook.slips import pairs_as_neighbours
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.reference.attention import attention_weights
from clearformer.reference.functions import softmax

from tests.book.explorables.shown import stored_data
from tests.book.explorables.test_attention import city_vector, column
from tests.book.explorables.test_patches import patch_weights
from tests.book.explorables.test_serving import serving


def city_weights(word, temperature):
    data = stored_data("soft-lookup")
    return softmax(column(data["keys"]).T @ city_vector(word, data["pairs"]) / temperature, axis=0)


def cold_enough():
    """About the highest temperature at which one city has nine tenths for the first word."""
    word = stored_data("soft-lookup")["words"][0]
    found = max(t for t in np.geomspace(0.01, 10, 400) if city_weights(word, t).max() > 0.9)
    return min((0.5, 0.25, 0.05), key=lambda answer: abs(math.log(answer / found)))


def most_of_the_first():
    data = stored_data("attention-walk")
    return int(attention_weights(column(data["keys"]).T @ column(data["queries"])[:, [0]]).argmax())


def what_head_0_holds():
    data = stored_data("view-transpose")
    N, H, K = data["tokens"], data["heads"], data["width"]
    token = torch.arange(N).repeat_interleave(H * K).view(H, N, K)[0].flatten()
    counts = token.bincount(minlength=N)
    return "own" if (counts == K).all() else "whole" if (counts % (H * K) == 0).all() else "torn"


def where_row_1_belongs():
    data = stored_data("state-dict")
    rows = torch.arange(data["heads"] * data["width"])
    place = int(pairs_as_neighbours(rows, data["heads"]).argsort().tolist().index(1))
    return "next" if place >= data["width"] else "stays" if place == 1 else "half"


def what_a_late_mask_moves():
    data = stored_data("causal-mask")
    C, values = np.array(data["scores"]), np.array(data["values"])
    changed = C + np.eye(len(C))[:, [-1]]
    both = [values @ (attention_weights(scores) * np.triu(np.ones_like(C))) for scores in (C, changed)]
    moved = int((np.abs(both[0] - both[1]) > 1e-9).sum())
    return "all" if moved == len(C) else "some" if moved > 1 else "last"


def made_without_a_cache():
    return sum(3 * step for step in range(1, len(stored_data("kv-cache")["queries"]) + 1))


def share_of_the_cache():
    model = stored_data("cost-calculator")["models"][0]
    with torch.device("meta"):
        net = GPT(GPTConfig(model["V"], model["N"], model["H"] * model["K"], model["H"], model["M"]))
        cached = sum(layer.k.numel() + layer.v.numel() for layer in net.new_cache(1, model["N"]).layers)
    share = cached / sum(p.numel() for p in net.parameters())
    return min((0.003, 0.03, 0.3), key=lambda answer: abs(math.log(answer / share)))


def most_of_the_class_token():
    most = patch_weights(0, 0)[1:].max()
    return min((0.1, 0.3, 0.9), key=lambda answer: abs(math.log(answer / most)))


def pairs_in_chunks_of_four():
    N = stored_data("text-chunks")["tokens"]
    return int((np.tri(N) * np.kron(np.eye(N // 4), np.ones((4, 4)))).sum())


def what_must_be_given():
    """For the number that stands there first: the fewest pieces after which it writes the rest as it should be."""
    example = stored_data("forced-target")["examples"][0]
    least = [example["runs"][run]["written"] == example["wanted"] for run in example["of"]].index(True)
    return "nothing" if least == 0 else "first" if least <= example["first"] else "all"


def tokens_that_leave_the_first_expert():
    scores = np.array(stored_data("expert-routing")["scores"])
    counts = [np.bincount((scores + bias).argmax(axis=1), minlength=4)[0] for bias in ([0] * 4, [-0.15, 0, 0, 0])]
    return int(counts[0] - counts[1])


def reading_of_a_latent():
    data = stored_data("latent-cache")
    half = data["heads"] * data["width"]  # of a key and a value for each head
    return "more" if 2 * data["heads"] * half > 2 * half else "less"


def first_token_in_chunks():
    predicted = [serving(way, 8000, 256, 64)[0] for way in ("whole", "chunks")]
    return "later" if predicted[1] > predicted[0] else "earlier"


QUESTIONS = {  # the right answer, and what would give it away
    "soft-lookup": (cold_enough, ("weight-0", "weight-3", "answer-0", "answer-1")),
    "attention-walk": (most_of_the_first, ("exp-0", "weight-0", "product-3", "output", "exp-sum")),
    "view-transpose": (what_head_0_holds, ()),
    "state-dict": (where_row_1_belongs, ()),
    "causal-mask": (what_a_late_mask_moves, ("sum-0", "output-1", "moved-4")),
    "kv-cache": (made_without_a_cache, ("now", "so-far")),
    "patch-attention": (most_of_the_class_token, ("weight-0", "weight-7")),
    "forced-target": (what_must_be_given, ("piece-0", "by-0", "at-0", "weight-1")),
    "text-chunks": (pairs_in_chunks_of_four, ("pairs", "rounds", "products")),
    "online-softmax": (lambda: "less", ("l", "o", "y", "shrink", "e-0", "weight-0")),
    "cost-calculator": (share_of_the_cache, ("cache", "crossover")),
    "serving-timeline": (first_token_in_chunks, ("first", "gap")),
    "latent-cache": (reading_of_a_latent, ("products", "bits")),
    "expert-routing": (tokens_that_leave_the_first_expert, ("load-0", "load-3", "weight-0")),
    "draft-overlap": (lambda: "same", ("a", "tokens", "accepted-0", "rest-1", "written-2")),
    "training-road": (lambda: "pairs", ("counts-0", "counts-4")),
}


@pytest.mark.parametrize("tag", QUESTIONS)
def test_the_numbers_show_after_a_guess(show, tag):
    """Catches a number that gives the answer away, and one that stays hidden."""
    shown = show(tag)
    _, secret = QUESTIONS[tag]
    assert shown.says == "Guess first; then the numbers show."
    assert set(shown.texts(*secret)) <= {"?"}
    assert shown.element.locator(".live").get_by_text("?", exact=True).count() >= 1
    for slider in shown.element.locator("input[type=range]:not([disabled]):visible").all():
        slider.press("ArrowRight")
    assert shown.says == "Guess first; then the numbers show." and set(shown.texts(*secret)) <= {"?"}
    shown.guess()
    assert shown.says.startswith(("Right: ", "No: "))
    assert shown.element.locator(".live").get_by_text("?", exact=True).count() == 0
    assert shown.page.complaints == []


@pytest.mark.parametrize("tag", QUESTIONS)
def test_one_answer_is_right(show, tag):
    """Catches a right answer that is called wrong, two that are called right, and a verdict that stays for ever."""
    right, _ = QUESTIONS[tag]
    shown = show(tag)
    for button in shown.control("guess").all():
        answer = button.get_attribute("data-option")
        shown.guess(answer)
        assert shown.says.startswith("Right: ") == (answer == str(right())), answer
        assert button.get_attribute("aria-pressed") == "true"
    shown.element.locator("input[type=range]:not([disabled]):visible").first.press("ArrowRight")
    assert not re.match("Right: |No: ", shown.says)


def reached(shown) -> bool:
    return "goal is reached" in shown.says


def test_a_word_can_be_shared_by_two_cities(show):
    """Catches a goal that a warm table reaches, or a word that one city wins."""
    shown = show("soft-lookup").guess()
    shown.set(word="Berlin Lisbon", temperature=0)
    assert not reached(shown)
    shown.set(temperature=-1)
    assert shown.says == "The goal is reached: “Berlin Lisbon” is shared by Berlin and Lisbon."
    shown.set(word="Oslo")  # all four have a quarter
    assert not reached(shown)
    shown.set(word="Berlinn")
    assert not reached(shown)


def test_a_word_can_hear_itself_alone(show):
    """Catches a goal out of the sliders' reach, and one that another word reaches."""
    shown = show("attention-walk").guess()
    shown.set(part_0=0, part_1=4)
    assert not reached(shown) and float(shown.text("weight-2")) < 0.99
    shown.set(part_0=-4)
    assert reached(shown) and float(shown.text("weight-2")) >= 0.99
    shown.press("target", 3)
    assert not reached(shown)


def test_sizes_can_be_found_at_which_the_cuts_agree(show):
    """Catches goals that are called reached at other sizes than torch's."""
    shown = show("view-transpose").guess()
    shown.press("way", "view")
    for N, H, first, second in ((3, 2, False, False), (3, 1, True, False), (4, 2, False, True), (2, 2, False, True)):
        shown.set(tokens=N, heads=H)
        q = torch.arange(N * H * 2).view(N, 2 * H)
        assert torch.equal(q.view(H, N, 2), q.unflatten(-1, (H, 2)).transpose(0, 1)) == first
        said = [f"The {name} goal is reached" in shown.says for name in ("first", "second")]
        assert said == [first, second]


def test_a_row_can_be_right_without_sorting(show):
    """Catches a goal that a sorted tower reaches, or one at another row or size than the library's order says."""
    shown = show("state-dict").guess()
    shown.press("way", "lying")
    for K in (2, 4, 6):
        shown.set(width=K, heads=2)
        right = (pairs_as_neighbours(torch.arange(2 * K), 2) == torch.arange(2 * K)).tolist()
        for row in range(2 * K):
            shown.set(row=row)
            assert ("The first goal is reached" in shown.says) == (right[row] and not all(right))
            assert ("The second goal is reached" in shown.says) == all(right)
    shown.set(width=4, row=0)
    shown.press("way", "sorted")
    assert not reached(shown)
    shown.press("way", "lying")
    shown.press("file", "halves")
    assert not reached(shown)


def test_one_earlier_output_can_be_let_look(show):
    """Catches a goal that a late mask reaches, or two outputs that notice."""
    shown = show("causal-mask").guess()
    shown.set(nudge=2)
    assert not reached(shown)
    shown.press("cell-4-1")
    assert reached(shown) and "outputs 1, 3, 4 may not see token 5" in shown.says
    shown.press("where", "after")
    assert not reached(shown)
    shown.press("where", "before")
    shown.press("cell-4-0")
    assert not reached(shown)


def test_the_step_that_spares_half_is_found(show):
    """Catches the goal at another step than the sums say, or without a cache."""
    shown = show("kv-cache").guess()
    half = [n for n in (1, 2, 3, 4) if 2 * 3 * n <= sum(3 * step for step in range(1, n + 1))]
    for n in (1, 2, 3, 4):
        shown.set(step=n)
        assert reached(shown) == (n == half[0])
    shown.set(step=half[0])
    shown.press("cache", "false")
    assert not reached(shown)


def test_one_score_can_wipe_out_what_was_kept(show):
    """Catches a goal out of reach of the slider, or reached before the last block."""
    shown = show("online-softmax").guess()
    shown.control("token").select_option("2")
    shown.set(changed=5, step=2)
    assert not reached(shown)
    shown.set(step=3)
    assert reached(shown) and float(shown.text("shrink")) < 0.05
    shown.set(changed=4)
    assert reached(shown) == (math.exp(stored_data("online-softmax")["scores"][0][1] - 4) < 0.05)


def test_the_shortest_context_that_outgrows_the_model_is_found(show):
    """Catches the goal at a longer context, or for several texts."""
    shown = show("cost-calculator").guess()
    tokens = int(shown.text("crossover"))
    shortest = math.ceil(math.log2(tokens))
    for exponent in (shortest - 1, shortest, shortest + 1):
        shown.set(N=exponent)
        assert reached(shown) == (exponent == shortest)
    shown.set(N=shortest, sequences=2)
    assert not reached(shown)
