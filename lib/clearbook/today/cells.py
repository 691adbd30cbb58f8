"""What stands in the cells of a table *Today*: the facts that each column shows, and how they are put into words."""

import calendar
from collections.abc import Callable
from dataclasses import dataclass

from clearbook.today.rows import Model
from clearbook.today.schema import LAYERS

LACKING = (
    *("tied", "stretched", "squeezed", "rotated", "nope_layers", "window", "rope_base_window", "selected", "attention"),
    *("sinks", "gated_attention", "softcap", "linear", "mix", "experts", "feed_forward", "norm_place"),
    *("qk_norm_whole", "embedding_scaled", "kv_heads_full", "keys_are_values", "streams", "weighted_sum"),
    *("biases", "score_scale", "gate_limits", "logit_cap", "other_parts"),
)
SHARES = {1 / 2: "half", 1 / 3: "a third", 1 / 4: "a quarter", 1 / 8: "an eighth"}


@dataclass(frozen=True)
class Column:
    """A column: its heading, the facts that it shows, and the words for a model that has any of them.

    ``parts`` are those of its words that PARTS explains.
    """

    heading: str
    facts: tuple[str, ...]
    words: Callable[[Model], str]
    parts: Callable[[Model], list[str]] = lambda model: []

    def words_or_none(self, model: Model) -> str | None:
        """The words for a model, or None where none of the facts is known."""
        known = not self.facts or any(name in model.facts for name in self.facts)
        return (self.words(model) or None) if known else None


def date_in_words(stated: str) -> str:
    """A day as 5 April 2025, a month as April 2025, a year as it is."""
    year, *rest = stated.split("-")
    month = [calendar.month_name[int(rest[0])]] if rest else []
    return " ".join([*(str(int(day)) for day in rest[1:]), *month, year])


def count_in_words(n: int) -> str:
    """A length in tokens: 4,096 as it is, 131,072 as 128 K, 1,048,576 as 1 M, 10,000,000 as 10 M."""
    for size, unit in ((2**20, "M"), (10**6, "M"), (2**10, "K")):
        if n >= 16 * 2**10 and n % size == 0:
            return f"{n // size} {unit}"
    return f"{n:,}"


def _date(model: Model) -> str:
    return date_in_words(model.need("released")[0])


def _parameters(model: Model) -> str:
    active = model.get("active")
    return f"{model.get('parameters')}" + (f", {active} at work" if active else "")


def _shape(model: Model) -> str:
    layers, encoder = model.get("layers"), model.get("encoder_layers")
    told = [f"{encoder} + {layers} layers" if encoder else layers and f"{layers} layers"]
    told += [(width := model.get("d_model")) and f"width {width:,}"]
    return ", ".join(filter(None, told))


def _heads(model: Model) -> str:
    kind, heads, keys = (model.get(name) for name in ("attention", "heads", "kv_heads"))
    told = f"{kind}, {heads} heads" if kind and heads else kind or f"{heads} heads"
    if kind == "grouped" and keys:
        told += f" on {keys}" + (
            f" ({model.get('kv_heads_full')} without a window)" if model.get("kv_heads_full") else ""
        )
    if kind == "latent" and (latent := model.get("latent")):
        told += f", {latent['key_value']} + {latent['rotated']} numbers cached"
    return told + (", keys are the values" if model.get("keys_are_values") and kind != "grouped" else "")


def _mix(model: Model) -> str:
    """How many layers do what: 50 with a window of 1,024, 10 full."""
    mix = model.get("mix")
    if mix is None:
        return ""
    known = {name: model.get(name) for name in ("window", "selected", "pooled", "linear")}
    told = {LAYERS[kind].format(**known): count for kind, count in mix.items()}
    if len(mix) == 1:
        return f"every layer {next(iter(told))}"
    between = ", " if sum(mix.values()) == model.get("layers") else " for each "
    return between.join(f"{count} {what}" for what, count in told.items())


def _extras(model: Model) -> str:
    names = {"qk_norm": "QK-norm", "sinks": "sinks", "gated_attention": "output gate", "softcap": "capped scores"}
    return ", ".join(word for fact, word in names.items() if model.get(fact))


def _positions(model: Model) -> str:
    told, base, layers = [model.get("positions") or ""], model.get("rope_base"), model.get("layers")
    if base:
        windows = model.get("rope_base_window")
        told.append(f"base {base:,}" + (f" ({windows:,} in windows)" if windows else ""))
    if times := model.get("stretched"):
        told.append(f"slowed up to {times:,} times")
    if times := model.get("squeezed"):
        told.append(f"all slowed {times:,} times")
    share, latent = model.get("rotated"), model.get("latent")
    if latent and told[0] != "none":
        share = latent["rotated"] / (latent["rotated"] + latent["unrotated"])
    if share and share != 1:
        told.append(
            f"{SHARES.get(share, f'{share:.0%}')} of each head turned"
            + (" (all of it in windows)" if model.get("rotated_window") else "")
        )
    if without := model.get("nope_layers"):
        told.append(f"none in {without} of {layers} layers")
    return ", ".join(filter(None, told))


