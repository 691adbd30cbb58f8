"""Families whose feed-forward networks are experts: Mixtral, Qwen 3 with experts, gpt-oss."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from clearformer.experts import ClampedGatedFeedForward, MixtureOfExperts, Router
from clearformer.layers import GatedFeedForward, gelu_sigmoid
from clearformer.models.gpt import GPT
from clearformer.models.options import Layer, each_layer
from clearformer.pretrained.llama import BLOCK, LLAMA, MISTRAL, QWEN3, THEIRS
from clearformer.pretrained.reach import ONE_WINDOW, every_second_window, reaches, written_rope, written_types
from clearformer.pretrained.rope import flatten_rope, read_rope
from clearformer.pretrained.tables import PAIRED, STACKED, TRANSPOSED, Layout, Row, without_fields
from clearformer.pretrained.together import Together, read_flag, read_items, read_whole
from clearformer.sinks import SinkAttention

MOST_EXPERTS = 4096
EXPERT, NETWORK = BLOCK + "feed_forward.experts.{e}.", BLOCK + "feed_forward."
ROUTED = tuple(row for row in LLAMA.rows if ".feed_forward." not in row.ours)
DENSE = tuple(row for row in LLAMA.rows if ".feed_forward." in row.ours)


def n_experts(config: Any) -> int:
    """How many experts a layer of a model has; 0 where its network is none of experts."""
    return getattr(config.feed_forward, "keywords", {}).get("n_experts", 0)


def dense_layers(config: Any) -> list[int]:
    """The numbers of the layers whose network is another than the experts of the rest."""
    return [i for i, layer in enumerate(each_layer(config)) if layer.feed_forward is not None]


def routed_layers(config: Any) -> list[int]:
    """The numbers of the layers with experts."""
    return [i for i, layer in enumerate(each_layer(config)) if layer.feed_forward is None]


def read_experts(options: dict, name: str, top_k: str, default: int, default_top_k: int) -> dict[str, Any]:
    """How many experts there are and how many a token goes to. Raises: ValueError for numbers that cannot be."""
    n, k = read_whole(options, name, default), read_whole(options, top_k, default_top_k)
    if n > MOST_EXPERTS:
        raise ValueError(f"from_pretrained: {name}={n} in config.json, expected at most {MOST_EXPERTS}.")
    if k > n:
        raise ValueError(f"from_pretrained: {top_k}={k} with {name}={n} in config.json, expected at most {n}.")
    return {"n_experts": n, "top_k": k}


def _always_normalised(default: int, default_top_k: int, **fixed: Callable) -> Together:
    """The softmax over the chosen alone, and experts of one kind."""

    def read(options: dict) -> dict:
        sizes = read_experts(options, "num_local_experts", "num_experts_per_tok", default, default_top_k)
        return {"feed_forward": partial(MixtureOfExperts, **sizes, **fixed)}

    def write(config: Any) -> dict:
        said = getattr(config.feed_forward, "keywords", {})
        return {"num_local_experts": said.get("n_experts"), "num_experts_per_tok": said.get("top_k", 1)}

    return Together(("feed_forward",), read, write)


MIXTRAL = replace(  # Jiang et al. 2024, section 2.1
    MISTRAL,
    model_type="mixtral",
    class_name="MixtralForCausalLM",
    bare="MixtralModel",
    rows=(
        *ROUTED,
        Row(NETWORK + "router.weight", THEIRS + "block_sparse_moe.gate.weight"),
        Row(EXPERT + "gate_up.weight", THEIRS + "block_sparse_moe.experts.{e}.(w1|w3).weight", PAIRED),
        Row(EXPERT + "down.weight", THEIRS + "block_sparse_moe.experts.{e}.w2.weight"),
    ),
    layers={"i": "n_layers", "e": n_experts},
    together=(
        ONE_WINDOW,
        _always_normalised(8, 2, router=partial(Router, normalise=True), expert=GatedFeedForward),
    ),
    defaults=LLAMA.defaults | {"rms_norm_eps": 1e-5, "num_key_value_heads": 8, "rope_theta": 1e6},
    constants=without_fields(LLAMA.constants, "feed_forward"),
)


def _some_dense(options: dict) -> list[Layer]:
    """Qwen's: every layer has experts but those of a list, and all but every n-th of them."""
    rope = read_rope(options)
    windows = read_flag(options, "use_sliding_window", False) and options.get("sliding_window", 4096) is not None
    window = read_whole(options, "sliding_window", 4096) if windows else None
    every, dense = read_whole(options, "decoder_sparse_step", 1), read_items(options, "mlp_only_layers")
    return [
        Layer(window, rope, GatedFeedForward if i in dense or (i + 1) % every else None)
        for i in range(read_whole(options, "num_hidden_layers"))
    ]


def _write_some_dense(layers: list[Layer]) -> dict:
    window = layers[0].window
    dense = [i for i, layer in enumerate(layers) if layer.feed_forward is not None]
    options = {"use_sliding_window": window is not None, "sliding_window": window}
    return options | {"decoder_sparse_step": 1, "mlp_only_layers": dense} | written_rope(layers)


def _one_name(options: dict) -> dict:
    """As ``flatten_rope``, with the number of experts under its older name."""
    options = flatten_rope(options)
    return options if "num_experts" in options else options | {"num_experts": options.get("num_local_experts")}


