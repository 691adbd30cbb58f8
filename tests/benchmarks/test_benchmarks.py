"""Each benchmark in miniature: it runs, its ratios are finite numbers, and it refuses what cannot be compared."""

import itertools
import math
from importlib.util import find_spec

import pytest
import torch

from benchmarks import attention, backward, compiled, floor, generation, peers, training
from benchmarks.harness import Report
from benchmarks.sizes import Options, Size

MINIATURE = Size("miniature", 2, 24, 3, 10, 4)
OPTIONS = Options(rounds=2, least=0.0, sizes=(MINIATURE,), n_new=5, gpt2=False, attention=(20, 40), backward=(24, 48))
# The peers' own code, in which newer versions of others find something to warn about.
pytestmark = pytest.mark.filterwarnings("ignore")


def check(report, works: int):
    assert len(report.seconds) == works
    for work, times in report.seconds.items():
        for name, seconds in times.items():
            assert len(seconds) == OPTIONS.rounds and min(seconds) > 0, (work, name)
    for row in report.rows:
        numbers = (row.measured.low, row.measured.median, row.measured.high)
        assert all(math.isfinite(value) and value >= 0 for value in numbers), row


def test_training_steps_are_compared_with_every_installed_peer():
    report = training.run(OPTIONS)
    check(report, 1)
    (times,) = report.seconds.values()
    assert set(times) >= {peers.OURS, peers.LEAN, "torch.nn", "transformers", training.FLOOR}
    assert len(times) + len(report.skipped) == 7
    targets = {row.what: row.target for row in report.rows if row.target is not None}
    assert targets[f"faster than {peers.LEAN}"] == 1.05 and targets["of the floor (bests)"] == 0.9


@pytest.mark.parametrize("name", ["x-transformers", "litgpt"])
def test_optional_peers_train(name):
    if find_spec(peers.PACKAGES[name]) is None:
        pytest.skip("needs the peers of make bench")
    models, _ = peers.build(MINIATURE)
    losses = []
    step = training.step(models[name], MINIATURE, losses)
    for _ in range(4):
        step()
    first = next(training.batches(MINIATURE))
    assert training.loss(models[name], *first).item() < losses[0], "on the rows of the first step"


def test_a_peer_of_another_size_is_refused():
    with pytest.raises(ValueError, match="small has 97 parameters, expected 100 as ours"):
        peers.check_counts({peers.OURS: 100, "small": 97})


def test_a_model_that_does_not_learn_is_refused():
    with pytest.raises(ValueError, match=r"loss of lazy went from 2\.000 to 2\.500"):
        training.check_falling({"lazy": [2.0, 1.9, 2.5]})


def test_every_model_trains_on_the_same_rows():
    first, second = training.batches(MINIATURE), training.batches(MINIATURE)
    for (ids, targets), (others, _) in itertools.islice(zip(first, second, strict=True), 3):
        assert torch.equal(ids, others)
        assert torch.equal(ids[:, 1:], targets[:, :-1])


def test_the_peers_predict_from_the_past_alone():
    models, _ = peers.build(MINIATURE)
    ids = torch.randint(256, (2, 9))
    changed = ids.clone()
    changed[:, 6] = (ids[:, 6] + 1) % 256
    for name, model in models.items():
        with torch.no_grad():
            difference = (model.eval()(ids) - model(changed)).abs().amax((0, 2))
        assert difference[:6].max() < 1e-5 and difference[6] > 1e-5, name


def test_the_lean_decoder_computes_what_ours_does():
    """Catches a peer that is fast because it leaves something out: with our weights it gives our logits."""
    ours, lean = peers.clearformer_gpt(MINIATURE, 10).eval(), peers.lean_gpt(MINIATURE, 10)
    names = {"tokens.weight": "tokens.weight", "positions.weight": "positions.weight", "head.weight": "head.weight"}
    names |= {f"norm.{part}": f"decoder.norm.{part}" for part in ("weight", "bias")}
    layers = {"norm1": "attention_norm", "norm2": "feed_forward_norm", "qkv": "attention.qkv", "out": "attention.out"}
    layers |= {name: f"feed_forward.{name}" for name in ("up", "down")}
    for i, (theirs, own), part in itertools.product(range(MINIATURE.n_layers), layers.items(), ("weight", "bias")):
        names[f"blocks.{i}.{theirs}.{part}"] = f"decoder.blocks.{i}.{own}.{part}"
    weights = ours.state_dict()
    lean.load_state_dict({theirs: weights[own] for theirs, own in names.items()})
    assert len(weights) == len(names)
    ids = torch.randint(256, (2, 9))
    torch.testing.assert_close(lean(ids), ours(ids))


