"""The GPT of chapter 9 is also a file that a reader keeps: what it says, what it computes, what it writes."""

import ast
import csv
import re
import runpy
import sys

import nbformat
import pytest
import torch
from clearbook.language_model import load_language_model

from tests.notebooks.typed_gpt import CHAPTERS, FILE, typed_gpt

PAGE = CHAPTERS / "09-language-model.ipynb"
TAG = "in-gpt-py"
END = '\n\n\nif __name__ == "__main__":\n    import sys\n\n    main(*sys.argv[1:])\n'


@pytest.fixture
def small():
    torch.manual_seed(0)
    return typed_gpt().GPT(11, d_model=12, n_heads=3, n_layers=2).eval()


def test_the_file_is_what_stands_on_the_page():
    cells = nbformat.read(PAGE, as_version=4).cells
    typed = [cell.source for cell in cells if TAG in cell.metadata.get("tags", [])]
    text = FILE.read_text(encoding="utf-8")
    docstring = text[: text.index('"""', 3) + 3]
    assert text == docstring + "\n\n" + "\n\n\n".join(typed) + END
    prose = "".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert f"```python\n{END.lstrip()}```" in prose  # which would train if it were a cell


def test_the_class_and_the_writing_stand_on_the_page_as_skeletons_first():
    """Catches code that is shown before the reader was asked to write it."""
    cells = nbformat.read(PAGE, as_version=4).cells
    for name in ("class GPT", "def generate"):
        at = next(i for i, cell in enumerate(cells) if re.search(rf"^{name}\b", cell.source, re.MULTILINE))
        answer = next(
            i for i, c in enumerate(cells) if c.cell_type == "code" and re.search(rf"^{name}\b", c.source, re.MULTILINE)
        )
        assert cells[at].cell_type == "markdown" and at < answer and "hide-input" in cells[answer].metadata.tags, name


def test_an_import_needs_torch_and_the_file_of_chapter_8_alone():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} - sys.stdlib_module_names == {"torch", "transformer"}


def test_the_cache_changes_nothing(small):
    """Catches a mask, a position or a cache that is right for a beginning alone, or for single tokens alone."""
    ids, cache = torch.randint(11, (3, 9)), {}
    steps = [small(part, cache) for part in ids.split([4, 1, 3, 1], dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), small(ids))
    assert small.n_read(cache) == 9 and small.n_read({}) == small.n_read(None) == 0


def test_no_token_sees_what_comes_after_it(small):
    ids = torch.randint(11, (3, 9))
    changed = ids.clone()
    changed[:, 5:] = (ids[:, 5:] + 1) % 11
    torch.testing.assert_close(small(changed)[:, :5], small(ids)[:, :5])


def test_writing_gives_one_token_at_a_time_and_goes_on_when_the_cache_is_full(small):
    """Catches a prefix that is read again at each step, a token that is read twice, and an end at full positions."""
    read = []
    hook = small.embed.register_forward_hook(lambda layer, given, x: read.append(given[0].shape[1]))
    stream = typed_gpt().generate(small, torch.tensor([[1, 2, 3]]), 12, length=8)
    assert next(stream).shape == (1, 1) and read == [3]
    assert len([*stream]) == 11 and read == [3, 1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4]
    hook.remove()


def test_at_a_low_temperature_it_writes_the_likeliest(small):
    ids = torch.tensor([[1, 2, 3]])
    written = torch.cat([ids, *typed_gpt().generate(small, ids, 4, temperature=1e-6)], dim=1)
    for n in range(3, 7):
        assert small(written[:, :n])[0, -1].argmax() == written[0, n]


def test_the_loss_counts_every_token_once_but_for_the_first_half_window(small):
    """Catches a token that counts twice, targets that are not shifted, and dropout that acts."""
    ids = torch.randint(11, (29,))  # windows of 9, each 4 further on: 4 + 6 × 4 = 28 are asked for
    losses = []
    for n in range(5, 29):
        begin = (n - 5) // 4 * 4
        log_p = small(ids[None, begin:n])[0, -1].log_softmax(dim=-1)
        losses.append(-log_p[ids[n]].item())
    assert typed_gpt().loss_on(small.train(), ids, length=8) == pytest.approx(sum(losses) / len(losses), abs=1e-5)


@pytest.mark.slow
def test_the_program_learns_a_text_of_ones_own_and_saves_it(tmp_path, monkeypatch, capsys):
    """Catches a program that does not learn, or leaves files that the live page or PyTorch cannot read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("to be or not to be, that is the question. " * 400, encoding="utf-8")
    typed_gpt().main("mine.txt", "60")  # as the command line gives them
    told = capsys.readouterr().out
    assert told.startswith("step 0: ") and "the question" in told.splitlines()[-1]
    model, tokenizer = load_language_model(tmp_path / "gpt")
    own = typed_gpt().GPT(model.config.n_vocab, 96, 4, 2).eval()
    own.load_state_dict(torch.load(tmp_path / "gpt.pt"))
    ids = torch.tensor([tokenizer.encode("to be or not to be, that is")])
    torch.testing.assert_close(model(ids), own(ids), atol=5e-2, rtol=5e-2)
    assert tokenizer.decode([int(own(ids)[0, -1].argmax())]) in " the question"
    rows = list(csv.DictReader((tmp_path / "gpt" / "log.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["step"] for row in rows] == ["0"]


def test_an_import_trains_nothing_and_prints_nothing(capsys, monkeypatch):
    monkeypatch.syspath_prepend(CHAPTERS)
    runpy.run_path(str(FILE), run_name="imported")
    monkeypatch.delitem(sys.modules, "transformer", raising=False)
    assert capsys.readouterr().out == ""


class CutShort(Exception):
    pass


def test_a_training_that_was_cut_short_goes_on_with_the_lines_of_the_page(tmp_path, monkeypatch):
    """Catches a checkpoint without AdamW's means, the schedule or the random state, and a step too many or too few."""
    monkeypatch.chdir(tmp_path)
    program = typed_gpt()
    cells = {cell.id: cell.source for cell in nbformat.read(PAGE, as_version=4).cells}
    before, after = cells["five-thousand-read"].split("```python\n")[1].split("```")[0].split("        ...")
    loop = re.search(r"    for step in range\(n_steps \+ 1\):.*\n", cells["training-loop"]).group()
    end = after[after.index("\n") :].replace("% 500", "% 10")
    exec(cells["training-loop"].replace(loop, before) + end, names := dict(vars(program)))

    def model(seed):
        torch.manual_seed(seed)
        return program.GPT(11, d_model=12, n_heads=3, n_layers=2)

    rows = torch.randint(11, (31, 4, 9), generator=torch.Generator().manual_seed(0))

    def draw():
        row = rows[int(torch.randint(len(rows), ()))]
        return row[:, :-1], row[:, 1:]

    def cut_short(model, step):
        if step == 25:
            raise CutShort

    whole, resumed = model(0), model(1)
    torch.manual_seed(2)
    program.fit(whole, draw, n_steps=30)
    begun = model(0)
    torch.manual_seed(2)
    with pytest.raises(CutShort):
        names["fit"](begun, draw, 30, cut_short)
    names["fit"](resumed, draw, 30)
    for name, weights in whole.state_dict().items():
        torch.testing.assert_close(resumed.state_dict()[name], weights)