def _read_qwen_experts(options: dict) -> dict:
    sizes = read_experts(options, "num_experts", "num_experts_per_tok", 128, 8)
    router = partial(Router, normalise=read_flag(options, "norm_topk_prob", False))
    width = read_whole(options, "moe_intermediate_size", 768)
    return {"feed_forward": partial(MixtureOfExperts, **sizes, d_expert=width, router=router, expert=GatedFeedForward)}


def _write_qwen_experts(config: Any) -> dict:
    said = getattr(config.feed_forward, "keywords", {})
    return {
        "num_experts": said.get("n_experts"),
        "num_experts_per_tok": said.get("top_k", 1),
        "moe_intermediate_size": said.get("d_expert") or config.d_ff,
        "norm_topk_prob": getattr(said.get("router"), "keywords", {}).get("normalise", False),
    }


QWEN3_MOE = replace(  # Qwen Team 2025, section 2
    QWEN3,
    model_type="qwen3_moe",
    class_name="Qwen3MoeForCausalLM",
    bare="Qwen3MoeModel",
    rows=(
        *(row for row in QWEN3.rows if ".feed_forward." not in row.ours),
        *(row._replace(only=dense_layers) for row in DENSE),
        Row(NETWORK + "router.weight", THEIRS + "mlp.gate.weight", only=routed_layers),
        Row(EXPERT + "gate_up.weight", THEIRS + "mlp.experts.{e}.(gate|up)_proj.weight", PAIRED, routed_layers),
        Row(EXPERT + "down.weight", THEIRS + "mlp.experts.{e}.down_proj.weight", only=routed_layers),
    ),
    layers={"i": "n_layers", "e": n_experts},
    together=(
        reaches(_some_dense, _write_some_dense),
        Together(("feed_forward",), _read_qwen_experts, _write_qwen_experts),
    ),
    plain=_one_name,
    defaults=LLAMA.defaults | {"num_key_value_heads": 4},
    constants=without_fields(QWEN3.constants, "feed_forward"),
)


def _apart(t: Tensor) -> Tensor:
    """Rows of gates and hidden units in turns: the gates above the hidden units, as with us."""
    return torch.cat((t[::2], t[1::2]))


def _in_turns(t: Tensor) -> Tensor:
    return torch.stack(t.chunk(2), 1).flatten(0, 1)


TURNS_TRANSPOSED = Layout("transposed, in turns", lambda ts, c: _apart(ts[0].t()), lambda t, c: [_in_turns(t).t()])
TURNS = Layout("in turns", lambda ts, c: _apart(ts[0]), lambda t, c: [_in_turns(t)])


# What config.json means that says nothing of rotary positions.
SCALED = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
SCALED |= {"original_max_position_embeddings": 4096}


def _scaled_unless_said(options: dict) -> dict:
    options = flatten_rope(options)
    return options if options["rope"] else options | {"rope": SCALED}


def _write_alternating(layers: list[Layer]) -> dict:
    """All that is said of rotary positions in one object, since without one they are scaled."""
    said = written_rope(layers)
    scaling = said.pop("rope_scaling", None) or {"rope_type": "default"}
    return written_types(layers) | {"rope_parameters": said | scaling}


GPT_OSS = replace(  # OpenAI 2025
    LLAMA,
    model_type="gpt_oss",
    class_name="GptOssForCausalLM",
    bare="GptOssModel",
    rows=(
        *ROUTED,
        Row(BLOCK + "attention.qkv.bias", THEIRS + "self_attn.(q|k|v)_proj.bias", STACKED),
        Row(BLOCK + "attention.out.bias", THEIRS + "self_attn.o_proj.bias"),
        Row(BLOCK + "attention.sinks", THEIRS + "self_attn.sinks"),
        Row(NETWORK + "router.*", THEIRS + "mlp.router.*"),
        Row(EXPERT + "gate_up.weight", THEIRS + "mlp.experts.gate_up_proj.{e}", TURNS_TRANSPOSED),
        Row(EXPERT + "gate_up.bias", THEIRS + "mlp.experts.gate_up_proj_bias.{e}", TURNS),
        Row(EXPERT + "down.weight", THEIRS + "mlp.experts.down_proj.{e}", TRANSPOSED),
        Row(EXPERT + "down.bias", THEIRS + "mlp.experts.down_proj_bias.{e}"),
    ),
    stacked=(r"mlp\.experts\.(gate_up|down)_proj(_bias)?",),
    layers={"i": "n_layers", "e": n_experts},
    build=partial(GPT, attention=SinkAttention),
    plain=_scaled_unless_said,
    options=without_fields(LLAMA.options, "activation"),
    together=(
        reaches(every_second_window(128), _write_alternating),
        _always_normalised(128, 4, router=partial(Router, normalise=True, bias=True), expert=ClampedGatedFeedForward),
    ),
    fixed={"hidden_act": "silu", "attention_bias": True, "swiglu_limit": 7.0},
    defaults={"rms_norm_eps": 1e-5, "tie_word_embeddings": False, "head_dim": 64, "num_key_value_heads": 8}
    | {"rope_theta": 150000.0},
    constants=without_fields(LLAMA.constants, "feed_forward") | {"activation": gelu_sigmoid},
)
