"""Families that do not load: the nearest one that does, and what is lacking for them."""

EXPERTS = "experts that a router chooses"
VISION = "an encoder of images"
RELATIVES = {
    "qwen2_moe": (
        "qwen3_moe",
        "an expert that each token goes through, behind a gate, and biases of queries, keys and values",
    ),
    "qwen3_next": ("qwen3_moe", "layers of linear attention, and a shared expert behind a gate"),
    "olmoe": ("qwen3_moe", "norms of all queries and all keys at once"),
    "granitemoe": ("mixtral", "four factors, as granite has them"),
    "phimoe": ("mixtral", "LayerNorm, and a router that chooses twice"),
    "llama4_text": ("mixtral", "a shared expert, and attention in chunks"),
    "glm4_moe": ("deepseek_v3", "keys and values of each head, and a part of the features turned"),
    "llama4": ("llama", VISION),
    "mllama": ("llama", VISION),
    "llava": ("llama", VISION),
    "mistral3": ("mistral", VISION),
    "qwen2_vl": ("qwen2", VISION),
    "qwen2_5_vl": ("qwen2", VISION),
    "qwen3_vl": ("qwen3", VISION),
    "gemma3": ("gemma3_text", VISION),
    "gemma3n": ("gemma3_text", "an embedding for each layer, and encoders of images and sound"),
    "ministral": ("mistral", "windows in some layers only"),
    "olmo": ("llama", "norms without weights"),
    "olmo3": ("olmo2", "windows in some layers"),
    "phi": ("gpt_neox", "one norm for attention and network, and a bias in the head"),
    "gptj": ("gpt_neox", "one norm for attention and network, and a bias in the head"),
    "gpt_neo": ("gpt2", "windows in every second layer, and scores that are not scaled"),
    "codegen": ("gpt_neox", "one norm for attention and network, and a bias in the head"),
    "falcon": ("gpt_neox", "keys that all heads share, and in older versions a bias by distance"),
    "stablelm": ("llama", "LayerNorm, and a part of the features turned"),
    "cohere": ("llama", "attention and network side by side, and LayerNorm"),
    "cohere2": ("llama", "attention and network side by side, LayerNorm, and windows"),
    "nemotron": ("llama", "LayerNorm around 1, and squares of ReLU"),
    "starcoder2": ("llama", "LayerNorm, and biases"),
    "glm4": ("llama", "norms of what is written, and neighbours turned in pairs"),
    "exaone4": ("olmo2", "windows in some layers, and others without positions"),
    "opt": ("gpt2", "positions that begin at 2"),
    "bloom": ("gpt2", "a bias by distance in place of positions"),
    "mpt": ("gpt2", "a bias by distance in place of positions"),
    "gpt_bigcode": ("gpt2", "keys and values that all heads share"),
    "mpnet": ("roberta", "a bias by distance"),
    "ernie": ("bert", "an embedding of the task"),
    "electra": ("bert", "a narrower embedding, and another task"),
    "albert": ("bert", "one block for all layers, and a narrower embedding"),
    "deberta-v2": ("bert", "positions and contents compared apart"),
    "longt5": ("t5", "an encoder that looks near, or at summaries"),
    "switch_transformers": ("t5", EXPERTS),
    "pegasus": ("mbart", "waves in place of learned positions, which its files hold"),
    "m2m_100": ("mbart", "waves in place of learned positions, and no norm of the embeddings"),
    "whisper": ("mbart", "an encoder of sound"),
    "dinov3_vit": ("dinov2_with_registers", "rotary positions"),
    "siglip2_vision_model": ("siglip_vision_model", "images of any shape"),
    "deit": ("vit", "a token for distillation"),
    "beit": ("vit", "biases by distance"),
    "clip": ("clip_vision_model", "a tower for texts"),
    "siglip": ("siglip_vision_model", "a tower for texts"),
    "swin": ("vit", "windows of patches that move"),
}

# Of these the tower for images can be had alone: by this class of theirs, which reads the whole and keeps its part.
TOWERS = {"clip": "CLIPVisionModelWithProjection", "siglip": "SiglipVisionModel"}


def nearest_relative(kind: str) -> str:
    """A sentence about a family that does not load; nothing for one that is not known here."""
    if kind not in RELATIVES:
        return ""
    relative, lacking = RELATIVES[kind]
    said = f"The nearest that loads is {relative}; a {kind} has besides: {lacking}. "
    if kind in TOWERS:
        alone = f"transformers.{TOWERS[kind]}.from_pretrained(folder).save_pretrained(other_folder)"
        said += f"Take its {relative} alone with: {alone}. "
    return said
