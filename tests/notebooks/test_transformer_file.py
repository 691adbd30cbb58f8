"""The transformer of chapter 8 is also a file that a reader keeps: what it says, where it runs, what it refuses."""

import ast
import re
import runpy
from pathlib import Path

import nbformat
import pytest
import torch

from tests.notebooks.kept_file import load_kept_file

ROOT = Path(__file__).parents[2]
PAGE, FILE = ROOT / "chapters" / "08-encoder-decoder.ipynb", ROOT / "chapters" / "transformer.py"
TAG = "in-transformer-py"


def cells_of_the_page():
    cells = nbformat.read(PAGE, as_version=4).cells
    return [cell.source for cell in cells if TAG in cell.metadata.get("tags", [])]


@pytest.fixture(scope="module")
def file():
    return load_kept_file(FILE)


@pytest.fixture
def small(file):
    torch.manual_seed(0)
    return file.Transformer(len(file.WORDS), len(file.SIGNS), n_layers=2, d_model=12, n_heads=3, d_ff=20).eval()


@pytest.fixture(scope="module")
def data(file):
    sources, targets = file.make_data()
    return sources[:6], targets[:6]


def test_the_file_is_what_stands_on_the_page():
    text = FILE.read_text(encoding="utf-8")
    docstring = text[: text.index('"""', 3) + 3]
    assert text == docstring + "\n\n" + "\n\n\n".join(cells_of_the_page()) + "\n"


def test_a_class_stands_on_the_page_as_a_skeleton_first():
    """Catches a class of the model that is shown before the reader was asked to write it, or that cannot be seen."""
    cells = nbformat.read(PAGE, as_version=4).cells
    for at, cell in enumerate(cells):
        if TAG not in cell.metadata.get("tags", []):
            continue
        for name in re.findall(r"^class (\w+)", cell.source, re.MULTILINE):
            assert "hide-input" in cell.metadata.tags, name
            asked = "".join(before.source for before in cells[:at] if before.cell_type == "markdown")
            assert re.search(rf"^class {name}\b", asked, re.MULTILINE), name


def test_it_needs_torch_alone():
    imported = [
        node
        for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {alias.name for node in imported if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imported if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} == {"math", "torch"}


def test_an_import_trains_nothing_and_prints_nothing(file, capsys):
    """Catches a file that cannot be imported without waiting, or that moves the random numbers of its importer."""
    torch.manual_seed(7)
    wanted = torch.rand(1)
    torch.manual_seed(7)
    runpy.run_path(str(FILE), run_name="imported")
    assert torch.equal(torch.rand(1), wanted) and capsys.readouterr().out == ""
    assert not hasattr(file, "model")


def test_it_runs_on_any_device(small, data):
    """Catches a tensor that is made on the CPU whatever the model's device: meta has the rules of a GPU."""
    sources, targets = (ids.to("meta") for ids in data)
    model = small.to("meta")
    assert model(sources, targets).device.type == "meta"
    (memory, mask), cache = model.encode(sources), {}
    for token in targets.split(1, dim=1):
        scores = model.decode(token, memory, mask, cache)
    assert scores.shape == (6, 1, 14) and scores.device.type == "meta"


def test_the_cache_changes_nothing(small, data):
    """Catches a cache that loses a token, counts positions from 0 again, or takes up the memory at every step."""
    sources, targets = data
    (memory, mask), cache = small.encode(sources), {}
    steps = [small.decode(token, memory, mask, cache) for token in targets.split(1, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), small(sources, targets))
    assert cache[small.decoder[0].cross][0].shape[2] == sources.shape[1]


class Scripted(torch.nn.Module):
    """Stands in for a model: row i writes i + 1 sevens and then END, and again from the beginning."""

    def __init__(self, file):
        super().__init__()
        self.file, self.n_steps = file, 0

    def encode(self, source):
        return source, None

    def decode(self, target, memory, mask, cache):
        self.n_steps += 1
        lengths = torch.arange(len(target)) + 2
        ids = torch.where(self.n_steps % lengths == 0, self.file.END, self.file.SIGNS.index("7"))
        return torch.nn.functional.one_hot(ids, len(self.file.SIGNS))[:, None].float()


def test_it_stops_at_the_end(file):
    """Catches steps after the last row has ended, and signs of a row that come after its END."""
    model = Scripted(file)
    written = file.write(model, torch.zeros(3, 5, dtype=torch.long), n_tokens=50)
    assert model.n_steps == 4 and written.shape == (3, 4)
    assert file.to_texts(written, file.SIGNS) == ["7", "77", "777"]
    assert file.write(Scripted(file), torch.zeros(3, 5, dtype=torch.long), n_tokens=2).shape == (3, 2)


def test_it_saves_and_loads(small, file, data, tmp_path):
    """Catches weights that a state dict does not hold, and tables in it that do not belong there."""
    torch.save(small.state_dict(), tmp_path / "transformer.pt")
    torch.manual_seed(1)
    other = file.Transformer(len(file.WORDS), len(file.SIGNS), n_layers=2, d_model=12, n_heads=3, d_ff=20).eval()
    other.load_state_dict(torch.load(tmp_path / "transformer.pt"))
    assert torch.equal(other(*data), small(*data))
    assert {name for name in small.state_dict()} == {name for name, _ in small.named_parameters()}


REFUSED = {
    "5 heads do not divide d_model = 12.": lambda file, model: file.Transformer(9, 9, 1, 12, 5, 20),
    "d_model = 9 is odd; waves come in pairs.": lambda file, model: file.Transformer(9, 9, 1, 9, 3, 20),
    "513 tokens, but only 512 positions.": lambda file, model: model.encode(torch.ones(1, 513, dtype=torch.long)),
    "No token 37 among 37 words.": lambda file, model: model.encode(torch.tensor([[5, 37]])),
    "['noon'] not among <pad>, <start>, <end>,": lambda file, model: file.to_ids([["noon"]], file.WORDS),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_it_refuses_in_a_sentence(sentence, file, small):
    """Catches an error of PyTorch's, or none, where the file can say what is wrong."""
    with pytest.raises(ValueError, match=re.escape(sentence)):
        REFUSED[sentence](file, small)


@pytest.mark.slow
def test_the_file_runs_and_learns(tmp_path, monkeypatch, capsys):
    """In this process, where torch is loaded: that the file needs nothing else is tested above."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FILE), run_name="__main__")
    right, asked = map(int, re.search(r"(\d+) of (\d+) new phrases are right", capsys.readouterr().out).groups())
    assert right > 0.9 * asked and (tmp_path / "transformer.pt").is_file()
