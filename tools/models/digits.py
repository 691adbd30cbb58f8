"""How many labels a reader of digits needs: the measurement of chapter 10, with the page's own code, and its painter.

The cells of the page that carry the tag ``in-measurement`` are run as they stand; here is only what they are run for.
An interrupted measurement goes on behind the last line that it has written.
"""

import csv
import json
import math
import platform
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import torch
import torch.nn.functional as F
from clearbook.data.course_files import find_kept_files
from clearbook.data.mnist import mnist_split
from safetensors.torch import save_file
from torch import nn

from tools import ROOT
from tools.models.loop import write

PAGE = ROOT / "chapters" / "10-images.ipynb"
CLOSER = ROOT / "chapters" / "closer" / "10-class-token.ipynb"  # pools by the mean
TAG = "in-measurement"
N_LABELS = (30, 100, 300, 1000, 4000)
SEEDS = range(5)
HEADER = ("model", "labels", "seed", "accuracy")
FEW_LABELS = N_LABELS[:3]
MANY_STEPS, MANY_SEEDS = 800, range(3)  # for few labels: four times the steps of the first comparison
RATES = (0.001, 0.01, 0.03)  # beside the one of the first comparison
MOVES = tuple(product(range(5), repeat=2))  # up to two pixels, down or up, right or left


def page_code(pages: tuple[Path, ...] = (PAGE, CLOSER)) -> dict:
    """What the marked cells of the pages define."""
    find_kept_files()  # they import transformer.py
    names: dict = {"torch": torch, "F": F, "nn": nn, "math": math, "mnist_split": mnist_split}
    for page in pages:
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        marked = ["".join(cell["source"]) for cell in cells if TAG in cell["metadata"].get("tags", [])]
        for source in marked:
            exec(compile(source, f"{page.name}, a cell with the tag {TAG}", "exec"), names)
    return names


