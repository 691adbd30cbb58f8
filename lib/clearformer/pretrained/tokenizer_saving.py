"""A tokenizer of ours as ``tokenizer.json``, which ``load_tokenizer``, ``tokenizers`` and ``transformers`` read."""

import json
from pathlib import Path

from clearformer.checks import check_path, shorten
from clearformer.pretrained.gpt2_words import byte_characters, gpt2_word
from clearformer.pretrained.tokenizer_json import NAME, Cuts
from clearformer.tokenizers import BytePairTokenizer
from clearformer.weight_files import written_whole

CONFIG = "tokenizer_config.json"


def save_tokenizer(tokenizer: BytePairTokenizer, folder: str | Path) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json``; the last special token is the one that ends a text.

    Raises: TypeError for another kind of tokenizer; ValueError for one whose words are not cut by GPT-2's pattern,
    ``gpt2_word()``, or that changes a text first; OSError if the disk takes no more.
    """
    folder = check_path("save_tokenizer", "folder", folder, "a folder for the tokenizer")
    if not isinstance(tokenizer, BytePairTokenizer):
        raise TypeError(f"save_tokenizer: tokenizer={shorten(tokenizer)}, expected a BytePairTokenizer.")
    pattern = tokenizer.pattern
    stages = pattern.stages if isinstance(pattern, Cuts) else (pattern,)
    if stages != (gpt2_word(),) or tokenizer.normalize is not None:
        raise ValueError(
            f"save_tokenizer: the words are cut by {shorten(pattern.pattern)}, expected GPT-2's pattern and "
            "a text as it is. Learn the pairs with BytePairTokenizer(text, n, pattern=gpt2_word())."
        )
    special = {token: i for token, i in tokenizer.special.items() if i is not None}
    with written_whole("save_tokenizer", folder, NAME, CONFIG, what="the tokenizer") as (file, config):
        file.write_text(json.dumps(_as_json(tokenizer, special), ensure_ascii=False) + "\n", encoding="utf-8")
        named = {name: [*special][-1] for name in ("bos_token", "eos_token") if special}
        options = {"tokenizer_class": "PreTrainedTokenizerFast"} | named
        config.write_text(json.dumps(options, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _as_json(tokenizer: BytePairTokenizer, special: dict[str, int]) -> dict:
    """The file's content: pieces are spelled in GPT-2's characters, and a merge names its two pieces."""
    character = {byte: c for c, byte in byte_characters().items()}
    spelled = ["".join(character[byte] for byte in piece) for piece in tokenizer.pieces]
    vocabulary = {piece: i for i, piece in enumerate(spelled) if i not in special.values()}
    in_order = sorted(tokenizer.ranks, key=tokenizer.ranks.__getitem__)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": token} | flags for token, i in special.items()],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [[spelled[first], spelled[second]] for first, second in in_order],
        },
    }
