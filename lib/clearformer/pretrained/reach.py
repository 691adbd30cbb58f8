"""Which layers look back over a window and which turn their queries and keys: lists and rules of theirs, and ours."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from clearformer.models.options import Layer, LayerOptions, each_layer
from clearformer.pretrained.rope import read_rope, write_rope
from clearformer.pretrained.together import Together, read_flag, read_list, read_number, read_whole

SLIDING, FULL = "sliding_attention", "full_attention"
FIELDS = ("rope", "window", "layers")


def reaches(read: Callable[[dict], list[Layer]], write: Callable[[list[Layer]], dict]) -> Together:
    """Windows and rotary positions by a function that reads them for every layer, and one that writes them."""
    return Together(FIELDS, lambda options: as_fields(read(options)), lambda c: write(each_layer(c)))


def as_fields(layers: list[Layer]) -> dict:
    """The commonest layer with rotary positions as the default, the layers with another as exceptions.

    Raises: ValueError if no layer has rotary positions.
    """
    turned = Counter(layer for layer in layers if layer.rope is not None)
    if not turned:
        raise ValueError("from_pretrained: no layer has rotary positions, which is not supported: one at least must.")
    default = turned.most_common(1)[0][0]._replace(feed_forward=None)
    others = [layer for layer in dict.fromkeys(layers) if layer != default]
    exceptions = [LayerOptions(tuple(i for i, own in enumerate(layers) if own == layer), *layer) for layer in others]
    return {"rope": default.rope, "window": default.window, "layers": tuple(exceptions)}


def _everywhere(options: dict) -> list[Layer]:
    return [Layer(None, read_rope(options))] * read_whole(options, "num_hidden_layers")


def _a_window_everywhere(options: dict) -> list[Layer]:
    window = None if options.get("sliding_window") is None else read_whole(options, "sliding_window")
    return [Layer(window, read_rope(options))] * read_whole(options, "num_hidden_layers")


def _upper_windows(options: dict) -> list[Layer]:
    """Qwen's: switched on by an option, then as ``layer_types`` says, or from layer ``max_window_layers`` on."""
    n_layers, rope = read_whole(options, "num_hidden_layers"), read_rope(options)
    if not read_flag(options, "use_sliding_window", False) or options.get("sliding_window", 4096) is None:
        return [Layer(None, rope)] * n_layers
    first = read_number(options, "max_window_layers", 28)
    kinds = layer_types(options, lambda layer: layer >= first)
    window = read_whole(options, "sliding_window", 4096)
    return [Layer(window if kind == SLIDING else None, rope) for kind in kinds]


def _some_unturned(options: dict) -> list[Layer]:
    """SmolLM3's: every fourth layer has no positions; where windows are switched on, these layers have them."""
    n_layers, rope = read_whole(options, "num_hidden_layers"), read_rope(options)
    every = read_whole(options, "no_rope_layer_interval", 4)
    if options.get("no_rope_layers") is None:
        turned = [(layer + 1) % every != 0 for layer in range(n_layers)]
    else:
        turned = [
            bool(read_number({"no_rope_layers": n}, "no_rope_layers"))
            for n in read_list(options, "no_rope_layers", n_layers)
        ]
    windows = read_flag(options, "use_sliding_window", False) and options.get("sliding_window") is not None
    window = read_whole(options, "sliding_window") if windows else None
    kinds = layer_types(options, lambda layer: windows and not turned[layer])
    return [
        Layer(window if kind == SLIDING else None, rope if turns else None)
        for kind, turns in zip(kinds, turned, strict=True)
    ]


def layer_types(options: dict, slides: Callable[[int], bool]) -> list[str]:
    """Their kind of every layer, by a list or else by a rule. Raises: ValueError for another kind."""
    n_layers = read_whole(options, "num_hidden_layers")
    if options.get("layer_types") is None:
        return [SLIDING if slides(layer) else FULL for layer in range(n_layers)]
    kinds = read_list(options, "layer_types", n_layers)
    if wrong := [kind for kind in kinds if kind not in (SLIDING, FULL)]:
        raise ValueError(f"from_pretrained: layer_types with {wrong[0]!r} is not supported, only {SLIDING} and {FULL}.")
    return kinds


def every_second_window(default: int) -> Callable[[dict], list[Layer]]:
    """Layers 0, 2, 4, ... look back over a window, of ``default`` tokens unless said; a list may name other layers."""

    def read(options: dict) -> list[Layer]:
        rope, window = read_rope(options), read_whole(options, "sliding_window", default)
        kinds = layer_types(options, lambda layer: layer % 2 == 0)
        return [Layer(window if kind == SLIDING else None, rope) for kind in kinds]

    return read


def written_types(layers: list[Layer]) -> dict:
    """``layer_types`` and the one window that there is."""
    windows = [layer.window for layer in layers if layer.window is not None]
    kinds = [FULL if layer.window is None else SLIDING for layer in layers]
    return {"layer_types": kinds, "sliding_window": windows[0] if windows else None}


def written_rope(layers: list[Layer]) -> dict:
    """The rotary positions of the first layer that has some."""
    return write_rope(next((layer.rope for layer in layers if layer.rope is not None), None))


def rope_of_kind(options: dict, kind: str, base: str, default: float) -> Any:
    """Each kind of layer has an object of its own; older files have two bases, and scale the layers that see all."""
    said = options["rope"]
    if FULL in said or SLIDING in said:
        said = said.get(kind) or {}
        if not isinstance(said, dict):
            raise ValueError(f"from_pretrained: rotary positions of {kind} in config.json, expected an object.")
    elif kind == SLIDING:
        said = {}
    return read_rope(options | {"rope_theta": options.get(base)}, said, default)


def written_ropes_of_kinds(layers: list[Layer], full: str, local: str) -> dict:
    """The rotary positions of layers that see all, and the base of those with a window, under these names."""
    seeing_all = next((layer.rope for layer in layers if layer.window is None), None)
    near = next((layer.rope for layer in layers if layer.window is not None), None)
    said = {} if seeing_all is None else write_rope(seeing_all)
    options = {full: said.pop("rope_theta")} | said if "rope_theta" in said else said
    return options | ({} if near is None else {local: write_rope(near).get("rope_theta")})


def _write_upper_windows(layers: list[Layer]) -> dict:
    options = written_types(layers)
    first = next((i for i, layer in enumerate(layers) if layer.window is not None), len(layers))
    used = options["sliding_window"] is not None
    return options | {"use_sliding_window": used, "max_window_layers": first} | written_rope(layers)


def _write_some_unturned(layers: list[Layer]) -> dict:
    options = written_types(layers)
    turned = [int(layer.rope is not None) for layer in layers]
    used = options["sliding_window"] is not None
    return options | {"use_sliding_window": used, "no_rope_layers": turned} | written_rope(layers)


ALL_ALIKE = reaches(_everywhere, written_rope)
ONE_WINDOW = reaches(_a_window_everywhere, lambda layers: {"sliding_window": layers[0].window} | written_rope(layers))
UPPER_WINDOWS = reaches(_upper_windows, _write_upper_windows)
SOME_UNTURNED = reaches(_some_unturned, _write_some_unturned)


def positive_or_none(options: dict, name: str) -> float | None:
    """A number above 0 among the options, or None where they have none. Raises: ValueError for another."""
    if options.get(name) is None:
        return None
    value = float(read_number(options, name))
    if value <= 0:
        raise ValueError(f"from_pretrained: {name}={value} in config.json, expected a number above 0.")
    return value
