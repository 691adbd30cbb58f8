"""Every kind of folder, configuration and weights that cannot be loaded, with what is in the way."""

import inspect
import json
import re
import sys

import pytest
import torch
from clearformer.pretrained import from_pretrained, from_tensors
from clearformer.pretrained.folders import ARCHITECTURES
from safetensors.torch import load_file

from tests.clearformer.families import CONFIGS, KINDS, outputs_of_both, rewrite, save_theirs, set_options, theirs_of
from tests.clearformer.tolerance import assert_close


@KINDS
def test_all_misfits_are_listed_at_once(kind, tmp_path):
    save_theirs(kind, tmp_path)
    prefix = ARCHITECTURES[kind].prefix
    ignored = "|".join(ARCHITECTURES[kind].ignored) or "nothing"
    missing, misshapen, integers, *_ = sorted(
        n for n in load_file(tmp_path / "model.safetensors") if n.startswith(prefix) and not re.fullmatch(ignored, n)
    )

    def spoil(tensors):
        del tensors[missing]
        tensors |= {misshapen: torch.ones(5, 3, 2), integers: tensors[integers].to(torch.int8)}
        return tensors | {f"{prefix}extra": torch.ones(2)}

    rewrite(tmp_path, spoil)
    with pytest.raises(ValueError, match="the weights do not fit") as caught:
        from_pretrained(tmp_path)
    expected = (f"{missing} is missing", f"{misshapen} is float32 (5, 3, 2), expected", f"{integers} is int8")
    assert all(part in str(caught.value) for part in (*expected, f"{prefix}extra is unexpected")), caught.value


def test_a_head_that_is_not_the_embedding_is_refused(tmp_path):
    save_theirs("gpt2", tmp_path)
    rewrite(tmp_path, lambda t: t | {"lm_head.weight": t["transformer.wte.weight"] + 1})
    with pytest.raises(ValueError, match=r"lm_head\.weight is not equal .*transformer\.wte\.weight"):
        from_pretrained(tmp_path)


REFUSED = [
    ("gpt2", "scale_attn_by_inverse_layer_idx", True),
    ("gpt2", "add_cross_attention", True),
    ("gpt2", "scale_attn_weights", False),
    ("mistral", "sliding_window", 0),
    ("gpt2", "activation_function", "swiglu"),
    ("gpt2", "quantization_config", {"bits": 4}),
    ("bert", "position_embedding_type", "relative_key"),
    ("bert", "is_decoder", True),
    ("bert", "hidden_act", ["gelu"]),
    ("bert", "hidden_size", "24"),
    ("roberta", "hidden_act", "relu"),
    ("distilbert", "tie_word_embeddings", False),
    ("modernbert", "mlp_bias", True),
    ("modernbert", "classifier_activation", "relu"),
    ("vit", "qkv_bias", False),
    ("vit", "image_size", [12, 12]),
    ("vit", "patch_size", 5),
    ("vit_mae", "qkv_bias", False),
    ("dinov2", "hidden_act", "relu6"),
    ("dinov2", "qkv_bias", False),
    ("dinov2_with_registers", "num_register_tokens", "3"),
    ("clip_vision_model", "hidden_act", "relu6"),
    ("siglip_vision_model", "vision_use_head", False),
    ("marian", "decoder_vocab_size", 38),
    ("marian", "share_encoder_decoder_embeddings", False),
    ("marian", "normalize_before", True),
    ("bart", "normalize_before", True),
    ("t5", "feed_forward_proj", "gated-tanh"),
    ("t5", "relative_attention_num_buckets", "32"),
    ("mt5", "feed_forward_proj", 3),
    ("umt5", "feed_forward_proj", "gated-tanh"),
    ("llama", "attention_bias", True),
    ("llama", "mlp_bias", True),
    ("llama", "hidden_act", "relu6"),
    ("llama", "rope_parameters", {"rope_type": "dynamic", "rope_theta": 500.0, "factor": 8.0}),
    ("llama", "quantization_config", {"bits": 4}),
    ("qwen2", "num_key_value_heads", "2"),
    ("qwen3", "attention_bias", True),
    ("qwen3", "hidden_act", "relu6"),
    ("qwen3", "head_dim", "10"),
    ("qwen3", "rope_parameters", {"rope_type": "dynamic", "rope_theta": 500.0, "factor": 4.0}),
    ("qwen3", "quantization_config", {"bits": 4}),
]


@pytest.mark.parametrize(("kind", "option", "value"), REFUSED)
def test_an_unsupported_option_is_named_with_its_value(kind, option, value, tmp_path):
    save_theirs(kind, tmp_path)
    set_options(tmp_path, **{option: value})
    if isinstance(value, dict) and "rope_type" in value:
        option, value = "rope_type", value["rope_type"]
    with pytest.raises(ValueError, match=option) as caught:
        from_pretrained(tmp_path)
    assert str(value) in str(caught.value)


def test_a_size_that_is_missing_is_named_and_a_missing_option_has_its_default(tmp_path):
    theirs = save_theirs("gpt2", tmp_path)
    set_options(tmp_path, activation_function=..., layer_norm_epsilon=...)
    mine, expected = outputs_of_both("gpt2", from_pretrained(tmp_path), theirs, torch.float32)
    assert_close(mine, expected)
    set_options(tmp_path, n_embd=...)
    with pytest.raises(ValueError, match="lacks 'n_embd'"):
        from_pretrained(tmp_path)


