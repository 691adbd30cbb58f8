"""What the trainings of the shipped models share: windows, dropout, a clock that survives interruptions, the log."""

import csv
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from clearbook.data.builtin import random_windows
from clearformer.checkpoint import has_checkpoint, load
from clearformer.models.gpt import GPT, next_token_loss
from clearformer.training import History, TrainConfig, train
from torch import nn

DROPPED = ("tokens", "attention.out", "feed_forward.down")  # what writes into the residual stream


def train_on(
    model: GPT, ids: torch.Tensor, evaluate: Callable, config: TrainConfig, checkpoints: Path
) -> tuple[History, list[float]]:
    """Train on windows from random places; returns what happened and the processor seconds at each evaluation."""
    length = model.config.n_positions
    resume = has_checkpoint(checkpoints)
    clock = Clock(checkpoints / "seconds.json", evaluate, len(load(checkpoints)[1]["evaluations"]) if resume else 0)
    history = train(
        model,
        next_token_loss,
        lambda n, generator: random_windows(ids, length, n, generator),
        config,
        evaluate=clock,
        folder=checkpoints,
        resume=resume,
        tokens_per_row=length,
    )
    return history, clock.seconds


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
        self.seconds: list[float] = json.loads(path.read_text(encoding="utf-8"))[:done] if done else []
        self.before = (self.seconds[-1] if self.seconds else 0.0) - time.process_time()

    def __call__(self, model: nn.Module) -> float:
        result = self.evaluate(model)
        self.seconds.append(round(self.before + time.process_time(), 1))
        write(self.path, self.seconds)
        return result


def write(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_log(
    path: Path, history: History, seconds: list[float], characters_per_step: int, tokens_per_character: float = 1.0
) -> None:
    """One line for every evaluation: what had been read, the loss since the last line, the held-out loss, the time."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["step", "characters_read", "training_bits", "held_out_bits", "processor_seconds"])
        before = 0
        for (step, held_out), second in zip(history.evaluations.items(), seconds, strict=True):
            part = history.losses[before:step]
            training = sum(part) / len(part) / math.log(2) * tokens_per_character
            rows.writerow([step, step * characters_per_step, round(training, 4), round(held_out, 4), second])
            before = step
