"""The switch of chapter 12: with it on, the four functions work on what the hub hands out, here copies of folders."""

import json
import shutil
import sys
import types
from pathlib import Path

import nbformat
import pytest
from clearbook.data.builtin import python_reference_text
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.tokenizers import CharTokenizer

NOTEBOOK = Path(__file__).parents[2] / "chapters" / "12-pretrained.ipynb"
BEFORE = ("setup", "setup-library", "setup-folders", "write-folder", "tiny-configs")
SWITCH = ("switch", "complete", "label-and-translate", "translate", "local-complete", "local-others", "local-models")


@pytest.fixture(scope="module")
def page():
    """The notebook's names after the cells that the switch needs, with an untrained model in place of a trained."""
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    names = {}
    for cell in BEFORE:
        exec(cells[cell].replace("\nsetup()\n", "\n"), names)
    text = python_reference_text().encode("ascii", "replace").decode()
    characters = CharTokenizer(text)
    names |= {"known": text, "characters": characters}
    names["right"] = [GPT(GPTConfig(characters.n_vocab, 60, 8, 2, 1)).eval()]
    for cell in SWITCH:
        exec(cells[cell], names)
    names["use_cell"] = cells["use"]
    yield names
    names["work"].cleanup()


def answers(page, download):
    page["DOWNLOAD"] = download  # the functions of the page look it up there
    exec(page["use_cell"], page)
    return page["done"]


def test_with_the_switch_on_the_same_functions_read_what_the_hub_hands_out(page, monkeypatch, tmp_path, capsys):
    """Catches a function that knows the local folders, and a file that is needed and not asked for."""
    local = answers(page, download=False)
    asked = []

    def snapshot_download(name, revision, allow_patterns):
        asked.append((name, revision))
        task = next(task for task, (hub_name, _) in page["HUB"].items() if hub_name == name)
        folder = tmp_path / task
        folder.mkdir(exist_ok=True)
        for path in {path for pattern in allow_patterns for path in (page["ROOT"] / task).glob(pattern)}:
            shutil.copy(path, folder)
        return str(folder)

    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(snapshot_download=snapshot_download))
    assert answers(page, download=True) == local
    assert asked == list(page["HUB"].values())
    assert {len(local["complete"]), len(local["fill"]), len(local["label"])} == {54, 3, 2}


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_the_translator_reads_the_tokenizer_as_opus_publishes_it(page, tmp_path):
    """Catches a path that only a reader with internet takes: two SentencePiece models and a common vocabulary."""
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = Path(shutil.copytree(page["ROOT"] / "translate", tmp_path / "opus"))
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    pieces = []
    for side, name in enumerate(("source", "target")):
        text = tmp_path / f"{name}.txt"
        text.write_text("\n".join(pair[side] for pair in page["pairs"]), encoding="utf-8")
        options = {"vocab_size": 50, "hard_vocab_limit": False, "minloglevel": 2}
        sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(tmp_path / name), **options)
        Path(shutil.move(tmp_path / f"{name}.model", folder / f"{name}.spm"))
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
        pieces += [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    config = json.loads((folder / "config.json").read_text())
    words = ["</s>", "<unk>", "<pad>", *dict.fromkeys(pieces)]
    assert len(words) <= config["vocab_size"]
    words += [f"<unused {i}>" for i in range(config["vocab_size"] - len(words))]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}), encoding="utf-8")
    written = page["translate"](folder, "twenty-one")
    assert isinstance(written, str) and written and "▁" not in written and "<" not in written.replace("<unused", "")
