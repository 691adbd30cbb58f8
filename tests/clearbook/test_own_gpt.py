"""The GPT that a reader types, in the library's form: the same logits, and files that come back."""

import pytest
import torch
from clearbook.language_model import load_language_model
from clearbook.own_gpt import OWN_WEIGHTS, as_library_gpt, save_for_the_page
from clearformer.tokenizers import CharTokenizer
from safetensors.torch import load_file

from tests.notebooks.typed_gpt import typed_gpt

IDS = torch.tensor([[5, 0, 1, 2, 4, 3]])


@pytest.fixture
def own():
    torch.manual_seed(0)
    model = typed_gpt().GPT(6, d_model=12, n_heads=3, n_layers=2).eval()
    for weight in model.parameters():
        weight.data += 0.3 * torch.randn_like(weight)
    return model


def test_the_library_says_the_same_with_its_weights(own):
    """Catches a map in the wrong place of the joined matrix, a norm exchanged, positions that are not the sinusoids."""
    torch.testing.assert_close(as_library_gpt(own, 9)(IDS), own(IDS))


def test_it_comes_back_from_the_folder_in_both_forms(own, tmp_path):
    """Catches weights of one form that are not those of the other, and more positions than it was trained on."""
    save_for_the_page(own, CharTokenizer("abcde"), tmp_path)
    library, tokenizer = load_language_model(tmp_path)
    assert tokenizer.characters == [*"abcde"] and library.config.n_positions == 64
    again = typed_gpt().GPT(6, d_model=12, n_heads=3, n_layers=2).eval()
    again.load_state_dict(load_file(tmp_path / OWN_WEIGHTS))
    torch.testing.assert_close(again(IDS), own(IDS), atol=2e-2, rtol=2e-2)
    torch.testing.assert_close(library(IDS), again(IDS), atol=1e-2, rtol=1e-2)


def test_more_positions_than_it_knows_are_refused(own):
    with pytest.raises(ValueError, match="n_positions=513, but the model has only 512 positions"):
        as_library_gpt(own, 513)
