"""T5, T5 1.1 (as Flan-T5), mT5 and UMT5: nothing is added to the words; unscaled scores are told distances."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.attention import attend_fused
from clearformer.block_variants import ScaledHead
from clearformer.checks import shorten
from clearformer.distances import DistanceBuckets
from clearformer.layers import FeedForward, GatedFeedForward, RMSNorm, gelu_tanh
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.pretrained.marian import PLAIN
from clearformer.pretrained.tables import ACTIVATIONS, PAIRED, STACKED, Architecture, Row, without_fields
from clearformer.pretrained.together import Together, read_flag, read_whole

FOLLOWED = ("feed_forward", "distances", "head", "d_head", "tied")  # of what only some have, what these have
NO_BIAS = partial(nn.Linear, bias=False)
GATED, NO_GATE = "gated-", partial(FeedForward, bias=False)
NETWORKS = {GATED + "gelu": (GatedFeedForward, gelu_tanh)}  # not the exact GELU, whatever the name says
NETWORKS |= {GATED + name: (GatedFeedForward, function) for name, function in ACTIVATIONS.items() if name != "gelu"}
NETWORKS |= {name: (NO_GATE, function) for name, function in ACTIVATIONS.items()}


def _layers(gated: bool, field: str) -> Callable[[Any], range]:
    """All layers of a model whose networks are of this kind; none of another's."""
    return lambda config: range(getattr(config, field) if (config.feed_forward is GatedFeedForward) == gated else 0)


def _block(ours: str, theirs: str, network: int, field: str) -> tuple[Row, ...]:
    return (
        Row(f"{ours}.attention_norm.weight", f"{theirs}.layer.0.layer_norm.weight"),
        Row(f"{ours}.attention.qkv.weight", f"{theirs}.layer.0.SelfAttention.(q|k|v).weight", STACKED),
        Row(f"{ours}.attention.out.weight", f"{theirs}.layer.0.SelfAttention.o.weight"),
        Row(f"{ours}.feed_forward_norm.weight", f"{theirs}.layer.{network}.layer_norm.weight"),
        Row(
            f"{ours}.feed_forward.up.weight",
            f"{theirs}.layer.{network}.DenseReluDense.wi.weight",
            only=_layers(False, field),
        ),
        Row(
            f"{ours}.feed_forward.gate_up.weight",
            f"{theirs}.layer.{network}.DenseReluDense.(wi_0|wi_1).weight",
            PAIRED,
            _layers(True, field),
        ),
        Row(f"{ours}.feed_forward.down.weight", f"{theirs}.layer.{network}.DenseReluDense.wo.weight"),
    )


def _distances(stack: str, layer: str = "0") -> Row:
    """The table of a layer; the first holds that of all layers, if they share one."""
    theirs = f"{stack}.block.{layer}.layer.0.SelfAttention.relative_attention_bias.weight"
    return Row(f"{stack}.blocks.{layer}.attention.relative.weight", theirs)


def _read_network(options: dict) -> dict:
    """The activation, ``gated-`` before it where the networks have gates."""
    said = options.get("feed_forward_proj") or "relu"
    if not isinstance(said, str) or said not in NETWORKS:
        known = ", ".join(NETWORKS)
        raise ValueError(f"from_pretrained: feed_forward_proj={shorten(said)} is not supported, only {known}.")
    feed_forward, activation = NETWORKS[said]
    return {"feed_forward": feed_forward, "activation": activation}


def _write_network(config: Any) -> dict:
    gated = config.feed_forward is GatedFeedForward
    same = (
        name
        for name, (_, function) in NETWORKS.items()
        if function == config.activation and name.startswith(GATED) == gated
    )
    return {"feed_forward_proj": next(same, None)}


def _read_distances(options: dict) -> dict:
    n_buckets = read_whole(options, "relative_attention_num_buckets", 32)
    return {
        "distances": partial(
            DistanceBuckets,
            n_buckets=n_buckets,
            max_distance=read_whole(options, "relative_attention_max_distance", 128),
        )
    }


def _write_distances(config: Any) -> dict:
    said = getattr(config.distances, "keywords", {})
    options = {"n_buckets": "relative_attention_num_buckets", "max_distance": "relative_attention_max_distance"}
    return {theirs: said[ours] for ours, theirs in options.items() if ours in said}


def _read_head(options: dict) -> dict:
    """T5's head scales what it reads, that of T5 1.1 does not, and says so by being no embedding or by an option."""
    scaled = read_flag(options, "scale_decoder_outputs", read_flag(options, "tie_word_embeddings", True))
    return {"head": partial(ScaledHead, scale=read_whole(options, "d_model") ** -0.5) if scaled else NO_BIAS}


