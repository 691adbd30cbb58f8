"""Checks of the display equations of the closer look at one head of a published model."""

from math import exp

import torch
from clearformer.layers import RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary

from tests.equations.registry import equation, table

V, D, N, M = 7, 8, 5, 3


@equation("eq-logit-lens", "871d6caf34")
def logit_lens(rng):
    """Above block m: what a model of m blocks gives that has the same weights."""
    model = GPT(GPTConfig(V, 11, D, n_heads=2, n_layers=M, rope=Rotary, norm=RMSNorm)).double().eval()
    ids = torch.as_tensor(rng.integers(V, size=(1, N)))
    pairs = []
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.as_tensor(rng.normal(size=weight.shape)))
        x, g = model.tokens(ids), model.head.weight.numpy()
        for m, block in enumerate(model.decoder.blocks, 1):
            x = block(x, causal=True)
            normed = model.decoder.norm(x)[0, -1].numpy()

            def score(w, normed=normed):
                return sum(g[w, d] * normed[d] for d in range(D))

            printed = table(lambda w, score=score: exp(score(w)) / sum(exp(score(u)) for u in range(V)), V)
            shorter = GPT(GPTConfig(V, 11, D, n_heads=2, n_layers=m, rope=Rotary, norm=RMSNorm)).double().eval()
            shorter.load_state_dict({name: model.state_dict()[name] for name in shorter.state_dict()})
            pairs.append((printed, shorter(ids)[0, -1].softmax(dim=-1)))
    return pairs


@equation("eq-direct-attribution", "481a245d87")
def direct_attribution(rng):
    """The difference of two logits of a model, from what each of its parts adds to the last column."""
    model = GPT(GPTConfig(V, 11, D, n_heads=2, n_layers=M, rope=Rotary, norm=RMSNorm)).double().eval()
    added = []
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.as_tensor(rng.normal(size=weight.shape)))
        for block in model.decoder.blocks:
            for layer in (block.attention.out, block.feed_forward):
                layer.register_forward_hook(lambda layer, given, out: added.append(out[0, -1].numpy()))
        ids = torch.as_tensor(rng.integers(V, size=(1, N)))
        logits = model(ids)[0, -1].numpy()
        parts = [model.tokens(ids)[0, -1].numpy(), *added]
        g, gamma, eps = model.head.weight.numpy(), model.decoder.norm.weight.numpy(), model.decoder.norm.eps
    x = [sum(y[d] for y in parts) for d in range(D)]
    rms = (sum(value**2 for value in x) / D + eps) ** 0.5
    printed = table(lambda w: sum(sum((g[w, d] - g[5, d]) * gamma[d] * y[d] for d in range(D)) / rms for y in parts), V)
    return printed, logits - logits[5]
