"""Train the models whose weights come with the book: those that are missing. Interrupted, a training goes on later.

python tools/run.py models [austen ...]     every model when none is named; delete models/NAME to train it anew
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tools import ROOT
from tools.models import austen, digits, gpt, language, messages, nanogpt, vit

MODELS = ROOT / "models"
CHECKPOINTS = ROOT / ".cache" / "models"
WEIGHTS = "model.safetensors"
# Each writes its weights, what made them and its log into the first folder, and keeps its checkpoints in the second.
TRAININGS: dict[str, Callable[[Path, Path], None]] = {
    "austen": austen.train_austen,
    "gpt": gpt.train_gpt,
    "nanogpt": nanogpt.train_nanogpt,
    "language": language.train_language,
    "digits": digits.train_digits,
    "vit": vit.train_vit,
    "messages": messages.train_messages,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in TRAININGS]
    if unknown:
        print(f"There is no model {', '.join(unknown)}; there are {', '.join(TRAININGS)}.", file=sys.stderr)
        return 1
    try:
        for name in names or TRAININGS:
            make(name)
    except KeyboardInterrupt:
        print("\nInterrupted: run the same command again, it goes on from the last checkpoint.", file=sys.stderr)
        return 130
    except ValueError as error:
        print(f"\n{name}: {error}\nTo begin anew, delete {CHECKPOINTS / name}.", file=sys.stderr)
        return 1
    return 0


def make(name: str) -> None:
    """Train one model unless it is there. What it writes appears in its place when all of it is written."""
    target, checkpoints = MODELS / name, CHECKPOINTS / name
    if (target / WEIGHTS).exists():
        print(f"{name}: the weights are there. Delete models/{name} to train them anew.")
        return
    print(f"{name}: training", flush=True)
    unfinished = checkpoints / "written"
    shutil.rmtree(unfinished, ignore_errors=True)
    checkpoints.mkdir(parents=True, exist_ok=True)
    TRAININGS[name](unfinished, checkpoints)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(unfinished, target)
    shutil.rmtree(checkpoints)
    print(f"{name}: written to models/{name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
