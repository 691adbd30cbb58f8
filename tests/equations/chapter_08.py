"""Checks of the display equations of chapter 8, encoder and decoder."""

from math import exp, prod, sqrt

import numpy as np
import torch
from clearbook.columns import to_reference, to_torch
from clearformer.attention import attend as torch_attend
from clearformer.blocks import Block, Decoder, Encoder
from clearformer.cache import LayerCache
from clearformer.encoder_decoder import EncoderDecoder
from clearformer.reference.attention import attend, causal_mask
from clearformer.reference.blocks import BlockParameters, block_pre_norm
from clearformer.reference.layers import layer_norm, mlp
from clearformer.reference.multihead import cross_attention, multi_head_concatenated
from clearformer.reference.transformer import stack
from torch import nn

from tests.equations.registry import equation, table

D, K, H, N, S, V = 8, 3, 2, 6, 7, 5


@equation("eq-whole-block", "d6bd0d1ff1")
def whole_block(rng):
    X, p = rng.normal(size=(D, N)), parameters(rng)
    attended = multi_head_concatenated(layer_norm(X, *p.norm_1), *p.heads)[0]
    Y = table(lambda d, n: X[d, n] + attended[d, n], D, N)
    thought = mlp(layer_norm(Y, *p.norm_2), *p.mlp, p.activation)
    printed = table(lambda d, n: Y[d, n] + thought[d, n], D, N)
    return printed, block_pre_norm(X, p)


@equation("eq-layer-stack", "a2f0e9bdce")
def layer_stack(rng):
    X, layers = rng.normal(size=(D, N)), [parameters(rng) for _ in range(3)]
    steps = [X]
    for m in range(1, 4):
        after = block_pre_norm(steps[m - 1], layers[m - 1])
        steps.append(table(lambda d, n, after=after: after[d, n], D, N))
    return steps[-1], stack(X, layers)


@equation("eq-incremental", "8c12cf6af6")
def incremental(rng):
    """For the reference and, with its final norm, for the decoder in torch."""
    X, layers = rng.normal(size=(D, N)), [parameters(rng) for _ in range(2)]
    torch.manual_seed(0)
    decoder = Decoder(2, D, H, 4 * D).double().requires_grad_(False)
    bodies = [
        lambda X: stack(X, layers, causal_mask(X.shape[1])),
        lambda X: to_reference(decoder(to_torch(X))),
    ]
    pairs = []
    for body in bodies:
        Y = body(X)
        for n in range(1, N + 1):
            pairs.append((table(lambda d, j, Y=Y: Y[d, j], D, n), body(X[:, :n])))
    return pairs


@equation("eq-cached-step", "da8038d59f")
def cached_step(rng):
    q, keys, v = rng.normal(size=(K, N)), rng.normal(size=(K, N)), rng.normal(size=(V, N))
    e = table(lambda s, n: exp(sum(keys[k, s] * q[k, n] for k in range(K)) / sqrt(K)), N, N)
    printed = table(
        lambda i, n: sum(v[i, s] * e[s, n] / sum(e[r, n] for r in range(n + 1)) for s in range(n + 1)), V, N
    )
    cache = LayerCache(torch.zeros(1, 1, N, K).double(), torch.zeros(1, 1, N, V).double())
    steps = []
    for n in range(N):
        new_q, new_k, new_v = (to_torch(matrix[:, [n]])[None] for matrix in (q, keys, v))
        steps.append(torch_attend(new_q, *cache.append(new_k, new_v))[0])
    return [
        (printed, attend(q, keys, v, causal_mask(N))[0]),
        (printed, torch.cat(steps, dim=2)[0, 0].T.numpy()),
    ]


@equation("eq-cross-heads", "37b8ad50bc")
def cross_heads(rng):
    X, Z = rng.normal(size=(D, N)), rng.normal(size=(D, S))
    U_q, U_k, U_v, U_o = (*rng.normal(size=(3, H, K, D)) / 2, rng.normal(size=(H, D, K)))
    q = table(lambda h, k, n: sum(U_q[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    keys = table(lambda h, k, s: sum(U_k[h, k, d] * Z[d, s] for d in range(D)), H, K, S)
    e = table(lambda h, s, n: exp(sum(keys[h, k, s] * q[h, k, n] for k in range(K)) / sqrt(K)), H, S, N)
    A = table(lambda h, s, n: e[h, s, n] / sum(e[h, r, n] for r in range(S)), H, S, N)
    U = table(lambda h, d, f: sum(U_o[h, d, k] * U_v[h, k, f] for k in range(K)), H, D, D)
    moved = table(lambda h, f, n: sum(Z[f, s] * A[h, s, n] for s in range(S)), H, D, N)
    printed = table(lambda d, n: sum(U[h, d, f] * moved[h, f, n] for h in range(H) for f in range(D)), D, N)
    Y, weights = cross_attention(X, Z, U_q, U_k, U_v, U_o)
    return [(A, weights), (printed, Y)]


@equation("eq-decoder-block", "1ceda3857c")
def decoder_block(rng):
    torch.manual_seed(0)
    block = Block(D, H, 4 * D, cross=True).double().requires_grad_(False)
    X, Z = rng.normal(size=(D, N)), rng.normal(size=(D, S))
    x = to_torch(X)
    attended = to_reference(block.attention(block.attention_norm(x), causal=True)[0])
    Y = table(lambda d, n: X[d, n] + attended[d, n], D, N)
    looked = to_reference(block.cross(block.cross_norm(to_torch(Y)), to_torch(Z))[0])
    Y_2 = table(lambda d, n: Y[d, n] + looked[d, n], D, N)
    thought = to_reference(block.feed_forward(block.feed_forward_norm(to_torch(Y_2))))
    printed = table(lambda d, n: Y_2[d, n] + thought[d, n], D, N)
    return printed, to_reference(block(x, causal=True, source=to_torch(Z)))


@equation("eq-conditional-chain", "2de369acb2")
def conditional_chain(rng):
    """Each factor from its own prefix, against the loss of one pass over the whole target."""
    torch.manual_seed(0)
    parts = {"n_layers": 1, "d_model": D, "n_heads": H, "d_ff": 9}
    model = EncoderDecoder(Encoder(**parts), Decoder(**parts, cross=True)).double().requires_grad_(False)
    embed, head = nn.Embedding(V + 1, D).double(), nn.Linear(D, V).double()
    targets, source = torch.randint(V, (3, N)), torch.randn(3, S, D).double()
    written = torch.cat([torch.full((3, 1), V), targets[:, :-1]], dim=1)

    def log_p(prefix):
        return head(model(source, embed(prefix))).log_softmax(dim=-1).detach()

    p = np.array([[log_p(written[:, : n + 1])[i, -1, targets[i, n]].exp() for n in range(N)] for i in range(3)])
    printed = table(lambda i: prod(p[i, n] for n in range(N)), 3)
    whole = log_p(written).gather(2, targets[..., None])[..., 0].sum(dim=1).exp()
    return printed, whole.numpy()


def parameters(rng):
    """One block of random parameters; everything that could be 0 or 1 is neither."""
    width = 9
    heads = (*rng.normal(size=(3, H, K, D)) / 2, rng.normal(size=(H, D, K)) / 2)
    arrays = rng.normal(size=(width, D)), rng.normal(size=width), rng.normal(size=(D, width)), rng.normal(size=D)
    norms = rng.normal(size=(4, D))
    return BlockParameters(heads, arrays, tuple(norms[:2]), tuple(norms[2:]))
