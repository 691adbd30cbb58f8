"""make models: what is missing is trained, a broken run goes on, the committed weights are what they say."""

import csv
import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from clearbook.data.austen import austen_novels, austen_split, in_chapters
from clearbook.data.builtin import python_reference_text
from clearbook.data.text_file import count_characters, distinct_paragraphs, marked_stream
from clearbook.language_model import load_language_model
from clearformer.models.gpt import surprisal
from safetensors.torch import load_file

from tools.models import austen, gpt, loop, train

REFERENCE = Path(__file__).parents[2] / "models" / "language"
AUSTEN = REFERENCE.with_name("austen")
TEXTS = tuple(
    ["\n\n".join(f"paragraph {i} says that {i} times {i} is {i * i}" for i in part) for part in parts]
    for parts in ((range(90), range(100, 190)), (range(90, 100), range(190, 200)))
)
CONFIG = replace(austen.TRAINING, n_steps=6, warmup_steps=1, eval_every=2, save_every=2)
SIZES = {"n_positions": 16, "d_model": 8, "n_heads": 2, "n_layers": 1}


def train_a_little(target, checkpoints, config=CONFIG):
    checkpoints.mkdir(parents=True, exist_ok=True)
    austen.train_austen(target, checkpoints, config, SIZES, 20, TEXTS)


def test_each_novel_is_whole_and_its_last_tenth_is_never_learned():
    """Catches a novel that is cut, read twice, or learned to its end."""
    novels, (learned, held_out) = austen_novels(), austen_split()
    assert len(novels) == 6 and sum(map(len, novels.values())) > 4_000_000
    assert [first + last for first, last in zip(learned, held_out, strict=True)] == [*novels.values()]
    for text, last in zip(novels.values(), held_out, strict=True):
        assert len(last) == pytest.approx(len(text) / 10, abs=1) and not any(last[:200] in part for part in learned)
    assert novels["Emma"].startswith("EMMA") and novels["Northanger Abbey"].endswith(
        "*Vide a letter from Mr. Richardson, No. 97, Vol. II, Rambler.\n"
    )


def test_a_paragraph_is_one_line_and_verse_keeps_its_own():
    """Catches line breaks of the printed book, which no reader of the sentence could foresee."""
    novels = austen_novels()
    sentence = "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be"
    assert f"\n\n{sentence}" in novels["Pride and Prejudice"]
    assert "kings,\n      Lords of the earth!" in novels["Emma"]


def test_chapters_are_the_novels_cut_before_each_heading():
    """Catches a heading that is missed, or taken for one in the middle of a line, and characters that get lost."""
    novels = [*austen_novels().values()]
    chapters = in_chapters(novels)
    assert "".join(chapters) == "".join(novels)
    assert len(chapters) == 6 + 50 + 61 + 48 + 55 + 31 + 24
    assert sum(chapter.upper().startswith("CHAPTER ") for chapter in chapters) == len(chapters) - 6


