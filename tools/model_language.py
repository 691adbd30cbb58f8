"""The GPT of chapter 9 that is trained for longer: the characters of the Python reference, one after another."""

import csv
import hashlib
import json
import math
import platform
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch
import torch.nn.functional as F
from clearformer.checkpoint import has_checkpoint, load
from clearformer.data import python_reference_text, random_windows
from clearformer.language import load_language_model, save_language_model
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss, surprises
from clearformer.positions import Rotary
from clearformer.texts import count_characters, distinct_paragraphs, marked_stream
from clearformer.tokenizers import CharTokenizer
from clearformer.train import TrainConfig, train
from torch import nn

SIZES = {"n_positions": 256, "d_model": 128, "n_heads": 4, "n_layers": 4}
TRAINING = TrainConfig(
    n_steps=2000,
    batch_size=8,
    learning_rate=4e-3,
    warmup=100,
    final=0.02,
    eval_every=250,
    save_every=250,
    seed=0,
)
DROPOUT = 0.1  # the text is small: without it the model learns it by heart
HELD_OUT = 0.1
DROPPED = ("tokens", "attention.out", "feed_forward.down")  # what writes into the residual stream


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
        return surprises(model, held_out).sum().item() / n_characters

    torch.manual_seed(config.seed)
    model = GPT(GPTConfig(n_vocab=tokenizer.n_vocab + 1, rope=Rotary, **sizes))
    drop_out(model, DROPOUT)
    resume = has_checkpoint(checkpoints)
    clock = Clock(checkpoints / "seconds.json", bits, len(load(checkpoints)[1]["evaluations"]) if resume else 0)
    history = train(
        model,
        next_token_loss,
        lambda n, generator: random_windows(learned, sizes["n_positions"], n, generator),
        config,
        evaluate=clock,
        folder=checkpoints,
        resume=resume,
        tokens_per_row=sizes["n_positions"],
    )
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
    write_log(target / "log.csv", history, clock.seconds, config.batch_size * sizes["n_positions"])


def drop_out(model: nn.Module, p: float) -> None:
    """Set a share ``p`` of what is written into the residual stream to zero while the model is in training mode."""

    def drop(module, inputs, output):
        return F.dropout(output, p, module.training)

    for name, module in model.named_modules():
        if name.endswith(DROPPED):
            module.register_forward_hook(drop)


class Clock:
    """An evaluation that also notes the seconds of processor time so far, over interruptions as well."""

    def __init__(self, path: Path, evaluate: Callable[[nn.Module], float], done: int):
        self.path, self.evaluate = path, evaluate
        self.seconds: list[float] = json.loads(path.read_text())[:done] if done else []
        self.before = (self.seconds[-1] if self.seconds else 0.0) - time.process_time()

    def __call__(self, model: nn.Module) -> float:
        result = self.evaluate(model)
        self.seconds.append(round(self.before + time.process_time(), 1))
        write(self.path, self.seconds)
        return result


def write(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_log(path: Path, history, seconds: list[float], characters_per_step: int) -> None:
    """One line for every evaluation: what had been read, the loss since the last line, the held-out loss, the time."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["step", "characters_read", "training_bits", "held_out_bits", "processor_seconds"])
        before = 0
        for (step, held_out), second in zip(history.evaluations.items(), seconds, strict=True):
            part = history.losses[before:step]
            training = sum(part) / len(part) / math.log(2)
            rows.writerow([step, step * characters_per_step, round(training, 4), round(held_out, 4), second])
            before = step
