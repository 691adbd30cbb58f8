"""Generation: the cache, padding and batches change nothing; sampling keeps its promises; beams find the best."""

import inspect
import itertools
import math
import types

import pytest
import torch
from clearformer.cache import KVCache
from clearformer.decoding import LanguageModel
from clearformer.generation import beam_search, draw, generate, keep_top_k, keep_top_p
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.positions import Rotary
from torch import nn

from tests.clearformer.devices import DEVICES
from tests.clearformer.test_multihead import random_module

V, N_POSITIONS, D, H, M, B, N = 11, 30, 24, 3, 2, 4, 5
LEARNED = GPTConfig(V, N_POSITIONS, D, H, M)
ROTARY = GPTConfig(V, N_POSITIONS, D, H, M, rope=Rotary, n_kv_heads=1)
BOTH = pytest.mark.parametrize("config", [LEARNED, ROTARY], ids=["learned", "rotary"])
PROMPTS = [[1, 2, 3], [4], [5, 6, 7, 8, 9, 10], [0, 1]]


def gpt(config=LEARNED, device="cpu"):
    return random_module(GPT(config), torch.float64, device).eval()


def prompts(device="cpu"):
    return torch.randint(V, (B, N), device=device)


def seeded(seed=3, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


def log_p(model, prompt, new):
    """Sum of the log-probabilities of ``new`` after ``prompt``, from one forward pass."""
    with torch.no_grad():
        rows = model(torch.tensor([[*prompt, *new]])).log_softmax(-1)[0, len(prompt) - 1 : -1]
    return sum(rows[i, token].item() for i, token in enumerate(new))


@pytest.mark.parametrize("device", DEVICES)
@BOTH
def test_greedy_takes_the_likeliest_token_each_time(config, device):
    """Catches logits of the wrong position, and a cache that moves positions."""
    model, rows = gpt(config, device), prompts(device)
    expected = rows
    with torch.no_grad():
        for _ in range(12):
            expected = torch.cat((expected, model(expected)[:, -1:].argmax(-1)), dim=1)
    assert generate(model, rows, 12).equal(expected)
    assert generate(model, rows, 12, cached=False).equal(expected)


@pytest.mark.parametrize("device", DEVICES)
@BOTH
@pytest.mark.parametrize("cached", [True, False])
def test_prompts_of_different_lengths_do_not_disturb_each_other(config, cached, device):
    """Catches padding that is looked at, and positions that count it."""
    model = gpt(config, device)
    together = generate(model, PROMPTS, 9, cached=cached)
    for prompt, row in zip(PROMPTS, together, strict=True):
        assert row.equal(generate(model, torch.tensor([prompt], device=device), 9)[0])
        assert row.tolist()[: len(prompt)] == prompt


@BOTH
@pytest.mark.parametrize("settings", [{"top_k": 4}, {"top_p": 0.8}, {"top_k": 6, "top_p": 0.9}, {}])
def test_a_seed_settles_what_is_drawn_with_and_without_cache(config, settings):
    """Catches draws from the global generator, and a cache that changes the probabilities."""
    model, rows = gpt(config), prompts()
    first = generate(model, rows, 14, temperature=1.3, generator=seeded(), **settings)
    torch.randn(3)
    options = {"temperature": 1.3, **settings}
    assert generate(model, rows, 14, generator=seeded(), **options).equal(first)
    assert generate(model, rows, 14, generator=seeded(), cached=False, **options).equal(first)
    assert not generate(model, rows, 14, generator=seeded(4), **options).equal(first)


def test_a_row_ends_with_its_stop_token_and_the_others_go_on():
    """Catches rows that go on after the end, and a loop that does not end with the last row."""
    model, rows = gpt(), prompts()
    free = generate(model, rows, 20)
    stop = int(free[0, N + 2])
    ended = generate(model, rows, 20, stop=stop)
    for row, full in zip(ended, free, strict=True):
        new = full[N:].tolist()
        end = N + (new.index(stop) + 1 if stop in new else len(new))
        assert row[:end].equal(full[:end])
        assert (row[end:] == stop).all()
    trimmed = generate(model, rows.tolist(), 20, stop=stop)
    assert any(len(row) < free.shape[1] for row in trimmed)
    for row, full in zip(trimmed, ended, strict=True):
        new = row[N:].tolist()
        assert row.equal(full[: len(row)])
        assert stop not in new[:-1] and (new[-1] == stop or len(row) == free.shape[1])
    assert generate(model, rows[:1], 20, stop=stop).shape[1] <= N + 3


def test_temperature_sharpens_and_flattens():
    """Catches a temperature that multiplies: counts of the likeliest token over many draws at three temperatures."""
    model, rows = gpt(), prompts()[:1].expand(400, -1).contiguous()
    likeliest = generate(model, rows[:1], 1)[0, -1]
    shares = [
        (generate(model, rows, 1, temperature=t, generator=seeded())[:, -1] == likeliest).double().mean().item()
        for t in (0.05, 1.0, 50.0)
    ]
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 2 / V  # nearly uniform


def test_top_k_keeps_the_k_largest():
    """Catches one too many or too few, and rows mixed up."""
    logits = torch.randn(5, 9)
    for k in (1, 3, 9, 20):
        kept = keep_top_k(logits, k)
        for row, all_ in zip(kept, logits, strict=True):
            assert sorted(row[row > -math.inf].tolist()) == sorted(all_.tolist())[-k:]


def test_top_p_keeps_the_fewest_that_reach_p():
    """Catches the one that crosses p being dropped, and a sum in the wrong order."""
    logits = torch.tensor([[0.05, 0.5, 0.15, 0.3], [0.97, 0.01, 0.01, 0.01]]).log()
    kept = [(keep_top_p(logits, p) > -math.inf).tolist() for p in (0.4, 0.6, 0.9, 1.0)]
    assert [row[0] for row in kept] == [
        [False, True, False, False],
        [False, True, False, True],
        [False, True, True, True],
        [True, True, True, True],
    ]
    assert kept[2][1] == [True, False, False, False]


def test_a_top_p_of_1_keeps_every_token():
    """Catches a rounded sum, which reaches 1 before the last tokens: about 0.1 % of 50,000 were never drawn."""
    assert keep_top_p(torch.randn(2, 50_257) * 3, 1.0).isfinite().all()


def test_tokens_are_kept_in_one_row_as_well_as_in_several():
    row = torch.tensor([0.05, 0.5, 0.15, 0.3]).log()
    assert (
        keep_top_k(row, 2).isfinite().tolist() == keep_top_p(row, 0.6).isfinite().tolist() == [False, True, False, True]
    )


def test_draws_follow_the_probabilities():
    """Catches draws from the logits: 20,000 draws within four standard deviations."""
    p = torch.tensor([0.1, 0.2, 0.7])
    n = 20_000
    counts = draw(p.log().expand(n, -1), generator=seeded()).bincount(minlength=3) / n
    assert ((counts - p).abs() < 4 * (p * (1 - p) / n).sqrt()).all()


def test_what_comes_back_may_be_trained_on():
    """Catches a tensor of inference mode, which autograd refuses."""
    model = gpt()
    rows = generate(model, prompts(), 3)
    model(rows).sum().backward()
    assert model.tokens.weight.grad.abs().sum() > 0


@BOTH
def test_one_beam_is_greedy(config):
    model, rows = gpt(config), prompts()
    best, scores = beam_search(model, rows, 8, 1)
    greedy = generate(model, rows, 8)
    assert best.equal(greedy)
    for row, score in zip(best.tolist(), scores.tolist(), strict=True):
        assert score == pytest.approx(log_p(model, row[:N], row[N:]) / 8)


@BOTH
def test_enough_beams_find_the_best_of_all_continuations(config):
    """Catches beams of one prompt continued by another, a cache that is not reordered, and a wrong length.

    Every continuation of three tokens, or fewer with a stop, is scored by brute force.
    """
    model, stop, n = gpt(config), 7, 3
    sums = [sums_of_all_continuations(model, prompt, n, stop) for prompt in PROMPTS]
    for penalty in (0.0, 1.0, 2.0):
        rows, scores = beam_search(model, PROMPTS, n, V**2, stop=stop, length_penalty=penalty)
        for prompt, row, score, sums_of_one in zip(PROMPTS, rows, scores, sums, strict=True):
            values = {new: total / len(new) ** penalty for new, total in sums_of_one.items()}
            best = max(values, key=values.get)
            assert tuple(row.tolist()[len(prompt) :]) == best, penalty
            assert score.item() == pytest.approx(values[best])


def sums_of_all_continuations(model, prompt: list[int], n: int, stop: int) -> dict[tuple, float]:
    """The log-probability of every continuation of n tokens, cut behind a stop."""
    every = list(itertools.product(range(V), repeat=n))
    with torch.no_grad():
        log_p = model(torch.tensor([[*prompt, *new] for new in every])).log_softmax(-1)[:, len(prompt) - 1 : -1]
    sums = {}
    for new, table in zip(every, log_p.tolist(), strict=True):
        new = new[: new.index(stop) + 1] if stop in new else new
        sums[new] = sum(table[i][token] for i, token in enumerate(new))
    return sums


def test_more_beams_score_no_worse_and_the_cache_changes_nothing():
    model, rows = gpt(), prompts()
    scores = [beam_search(model, rows, 6, n)[1] for n in (1, 40)]
    assert (scores[1] >= scores[0] - 1e-9).all()
    with_cache, without = (beam_search(model, rows, 6, 3, stop=2, cached=cached)[0] for cached in (True, False))
    assert with_cache.equal(without)


def translator():
    return random_module(Seq2Seq(Seq2SeqConfig(V, N_POSITIONS, D, H, M, padding=0))).eval()


def test_a_translator_generates_for_its_sources():
    """Catches sources mixed up between sentences and beams."""
    model = translator()
    source = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0], [9, 1, 2, 0]])
    start = torch.full((3, 1), 1)
    together = generate(model.conditioned_on(source), start, 6)
    beams, _ = beam_search(model.conditioned_on(source), start, 6, 4)
    for i in range(3):
        alone = model.conditioned_on(source[i : i + 1])
        assert together[i].equal(generate(alone, start[:1], 6)[0])
        assert beams[i].equal(beam_search(alone, start[:1], 6, 4)[0][0])
    assert generate(model.conditioned_on(source), start, 6, cached=False).equal(together)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[1, 2], [V]], 3), ValueError, f"id {V} "),
        (([[1, 2], []], 3), ValueError, r"a prompt is of torch.float32 and shape \(0,\)"),
        (("hello", 3), TypeError, "ids='hello', expected .* Encode a text"),
        ((["hello", "you"], 3), ValueError, "a prompt is 'hello', expected a row"),
        (([1, 2], 3), ValueError, "put a single row of ids into a list"),
        (([], 3), ValueError, "no prompts"),
        (([[0.5]], 3), ValueError, "whole number"),
        ((torch.zeros(2, 3), 3), TypeError, "float32"),
        (([[1, 2]], 2.5), TypeError, "n_tokens=2.5 is of type float, expected a whole number"),
        (([[1, 2]], True), TypeError, "n_tokens=True"),
        (([[1, 2]], N_POSITIONS - 1), ValueError, f"{N_POSITIONS - 1} new tokens after 2 make {N_POSITIONS + 1}"),
        (([[1, 2]], 0), ValueError, "n_tokens=0, expected a whole number of at least 1"),
    ],
)
def test_bad_prompts_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        inspect.unwrap(generate)(gpt(), *arguments)  # without the shape checks that the tests add
    with pytest.raises(error, match=message):
        inspect.unwrap(beam_search)(gpt(), *arguments, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -0.5}, "temperature=-0.5"),
        ({"temperature": math.nan}, "temperature=nan"),
        ({"temperature": 1.0, "top_k": 0}, "top_k=0"),
        ({"temperature": 1.0, "top_p": 1.5}, "top_p=1.5"),
        ({"top_k": 5}, "top_k=5 .* temperature=0"),
        ({"temperature": 1e-40}, "temperature=1e-40, expected 0 .* or at least 1e-6"),
        ({"temperature": None}, "temperature=None is of type NoneType"),
        ({"temperature": 1.0, "top_k": 2.5}, "top_k=2.5 is of type float"),
        ({"temperature": 1.0, "top_p": "all"}, "top_p='all'"),
        ({"generator": 0}, "generator=0, expected a torch.Generator"),
        ({"cached": 1}, "cached=1 is of type int, expected True or False"),
        ({"stop": -1}, f"stop=-1, expected a whole number from 0 to {V - 1}"),
        ({"stop": V}, f"stop={V}, expected .* 0 to {V - 1}"),
        ({"stop": [3, V]}, f"stop={V}, expected .* 0 to {V - 1}"),
        ({"stop": []}, r"stop=\[\] names no token"),
        ({"stop": True}, "stop=True is of type bool"),
        ({"stop": 0.5}, "stop=0.5 is of type float"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        inspect.unwrap(generate)(gpt(), [[1]], 2, **settings)  # without the shape checks that the tests add
    if {"stop", "cached"} & settings.keys():
        with pytest.raises((TypeError, ValueError), match=message):
            inspect.unwrap(beam_search)(gpt(), [[1]], 2, 3, **settings)


@pytest.mark.parametrize(
    ("model", "missing"),
    [(nn.Linear(2, 2), "a Linear has no config"), (BERT(BERTConfig(V, 9, D, H, 1)), "a BERT has no hidden_states")],
)
def test_a_model_that_cannot_write_is_told_what_it_lacks(model, missing):
    with pytest.raises(TypeError, match=f"generate: {missing}.*new_cache"):
        inspect.unwrap(generate)(model, [[1]], 2)


class Successor(nn.Module):
    """Not one of ours: after id i comes i + 1. It needs no cache, and none of our base classes."""

    def __init__(self):
        super().__init__()
        self.config = types.SimpleNamespace(n_vocab=V, n_positions=N_POSITIONS)
        self.head = nn.Linear(V, V, bias=False)
        self.head.weight.data = torch.eye(V).roll(1, 0)

    def hidden_states(self, ids, mask=None, *, cache=None, positions=None):
        return nn.functional.one_hot(ids, V).float()

    def new_cache(self, batch, n_positions):
        return KVCache(1, batch, 1, n_positions, 1)


def test_a_model_of_ones_own_writes():
    """Catches a demand that the protocol does not name."""
    assert [row.tolist() for row in generate(Successor(), [[3], [5, 8]], 4)] == [[3, 4, 5, 6, 7], [5, 8, 9, 10, 0, 1]]
    assert beam_search(Successor(), [[3]], 2, 2)[0][0].tolist() == [3, 4, 5]


WRITERS = {
    "a GPT": gpt,
    "one's own": Successor,
    "a translator": lambda: translator().conditioned_on(torch.ones(1, 1).int()),
}


@pytest.mark.parametrize("make", WRITERS.values(), ids=WRITERS)
def test_what_writes_is_an_instance_of_the_protocol_on_every_python(make):
    """Catches a member that a module registers: ``isinstance`` does not see it from Python 3.12 on, but sees it before.

    Raises AttributeError for a member that only ``__getattr__`` finds.
    """
    members = {*LanguageModel.__annotations__, *(name for name in vars(LanguageModel) if not name.startswith("_"))}
    for name in members:
        inspect.getattr_static(make(), name)
    assert members and isinstance(make(), LanguageModel)


def test_what_cannot_write_is_no_instance_of_the_protocol():
    assert not isinstance(nn.Linear(2, 2), LanguageModel)


@BOTH
def test_under_autocast_the_cache_holds_what_the_layers_compute(config):
    """Catches a cache of float32 for keys of bfloat16; the logits are those of a forward pass under autocast."""
    model = gpt(config).float()
    with torch.autocast("cpu", torch.bfloat16):
        rows = generate(model, PROMPTS, 6)
        beams, _ = beam_search(model, PROMPTS, 6, 3)
        expected = model(rows[2][None, :-1]).argmax(-1)[0, -6:]
        cache = model.new_cache(1, 9)
        assert cache[0].k.dtype == torch.bfloat16
    assert (rows[2][-6:] == expected).sum() >= 5  # one near tie may fall the other way in bfloat16
    assert [len(row) for row in beams] == [len(prompt) + 6 for prompt in PROMPTS]
    with torch.autocast("cpu", torch.bfloat16):
        assert gpt(config).new_cache(1, 9)[0].k.dtype == torch.float64  # which autocast leaves alone


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_probabilities_are_not_rounded(dtype):
    """Catches logits that are divided, exponentiated and summed in 8 or 11 bits."""
    model = gpt().to(dtype)
    assert generate(model, PROMPTS[0:1], 9, temperature=1e-5)[0].equal(generate(model, PROMPTS[0:1], 9)[0])
    rows = prompts()
    with torch.no_grad():
        expected = model(rows)[:, -1].float().log_softmax(-1).amax(-1)
    torch.testing.assert_close(beam_search(model, rows, 1, 3)[1], expected, rtol=0, atol=1e-5)
    assert generate(model, prompts(), 3, temperature=1.0, top_p=0.9, generator=seeded()).shape == (B, N + 3)


@pytest.mark.parametrize("ids", [PROMPTS, torch.tensor([[1, 2], [3, 4]])], ids=["list", "tensor"])
def test_a_head_may_be_any_module(ids):
    """Catches a look at ``head.weight``, which the protocol does not promise."""
    model = gpt()
    expected = generate(model, ids, 4)
    model.head = nn.Sequential(nn.Identity(), model.head)
    assert all(a.equal(b) for a, b in zip(generate(model, ids, 4), expected, strict=True))


@pytest.mark.parametrize(
    ("n_beams", "penalty", "message"),
    [
        (0, 1.0, "n_beams=0, expected a whole number"),
        (2.0, 1.0, "n_beams=2.0 is of type float"),
        (2, math.nan, "length_penalty=nan, expected from -5 to 5"),
        (2, 500.0, "length_penalty=500.0, expected from -5 to 5"),
    ],
)
def test_fewer_than_one_beam_or_no_penalty_is_refused(n_beams, penalty, message):
    """Catches scores that a power of the length makes -0 for all, so that any text is the best."""
    with pytest.raises((TypeError, ValueError), match=message):
        inspect.unwrap(beam_search)(gpt(), [[1]], 2, n_beams, length_penalty=penalty)


def test_the_scores_of_beams_can_be_used_in_training():
    """Catches a tensor of inference mode that is handed out."""
    _, scores = beam_search(gpt(), [[1]], 3, 2)
    assert not scores.is_inference()


def test_top_p_ends_with_the_token_that_reaches_it():
    """Catches one token more where the sum is exactly p."""
    logits = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64).log()
    assert keep_top_p(logits, 0.5).isfinite().tolist() == [[True, False, False]]
    assert keep_top_p(logits, 0.75).isfinite().sum() == 2


