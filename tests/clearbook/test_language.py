"""A small language model in a folder: the same model comes back, and damage is told."""

import json
import re
from functools import partial

import pytest
import torch
from clearbook.language_model import load_language_model, save_language_model
from clearformer import checkpoint
from clearformer.attention import attend, attend_linear
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import RelativeKeys, Rotary
from clearformer.pretrained import from_pretrained
from clearformer.pretrained.gpt2_words import byte_characters
from clearformer.tokenizers import WORD, BytePairTokenizer, CharTokenizer

TOKENIZER = CharTokenizer('aé€\n"')
IDS = torch.tensor([[5, 0, 1, 2, 4, 3]])


def gpt(**changes):
    torch.manual_seed(0)
    return GPT(GPTConfig(**({"n_vocab": 6, "n_positions": 7, "d_model": 8, "n_heads": 2, "n_layers": 3} | changes)))


def test_byte_pairs_come_back_too(tmp_path):
    """Catches merges that are lost, or read in another order."""
    tokenizer = BytePairTokenizer("the tea, the theatre, the other teapot " * 3, 9)
    model = gpt(rope=Rotary, n_vocab=tokenizer.n_vocab + 1)
    save_language_model(model, tokenizer, tmp_path)
    _, loaded = load_language_model(tmp_path)
    text = "another teapot of the Theatre: é"
    assert loaded.n_vocab == tokenizer.n_vocab == 256 + 9
    assert loaded.encode(text) == tokenizer.encode(text) and len(loaded.encode(text)) < len(text)


@pytest.mark.parametrize("changes", [{"special": ["<|endoftext|>"]}, {"pattern": re.compile(r"\S+|\s+")}])
def test_a_tokenizer_that_the_file_cannot_tell_is_refused(tmp_path, changes):
    """Catches a text that is cut in another way once the model is loaded."""
    tokenizer = BytePairTokenizer("the tea " * 3, 2, **changes)
    with pytest.raises(ValueError, match="special tokens or a pattern of its own"):
        save_language_model(gpt(rope=Rotary, n_vocab=tokenizer.n_vocab + 1), tokenizer, tmp_path)


def test_ids_in_another_order_are_refused(tmp_path):
    """Catches a vocabulary such as GPT-2's, in which the byte of "!" has the id 0: only merges are written down."""
    vocabulary = {character: i for i, character in enumerate(byte_characters())} | {"lo": 256}
    tokenizer = BytePairTokenizer.from_vocabulary(vocabulary, ["l o"], pattern=WORD, special=())
    with pytest.raises(ValueError, match=r"pieces \[b'!', .* ids are the bytes and then the merges"):
        save_language_model(gpt(rope=Rotary, n_vocab=258), tokenizer, tmp_path)


def test_model_and_tokenizer_come_back_in_half_precision(tmp_path):
    model = gpt(rope=Rotary)
    save_language_model(model, TOKENIZER, tmp_path / "new" / "folder")
    loaded, tokenizer = load_language_model(tmp_path / "new" / "folder")
    assert tokenizer.characters == TOKENIZER.characters and not loaded.training
    assert loaded.head.weight is loaded.tokens.weight and loaded.head.weight.dtype == torch.float32
    for ours, theirs in zip(model.parameters(), loaded.parameters(), strict=True):
        assert torch.equal(ours.half().float(), theirs)
    torch.testing.assert_close(loaded(IDS), model(IDS), atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("changes", [{}, {"rope": Rotary}, {"rope": Rotary, "tied": False}, {"tied": False}])
def test_positions_in_a_table_and_a_head_of_its_own_come_back(tmp_path, changes):
    """Catches a table of positions or a head that is lost, and words in the file where the default says enough."""
    model = gpt(**changes).eval()
    save_language_model(model, TOKENIZER, tmp_path)
    told = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    expected = {"rotary": "rope" in changes, "tied": "tied" not in changes}
    assert {name: told[name] for name in expected if name in told} == {n: it for n, it in expected.items() if not it}
    loaded, _ = load_language_model(tmp_path)
    assert loaded.config == model.config
    torch.testing.assert_close(loaded(IDS), model(IDS), atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("changes", [{"d_ff": 5}, {"rope": partial(Rotary)}, {"rope": Rotary, "n_vocab": 9}])
def test_a_model_that_the_file_cannot_tell_is_refused(tmp_path, changes):
    with pytest.raises(ValueError, match="expected rope=Rotary"):
        save_language_model(gpt(**changes), TOKENIZER, tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"attend": attend_linear}, "attend=attend_linear"), ({"relative": RelativeKeys(4, 2)}, "relative=RelativeKeys")],
)
def test_an_attention_that_the_file_cannot_tell_is_refused(tmp_path, changes, message):
    """Catches linear attention, whose weights have the same names, read back as a softmax."""
    config = GPTConfig(6, 7, 8, 2, 3, rope=Rotary)
    model = GPT(config, attention=partial(MultiHeadAttention, **changes))
    with pytest.raises(ValueError, match=rf"decoder\.blocks\.0\.attention has .*{message}.*expected a softmax"):
        save_language_model(model, TOKENIZER, tmp_path)
    save_language_model(GPT(config, attention=partial(MultiHeadAttention, attend=attend)), TOKENIZER, tmp_path)


def test_missing_damaged_and_foreign_files_are_told(tmp_path):
    save_language_model(gpt(rope=Rotary), TOKENIZER, tmp_path / "a")
    save_language_model(gpt(rope=Rotary, n_layers=2), TOKENIZER, tmp_path / "b")
    weights = tmp_path / "a" / "model.safetensors"
    with pytest.raises(FileNotFoundError, match=r"no config\.json in .*nowhere\. Run make models"):
        load_language_model(tmp_path / "nowhere")
    weights.write_bytes((tmp_path / "b" / "model.safetensors").read_bytes())
    with pytest.raises(ValueError, match=r"decoder\.blocks\.2\.attention\.out\.bias is missing"):
        load_language_model(tmp_path / "a")
    weights.write_bytes(weights.read_bytes()[:-50])
    with pytest.raises(ValueError, match=r"model\.safetensors of \d+ bytes is truncated or altered"):
        load_language_model(tmp_path / "a")
    config = tmp_path / "b" / "config.json"
    for damaged in ("{}", config.read_text().replace('"characters"', '"letters"'), "no json"):
        config.write_text(damaged)
        with pytest.raises(ValueError, match=r"config\.json .*is (truncated or altered|no JSON object) .*make models"):
            load_language_model(tmp_path / "b")


READERS = {
    "load_language_model": (load_language_model, "model.safetensors"),
    "from_pretrained": (from_pretrained, "model.safetensors"),
    "load": (checkpoint.load, checkpoint.NAME),
}


@pytest.mark.parametrize("caller", READERS)
def test_each_reader_says_the_same_of_a_file_that_cannot_be_read(caller, tmp_path):
    """Catches a reader of weights with sentences of its own, or one that takes a pointer of Git LFS for damage."""
    read, name = READERS[caller]
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    if caller == "load_language_model":
        save_language_model(gpt(rope=Rotary), TOKENIZER, tmp_path)
    path = tmp_path / name
    path.write_bytes(b"half")
    damaged = rf"^{caller}: .*{re.escape(name)} of 4 bytes is truncated or altered \(.*\)\. Take "
    with pytest.raises(ValueError, match=damaged):
        read(tmp_path)
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    pointer = (
        rf"^{caller}: .*{re.escape(name)} is a pointer of Git LFS and not the file itself\. Fetch it with: git lfs"
    )
    with pytest.raises(ValueError, match=pointer):
        read(tmp_path)
