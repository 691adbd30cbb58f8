"""What a user passes, and what is refused: texts, paths, lists and functions; and files that are whole or not there."""

import inspect
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from clearbook import language_model
from clearformer import TrainConfig, checkpoint, checks, files, from_pretrained, positions, save_pretrained
from clearformer.checkpoint import has_checkpoint, load, load_model
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss
from clearformer.pretrained import folders
from clearformer.tokenizers import CharTokenizer
from clearformer.training import train
from torch import nn

MODEL = GPT(GPTConfig(7, 8, 8, 2, 1))
ROWS = lambda n, generator: (torch.zeros(n, 4).long(), torch.zeros(n, 4).long())  # noqa: E731
NO_PATHS = [None, True, 3, b"bytes", ["a"], int, torch.zeros(3), "", "a\0b"]


def case_name(value) -> str:
    """The name of a case; that of an object alone would be another in each process."""
    return "an object" if type(value) is object else repr(value)


def without_types(function):
    """The function without the checks of types that the tests add."""
    return inspect.unwrap(function)


@pytest.fixture(autouse=True)
def _without_types_within(monkeypatch):
    """Nor those of what these functions call with what they are given."""
    monkeypatch.setattr(checkpoint, "load", without_types(load))
    monkeypatch.setattr(folders, "fetch", without_types(folders.fetch))


def run(**changed):
    settings = {"loss": next_token_loss, "batch": ROWS, "config": TrainConfig(1, 2), "progress": False}
    return without_types(train)(MODEL, **(settings | changed))


TAKES_A_PATH = {
    "load_language_model": without_types(language_model.load_language_model),
    "save_language_model": lambda path: without_types(language_model.save_language_model)(MODEL, None, path),
    "has_checkpoint": without_types(has_checkpoint),
    "load": without_types(load),
    "load_model": lambda path: without_types(load_model)(path, MODEL),
    "from_pretrained": without_types(from_pretrained),
    "save_pretrained": lambda path: without_types(save_pretrained)(MODEL, path),
    "train": lambda path: run(folder=path),
}


@pytest.mark.parametrize("name", TAKES_A_PATH)
@pytest.mark.parametrize("path", NO_PATHS, ids=case_name)
def test_what_is_no_path_is_refused_wherever_one_is_taken(name, path, tmp_path, monkeypatch):
    """Catches an error of pathlib, and a file in whatever folder the program is in."""
    monkeypatch.chdir(tmp_path)
    if name == "train" and path is None:
        return  # then nothing is kept
    expected = "is no path, expected that of a folder" if isinstance(path, str) else "expected the path of a folder"
    with pytest.raises((TypeError, ValueError), match=rf"^{name}: (name|folder)=.* {expected}"):
        TAKES_A_PATH[name](path)
    assert not list(tmp_path.iterdir())


class AsPath:
    def __fspath__(self):
        return "here"


def test_a_path_is_a_text_or_what_stands_for_one():
    assert [checks.check_path("f", "p", p, "a file") for p in ("here", Path("here"), AsPath())] == [Path("here")] * 3


@pytest.mark.parametrize("items", [range(3), (0, 1, 2), {0: "a", 1: "b", 2: "c"}, iter([0, 1, 2]), np.arange(3)])
def test_items_are_those_of_whatever_has_some(items):
    assert checks.check_items("f", "items", items, "numbers") == [0, 1, 2]


@pytest.mark.parametrize(
    "items", [None, "012", 3, 2.5, len, int, object(), torch.tensor(3), np.array(3)], ids=case_name
)
def test_what_has_no_items_is_refused(items):
    """Catches a text taken for a list of its characters, and a tensor of no axes, which looks like a list."""
    with pytest.raises(TypeError, match=rf"^f: items=.*\b{type(items).__name__}, expected numbers\.$"):
        checks.check_items("f", "items", items, "numbers")


