"""``python -m clearformer info``: numbers that a model itself confirms, and a sentence for what does not load."""

import json

import pytest
import torch
from clearformer import (
    BERT,
    GPT,
    BERTConfig,
    GPTConfig,
    Seq2Seq,
    add_lora,
    save_lora,
    save_pretrained,
)
from clearformer.commands import costs, main
from clearformer.experts import MixtureOfExperts
from clearformer.pretrained.convert import build_model, read_config
from clearformer.pretrained.folders import ARCHITECTURES, architecture_of
from safetensors.torch import load_file, save_file
from torch.utils.flop_counter import FlopCounterMode

from tests.clearformer.decoders import CASES
from tests.clearformer.tiny_run import TINY

SIZES = {"n_vocab": 31, "n_positions": 12, "d_model": 8, "n_heads": 2, "n_layers": 3}


def info(folder, capsys):
    """The exit code, and the lines without the space between their words."""
    code = main(["info", str(folder)])
    return code, [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_a_model_is_described_by_what_it_is(tmp_path, capsys):
    """Catches a tied head that counts twice, and a cache or FLOPs of other sizes."""
    model = GPT(GPTConfig(**SIZES))
    save_pretrained(model, tmp_path)
    code, lines = info(tmp_path, capsys)
    total = sum(p.numel() for p in model.parameters())
    assert code == 0 and f"together {total:,}" in lines and "kind gpt2, a GPT of this library" in lines
    assert {"n_vocab 31", "d_model 8", "tied True", "embeddings 344"} <= {*lines}
    assert f"float32 {4 * total / 1000:.1f} KB" in lines and f"int8 {total / 1000:.1f} KB" in lines
    assert f"keeps {2 * 3 * 8 * 4} bytes in float32, {2 * 3 * 8 * 2} bytes in bfloat16" in lines
    assert lines[-1] == f"Loads: from_pretrained({str(tmp_path)!r})"


def test_flops_are_those_that_torch_counts():
    """Catches an embedding that is counted as a product, and a head that is left out where it is tied."""
    model = GPT(GPTConfig(**SIZES))
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, 12, dtype=torch.long))
    products = sum(n for op, n in counter.get_flop_counts()["Global"].items() if str(op) in ("aten.mm", "aten.addmm"))
    assert products == 12 * costs.flops_of_weights(model)
    assert costs.flops_of_attention(model) == 4 * 8 * 12 * 3
    cache = model.new_cache(1, 12)
    with torch.no_grad():
        model(torch.zeros(1, 5, dtype=torch.long), cache=cache)
    assert sum(t.numel() for layer in cache.layers for t in layer.filled()) == 5 * costs.cached_numbers(model)


def test_of_experts_only_the_chosen_count():
    mixture = MixtureOfExperts(4, 8, n_experts=6, top_k=2)
    assert costs.flops_of_weights(mixture) == 2 * 2 * (2 * 4 * 8) + 2 * 4 * 6


def test_weights_in_several_files_load(tmp_path, capsys):
    save_pretrained(GPT(GPTConfig(**SIZES)), tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    names, where = sorted(tensors), {}
    for part in range(2):
        mine = {name: tensors[name] for name in names[part::2]}
        save_file(mine, tmp_path / f"part-{part}.safetensors")
        where |= dict.fromkeys(mine, f"part-{part}.safetensors")
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}), encoding="utf-8")
    code, lines = info(tmp_path, capsys)
    assert code == 0 and lines[-1].startswith("Loads")
    (tmp_path / "part-1.safetensors").unlink()
    code, lines = info(tmp_path, capsys)
    assert code == 1 and "there is no part-1.safetensors" in lines[-1] and "d_model 8" in lines


def test_an_adapter_is_told_from_a_model(tmp_path, capsys):
    model = GPT(GPTConfig(**SIZES))
    add_lora(model, 2, targets=["qkv"], scale=3.0)
    save_lora(model, tmp_path)
    code, lines = info(tmp_path, capsys)
    assert code == 1 and {"peft_type 'LORA'", "r 2", "lora_alpha 6", f"weights {3 * 2 * (8 + 24)}"} <= {*lines}
    assert "is an adapter, no whole model" in lines[-1]


@pytest.mark.parametrize(
    "model",
    [
        BERT(BERTConfig(n_vocab=9, n_positions=4, d_model=4, n_heads=2, n_layers=1)),
        Seq2Seq(ARCHITECTURES["marian"].config(9, 4, 4, 2, 1, padding=8, interleaved=False)),
    ],
    ids=["bert", "seq2seq"],
)
def test_other_kinds_of_models_are_described(tmp_path, capsys, model):
    save_pretrained(model, tmp_path)
    code, lines = info(tmp_path, capsys)
    assert code == 0 and f"together {sum(p.numel() for p in model.parameters()):,}" in lines
    assert not any(line.startswith("keeps") for line in lines)


def test_a_run_is_told_with_how_far_it_came(tmp_path, capsys):
    text = tmp_path / "t.txt"
    text.write_text("The cat sat on the mat.\n" * 90, encoding="utf-8")
    assert main(["train", str(text), "--out", str(tmp_path / "out"), *TINY, "--steps", "2"]) == 0
    capsys.readouterr()
    code, lines = info(tmp_path / "out", capsys)
    assert code == 0 and {"text t.txt", "steps 2"} <= {*lines}
    assert any(line.startswith("done 2 of 2 steps, ") for line in lines)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / "out" / name).unlink()
    code, lines = info(tmp_path / "out", capsys)
    assert code == 1 and lines[-1].endswith("Give the same train command again: it goes on.")


@pytest.mark.parametrize(
    "content, said",
    [
        ('{"model_type": "gpt2"}', "lacks"),
        ('{"model_type": "lstm"}', "model_type='lstm', expected one of"),
        ("[]", "is no JSON object"),
    ],
)
def test_a_configuration_that_does_not_load_is_told(tmp_path, capsys, content, said):
    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    code, lines = info(tmp_path, capsys)
    assert code == 1 and lines[-1].startswith("Does not load: ") and said in lines[-1]


def test_folders_of_other_kinds_are_told(tmp_path, capsys):
    code, lines = info(tmp_path, capsys)
    assert code == 1 and "has no config.json" in lines[-1]
    (tmp_path / "model.gguf").touch()
    code, lines = info(tmp_path, capsys)
    assert code == 1 and "has its weights in model.gguf" in lines[-1]
    assert main(["info", str(tmp_path / "none")]) == 1
    assert "does not exist, expected a folder" in capsys.readouterr().err


@pytest.mark.parametrize("case", CASES, ids=str)
def test_costs_are_known_of_every_family_of_decoders(case):
    """Catches a family whose parts have other names, and a cache of another size."""
    options = {"model_type": case.kind} | case.options
    architecture = architecture_of(options)
    model = build_model(architecture, read_config(architecture, options))
    cache = model.new_cache(1, 4)
    with torch.no_grad():
        model(torch.zeros(1, 4, dtype=torch.long), cache=cache)
    assert sum(t.numel() for layer in cache.layers for t in layer.filled()) == 4 * costs.cached_numbers(model)
    assert sum(costs.weights_by_part(model).values()) == sum(p.numel() for p in model.parameters())
    assert costs.flops_of_attention(model) > 0 and costs.flops_of_weights(model) > 0