def train_digits(target: Path, checkpoints: Path, seeds=SEEDS, n_labels=N_LABELS, steps: int | None = None) -> None:
    """Measure, and write the accuracies, what made them, and the weights of the first painter to ``target``."""
    torch.set_num_threads(1)
    checkpoints.mkdir(parents=True, exist_ok=True)
    code, log = page_code(), checkpoints / "accuracy.csv"
    runs = readers(code, {seed: painter(code, seed, checkpoints, steps) for seed in seeds}, steps)
    runs |= readers_at_rates(code, steps)
    for seed in seeds:
        for name, (labels, read) in runs.items():
            if (name.endswith(f"{MANY_STEPS} steps") or ", rate " in name) and seed not in MANY_SEEDS:
                continue
            for n in (n for n in n_labels if n in labels):
                measure(log, (name, n, seed), partial(read, n, seed))
    target.mkdir(parents=True, exist_ok=True)
    rows = sorted(read_log(log).items(), key=lambda row: (list(runs).index(row[0][0]), *row[0][1:]))
    with (target / "accuracy.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *((*key, f"{share:.3f}") for key, (share, _) in rows)])
    save_file(torch.load(painter_path(checkpoints, seeds[0])), target / "model.safetensors")
    facts = {
        "processor": processor(),
        "processor_minutes": round(sum(seconds for _, seconds in read_log(log).values()) / 60, 1),
        "threads": 1,
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
    }
    write(target / "training.json", facts)


def readers(code: dict, painters: dict, steps: int | None) -> dict[str, tuple[tuple, Callable[[int, int], float]]]:
    """By name: for how many labels it is measured, and the accuracy of one run."""
    x, y, fit, accuracy, shifted = (code[name] for name in ("x", "y", "fit", "accuracy", "shifted"))

    def choose_rows(n, seed):
        """The labels of a run: another draw for every seed."""
        return torch.randperm(len(x), generator=torch.Generator().manual_seed(1000 + seed))[:n]

    def trained_reader(make, change=None, n_steps=None):
        def read(n, seed):
            rows = choose_rows(n, seed)
            torch.manual_seed(seed)
            return accuracy(fit(make(seed), x[rows], y[rows], steps or n_steps or code["steps_for"](n), seed, change))

        return read

    def nearest_accuracy(n, seed):
        rows = choose_rows(n, seed)
        return float((code["nearest"](x[rows], y[rows]) == code["y_new"]).double().mean())

    def nearest_shifted(n, seed):
        """With a copy of each picture at all 25 places that `shifted` may move it to."""
        rows = choose_rows(n, seed)
        padded = F.pad(x[rows], (2, 2, 2, 2), value=x.min().item())
        copies = torch.cat([padded[:, :, down : down + 28, right : right + 28] for down, right in MOVES])
        return float((code["nearest"](copies, y[rows].repeat(len(MOVES))) == code["y_new"]).double().mean())

    def painters_vit(seed):
        model = code["MaskedAutoencoder"](code["VisionTransformer"]())
        model.load_state_dict(painters[seed])
        return model.vit

    vit, cnn = (lambda seed: code["VisionTransformer"]()), (lambda seed: code["cnn"]())
    return {
        "ViT": (N_LABELS, trained_reader(vit)),
        "CNN": (N_LABELS, trained_reader(cnn)),
        "softmax": (N_LABELS, trained_reader(lambda seed: code["softmax_regression"]())),
        "1-NN": (N_LABELS, nearest_accuracy),
        "1-NN, shifted": (N_LABELS, nearest_shifted),
        "ViT, shifted": (N_LABELS, trained_reader(vit, shifted)),
        "CNN, shifted": (N_LABELS, trained_reader(cnn, shifted)),
        "ViT, 800 steps": (FEW_LABELS[2:], trained_reader(vit, None, MANY_STEPS)),
        "ViT, shifted, 800 steps": ((30, 300), trained_reader(vit, shifted, MANY_STEPS)),
        "CNN, shifted, 800 steps": (FEW_LABELS[2:], trained_reader(cnn, shifted, MANY_STEPS)),
        "ViT, mean, shifted": (FEW_LABELS[2:], trained_reader(lambda seed: code["MeanPooled"](), shifted)),
        "ViT, drew first, shifted": (FEW_LABELS, trained_reader(painters_vit, shifted)),
    }


def readers_at_rates(code: dict, steps: int | None) -> dict[str, tuple[tuple, Callable[[int, int], float]]]:
    """As in ``readers``: both ways to pool, each at other learning rates than that of the chapter."""

    def reader_at(rate, make):
        def read(n, seed):
            images, labels = code["labelled"](n, seed)
            torch.manual_seed(seed)
            n_steps = steps or code["steps_for"](n)
            return code["accuracy"](code["fit_at"](rate, make(), images, labels, n_steps, seed))

        return read

    return {
        f"{name}, rate {rate}": (FEW_LABELS[2:], reader_at(rate, code[model]))
        for name, model in {"ViT, shifted": "VisionTransformer", "ViT, mean, shifted": "MeanPooled"}.items()
        for rate in RATES
    }


def measure(log: Path, key: tuple[str, int, int], run: Callable[[], float]) -> None:
    """Add a line to the log unless it is there."""
    if key in read_log(log):
        return
    start = time.process_time()
    share = run()
    with log.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow([*key, share, time.process_time() - start])
    print(*key, f"{share:.1%}", flush=True)


def read_log(log: Path) -> dict[tuple[str, int, int], tuple[float, float]]:
    """Accuracy and processor seconds of every run so far."""
    if not log.exists():
        return {}
    with log.open(newline="", encoding="utf-8") as file:
        return {(name, int(n), int(seed)): (float(a), float(s)) for name, n, seed, a, s in csv.reader(file)}


def painter_path(checkpoints: Path, seed: int) -> Path:
    return checkpoints / f"painter-{seed}.pt"


def painter(code: dict, seed: int, checkpoints: Path, steps: int | None) -> dict:
    """Weights that have learned to draw all the pictures to learn from, without a label."""
    if not painter_path(checkpoints, seed).exists():
        torch.manual_seed(seed)
        model = code["MaskedAutoencoder"](code["VisionTransformer"]())
        code["learn_to_draw"](model, code["x"], seed=seed, **({"n_steps": steps} if steps else {}))
        torch.save(model.state_dict(), painter_path(checkpoints, seed))
    return torch.load(painter_path(checkpoints, seed))


def processor() -> str:
    """The name of the processor, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line for line in lines if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.processor() or platform.machine()
