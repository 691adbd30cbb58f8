"""The reader's GPT of chapter 9, trained by the program that the reader types: chapters/gpt.py."""

import contextlib
import csv
import platform
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import torch
from clearbook.data.course_files import find_kept_files

from tools import ROOT
from tools.models.loop import write

PROGRAM = ROOT / "chapters" / "gpt.py"
N_STEPS = 5000


def train_gpt(target: Path, checkpoints: Path, n_steps: int = N_STEPS, path: Path | None = None) -> None:
    """Run the program, with a text of its own if ``path`` names one; an interrupted training begins anew."""
    checkpoints.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(checkpoints):  # where it leaves its gpt.pt
        load_program().main(path, n_steps, target)
    write(target / "training.json", facts(target / "log.csv", n_steps))


def facts(log: Path, n_steps: int) -> dict:
    """What made the weights beside a log."""
    last = list(csv.DictReader(log.read_text(encoding="utf-8").splitlines()))[-1]
    return {
        "bits_per_character": float(last["held_out_bits"]),
        "n_steps": n_steps,
        "seed": 0,
        "processor_seconds": float(last["processor_seconds"]),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
        "command": "python chapters/gpt.py",
    }


def load_program() -> ModuleType:
    """chapters/gpt.py as a module, with the course's transformer.py."""
    find_kept_files()
    loader = SourceFileLoader("typed_gpt", str(PROGRAM))
    module = sys.modules[loader.name] = ModuleType(loader.name)
    loader.exec_module(module)
    return module
