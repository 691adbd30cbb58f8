"""A mixture of experts against a loop over its tokens, and the loss that spreads the load."""

import copy
import pickle
from functools import partial

import pytest
import torch
from clearformer.experts import (
    ClampedGatedFeedForward,
    GroupRouter,
    MixtureOfExperts,
    Router,
    SharedExperts,
    load_balance,
    routings,
)
from clearformer.layers import FeedForward, GatedFeedForward, gelu_sigmoid
from inline_snapshot import snapshot

from tests.clearformer.devices import DEVICES
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

B, N, D, HIDDEN, E = 2, 7, 6, 11, 5


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("top_k", [1, 2, E])
def test_equals_a_loop_over_the_tokens(top_k, device):
    layer = MixtureOfExperts(D, HIDDEN, n_experts=E, top_k=top_k).to(device, torch.float64)
    x = torch.randn(B, N, D, dtype=torch.float64, device=device)
    y = layer(x)
    for i in range(B):
        for n in range(N):
            p = (layer.router.weight @ x[i, n]).softmax(dim=0)
            best = p.argsort(descending=True)[:top_k]
            assert_close(y[i, n], sum(p[e] * layer.experts[e](x[i, n]) for e in best))


@pytest.mark.parametrize("top_k", [1, 3])
def test_weights_divided_by_their_sum_are_the_softmax_over_the_chosen(top_k):
    """Catches a sum over all experts, and experts of the width of a network without any."""
    router = partial(Router, normalise=True, bias=True)
    layer = MixtureOfExperts(
        D, HIDDEN, n_experts=E, top_k=top_k, d_expert=4, router=router, expert=GatedFeedForward
    ).double()
    torch.nn.init.normal_(layer.router.bias)
    x = torch.randn(N, D, dtype=torch.float64)
    logits, chosen = layer.router(x).topk(top_k, dim=-1)
    weights = logits.softmax(dim=-1)
    expected = [sum(w * layer.experts[e](x[n]) for w, e in zip(weights[n], chosen[n], strict=True)) for n in range(N)]
    assert_close(layer(x), torch.stack(expected))
    assert all(expert.down.in_features == 4 for expert in layer.experts)


def test_a_clamped_gate_is_the_formula():
    """Catches a gate that is clamped from below, hidden units that are not, and a 1 that is missing."""
    layer = ClampedGatedFeedForward(D, HIDDEN, limit=0.5, activation=gelu_sigmoid).double()
    x = 3 * torch.randn(N, D, dtype=torch.float64)
    gate, up = layer.gate_up(x).split(HIDDEN, dim=-1)
    gate = torch.where(gate > 0.5, 0.5, gate)
    hidden = gate / (1 + torch.exp(-1.702 * gate)) * (1 + up.clamp(-0.5, 0.5))
    assert (up.abs() > 0.5).any() and (gate < -0.5).any()
    assert_close(layer(x), hidden @ layer.down.weight.T + layer.down.bias)


def test_under_autocast_the_experts_add_up():
    """Catches outputs in bfloat16 that are added to a sum in float32, which PyTorch refuses."""
    layer, x = MixtureOfExperts(D, HIDDEN, n_experts=E, top_k=2), torch.randn(B, N, D)
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x)
    torch.testing.assert_close(y, layer(x), rtol=0, atol=2e-2)


def test_a_layer_that_has_made_a_pass_can_be_copied_and_takes_a_single_token():
    """Catches what the router said, which has a history that PyTorch does not copy."""
    layer, x = MixtureOfExperts(D, HIDDEN, n_experts=E), torch.randn(B, N, D)
    y = layer(x)
    with routings(layer) as passes:
        layer(x)
        for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer.requires_grad_(False)))):
            assert torch.equal(other(x), y)
    assert len(passes) == 1 and passes[0][0].grad_fn is not None
    assert_close(layer(x[0, 0]), y[0, 0])


def test_one_expert_is_a_feed_forward_network():
    layer, network = MixtureOfExperts(D, HIDDEN, n_experts=1), FeedForward(D, HIDDEN)
    network.load_state_dict(layer.experts[0].state_dict())
    x = torch.randn(B, N, D)
    assert_close(layer(x), network(x))


