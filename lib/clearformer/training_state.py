"""What a checkpoint holds of a model and its optimiser, and how it comes back: names, tensors and checksums.

A tied weight stands there once, under its first name, and no name has what ``torch.compile`` puts in front.
"""

import zlib
from collections.abc import Callable

import torch
from torch import Tensor, nn

from clearformer.parallel import gather_tensor, of_the_first, split_like
from clearformer.weight_files import find_misfits

FROZEN = "frozen_checksums"  # of the facts: by name, of each weight that did not learn when the run began


def restore(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    tensors: dict[str, Tensor],
    facts: dict,
    *,
    caller: str = "restore",
    checksums: dict[str, int],
) -> None:
    """Copy what ``load`` gave into a model and its optimiser; ``checksums`` are those of the model's frozen weights.

    Raises: ValueError with the list of all weights that are missing, unexpected, of another shape or dtype, or that the
    checkpoint left out and the model has otherwise.
    """
    copy_weights(model, tensors, facts, caller, checksums)
    state = {}
    for index, (name, parameter) in enumerate(optimized_parameters(model, optimizer)):
        prefix = f"optimizer.{name}:"
        state[index] = {k[len(prefix) :]: split_like(t, parameter) for k, t in tensors.items() if k.startswith(prefix)}
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


@torch.no_grad()
def copy_weights(
    model: nn.Module, tensors: dict[str, Tensor], facts: dict, caller: str, checksums: dict[str, int]
) -> None:
    """Copy the weights that ``load`` gave into a model; those that the checkpoint left out must be there already.

    Raises: ValueError as ``restore``.
    """
    saved = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
    left_out = {name: checksum for name, checksum in facts.get(FROZEN, {}).items() if name not in saved}
    own = named_weights(model)
    _check_same_model(own, saved, left_out, caller)
    others = [
        name
        for name, then in left_out.items()
        if (checksums.get(name) or checksum_of(gather_tensor(own[name].detach()))) != then
    ]
    if others:
        raise ValueError(
            f"{caller}: the checkpoint holds only what learns, and its run had other frozen weights than this model: "
            f"{'; '.join(sorted(others))}. Load the ones that the run began with before."
        )
    for name, tensor in saved.items():
        own[name].copy_(split_like(tensor, own[name]))


def _check_same_model(own: dict[str, Tensor], saved: dict[str, Tensor], left_out: dict[str, int], caller: str) -> None:
    """Raises: ValueError with all weights that only one of model and checkpoint has, or that differ in kind."""
    expected = ((name, weight) for name, weight in own.items() if name not in left_out)
    wrong = find_misfits(saved, expected) + [f"{name} is unexpected" for name in left_out.keys() - own.keys()]
    if wrong:
        raise ValueError(
            f"{caller}: the checkpoint belongs to another model: {'; '.join(sorted(wrong))}. Build the one it was "
            "made with, or train in another folder."
        )


def tensors_like(model: nn.Module) -> Callable[[str], Tensor | None]:
    """By its name in a checkpoint, the weight that a tensor is split as: itself, or the one whose moment it is."""
    own = {f"model.{name}": tensor for name, tensor in named_weights(model).items()}
    own |= {f"optimizer.{plain_name(name)}": parameter for name, parameter in model.named_parameters()}
    return lambda name: own.get(name, own.get(name.rpartition(":")[0]))


def plain_name(name: str) -> str:
    """The name of a weight without what ``torch.compile`` puts in front."""
    return name.replace("_orig_mod.", "")


def named_weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name; a tied weight, which has several names, once and under the first."""
    first_name: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first_name.setdefault(id(tensor), (plain_name(name), tensor))
    return dict(first_name.values())


def optimized_parameters(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[tuple[str, nn.Parameter]]:
    """Names and parameters in the optimiser's own order, by which its state is numbered."""
    names = {parameter: plain_name(name) for name, parameter in model.named_parameters()}
    return [(names[parameter], parameter) for group in optimizer.param_groups for parameter in group["params"]]


def frozen_checksums(model: nn.Module) -> dict[str, int]:
    """By name those of the weights that do not learn; of several processes the first one's, whose weights count."""
    frozen = {
        name: t for name, t in named_weights(model).items() if isinstance(t, nn.Parameter) and not t.requires_grad
    }
    checksums = [checksum_of(gather_tensor(tensor.detach())) for tensor in frozen.values()]
    return dict(zip(frozen, of_the_first(checksums), strict=True))


def checksum_of(tensor: Tensor, total: int = 0) -> int:
    """Of its numbers, dtype and shape."""
    total = zlib.crc32(f" {tensor.dtype} {tuple(tensor.shape)}".encode(), total)
    return zlib.crc32(tensor.reshape(-1).cpu().contiguous().view(torch.uint8).numpy(), total)
