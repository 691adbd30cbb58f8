"""Build a learner's nn.Module as its task prescribes it, and copy weights in by their names."""

import contextlib
import inspect
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from clearcheck.worker.call_request import Misfit

DRAWN = ("kaiming_uniform_", "uniform_", "normal_")  # the first values of nn.Linear and nn.Embedding


def build_module(cls: type, sizes: dict) -> nn.Module:
    """Raises: Misfit where the class is none of this kind."""
    if not isinstance(cls, type) or not issubclass(cls, nn.Module):
        raise Misfit("is no nn.Module: the task asks for `class …(nn.Module):`")
    if cls.forward is nn.Module.forward:
        raise Misfit("has no method `forward`")
    takes = f"the task asks for `def __init__({', '.join(['self', *sizes])})`"
    if sizes and cls.__init__ is nn.Module.__init__:
        raise Misfit(f"has no method `__init__`; {takes}")
    signature = inspect.signature(cls)
    try:
        signature.bind(**sizes)
    except TypeError as error:
        raise Misfit(f"cannot be built: {error}; {takes}") from None
    named = [name for name in signature.parameters if name in sizes]
    if named != [name for name in sizes if name in named]:
        raise Misfit(f"takes its sizes in another order ({', '.join(named)}); {takes}")
    return cls(**sizes)


@contextlib.contextmanager
def nothing_drawn() -> Iterator[None]:
    """Parameters get no first values, which take a third of the time of a small call: others are copied in at once."""
    drawing = {name: getattr(nn.init, name) for name in DRAWN}

    def spare_parameters(draw):
        return lambda tensor, *args, **kw: tensor if isinstance(tensor, nn.Parameter) else draw(tensor, *args, **kw)

    try:
        for name, draw in drawing.items():
            setattr(nn.init, name, spare_parameters(draw))
        yield
    finally:
        for name, draw in drawing.items():
            setattr(nn.init, name, draw)


def load_weights(module: nn.Module, weights: dict[str, np.ndarray]):
    """Copy the weights in by name. Raises: Misfit for a parameter that is missing, extra or misshapen."""
    own = dict(module.named_parameters(remove_duplicate=False))
    kept = {id(own[name]) for name in weights if name in own}
    extra = [name for name, parameter in own.items() if id(parameter) not in kept]
    for name, value in weights.items():
        if name not in own:
            raise Misfit(f"has no parameter `{name}` of shape {value.shape}{_replacement_note(module, name, extra)}")
        shape = tuple(own[name].shape)
        if shape != value.shape:
            raise Misfit(f"has a parameter `{name}` of shape {shape}; the shape {value.shape} is expected")
        if own[name].dtype != torch.float32:
            raise Misfit(
                f"has a parameter `{name}` of dtype {str(own[name].dtype).removeprefix('torch.')}; float32 is expected"
            )
    if extra:
        raise Misfit(f"has a parameter `{extra[0]}` that the task does not ask for")
    with torch.no_grad():
        for name, value in weights.items():
            own[name].copy_(torch.from_numpy(value))


def _replacement_note(module: nn.Module, name: str, extra: list[str]) -> str:
    """What there is in place of a parameter: a tensor or a list that the module does not know of, or another name."""
    place: object = module
    for part in name.split("."):
        if isinstance(place, list | tuple | dict):
            kind = "Dict" if isinstance(place, dict) else "List"
            return f": keep the parts in an nn.Module{kind}, so that the module knows their parameters"
        place = getattr(place, part, None)
    if isinstance(place, Tensor):
        return ", only a tensor of that name: wrap it in nn.Parameter"
    return f"; it has `{extra[0]}`, which the task does not ask for" if extra else ""