def test_a_pickle_is_never_opened(tmp_path):
    save_theirs("gpt2", tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"whatever it is")
    with pytest.raises(ValueError, match=r"pytorch_model\.bin only, a pickle.*GPT2LMHeadModel"):
        from_pretrained(tmp_path)


@pytest.mark.parametrize("size", [0, 5, 200, -1])
def test_a_damaged_file_is_named_with_its_size(size, tmp_path):
    save_theirs("vit", tmp_path)
    content = (tmp_path / "model.safetensors").read_bytes()[:size]
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=rf"model\.safetensors of {len(content)} bytes is truncated"):
        from_pretrained(tmp_path)


def test_what_else_can_be_wrong_with_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere is no folder"):
        from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"no config\.json"):
        from_pretrained(tmp_path)
    save_theirs("gpt2", tmp_path)
    config = (tmp_path / "config.json").read_text()
    for text, message in ((config[:-9], "is no JSON"), ("[1, 2]", "is no JSON object"), ("{}", "model_type=None")):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(config)
    set_options(tmp_path, model_type="longt5")
    with pytest.raises(ValueError, match=rf"model_type='longt5', .*{', '.join(ARCHITECTURES)}\b"):
        from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(config)
    (tmp_path / "model.safetensors").rename(tmp_path / "other.safetensors")
    with pytest.raises(FileNotFoundError, match=r"neither model\.safetensors nor .*other\.safetensors"):
        from_pretrained(tmp_path)


def test_a_missing_part_of_several_is_named(tmp_path):
    theirs_of("bert").save_pretrained(tmp_path, max_shard_size="10KB")
    part = sorted(tmp_path.glob("*.safetensors"))[1]
    part.unlink()
    with pytest.raises(FileNotFoundError, match=part.name):
        from_pretrained(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_pointer_of_git_lfs_is_called_one(name, tmp_path):
    save_theirs("gpt2", tmp_path)
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(ValueError, match=f"{name} .*Git LFS .*git lfs pull"):
        from_pretrained(tmp_path)


def test_an_index_leads_nowhere_but_to_its_own_folder(tmp_path):
    """Catches a path in an index that is followed to any file of the machine, and one that is no list of files."""
    inside = tmp_path / "model"
    theirs_of("bert").save_pretrained(inside, max_shard_size="10KB")
    index = inside / "model.safetensors.index.json"
    part = sorted(inside.glob("*.safetensors"))[0]
    part.rename(tmp_path / part.name)
    index.write_text(index.read_text().replace(f'"{part.name}"', f'"../{part.name}"'))
    with pytest.raises(FileNotFoundError, match=rf"no {part.name} in .*model\. {index.name}\b"):
        from_pretrained(inside)
    for wrong in ([1], 3, {"a": 1}):
        index.write_text(json.dumps({"weight_map": wrong}))
        with pytest.raises(ValueError, match=rf"weight_map in .*{index.name}.* each weight"):
            from_pretrained(inside)


def test_a_kind_of_model_or_numbers_that_are_none_is_named(tmp_path):
    save_theirs("gpt2", tmp_path)
    with pytest.raises(TypeError, match=r"dtype=torch\.int8, .*None .*floating-point"):
        from_pretrained(tmp_path, dtype=torch.int8)
    set_options(tmp_path, model_type=["gpt2"])
    with pytest.raises(ValueError, match=r"model_type=\['gpt2'\], expected one of"):
        from_pretrained(tmp_path)


def test_without_the_package_for_the_hub_the_message_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match="pip install huggingface_hub"):
        from_pretrained("openai/gpt2")


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("value", ["text", -1, [1], {"a": 1}, 2.5], ids=repr)
def test_any_option_of_another_kind_is_named(kind, value):
    """Catches an error of Python's for one line of a config.json."""
    plain = {"model_type": kind} | CONFIGS[kind]
    for option in (*plain, "rope_scaling", "rope_parameters", "quantization_config"):
        with pytest.raises((ValueError, TypeError), match=r"^\w+: "):  # of the option, or of the weights that lack
            from_tensors(plain | {option: value}, {})


@pytest.mark.parametrize("wrong", [(None, {}), ({"model_type": "gpt2"}, []), ({"model_type": "gpt2"}, {"a": 1})])
def test_what_is_no_configuration_or_no_weights_is_named(wrong):
    with pytest.raises(TypeError, match=r"^from_pretrained: .*expected (a dict|names and tensors)\."):
        inspect.unwrap(from_tensors)(*wrong)


@pytest.mark.parametrize(
    "changes",
    [{"model_type": "electra"}, {"rope_scaling": {"rope_type": "dynamic", "factor": 8.0}}, {"mlp_bias": True}],
)
def test_who_brings_what_cannot_be_loaded_is_told_what_can(changes):
    """Catches a refusal after which nobody knows how to go on."""
    options = {"model_type": "llama"} | CONFIGS["llama"] | changes
    with pytest.raises(ValueError, match=r"that load .*openai-community/gpt2, .*HuggingFaceTB/SmolLM2"):
        from_tensors(options, {})
