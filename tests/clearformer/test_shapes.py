"""What a caller passes wrongly is answered with what came, what was expected and how to go on."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from clearbook import columns as layout
from clearbook.figures import plots
from clearformer import attention
from clearformer import patches as tokens
from clearformer.reference import attention as reference
from clearformer.reference import tokens as reference_tokens
from clearformer.reference.functions import softmax, softmax_jacobian

Q, K, V = np.ones((4, 5)), np.ones((4, 7)), np.ones((6, 7))
q, k, v = (torch.ones(2, 3, n, width) for n, width in ((5, 4), (7, 4), (7, 6)))

BAD_VALUES = {
    "wrong rank": (
        lambda: reference.attend(Q[0], K, V),
        r"Q has shape \(5,\) with 1 axes, expected axes \(K, N\)",
    ),
    "wrong rank, torch": (lambda: attention.attend(q[0, 0, 0], k, v), r"q has shape \(4,\) with 1 axes"),
    "widths of query and key": (
        lambda: reference.attend(Q, K[:3], V),
        r"K has shape \(3, 7\).* but K = 4 in Q of shape",
    ),
    "widths, torch": (
        lambda: attention.attend(q, k[..., :3], v),
        r"k has shape \(2, 3, 7, 3\), so K \(width per head\) = 3",
    ),
    "numbers of keys and values": (
        lambda: reference.attend(Q, K, V[:, :6]),
        r"V has shape \(6, 6\), so S .* = 6",
    ),
    "keys and values, fused": (
        lambda: attention.attend_fused(q, k, v[:, :, :6]),
        r"v has shape \(2, 3, 6, 6\)",
    ),
    "batches": (lambda: attention.attend(q, k[:1], v[:1]), r"batch = \(1, 3\), but batch = \(2, 3\) in q"),
    "empty sequence": (
        lambda: reference.attend(Q, K[:, :0], V[:, :0]),
        r"K has shape \(4, 0\): S \(source positions\) is empty",
    ),
    "empty batch": (
        lambda: attention.attend(q[..., :0, :], k, v),
        r"q has shape \(2, 3, 0, 4\): N \(target positions\) is empty",
    ),
    "mask of a wrong shape": (
        lambda: reference.attend(Q, K, V, np.ones((5, 7), bool)),
        r"mask has shape \(5, 7\), so S \(source positions\) = 5, but S = 7",
    ),
    "mask of a wrong shape, torch": (
        lambda: attention.attend(q, k, v, torch.ones(7, 5, dtype=torch.bool)),
        r"mask has shape \(7, 5\), so N \(target positions\) = 7, but N = 5",
    ),
    "mask of another batch": (
        lambda: attention.attend(q, k, v, torch.ones(4, 3, 5, 7, dtype=torch.bool)),
        r"batch = \(4, 3\), but batch = \(2, 3\)",
    ),
    "average over another length": (
        lambda: reference.weighted_average(V, K),
        r"A has shape \(4, 7\), so S .* = 4, but S = 7",
    ),
    "maps of different width": (
        lambda: reference.scores_query_key(Q, Q[:, :4], V[:, :3]),
        r"U_k has shape \(6, 3\)",
    ),
    "kernel longer than the sequence": (
        lambda: reference.convolution_matrix(np.ones(6), 5),
        "kernel of 6 weights .*n_tokens=5",
    ),
    "NaN among the scores": (
        lambda: softmax(np.array([[1.0, np.nan], [0.0, 2.0]]), axis=0),
        "largest score is nan",
    ),
    "every score masked": (lambda: softmax(np.full((3, 2), -np.inf), axis=0), "largest score is -inf"),
    "weights of two axes": (lambda: softmax_jacobian(Q), r"weights has shape \(4, 5\) with 2 axes"),
    "fewer sources than targets": (
        lambda: attention.causal_mask(5, 3),
        "n_sources=3 is less than n_targets=5",
    ),
    "token id outside": (
        lambda: reference_tokens.one_hot(np.array([0, 7]), 5),
        "token id 7 is outside the vocabulary of 5",
    ),
    "negative token id": (lambda: reference_tokens.embed(Q, np.array([-1])), "token id -1 is outside"),
    "patches that do not fit": (
        lambda: reference_tokens.patches(np.ones((1, 8, 6)), 4),
        "size=4 does not divide .* 8 × 6",
    ),
    "patches that do not fit, torch": (
        lambda: tokens.patchify(torch.ones(2, 1, 8, 6), 4),
        "size=4 does not divide .* 8 × 6",
    ),
    "patches that fill no image": (
        lambda: tokens.unpatchify(torch.ones(2, 7, 16), 4, 2),
        "7 patches of 16 numbers",
    ),
    "several sequences": (
        lambda: layout.to_reference(torch.ones(3, 5, 4)),
        "batch of 3 sequences, expected 1",
    ),
    "dtypes that differ": (
        lambda: attention.attend(q, k.double(), v),
        r"attend: k has dtype torch.float64, but q has torch.float32.*k\.to\(q\.dtype\)",
    ),
    "dtypes that differ, fused": (
        lambda: attention.attend_fused(q, k, v.bfloat16()),
        r"attend_fused: v has dtype torch.bfloat16, but q has torch.float32",
    ),
    "a bias of another dtype": (
        lambda: attention.attend_blockwise(q, k, v, bias=torch.zeros(5, 7).double()),
        r"bias has dtype torch.float64, but q has torch.float32",
    ),
    "devices that differ": (
        lambda: attention.attend(q, k.to("meta"), v),
        r"attend: k has device meta, but q has cpu.*k\.to\(q\.device\)",
    ),
    "a mask on another device": (
        lambda: attention.attend_fused(q, k, v, torch.ones(5, 7, dtype=torch.bool, device="meta")),
        r"mask has device meta, but q has cpu",
    ),
    "labels of a map": (
        lambda: plots.attention_map(Q, list("abcd")),
        r"shape \(4, 5\), but there are 4 sources and 4",
    ),
}

BAD_TYPES = {
    "list": (
        lambda: reference.attend([[1.0]], K, V),
        r"Q is of type list, expected numpy.ndarray .* np.asarray",
    ),
    "tensor in the reference": (
        lambda: reference.scores_dot(q),
        "X is of type Tensor, expected numpy.ndarray",
    ),
    "array in torch": (
        lambda: attention.attend(Q, k, v),
        r"q is of type ndarray, expected torch.Tensor .* torch.as_tensor",
    ),
    "mask of numbers": (
        lambda: reference.attend(Q, K, V, np.ones((7, 5))),
        r"mask has dtype float64, expected bool.*mask > 0",
    ),
    "mask of numbers, torch": (
        lambda: attention.attend_fused(q, k, v, torch.ones(5, 7)),
        "mask has dtype float32, expected bool",
    ),
    "mask to be added": (
        lambda: attention.attend(q, k, v, torch.zeros(5, 7).masked_fill(torch.ones(5, 7).triu(1) > 0, -torch.inf)),
        "yours holds 0 and negative numbers, to be added to scores: write mask == 0",
    ),
    "mask of large numbers": (
        lambda: attention.attend_fused(q, k, v, -1e4 * torch.ones(5, 7).triu(1)),
        "to be added to scores: write mask == 0",
    ),
    "mask of complex numbers": (
        lambda: attention.attend_fused(q, k, v, torch.ones(5, 7, dtype=torch.complex64)),
        "write mask > 0 if 1 means that a target may look",
    ),
    "sparse": (
        lambda: attention.attend_fused(q.to_sparse(), k, v),
        r"q is sparse .* expected a dense tensor: q\.to_dense\(\)",
    ),
    "causal by a number": (
        lambda: attention.attend(q, k, v, causal=1),
        "causal=1 is of type int, expected True or False",
    ),
    "whole numbers": (
        lambda: reference.scores_dot(np.ones((2, 3), int)),
        r"X has dtype int64, expected float.*astype\(float\)",
    ),
    "ids that are no whole numbers": (
        lambda: reference_tokens.one_hot(np.ones(3), 5),
        "ids has dtype float64, expected int",
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_wrong_value_is_named(case):
    call, message = BAD_VALUES[case]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("case", BAD_TYPES)
def test_a_wrong_type_is_named(case):
    call, message = BAD_TYPES[case]
    with pytest.raises(TypeError, match=message):
        call()


def test_a_mask_may_be_stretched():
    """Catches a check that is too strict: masks broadcast over batch, heads, targets and sources."""
    for shape in ((1, 7), (5, 1), (5, 7), (1, 1, 7), (2, 1, 5, 7), (1, 1, 1, 1)):
        y, _ = attention.attend(q, k, v, torch.ones(shape, dtype=torch.bool))
        assert y.shape == (2, 3, 5, 6)


def test_what_was_accepted_hides_no_later_misfit():
    """Catches a memory of accepted calls that forgets shape, dtype, device, type or the argument's name."""
    mask = torch.ones(5, 7, dtype=torch.bool)
    attention.attend_fused(q, k, v, mask)
    attention.attend_fused(q, k, v=v, mask=mask)
    for wrong, message in (
        ({"mask": mask.T}, r"mask has shape \(7, 5\)"),
        ({"mask": mask.float()}, "mask has dtype float32"),
        ({"mask": mask.to("meta")}, "mask has device meta"),
        ({"mask": mask.numpy()}, "mask is of type ndarray"),
        ({"bias": mask}, "bias has dtype bool"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            attention.attend_fused(q, k, v, **wrong)


def run_without_enforced_shapes(code):
    """Run ``code`` as a user does: what jaxtyping wraps around every function for these tests breaks graphs."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_memory_of_accepted_calls_is_bounded():
    """Catches a memory that grows with every new length of a sequence."""
    run_without_enforced_shapes("""
import numpy as np
from clearformer import shapes
from clearformer.reference.functions import relu
shapes.MOST_KINDS = 3
for n in range(1, 8):
    relu(np.ones(n)), relu(np.ones(n))
    (accepted,) = (cell.cell_contents for cell in relu.__closure__ if isinstance(cell.cell_contents, set))
    assert len(accepted) == (n - 1) % 3 + 1, (n, accepted)
""")


@pytest.mark.slow
def test_the_reference_needs_no_torch():
    """Catches an import that would make the NumPy side as heavy as the other."""
    run_without_enforced_shapes("import sys, clearformer.reference.transformer; assert 'torch' not in sys.modules")
