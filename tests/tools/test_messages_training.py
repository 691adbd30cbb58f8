"""make models ARGS=messages: the page's own cells are trained, and the committed weights score what their log says."""

import csv
import json
from pathlib import Path

import jaxtyping
import pytest
import torch
from clearbook.data.messages import message_pairs
from clearformer.tokenizers import BytePairTokenizer
from safetensors.torch import load_file

from tools.models import messages
from tools.models.digits import page_code

COMMITTED = Path(__file__).parents[2] / "models" / "messages"
PAIRS = [(f"The lamp {i} is on.", f"Die Lampe {i} ist an.") for i in range(80)]


@pytest.fixture(autouse=True)
def shapes_unchecked(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def rows_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "log.csv").read_text(encoding="utf-8").splitlines()))


def pieces_of(folder: Path) -> BytePairTokenizer:
    pieces = BytePairTokenizer("", 0)
    pieces.add_merges(json.loads((folder / "config.json").read_text(encoding="utf-8"))["merges"])
    return pieces


def test_a_small_training_writes_what_the_page_reads(tmp_path):
    """Catches merges that make another tokenizer, weights of other sizes, and a line of the log left out."""
    messages.train_messages(tmp_path, tmp_path, n_merges=20, n_steps=4, every=2, pairs=(PAIRS, PAIRS[:3]))
    code, pieces = page_code((messages.PAGE,)), pieces_of(tmp_path)
    assert pieces.n_vocab == 276
    for file in messages.FILES.values():
        code["translator"](pieces).load_state_dict(load_file(tmp_path / f"{file}.safetensors"))
    steps = [(row["sees"], row["step"]) for row in rows_of(tmp_path)]
    assert steps == [("hints", "2"), ("hints", "4"), ("source", "2"), ("source", "4")]


@pytest.mark.slow
@pytest.mark.parametrize("sees", messages.FILES)
def test_the_committed_translators_score_what_their_log_says(sees):
    """Catches weights of another training, or read with other pieces."""
    code, pieces = page_code((messages.PAGE,)), pieces_of(COMMITTED)
    last = [row for row in rows_of(COMMITTED) if row["sees"] == sees][-1]
    model = code["translator"](pieces)
    model.load_state_dict(load_file(COMMITTED / f"{messages.FILES[sees]}.safetensors"))
    torch.set_num_threads(1)
    learned, held_out = message_pairs()
    scores = messages.score(code, model, pieces, messages.to_translate(code, sees, learned, held_out))
    assert abs(scores[0] - float(last["held_out_bleu"])) < 1  # half precision turns a word here and there
    assert abs(scores[1] - float(last["held_out_chrf"])) < 1
