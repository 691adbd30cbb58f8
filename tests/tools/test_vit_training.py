"""make models ARGS=vit: the steps are chosen on other pictures than those that are read at the end."""

import csv
import json
from pathlib import Path

import jaxtyping
import pytest
import torch
from safetensors.torch import load_file

from tests.claims.chapter_10_steps import BEST_TIMES, MOVED_STEPS
from tools.models import vit
from tools.models.digits import PAGE, page_code

COMMITTED = Path(__file__).parents[2] / "models" / "vit"


@pytest.fixture(autouse=True)
def shapes_unchecked(monkeypatch):
    """mnist_split gives two sets of unequal size, and its annotation names their rows alike."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def rows_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "log.csv").read_text(encoding="utf-8").splitlines()))


def train_a_little(target: Path, checkpoints: Path) -> None:
    vit.train_vit(target, checkpoints, n_steps=(2, 4), seeds=(0,))


def test_the_best_number_of_steps_is_chosen_on_pictures_kept_back():
    """Catches a choice by what is held out, by the other model, or of the longer of two that are as good."""
    log = {
        ("ViT", vit.CHOOSING, 3000, 2, 0): (0.5, 1.0),
        ("ViT", vit.CHOOSING, 3000, 4, 0): (0.5, 1.0),
        ("ViT", vit.TESTING, 4000, 8, 0): (0.9, 1.0),
        ("CNN", vit.CHOOSING, 3000, 4, 0): (0.8, 1.0),
    }
    assert (vit.best_steps(log, "ViT"), vit.best_steps(log, "CNN")) == (2, 4)


def test_both_models_are_tried_at_every_number_of_steps_and_read_at_the_best_of_either(tmp_path):
    train_a_little(tmp_path / "out", tmp_path / "checkpoints")
    rows = rows_of(tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "training.json").read_text(encoding="utf-8"))
    for name in ("ViT", "CNN"):
        chosen = [row for row in rows if row["model"] == name and row["read"] == vit.CHOOSING]
        read = [row for row in rows if row["model"] == name and row["read"] == vit.TESTING]
        assert [(row["labels"], row["steps"]) for row in chosen] == [("3000", "2"), ("3000", "4")]
        either = sorted({*facts["n_steps"].values()})
        assert [(row["labels"], row["steps"]) for row in read] == [("4000", str(steps)) for steps in either]


def test_an_interrupted_training_goes_on_behind_its_last_line(tmp_path, capsys):
    train_a_little(tmp_path / "out", tmp_path / "checkpoints")
    capsys.readouterr()
    train_a_little(tmp_path / "again", tmp_path / "checkpoints")
    assert "%" not in capsys.readouterr().out
    assert rows_of(tmp_path / "again") == rows_of(tmp_path / "out")


def test_the_committed_vit_is_as_good_as_its_log_says():
    """Catches weights of another start, and a log with another number of steps than the choice asks for."""
    code, log = page_code((PAGE,)), vit.read_log(COMMITTED / "log.csv")
    model = code["VisionTransformer"]()
    model.load_state_dict(load_file(COMMITTED / "model.safetensors"))
    read = {key: right for key, (right, _) in log.items() if key[1] == vit.TESTING}
    either = sorted({vit.best_steps(log, name) for name in vit.NAMES})
    for name in vit.NAMES:
        steps = [key[3] for key in read if key[0] == name]
        assert sorted(steps) == sorted(either * len(vit.SEEDS))
    torch.set_num_threads(1)
    first = read["ViT", vit.TESTING, 4000, vit.best_steps(log, "ViT"), 0]
    assert abs(code["accuracy"](model) - first) < 0.0015


def test_the_register_takes_the_steps_that_were_chosen():
    log = vit.read_log(COMMITTED / "log.csv")
    chosen = {name: vit.best_steps(log, name[:3]) for name in BEST_TIMES}
    assert chosen == {name: MOVED_STEPS * times for name, times in BEST_TIMES.items()}