def _write_head(config: Any) -> dict:
    return {"scale_decoder_outputs": config.head is not NO_BIAS}


def _own_head(options: dict, theirs: dict[str, Tensor]) -> dict:
    """A head that differs from the embedding is its own: files that were saved again say that it is tied."""
    head, tokens = (theirs.get(name) for name in ("lm_head.weight", "shared.weight"))
    if head is None or tokens is None or torch.equal(head, tokens):
        return options
    scaled = options.get("scale_decoder_outputs", options.get("tie_word_embeddings", True))
    return options | {"tie_word_embeddings": False, "scale_decoder_outputs": scaled}


_SHARED_DISTANCES = (_distances("encoder"), _distances("decoder"))
_CROSS, _THEIR_CROSS = "decoder.blocks.{j}.cross", "decoder.block.{j}.layer.1"
T5 = Architecture(  # Raffel et al. 2020, section 2.1; gates and a head of its own as in the published T5 1.1
    model_type="t5",
    class_name="T5ForConditionalGeneration",
    bare="T5Model",
    prefix="",
    model=Seq2Seq,
    config=Seq2SeqConfig,
    rows=(
        Row("tokens.weight", "shared.weight"),
        *_block("encoder.blocks.{i}", "encoder.block.{i}", 1, "n_layers"),
        *_block("decoder.blocks.{j}", "decoder.block.{j}", 2, "n_decoder_layers"),
        Row(_CROSS + ".qkv.weight", _THEIR_CROSS + ".EncDecAttention.(q|k|v).weight", STACKED),
        Row(_CROSS + ".out.weight", _THEIR_CROSS + ".EncDecAttention.o.weight"),
        Row(_CROSS + "_norm.weight", _THEIR_CROSS + ".layer_norm.weight"),
        *_SHARED_DISTANCES,
        Row("encoder.norm.weight", "encoder.final_layer_norm.weight"),
        Row("decoder.norm.weight", "decoder.final_layer_norm.weight"),
        Row("head.weight", "lm_head.weight"),  # unless it is tied
    ),
    head=("head",),
    layers={"i": "n_layers", "j": "n_decoder_layers"},
    build=partial(Seq2Seq, attention=partial(MultiHeadAttention, bias=False)),
    options={
        "n_vocab": "vocab_size",
        "n_positions": "n_positions",
        "d_model": "d_model",
        "d_head": "d_kv",
        "d_ff": "d_ff",
        "n_heads": "num_heads",
        "n_layers": "num_layers",
        "n_decoder_layers": "num_decoder_layers",
        "eps": "layer_norm_epsilon",
        "padding": "pad_token_id",
        "start": "decoder_start_token_id",
        "end": "eos_token_id",
        "tied": "tie_word_embeddings",
    },
    defaults={"n_positions": 512, "d_kv": 64, "layer_norm_epsilon": 1e-6, "tie_word_embeddings": True}
    | {"pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 1},
    together=(
        Together(("feed_forward", "activation"), _read_network, _write_network),
        Together(("distances",), _read_distances, _write_distances),
        Together(("head",), _read_head, _write_head),
    ),
    constants=without_fields(PLAIN, *FOLLOWED)
    | {"n_decoder_heads": None, "d_decoder_ff": None, "norm": RMSNorm, "attend": partial(attend_fused, scale=1.0)}
    | {"scale": 1.0, "interleaved": True, "first_position": None, "norm_embeddings": False, "norm_first": True},
    aliases=dict.fromkeys(
        ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"), "shared.weight"
    ),
    ignored=(r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",),  # of older files
    told=_own_head,
)
MT5 = replace(  # Xue et al. 2021, section 3.1
    T5,
    model_type="mt5",
    class_name="MT5ForConditionalGeneration",
    bare="MT5Model",
    together=(*T5.together[:2], Together(("head",), lambda options: {"head": NO_BIAS}, lambda config: {})),
    defaults=T5.defaults | {"n_positions": 1024, "feed_forward_proj": "gated-gelu"},
)
UMT5 = replace(  # Chung et al. 2023
    MT5,
    model_type="umt5",
    class_name="UMT5ForConditionalGeneration",
    bare="UMT5Model",
    rows=(
        *(row for row in T5.rows if row not in _SHARED_DISTANCES),
        _distances("encoder", "{i}"),
        _distances("decoder", "{j}"),
    ),
    together=(*T5.together[:2], Together(("head",), _read_head, lambda config: {})),
    constants=T5.constants | {"shared_distances": False},
    copies=("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"),  # or theirs draws them where no head is tied
    ignored=(),
)
