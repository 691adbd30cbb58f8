"""Checks of the display equations of chapter 10, images."""

from math import exp, floor, log

import numpy as np
import torch
from clearbook.attention_maps import attention_weights
from clearformer.models.mae import MAE, MAEConfig, reconstruction_loss
from clearformer.models.vit import ViT, ViTConfig, first_token, mean_tokens, sum_tokens
from clearformer.patches import patchify, unpatchify

from tests.equations.registry import equation, table

B, C, SIDE, S, D, H, CLASSES = 2, 3, 6, 2, 8, 4, 5
N, P = (SIDE // S) ** 2, C * S * S


@equation("eq-image-tokens", "9e3ba14757")
def image_tokens(rng):
    model, image = vit(rng), pictures(rng, 1)
    model.encoder.blocks = torch.nn.ModuleList()
    patch = patchify(image, S)[0].numpy()
    W, b, c, p = (
        w.detach().numpy() for w in (*model.patches.parameters(), model.class_tokens[0], model.positions.weight)
    )
    first = table(lambda d: c[d] + p[0, d], D)
    rest = table(lambda n, d: sum(W[d, i] * patch[n, i] for i in range(P)) + b[d] + p[n + 1, d], N, D)
    tokens = torch.as_tensor(np.concatenate((first[None], rest)))
    return model.encoder.norm(tokens).detach().numpy(), model.encode(image)[0].detach().numpy()


@equation("eq-image-pools", "97da0f7129")
def image_pools(rng):
    x = rng.normal(size=(N + 1, D))
    tokens, patches = torch.as_tensor(x)[None], torch.as_tensor(x[1:])[None]
    return [
        (table(lambda _, d: x[0, d], 1, D), first_token(tokens)),
        (table(lambda d: sum(x[n, d] for n in range(1, N + 1)), D), sum_tokens(patches)[0]),
        (table(lambda d: sum(x[n, d] for n in range(1, N + 1)) / N, D), mean_tokens(patches)[0]),
    ]


@equation("eq-image-softmax", "847f989f3e")
def image_softmax(rng):
    model, image = vit(rng), pictures(rng, 1)
    h = first_token(model.encode(image))[0].detach().numpy()
    g, a = (w.detach().numpy() for w in model.head.parameters())
    score = table(lambda y: sum(g[y, d] * h[d] for d in range(D)) + a[y], CLASSES)
    printed = table(lambda y: exp(score[y]) / sum(exp(score[z]) for z in range(CLASSES)), CLASSES)
    return printed, model(image).softmax(1)[0].detach().numpy()


@equation("eq-class-attention", "0a6da7c51b")
def class_attention(rng):
    model, images = vit(rng), pictures(rng, B)
    (weights,) = attention_weights(model, images).values()
    A = weights[1].transpose(1, 2).numpy()  # head, source, target
    printed = table(lambda n: sum(A[h, n + 1, 0] for h in range(H)) / H, N)
    return printed, weights[1, :, 0, 1:].mean(0).numpy()


@equation("eq-occlusion", "8ac92d3d45")
def occlusion(rng):
    model, image, y, n = vit(rng), pictures(rng, 1), 3, 4
    without = patchify(image, S)
    without[:, n] = 0.0
    p, q = (model(x).softmax(1)[0].detach().numpy() for x in (image, unpatchify(without, S, SIDE // S)))
    printed = table(lambda _: log(p[y]) - log(q[y]), 1)
    losses = [
        torch.nn.functional.cross_entropy(model(x), torch.tensor([y]))
        for x in (unpatchify(without, S, SIDE // S), image)
    ]
    return printed, [(losses[0] - losses[1]).item()]


@equation("eq-visible-patches", "b60e9de191")
def visible_patches(rng):
    model, images = mae(rng), pictures(rng, B)
    ratios = (0.2, 0.5, 0.75)
    printed = table(lambda i: floor(N * (1 - ratios[i])), 3)
    hidden = [model(images, mask_ratio=ratio)[1] for ratio in ratios]
    return printed, [int((~rows).sum(1).unique()) for rows in hidden]


@equation("eq-masked-loss", "4556803dd4")
def masked_loss(rng):
    model, images = mae(rng), pictures(rng, 1)
    noise = torch.as_tensor(rng.random(size=(1, N)))
    drawn, hidden = model(images, noise)
    p, q = patchify(images, S)[0].numpy(), drawn[0].detach().numpy()
    M = hidden[0].nonzero().flatten().tolist()
    printed = table(lambda _: sum(sum((q[n, i] - p[n, i]) ** 2 for i in range(P)) / P for n in M) / len(M), 1)
    return printed, [reconstruction_loss(model, images, noise).item()]


@equation("eq-contrastive", "4cbebb00d4")
def contrastive(rng):
    e, f, tau = rng.normal(size=(B + 2, D)), rng.normal(size=(B + 2, D)), 0.3
    e, f = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (e, f))
    n = len(e)
    s = table(lambda i, j: sum(e[i, d] * f[j, d] for d in range(D)) / tau, n, n)

    def share(i):
        row, column = (sum(exp(s[k]) for k in ks) for ks in (((i, j) for j in range(n)), ((j, i) for j in range(n))))
        return log(exp(s[i, i]) / row) + log(exp(s[i, i]) / column)

    printed = table(lambda _: -sum(share(i) for i in range(n)) / (2 * n), 1)
    scores, right = torch.as_tensor(e @ f.T / tau), torch.arange(n)
    losses = [torch.nn.functional.cross_entropy(table_of, right) for table_of in (scores, scores.T)]
    return printed, [(sum(losses) / 2).item()]


def pictures(rng, n):
    return torch.as_tensor(rng.normal(size=(n, C, SIDE, SIDE)))


def randomise_parameters(model, rng):
    """The model in float64 with random numbers in all its parameters, biases and tokens included."""
    model = model.double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.as_tensor(rng.normal(size=tuple(weight.shape))) / 2)
    return model


def vit(rng, n_layers=1):
    return randomise_parameters(ViT(ViTConfig(SIDE, S, C, CLASSES, D, H, n_layers, d_ff=7)), rng)


def mae(rng):
    return randomise_parameters(MAE(MAEConfig(SIDE, S, C, D, H, 1, 4, 2, 1, d_ff=7, d_decoder_ff=9)), rng)
