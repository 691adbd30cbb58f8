"""Adapters in files: what ``peft`` writes we read, what we write it reads, and what does not fit is named."""

import json
import shutil

import pytest
import torch
from clearformer.lora import adapters, add_lora
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.pretrained import from_pretrained, load_lora, save_lora
from inline_snapshot import snapshot
from safetensors.torch import load_file, save_file
from torch import nn

from tests.clearformer.families import CONFIGS, N, V, outputs_of_both, theirs_of
from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal

NEOX = {"vocab_size": V, "max_position_embeddings": 11, "hidden_size": 32, "num_attention_heads": 4}
NEOX |= {"num_hidden_layers": 2, "intermediate_size": 44}
CONFIGS = CONFIGS | {"gpt_neox": NEOX}
TARGETS = {  # some of theirs, and some of ours
    "llama": (["q_proj", "v_proj", "o_proj", "down_proj"], ["qkv", "feed_forward.down"]),
    "qwen3": (["q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"], None),
    "gpt2": (["c_attn", "mlp.c_proj"], ["qkv", "up"]),
    "gpt_neox": (["query_key_value", "dense"], ["qkv", "out", "down"]),
    "bert": (["query", "value"], ["qkv", "attention.out"]),
    "vit": (["query", "key", "value"], ["qkv", "up"]),
    "marian": (["q_proj", "fc1"], ["qkv", "cross.out"]),
}


@pytest.fixture(scope="module")
def peft():
    return pytest.importorskip("peft", reason="needs peft")


def base(kind, folder):
    theirs = theirs_of(kind, torch.float64) if kind != "gpt_neox" else neox()
    theirs.save_pretrained(folder)
    return theirs, from_pretrained(folder, dtype=torch.float64)


def neox():
    import transformers

    torch.manual_seed(3)
    return random_module(transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**NEOX))).eval()


def randomized(adapters_of):
    for name, weight in adapters_of.named_parameters():
        if "lora_" in name or name.endswith((".A", ".B")):
            nn.init.normal_(weight, std=0.3)
    return adapters_of


@torch.no_grad()
def assert_alike(kind, ours, theirs):
    torch.manual_seed(5)
    mine, expected = outputs_of_both("gpt2" if kind == "gpt_neox" else kind, ours, theirs, torch.float64)
    torch.testing.assert_close(mine.double(), expected.double(), rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"r": 3, "lora_alpha": 7, "use_rslora": True}], ids=["plain", "scaled"])
@pytest.mark.parametrize("kind", TARGETS)
def test_what_peft_writes_we_read(kind, options, peft, tmp_path):
    """Catches A and B confused, rows of another head or map, a scale that is lost, and an adapter that has no effect."""
    theirs, ours = base(kind, tmp_path / "base")
    before = ours
    with_adapter = randomized(peft.get_peft_model(theirs, peft.LoraConfig(target_modules=TARGETS[kind][0], **options)))
    with_adapter.save_pretrained(tmp_path / "adapter")
    load_lora(ours, tmp_path / "adapter")
    assert_alike(kind, ours, with_adapter.eval())
    assert {n for n, p in before.named_parameters() if p.requires_grad} == {
        f"{name}.{letter}" for name in adapters(ours) for letter in "AB"
    }
    save_lora(ours, tmp_path / "again")
    again, _ = base(kind, tmp_path / "base")
    assert_alike(kind, ours, peft.PeftModel.from_pretrained(again, tmp_path / "again").eval())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", TARGETS)
def test_what_we_write_peft_reads(kind, peft, tmp_path):
    """Catches names that peft passes over in silence, and a rank or an alpha that it takes from elsewhere."""
    theirs, ours = base(kind, tmp_path / "base")
    add_lora(ours, 3, targets=TARGETS[kind][1], scale=0.5)
    save_lora(randomized(ours), tmp_path / "adapter")
    with_adapter = peft.PeftModel.from_pretrained(theirs, tmp_path / "adapter").eval()
    assert_alike(kind, ours, with_adapter)
    _, again = base(kind, tmp_path / "base")
    assert load_lora(again, tmp_path / "adapter") == list(adapters(ours))
    for name, layer in adapters(again).items():
        mine = adapters(ours)[name]
        assert torch.equal(layer.A, mine.A) and torch.equal(layer.B, mine.B) and layer.scale == mine.scale


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_layers_of_other_ranks_and_scales_are_told(peft, tmp_path):
    """Catches one rank for all, where an adapter of several maps holds the A of each."""
    theirs, ours = base("llama", tmp_path / "base")
    config = peft.LoraConfig(
        target_modules=["q_proj", "v_proj", "o_proj"],
        rank_pattern={"layers.0.self_attn.q_proj": 5, "o_proj": 2},
        alpha_pattern={"v_proj": 3, "model.layers.1.self_attn.o_proj": 9},
    )
    with_adapter = randomized(peft.get_peft_model(theirs, config))
    with_adapter.save_pretrained(tmp_path / "adapter")
    load_lora(ours, tmp_path / "adapter")
    assert_alike("llama", ours, with_adapter.eval())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_without_a_head_has_the_names_of_the_bare_one(peft, tmp_path):
    theirs, _ = base("qwen3", tmp_path / "base")
    theirs.model.save_pretrained(tmp_path / "bare")
    ours = from_pretrained(tmp_path / "bare", dtype=torch.float64)
    add_lora(ours, 2, targets=["qkv"])
    save_lora(randomized(ours), tmp_path / "adapter")
    ids = torch.randint(V, (2, N))
    with_adapter = peft.PeftModel.from_pretrained(theirs.model, tmp_path / "adapter").eval()
    with torch.no_grad():
        expected = with_adapter(ids).last_hidden_state
        torch.testing.assert_close(ours.hidden_states(ids), expected.double(), rtol=0, atol=1e-5)