@pytest.mark.parametrize("top_k", [1, 2])
def test_the_router_learns_and_an_expert_without_tokens_does_not(top_k):
    """Catches weights divided by their sum, which for one expert are 1 whatever the router says."""
    layer = MixtureOfExperts(D, HIDDEN, n_experts=E, top_k=top_k)
    with routings(layer) as passes:
        layer(torch.randn(B, N, D)).square().sum().backward()
    assert layer.router.weight.grad.abs().max() > 0
    used = set(passes[0][1].flatten().tolist())
    for e, expert in enumerate(layer.experts):
        assert (expert.up.weight.grad.abs().max() > 0) == (e in used)


def test_load_balance_is_1_for_equal_shares_and_n_experts_for_one():
    even, alone = torch.full((E, E), 1 / E), torch.zeros(N, E)
    alone[:, 2] = 1
    assert_close(load_balance(even, torch.arange(E)[:, None]), torch.tensor(1.0))
    assert_close(load_balance(alone, torch.full((N, 1), 2)), torch.tensor(float(E)))


def test_what_routers_say_is_collected_of_every_pass_and_kept_nowhere():
    """Catches a graph that is alive after its pass, a pass under inference_mode that later cannot learn, and two calls
    of one layer of which the last alone is kept.
    """
    model = torch.nn.Sequential(*(MixtureOfExperts(D, HIDDEN, n_experts=E, top_k=top_k) for top_k in (1, 2)))
    x = torch.randn(B, N, D)
    with torch.inference_mode():
        model(x)
    with routings(model) as passes:
        model(model(x))
    model(x)
    assert [chosen.shape for _, chosen in passes] == [(B * N, 1), (B * N, 2)] * 2
    sum(load_balance(*said) for said in passes).backward()
    assert all(layer.router.weight.grad.abs().max() > 0 for layer in model)
    assert not any(isinstance(value, torch.Tensor) for layer in model for value in vars(layer).values())


def test_load_balance_of_equal_shares_is_1_however_many_are_chosen():
    """Catches shares of the tokens in place of shares of the choices, k times too large."""
    chosen = torch.stack((torch.arange(E), (torch.arange(E) + 1) % E), 1)
    assert_close(load_balance(torch.full((E, E), 1 / E), chosen), torch.tensor(1.0))


def test_load_balance_counts_every_choice_and_moves_the_router_away_from_what_is_full():
    logits = torch.zeros(N, E, requires_grad=True)
    chosen = torch.stack((torch.zeros(N), torch.arange(N) % 2 + 1), dim=1).long()  # half of all choices fall on 0
    load_balance(logits.softmax(dim=-1), chosen).backward()
    assert (logits.grad[:, 0] > 0).all() and (logits.grad[:, 3:] < 0).all()


def test_choices_of_another_number_of_tokens_are_refused():
    assert refusal(ValueError, load_balance, torch.rand(N, E), torch.zeros(N + 1, 1).long()) == snapshot(
        "load_balance: chosen has shape (8, 1), so N (target positions) = 8, but N = 7 in probabilities of shape (7, 5). Expected axes (N, k): N = target positions."
    )


@pytest.mark.parametrize("top_k", [0, E + 1])
def test_a_number_of_experts_that_is_not_there_is_refused(top_k):
    with pytest.raises(ValueError, match=rf"top_k={top_k}, .*\b1 to {E}\b"):
        MixtureOfExperts(D, HIDDEN, n_experts=E, top_k=top_k)


def test_options_reach_every_expert():
    """Catches experts with the default activation or biases, whatever was asked for."""
    layer = MixtureOfExperts(D, HIDDEN, n_experts=2, activation=torch.tanh, bias=False)
    assert all(expert.activation is torch.tanh and expert.up.bias is None for expert in layer.experts)
    assert layer.router.bias is None


@pytest.mark.parametrize(
    ("sizes", "n_experts", "name"), [((0, 3), 2, "d_model"), ((3, 0), 2, "d_ff"), ((3, 3), 0, "n_experts")]
)
def test_sizes_that_are_none_are_named(sizes, n_experts, name):
    with pytest.raises(ValueError, match=f"{name}=0, .*at least 1"):
        MixtureOfExperts(*sizes, n_experts=n_experts)


def test_an_input_of_another_width_is_refused_with_both():
    layer = MixtureOfExperts(D, HIDDEN, n_experts=E)
    assert layer.d_model == D
    with pytest.raises(ValueError, match=rf"MixtureOfExperts.* {D + 1}\b"):
        layer(torch.randn(B, D + 1))


def test_who_collects_within_another_collection_gives_it_back():
    """Catches an outer collection that ends with the inner one."""
    layer, x = MixtureOfExperts(D, HIDDEN, n_experts=E), torch.randn(B, N, D)
    with routings(layer) as outer:
        with routings(layer) as inner:
            layer(x)
        layer(x)
    assert [len(outer), len(inner)] == [1, 1] and layer.routings is None


