"""Tokenizers of other models from their file: the same ids as the package ``tokenizers``, on every kind of character."""

import json
import random

import pytest
from clearbook.data.builtin import zen_text
from clearformer.pretrained import load_tokenizer
from clearformer.pretrained.unicode_patterns import python_pattern
from inline_snapshot import snapshot
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from tests.clearformer.refusals import refusal

N_TEXTS = 300
SPLIT = r"(?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CASES = r"[\p{Lu}\p{Lt}]+[\p{Ll}\p{M}]*|\p{Ll}+|[^\S\n]+|\P{L}|\s"
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
WORDS = pre_tokenizers.ByteLevel(add_prefix_space=False)


def cut(pattern, behavior="isolated"):
    return pre_tokenizers.Split(Regex(pattern), behavior)


KINDS = {  # how the words are cut, and what is done to a text before
    "GPT-2": (WORDS, None),
    "digits alone": (pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), WORDS]), None),
    "digits together": (pre_tokenizers.Sequence([pre_tokenizers.Digits(), WORDS]), None),
    "a pattern with classes": (pre_tokenizers.Sequence([cut(SPLIT), BYTES]), None),
    "normalized": (pre_tokenizers.Sequence([cut(SPLIT), BYTES]), normalizers.NFC()),
    "three cuts": (pre_tokenizers.Sequence([cut(r"\p{N}{1,2}"), cut("[一-龥]+"), cut(CASES), BYTES]), None),
    "nothing cut": (BYTES, None),
}
CHARACTERS = [
    *"abcdefgstlrevmXYZ  \n\n\r\t''''_-.,!?<|>0123456789",
    *"éßñ\u0301\u0327\u00c5\u212b\u01c5ſıΩжשع中文字あ한\U00020000½Ⅷ²٣\u0966\u00a0\u3000\u2003\u200b\u200d\u1680\x1c\x85\u2028\x00\U0001f600\U0001f468\ufe0f\ue000",
    "<|end|>", "<think>", "the", " is", "'re", "\r\n",
]  # fmt: skip


def trained(kind, **options):
    words, normalizer = KINDS[kind]
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = words
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=["<|end|>"], initial_alphabet=WORDS.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([zen_text(), "1234 12 1999 中文 中文 éé Ωж 中文字"], trainer)
    tokenizer.add_tokens([AddedToken("<think>", normalized=False)])
    return tokenizer