def small():
    torch.manual_seed(1)
    return random_module(GPT(GPTConfig(V, N, 24, 4, 2, activation=nn.functional.gelu)))


@pytest.fixture
def saved(tmp_path):
    model = small()
    add_lora(model, 2, targets=["qkv"])
    save_lora(model, tmp_path)
    return tmp_path


def with_config(folder, **changes):
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


def with_tensors(folder, change):
    path = folder / "adapter_model.safetensors"
    save_file(change(load_file(path)), path)
    return folder


FIRST = "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"
DAMAGED = {
    "another kind": lambda folder: with_config(folder, peft_type="IA3"),
    "more than LoRA": lambda folder: with_config(folder, use_dora=True, bias="all"),
    "no alpha": lambda folder: with_config(folder, lora_alpha="8"),
    "a regular expression": lambda folder: with_config(folder, alpha_pattern={"(a+)+$": 3}),
    "one of two": lambda folder: with_tensors(folder, lambda t: {n: v for n, v in t.items() if n != FIRST}),
    "another shape": lambda folder: with_tensors(folder, lambda t: t | {FIRST: torch.zeros(2, 23)}),
    "a name too many": lambda folder: with_tensors(
        folder, lambda t: t | {"base_model.model.x.lora_A.weight": t[FIRST].clone()}
    ),
    "nothing": lambda folder: with_tensors(folder, lambda t: {}),
    "no object": lambda folder: [(folder / "adapter_config.json").write_text("[1]"), folder][1],
}


@pytest.mark.parametrize("case", DAMAGED)
def test_an_adapter_that_does_not_fit_is_named_and_the_model_is_as_it_was(case, saved):
    model = small()
    with pytest.raises(ValueError, match="load_lora: "):
        load_lora(model, DAMAGED[case](saved))
    assert not adapters(model) and all(p.requires_grad for p in model.parameters())


def test_what_is_said_of_an_adapter_that_does_not_fit(saved):
    def told(case):
        folder = saved.parent / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(saved, folder)
        return refusal(ValueError, load_lora, small(), DAMAGED[case](folder)).replace(str(folder), "FOLDER")

    assert told("another kind") == snapshot(
        "load_lora: FOLDER/adapter_config.json has peft_type='IA3', expected LORA beside linear maps, and no more."
    )
    assert told("more than LoRA") == snapshot(
        "load_lora: FOLDER/adapter_config.json has bias='all', use_dora=True, expected LORA beside linear maps, and no more."
    )
    assert told("a regular expression") == snapshot(
        "load_lora: alpha_pattern={'(a+)+$': 3} in FOLDER/adapter_config.json, expected names of modules or their ends."
    )
    assert told("one of two") == snapshot(
        "load_lora: FOLDER/adapter_model.safetensors does not fit the GPT: transformer.h.0.attn.c_attn has A and B of shape None and (72, 2), expected (r, 24) and (72, r)."
    )
    assert told("a name too many") == snapshot(
        "load_lora: FOLDER/adapter_model.safetensors does not fit the GPT: base_model.model.x.lora_A.weight is no adapter of a linear map of this model."
    )
    assert told("nothing") == snapshot(
        "load_lora: FOLDER/adapter_model.safetensors does not fit the GPT: it holds no adapter."
    )


def test_what_cannot_be_saved_or_loaded_is_named(saved):
    model = small()
    assert refusal(ValueError, save_lora, model, saved) == snapshot(
        "save_lora: the model has no adapters, expected some of add_lora. Call it before training."
    )
    own = GPT(GPTConfig(V, N, 24, 4, 2, activation=torch.tanh))
    add_lora(own, 2)
    assert refusal(ValueError, save_lora, own, saved) == snapshot(
        "save_lora: this GPT is of no family that save_pretrained knows, so its weights have no names in such a file. Keep the adapter with train(..., folder=...), or merge it."
    )
    load_lora(model, saved)
    assert refusal(ValueError, load_lora, model, saved) == snapshot(
        "load_lora: the model has adapters already, expected none. Call merge_lora(model) before."
    )
    with pytest.raises(FileNotFoundError, match=r"load_lora: there is no adapter_config\.json"):
        load_lora(small(), saved / "nowhere")