def _norm(model: Model) -> str:
    norm, place = model.get("norm"), model.get("norm_place")
    return " ".join(filter(None, [norm, place and f"{place} each sublayer"]))


def _feed_forward(model: Model) -> str:
    kind, experts, width = (model.get(name) for name in ("feed_forward", "experts", "d_ff"))
    told = [kind]
    if experts:
        shared = f" + {experts['shared']} for all" if experts["shared"] else ""
        told.append(f"{experts['active']} of {experts['routed']} experts{shared}, {experts['d_ff']:,} units each")
        if wider := experts.get("shared_d_ff"):
            told[-1] += f" ({wider:,} in that for all)"
    elif width:
        told.append(f"{width:,} units")
    return ", ".join(filter(None, told))


def lacking(model: Model) -> list[str]:
    """What chapter 12's file of the reader, decoder_2026.py, does not have, as far as the facts tell: keys of PARTS."""
    mix, kind, place = model.get("mix") or {}, model.get("feed_forward"), model.get("norm_place")
    lacks = {
        "a head of its own": model.get("tied") is False,
        "biases": model.get("biases"),
        "embeddings times √D": model.get("embedding_scaled"),
        "a QK-norm over all heads at once": model.get("qk_norm_whole"),
        "slower angles": model.get("stretched") or model.get("squeezed"),
        "heads turned in part": (model.get("rotated") or 1) != 1,
        "layers without positions": model.get("nope_layers"),
        "windows": model.get("window"),
        "two rotary bases": model.get("rope_base_window"),
        "attention to selected tokens": model.get("selected"),
        "latent attention": model.get("attention") == "latent",
        "other heads in some layers": model.get("kv_heads_full"),
        "keys that serve as values": model.get("keys_are_values"),
        "sinks": model.get("sinks"),
        "another scale of the scores": model.get("score_scale"),
        "a gate on what attention gives": model.get("gated_attention"),
        "capped scores": model.get("softcap"),
        "layers that are not attention": model.get("linear") or {"linear", "state"} & {*mix},
        "experts": model.get("experts"),
        "limits on the gate": model.get("gate_limits"),
        "mixed streams": model.get("streams"),
        "a weighted residual sum": model.get("weighted_sum"),
        f"{kind}": kind and kind != "SwiGLU",
        f"norms {place} each sublayer": place and place != "before",
        "capped logits": model.get("logit_cap"),
    }
    return [name for name, lacks_it in lacks.items() if lacks_it] + (model.get("other_parts") or [])


