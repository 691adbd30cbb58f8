"""Norms and feed-forward networks against torch.nn and against their formulas."""

import inspect
import math

import pytest
import torch
import torch.nn.functional as F
from clearformer.layers import FeedForward, GatedFeedForward, LayerNorm, RMSNorm, gelu_tanh
from torch import nn

from tests.clearformer.devices import DEVICES
from tests.clearformer.tolerance import assert_close

B, N, D, HIDDEN = 2, 5, 6, 11
PAIRS = {"LayerNorm": (LayerNorm, nn.LayerNorm), "RMSNorm": (RMSNorm, nn.RMSNorm)}


def randomise_parameters(module):
    """Catches a parameter that is not used: fresh norms hold ones and zeros."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return module


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("eps", [1e-6, 0.3])
@pytest.mark.parametrize("name", PAIRS)
def test_norms_equal_those_of_torch(name, eps, dtype, device):
    ours, theirs = (kind(D, eps=eps).to(device, dtype) for kind in PAIRS[name])
    theirs.load_state_dict(randomise_parameters(ours).state_dict())
    x = torch.randn(B, N, D, dtype=dtype, device=device)
    assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("device", DEVICES)
def test_norms_equal_their_formulas(device):
    x = 3 + torch.randn(B, N, D, dtype=torch.float64, device=device)
    layer, rms = (randomise_parameters(kind(D, eps=0.1)).to(device, torch.float64) for kind in (LayerNorm, RMSNorm))
    centred = x - x.mean(-1, keepdim=True)
    spread = (centred.square().mean(-1, keepdim=True) + 0.1).sqrt()
    assert_close(layer(x), layer.weight * centred / spread + layer.bias)
    assert_close(rms(x), rms.weight * x / (x.square().mean(-1, keepdim=True) + 0.1).sqrt())


def test_rms_norm_takes_what_autocast_hands_it_without_a_warning():
    """Catches a product in 16 bits that meets a weight of 32: PyTorch warns, and leaves its fused norm."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # and not only the first time in a process
    try:
        y = RMSNorm(D)(torch.randn(3, D, dtype=torch.bfloat16))
    finally:
        torch.set_warn_always(before)
    assert y.dtype == torch.float32


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_half_precision_is_averaged_in_float32(norm):
    """Catches sums of squares in float16, which overflow at 65504."""
    x = 300 * torch.randn(B, N, 4096)
    half = norm(4096).to(torch.float16)(x.to(torch.float16))
    torch.testing.assert_close(half.float(), norm(4096)(x), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_a_token_is_normalised_by_itself(norm):
    """Catches statistics over the sequence, the mistake of turner-v1."""
    x = torch.randn(B, N, D)
    edited = x.clone()
    edited[:, -1] += 5
    assert torch.equal(norm(D)(x)[:, :-1], norm(D)(edited)[:, :-1])


def test_layer_norm_without_bias():
    layer = LayerNorm(D, bias=False)
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert_close(layer(torch.randn(B, D)).mean(-1), torch.zeros(B))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", [F.relu, F.gelu, torch.tanh])
@pytest.mark.parametrize("bias", [True, False])
def test_feed_forward_equals_its_formula(bias, activation, device):
    layer = FeedForward(D, HIDDEN, activation=activation, bias=bias).to(device, torch.float64)
    x = torch.randn(B, N, D, dtype=torch.float64, device=device)
    b_1, b_2 = (layer.up.bias, layer.down.bias) if bias else (0, 0)
    assert_close(layer(x), activation(x @ layer.up.weight.T + b_1) @ layer.down.weight.T + b_2)
    assert sum(p.numel() for p in layer.parameters()) == 2 * D * HIDDEN + bias * (D + HIDDEN)


def test_the_default_activation_is_the_exact_gelu():
    """Catches the tanh approximation, 2e-4 away."""
    z = torch.linspace(-4, 4, 33, dtype=torch.float64)
    assert_close(FeedForward(D, HIDDEN).activation(z), z * torch.special.ndtr(z))


@pytest.mark.parametrize("device", DEVICES)
def test_swiglu_equals_its_formula(device):
    """Catches gate and value exchanged."""
    layer = GatedFeedForward(D, HIDDEN).to(device, torch.float64)
    x = torch.randn(B, N, D, dtype=torch.float64, device=device)
    gate, up = layer.gate_up.weight[:HIDDEN], layer.gate_up.weight[HIDDEN:]
    z = x @ gate.T
    assert_close(layer(x), (z * z.sigmoid() * (x @ up.T)) @ layer.down.weight.T)
    assert sum(p.numel() for p in layer.parameters()) == 3 * D * HIDDEN


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_an_eps_is_a_number_from_0_on(norm):
    """Catches a bound that is left out or moved: 0 divides by the spread itself, infinity makes 0 of everything."""
    for eps in (-1e-9, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"{norm.__name__}: eps={eps}, .*at least 0"):
            norm(D, eps=eps)
    assert norm(D, eps=0.0)(torch.randn(B, D)).isfinite().all()


def test_the_eps_of_a_norm_is_the_usual_one():
    """Catches a default that lets weights of others compute something else: those of nn.LayerNorm, and of Llama."""
    assert [LayerNorm(D).eps, RMSNorm(D).eps] == [nn.LayerNorm(D).eps, 1e-6]


@pytest.mark.parametrize("network", [FeedForward, GatedFeedForward])
@pytest.mark.parametrize("sizes", [(0, 3), (3, 0)])
def test_a_network_of_no_width_is_refused(network, sizes):
    """Catches an empty layer, whose output is 0 whatever comes."""
    name = ("d_model", "d_ff")[sizes.index(0)]
    with pytest.raises(ValueError, match=f"{network.__name__}: {name}=0, .*at least 1"):
        network(*sizes)


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_a_norm_of_no_width_is_refused(norm):
    with pytest.raises(ValueError, match=f"{norm.__name__}: d_model=0, .*at least 1"):
        norm(0)


@pytest.mark.parametrize("layer", [LayerNorm(D), RMSNorm(D), FeedForward(D, HIDDEN), GatedFeedForward(D, HIDDEN)])
def test_inputs_of_another_width_are_refused_with_both(layer):
    """Catches a layer that does not know its own width, or knows another, for the error message of its input."""
    assert layer.d_model == D
    with pytest.raises(ValueError, match=rf"{type(layer).__name__}.* {D + 1}\b"):
        layer(torch.randn(B, D + 1))


@pytest.mark.parametrize("network", [FeedForward, GatedFeedForward])
def test_the_layer_that_writes_is_the_last_one(network):
    """Catches the first layer scaled down at initialisation in place of the one that writes into the stream."""
    layer = network(D, HIDDEN)
    assert layer.writes is layer.down


def test_gates_may_have_biases_and_another_activation():
    layer = randomise_parameters(GatedFeedForward(D, HIDDEN, activation=torch.tanh, bias=True))
    x = torch.randn(B, D)
    gate, up = F.linear(x, layer.gate_up.weight, layer.gate_up.bias).split(HIDDEN, dim=-1)
    assert_close(layer(x), F.linear(torch.tanh(gate) * up, layer.down.weight, layer.down.bias))


@pytest.mark.parametrize("network", [FeedForward, GatedFeedForward])
def test_what_cannot_be_called_is_no_activation(network):
    """Catches an activation that is told of only when the layer is first used."""
    for options in ({"activation": "gelu"}, {"bias": 1}):
        (name,) = options
        with pytest.raises(TypeError, match=f"{network.__name__}: {name}="):
            inspect.unwrap(network.__init__)(network.__new__(network), D, HIDDEN, **options)


def test_the_gelu_of_gpt_2_is_its_formula():
    z = torch.linspace(-4, 4, 33, dtype=torch.float64)
    inner = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
    assert_close(gelu_tanh(z), z * (1 + inner.tanh()) / 2)


def test_biases_are_there_unless_they_are_not_wanted():
    """Catches a default turned round: weights of others would be missing or unexpected."""
    assert FeedForward(D, HIDDEN).up.bias is not None and FeedForward(D, HIDDEN).down.bias is not None
    assert LayerNorm(D).bias is not None
    gated = GatedFeedForward(D, HIDDEN)
    assert gated.gate_up.bias is None and gated.down.bias is None
