"""The examples of the library reference for training, adapters and tokenizers run as the page prints them."""

import copy
import re
from dataclasses import replace

import pytest
import torch
from clearbook.data.builtin import zen_text
from clearformer import GPT, GPTConfig, TrainConfig, next_token_loss, train
from torch.utils.data import DataLoader, TensorDataset

from tests.clearformer.test_tokenizer_json import trained
from tools.pages.library_reference import PAGE

HEADINGS = ("### Training by example", "### Tokenizers by example")
V, N = 13, 8


def programs(heading: str) -> list[str]:
    """The programs under a heading of the page."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n{heading}\n")[1].split("\n### ")[0]
    found = re.findall(r"^```python\n(.*?)```", section, re.M | re.S)
    assert found, heading
    return found


@pytest.fixture
def names(tmp_path):
    """What the examples take for granted: a model, rows, a text, and a folder with a tokenizer."""
    trained("GPT-2").save(str(tmp_path / "tokenizer.json"))
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|end|>{% endfor %}"
    template += "{% if add_generation_prompt %}assistant: {% endif %}"
    (tmp_path / "chat_template.jinja").write_text(template, encoding="utf-8")
    path = tmp_path / "text.txt"
    path.write_text(zen_text(), encoding="utf-8")
    torch.manual_seed(0)
    model = GPT(
        GPTConfig(n_vocab=V, n_positions=N, d_model=16, n_heads=2, n_layers=1, activation=torch.nn.functional.gelu)
    )
    ids = torch.randint(V, (2, N))

    def batch(n, generator):
        rows = torch.randint(V, (n, N), generator=generator)
        return rows[:, :-1], rows[:, 1:]

    return {
        "torch": torch,
        "replace": replace,
        "DataLoader": DataLoader,
        "TensorDataset": TensorDataset,
        "next_token_loss": next_token_loss,
        "train": train,
        "TrainConfig": TrainConfig,
        "model": model,
        "base_model": copy.deepcopy(model),
        "other_model": copy.deepcopy(model),
        "batch": batch,
        "ids": ids,
        "in_answer": ids > 5,
        "documents": [ids[0, : 2 + i].tolist() for i in range(6)],
        "config": TrainConfig(n_steps=3, batch_size=2),
        "folder": tmp_path,
        "path": path,
        "text": zen_text(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("heading", HEADINGS)
def test_the_examples_run_as_the_page_prints_them(heading, names):
    """Catches a name or an argument that is no longer so."""
    found = dict(names)
    for program in programs(heading):
        exec(program, found | {"model": copy.deepcopy(names["model"])} if "model" in program else found)
