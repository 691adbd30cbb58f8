"""The same small GPT trained from several random starts at once, so that a difference has its spread beside it."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from clearformer.attention import attend
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from jaxtyping import Float, Int
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

BATCH, WARMUP = 12, 10


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
    parameters, buffers = stack_module_state(models)
    optimizer = torch.optim.AdamW(parameters.values(), betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def nats(parameters, buffers, rows):
        logits = functional_call(models[0], (parameters, buffers), (rows[:, :-1],))
        return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())

    nats_of_each = vmap(nats, in_dims=(0, 0, None))
    generator, found = torch.Generator().manual_seed(0), []
    window = torch.arange(test.shape[1])
    for step in range(1, max(marks) + 1):
        starts = torch.randint(len(ids) - len(window) + 1, (BATCH,), generator=generator)
        optimizer.param_groups[0]["lr"] = learning_rate * min(step / WARMUP, 1)
        optimizer.zero_grad()
        nats_of_each(parameters, buffers, ids[starts[:, None] + window]).sum().backward()
        optimizer.step()
        if step in marks:
            with torch.no_grad():
                found.append(nats_of_each(parameters, buffers, test) / math.log(2))
    return torch.stack(found, dim=1)
