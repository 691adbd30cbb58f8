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
