"""Memory of tensors, as PyTorch's allocator counts it: the same on every machine and exact to the byte.

What a matrix library takes for itself is not in it, nor is memory that the system has not handed out yet. The resident
size of a process has both, but knows nothing smaller than a few megabytes.
"""

import os
from collections.abc import Callable

from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.profiler import ProfilerActivity, profile

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else the profiler reports every start on stderr


def peak_bytes(call: Callable[[], object]) -> int:
    """The most that a call held at one moment on top of what was there before; its result counts."""
    call()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = call()
    del result
    events = profiler.profiler.kineto_results.events()
    held = peak = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def kept_bytes(call: Callable[[], object], inputs: tuple[Tensor, ...]) -> int:
    """What autograd keeps between the forward and the backward pass of a call, apart from its inputs."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = call()
    del result
    own = {tensor.untyped_storage().data_ptr() for tensor in inputs}
    return sum(size for address, size in kept.items() if address not in own)
