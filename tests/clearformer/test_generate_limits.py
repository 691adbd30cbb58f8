"""Generation at the edges of what it takes: the last position, the smallest temperature, one token, no cache."""

import inspect
import math

import pytest
import torch
from clearformer.generation import beam_search, draw, generate, keep_top_k, keep_top_p

from tests.clearformer.writers import N_POSITIONS, PROMPTS, Successor, V, gpt, seeded_rng

WRITE = pytest.mark.parametrize(
    "write",
    [generate, lambda *arguments, **options: beam_search(*arguments, 2, **options)[0]],
    ids=["generate", "beam_search"],
)


@WRITE
def test_a_text_may_fill_every_position(write):
    """Catches a limit that is off by one, on either side."""
    (row,) = write(gpt(), [[1, 2]], N_POSITIONS - 2)
    assert len(row) == N_POSITIONS
    with pytest.raises(ValueError, match=rf"make {N_POSITIONS + 1}, .*at most {N_POSITIONS - 2}\b"):
        write(gpt(), [[1, 2]], N_POSITIONS - 1)


@WRITE
@pytest.mark.parametrize(("options", "caches"), [({}, 1), ({"cached": False}, 0)])
def test_the_cache_is_there_unless_it_is_not_wanted(write, options, caches, monkeypatch):
    """Catches the price of a whole pass for each token, which no output shows."""
    model, made, read = gpt(), [], []
    new_cache, hidden_states = model.new_cache, model.hidden_states
    monkeypatch.setattr(model, "new_cache", lambda *sizes: made.append(sizes) or new_cache(*sizes))
    monkeypatch.setattr(
        model,
        "hidden_states",
        lambda ids, *rest, **named: read.append(ids.shape[1]) or hidden_states(ids, *rest, **named),
    )
    write(model, PROMPTS, 3, **options)
    assert len(made) == caches
    assert read == ([6, 1, 1] if caches else [6, 7, 8])


def test_a_temperature_is_0_or_as_large_as_logits_bear():
    """Catches bounds that are moved: below 1e-6 logits overflow, and at infinity all tokens are alike."""
    model, rows = gpt(), torch.tensor([[1, 2, 3]])
    assert generate(model, rows, 4, temperature=1e-6, generator=seeded_rng()).equal(generate(model, rows, 4))
    for temperature in (9.9e-7, math.inf, -1.0):
        with pytest.raises(ValueError, match=f"temperature={temperature}, expected 0"):
            generate(model, rows, 4, temperature=temperature)


@pytest.mark.parametrize("settings", [{"top_p": 0.5}, {"top_k": 2}])
def test_what_does_nothing_without_a_temperature_is_refused(settings):
    """Catches one of the two that is let through."""
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name}={settings[name]}.* do nothing at temperature=0"):
        generate(gpt(), PROMPTS, 2, **settings)


@pytest.mark.parametrize("settings", [{"top_k": 1}, {"top_p": 1e-9}])
def test_the_likeliest_token_alone_is_what_is_kept_of_every_draw(settings):
    """Catches a setting that is checked and never handed on."""
    model, rows = gpt(), torch.tensor([[1, 2, 3], [4, 5, 6]])
    found = generate(model, rows, 9, temperature=50.0, generator=seeded_rng(), **settings)
    assert found.equal(generate(model, rows, 9))


def test_a_share_is_above_0_and_at_most_1():
    logits = torch.tensor([[0.5, 0.3, 0.2]]).log()
    for p in (0.0, -0.1, 1.001, math.nan):
        with pytest.raises(ValueError, match=f"p={p}, .*above 0, at most 1"):
            keep_top_p(logits, p)
    assert keep_top_p(logits, 1e-9).isfinite().tolist() == [[True, False, False]]


def test_a_penalty_is_from_minus_5_to_5():
    for penalty in (-5.0, 5.0):
        assert beam_search(gpt(), [[1]], 2, 2, length_penalty=penalty)[1].isfinite().all()
    for penalty in (-5.01, 5.01):
        with pytest.raises(ValueError, match=rf"length_penalty={penalty}, .*-5 to 5\b"):
            beam_search(gpt(), [[1]], 2, 2, length_penalty=penalty)


def test_one_token_at_least_is_kept():
    for k in (0, -1):
        with pytest.raises(ValueError, match=f"keep_top_k: k={k}, .*at least 1"):
            keep_top_k(torch.zeros(1, 3), k)


def test_equal_logits_are_all_kept():
    """Catches a comparison that loses the last of several which are alike."""
    assert keep_top_k(torch.tensor([[2.0, 1.0, 2.0, 2.0]]), 2).isfinite().tolist() == [[True, False, True, True]]


def test_a_draw_keeps_first_the_k_likeliest_and_of_them_the_share():
    """Catches a setting that is not handed on, and the two in the other order: 0.6 of the kept is one token of two."""
    logits = torch.tensor([0.4, 0.25, 0.2, 0.15]).log().expand(400, -1)

    def drawn_tokens(**settings):
        return set(draw(logits, generator=seeded_rng(), **settings).tolist())

    assert drawn_tokens() == {0, 1, 2, 3} and drawn_tokens(top_k=3) == {0, 1, 2} and drawn_tokens(top_p=0.6) == {0, 1}
    assert drawn_tokens(top_k=2, top_p=0.6) == {0}


