"""The yardstick of the shipped model: nanoGPT's recipe for a processor, on the same text, for the same time.

python -m tools.models.nanogpt     that recipe as its README gives it, 2,000 steps, into models/nanogpt/recipe.csv
"""

import json
import platform
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from clearbook.data.austen import austen_split
from clearbook.data.builtin import random_windows
from clearbook.data.text_file import count_characters, marked_stream
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss
from clearformer.tokenizers import CharTokenizer
from clearformer.training import TrainConfig, train
from safetensors.torch import save_file

from tools import ROOT
from tools.models.austen import bits
from tools.models.loop import drop_out, train_on, write, write_log

# The settings that nanoGPT's README gives for a laptop without a GPU; characters, learned positions, no dropout.
SIZES = {"n_positions": 64, "d_model": 128, "n_heads": 4, "n_layers": 4}
DROPOUT = 0.0
TRAINING = TrainConfig(
    n_steps=2000,
    batch_size=12,
    learning_rate=1e-3,
    warmup_steps=100,
    min_lr_ratio=0.1,
    betas=(0.9, 0.99),
    eval_every=2000,
    save_every=1000,
    seed=0,
)
TRIAL_STEPS = 200  # to see how many steps fit into the time
AUSTEN = ROOT / "models" / "austen" / "log.csv"
RECIPE = ROOT / "models" / "nanogpt" / "recipe.csv"


def train_nanogpt(
    target: Path, checkpoints: Path, config: TrainConfig = TRAINING, seconds: float | None = None
) -> None:
    """Train for ``seconds`` of processor time, as many as the shipped model took if None; write what came of it."""
    learned_texts, held_out_texts = austen_split()
    tokenizer = CharTokenizer("".join(learned_texts + held_out_texts))
    learned, held_out = (marked_stream(part, tokenizer) for part in (learned_texts, held_out_texts))
    evaluate = partial(bits, held_out, count_characters(held_out_texts))
    config = replace(config, n_steps=_steps(learned, tokenizer, config, seconds or _seconds_of_austen(), checkpoints))
    model = _model(tokenizer, config)
    history, spent = train_on(model, learned, evaluate, config, checkpoints)
    facts = {
        "bits_per_character": round(evaluate(model, stride=SIZES["n_positions"] // 4), 4),
        "parameters": sum(p.numel() for p in model.parameters()),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
        "dropout": DROPOUT,
        "sizes": SIZES,
        "training": asdict(config),
    }
    target.mkdir(parents=True, exist_ok=True)
    save_file({name: p.detach().half() for name, p in model.named_parameters()}, target / "model.safetensors")
    write(target / "training.json", facts)
    write_log(target / "log.csv", history, spent, config.batch_size * SIZES["n_positions"])


def train_recipe(log: Path, checkpoints: Path, config: TrainConfig = TRAINING) -> None:
    """Train for the recipe's own steps, its schedule to its end; write the log alone."""
    learned_texts, held_out_texts = austen_split()
    tokenizer = CharTokenizer("".join(learned_texts + held_out_texts))
    learned, held_out = (marked_stream(part, tokenizer) for part in (learned_texts, held_out_texts))
    evaluate = partial(bits, held_out, count_characters(held_out_texts))
    checkpoints.mkdir(parents=True, exist_ok=True)
    history, seconds = train_on(_model(tokenizer, config), learned, evaluate, config, checkpoints)
    write_log(log, history, seconds, config.batch_size * SIZES["n_positions"])


def _model(tokenizer: CharTokenizer, config: TrainConfig) -> GPT:
    torch.manual_seed(config.seed)
    sizes: dict[str, Any] = {**SIZES}
    model = GPT(GPTConfig(n_vocab=tokenizer.n_vocab + 1, **sizes))
    drop_out(model, DROPOUT)
    return model


def _seconds_of_austen() -> float:
    return float(AUSTEN.read_text(encoding="utf-8").splitlines()[-1].split(",")[-1])


def _steps(ids, tokenizer, config, seconds, checkpoints) -> int:
    """How many steps take so many seconds of processor time; noted, so that a resumed training has as many."""
    noted = checkpoints / "steps.json"
    if not noted.exists():
        trial = replace(config, n_steps=TRIAL_STEPS, eval_every=0, save_every=0)
        before = time.process_time()
        batch = partial(random_windows, ids, SIZES["n_positions"])
        train(_model(tokenizer, config), next_token_loss, batch, trial, progress=False)
        a_step = (time.process_time() - before) / TRIAL_STEPS
        checkpoints.mkdir(parents=True, exist_ok=True)
        write(noted, max(round(seconds / a_step), config.warmup_steps + 1))
    return json.loads(noted.read_text(encoding="utf-8"))


if __name__ == "__main__":
    train_recipe(RECIPE, ROOT / ".cache" / "models" / "nanogpt-recipe")
