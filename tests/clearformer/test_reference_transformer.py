"""Blocks in three forms, the stack and the head of the reference, forward and backward."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from clearformer.reference import blocks as forms
from clearformer.reference.attention import causal_mask
from clearformer.reference.blocks import BlockParameters
from clearformer.reference.functions import cross_entropy, cross_entropy_backward, relu, relu_backward
from clearformer.reference.layers import layer_norm, mlp
from clearformer.reference.multihead import multi_head_concatenated, output_matrix
from clearformer.reference.positions import sinusoidal
from clearformer.reference.tokens import embed, embed_backward, embed_patches, embed_patches_backward
from clearformer.reference.transformer import (
    classify,
    classify_backward,
    head,
    head_backward,
    pool,
    pool_backward,
    prepend_token,
    prepend_token_backward,
    stack,
    stack_backward,
)
from inline_snapshot import snapshot

from tests.clearformer.gradients import assert_backward
from tests.clearformer.refusals import refusal

D, H, K, Kv, F, N, V = 6, 2, 5, 4, 9, 3, 7
FORMS = ["block_pre_norm", "block_post_norm", "block_jiang"]


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def parameters(rng, K=K, Kv=Kv):
    def array(*size):
        return rng.normal(size=size) / 2

    return BlockParameters(
        heads=(array(H, K, D), array(H, K, D), array(H, Kv, D), array(H, D, Kv)),
        mlp=(array(F, D), array(F), array(D, F), array(D)),
        norm_1=(array(D) + 1, array(D)),
        norm_2=(array(D) + 1, array(D)),
    )


def arrays(p):
    return (*p.heads, *p.mlp, *p.norm_1, *p.norm_2)


def with_arrays(p, values):
    return replace(p, heads=values[:4], mlp=values[4:8], norm_1=values[8:10], norm_2=values[10:])


def test_the_three_forms_are_what_they_say(rng):
    """Catches a norm on the wrong side of a residual, and the two norms exchanged."""
    X, p, mask = rng.normal(size=(D, N)), parameters(rng), causal_mask(N)

    def attention(Z):
        return multi_head_concatenated(Z, *p.heads, mask)[0]

    def ln1(Z):
        return layer_norm(Z, *p.norm_1)

    def ln2(Z):
        return layer_norm(Z, *p.norm_2)

    def network(Z):
        return mlp(Z, *p.mlp)

    Y = X + attention(ln1(X))
    np.testing.assert_allclose(forms.block_pre_norm(X, p, mask), Y + network(ln2(Y)))
    Y = ln1(X + attention(X))
    np.testing.assert_allclose(forms.block_post_norm(X, p, mask), ln2(Y + network(Y)))
    Y = X + ln1(attention(X))
    np.testing.assert_allclose(forms.block_jiang(X, p, mask), Y + network(Y))
    unused = replace(p, norm_2=(p.norm_2[0] + 1, p.norm_2[1]))
    np.testing.assert_array_equal(forms.block_jiang(X, unused, mask), forms.block_jiang(X, p, mask))


@pytest.mark.slow
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_block_backward(rng, form, masked):
    """Every parameter of the block and its input; a lost residual path shows in the gradient by X."""
    block, backward = getattr(forms, form), getattr(forms, f"{form}_backward")
    p, mask = parameters(rng), causal_mask(N) if masked else None
    count = 11 if form == "block_jiang" else 13  # norm_2, which his block has not, is left out
    fixed = arrays(p)[count - 1 :]

    def forward(X, *values):
        return block(X, with_arrays(p, (*values, *fixed)), mask)

    def gradients(X, *values_and_dY):
        dX, dp = backward(X, with_arrays(p, (*values_and_dY[:-1], *fixed)), values_and_dY[-1], mask)
        return dX, *arrays(dp)[: count - 1]

    assert_backward(forward, gradients, rng.normal(size=(D, N)), *arrays(p)[: count - 1])


def test_jiangs_unused_norm_gets_zeros(rng):
    _, dp = forms.block_jiang_backward(rng.normal(size=(D, N)), parameters(rng), rng.normal(size=(D, N)))
    assert [d.shape for d in dp.norm_2] == [(D,), (D,)] and not any(d.any() for d in dp.norm_2)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_follow_a_permutation_and_do_not_see_the_future(rng, form):
    block = getattr(forms, form)
    X, p, order = rng.normal(size=(D, N)), parameters(rng), np.array([2, 0, 1])
    np.testing.assert_allclose(block(X[:, order], p), block(X, p)[:, order], rtol=1e-10)
    edited = X.copy()
    edited[:, -1] += rng.normal(size=D)
    before, after = (block(Z, p, causal_mask(N)) for Z in (X, edited))
    np.testing.assert_array_equal(before[:, :-1], after[:, :-1])
    assert np.abs(block(X, p) - block(edited, p))[:, 0].max() > 1e-3  # without the mask it does


@pytest.mark.parametrize("form, norm_first", [("block_pre_norm", True), ("block_post_norm", False)])
def test_blocks_against_torch_encoder_layer(rng, form, norm_first):
    p = replace(parameters(rng, D // H, D // H), activation=relu, activation_backward=relu_backward)
    theirs = torch.nn.TransformerEncoderLayer(D, H, F, dropout=0.0, norm_first=norm_first, dtype=torch.float64)
    in_proj = np.concatenate([U.reshape(D, D) for U in p.heads[:3]])
    ours = {"self_attn.in_proj_weight": in_proj, "self_attn.out_proj.weight": output_matrix(p.heads[3])}
    ours |= {"self_attn.in_proj_bias": np.zeros(3 * D), "self_attn.out_proj.bias": np.zeros(D)}
    names = ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]
    names += ["norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"]
    ours |= dict(zip(names, arrays(p)[4:], strict=True))
    theirs.load_state_dict({name: torch.as_tensor(value) for name, value in ours.items()})
    X, dY, mask = rng.normal(size=(D, N)), rng.normal(size=(D, N)), causal_mask(N)
    x = torch.tensor(X.T[:, None], requires_grad=True)
    y = theirs(x, src_mask=torch.as_tensor(~mask.T))  # N 1 D, and there True means "must not look"
    y.backward(torch.as_tensor(dY.T[:, None]))
    np.testing.assert_allclose(getattr(forms, form)(X, p, mask), y.detach().numpy()[:, 0].T, atol=1e-10)
    dX, dp = getattr(forms, f"{form}_backward")(X, p, dY, mask)
    np.testing.assert_allclose(dX, x.grad.numpy()[:, 0].T, atol=1e-10)
    for name, gradient in zip(names, arrays(dp)[4:], strict=True):
        np.testing.assert_allclose(gradient, theirs.get_parameter(name).grad.numpy(), atol=1e-10, err_msg=name)
    d_in = np.concatenate([dU.reshape(D, D) for dU in dp.heads[:3]])
    np.testing.assert_allclose(d_in, theirs.self_attn.in_proj_weight.grad.numpy(), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_stack_and_its_gradient(rng, form):
    """Catches blocks applied or returned in the wrong order."""
    block, backward = getattr(forms, form), getattr(forms, f"{form}_backward")
    ps, mask = [parameters(rng) for _ in range(3)], causal_mask(N)
    X, dY = rng.normal(size=(D, N)), rng.normal(size=(D, N))
    expected = block(block(block(X, ps[0], mask), ps[1], mask), ps[2], mask)
    np.testing.assert_array_equal(stack(X, ps, mask, block), expected)
    assert len(stack_backward(X, ps, dY, mask, block, backward)[1]) == 3

    def stack_with(W_1, U_q):
        first = replace(ps[0], mlp=(W_1, *ps[0].mlp[1:]))
        return [first, ps[1], replace(ps[2], heads=(U_q, *ps[2].heads[1:]))]

    def gradients(X, W_1, U_q, dY):
        dX, found = stack_backward(X, stack_with(W_1, U_q), dY, mask, block, backward)
        return dX, found[0].mlp[0], found[2].heads[0]

    def forward(X, W_1, U_q):
        return stack(X, stack_with(W_1, U_q), mask, block)

    assert_backward(forward, gradients, X, ps[0].mlp[0], ps[2].heads[0])


def test_a_stack_of_no_blocks_changes_nothing(rng):
    X = rng.normal(size=(D, N))
    np.testing.assert_array_equal(stack(X, []), X)
    dX, gradients = stack_backward(X, [], 2 * X)
    np.testing.assert_array_equal(dX, 2 * X)
    assert gradients == []


def test_the_head_against_loops_and_central_differences(rng):
    X, G = rng.normal(size=(D, N)), rng.normal(size=(V, D))
    e = [[np.exp(G[w] @ X[:, n]) for n in range(N)] for w in range(V)]
    expected = [[e[w][n] / sum(e[v][n] for v in range(V)) for n in range(N)] for w in range(V)]
    np.testing.assert_allclose(head(X, G), expected, rtol=1e-10)
    assert_backward(head, head_backward, X, G)


def test_embeddings_backward(rng):
    """A token that stands twice collects twice; the vocabulary holds words that never come."""
    ids = np.array([3, 0, 3])
    assert_backward(lambda E: embed(E, ids), lambda E, dX: embed_backward(ids, dX, V), rng.normal(size=(D, V)))
    assert_backward(embed_patches, embed_patches_backward, rng.normal(size=(D, 4)), rng.normal(size=(4, N)))
    assert refusal(ValueError, embed_backward, np.array([3, 7, 3]), rng.normal(size=(D, N)), V) == snapshot(
        "one_hot: token id 7 is outside the vocabulary of 7 ids, expected 0 to 6. Encode the text with the tokenizer that belongs to this embedding."
    )


@pytest.mark.parametrize("mean", [False, True])
def test_pooling_and_classes_against_loops_and_central_differences(rng, mean):
    X, G = rng.normal(size=(D, N)), rng.normal(size=(V, D))
    h = [sum(X[d, n] for n in range(N)) / (N if mean else 1) for d in range(D)]
    np.testing.assert_allclose(pool(X, mean), h)
    np.testing.assert_allclose(classify(pool(X, mean), G), np.exp(G @ h) / np.exp(G @ h).sum())
    assert_backward(lambda X: pool(X, mean), lambda X, dh: pool_backward(X, dh, mean), X)
    assert_backward(classify, classify_backward, X[:, 0], G)


def test_the_class_token_from_patches_to_classes(rng):
    """Catches the token at the wrong end, and a gradient that reaches the wrong column."""
    X, x_0, G, p = rng.normal(size=(D, N)), rng.normal(size=D), rng.normal(size=(V, D)), parameters(rng)
    np.testing.assert_array_equal(prepend_token(X, x_0)[:, 0], x_0)
    np.testing.assert_array_equal(prepend_token(X, x_0)[:, 1:], X)

    def forward(X, x_0, G):
        return classify(forms.block_pre_norm(prepend_token(X, x_0), p)[:, 0], G)

    def backward(X, x_0, G, dp):
        Z = prepend_token(X, x_0)
        X_M = forms.block_pre_norm(Z, p)
        dX_M = np.zeros_like(X_M)
        dX_M[:, 0], dG = classify_backward(X_M[:, 0], G, dp)
        return *prepend_token_backward(forms.block_pre_norm_backward(Z, p, dX_M)[0]), dG

    assert_backward(forward, backward, X, x_0, G)


def test_a_whole_language_model_from_ids_to_loss(rng):
    """Embedding, positions, two blocks, tied head and loss: the gradient by E has two paths."""
    E, ps, mask = rng.normal(size=(D, V)), [parameters(rng) for _ in range(2)], causal_mask(N)
    ids, following = np.array([3, 0, 3]), np.array([0, 3, 6])

    def loss(E):
        return cross_entropy(E.T @ stack(embed(E, ids) + sinusoidal(N, D), ps, mask), following)

    def gradient(E, d_loss):
        X_0 = embed(E, ids) + sinusoidal(N, D)
        X_M = stack(X_0, ps, mask)
        d_logits = d_loss * cross_entropy_backward(E.T @ X_M, following)
        dX_0, _ = stack_backward(X_0, ps, E @ d_logits, mask)
        return X_M @ d_logits.T + embed_backward(ids, dX_0, V)

    assert_backward(loss, gradient, E)


def test_mistakes_in_the_parameters_are_named(rng):
    p, X = parameters(rng), rng.normal(size=(D, N))
    assert refusal(ValueError, replace, p, heads=p.heads[:3]) == snapshot(
        "BlockParameters: heads holds 3 arrays, expected 4. Give (U_q, U_k, U_v, U_o)."
    )
    assert refusal(ValueError, forms.block_pre_norm, X, replace(p, norm_1=(np.ones(5), np.ones(5)))) == snapshot(
        "layer_norm: gamma has shape (5,), so D (model width) = 5, but D = 6 in X of shape (6, 3). Expected axes (D): D = model width."
    )
    assert refusal(ValueError, forms.block_post_norm, X, replace(p, mlp=(p.mlp[0][:, :5], *p.mlp[1:]))) == snapshot(
        "mlp: W_1 has shape (9, 5), so D (model width) = 5, but D = 6 in X of shape (6, 3). Expected axes (F, D): F = hidden width, D = model width."
    )
    assert refusal(ValueError, forms.block_jiang_backward, X, p, X[:, :2]) == snapshot(
        "block_jiang_backward: dX_out has shape (6, 2), so N (target positions) = 2, but N = 3 in X of shape (6, 3). Expected axes (D, N): D = model width, N = target positions."
    )
    assert refusal(ValueError, head, X, np.ones((V, 5))) == snapshot(
        "head: G has shape (7, 5), so D (model width) = 5, but D = 6 in X of shape (6, 3). Expected axes (V, D): V = vocabulary size, D = model width."
    )
