"""Which facts a model may have, what each of them is, and what is said of a value that cannot be one."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from clearbook.today.parts import PARTS

KINDS = ("decoder", "encoder", "encoder-decoder", "vision")
ATTENTION = ("multi-head", "grouped", "multi-query", "latent")
GATED = ("SwiGLU", "GEGLU")  # with three matrices instead of two
LAYERS = {  # what the layers of a mix do
    "full": "full",
    "window": "with a window of {window:,}",
    "chunk": "in chunks of {window:,}",
    "selected": "on {selected:,} selected tokens",
    "chosen": "with one and {selected:,} chosen keys of {pooled[chosen]} tokens each",
    "pooled": "with one and all keys of {pooled[pooled]} tokens each",
    "linear": "linear ({linear})",
    "state": "state space ({linear})",
    "experts": "experts alone",
}
SCALES = {"M": 10**6, "B": 10**9, "T": 10**12}
STATED = re.compile(r"(\d+)(?:\.(\d+))? ([MBT])")
DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
Check = Callable[[Any], str]  # what was expected, or nothing


def check(name: str, value: Any) -> str:
    """What was expected of this fact, or nothing where the value is one.

    Raises: ValueError for a fact that there is not.
    """
    if name not in FACTS:
        raise ValueError(f"there is no fact {name!r}. Choose one of {', '.join(FACTS)}.")
    return FACTS[name](value)


def read_number(stated: str) -> tuple[float, float]:
    """A number of weights as its source writes it, such as 8.2 B, and half of its last digit.

    Raises: ValueError for what is not written so.
    """
    if not (match := STATED.fullmatch(stated)):
        raise ValueError(f"{stated!r} is no number of weights, expected one such as 135 M, 8.2 B or 1 T.")
    whole, rest, unit = match.groups()
    return float(f"{whole}.{rest or 0}") * SCALES[unit], SCALES[unit] / 10 ** len(rest or "") / 2


def _whole(value: Any) -> str:
    right = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return "" if right else "a whole number from 1 on"


def _one_of(*words: str) -> Check:
    return lambda value: "" if value in words else f"one of {', '.join(words)}"


def _words(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else "a few words"


def _parts(value: Any) -> str:
    right = isinstance(value, list) and value and {*map(str, value)} <= {*PARTS}
    return "" if right else "a list of words that clearbook.today.parts explains"


def _flag(value: Any) -> str:
    return "" if value is True else "true, or nothing at all"


def _either(value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false"


def _share(value: Any) -> str:
    right = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1
    return "" if right else "a share above 0 and up to 1"


def _stated(value: Any) -> str:
    return "" if isinstance(value, str) and STATED.fullmatch(value) else "a number such as 135 M, 8.2 B or 1 T"


def _released(value: Any) -> str:
    expected = "a day, a month or a year, in quotation marks, such as 2025-04-29"
    if not isinstance(value, str) or not DAY.fullmatch(value):
        return expected
    try:
        date.fromisoformat(value + "-01-01"[len(value) - 4 :])
    except ValueError:
        return expected
    return ""


def _counts(needed: tuple[str, ...], allowed: tuple[str, ...], least: int) -> Check:
    """A few whole numbers by name: those that are needed, and none that is not allowed."""
    expected = f"numbers from {least} on for {', '.join(needed) or 'some of ' + ', '.join(allowed)}"

    def told(value: Any) -> str:
        if not isinstance(value, Mapping) or not value or not {*needed} <= {*value} <= {*allowed}:
            return expected
        right = all(isinstance(n, int) and not isinstance(n, bool) and n >= least for n in value.values())
        return "" if right else expected

    return told


EXPERTS = ("routed", "active", "shared", "d_ff", "dense_layers")
LATENT = ("key_value", "unrotated", "rotated", "value")
FACTS: dict[str, Check] = {
    "released": _released,
    "parameters": _stated,
    "active": _stated,
    "weights": _whole,  # one by one, as its files hold them
    "context": _whole,
    "layers": _whole,
    "encoder_layers": _whole,
    "d_model": _whole,
    "heads": _whole,
    "kv_heads": _whole,
    "kv_heads_full": _whole,  # of the layers without a window, where these differ
    "d_head": _whole,
    "d_head_full": _whole,
    "d_ff": _whole,
    "vocabulary": _whole,  # rows of the embedding
    "tied": _either,  # whether the head is the embedding
    "attention": _one_of(*ATTENTION),
    "latent": _counts(LATENT, ("query", *LATENT), 1),  # widths of multi-head latent attention
    "mix": _counts((), tuple(LAYERS), 1),  # how many layers do what, or in which proportion
    "window": _whole,
    "selected": _whole,  # tokens, or keys of several tokens, that an indexer leaves to a query
    "indexer": _whole,  # width of the keys by which it selects, one for each token or pooled key
    "pooled": _counts(("chosen", "pooled"), ("chosen", "pooled"), 2),  # tokens in a key of such layers
    "linear": _words,  # what stands where layers do not attend
    "keys_are_values": _flag,
    "sinks": _flag,
    "softcap": _flag,
    "score_scale": _flag,  # scores that are scaled by another number than the root of the width of a head
    "biases": _flag,  # in the maps of attention, or of the feed-forward layer
    "gated_attention": _flag,
    "cross_attention": _words,
    "positions": _words,
    "rope_base": _whole,
    "rope_base_window": _whole,
    "stretched": _whole,  # how many times slower the slowest angles are made after training, the fastest not at all
    "squeezed": _whole,  # how many times slower all angles are made, those of layers without a window
    "rotated": _share,  # of the width of a head
    "rotated_window": _share,  # in layers with a window, where these differ
    "nope_layers": _whole,
    "borrowed_layers": _whole,  # that read what another layer keeps, and keep nothing themselves
    "norm": _one_of("RMSNorm", "LayerNorm"),
    "norm_place": _one_of("before", "after", "before and after"),
    "qk_norm": _flag,
    "qk_norm_whole": _flag,  # over all heads at once
    "embedding_scaled": _flag,  # by the root of the width
    "logit_cap": _flag,  # scores of words that a tanh keeps small
    "streams": _whole,  # of hyper-connections
    "weighted_sum": _flag,  # learned weights on the stream and on what a sublayer adds
    "feed_forward": _one_of(*GATED, "GELU", "ReLU²"),
    "gate_limits": _flag,  # whether gate and values are cut off on the way
    # shared_d_ff: units of the experts for all, where they differ; width: where experts read less than the stream
    "experts": _counts(EXPERTS, (*EXPERTS, "shared_d_ff", "width"), 0),
    "other_parts": _parts,  # what else its code has and chapter 12's decoder has not
    "tokenizer": _words,
    "digits": _whole,  # how many may share a token
    "patch": _whole,
    "registers": _whole,
    "vector": _whole,  # entries of the vector of a text
    "pooling": _words,  # how it is made of the outputs for the tokens
    "shortened": _flag,  # whether its beginning serves as a shorter vector
    "prefix": _words,  # the texts before which words of their own are put
    "tokens_read": _stated,  # in all of pretraining
    "batch_tokens": _whole,  # of one step
    "optimiser": _words,
    "schedule": _words,  # what the rate does after its warm-up
    "data": _words,
    "cost": _words,  # of pretraining, in time or money
    "precision": _words,  # the numbers in most products of pretraining
    "core": _share,  # the mean of 22 tasks, 0 for guessing
    "bits_per_byte": _share,  # of held-out text of its own data
    "post_training": _words,  # the steps after pretraining, in order
    "rewards": _words,  # what gives them
    "examples": _words,  # of supervised fine-tuning, how many
    "pairs": _words,  # of answers that were compared, how many
    "merged": _words,  # which weights were averaged
}