def test_weights_log_and_result_are_written(tmp_path):
    train_a_little(tmp_path / "out", tmp_path / "checkpoints")
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    model, tokenizer = load_language_model(tmp_path / "out")
    held_out = TEXTS[1]
    measured = surprisal(model, marked_stream(held_out, tokenizer), stride=4).sum().item() / count_characters(held_out)
    assert facts["bits_per_character"] == pytest.approx(measured, abs=1e-4)
    assert facts["baselines"]["5-gram"] < facts["baselines"]["bigram"] < facts["baselines"]["unigram"]
    assert facts["training"]["n_steps"] == 6 and facts["training"]["seed"] == 0
    rows = list(csv.DictReader((tmp_path / "out" / "log.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == ["2", "4", "6"]
    per_token = facts["characters"]["learned"] / facts["tokens"]["learned"]
    assert int(rows[1]["characters_read"]) == pytest.approx(4 * CONFIG.batch_size * 16 * per_token, rel=0.01)


def test_an_interrupted_training_gives_the_same_weights_and_a_whole_log(tmp_path, monkeypatch):
    """Catches a clock that counts an evaluation twice, and a checkpoint that is not used."""
    train_a_little(tmp_path / "whole", tmp_path / "a")

    class PulledPlug(Exception):
        pass

    def pull(*arguments):
        monkeypatch.undo()
        raise PulledPlug

    real, calls = loop.random_windows, []

    def until_the_fourth(*arguments):
        calls.append(1)
        return real(*arguments) if len(calls) < 4 else pull()

    monkeypatch.setattr(loop, "random_windows", until_the_fourth)
    with pytest.raises(PulledPlug):
        train_a_little(tmp_path / "parts", tmp_path / "b")
    train_a_little(tmp_path / "parts", tmp_path / "b")
    assert (tmp_path / "parts" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()
    assert len((tmp_path / "parts" / "log.csv").read_text().splitlines()) == 4


def test_a_model_that_is_there_is_left_alone_and_a_missing_one_is_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train, "MODELS", tmp_path / "models")
    monkeypatch.setattr(train, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(train, "TRAININGS", {"tiny": train_a_little})
    assert train.main([]) == 0
    weights = tmp_path / "models" / "tiny" / "model.safetensors"
    first = weights.read_bytes()
    assert not (tmp_path / "checkpoints" / "tiny").exists()
    assert train.main(["tiny"]) == 0 and "the weights are there" in capsys.readouterr().out
    weights.unlink()
    assert train.main(["tiny"]) == 0 and weights.read_bytes() == first
    assert train.main(["huge"]) == 1 and "no model huge; there are tiny" in capsys.readouterr().err


def test_a_checkpoint_of_another_configuration_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train, "MODELS", tmp_path / "models")
    monkeypatch.setattr(train, "CHECKPOINTS", tmp_path / "checkpoints")
    train_a_little(tmp_path / "out", tmp_path / "checkpoints" / "tiny")
    other = replace(CONFIG, weight_decay=0.5)
    monkeypatch.setattr(train, "TRAININGS", {"tiny": lambda t, c: train_a_little(t, c, other)})
    assert train.main([]) == 1
    assert "weight_decay was 0.1, is 0.5" in capsys.readouterr().err


def test_the_committed_weights_are_small_and_as_good_as_they_say():
    """On the text they were tested with; with another version of Python the text differs, and so may the figure."""
    weights = REFERENCE / "model.safetensors"
    assert weights.stat().st_size <= 2_000_000
    facts = json.loads((REFERENCE / "training.json").read_text())
    model, tokenizer = load_language_model(REFERENCE)
    paragraphs = distinct_paragraphs(python_reference_text())
    held_out = paragraphs[round(0.9 * len(paragraphs)) :]
    same = hashlib.sha256("\n\n".join(held_out).encode()).hexdigest() == facts["held_out_sha256"]
    known = [p for p in held_out if set(p) <= set(tokenizer.characters)][:40]
    bits = surprisal(model, marked_stream(known, tokenizer)).sum().item() / count_characters(known)
    assert abs(bits - facts["bits_per_character"]) < (0.25 if same else 0.6)
    assert facts["bits_per_character"] < 1.95


def test_the_committed_model_is_small_and_as_good_as_it_says():
    """Catches weights, text and result that do not belong together: on the first held-out part of the first novel."""
    weights = AUSTEN / "model.safetensors"
    assert weights.stat().st_size <= 8_000_000
    facts = json.loads((AUSTEN / "training.json").read_text())
    model, tokenizer = load_language_model(AUSTEN)
    learned, held_out = (part[0][:20_000] for part in austen_split())
    read, unread = (austen.bits(marked_stream([text], tokenizer), len(text), model) for text in (learned, held_out))
    assert read < unread and abs(unread - facts["bits_per_character"]) < 0.15
    assert facts["bits_per_character"] <= 1.36 < min(facts["baselines"].values())
    log = list(csv.DictReader((AUSTEN / "log.csv").read_text().splitlines()))
    held_out_bits = [float(row["held_out_bits"]) for row in log]
    assert held_out_bits[-1] == min(held_out_bits) and len(log) >= 10
    assert float(log[-1]["processor_seconds"]) <= 2 * 3600  # an hour on two cores


def test_the_samples_are_what_the_committed_model_writes_by_seed():
    """Catches samples that were picked, or edited, or that another model wrote."""
    model, tokenizer = load_language_model(AUSTEN)
    kept = (AUSTEN / "samples.txt").read_text().split("--- seed ")[1:]
    assert len(kept) == austen.SAMPLES
    first = austen.sample(model, tokenizer, 0)
    assert kept[0].split("\n", 1)[1][:100] == first[:100]


def test_the_readers_gpt_is_made_by_the_readers_own_program(tmp_path):
    """Catches a training of its own beside the program that the page shows, and a log that nobody can read."""
    text = tmp_path / "text.txt"
    text.write_text("".join(TEXTS[0]), encoding="utf-8")
    gpt.train_gpt(tmp_path / "out", tmp_path / "checkpoints", n_steps=3, path=text)
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    (row,) = csv.DictReader((tmp_path / "out" / "log.csv").read_text().splitlines())
    assert facts["n_steps"] == 3 and facts["bits_per_character"] == float(row["held_out_bits"])
    model, tokenizer = load_language_model(tmp_path / "out")
    assert model.config.n_vocab == tokenizer.n_vocab + 1 and model.config.rope is None and not model.config.tied


def test_the_committed_gpt_beats_the_table_and_is_as_good_as_its_log_says():
    """Catches weights, log and result that do not belong together: on the held-out text of the page."""
    folder, program = AUSTEN.with_name("gpt"), gpt.load_program()
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 1_500_000
    facts = json.loads((folder / "training.json").read_text())
    rows = list(csv.DictReader((folder / "log.csv").read_text().splitlines()))
    assert facts["bits_per_character"] == float(rows[-1]["held_out_bits"]) and int(rows[-1]["step"]) == gpt.N_STEPS
    _, tokenizer = load_language_model(folder)
    model = program.GPT(tokenizer.n_vocab + 1, d_model=96, n_heads=4, n_layers=2)
    model.load_state_dict(load_file(folder / "gpt.safetensors"))
    held_out = "".join(part[:4000] for part in austen_split()[1])
    ids = torch.tensor(tokenizer.encode(held_out))
    bits = program.loss_on(model, ids) / math.log(2) * len(ids) / len(held_out)
    assert bits == pytest.approx(facts["bits_per_character"], abs=2e-3)
    assert bits < json.loads((AUSTEN / "training.json").read_text())["baselines"]["5-gram"] - 0.03
