"""Clearformer: the transformer, small enough to read in an evening.

What most people start with can be had from here, ``from clearformer import GPT, generate``; everything else from the
module that is named after the concept, for example ``from clearformer.attention import attend``.
``clearformer.reference`` holds the same ideas in NumPy, written the way the papers print them, and needs no torch.
"""

from contextlib import suppress
from importlib import import_module, metadata

# where each name lives; a module is imported when one of its names is asked for, so that NumPy alone is enough before
_NAMES = {
    "cache": "KVCache",
    "chat": "ChatTemplate load_chat_template",
    "generation": "beam_search prepare_for_generation generate stream_tokens",
    "lora": "add_lora merge_lora",
    "losses": "next_token_loss",
    "models.bert": "BERT BERTConfig",
    "models.gpt": "GPT GPTConfig",
    "models.mae": "MAE MAEConfig",
    "models.seq2seq": "Seq2Seq Seq2SeqConfig",
    "models.vit": "ViT ViTConfig",
    "multihead": "MultiHeadAttention",
    "pretrained": "from_pretrained load_lora load_tokenizer save_lora save_pretrained save_tokenizer",
    "tokenizers": "BytePairTokenizer ByteTokenizer CharTokenizer",
    "training": "TrainConfig train",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOME]
with suppress(metadata.PackageNotFoundError):  # a copy that is not installed has no version
    __version__ = metadata.version("clearformer")


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}, only {', '.join(sorted(_HOME))}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
