"""The tokenizer of a folder: its ``tokenizer.json``, of byte-level byte pairs, without the package ``tokenizers``."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clearformer.checks import shorten
from clearformer.pretrained.gpt2_words import byte_characters, gpt2_word
from clearformer.pretrained.unicode_patterns import python_pattern
from clearformer.tokenizers import BytePairTokenizer
from clearformer.weight_files import read_object, require_file

NAME = "tokenizer.json"
NOT_OURS = {  # options of the merges, and the values that change nothing
    "dropout": (None, 0, 0.0),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "byte_fallback": (None, False),
}
FLAGS = ("lstrip", "rstrip", "single_word")  # of an added token: ours takes nothing along and may stand anywhere


@dataclass(frozen=True)
class Cuts:
    """Words by several patterns, one after the other: each cuts what the ones before have left whole."""

    stages: tuple[re.Pattern, ...]
    groups = 0

    @property
    def pattern(self) -> str:
        return " then ".join(stage.pattern for stage in self.stages)

    def findall(self, text: str) -> list[str]:
        words = [text] if text else []
        for stage in self.stages:
            words = [piece for word in words for piece in _pieces(stage, word)]
        return words


def load_tokenizer(folder: str | Path) -> BytePairTokenizer:
    """The tokenizer in ``tokenizer.json`` of a folder of ``from_pretrained``, or of a name on the hub.

    Nothing is put before or behind a text, as with ``add_special_tokens=False`` elsewhere.

    Raises: as ``from_pretrained`` for the folder; FileNotFoundError without such a file; ValueError if it is damaged,
    or of another kind than byte pairs on bytes.
    """
    from clearformer.pretrained.folders import fetch

    path = fetch(folder) / NAME
    require_file("load_tokenizer", path, "Its tokenizer may be of another kind, which the package tokenizers reads.")
    return _Reader(path, read_object("load_tokenizer", path)).tokenizer()


class _Reader:
    """One file: what it says is taken apart here, and what ours cannot be is refused."""

    def __init__(self, path: Path, options: dict):
        self.path, self.options = path, options

    def refuse(self, what: str) -> ValueError:
        return ValueError(
            f"load_tokenizer: {self.path} has {what}, expected byte pairs on bytes, as GPT-2, Llama 3 and Qwen have "
            "them. The package tokenizers reads others."
        )

    def tokenizer(self) -> BytePairTokenizer:
        model = self._dict(self.options.get("model"), "model")
        if model.get("type") != "BPE":
            raise self.refuse(f"a model of type {shorten(model.get('type'))}")
        for name, fine in NOT_OURS.items():
            if model.get(name) not in fine:
                raise self.refuse(f"{name}={shorten(model[name])}")
        vocabulary, added = dict(self._dict(model.get("vocab"), "vocab")), self._added()
        vocabulary |= added
        lacks = [c for c in byte_characters() if c not in vocabulary]
        if lacks and model.get("unk_token") is not None:
            raise self.refuse(f"no piece for the byte {lacks[0]!r}, and unk_token={shorten(model['unk_token'])}")
        stages = tuple(self._stages(self.options.get("pre_tokenizer")))
        normalize = self._normalizer(self.options.get("normalizer"))
        try:
            return BytePairTokenizer.from_vocabulary(
                vocabulary,
                model.get("merges") or [],
                pattern=Cuts(stages),
                special=list(added),
                skip_unknown=bool(lacks),
                normalize=normalize,
                whole_words=bool(model.get("ignore_merges")),
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"load_tokenizer: {self.path} cannot be read: {error}") from error

    def _dict(self, value: Any, name: str) -> dict:
        if not isinstance(value, dict):
            raise self.refuse(f"{name}={shorten(value)}")
        return value

    def _added(self) -> dict[str, int]:
        """The tokens that are cut out of a text first, by their ids."""
        tokens = {}
        listed = self.options.get("added_tokens") or []
        for token in listed if isinstance(listed, list) else [listed]:
            token = self._dict(token, "an added token")
            content, i = token.get("content"), token.get("id")
            wrong = [flag for flag in FLAGS if token.get(flag)]
            if not isinstance(content, str) or not content or type(i) is not int or wrong:
                raise self.refuse(f"the added token {shorten(token)}")
            tokens[content] = i
        return tokens

    def _normalizer(self, step: Any) -> Any:
        if step is None:
            return None
        step = self._dict(step, "normalizer")
        if step.get("type") == "Sequence" and step.get("normalizers") == []:
            return None
        if step.get("type") in ("NFC", "NFD", "NFKC", "NFKD"):
            return partial(unicodedata.normalize, step["type"])
        raise self.refuse(f"the normalizer {shorten(step)}")

    def _stages(self, step: Any) -> Iterator[re.Pattern]:
        """The patterns that cut a text into words, in their order."""
        step = self._dict(step, "pre_tokenizer")
        kind = step.get("type")
        if kind == "Sequence" and isinstance(step.get("pretokenizers"), list):
            for part in step["pretokenizers"]:
                yield from self._stages(part)
        elif kind == "ByteLevel" and not step.get("add_prefix_space", True):
            if step.get("use_regex", True):
                yield gpt2_word()
        elif kind == "Digits":
            yield python_pattern(r"\p{N}" if step.get("individual_digits") else r"\p{N}+")
        elif kind == "Split" and step.get("behavior") == "Isolated" and not step.get("invert"):
            yield self._split(step.get("pattern"))
        else:
            raise self.refuse(f"the pre_tokenizer {shorten(step)}")

    def _split(self, pattern: Any) -> re.Pattern:
        pattern = self._dict(pattern, "pattern")
        if isinstance(pattern.get("String"), str):
            return re.compile(re.escape(pattern["String"]))
        if not isinstance(pattern.get("Regex"), str):
            raise self.refuse(f"pattern={shorten(pattern)}")
        try:
            return python_pattern(pattern["Regex"])
        except ValueError as error:
            raise ValueError(f"load_tokenizer: {self.path}: {error}") from error


def _pieces(stage: re.Pattern, word: str) -> Iterator[str]:
    """What a pattern finds in a word, and what lies between."""
    end = 0
    for found in stage.finditer(word):
        if found.start() > end:
            yield word[end : found.start()]
        if found[0]:
            yield found[0]
        end = found.end()
    if end < len(word):
        yield word[end:]
