"""What a run begins with: a fresh decoder of the sizes that were asked for, or the weights of an older one."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from clearformer.commands.corpus import Text, learn_pairs
from clearformer.commands.folders import find_folder
from clearformer.commands.settings import Settings
from clearformer.layers import GatedFeedForward, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import Rotary
from clearformer.pretrained import from_pretrained, load_tokenizer, save_tokenizer
from clearformer.pretrained.convert import is_headless
from clearformer.tokenizers import BytePairTokenizer
from clearformer.weight_files import written_whole

TOKENIZER = "tokenizer.json"
BROUGHT_ALONG = (TOKENIZER, "tokenizer_config.json", "chat_template.jinja", "generation_config.json")


@dataclass
class Start:
    """A model, the tokenizer that it reads with, the token that ends a text, and how the tokenizer is written."""

    model: GPT
    tokenizer: BytePairTokenizer
    end: int | None
    write_tokenizer: Callable[[Path], None]

    def compiled(self) -> nn.Module:
        """The model as ``torch.compile`` makes it. Raises: ValueError where it cannot."""
        compiled: Any = torch.compile(self.model)
        try:
            compiled(torch.zeros(1, 2, dtype=torch.long, device=self.model.tokens.weight.device))
        except Exception as error:  # whatever a compiler, or what it stands on, has to say
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(f"train: --compile does not work here ({reason}). Leave it out.") from error
        return compiled


def fresh_start(chosen: Settings, text: Text, folder: Path) -> Start:
    """A decoder with random weights, of the kind that Llama is, and byte pairs of the text.

    Raises: ValueError for heads that do not divide the width, or into odd parts.
    """
    if chosen.width % (2 * chosen.heads):
        raise ValueError(
            f"train: --width {chosen.width} with --heads {chosen.heads}, expected a width that is an even number for "
            f"each head, such as --width {2 * chosen.heads * max(1, round(chosen.width / chosen.heads / 2))}."
        )
    known = (folder / TOKENIZER).is_file()
    tokenizer = load_tokenizer(folder) if known else learn_pairs(text, chosen.vocabulary)
    [end] = tokenizer.special.values()
    torch.manual_seed(chosen.seed)
    config = GPTConfig(
        n_vocab=tokenizer.n_vocab,
        n_positions=chosen.context,
        d_model=chosen.width,
        n_heads=chosen.heads,
        n_layers=chosen.layers,
        d_ff=8 * -(-chosen.width // 3),
        norm=RMSNorm,
        feed_forward=GatedFeedForward,
        activation=F.silu,
        rope=partial(Rotary, base=10_000.0),
    )
    model = GPT(config, attention=partial(MultiHeadAttention, bias=False))
    model.family, model.labels_and_tokens = "llama", {"bos_token_id": end, "eos_token_id": end}
    return Start(model, tokenizer, end, partial(save_tokenizer, tokenizer))


def continue_from(chosen: Settings) -> Start:
    """The decoder of another folder, with its tokenizer.

    Raises: as ``from_pretrained`` and ``load_tokenizer``; ValueError for a model that is no decoder with a head, or
    with a smaller context.
    """
    find_folder("train", chosen.start)
    model, tokenizer = from_pretrained(chosen.start, dtype=torch.float32), load_tokenizer(chosen.start)
    if not isinstance(model, GPT) or is_headless(model):
        raise ValueError(
            f"train: --from {chosen.start} is a {type(model).__name__}, expected a decoder with a head, which predicts "
            "the next token. Take one of the kind of GPT-2, Llama or Qwen."
        )
    if model.config.n_positions < chosen.context or model.config.n_vocab < tokenizer.n_vocab:
        raise ValueError(
            f"train: --from {chosen.start} has {model.config.n_positions} positions and {model.config.n_vocab} tokens, "
            f"expected at least --context {chosen.context} and the {tokenizer.n_vocab} tokens of its tokenizer."
        )
    end = model.labels_and_tokens.get("eos_token_id")
    end = end[0] if isinstance(end, list) and end else end
    return Start(model, tokenizer, end if isinstance(end, int) else None, partial(_copy_tokenizer, Path(chosen.start)))


def _copy_tokenizer(start: Path, folder: Path) -> None:
    names = [name for name in BROUGHT_ALONG if (start / name).is_file()]
    with written_whole("train", folder, *names, what="the tokenizer") as paths:
        for name, path in zip(names, paths, strict=True):
            shutil.copyfile(start / name, path)
