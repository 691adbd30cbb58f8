"""Every decoder of another library that loads, in several tiny sizes: the cases of the parity tests and of the page."""

import contextlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from clearformer.pretrained.folders import ARCHITECTURES
from torch.overrides import TorchFunctionMode

from tests.clearformer.models import random_module
from tests.lazy_module import LazyModule

transformers = LazyModule("transformers")
V, N_POSITIONS, N_PROMPT = 37, 40, 17
SIZES = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 3, "intermediate_size": 44, "vocab_size": V}
SIZES |= {"max_position_embeddings": N_POSITIONS, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SHARED = SIZES | {"num_key_value_heads": 2}
WIDE = SHARED | {"head_dim": 10}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 16}
LINEAR = {"rope_type": "linear", "rope_theta": 500.0, "factor": 8.0}
LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.1, 1.3, 2.0], "long_factor": [1.0, 2.0, 3.0, 4.0]}
LOCAL = {"rope_type": "default", "rope_theta": 50.0}
EXPERTS = {"num_experts_per_tok": 2, "num_local_experts": 5}
QWEN_EXPERTS = WIDE | {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
FULL, SLIDING = "full_attention", "sliding_attention"


class Case(NamedTuple):
    """A family in one size: ``model_type``, what is tried, as the page says it, and the options that differ."""

    kind: str
    tried: str
    options: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.kind}, {self.tried}"