@pytest.mark.parametrize("stop", [[3, 5], (5, 3), torch.tensor([3, 5]).tolist()])
def test_the_first_of_several_stops_ends_a_text(stop):
    """Catches a stop that is not looked for, and a row that is filled with another token than the one that ended it."""
    model, prompts = gpt(), torch.arange(6)[:, None]
    free = generate(model, prompts, 8)
    found = generate(model, prompts, 8, stop=stop)
    lists = generate(model, [[i] for i in range(6)], 8, stop=stop)
    for row, mine, listed in zip(free[:, 1:].tolist(), found[:, 1:].tolist(), lists, strict=True):
        end = next((i for i, token in enumerate(row) if token in (3, 5)), len(row) - 1)
        expected = row[: end + 1]
        assert mine[: end + 1] == expected and set(mine[end + 1 :]) <= {row[end]}
        assert listed[1:].tolist() == expected
    beams, scores = beam_search(model, prompts, 8, 1, stop=stop)
    assert beams[:, : found.shape[1]].equal(found[:, : beams.shape[1]]) and scores.isfinite().all()


def test_a_model_whose_logits_are_nan_writes_nothing():
    """Catches token 0 written for NaN, and a beam whose score is NaN."""
    model = gpt()
    torch.nn.init.constant_(model.decoder.norm.weight, math.nan)
    for write in (lambda: generate(model, [[1]], 3), lambda: beam_search(model, [[1]], 3, 2)):
        with pytest.raises(FloatingPointError, match="logits are NaN after 1 tokens"):
            write()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda logits: keep_top_p(logits, 0.0), r"^keep_top_p: p=0.0, expected above 0, at most 1"),
        (lambda logits: keep_top_p(logits, 1.5), r"^keep_top_p: p=1.5, expected above 0, at most 1"),
        (lambda logits: keep_top_k(logits, 0), r"^keep_top_k: k=0, expected a whole number of at least 1"),
        (lambda logits: draw(logits, top_k=0), r"^keep_top_k: k=0, expected a whole number of at least 1"),
        (lambda logits: draw(logits, top_p=-1.0), r"^keep_top_p: p=-1.0, expected above 0, at most 1"),
    ],
)
def test_no_token_can_be_asked_for_by_those_who_draw_themselves(call, message):
    """Catches checks that ``generate`` alone has: with nothing kept all logits are minus infinity."""
    with pytest.raises(ValueError, match=message):
        call(torch.randn(2, 5))
