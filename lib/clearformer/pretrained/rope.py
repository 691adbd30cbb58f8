"""Rotary positions in their configurations: a base, the share of features that turn, and one of several scalings."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from clearformer.checks import shorten
from clearformer.positions import Rotary
from clearformer.pretrained.tables import OTHERS, ROTARY_BASE
from clearformer.pretrained.together import read_flag, read_list, read_number, read_whole
from clearformer.rope_scaling import LinearScaling, Llama3Scaling, LongRotary, YarnScaling

HERE = "the rotary positions in config.json"


def flatten_rope(options: dict) -> dict:
    """With what is said of rotary positions in one object, ``rope``: its place there has changed."""
    said = options.get("rope_parameters") or options.get("rope_scaling") or {}
    if not isinstance(said, dict):
        raise ValueError(f"from_pretrained: {shorten(said)} in config.json for rotary positions, expected an object.")
    return options | {"rope": said}


def read_rope(options: dict, said: dict | None = None, base: float = ROTARY_BASE) -> Callable:
    """``Rotary`` with its options. Raises: ValueError for a kind that is not known, or numbers that are missing."""
    said = options["rope"] if said is None else said
    kind = said.get("rope_type", said.get("type", "default"))
    readers = {"default": _plain, "linear": _linear, "llama3": _llama3, "yarn": _yarn, "longrope": _longrope}
    if not isinstance(kind, str) or kind not in readers:
        known = ", ".join(readers)
        raise ValueError(f"from_pretrained: rope_type={shorten(kind)} is not supported, only {known}. {OTHERS}")
    given: dict[str, Any] = {"base": float(read_number(said, "rope_theta", read_number(options, "rope_theta", base)))}
    share = float(read_number(said, "partial_rotary_factor", read_number(options, "partial_rotary_factor", 1.0)))
    given |= {} if share == 1.0 else {"share": share}
    return readers[kind](given, said, options)


def write_rope(rope: Any) -> dict:
    """Their options for ``Rotary`` and ``LongRotary``, and nothing for anything else."""
    function, given = (rope.func, rope.keywords) if isinstance(rope, partial) else (rope, {})
    if function not in (Rotary, LongRotary):
        return {}
    options = {"rope_theta": given.get("base", ROTARY_BASE), "rope_scaling": None}
    if "share" in given:
        options["partial_rotary_factor"] = given["share"]
    if function is LongRotary:
        options["original_max_position_embeddings"] = given["n_trained"]
        options["rope_scaling"] = _longrope_options(given)
    elif given.get("scaling") is not None:
        scaling = given["scaling"]
        options["rope_scaling"] = WRITERS.get(type(scaling), lambda _: None)(scaling)
    return options


def _plain(given: dict, said: dict, options: dict) -> Callable:
    return partial(Rotary, **given)


def _linear(given: dict, said: dict, options: dict) -> Callable:
    return partial(Rotary, **given, scaling=LinearScaling(float(read_number(said, "factor", among=HERE))))


def _llama3(given: dict, said: dict, options: dict) -> Callable:
    names = ("factor", "low_freq_factor", "high_freq_factor")
    factor, low, high = (float(read_number(said, name, among=HERE)) for name in names)
    return partial(Rotary, **given, scaling=Llama3Scaling(factor, low, high, _n_trained(said, options)))


def _yarn(given: dict, said: dict, options: dict) -> Callable:
    n_trained = _n_trained(said, options)
    factor = float(read_number(said, "factor", read_whole(options, "max_position_embeddings") / n_trained, among=HERE))
    amplitude = said.get("attention_factor")
    if amplitude is not None:
        amplitude = float(read_number(said, "attention_factor", among=HERE))
    elif said.get("mscale") and said.get("mscale_all_dim"):
        parts = [read_number(said, name, among=HERE) for name in ("mscale", "mscale_all_dim")]
        above, below = (0.1 * part * math.log(factor) + 1.0 if factor > 1 else 1.0 for part in parts)
        amplitude = above / below if below else 0.0
    fast, slow = (
        float(read_number(said, name, default) or default) for name, default in (("beta_fast", 32), ("beta_slow", 1))
    )
    scaling = YarnScaling(factor, n_trained, fast, slow, amplitude, read_flag(said, "truncate", True))
    return partial(Rotary, **given, scaling=scaling)


def _longrope(given: dict, said: dict, options: dict) -> Callable:
    n_trained = _n_trained(said, options)
    short, long = (tuple(_factors(said, name)) for name in ("short_factor", "long_factor"))
    factor = float(read_number(said, "factor", read_whole(options, "max_position_embeddings") / n_trained, among=HERE))
    amplitude = math.sqrt(1 + math.log(factor) / math.log(n_trained)) if factor > 1 and n_trained > 1 else 1.0
    amplitude = float(read_number(said, "attention_factor", amplitude, among=HERE))
    return partial(LongRotary, **given, short=short, long=long, n_trained=n_trained, amplitude=amplitude)


def _factors(said: dict, name: str) -> list[float]:
    value = said.get(name)
    factors = read_list(said, name, len(value) if isinstance(value, list | tuple) else 1, among=HERE)
    return [float(read_number({name: factor}, name, among=HERE)) for factor in factors]


def _n_trained(said: dict, options: dict) -> int:
    """How many tokens the model was trained on before its rotary positions were scaled."""
    name = "original_max_position_embeddings"
    if options.get(name) is not None:
        return read_whole(options, name)
    return read_whole(said, name, read_whole(options, "max_position_embeddings"), among=HERE)


def _longrope_options(given: dict) -> dict:
    options = {"rope_type": "longrope", "original_max_position_embeddings": given["n_trained"]}
    options |= {"short_factor": list(given["short"]), "long_factor": list(given["long"])}
    return options | {"attention_factor": given.get("amplitude", 1.0)}


WRITERS: dict[type, Callable[[Any], dict | None]] = {
    LinearScaling: lambda s: {"rope_type": "linear", "factor": s.factor},
    Llama3Scaling: lambda s: {
        "rope_type": "llama3",
        "factor": s.factor,
        "low_freq_factor": s.low,
        "high_freq_factor": s.high,
        "original_max_position_embeddings": s.n_trained,
    },
    YarnScaling: lambda s: (
        {
            "rope_type": "yarn",
            "factor": s.factor,
            "original_max_position_embeddings": s.n_trained,
            "beta_fast": s.fast,
            "beta_slow": s.slow,
            "truncate": s.whole,
        }
        | ({} if s.amplitude is None else {"attention_factor": s.amplitude})
    ),
}
