"""What the tests of all models share."""

import torch


def random_module(module, dtype=torch.float64, device="cpu"):
    """Biases start at zero in some modules: fill everything, so that nothing can go unused."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module.to(device, dtype)


def count(model):
    return sum(p.numel() for p in model.parameters())


def n_block(d, hidden, cross=False):
    """The parameters of one block: projections with biases, norms of two vectors."""
    attention, norm = 4 * (d * d + d), 2 * d
    return (1 + cross) * (attention + norm) + 2 * d * hidden + d + hidden + norm


def on_meta(build):
    with torch.device("meta"):
        return build()


def overfit(model, loss, n_steps=150, learning_rate=3e-3):
    """The loss before and after learning one batch by heart."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    first = None
    for _ in range(n_steps):
        optimizer.zero_grad()
        value = loss(model)
        value.backward()
        optimizer.step()
        first = value.item() if first is None else first
    return first, loss(model).item()
