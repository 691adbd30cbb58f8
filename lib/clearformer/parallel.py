"""Data parallelism: several processes with the same model, each with its share of the rows."""

import contextlib
from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor


@contextlib.contextmanager
def processes(device: torch.device):
    """This process's number and how many there are; joins the group if ``torchrun`` started us."""
    joins = dist.is_available() and dist.is_torchelastic_launched() and not dist.is_initialized()
    if joins:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        together = dist.is_available() and dist.is_initialized()
        yield (dist.get_rank(), dist.get_world_size()) if together else (0, 1)
    finally:
        if joins:
            dist.destroy_process_group()


def copy_from_first(tensors: Iterable[Tensor]) -> None:
    """Overwrite each tensor with the one of process 0, so that all begin alike."""
    for tensor in tensors:
        dist.broadcast(tensor, src=0)


def average(tensors: list[Tensor], n_processes: int) -> None:
    """Replace each tensor by its mean over the processes, in one message per dtype."""
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):  # in the same order in every process
        same = [tensor for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.flatten() for tensor in same])
        dist.all_reduce(flat)
        flat /= n_processes
        for tensor, part in zip(same, flat.split([tensor.numel() for tensor in same]), strict=True):
            tensor.copy_(part.view_as(tensor))
