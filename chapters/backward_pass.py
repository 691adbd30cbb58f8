"""The backward pass of a language model by hand, as Clearformer's chapter 13 has it.

Tokens are rows. Each step comes twice: ``…_forward`` gives its result and what it keeps
for the way back, ``…_backward`` takes the error signal and gives the gradients.
"""

import math

import torch
import torch.nn.functional as F


def linear_backward(x, U, e):
    """Gradients of x Uᵀ by x and by U; a token is a row."""
    return e @ U, e.flatten(0, -2).T @ x.flatten(0, -2)


def attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:  # True: may look
        scores = scores.masked_fill(~mask, -math.inf)
    A = scores.softmax(dim=-1)
    return A @ v, A


def attention_backward(q, k, v, A, e):
    dA, dv = e @ v.mT, A.mT @ e  # step 1
    G = A * (dA - (A * dA).sum(dim=-1, keepdim=True))  # step 2
    G = G / math.sqrt(k.shape[-1])
    return G @ k, G.mT @ q, dv  # step 3


def split(x, n_heads):  # B N HK → B H N K
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def join(y):  # B H N K → B N HK
    return y.transpose(1, 2).flatten(2)


def layer_forward(x, U, W_O, n_heads, mask):
    """Self-attention; U holds the maps of queries, keys and values, one on another."""
    q, k, v = (split(part, n_heads) for part in (x @ U.T).chunk(3, dim=-1))
    y, A = attention(q, k, v, mask)
    return join(y) @ W_O.T, (x, q, k, v, A, join(y))


def layer_backward(e, kept, U, W_O):
    x, q, k, v, A, joined = kept
    d_joined, dW_O = linear_backward(joined, W_O, e)
    parts = attention_backward(q, k, v, A, split(d_joined, q.shape[1]))
    dx, dU = linear_backward(x, U, torch.cat([join(part) for part in parts], dim=-1))
    return dx, dU, dW_O


def norm_forward(x, gamma, beta, eps=1e-5):
    sigma = (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt()
    x_hat = (x - x.mean(dim=-1, keepdim=True)) / sigma
    return gamma * x_hat + beta, (x_hat, sigma)


def norm_backward(e, kept, gamma):
    x_hat, sigma = kept
    g = gamma * e
    along = (x_hat * g).mean(dim=-1, keepdim=True)
    dx = (g - g.mean(dim=-1, keepdim=True) - along * x_hat) / sigma
    return dx, (e * x_hat).sum(dim=(0, 1)), e.sum(dim=(0, 1))


def gelu_slope(t):
    density = (-(t**2) / 2).exp() / math.sqrt(2 * math.pi)
    return torch.special.ndtr(t) + t * density


def network_forward(x, W_1, b_1, W_2, b_2):
    t = x @ W_1.T + b_1
    return F.gelu(t) @ W_2.T + b_2, (x, t)


def network_backward(e, kept, W_1, W_2):
    x, t = kept
    d_hidden, dW_2 = linear_backward(F.gelu(t), W_2, e)
    dt = gelu_slope(t) * d_hidden
    dx, dW_1 = linear_backward(x, W_1, dt)
    return dx, dW_1, dt.sum(dim=(0, 1)), dW_2, e.sum(dim=(0, 1))


def block_forward(x, p, n_heads, mask):
    z, norm_1 = norm_forward(x, p["gamma_1"], p["beta_1"])
    change, layer = layer_forward(z, p["U"], p["W_O"], n_heads, mask)
    y = x + change
    z, norm_2 = norm_forward(y, p["gamma_2"], p["beta_2"])
    change, network = network_forward(z, p["W_1"], p["b_1"], p["W_2"], p["b_2"])
    return y + change, (norm_1, layer, norm_2, network)


def block_backward(e, kept, p):
    norm_1, layer, norm_2, network = kept
    d, W = {}, (p["W_1"], p["W_2"])
    dz, d["W_1"], d["b_1"], d["W_2"], d["b_2"] = network_backward(e, network, *W)
    dy, d["gamma_2"], d["beta_2"] = norm_backward(dz, norm_2, p["gamma_2"])
    dy = e + dy  # the residual hands everything down
    dz, d["U"], d["W_O"] = layer_backward(dy, layer, p["U"], p["W_O"])
    dx, d["gamma_1"], d["beta_1"] = norm_backward(dz, norm_1, p["gamma_1"])
    return dy + dx, d


def loss_forward(ids, wanted, p, n_heads, mask):
    x = p["tokens"][ids] + p["positions"]
    top, kept = block_forward(x, p, n_heads, mask)
    log_p = (top @ p["head"].T).log_softmax(dim=-1)
    loss = -log_p.gather(-1, wanted[..., None]).mean()
    return loss, (top, kept, log_p)


def loss_backward(ids, wanted, kept, p):
    top, kept, log_p = kept
    e = (log_p.exp() - F.one_hot(wanted, len(p["head"]))) / wanted.numel()
    d_top, d_head = linear_backward(top, p["head"], e)
    dx, d = block_backward(d_top, kept, p)
    rows = torch.zeros_like(p["tokens"])
    d["tokens"] = rows.index_add(0, ids.flatten(), dx.flatten(0, 1))
    return d | {"positions": dx.sum(dim=0), "head": d_head}


def shapes(n_words, n_positions, d_model):
    """The parameters of the model by name, and the shape of each."""
    V, N, D = n_words, n_positions, d_model
    found = {"tokens": (V, D), "positions": (N, D), "U": (3 * D, D), "W_O": (D, D)}
    found |= {"W_1": (4 * D, D), "W_2": (D, 4 * D), "head": (V, D), "b_1": (4 * D,)}
    vectors = "gamma_1", "gamma_2", "beta_1", "beta_2", "b_2"
    return found | {name: (D,) for name in vectors}
