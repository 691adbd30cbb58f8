"""What attention allocates, and what it keeps for the backward pass."""

import pytest
import torch
from clearformer.attention import attend, attend_blockwise, attend_by_hand, attend_recomputing

from benchmarks.memory import peak_bytes
from tests.clearformer.attention_variants import VARIANTS, N, S, inputs


def largest_allocation(function):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        function()
    return max(event.cpu_memory_usage for event in profile.events())


def test_by_tiles_nothing_of_n_by_n_is_allocated():
    """Memory linear in N, for the backward pass by tiles as well; the explicit one shows that the measure works."""
    n_tokens, width, sizes = 350, 8, {"query_block": 50, "key_block": 40}
    q, k, v = (torch.randn(1, n_tokens, width, requires_grad=True) for _ in range(3))
    linear = n_tokens * width * q.element_size()
    with torch.no_grad():
        assert 0 < largest_allocation(lambda: attend_blockwise(q, k, v, causal=True, **sizes)) <= linear
        assert largest_allocation(lambda: attend(q, k, v, causal=True)) > 10 * linear
    y, _ = attend_recomputing(q, k, v, causal=True, **sizes)
    assert 0 < largest_allocation(lambda: y.sum().backward()) <= 4 * linear  # three gradients


@pytest.mark.parametrize("name", ["by hand", "recomputing", "recomputing, uneven"])
def test_of_the_hand_written_ones_only_the_stored_keeps_a_matrix_of_weights(name):
    """Catches a recomputing pass that saves N × S numbers after all."""
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.shape) or t, lambda t: t):
        VARIANTS[name](*inputs(torch.float32, requires_grad=True))
    assert any(shape[-2:] == (N, S) for shape in sizes) == (name == "by hand")


@pytest.mark.parametrize("function", [attend_blockwise, attend_recomputing])
@pytest.mark.parametrize("sizes", [(0, 3), (2, -1)])
def test_a_block_of_no_tokens_is_refused(sizes, function):
    with pytest.raises(ValueError, match=f"{sizes[0]} × {sizes[1]}"):
        function(*inputs(torch.float32), query_block=sizes[0], key_block=sizes[1])


def test_the_hand_written_backward_makes_one_matrix_of_weights():
    """Catches zeros, N × S of them, that PyTorch makes as the gradient of weights of which nobody asked one."""
    q, k, v = (torch.randn(2, 64, 4, requires_grad=True) for _ in range(3))
    y = attend_by_hand(q, k, v)[0]
    one = 2 * 64 * 64 * y.element_size()
    held = peak_bytes(lambda: torch.autograd.grad(y, (q, k, v), y.detach(), retain_graph=True))
    assert one <= held < 2 * one
