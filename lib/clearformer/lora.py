"""LoRA: beside frozen linear maps thin ones that learn, added in afterwards so that they cost nothing."""

import copy
import math
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.checks import check_items, check_model, check_real, check_whole, shorten


class LowRank(nn.Module):
    r"""A linear map that stays as it is, and a product of two thin matrices that is trained beside it.

    .. math:: y = W x + b + s \, B A x

    B begins at zero, so the layer begins as the map that it was given. ``scale`` is s, the alpha / r of the source.

    Source: Hu et al. 2021, section 4.1.
    Cost: r (d_in + d_out) parameters and 2 r (d_in + d_out) FLOPs a token more.
    Raises: TypeError or ValueError for what is no linear map, a rank below 1, or a scale that is not finite.
    """

    def __init__(self, linear: nn.Linear, rank: int, *, scale: float = 1.0):
        super().__init__()
        if not isinstance(linear, nn.Linear):
            raise TypeError(f"LowRank: linear={shorten(linear)}, expected a torch.nn.Linear.")
        rank = check_whole("LowRank", "rank", rank)
        self.scale = check_real("LowRank", "scale", scale, math.isfinite, "finite")
        self.linear = linear.requires_grad_(False)
        A = torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)
        self.A = nn.Parameter(A.to(linear.weight))
        self.B = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        added = x @ self.A.T @ self.B.T
        return self.linear(x) + (added if self.scale == 1 else self.scale * added)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """One linear map that gives the same; this layer stays as it is."""
        merged = copy.deepcopy(self.linear)
        merged.weight.copy_(self.weight)
        return merged

    @property
    def weight(self) -> Float[Tensor, "d_out d_in"]:
        """W + s B A, for what takes a part of the map, as cross-attention does, which projects its source alone."""
        return self.linear.weight + self.scale * (self.B @ self.A)

    @property
    def bias(self) -> Float[Tensor, "d_out"] | None:
        return self.linear.bias


def add_lora(model: nn.Module, rank: int, *, targets: Sequence[str] | None = None, scale: float = 1.0) -> list[str]:
    """Freeze ``model``, put a ``LowRank`` in place of the linear maps named in ``targets``, and say which these are.

    A target is the end of a name in ``model.named_modules()``: ``"qkv"``, ``"attention.out"`` or a whole one. Without
    ``targets`` it is every linear map of the blocks. A map that stands in two places gets one adapter.

    Source: as ``LowRank``. Raises: TypeError or ValueError for a target that no linear map has, adapters that are there
    already, or as ``LowRank``.
    """
    check_model("add_lora", model)
    if adapters(model):
        raise ValueError("add_lora: the model has adapters already, expected none. Call merge_lora(model) before.")
    found = _targets(model, targets)
    _refuse_tied(model, found)
    made = {linear: LowRank(linear, rank, scale=scale) for linear in found.values()}
    model.requires_grad_(False)
    for name, linear in found.items():
        put(model, name, made[linear])
    for layer in made.values():
        layer.A.requires_grad_(True)
        layer.B.requires_grad_(True)
    return list(found)


def merge_lora(model: nn.Module) -> None:
    """Put W + s B A in place of each adapter: afterwards the model is one of its kind, with other numbers.

    Its weights stay frozen; ``model.requires_grad_(True)`` lets them learn. Raises: ValueError without adapters.
    """
    check_model("merge_lora", model)
    there = adapters(model)
    if not there:
        raise ValueError("merge_lora: the model has no adapters, expected some of add_lora or load_lora.")
    made = {layer: layer.merged() for layer in there.values()}
    for name, layer in there.items():
        put(model, name, made[layer])


def adapters(model: nn.Module) -> dict[str, LowRank]:
    """The adapters of a model by name."""
    every = model.named_modules(remove_duplicate=False)
    return {name: module for name, module in every if isinstance(module, LowRank)}


def put(model: nn.Module, name: str, module: nn.Module) -> None:
    """Set the part of ``model`` that has this name."""
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, module)


def _targets(model: nn.Module, targets: Sequence[str] | None) -> dict[str, nn.Linear]:
    """By name the linear maps that get an adapter."""
    every = model.named_modules(remove_duplicate=False)
    linear = {name: module for name, module in every if isinstance(module, nn.Linear)}
    if targets is None:
        layers = tuple(_layers(model))
        found = {name: module for name, module in linear.items() if name.startswith(layers)}
        if not found:
            raise ValueError("add_lora: the model has no blocks with linear maps. Name some: targets=[...].")
        return found
    found = {}
    for target in check_items("add_lora", "targets", targets, "the ends of names, such as ['qkv']"):
        fitting = {n: m for n, m in linear.items() if isinstance(target, str) and f".{n}".endswith(f".{target}")}
        if not fitting:
            ends = sorted({name.rpartition(".")[2] for name in linear})
            raise ValueError(f"add_lora: no linear map is called {target!r}, expected some of {', '.join(ends)}.")
        found |= fitting
    if not found:
        raise ValueError("add_lora: targets=[] names no linear map, expected at least one.")
    return {name: module for name, module in linear.items() if name in found}


def _refuse_tied(model: nn.Module, found: dict[str, nn.Linear]) -> None:
    """Raises: ValueError for a map whose weight another module has as well, which would not learn with it."""
    owners: dict[int, set[int]] = {}
    for module in model.modules():
        for weight in module.parameters(recurse=False):
            owners.setdefault(id(weight), set()).add(id(module))
    tied = [name for name, linear in found.items() if len(owners[id(linear.weight)]) > 1]
    if tied:
        raise ValueError(
            f"add_lora: the weight of {', '.join(tied)} is tied to that of another module, expected maps with a weight "
            "of their own. Leave it out."
        )


def _layers(model: nn.Module) -> Iterator[str]:
    """The beginnings of the names of what stands in a ``ModuleList``, the blocks."""
    return (f"{name}." for name, module in model.named_modules() if isinstance(module, nn.ModuleList))