CASES = [
    Case("llama", "one key for each query", SIZES),
    Case("llama", "shared keys, tied", SHARED | {"tie_word_embeddings": True}),
    Case("llama", "rotary positions of Llama 3.1", SHARED | {"rope_parameters": LLAMA3}),
    Case("llama", "linear scaling", WIDE | {"rope_parameters": LINEAR}),
    Case("llama", "YaRN", SHARED | {"rope_parameters": YARN}),
    Case("llama", "YaRN with an amplitude", SHARED | {"rope_parameters": YARN | {"attention_factor": 0.7}}),
    Case("mistral", "a window", SHARED | {"sliding_window": 5}),
    Case("mistral", "no window, wide heads", WIDE | {"sliding_window": None}),
    Case("qwen2", "no window", SHARED | {"rope_theta": 1e6}),
    Case(
        "qwen2",
        "windows in the upper layers",
        SHARED | {"use_sliding_window": True, "sliding_window": 5} | {"max_window_layers": 1},
    ),
    Case("qwen2", "YaRN, tied", SHARED | {"rope_parameters": YARN, "tie_word_embeddings": True}),
    Case("qwen3", "wide heads", WIDE),
    Case(
        "qwen3",
        "windows by a list",
        WIDE | {"use_sliding_window": True, "sliding_window": 4} | {"layer_types": [SLIDING, FULL, SLIDING]},
    ),
    Case("smollm3", "a layer without positions", SHARED | {"no_rope_layer_interval": 2}),
    Case(
        "smollm3",
        "windows where there are no positions",
        SHARED | {"no_rope_layer_interval": 3} | {"use_sliding_window": True, "sliding_window": 6},
    ),
    Case(
        "granite",
        "all four factors",
        SHARED
        | {"embedding_multiplier": 12.0, "logits_scaling": 6.0}
        | {"residual_multiplier": 0.22, "attention_multiplier": 0.3},
    ),
    Case("granite", "tied", SHARED | {"tie_word_embeddings": True, "attention_multiplier": 0.015625}),
    Case("phi3", "a window", SHARED | {"sliding_window": 7}),
    Case("phi3", "a part of the features turned", SHARED | {"partial_rotary_factor": 0.75, "hidden_size": 64}),
    Case(
        "phi3",
        "LongRoPE, short text",
        SHARED | {"rope_parameters": LONG | {"rope_theta": 500.0}} | {"original_max_position_embeddings": 30},
    ),
    Case(
        "phi3",
        "LongRoPE, long text",
        SHARED | {"rope_parameters": LONG | {"rope_theta": 500.0}} | {"original_max_position_embeddings": 6},
    ),
    Case("olmo2", "one key for each query", SIZES),
    Case("olmo2", "shared keys", SHARED),
    Case("gpt_neox", "side by side", SIZES),
    Case(
        "gpt_neox",
        "one after the other, tied",
        SIZES | {"use_parallel_residual": False, "hidden_act": "gelu_new"} | {"tie_word_embeddings": True},
    ),
    Case("gemma", "one key for all", WIDE | {"num_key_value_heads": 1}),
    Case("gemma", "own head", WIDE | {"tie_word_embeddings": False}),
    Case("gemma2", "two caps, windows", WIDE | {"sliding_window": 5, "query_pre_attn_scalar": 144}),
    Case(
        "gemma2",
        "small caps",
        WIDE | {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0} | {"query_pre_attn_scalar": 10},
    ),
    Case("gemma2", "no caps", WIDE | {"attn_logit_softcapping": None, "final_logit_softcapping": None}),
    Case(
        "gemma3_text",
        "two bases",
        WIDE
        | {"sliding_window": 5, "query_pre_attn_scalar": 10}
        | {"layer_types": [SLIDING, SLIDING, FULL], "rope_parameters": {FULL: LINEAR, SLIDING: LOCAL}},
    ),
    Case("gemma3_text", "every sixth layer sees all", WIDE | {"num_hidden_layers": 7, "sliding_window": 4}),
    Case("mixtral", "two of five experts", SHARED | EXPERTS),
    Case(
        "mixtral",
        "one of five experts, a window, wide heads",
        WIDE | EXPERTS | {"num_experts_per_tok": 1, "sliding_window": 5},
    ),
    Case("qwen3_moe", "two of five experts, weights that sum to 1", QWEN_EXPERTS | {"norm_topk_prob": True}),
    Case(
        "qwen3_moe",
        "some layers without experts, a window",
        QWEN_EXPERTS
        | {
            "mlp_only_layers": [0],
            "decoder_sparse_step": 2,
            "num_hidden_layers": 4,
            "use_sliding_window": True,
            "sliding_window": 5,
        },
    ),
    Case(
        "gpt_oss",
        "YaRN, windows in every second layer",
        WIDE | EXPERTS | {"sliding_window": 5, "rope_parameters": YARN | {"truncate": False}},
    ),
    Case(
        "gpt_oss",
        "windows by a list, tied",
        WIDE
        | EXPERTS
        | {
            "sliding_window": 4,
            "layer_types": [FULL, SLIDING, FULL],
            "rope_parameters": {"rope_type": "default", "rope_theta": 500.0},
            "tie_word_embeddings": True,
        },
    ),
]
LATENT: dict[str, Any] = SIZES | {
    "num_key_value_heads": 4,
    "q_lora_rank": 11,
    "kv_lora_rank": 10,
    "qk_rope_head_dim": 6,
}
LATENT |= {"qk_nope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 6, "moe_intermediate_size": 12}
LATENT |= {"num_experts_per_tok": 2, "first_k_dense_replace": 1, "rope_parameters": {"rope_type": "default"} | LOCAL}
CASES += [
    Case(
        "deepseek_v2", "a latent vector for queries too", LATENT | {"n_shared_experts": 2, "routed_scaling_factor": 1.5}
    ),
    Case(
        "deepseek_v2",
        "YaRN, no latent queries, tied",
        LATENT | {"q_lora_rank": None, "rope_parameters": YARN} | {"tie_word_embeddings": True},
    ),
    Case(
        "deepseek_v2",
        "one of three groups",
        LATENT | {"topk_method": "group_limited_greedy", "n_group": 3, "topk_group": 1},
    ),
    Case("deepseek_v3", "one of two groups", LATENT | {"n_group": 2, "topk_group": 1}),
    Case(
        "deepseek_v3",
        "YaRN with larger scores, halves turned",
        LATENT
        | {"n_group": 3, "topk_group": 2, "rope_interleave": False, "norm_topk_prob": False}
        | {"rope_parameters": YARN | {"mscale": 0.707, "mscale_all_dim": 0.9}},
    ),
    Case(
        "deepseek_v3",
        "no latent queries, no layer without experts",
        LATENT
        | {"q_lora_rank": None, "n_group": 1}
        | {"topk_group": 1, "first_k_dense_replace": 0, "n_shared_experts": 2},
    ),
]
WEIGHTS = "model.safetensors"


class InDouble(TorchFunctionMode):
    """What a model of theirs computes in float32 whatever its weights are, in float64: norms, angles and softmax."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        wide = [torch.float64 if a is torch.float32 else a for a in args]
        named = {name: torch.float64 if a is torch.float32 else a for name, a in (kwargs or {}).items()}
        name = getattr(function, "__name__", "")
        return args[0].double() if name == "float" else function(*wide, **named)


@contextlib.contextmanager
def as_it_is(dtype: torch.dtype) -> Iterator[None]:
    """In float64 the whole of a model of theirs, also what it computes when it is built."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with InDouble() if dtype == torch.float64 else contextlib.nullcontext():
            yield
    finally:
        torch.set_default_dtype(before)


def theirs_of(case: Case, dtype: torch.dtype) -> Any:
    """A random model of transformers."""
    torch.manual_seed(3)
    kind = getattr(transformers, ARCHITECTURES[case.kind].class_name)
    # Configured by name: on Python 3.14 a class may name another's. Eager, since other kinds of attention have no caps,
    # and those of experts no float64.
    eager = {"attn_implementation": "eager", "experts_implementation": "eager"}
    with as_it_is(dtype):
        model = kind(transformers.AutoConfig.for_model(case.kind, **case.options, **eager))
    random_module(model, dtype)
    for name, buffer in model.named_buffers():
        if name.endswith("e_score_correction_bias"):  # learned, and no parameter
            buffer.normal_(std=0.1)
    return mended(model).eval()


def mended(model: Any) -> Any:
    """Their experts in groups read a number that their class never sets."""
    for module in model.modules():
        if getattr(module, "topk_method", None) == "group_limited_greedy":
            module.num_experts = module.experts.num_experts
    return model


def prompts() -> torch.Tensor:
    return torch.randint(1, V, (3, N_PROMPT), generator=torch.Generator().manual_seed(5))


def difference(mine: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference of two logits, as a part of the largest logit."""
    return ((mine.double() - expected.double()).abs().max() / expected.abs().max()).item()


def uneven_chunks(n: int) -> Iterator[slice]:
    """All of ``n`` tokens, in parts of 9, 1, 3 and the rest."""
    borders = (0, 9, 10, 13, n)
    return (slice(a, b) for a, b in pairwise(borders))
