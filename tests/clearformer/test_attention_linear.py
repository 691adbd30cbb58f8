"""Linear attention: both forms agree, and a state is all that is needed to go on."""

import pytest
import torch
from clearformer.attention import attend_recurrent
from inline_snapshot import snapshot

from tests.clearformer.attention_variants import LINEAR, S, biases, inputs, masks, run
from tests.clearformer.devices import DEVICES
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "padding"])
def test_both_forms_of_linear_attention_have_the_same_values_and_gradients(mask, causal, dtype, device):
    found = []
    for function in LINEAR.values():
        leaves = inputs(dtype, device, requires_grad=True)
        found.append(run(function, *leaves, mask=masks(device)[mask], causal=causal))
    for parallel, recurrent in zip(*found, strict=True):
        assert_close(recurrent, parallel)


def test_the_state_is_all_that_is_needed_to_go_on():
    """Catches a state that leaves something out: the sequence in two chunks, also one of a single token."""
    _, k, v = inputs()
    q = torch.randn_like(k)
    whole, last = attend_recurrent(q, k, v, causal=True)
    for cut in (1, 4, S - 1):
        first, state = attend_recurrent(*(t[:, :, :cut] for t in (q, k, v)), causal=True)
        second, end = attend_recurrent(*(t[:, :, cut:] for t in (q, k, v)), causal=True, state=state)
        assert_close(torch.cat((first, second), dim=2), whole)
        assert_close(end, last)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_attention_refuses_a_bias(name):
    with pytest.raises(ValueError, match=rf"attend_{name}: .*bias.*\(5, 7\).*no softmax"):
        LINEAR[name](*inputs(), bias=biases("cpu")["one for all"])


def test_one_state_for_all_targets_refuses_a_mask_for_each():
    assert refusal(ValueError, attend_recurrent, *inputs(), masks("cpu")["causal"]) == snapshot(
        "attend_recurrent: a mask of shape (5, 7), expected one row, (..., 1, sources), for all targets read the same state. Take attend_linear, or causal=True for the causal mask."
    )
