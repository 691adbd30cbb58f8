"""Weights of Hugging Face in our models, and ours in theirs: one file of tables for each architecture.

A table names every weight on both sides and the layout between them. ``folders`` reads, ``convert`` follows the tables.
"""

from clearformer.pretrained.adapters import load_lora, save_lora
from clearformer.pretrained.folders import fetch, from_pretrained, from_tensors, save_pretrained
from clearformer.pretrained.tokenizer_json import load_tokenizer
from clearformer.pretrained.tokenizer_saving import save_tokenizer

__all__ = [
    "fetch",
    "from_pretrained",
    "from_tensors",
    "load_lora",
    "load_tokenizer",
    "save_lora",
    "save_pretrained",
    "save_tokenizer",
]
