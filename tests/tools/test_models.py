"""make models: what is missing is trained, a broken run goes on, the committed weights are what they say."""

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import model_language
import pytest
from clearformer.data import python_reference_text
from clearformer.language import load_language_model
from clearformer.models.gpt import surprises
from clearformer.texts import count_characters, distinct_paragraphs, marked_stream

import models

COMMITTED = Path(__file__).parents[2] / "models" / "language"
TEXT = "\n\n".join(f"paragraph {i} says that {i} times {i} is {i * i}" for i in range(200))
CONFIG = replace(model_language.TRAINING, n_steps=6, warmup=1, eval_every=2, save_every=2)
SIZES = {"n_positions": 16, "d_model": 8, "n_heads": 2, "n_layers": 1}


def train_a_little(target, checkpoints, config=CONFIG):
    checkpoints.mkdir(parents=True, exist_ok=True)
    model_language.train_language(target, checkpoints, config, SIZES, TEXT)


def test_weights_log_and_result_are_written(tmp_path):
    train_a_little(tmp_path / "out", tmp_path / "checkpoints")
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    model, tokenizer = load_language_model(tmp_path / "out")
    held_out = distinct_paragraphs(TEXT)[180:]
    bits = surprises(model, marked_stream(held_out, tokenizer)).sum().item() / count_characters(held_out)
    assert facts["bits_per_character"] == pytest.approx(bits, abs=1e-4)
    assert facts["training"]["n_steps"] == 6 and facts["training"]["seed"] == 0
    rows = list(csv.DictReader((tmp_path / "out" / "log.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == ["2", "4", "6"] and rows[1]["characters_read"] == str(4 * 8 * 16)


def test_an_interrupted_training_gives_the_same_weights_and_a_whole_log(tmp_path, monkeypatch):
    """Catches a clock that counts an evaluation twice, and a checkpoint that is not used."""
    train_a_little(tmp_path / "whole", tmp_path / "a")

    class PulledPlug(Exception):
        pass

    def pull(*arguments):
        monkeypatch.undo()
        raise PulledPlug

    real, calls = model_language.random_windows, []

    def until_the_fourth(*arguments):
        calls.append(1)
        return real(*arguments) if len(calls) < 4 else pull()

    monkeypatch.setattr(model_language, "random_windows", until_the_fourth)
    with pytest.raises(PulledPlug):
        train_a_little(tmp_path / "parts", tmp_path / "b")
    train_a_little(tmp_path / "parts", tmp_path / "b")
    assert (tmp_path / "parts" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()
    assert len((tmp_path / "parts" / "log.csv").read_text().splitlines()) == 4


def test_a_model_that_is_there_is_left_alone_and_a_missing_one_is_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "MODELS", tmp_path / "models")
    monkeypatch.setattr(models, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(models, "TRAININGS", {"tiny": train_a_little})
    assert models.main([]) == 0
    weights = tmp_path / "models" / "tiny" / "model.safetensors"
    first = weights.read_bytes()
    assert not (tmp_path / "checkpoints" / "tiny").exists()
    assert models.main(["tiny"]) == 0 and "the weights are there" in capsys.readouterr().out
    weights.unlink()
    assert models.main(["tiny"]) == 0 and weights.read_bytes() == first
    assert models.main(["huge"]) == 1 and "no model huge; there are tiny" in capsys.readouterr().err


def test_a_checkpoint_of_another_configuration_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "MODELS", tmp_path / "models")
    monkeypatch.setattr(models, "CHECKPOINTS", tmp_path / "checkpoints")
    train_a_little(tmp_path / "out", tmp_path / "checkpoints" / "tiny")
    other = replace(CONFIG, n_steps=8)
    monkeypatch.setattr(models, "TRAININGS", {"tiny": lambda t, c: train_a_little(t, c, other)})
    assert models.main([]) == 1
    assert "n_steps was 6, is 8" in capsys.readouterr().err


def test_the_committed_weights_are_small_and_as_good_as_they_say():
    """On the text they were tested with; with another version of Python the text differs, and so may the figure."""
    weights = COMMITTED / "model.safetensors"
    assert weights.stat().st_size <= 2_000_000
    facts = json.loads((COMMITTED / "training.json").read_text())
    model, tokenizer = load_language_model(COMMITTED)
    paragraphs = distinct_paragraphs(python_reference_text())
    held_out = paragraphs[round(0.9 * len(paragraphs)) :]
    same = hashlib.sha256("\n\n".join(held_out).encode()).hexdigest() == facts["held_out_sha256"]
    known = [p for p in held_out if set(p) <= set(tokenizer.characters)][:40]
    bits = surprises(model, marked_stream(known, tokenizer)).sum().item() / count_characters(known)
    assert abs(bits - facts["bits_per_character"]) < (0.25 if same else 0.6)
    assert facts["bits_per_character"] < 1.95
