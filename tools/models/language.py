"""The GPT of chapter 9 that is trained for longer: the characters of the Python reference, one after another."""

import hashlib
import platform
from dataclasses import asdict
from pathlib import Path

import torch
from clearbook.data.builtin import python_reference_text
from clearbook.data.text_file import count_characters, distinct_paragraphs, marked_stream
from clearbook.language_model import load_language_model, save_language_model
from clearformer.models.gpt import GPT, GPTConfig, surprisal
from clearformer.positions import Rotary
from clearformer.tokenizers import CharTokenizer
from clearformer.training import TrainConfig
from torch import nn

from tools.models.loop import drop_out, train_on, write, write_log

SIZES = {"n_positions": 256, "d_model": 128, "n_heads": 4, "n_layers": 4}
TRAINING = TrainConfig(
    n_steps=2000,
    batch_size=8,
    learning_rate=4e-3,
    warmup_steps=100,
    min_lr_ratio=0.02,
    eval_every=250,
    save_every=250,
    seed=0,
)
DROPOUT = 0.1  # the text is small: without it the model learns it by heart
HELD_OUT = 0.1


def train_language(
    target: Path, checkpoints: Path, config: TrainConfig = TRAINING, sizes: dict = SIZES, text: str | None = None
) -> None:
    """Train, and write weights in half precision, sizes, log and result to ``target``."""
    paragraphs = distinct_paragraphs(python_reference_text() if text is None else text)
    cut = round((1 - HELD_OUT) * len(paragraphs))
    tokenizer = CharTokenizer("".join(paragraphs))
    learned, held_out = (marked_stream(part, tokenizer) for part in (paragraphs[:cut], paragraphs[cut:]))
    n_characters = count_characters(paragraphs[cut:])

    def bits(model: nn.Module) -> float:
        return surprisal(model, held_out).sum().item() / n_characters

    torch.manual_seed(config.seed)
    model = GPT(GPTConfig(n_vocab=tokenizer.n_vocab + 1, rope=Rotary, **sizes))
    drop_out(model, DROPOUT)
    history, seconds = train_on(model, learned, bits, config, checkpoints)
    save_language_model(model, tokenizer, target)
    facts = {
        "bits_per_character": round(bits(load_language_model(target)[0]), 4),
        "characters": {"learned": len(learned) - 1, "held_out": n_characters},
        "held_out_sha256": hashlib.sha256("\n\n".join(paragraphs[cut:]).encode()).hexdigest(),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
        "dropout": DROPOUT,
        "training": asdict(config),
    }
    write(target / "training.json", facts)
    write_log(target / "log.csv", history, seconds, config.batch_size * sizes["n_positions"])
