"""``python -m clearformer train``: what it leaves in its folder, how it goes on, and what it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from clearformer import checkpoint, from_pretrained, load_tokenizer
from clearformer.commands import interrupt, main, report, settings

from tests.clearformer.tiny_run import TINY

TEXT = "".join(f"The {n}th cat sat on the {n + 1}th mat, and the dog did not.\n" for n in range(90))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "cats.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def train(text, folder, *options):
    return main(["train", str(text), "--out", str(folder), *map(str, options)])


def files(folder):
    """What a run learned, and all that it goes on from: the mark of a run, drawn anew at each start, is left out."""
    tensors, facts = checkpoint.load(folder)
    facts = {name: value for name, value in facts.items() if name not in ("run", "replaces")}
    names = ("config.json", "model.safetensors", "tokenizer.json", "training.json")
    return [(folder / name).read_bytes() for name in names], {n: t.tolist() for n, t in tensors.items()}, facts


def stopped_after(monkeypatch, n_steps):
    """As if Ctrl-C came during that step."""
    after_step = report.Report.after_step

    def stopping(self, n_done, loss):
        self.interrupt.came = n_done == n_steps
        return after_step(self, n_done, loss)

    monkeypatch.setattr(report.Report, "after_step", stopping)


def test_a_run_leaves_a_model_that_the_library_opens(text, tmp_path, capsys):
    """Catches a folder without one of its files, a tokenizer that reads otherwise, and silence."""
    folder = tmp_path / "out"
    assert train(text, folder, *TINY) == 0
    model, tokenizer = from_pretrained(folder), load_tokenizer(folder)
    assert (model.config.d_model, model.config.n_layers, model.config.n_positions) == (8, 1, 8)
    assert model.config.n_vocab == tokenizer.n_vocab == 270
    assert tokenizer.special == {"<|endoftext|>": 269} and tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    assert model.labels_and_tokens["eos_token_id"] == 269
    said = capsys.readouterr().out
    assert f"cats.txt: {len(TEXT):,} characters, of which the last {len(TEXT) // 10} are held out." in said
    assert "A table that counted runs" in said and said.count("held out") == 7
    assert "step 1: " in said and "step 6: " in said and f"clearformer chat {folder}" in said


def test_a_sample_keeps_its_paragraphs_and_an_evaluation_fits_into_a_line():
    """Catches paragraphs that run into each other, and lines that a terminal of 80 columns breaks."""
    assert report.as_paragraphs("one\ntwo\n\n" + 40 * "three ") == (
        "    one two\n\n" + "\n".join("    " + " ".join(["three"] * n) for n in (12, 12, 12, 4))
    )
    line = report.evaluation_line(" 950", 1.5, 1.79, 1.98)
    assert line.endswith("1.79 held out, beats the table") and len(line) <= 80
    assert report.evaluation_line("1000", 1.5, 1.99, 1.98).endswith("1.99 held out")


def test_a_stopped_run_goes_on_bitwise_with_fewer_words(text, tmp_path, monkeypatch, capsys):
    """Catches data, weights or settings that are drawn anew, and settings that have to be typed again."""
    assert train(text, tmp_path / "whole", *TINY) == 0
    with monkeypatch.context() as patched:
        stopped_after(patched, 4)
        assert train(text, tmp_path / "parts", *TINY) == 130
    assert "Stopped after step 4 of 6" in capsys.readouterr().out
    assert checkpoint.load(tmp_path / "parts")[0]["losses"].shape == (4,)
    assert from_pretrained(tmp_path / "parts").config.d_model == 8
    assert train(text, tmp_path / "parts") == 0
    assert "It goes on after step 4." in capsys.readouterr().out
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


def test_a_finished_run_can_be_made_longer_and_does_nothing_without(text, tmp_path, capsys):
    folder = tmp_path / "out"
    assert train(text, folder, *TINY) == 0
    before = files(folder)
    assert train(text, folder) == 0 and files(folder) == before
    assert train(text, folder, "--steps", 8) == 0
    assert len(checkpoint.load(folder)[0]["losses"]) == 8


def test_old_weights_go_on_with_their_tokenizer_and_template(text, tmp_path):
    """Catches fresh weights, a tokenizer that is learned anew, and a template that is left behind."""
    old, new = tmp_path / "old", tmp_path / "new"
    assert train(text, old, *TINY) == 0
    (old / "chat_template.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    options = ("--context", 8, "--batch", 2, "--steps", 1, "--rate", 1e-9, "--device", "cpu")
    assert train(text, new, "--from", old, *options) == 0
    for name in ("tokenizer.json", "chat_template.jinja"):
        assert (new / name).read_bytes() == (old / name).read_bytes()
    pairs = zip(from_pretrained(old).parameters(), from_pretrained(new).parameters(), strict=True)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in pairs)
    assert settings.read(new).start == str(old) and settings.read(new).width is None


@pytest.mark.parametrize("option, value", [("--seed", 1), ("--width", 16), ("--rate", 0.1), ("--steps", 5)])
def test_another_run_in_the_folder_is_refused_with_what_differs(text, tmp_path, capsys, option, value):
    """Catches a folder that two runs write to, and a refusal that does not say why."""
    assert train(text, tmp_path / "out", *TINY) == 0
    before = files(tmp_path / "out")
    capsys.readouterr()
    assert train(text, tmp_path / "out", option, value) == 1
    said = capsys.readouterr().err
    assert f"holds another run: {option} was " in said and f", is {value}. Choose another folder" in said
    assert files(tmp_path / "out") == before


def test_a_text_that_has_changed_is_another_run(text, tmp_path, capsys):
    assert train(text, tmp_path / "out", *TINY) == 0
    text.write_text(TEXT + "More.\n", encoding="utf-8")
    assert train(text, tmp_path / "out") == 1
    assert "the content of the text was " in capsys.readouterr().err


def test_files_of_others_are_never_replaced(text, tmp_path, capsys):
    (tmp_path / "config.json").write_text("mine", encoding="utf-8")
    assert train(text, tmp_path, *TINY) == 1
    assert "holds config.json but no training.json" in capsys.readouterr().err
    assert (tmp_path / "config.json").read_text(encoding="utf-8") == "mine"


def test_the_folder_is_named_after_the_text(text, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "cats.txt", *TINY]) == 0
    assert (tmp_path / "cats-model" / "model.safetensors").is_file()


REFUSED = {
    "no-file": ("", [], "{path} does not exist, expected a text file"),
    "bytes": (b"caf\xe9" * 2000, [], "is not UTF-8: byte 3 is 0xe9"),
    "zero": (b"a\0" * 2000, [], "holds zero bytes"),
    "empty": (b"", [], "has 0 characters, expected thousands"),
    "short": (b"abcdefghij" * 3, TINY, "tokens to learn from and"),
    "heads": (TEXT.encode(), [*TINY, "--width", "9"], "--width 9 with --heads 2, expected a width that is an even"),
    "pieces": (TEXT.encode(), [*TINY, "--vocabulary", "256"], "--vocabulary 256, expected at least 257"),
    "device": (TEXT.encode(), ["--device", "toaster"], "--device toaster cannot be used here"),
    "half": (TEXT.encode(), [*TINY, "--precision", "bfloat16"], "--precision bfloat16 on cpu, expected a CUDA GPU"),
    "no-weights": (TEXT.encode(), ["--from", "nothing/at/all"], "nothing/at/all does not exist"),
    "sizes": (TEXT.encode(), ["--from", "x", "--width", "8"], "--width with --from, which brings its own sizes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence_and_leaves_nothing(tmp_path, capsys, case):
    """Catches an error of Python's own, and a folder that is made before anything is known."""
    content, options, expected = REFUSED[case]
    path = tmp_path / "text.txt"
    if content:
        path.write_bytes(content)
    elif case == "empty":
        path.touch()
    assert train(path, tmp_path / "out", *options) == 1
    said = capsys.readouterr().err
    assert said.startswith("train: ") and expected.format(path=path) in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option, value", [("--steps", "0"), ("--rate", "0"), ("--rate", "nan"), ("--seed", "-1")])