def test_the_optimizers_of_the_peers_are_ours():
    """Catches a peer that decays other weights, or with other numbers, than ours."""
    models, _ = peers.build(MINIATURE)
    first, second = (training.optimizer_of(models[name]) for name in (peers.OURS, peers.LEAN))
    for ours, theirs in zip(first.param_groups, second.param_groups, strict=True):
        assert sorted(p.numel() for p in ours.pop("params")) == sorted(p.numel() for p in theirs.pop("params"))
        assert ours == theirs


def test_generation_is_compared_at_both_batch_sizes():
    report = generation.run(OPTIONS)
    check(report, 2)
    assert [row.what for row in report.rows if "transformers" in row.what] == ["faster than transformers"] * 2


def test_weights_in_8_bits_are_compared_with_ours_alone():
    """Catches layers that stay as they are, and a row that compares with the peer or with itself."""
    models = generation.pair(MINIATURE, OPTIONS)
    ours = models[peers.OURS].eval()
    models = {peers.OURS: ours, generation.IN_8_BITS: generation.in_8_bits(ours)}
    assert not any(isinstance(part, torch.nn.Linear) for part in models[generation.IN_8_BITS].modules())
    report = Report()
    generation.compare("miniature", models, 8, OPTIONS, report)
    check(report, 1)
    (times,) = report.seconds.values()
    (row,) = report.rows
    ratios = [ours / in_8_bits for ours, in_8_bits in zip(*(times[name] for name in models), strict=True)]
    assert min(ratios) <= row.measured.median <= max(ratios)


def test_the_bound_reads_each_weight_of_a_matrix_once(monkeypatch):
    shapes = []
    monkeypatch.setattr(floor.F, "linear", lambda x, weight: shapes.append(weight.shape))
    floor.weights_read(peers.clearformer_gpt(MINIATURE, 7), 1)["weights, products"]()
    D = MINIATURE.d_model
    assert sum(map(math.prod, shapes)) == MINIATURE.n_layers * 12 * D * D + 256 * D


def test_an_answer_of_the_wrong_length_is_refused():
    call = generation.length_checked_call(
        lambda model, prompt, n_new: prompt, None, torch.zeros(1, generation.N_PROMPT), 5
    )
    with pytest.raises(ValueError, match=r"shape \(1, 16\), expected \(1, 21\)"):
        call()


def test_attention_alone_is_compared_in_time_and_memory():
    report = attention.run(OPTIONS)
    check(report, 2)
    assert all(peak > 0 for facts in report.facts.values() for peak in facts["peak bytes"].values())


def test_hand_written_gradients_are_compared_with_and_without_the_mask():
    report = backward.run(OPTIONS)
    check(report, 8)
    kept = {n: report.facts[f"backward, N {n}, causal"]["kept bytes"] for n in OPTIONS.backward}
    heads = backward.SHAPE[1]
    for n, by_name in kept.items():
        assert by_name["attend_by_hand"] >= 4 * heads * n * n > by_name["attend_recomputing"] - 4 * heads * n * 65
    assert kept[48]["attend_recomputing"] == 2 * kept[24]["attend_recomputing"]


def test_every_model_has_an_input_for_the_compiler(monkeypatch):
    # The models run as they are: the checks of shapes that this suite adds break the graph.
    monkeypatch.setattr(compiled, "breaks", lambda model, inputs: len(model(*inputs)) * 0)
    monkeypatch.setattr(compiled.shutil, "which", lambda name: None)
    report = compiled.run(OPTIONS)
    assert report.skipped == [compiled.NO_COMPILER]
    models = ("GPT", "BERT", "ViT", "MAE", "Seq2Seq")
    assert [row.work for row in report.rows] == [f"forward, {name}, miniature" for name in models]
