"""A tokenizer of ours in a file: read back by us and by ``tokenizers`` it gives the same ids."""

import random

import pytest
import tokenizers
from clearformer import BytePairTokenizer, CharTokenizer, load_tokenizer, save_tokenizer
from clearformer.pretrained.gpt2_words import gpt2_word

from tests.lazy_module import LazyModule

transformers = LazyModule("transformers")
TEXT = "Größe, naïve and 12.5 % of it; it's the cat's mat.\n\n  The cat sat on a mat, and there it sat.\n" * 5
SPECIAL = ["<|user|>", "<|endoftext|>"]


def learned():
    return BytePairTokenizer(TEXT, 60, pattern=gpt2_word(), special=SPECIAL)


def texts():
    generator = random.Random(1)
    letters = [*"aet c.,'12\n", " ", "ß", "é", "日", "🐈", " the", "'s", *SPECIAL]
    return [TEXT, "", *("".join(generator.choices(letters, k=40)) for _ in range(200))]


def test_it_is_read_back_as_it_was(tmp_path):
    """Catches merges in another order, ids that move, and a special token that becomes text."""
    save_tokenizer(learned(), tmp_path / "one")
    again = load_tokenizer(tmp_path / "one")
    assert again.n_vocab == learned().n_vocab and again.special == learned().special
    assert [again.encode(text) for text in texts()] == [learned().encode(text) for text in texts()]
    save_tokenizer(again, tmp_path / "two")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_other_libraries_read_the_same_ids(tmp_path):
    save_tokenizer(learned(), tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts():
        assert theirs.encode(text, add_special_tokens=False).ids == learned().encode(text)
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert auto.eos_token == "<|endoftext|>" and auto(TEXT).input_ids == learned().encode(TEXT)


def test_what_the_file_could_not_tell_is_refused(tmp_path):
    with pytest.raises(TypeError):  # of ours, or of the hook that checks annotations in tests
        save_tokenizer(CharTokenizer("abc"), tmp_path)
    with pytest.raises(ValueError, match="expected GPT-2's pattern"):
        save_tokenizer(BytePairTokenizer(TEXT, 5), tmp_path)
    changed = learned()
    changed.normalize = str.lower
    with pytest.raises(ValueError, match="a text as it is"):
        save_tokenizer(changed, tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_without_special_tokens_none_is_named(tmp_path):
    save_tokenizer(BytePairTokenizer(TEXT, 5, pattern=gpt2_word()), tmp_path)
    assert "eos_token" not in (tmp_path / "tokenizer_config.json").read_text(encoding="utf-8")
    assert load_tokenizer(tmp_path).special == {}