def test_a_draw_can_be_repeated_and_needs_no_generator():
    logits = torch.zeros(50, 9)
    assert draw(logits, generator=seeded_rng()).equal(draw(logits, generator=seeded_rng()))
    torch.manual_seed(3)
    first = draw(logits)
    torch.manual_seed(3)
    assert draw(logits).equal(first) and not draw(logits).equal(first)


@pytest.mark.parametrize("prompt", [torch.tensor([3, 4], dtype=torch.int32), (3, 4), [3, 4]])
def test_a_prompt_may_be_any_row_of_whole_numbers(prompt):
    model = gpt()
    assert generate(model, [prompt, [5]], 2)[0].tolist() == generate(model, torch.tensor([[3, 4]]), 2)[0].tolist()


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (3, TypeError, "ids=3, .*a tensor .*a list"),
        ([b"ab"], ValueError, "b'ab', expected a row"),
        ([[[1, 2]]], ValueError, r"torch\.int64 and shape \(1, 2\)"),
        ([[True, False]], ValueError, "a prompt is of torch.bool"),
        ([torch.tensor([1, 2], dtype=torch.int16)], ValueError, "a prompt is of torch.int16"),
        ([{"a": 1}], ValueError, "{'a': 1}, expected a row"),
    ],
)
def test_what_is_no_prompt_is_named(ids, error, message):
    with pytest.raises(error, match=message):
        inspect.unwrap(generate)(gpt(), ids, 2)


def test_a_word_is_no_stop():
    """Catches a text that is taken for a row of stops."""
    with pytest.raises(TypeError, match="stop='end' is of type str"):
        inspect.unwrap(generate)(gpt(), [[1]], 2, stop="end")


@pytest.mark.parametrize("stop", [0, V - 1])
def test_the_first_and_the_last_token_may_be_a_stop(stop):
    rows = generate(Successor(), [[(stop - 2) % V]], 6, stop=stop)
    assert rows[0].tolist() == [(stop - 2) % V, (stop - 1) % V, stop]


@pytest.mark.parametrize("as_tensor", [True, False])
def test_beams_end_when_all_have_and_not_before(as_tensor):
    """Catches a search that goes on behind the end of all, or ends with the first."""
    prompts = [[2], [4]]
    rows, scores = beam_search(Successor(), torch.tensor(prompts) if as_tensor else prompts, 9, 1, stop=7)
    assert [row.tolist() for row in rows] == [[2, 3, 4, 5, 6, 7], [4, 5, 6, 7, *([7, 7] if as_tensor else [])]]
    step = math.log(math.e / (math.e + V - 1))
    assert scores.tolist() == pytest.approx([step, step])


def search_in_loops(model, prompt, n_tokens, n_beams, penalty, stop):
    """The search in loops: every beam goes on with every token, the best of all are kept, what has ended stays."""
    beams = [((), 0.0)]
    for _ in range(n_tokens):
        candidates = []
        for new, total in beams:
            if new[-1:] == (stop,):
                candidates.append((new, total))
                continue
            with torch.no_grad():
                row = model(torch.tensor([[*prompt, *new]]))[0, -1].log_softmax(-1).tolist()
            candidates += [((*new, token), total + log_p) for token, log_p in enumerate(row)]
        candidates.sort(key=lambda it: -it[1] / len(it[0]) ** penalty)
        beams = candidates[:n_beams]
    return beams[0][0], beams[0][1] / len(beams[0][0]) ** penalty


@pytest.mark.parametrize("penalty", [-1.0, 2.0])
def test_few_beams_are_those_of_a_search_in_loops(penalty):
    """Catches candidates that are ordered by another score than the last, which many beams would not show."""
    model = gpt()
    for stop in range(0, V, 2):
        rows, scores = beam_search(model, PROMPTS, 4, 2, length_penalty=penalty, stop=stop)
        for prompt, row, score in zip(PROMPTS, rows, scores, strict=True):
            expected = search_in_loops(model, prompt, 4, 2, penalty, stop)
            assert (tuple(row.tolist()[len(prompt) :]), score.item()) == (expected[0], pytest.approx(expected[1]))


def test_a_head_needs_no_weights():
    """Catches a search for the device of a weight where the head has none."""
    model = Successor()
    hidden_states, head = model.hidden_states, model.head
    model.head = torch.nn.Identity()
    model.hidden_states = lambda *arguments, **options: head(hidden_states(*arguments, **options))
    assert generate(model, [[3], [5]], 2)[1].tolist() == [5, 6, 7]


def test_without_a_cache_none_need_be_offered():
    """Catches a demand for ``new_cache`` where nobody calls it."""
    model = torch.nn.Module()
    whole = Successor()
    model.config, model.head, model.hidden_states = whole.config, whole.head, whole.hidden_states
    write = inspect.unwrap(generate)  # without the check that the tests add, which asks for all of the protocol
    assert write(model, [[3]], 3, cached=False)[0].tolist() == [3, 4, 5, 6]
    with pytest.raises(TypeError, match="a Module has no new_cache"):
        write(model, [[3]], 3)
