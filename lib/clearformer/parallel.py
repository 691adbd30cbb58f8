"""Several processes, one model: each holds a copy (data parallelism), or each a share of every weight (sharding).

The work is PyTorch's: ``DistributedDataParallel`` averages gradients while the backward pass is still under way, and
``fully_shard`` splits weights, gradients and the optimiser's state.
"""

import contextlib
from collections.abc import Callable, Iterator

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@contextlib.contextmanager
def join_processes(*device_types: str | None) -> Iterator[tuple[int, int]]:
    """This process's number and how many there are; joins the group if ``torchrun`` started us."""
    joins = dist.is_available() and dist.is_torchelastic_launched() and not dist.is_initialized()
    if joins:
        dist.init_process_group("cpu:gloo,cuda:nccl" if "cuda" in device_types else "gloo")
    try:
        together = dist.is_available() and dist.is_initialized()
        yield (dist.get_rank(), dist.get_world_size()) if together else (0, 1)
    finally:
        if joins:
            dist.destroy_process_group()


def wait_for_all() -> None:
    """Go on when every process has come this far, and at once where there is one alone."""
    if dist.is_available() and dist.is_initialized():
        dist.barrier()


def shard(model: nn.Module, device_type: str) -> None:
    """Leave each process its share of every weight; layers, what stands in a ``ModuleList``, are whole while needed.

    They move to the device one after another, so none ever holds the whole model. Weights become ``DTensor``, in place.

    Source: Rajbhandari et al. 2020, section 5, with all three stages.
    Cost: with P processes a P-th of weights, gradients and moments each; half as much again is sent in a step.
    Raises: ValueError outside of ``torchrun``.
    """
    if not (dist.is_available() and dist.is_initialized()):
        raise ValueError(f"train: shard_on={device_type!r} in one process alone. Start several with torchrun.")
    from torch.distributed.fsdp import fully_shard

    for parameter in model.parameters():
        parameter.data = parameter.data.contiguous()  # row by row, as shares are cut
    for tensor in model.state_dict().values():
        dist.broadcast(tensor, src=0)
    mesh = dist.init_device_mesh(device_type, (dist.get_world_size(),))
    layers = [layer for several in model.modules() if isinstance(several, nn.ModuleList) for layer in several]
    for module in (*layers, model):
        fully_shard(module, mesh=mesh, reshard_after_forward=True)


class LossOf(nn.Module):
    """``loss(model, *rows)`` as a module, because PyTorch follows the calls of modules."""

    def __init__(self, model: nn.Module, loss: Callable[..., Tensor]):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *rows: Tensor):  # whatever the loss gives, a tensor or not
        return self.loss(self.model, *rows)


def sending_gradients(loss_of: nn.Module, now: bool) -> contextlib.AbstractContextManager:
    """Within, a backward pass sends its gradients to the other processes, or (not ``now``) only adds them up."""
    if isinstance(loss_of, DistributedDataParallel):
        return contextlib.nullcontext() if now else loss_of.no_sync()
    if hasattr(loss_of.model, "set_requires_gradient_sync"):  # after ``shard``
        loss_of.model.set_requires_gradient_sync(now)
    return contextlib.nullcontext()


def gather_tensor(tensor: Tensor) -> Tensor:
    """A tensor put together from its shares, for which every process must ask; others as they are."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def of_the_first(numbers: list[int]) -> list[int]:
    """What the first process has, in all of them; every process must ask, with as many numbers."""
    if not numbers or not (dist.is_available() and dist.is_initialized()):
        return numbers
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    together = torch.tensor(numbers, dtype=torch.int64, device=device)
    dist.broadcast(together, src=0)
    return together.tolist()


def split_like(tensor: Tensor, like: Tensor) -> Tensor:
    """This process's share of a whole tensor, if ``like`` of the same shape is shared; else the tensor."""
    if hasattr(tensor, "full_tensor") or not hasattr(like, "full_tensor") or tensor.shape != like.shape:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(tensor, like.device_mesh, like.placements, src_data_rank=None)
