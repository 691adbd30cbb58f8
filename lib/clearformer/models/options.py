"""What some layers of a model have otherwise than the rest: data, from which the parts of each layer are built."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from torch import nn

from clearformer.checks import check_callable, check_items, check_whole


@dataclass(frozen=True)
class LayerOptions:
    """The window and the rotary positions of ``layers``, in place of those that a configuration has for all.

    ``window=None`` lets these layers see everything, ``rope=None`` leaves their queries and keys unturned::

        GPTConfig(..., rope=Rotary, window=512, layers=(LayerOptions((5, 11), rope=partial(Rotary, base=1e6)),))

    ``feed_forward`` is another network for them, as one without experts; unless given they have that of all.

    Raises: TypeError or ValueError for a layer below 0, a window below 1, or parts that cannot be called.
    """

    layers: tuple[int, ...]
    window: int | None = None
    rope: Callable[[int, int], nn.Module] | None = None
    feed_forward: Callable[..., nn.Module] | None = None

    def __post_init__(self):
        numbers = check_items("LayerOptions", "layers", self.layers, "the numbers of layers, from 0 on")
        object.__setattr__(self, "layers", tuple(check_whole("LayerOptions", "layers", n, 0) for n in numbers))
        if self.window is not None:
            object.__setattr__(self, "window", check_whole("LayerOptions", "window", self.window))
        if self.rope is not None:
            check_callable("LayerOptions", "rope", self.rope, "positions.Rotary, or a partial of it")
        if self.feed_forward is not None:
            check_callable("LayerOptions", "feed_forward", self.feed_forward, "layers.GatedFeedForward")


class Layer(NamedTuple):
    """How far back a layer looks, how it turns queries and keys, and what builds its network: None for that of all."""

    window: int | None
    rope: Callable[[int, int], nn.Module] | None
    feed_forward: Callable[..., nn.Module] | None = None


def each_layer(config: Any) -> list[Layer]:
    """Window, rotary positions and network of every layer of a model, exceptions made."""
    layers = [Layer(config.window, config.rope)] * config.n_layers
    for exception in config.layers:
        for layer in exception.layers:
            layers[layer] = Layer(exception.window, exception.rope, exception.feed_forward)
    return layers


def parts_by_layer(config: Any, attention: Callable[..., nn.Module]) -> list[dict]:
    """For each block what builds its own parts. Layers with the same rotary positions share one table of them.

    What the configuration leaves at its default is not passed on: an ``attention`` of your own need not know it.
    """
    qk_norm = None if config.qk_norm is None else partial(config.qk_norm, eps=config.eps)
    heads = {"n_kv_heads": config.n_kv_heads, "d_head": config.d_head, "qk_norm": qk_norm}
    heads |= {"joint_norm": True} if config.joint_norm else {}
    heads |= {} if config.attend is None else {"attend": config.attend}
    tables: dict[int, nn.Module | None] = {id(None): None}
    built = []
    for window, rope, feed_forward in each_layer(config):
        if rope is not None and id(rope) not in tables:
            tables[id(rope)] = rope(config.d_head, config.n_positions)
        own = {"rope": tables[id(rope)]} | ({} if window is None else {"window": window})
        parts = {"attention": partial(attention, **heads, **own)}
        if feed_forward is not None:
            parts["feed_forward"] = partial(feed_forward, activation=config.activation)
        built.append(parts)
    return built


def check_layers(caller: str, exceptions: Any, n_layers: int) -> tuple[LayerOptions, ...]:
    """``exceptions`` as a tuple.

    Raises: TypeError for what is no LayerOptions; ValueError for a layer that is not there or stands twice.
    """
    listed = check_items(caller, "layers", exceptions, "LayerOptions, one for each kind of layer")
    seen: set[int] = set()
    for exception in listed:
        if not isinstance(exception, LayerOptions):
            kind = type(exception).__name__
            raise TypeError(f"{caller}: layers holds a {kind}, expected models.options.LayerOptions.")
        for layer in exception.layers:
            if layer >= n_layers or layer in seen:
                what = "stands twice" if layer in seen else f"is none of {n_layers}"
                raise ValueError(
                    f"{caller}: layer {layer} in layers {what}, expected each of 0 to {n_layers - 1} once."
                )
            seen.add(layer)
    return tuple(listed)