@pytest.mark.parametrize("wrong", [None, 3, "gelu", len, int, print, torch.zeros(3)], ids=case_name)
def test_what_cannot_be_called_on_tensors_is_refused(wrong):
    """Catches a function of Python's own, which would fail in words about its arguments."""
    for check in (checks.check_callable, checks.check_function):
        with pytest.raises(TypeError, match=r"^f: g=.* to call, such as this"):
            check("f", "g", wrong, "this")


@pytest.mark.parametrize("right", [F.gelu, torch.tanh, nn.GELU(), partial(F.gelu, approximate="tanh"), lambda x: x])
def test_functions_of_torch_modules_and_partials_may_be_called(right):
    assert checks.check_function("f", "g", right, "this") is right
    assert checks.check_callable("f", "g", nn.LayerNorm, "this") is nn.LayerNorm


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run(loss=nn.CrossEntropyLoss), r"train: loss=CrossEntropyLoss is a class.*\bCrossEntropyLoss\("),
        (lambda: run(batch=torch.utils.data.DataLoader), "train: batch=DataLoader is a class"),
        (lambda: run(batch=torch.zeros(2, 4)), "train: batch=tensor.*function .*iterable"),
        (lambda: run(batch=torch.tensor(3)), "train: batch=tensor.* a function"),
        (lambda: run(evaluate=len), "train: evaluate=.*function len>.*lambda model"),
        (
            lambda: without_types(train)(nn.Linear, None, None, None),
            r"train: model=<class .*torch\.nn\.Module",
        ),
        (lambda: without_types(load_model)("a", [MODEL]), "load_model: model=.*, expected a torch.nn.Module"),
        (lambda: GPTConfig(7, 8, 8, 2, 1, activation=nn.GELU), r"GPTConfig: activation=GELU is a class"),
        (lambda: GPTConfig(7, 8, 8, 2, 1, norm=len), "GPTConfig: norm=.*function len>.* a class"),
        (lambda: without_types(from_pretrained)("a", revision=3), "revision=3 .*int, expected str"),
    ],
)
def test_a_function_or_a_name_of_another_kind_is_named(call, message):
    """Catches a class in place of an object of it, and rows without the tuple around them."""
    with pytest.raises(TypeError, match=message):
        call()


SAVED = {
    "save_pretrained": (folders, lambda model, folder: save_pretrained(model, folder)),
    "save_language_model": (
        language_model,
        lambda model, folder: language_model.save_language_model(model, CharTokenizer("abcdef"), folder),
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_folder_of_a_model_has_one_model_in_it_when_saving_is_stopped(name, tmp_path, monkeypatch):
    """Catches files that are written in place, and a configuration that is replaced before its weights."""
    module, save = SAVED[name]
    rotary = positions.Rotary if name == "save_language_model" else None
    model, larger = (GPT(GPTConfig(7, 8, 8, 2, n, rope=rotary)) for n in (1, 2))
    save(model, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    real = module.save_file

    def save_and_stop(tensors, path, *_, **options):
        real(tensors, path, *_, **options)
        os.truncate(path, 900)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(module, "save_file", save_and_stop)
        save(larger, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    save(larger, tmp_path)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.keys() == before.keys() and all(after[file] != before[file] for file in after)


def test_files_take_their_names_together_or_not_at_all(tmp_path, monkeypatch):
    """Catches a rename before all is on the disk: after a power cut the new name could stand for an empty file."""
    told = []
    monkeypatch.setattr(files, "_flush", lambda path: told.append(("flush", path.name)))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (told.append(("rename", b.name)), replace(a, b)))
    with files.replaced_whole(tmp_path / "one", tmp_path / "two") as beside:
        for path in beside:
            path.write_text(path.name)
        assert not (tmp_path / "one").exists()
    assert [how for how, _ in told] == ["flush", "flush", "rename", "rename", "flush"]
    assert {path.name for path in tmp_path.iterdir()} == {"one", "two"} and told[-1][1] == tmp_path.name