def _cache(model: Model) -> str:
    """Keys and values in 16 bits: what each further token adds, and what the windows of a long text hold in all."""
    if model.get("pooled"):
        return _pooled_cache(model)
    mix, latent, heads = model.get("mix"), model.get("latent"), model.get("kv_heads")
    shared = model.get("keys_are_values") or model.get("kv_heads_full")
    if not mix or sum(mix.values()) != model.get("layers") or shared or not (latent or heads):
        return ""  # not known, or of a kind that is not counted here
    if latent:
        numbers = latent["key_value"] + latent["rotated"]
    else:
        numbers = 2 * heads * (model.get("d_head") or model.get("d_model") // model.get("heads"))
    growing = numbers * sum(mix.get(kind, 0) for kind in ("full", "selected"))
    growing += (model.get("indexer") or 0) * mix.get("selected", 0)
    if latent and (borrowed := model.get("borrowed_layers")):  # layers without positions
        growing -= latent["rotated"] * (model.get("nope_layers") or 0) + latent["key_value"] * borrowed
    fixed = numbers * sum(mix.get(kind, 0) for kind in ("window", "chunk")) * (model.get("window") or 0)
    uncounted = ", without an indexer's keys" if mix.get("selected") and not model.get("indexer") else ""
    return _held(growing, fixed) + uncounted


def _pooled_cache(model: Model) -> str:
    """Keys that serve as values, each of several tokens; the last tokens of every layer are kept one by one."""
    mix, pooled, layers, width, window, indexer = model.need("mix", "pooled", "layers", "d_head", "window", "indexer")
    growing = width * sum(mix[kind] / tokens for kind, tokens in pooled.items())
    growing += indexer * mix["chosen"] / pooled["chosen"]
    return _held(growing, layers * width * window)


def _held(growing: int | float, fixed: int | float) -> str:
    """What so many numbers in 16 bits take, those of each token and those of the windows."""
    told = f"{_amount(2 * growing / 2**10)} KiB a token"
    return told + (f", {_amount(2 * fixed / 2**20)} MiB in windows" if fixed else "")


def _amount(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number == round(number) else f"{number:.1f}"


def _residual(model: Model) -> str:
    streams, weighted = model.get("streams"), model.get("weighted_sum")
    return ", ".join(filter(None, [streams and f"{streams} mixed streams", weighted and "a weighted sum"]))


def _tokenizer(model: Model) -> str:
    digits = {None: "", 1: ", digits one by one"}
    count = model.get("digits")
    return (model.get("tokenizer") or "") + digits.get(count, f", up to {count} digits a token")


def _vocabulary(model: Model) -> str:
    size, tied = model.get("vocabulary"), model.get("tied")
    head = {None: "", True: ", shared with the head", False: ", a head of its own"}[tied]
    return f"{size:,}{head}" if size else ""


def _vector(model: Model) -> str:
    size, pooling = model.get("vector"), model.get("pooling")
    told = [size and f"{size:,} numbers", pooling, model.get("shortened") and "may be cut short"]
    return ", ".join(filter(None, told))


def _optimiser(model: Model) -> str:
    return "; ".join(filter(None, [model.get("optimiser"), model.get("schedule")]))


def _read(model: Model) -> str:
    """How many tokens were read in all, and in a step: 11.2 T, 2.4 M a step."""
    step = model.get("batch_tokens")
    return ", ".join(filter(None, [model.get("tokens_read"), step and f"{step / 10**6:.1f} M a step"]))


def _cost(model: Model) -> str:
    """What pretraining took, and what came of it."""
    cost, core, bits = (model.get(name) for name in ("cost", "core", "bits_per_byte"))
    told = [core and f"CORE {core}", bits and f"{bits} bits a byte"]
    return "; ".join(filter(None, [cost, ", ".join(filter(None, told))]))


def _patches(model: Model) -> str:
    side, registers = model.get("patch"), model.get("registers")
    return ", ".join(filter(None, [side and f"{side} × {side} pixels", registers and f"{registers} registers"]))


COLUMNS = {
    "released": Column("released", ("released",), _date),
    "parameters": Column("parameters", ("parameters", "active"), _parameters),
    "shape": Column("shape", ("layers", "encoder_layers", "d_model"), _shape),
    "context": Column("context", ("context",), lambda model: count_in_words(model.get("context"))),
    "heads": Column("attention", ("attention", "heads", "kv_heads", "kv_heads_full", "latent"), _heads),
    "mix": Column("layers", ("mix", "window", "selected", "pooled", "linear"), _mix),
    "extras": Column("also", ("qk_norm", "sinks", "gated_attention", "softcap"), _extras),
    "positions": Column(
        "positions",
        (
            "positions",
            "rope_base",
            "rope_base_window",
            "stretched",
            "squeezed",
            "rotated",
            "rotated_window",
            "latent",
            "nope_layers",
        ),
        _positions,
    ),
    "norm": Column("norm", ("norm", "norm_place"), _norm),
    "qk_norm": Column("QK-norm", ("qk_norm",), lambda model: "yes" if model.get("qk_norm") else ""),
    "missing": Column("your file lacks", LACKING, lambda model: ", ".join(lacking(model)), lacking),
    "cache": Column(
        "cache in 16 bits",
        (
            *("layers", "mix", "window", "kv_heads", "d_head", "heads", "d_model", "latent"),
            *("indexer", "pooled", "nope_layers", "borrowed_layers"),
        ),
        _cache,
    ),
    "residual": Column("residual", ("streams", "weighted_sum"), _residual),
    "feed_forward": Column("feed-forward", ("feed_forward", "experts", "d_ff"), _feed_forward),
    "tokenizer": Column("tokeniser", ("tokenizer", "digits"), _tokenizer),
    "vocabulary": Column("vocabulary", ("vocabulary", "tied"), _vocabulary),
    "cross_attention": Column(
        "cross-attention", ("cross_attention",), lambda model: model.get("cross_attention") or ""
    ),
    "patches": Column("patches", ("patch", "registers"), _patches),
    "vector": Column("vector of a text", ("vector", "pooling", "shortened"), _vector),
    "prefix": Column("words in front", ("prefix",), lambda model: model.get("prefix") or ""),
    "read": Column("tokens read", ("tokens_read", "batch_tokens"), _read),
    "optimiser": Column("optimiser; rate", ("optimiser", "schedule"), _optimiser),
    "data": Column("text", ("data",), lambda model: model.get("data")),
    "cost": Column("cost; measured", ("cost", "core", "bits_per_byte"), _cost),
    "precision": Column("products in", ("precision",), lambda model: model.get("precision")),
    "post_training": Column("after pretraining", ("post_training",), lambda model: model.get("post_training") or ""),
    "rewards": Column("rewards from", ("rewards",), lambda model: model.get("rewards") or ""),
    "examples": Column("examples", ("examples",), lambda model: model.get("examples") or ""),
    "pairs": Column("pairs", ("pairs",), lambda model: model.get("pairs") or ""),
    "merged": Column("weights averaged", ("merged",), lambda model: model.get("merged") or ""),
    "kind": Column("kind", (), lambda model: model.kind),
}
