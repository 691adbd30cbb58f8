"""Several copies of a small model trained in one loop: for experiments that want a median and a range of starts."""

import copy
from collections.abc import Callable, Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

BETAS = (0.9, 0.999)


def train_copies(
    models: Sequence[nn.Module],
    measure: Callable[..., tuple[Tensor, ...]],
    draw: Callable[[torch.Generator], tuple[Tensor, ...]],
    rates: Iterable[float | Float[Tensor, "copies"]],
    seed: int = 0,
) -> list[Float[Tensor, "steps copies"]]:
    """AdamW without weight decay on models of one kind, one step for each of the learning ``rates``.

    A rate is one number, or one for each copy.

    ``measure(model, *rows)`` gives the loss of the rows from ``draw(generator)``, and after it whatever else is to be
    watched, one number each; the same comes back for every step, before its update, and every copy. All copies see the
    same rows. Their weights stand in tensors with one more axis, and AdamW treats every number on its own, so that no
    copy disturbs another. The models themselves are left as they were.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    """
    stacked, buffers = stack_module_state(list(models))
    names, sizes = [*stacked], [tensor[0].numel() for tensor in stacked.values()]
    shapes = [tensor.shape[1:] for tensor in stacked.values()]
    weights = torch.cat([tensor.detach().flatten(1) for tensor in stacked.values()], dim=1).requires_grad_()
    frame = copy.deepcopy(models[0]).eval()  # a move to "meta" would part an embedding from the head it is tied to
    optimizer = torch.optim.AdamW([weights], lr=1.0, betas=BETAS, weight_decay=0.0, fused=True)
    generator, watched = torch.Generator().manual_seed(seed), []
    for rate in rates:
        rows = draw(generator)

        def of_one_copy(weights, buffers, rows=rows):
            parts = [part.view(shape) for part, shape in zip(weights.split(sizes), shapes, strict=True)]
            named = dict(zip(names, parts, strict=True))
            return measure(lambda *inputs: functional_call(frame, (named, buffers), inputs), *rows)

        losses, *others = vmap(of_one_copy)(weights, buffers)
        optimizer.zero_grad()
        losses.sum().backward()
        before = weights.detach().clone()
        optimizer.step()  # at rate 1, of which each copy takes as much as its own rate
        with torch.no_grad():
            weights.copy_(before.lerp(weights, torch.as_tensor(rate, dtype=weights.dtype).view(-1, 1)))
        watched.append([losses.detach(), *(other.detach() for other in others)])
    return [torch.stack(values) for values in zip(*watched, strict=True)]
