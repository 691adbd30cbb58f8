"""The reader's ViT of chapter 10 and the CNN beside it, with all labels, each with its own best number of steps.

The cells of the page that carry the tag ``in-measurement`` are run as they stand. The number of steps is chosen on
labelled pictures that are kept back for it; then the held-out ones are read, from every start, by both models after
either's best number.
An interrupted training goes on behind the last line that it has written.
"""

import csv
import platform
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import torch
from safetensors.torch import save_file

from tools.models.digits import PAGE, page_code, processor
from tools.models.loop import write

N_STEPS = (800, 3200, 6400, 25600)
SEEDS = (0, 1, 2)
NAMES = ("ViT", "CNN")
TO_CHOOSE = 1000  # labelled pictures on which the number of steps is chosen
HEADER = ("model", "read", "labels", "steps", "seed", "accuracy", "processor_seconds")
CHOOSING, TESTING = "to choose the steps", "held out"
Key = tuple[str, str, int, int, int]  # all columns but the last two


def train_vit(target: Path, checkpoints: Path, n_steps=N_STEPS, seeds=SEEDS, to_choose: int = TO_CHOOSE) -> None:
    """Choose the steps, train from every seed, and write the log, what made it, and the first ViT to ``target``."""
    torch.set_num_threads(1)
    checkpoints.mkdir(parents=True, exist_ok=True)
    code, log = page_code((PAGE,)), checkpoints / "log.csv"
    n_labels = len(code["x"]) - to_choose
    for name, steps in product(NAMES, n_steps):
        measure(log, (name, CHOOSING, n_labels, steps, 0), partial(validate, code, name, n_labels, steps))
    best = {name: best_steps(read_log(log), name) for name in NAMES}
    for name, steps, seed in product(NAMES, sorted({*best.values()}), seeds):  # each at the other's best, too
        run = partial(read_held_out, code, name, steps, seed, checkpoints)
        measure(log, (name, TESTING, len(code["x"]), steps, seed), run)
    target.mkdir(parents=True, exist_ok=True)
    write_log(target / "log.csv", read_log(log))
    save_file(torch.load(weights_path(checkpoints, "ViT", best["ViT"], seeds[0])), target / "model.safetensors")
    write(target / "training.json", facts(read_log(log)))


def trained(code: dict, name: str, images: torch.Tensor, labels: torch.Tensor, n_steps: int, seed: int):
    """One training with the page's loop, its pictures moved in every way that the page knows."""
    torch.manual_seed(seed)
    model = code["VisionTransformer"]() if name == "ViT" else code["cnn"]()
    return code["fit"](model, images, labels, n_steps, seed, code["moved"])


def validate(code: dict, name: str, n_labels: int, n_steps: int) -> float:
    """The accuracy on the labelled pictures that are not among the first ``n_labels``."""
    images, labels = code["labelled"](len(code["x"]))
    model = trained(code, name, images[:n_labels], labels[:n_labels], n_steps, 0)
    with torch.no_grad():
        return (model(images[n_labels:]).argmax(dim=1) == labels[n_labels:]).double().mean().item()


def read_held_out(code: dict, name: str, n_steps: int, seed: int, checkpoints: Path) -> float:
    """The accuracy on the held-out pictures after a training on all the others, whose weights are kept."""
    images, labels = code["labelled"](len(code["x"]), seed)
    model = trained(code, name, images, labels, n_steps, seed)
    torch.save(model.state_dict(), weights_path(checkpoints, name, n_steps, seed))
    return code["accuracy"](model)


def best_steps(log: dict[Key, tuple[float, float]], name: str) -> int:
    """The number of steps with the highest accuracy on the pictures to choose on; of several the smallest."""
    tried = {key[3]: right for key, (right, _) in log.items() if key[:2] == (name, CHOOSING)}
    return max(sorted(tried), key=tried.__getitem__)


def measure(log: Path, key: Key, run: Callable[[], float]) -> None:
    """Add a line to the log unless it is there."""
    if key in read_log(log):
        return
    start = time.process_time()
    right = run()
    write_log(log, read_log(log) | {key: (right, time.process_time() - start)})
    print(*key, f"{right:.1%}", flush=True)


def read_log(log: Path) -> dict[Key, tuple[float, float]]:
    """Accuracy and processor seconds of every run so far."""
    if not log.exists():
        return {}
    with log.open(newline="", encoding="utf-8") as file:
        rows = [list(row.values()) for row in csv.DictReader(file)]
    return {
        (name, read, int(n_labels), int(n_steps), int(seed)): (float(right), float(seconds))
        for name, read, n_labels, n_steps, seed, right, seconds in rows
    }


def write_log(log: Path, runs: dict[Key, tuple[float, float]]) -> None:
    rows = [(*key, f"{right:.3f}", f"{seconds:.0f}") for key, (right, seconds) in sorted(runs.items())]
    with log.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def weights_path(checkpoints: Path, name: str, n_steps: int, seed: int) -> Path:
    return checkpoints / f"{name}-{n_steps}-{seed}.pt"


def facts(log: dict[Key, tuple[float, float]]) -> dict:
    """What made the log."""
    return {
        "n_steps": {name: best_steps(log, name) for name in NAMES},
        "processor": processor(),
        "processor_minutes": round(sum(seconds for _, seconds in log.values()) / 60, 1),
        "threads": 1,
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
    }