def test_load_balance_is_as_exact_as_what_it_is_given():
    """Catches shares in float32 for probabilities in float64."""
    probabilities = torch.rand(N, E, dtype=torch.float64)
    chosen = torch.tensor([[0], [0], [1], [2], [2], [2], [4]])
    shares = torch.tensor([2, 1, 3, 0, 1], dtype=torch.float64) / N
    found = load_balance(probabilities, chosen)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, E * (shares * probabilities.mean(dim=0)).sum(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize(("n_groups", "top_groups", "n_best"), [(1, 1, 2), (3, 2, 2), (3, 1, 1), (2, 1, 3)])
@torch.no_grad()
def test_the_chosen_are_of_the_best_groups_and_the_bias_chooses_and_does_not_weigh(
    n_groups, top_groups, n_best, normalise
):
    """One token after the other, with lists in place of masks."""
    options = {"n_groups": n_groups, "top_groups": top_groups, "n_best": n_best, "normalise": normalise, "scale": 2.5}
    router = GroupRouter(D, 6, **options).double()
    router.weight.normal_()
    router.correction.uniform_(0.0, 0.5)
    x = torch.randn(40, D, dtype=torch.float64)
    probabilities, weights, chosen = router.choose(x, 2)
    assert_close(probabilities.sum(1), torch.ones(40, dtype=torch.float64))
    for n in range(40):
        scores = torch.sigmoid(router.weight @ x[n]).tolist()
        ranked = [s + b for s, b in zip(scores, router.correction.tolist(), strict=True)]
        groups = [range(g * (6 // n_groups), (g + 1) * (6 // n_groups)) for g in range(n_groups)]
        groups.sort(key=lambda group: -sum(sorted((ranked[e] for e in group), reverse=True)[:n_best]))
        allowed = [e for group in groups[:top_groups] for e in group]
        expected = sorted(allowed, key=lambda e: -ranked[e])[:2]
        assert chosen[n].tolist() == expected
        total = sum(scores[e] for e in expected) if normalise else 1.0
        assert_close(weights[n], torch.tensor([2.5 * scores[e] / total for e in expected], dtype=torch.float64))


def test_without_a_bias_a_softmax_chooses_as_the_plain_router_does():
    grouped = GroupRouter(D, E, score=partial(torch.softmax, dim=-1), corrected=False)
    plain, x = Router(D, E), torch.randn(N, D)
    plain.load_state_dict(grouped.state_dict())
    found, expected = grouped.choose(x, 2), plain.choose(x, 2)
    assert_close(found[0], expected[0])
    assert_close(found[1], expected[1])
    assert torch.equal(found[2], expected[2])
    assert "correction" in GroupRouter(D, E).state_dict() and "correction" not in grouped.state_dict()


def test_every_token_passes_the_shared_expert_and_some_routed_ones():
    layer = SharedExperts(
        D, HIDDEN, d_shared=4, routed=partial(MixtureOfExperts, n_experts=E, top_k=2), activation=torch.tanh
    )
    x = torch.randn(B, N, D)
    with routings(layer) as passes:
        assert_close(layer(x), layer.shared(x) + layer.routed(x))
    assert layer.d_model == D
    with pytest.raises(ValueError, match=rf"SharedExperts.* {D + 1}\b"):
        layer(torch.randn(B, D + 1))
    assert len(passes) == 2 and layer.shared.gate_up.weight.shape == (8, D)
    assert layer.shared.activation is layer.routed.experts[0].activation is torch.tanh


def test_a_single_group_has_no_best_of_its_own():
    """Catches a bound that is meant for several groups alone."""
    _, weights, chosen = GroupRouter(D, 1, normalise=True).choose(torch.randn(N, D), 1)
    assert (chosen == 0).all() and torch.allclose(weights, torch.ones(N, 1))


def test_groups_that_cannot_be_are_told():
    assert refusal(ValueError, GroupRouter, D, 6, n_groups=4) == snapshot(
        "GroupRouter: n_experts=6 in n_groups=4, expected equal groups."
    )
    for wrong in ({"top_groups": 2}, {"n_groups": 3, "n_best": 3}, {"scale": 0.0}, {"n_groups": 7}):
        with pytest.raises(ValueError, match="GroupRouter: "):
            GroupRouter(D, 6, **wrong)