def test_numbers_out_of_their_range_are_refused_before_anything_is_read(option, value, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "no.txt", option, value])
    assert stopped.value.code == 2 and f"argument {option}: '{value}', expected a " in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage, said",
    [
        (lambda kept: "{", "is no JSON object"),
        (lambda kept: json.dumps(kept | {"width": "8"}), "has width='8', which is not what a run writes"),
        (lambda kept: json.dumps(kept | {"steps": True}), "has steps=True"),
        (lambda kept: json.dumps({k: v for k, v in kept.items() if k != "rate"}), "has no rate"),
        (lambda kept: json.dumps(kept | {"more": 1}), "has more=1"),
        (lambda kept: json.dumps(kept | {"steps": -1}), "has steps=-1"),
    ],
)
def test_damaged_settings_are_refused(text, tmp_path, capsys, damage, said):
    folder = tmp_path / "out"
    assert train(text, folder, *TINY) == 0
    path = folder / settings.NAME
    path.write_text(damage(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    assert train(text, folder) == 1
    assert said in capsys.readouterr().err


def test_a_damaged_checkpoint_is_told(text, tmp_path, capsys):
    folder = tmp_path / "out"
    assert train(text, folder, *TINY) == 0
    path = folder / checkpoint.NAME
    path.write_bytes(path.read_bytes()[:200])
    assert train(text, folder) == 1
    assert "is truncated or altered" in capsys.readouterr().err


def test_a_full_disk_is_told_and_loses_nothing(text, tmp_path, capsys, monkeypatch):
    """Catches a save that is cut off, and one that takes what was there with it."""
    folder = tmp_path / "out"
    assert train(text, folder, *TINY) == 0
    before = files(folder)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    assert train(text, folder, "--steps", 9) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said and "make room" in said
    assert files(folder)[1:] == before[1:]
    monkeypatch.undo()
    assert train(text, folder) == 0 and len(checkpoint.load(folder)[0]["losses"]) == 9


def test_a_run_in_the_same_folder_at_the_same_time_is_told(text, tmp_path, capsys, monkeypatch):
    """Catches two runs that take turns in replacing each other's checkpoint."""
    folder, after_step = tmp_path / "out", report.Report.after_step

    def with_another(self, *arguments):
        monkeypatch.setattr(report.Report, "after_step", after_step)
        assert train(text, folder) == 0
        return after_step(self, *arguments)

    monkeypatch.setattr(report.Report, "after_step", with_another)
    assert train(text, folder, *TINY) == 1
    assert "another run has written its checkpoint" in capsys.readouterr().err
    assert len(checkpoint.load(folder)[0]["losses"]) == 6


def test_ctrl_c_is_noted_once_and_ends_at_once_the_second_time(capfd):
    before = signal.getsignal(signal.SIGINT)
    with interrupt.Interrupt("Stopping.") as wish:
        signal.raise_signal(signal.SIGINT)
        assert wish.came and "Stopping." in capfd.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_nothing_is_listened_to():
    """Catches a handler set where Python takes none, as within a notebook's server."""
    came = []

    def work():
        with interrupt.Interrupt("") as wish:
            came.append(wish.came)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert came == [False]


def test_stopped_before_the_first_step_it_says_so(text, tmp_path, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("clearformer.commands.corpus.counted_bits", stop)
    assert train(text, tmp_path / "out", *TINY) == 130
    assert "train: stopped." in capsys.readouterr().err and not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_real_ctrl_c_saves_and_the_same_command_goes_on(text, tmp_path):
    """Catches a signal that ends the run at once, lines that come only at its end, and a folder that does not load."""
    folder = tmp_path / "out"
    command = [sys.executable, "-m", "clearformer", "train", str(text), "--out", str(folder), *TINY]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    long = [*command, "--steps", "2000"]
    with subprocess.Popen(long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        for line in process.stdout:
            if line.startswith("step "):
                break
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "Stopped after step " in said and "Go on: python -m clearformer train" in said
    done = len(checkpoint.load(folder)[0]["losses"])
    assert f"Stopped after step {done:,} of 2,000" in said
    assert from_pretrained(folder).config.d_model == 8


def test_the_page_tells_every_option_of_each_command(capsys):
    """Catches an option that nobody hears of, and one that is gone."""
    page = (Path(__file__).parents[2] / "chapters" / "api.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(--[a-z-]+)`", page.split("### Three commands")[1].split("\n### ")[0]))
    known = set()
    for command in ("train", "chat", "info"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        known |= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert told == known


def test_importing_the_library_brings_no_command_along():
    code = "import sys, clearformer; from clearformer import GPT; print([m for m in sys.modules if 'commands' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