def texts(n=N_TEXTS):
    draw = random.Random(7)
    return ["".join(draw.choices(CHARACTERS, k=draw.randrange(25))) for _ in range(n)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_ids_are_those_of_tokenizers(kind, tmp_path):
    """Catches a class of characters, an order of cuts, a token that is cut or not, and a text that is not normalized."""
    theirs = trained(kind)
    theirs.save(str(tmp_path / "tokenizer.json"))
    ours = load_tokenizer(tmp_path)
    assert ours.n_vocab == theirs.get_vocab_size()
    for text in texts():
        ids = ours.encode(text)
        assert ids == theirs.encode(text, add_special_tokens=False).ids, text
        if KINDS[kind][1] is None:
            assert ours.decode(ids) == text
            assert list(ours.encode_iterable([text[i : i + 3] for i in range(0, len(text), 3)])) == ids, text


def test_a_word_that_is_a_piece_is_one_id_where_the_file_says_so(tmp_path):
    """Catches merges that do not lead to a piece which is there all the same."""
    theirs = trained("a pattern with classes")
    options = json.loads(theirs.to_str())
    options["model"]["ignore_merges"] = True
    removed = options["model"]["merges"][-30:]
    options["model"]["merges"] = options["model"]["merges"][:-30]
    (tmp_path / "tokenizer.json").write_text(json.dumps(options), encoding="utf-8")
    theirs, ours = Tokenizer.from_file(str(tmp_path / "tokenizer.json")), load_tokenizer(tmp_path)
    words = ["".join(pair).replace("Ġ", " ") for pair in removed]
    for text in [*words, *texts(50)]:
        assert ours.encode(text) == theirs.encode(text).ids, text


def file_of(tmp_path, change):
    options = json.loads(trained("GPT-2").to_str())
    change(options)
    (tmp_path / "tokenizer.json").write_text(json.dumps(options), encoding="utf-8")
    return tmp_path


SPLIT_OF = {"type": "Split", "behavior": "Isolated", "invert": False}
OTHER = {
    "another model": lambda o: o["model"].update(type="Unigram"),
    "half merges": lambda o: o["model"].update(dropout=0.5),
    "no vocabulary": lambda o: o["model"].update(vocab=[1, 2]),
    "no model": lambda o: o.update(model=None),
    "merges that do not fit": lambda o: o["model"].update(merges=["q qqq"]),
    "merges of another kind": lambda o: o["model"].update(merges=3),
    "a gap": lambda o: o["model"]["vocab"].update(xx=9999),
    "a prefix": lambda o: o["pre_tokenizer"].update(add_prefix_space=True),
    "no cut": lambda o: o.update(pre_tokenizer={"type": "Metaspace"}),
    "another cut": lambda o: o.update(pre_tokenizer=SPLIT_OF | {"behavior": "Removed", "pattern": {"Regex": "a"}}),
    "a class of classes": lambda o: o.update(pre_tokenizer=SPLIT_OF | {"pattern": {"Regex": "[a&&[b]]"}}),
    "no class": lambda o: o.update(pre_tokenizer=SPLIT_OF | {"pattern": {"Regex": r"\p{Han}"}}),
    "no pattern": lambda o: o.update(pre_tokenizer=SPLIT_OF | {"pattern": {"Regex": "(a"}}),
    "no text": lambda o: o.update(pre_tokenizer=SPLIT_OF | {"pattern": 3}),
    "a normalizer": lambda o: o.update(normalizer={"type": "Lowercase"}),
    "a token that takes spaces": lambda o: o["added_tokens"][0].update(lstrip=True),
    "a token without a text": lambda o: o["added_tokens"][0].update(content=""),
    "tokens that are none": lambda o: o.update(added_tokens=[3]),
}


@pytest.mark.parametrize("case", OTHER)
def test_what_ours_cannot_be_is_refused_in_a_sentence(case, tmp_path):
    with pytest.raises(ValueError, match=r"load_tokenizer: .*tokenizer\.json"):
        load_tokenizer(file_of(tmp_path, OTHER[case]))


def test_what_is_said(tmp_path):
    def told(case):
        message = refusal(ValueError, load_tokenizer, file_of(tmp_path, OTHER[case]))
        return message.replace(str(tmp_path), "FOLDER")

    assert told("another model") == snapshot(
        "load_tokenizer: FOLDER/tokenizer.json has a model of type 'Unigram', expected byte pairs on bytes, as GPT-2, Llama 3 and Qwen have them. The package tokenizers reads others."
    )
    assert told("a normalizer") == snapshot(
        "load_tokenizer: FOLDER/tokenizer.json has the normalizer {'type': 'Lowercase'}, expected byte pairs on bytes, as GPT-2, Llama 3 and Qwen have them. The package tokenizers reads others."
    )
    assert told("a class of classes") == snapshot(
        "load_tokenizer: FOLDER/tokenizer.json: pattern '[a&&[b]]': classes of classes are not supported."
    )
    assert told("merges that do not fit") == snapshot(
        "load_tokenizer: FOLDER/tokenizer.json cannot be read: BytePairTokenizer: ('q', 'qqq') does not fit a vocabulary of 421 pieces, expected ids from 0 without a gap, a piece for each byte, all spelled in GPT-2's characters, and merges of two pieces into a third. Take both files of the same model."
    )
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"load_tokenizer: .* is no JSON object"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"load_tokenizer: there is no tokenizer\.json"):
        load_tokenizer(tmp_path)


def test_a_class_is_what_unicode_says():
    for pattern, inside, outside in (
        (r"\p{L}", "aΩ中", "1 _"), (r"\pN", "1½Ⅷ", "a"), (r"\P{L}", "1 ", "a"), (r"\p{^L}", "1", "a"),
        (r"[\S\n]", "a\n", " \t"), (r"[^\S\n]", " \t\x85", "a\n"), (r"\s", " \u3000\x85", "\x1c\u200b"),
        (r"[\p{Lu}\d]", "AΩ7٣", "a½"), (r"\D", "a½", "7"), (r"[\]a]", "]a", "b"),
    ):  # fmt: skip
        compiled = python_pattern(pattern)
        assert all(compiled.fullmatch(c) for c in inside) and not any(compiled.fullmatch(c) for c in outside), pattern
