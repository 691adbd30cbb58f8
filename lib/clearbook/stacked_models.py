"""Small models of one kind trained in one loop: for experiments that want a median and a range of random starts."""

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from clearformer.attention import attend
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

BETAS = (0.9, 0.999)
BATCH, WARMUP = 12, 10  # of a GPT's training


class _StackedModels:
    """Copies of the weights of models of one kind in a tensor with one more axis, and an AdamW for all of them.

    AdamW treats every number on its own, so that no copy disturbs another.
    """

    def __init__(self, models: Sequence[nn.Module], *, betas: tuple[float, float], weight_decay: float):
        stacked, self.buffers = stack_module_state(list(models))
        self.shapes = {name: tensor.shape[1:] for name, tensor in stacked.items()}
        self.weights = torch.cat([tensor.detach().flatten(1) for tensor in stacked.values()], dim=1).requires_grad_()
        # Whose forward pass is called; a move to "meta" would part an embedding from the head it is tied to.
        self.frame = copy.deepcopy(models[0]).eval()
        self.optimizer = torch.optim.AdamW([self.weights], lr=1.0, betas=betas, weight_decay=weight_decay, fused=True)

    def measure(self, function: Callable, *rows: Tensor) -> tuple[Float[Tensor, "copies"], ...]:
        """What ``function(model, *rows)`` gives for each copy."""
        sizes = [shape.numel() for shape in self.shapes.values()]

        def of_one_copy(weights, buffers):
            parts = zip(self.shapes.items(), weights.split(sizes), strict=True)
            named = {name: part.view(shape) for (name, shape), part in parts}
            return function(lambda *inputs: functional_call(self.frame, (named, buffers), inputs), *rows)

        return vmap(of_one_copy)(self.weights, self.buffers)

    def step(self, losses: Float[Tensor, "copies"], rate: float | Float[Tensor, "copies"]) -> None:
        """One step of AdamW: at rate 1, of which each copy takes as much as its own rate."""
        self.optimizer.zero_grad()
        losses.sum().backward()
        before = self.weights.detach().clone()
        self.optimizer.step()
        share = torch.as_tensor(rate, dtype=before.dtype).view(-1, 1)
        with torch.no_grad():
            self.weights.copy_(before.lerp(self.weights, share))


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
    same rows. The models themselves are left as they were.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    """
    copies = _StackedModels(models, betas=BETAS, weight_decay=0.0)
    generator, watched = torch.Generator().manual_seed(seed), []
    for rate in rates:
        losses, *others = copies.measure(measure, *draw(generator))
        copies.step(losses, rate)
        watched.append([losses.detach(), *(other.detach() for other in others)])
    return [torch.stack(values) for values in zip(*watched, strict=True)]


def bits_by_step(
    config: GPTConfig,
    ids: Int[Tensor, "T"],
    test: Int[Tensor, "rows positions"],
    marks: tuple[int, ...],
    *,
    n_seeds: int = 5,
    learning_rate: float = 0.01,
) -> Float[Tensor, "seeds marks"]:
    """Bits a token on the rows of ``test`` after each number of steps in ``marks``, one row for each random start.

    The starts differ, the batches do not; all are trained side by side in one call for each operation.
    """
    models = []
    for seed in range(n_seeds):
        torch.manual_seed(seed)
        models.append(GPT(config, attention=partial(MultiHeadAttention, attend=attend)))
    copies = _StackedModels(models, betas=(0.9, 0.95), weight_decay=0.1)
    generator, found = torch.Generator().manual_seed(0), []
    window = torch.arange(test.shape[1])
    for step in range(1, max(marks) + 1):
        starts = torch.randint(len(ids) - len(window) + 1, (BATCH,), generator=generator)
        (nats,) = copies.measure(_nats, ids[starts[:, None] + window])
        copies.step(nats, learning_rate * min(step / WARMUP, 1))
        if step in marks:
            with torch.no_grad():
                (nats,) = copies.measure(_nats, test)
            found.append(nats / math.log(2))
    return torch.stack(found, dim=1)


def _nats(model: Callable[[Tensor], Tensor], rows: Int[Tensor, "rows positions"]) -> tuple[Tensor]:
    logits = model(rows[:, :-1])
    return (F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten()),)
