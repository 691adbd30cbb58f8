"""Where a command computes."""

import os

import torch


def find_device(command: str, name: str) -> torch.device:
    """The device of this name; for auto the accelerator, if there is one that PyTorch can use.

    Raises: ValueError for a name that is none, or a device that is not here.
    """
    if name == "auto":
        found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return found or torch.device("cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
        return device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{command}: --device {name} cannot be used here ({reason}). Try --device cpu.") from error


def own_device(device: torch.device) -> torch.device:
    """Of several GPUs the one of this process, which ``torchrun`` has numbered; any other device as it is."""
    number = os.environ.get("LOCAL_RANK")
    if device.type != "cuda" or device.index is not None or number is None:
        return device
    own = torch.device("cuda", int(number))
    torch.cuda.set_device(own)
    return own
