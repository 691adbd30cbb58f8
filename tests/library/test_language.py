"""A small language model in a folder: the same model comes back, and damage is told."""

import pytest
import torch
from clearformer.language import load_language_model, save_language_model
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary
from clearformer.tokenizers import CharTokenizer

TOKENIZER = CharTokenizer('aé€\n"')
IDS = torch.tensor([[5, 0, 1, 2, 4, 3]])


def gpt(**changes):
    torch.manual_seed(0)
    return GPT(GPTConfig(**({"n_vocab": 6, "n_positions": 7, "d_model": 8, "n_heads": 2, "n_layers": 3} | changes)))


def test_model_and_tokenizer_come_back_in_half_precision(tmp_path):
    model = gpt(rope=Rotary)
    save_language_model(model, TOKENIZER, tmp_path / "new" / "folder")
    loaded, tokenizer = load_language_model(tmp_path / "new" / "folder")
    assert tokenizer.characters == TOKENIZER.characters and not loaded.training
    assert loaded.head.weight is loaded.tokens.weight and loaded.head.weight.dtype == torch.float32
    for ours, theirs in zip(model.parameters(), loaded.parameters(), strict=True):
        assert torch.equal(ours.half().float(), theirs)
    torch.testing.assert_close(loaded(IDS), model(IDS), atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("changes", [{}, {"rope": Rotary, "tied": False}, {"rope": Rotary, "n_vocab": 9}])
def test_a_model_that_the_file_cannot_tell_is_refused(tmp_path, changes):
    with pytest.raises(ValueError, match="expected rope=Rotary"):
        save_language_model(gpt(**changes), TOKENIZER, tmp_path)


def test_missing_damaged_and_foreign_files_are_told(tmp_path):
    save_language_model(gpt(rope=Rotary), TOKENIZER, tmp_path / "a")
    save_language_model(gpt(rope=Rotary, n_layers=2), TOKENIZER, tmp_path / "b")
    weights = tmp_path / "a" / "model.safetensors"
    with pytest.raises(FileNotFoundError, match=r"no config\.json in .*nowhere\. Run make models"):
        load_language_model(tmp_path / "nowhere")
    weights.write_bytes((tmp_path / "b" / "model.safetensors").read_bytes())
    with pytest.raises(ValueError, match=r"decoder\.blocks\.2\.attention\.out\.bias is missing, expected \(8,\)"):
        load_language_model(tmp_path / "a")
    weights.write_bytes(weights.read_bytes()[:-50])
    with pytest.raises(ValueError, match="are damaged"):
        load_language_model(tmp_path / "a")
    (tmp_path / "b" / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="are damaged"):
        load_language_model(tmp_path / "b")
