"""What the file of models says that chapter 12's decoder lacks, beside the code of the families that is installed."""

import pytest
import torch
from clearbook.today.rows import Model, gallery

SHARED = {"vocab_size": 31, "hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 4, "head_dim": 8}
SHARED |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "pad_token_id": 0}
EXPERTS = {"num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1}
EXPERTS |= {"moe_intermediate_size": 12, "first_k_dense_replace": 1, "topk_group": 1}
LATENT = {"q_lora_rank": 10, "kv_lora_rank": 10, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 4}
LATENT |= {"num_key_value_heads": 4}
HALF = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.5}}
SLIDING = {"sliding_window": 4}
FAMILIES = {  # and the options in which a published file differs from what the class has by itself
    "SmolLM2 135M": ("llama", {"tie_word_embeddings": True}),
    "Llama 3.1 8B": ("llama", {}),
    "OLMo 2 7B": ("olmo2", {}),
    "Olmo 3 7B": ("olmo3", SLIDING),
    "Gemma 3 27B": ("gemma3_text", SLIDING | {"query_pre_attn_scalar": 6, "sliding_window_pattern": 2}),
    "Qwen3 8B": ("qwen3", {}),
    "Qwen3-235B-A22B": ("qwen3_moe", EXPERTS),
    "SmolLM3 3B": ("smollm3", {"no_rope_layers": [1, 1, 1, 0], "tie_word_embeddings": True}),
    "MiniMax-M2": ("minimax_m2", EXPERTS | HALF),
    "GLM-4.5": ("glm4_moe", EXPERTS | HALF | {"attention_bias": True, "use_qk_norm": True}),
    "gpt-oss-120b": ("gpt_oss", EXPERTS | SLIDING),
    "DeepSeek-V3": ("deepseek_v3", EXPERTS | LATENT),
    "GLM-5": ("glm_moe_dsa", EXPERTS | LATENT | {"index_n_heads": 2, "index_head_dim": 8, "index_topk": 4}),
    "Ministral 3 8B": ("ministral3", {}),
    "Qwen3.5-35B-A3B": ("qwen3_5_moe_text", EXPERTS | {"shared_expert_intermediate_size": 12}),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_no_row_says_that_the_decoder_lacks_less_than_it_does(name):
    """Catches a family whose biases, scales, norms, windows, turned heads or gates its row forgets, or invents."""
    kind, options = FAMILIES[name]
    assert in_code(tiny(kind, options)) == in_file(gallery().model(name))


def tiny(kind: str, options: dict):
    """A small model of a family, as transformers builds it."""
    import transformers  # takes seconds

    config = transformers.AutoConfig.for_model(kind, **SHARED | options)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def in_file(model: Model) -> dict:
    """What the file says of these parts."""
    flags = ("biases", "embedding_scaled", "score_scale", "sinks", "gated_attention", "gate_limits", "qk_norm_whole")
    told = {name: bool(model.get(name)) for name in (*flags, "experts", "window", "nope_layers", "logit_cap")}
    told |= {name: model.get(name) for name in ("tied", "norm_place", "feed_forward")}
    told["in part"] = (model.get("rotated") or 1) < 1
    return told | {"latent": model.get("attention") == "latent"}


def in_code(model) -> dict:
    """The same, read off the modules and options of a model."""
    block, config = model.model.layers[-1], model.config
    attention, table = block.self_attn, model.model.embed_tokens
    names = [name for name, _ in model.named_parameters() if "self_attn" in name or ".mlp." in name]
    rope, norm = config.rope_parameters or {}, getattr(attention, "q_norm", None)
    head = getattr(attention, "qk_head_dim", None) or attention.head_dim
    q_proj = getattr(attention, "q_proj", None)
    ids = torch.arange(3)
    norms = {name for name, _ in block.named_children() if name.endswith("layernorm")}
    place = "before" if norms == {"input_layernorm", "post_attention_layernorm"} else "after"
    cap = getattr(config, "final_logit_softcapping", None)
    act = getattr(config, "hidden_act", None) or config.hidden_activation
    return {
        "biases": any(name.endswith("bias") and "indexer" not in name for name in names),
        "embedding_scaled": not torch.equal(table(ids), table.weight[ids]),
        "score_scale": abs(attention.scaling - head**-0.5) > 1e-6 or "llama_4_scaling_beta" in rope,
        "sinks": hasattr(attention, "sinks"),
        "gated_attention": q_proj is not None and q_proj.out_features == 2 * attention.o_proj.in_features,
        "gate_limits": hasattr(getattr(block.mlp, "experts", None), "limit"),
        "qk_norm_whole": norm is not None and norm.weight.numel() > head,
        "experts": hasattr(block.mlp, "experts"),
        "window": "sliding_attention" in (getattr(config, "layer_types", None) or []),
        "nope_layers": 0 in (getattr(config, "no_rope_layers", None) or []),
        "logit_cap": cap is not None,
        "tied": model.lm_head.weight is table.weight,
        "norm_place": "before and after" if "pre_feedforward_layernorm" in norms else place,
        "feed_forward": {"silu": "SwiGLU", "gelu_pytorch_tanh": "GEGLU"}[act],
        "in part": rope.get("partial_rotary_factor", 1) < 1,
        "latent": hasattr(attention, "kv_a_proj_with_mqa"),
    }
