"""Weights of transformers loaded and saved: equal logits both ways, by whatever names and in however many files."""

import inspect
from contextlib import nullcontext

import pytest
import torch
from clearformer.generation import beam_search, generate
from clearformer.models.mae import reconstruction_loss
from clearformer.pretrained import folders, from_pretrained, from_tensors, save_pretrained
from clearformer.pretrained.convert import weights
from clearformer.pretrained.folders import ARCHITECTURES
from clearformer.pretrained.tables import weight_names
from inline_snapshot import snapshot
from torch.overrides import TorchFunctionMode

from tests.clearformer.families import (
    KINDS,
    B,
    D,
    S,
    V,
    built_as,
    loaded_by_theirs,
    missing_of,
    our_model,
    outputs_of_both,
    rewrite,
    save_theirs,
    seen_tokens,
    theirs_of,
    token_ids,
    transformers,
)
from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])


@pytest.mark.slow
@KINDS
@DTYPES
def test_their_weights_give_their_logits(kind, dtype, tmp_path):
    theirs = save_theirs(kind, tmp_path, dtype)
    ours = from_pretrained(tmp_path)
    assert not ours.training and next(ours.parameters()).dtype == dtype
    mine, expected = outputs_of_both(kind, ours, theirs, dtype)
    assert expected.std() > 0.01
    assert_close(mine, expected)


@KINDS
@DTYPES
def test_our_weights_give_the_same_logits_in_transformers(kind, dtype, tmp_path):
    ours = our_model(kind, dtype)
    save_pretrained(ours, tmp_path)
    kind_of_theirs = getattr(transformers, ARCHITECTURES[kind].class_name)
    with built_as(kind, dtype):
        theirs, report = loaded_by_theirs(kind_of_theirs, tmp_path, dtype=dtype, output_loading_info=True)
    assert not report["unexpected_keys"] and not report["mismatched_keys"] and not missing_of(kind, report), report
    mine, expected = outputs_of_both(kind, ours, theirs.eval(), dtype)
    assert_close(mine, expected)
    again = from_pretrained(tmp_path)
    for name, weight in ours.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight), name


@KINDS
def test_a_table_names_every_weight_once(kind):
    """A weight that no row names would stay random."""
    model = our_model(kind)
    rows = list(weight_names(ARCHITECTURES[kind], model.config))
    ours, theirs = [row.ours for row in rows], [name for row in rows for name in row.theirs]
    assert sorted(ours) == sorted(weights(model)) and len(set(theirs)) == len(theirs)


@KINDS
def test_a_checkpoint_in_several_files_is_the_same(kind, tmp_path):
    theirs = save_theirs(kind, tmp_path / "one")
    theirs.save_pretrained(tmp_path / "many", max_shard_size="10KB")
    assert len(list((tmp_path / "many").glob("*.safetensors"))) > 1
    one, many = (from_pretrained(tmp_path / name).state_dict() for name in ("one", "many"))
    assert one.keys() == many.keys() and all(torch.equal(one[name], many[name]) for name in one)


@pytest.mark.parametrize("normalise", [True, False])
def test_the_loss_of_mae_is_theirs(normalise, tmp_path):
    theirs = save_theirs("vit_mae", tmp_path, torch.float64, norm_pix_loss=normalise)
    images, noise = torch.randn(B, 2, 12, 12, dtype=torch.float64), torch.rand(B, 9, dtype=torch.float64)
    ours = reconstruction_loss(from_pretrained(tmp_path), images, noise, normalise=normalise)
    assert_close(ours, theirs(images, noise=noise).loss)


OTHER_NAMES = {
    "gpt2": lambda t: (
        {k.removeprefix("transformer."): v for k, v in t.items()}  # as GPT2Model and the hub have it
        | {"h.0.attn.bias": torch.ones(1, 1, 11, 11), "h.0.attn.masked_bias": torch.tensor(-1e4)}
    ),
    "bert": lambda t: (
        {k.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): v for k, v in t.items()}
        | {"bert.pooler.dense.weight": torch.ones(D, D), "cls.seq_relationship.bias": torch.ones(2)}
        | {
            "bert.embeddings.position_ids": torch.arange(11)[None],
            "cls.predictions.decoder.bias": t["cls.predictions.bias"] + 0,
        }
    ),
    "roberta": lambda t: other_names_of_a_roberta(t),
    "xlm-roberta": lambda t: other_names_of_a_roberta(t),
    "camembert": lambda t: other_names_of_a_roberta(t),
    "distilbert": lambda t: t | {"vocab_projector.weight": t["distilbert.embeddings.word_embeddings.weight"] + 0},
    "modernbert": lambda t: t | {"decoder.weight": t["model.embeddings.tok_embeddings.weight"] + 0},
    "vit": lambda t: t | {"vit.pooler.dense.weight": torch.ones(D, D)},
    "dinov2": lambda t: t | {"dinov2.embeddings.mask_token": torch.ones(1, D)},
    "dinov2_with_registers": lambda t: (
        {k: v for k, v in t.items() if k != "dinov2_with_registers.embeddings.mask_token"}
    ),
    "clip_vision_model": lambda t: t | {"vision_model.embeddings.position_ids": torch.arange(10)[None]},
    "siglip_vision_model": lambda t: t | {"vision_model.embeddings.position_ids": torch.arange(9)[None]},
    "llama": lambda t: (
        {k.removeprefix("model."): v for k, v in t.items()} | {"layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)}
    ),
    "qwen2": lambda t: t | {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)},
    "qwen3": lambda t: t | {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)},
    "vit_mae": lambda t: {k.replace("decoder_encoder.layer.", "decoder_layers."): v for k, v in t.items()},
    "marian": lambda t: other_names_of_a_writer(t) | {"model.encoder.embed_positions.weight": torch.ones(11, D)},
    "bart": lambda t: other_names_of_a_writer(t),
    "mbart": lambda t: other_names_of_a_writer(t),
    "t5": lambda t: other_names_of_a_t5(t),
    "mt5": lambda t: other_names_of_a_t5(t),
    "umt5": lambda t: t | {name: t["shared.weight"] + 0 for name in TIED_NAMES_OF_A_T5},
}


TIED_NAMES_OF_A_T5 = ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def other_names_of_a_t5(t):
    alone = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    return t | {name: t["shared.weight"] + 0 for name in TIED_NAMES_OF_A_T5} | {alone: torch.ones(8, 4)}


def other_names_of_a_writer(t):
    shared = t["model.shared.weight"]
    return {k: v for k, v in t.items() if "shared" not in k} | {"lm_head.weight": shared}


def other_names_of_a_roberta(t):
    more = {"roberta.pooler.dense.weight": torch.ones(D, D), "roberta.embeddings.position_ids": torch.arange(11)[None]}
    return t | more | {"lm_head.decoder.bias": t["lm_head.bias"] + 0}


@KINDS
def test_older_names_second_names_and_empty_luggage_are_understood(kind, tmp_path):
    save_theirs(kind, tmp_path)
    expected = from_pretrained(tmp_path).state_dict()
    rewrite(tmp_path, OTHER_NAMES[kind])
    found = from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())


@pytest.mark.parametrize("n_beams", [1, 3])
def test_a_decoder_of_other_heads_and_widths_than_the_encoder_is_read_and_written(n_beams, tmp_path):
    """Catches heads and widths of the encoder in the decoder, in its cache or in what is written."""
    sizes = {"d_model": 30, "encoder_attention_heads": 5, "decoder_attention_heads": 3, "decoder_ffn_dim": 17}
    theirs = save_theirs("marian", tmp_path, torch.float64, **sizes)
    ours = from_pretrained(tmp_path)
    assert_close(*outputs_of_both("marian", ours, theirs, torch.float64))
    save_pretrained(ours, tmp_path / "again")
    again = transformers.MarianMTModel.from_pretrained(tmp_path / "again", dtype=torch.float64).eval()
    assert_close(*outputs_of_both("marian", ours, again, torch.float64))
    start, written = torch.full((B, 1), V - 1), ours.conditioned_on(token_ids(S))
    rows = [beam_search(written, start, 5, n_beams, cached=cached)[0] for cached in (True, False)]
    assert rows[0].equal(rows[1])


@torch.no_grad()
def test_a_bart_without_a_head_encodes_and_decodes_and_says_what_it_lacks(tmp_path):
    bare = random_module(transformers.BartModel(theirs_of("bart").config), torch.float32).eval()
    bare.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    memory = ours.encode(token_ids(S))
    expected = bare(token_ids(S), decoder_input_ids=token_ids())
    assert_close(memory, expected.encoder_last_hidden_state)
    assert_close(ours.hidden_states(token_ids(), memory), expected.last_hidden_state)
    with pytest.raises(ValueError, match="checkpoint was a BartModel"):
        ours(token_ids(S), token_ids())


def test_weights_need_no_folder():
    theirs = theirs_of("llama")
    ours = from_tensors(theirs.config.to_dict(), theirs.state_dict())
    assert_close(*outputs_of_both("llama", ours, theirs, torch.float32))


class CalledFunctions(TorchFunctionMode):
    """The names of the functions of torch that are called."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.add(function.__name__)
        return function(*args, **kwargs or {})


@pytest.mark.slow
@KINDS
def test_weights_are_not_drawn_to_be_replaced_and_all_else_is_built(kind, monkeypatch):
    """Catches a load that takes as long as drawing; a table of waves, a scale or a tie that is not as in our models."""
    theirs = theirs_of(kind)
    with CalledFunctions() as called:
        ours = from_tensors(theirs.config.to_dict(), theirs.state_dict())
    assert "zero_" in called.names and not called.names & {"normal_", "uniform_", "kaiming_uniform_"}
    monkeypatch.setattr(folders, "_SkipDraws", nullcontext)
    drawn = from_tensors(theirs.config.to_dict(), theirs.state_dict())
    tensors, expected = (dict([*m.named_parameters(), *m.named_buffers()]) for m in (ours, drawn))  # a tied one once
    assert tensors.keys() == expected.keys() and ours.state_dict().keys() == drawn.state_dict().keys()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in tensors.items())


@pytest.mark.parametrize("n_beams", [1, 2, 3])
@pytest.mark.parametrize("kind", ["marian", "bart", "mbart"])
def test_a_translation_is_theirs(kind, n_beams, tmp_path):
    """They forbid padding in the configuration of generation, we in the model's writer, where the rest sums to 1."""
    theirs = save_theirs(kind, tmp_path, torch.float64)
    with torch.no_grad():
        theirs.final_logits_bias[:, -1] = 9.0  # padding would win
    theirs.save_pretrained(tmp_path)
    source = token_ids(S).masked_fill(~seen_tokens(S), V - 1)
    options = {"num_beams": n_beams, "do_sample": False, "max_new_tokens": 6, "eos_token_id": None}
    options |= {"forced_eos_token_id": None, "bad_words_ids": [[V - 1]], "length_penalty": 1.0}
    options |= {"renormalize_logits": True}
    expected = theirs.generate(source, attention_mask=seen_tokens(S).long(), **options)
    ours = from_pretrained(tmp_path)
    start = torch.full((B, 1), ours.config.start)
    if n_beams == 1:
        found = generate(ours.conditioned_on(source), start, 6)
    else:
        found, _ = beam_search(ours.conditioned_on(source), start, 6, n_beams)
    assert torch.equal(found, expected) and (found[:, 1:] != V - 1).all()


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swish"])
def test_options_of_marian_that_vary_are_followed(scaled, activation, tmp_path):
    theirs = save_theirs("marian", tmp_path, torch.float64, scale_embedding=scaled, activation_function=activation)
    mine, expected = outputs_of_both("marian", from_pretrained(tmp_path), theirs, torch.float64)
    assert_close(mine, expected)


def test_a_mistral_without_a_window_is_a_llama(tmp_path):
    theirs = save_theirs("mistral", tmp_path)
    assert_close(*outputs_of_both("mistral", from_pretrained(tmp_path), theirs, torch.float32))


@pytest.mark.parametrize("wrapper", ["_orig_mod.", "module."])
def test_weights_of_a_compiled_or_a_parallel_model_are_read(wrapper, tmp_path):
    theirs = save_theirs("gpt2", tmp_path)
    rewrite(tmp_path, lambda tensors: {wrapper + name: tensor for name, tensor in tensors.items()})
    assert_close(*outputs_of_both("gpt2", from_pretrained(tmp_path), theirs, torch.float32))


def test_another_dtype_can_be_asked_for(tmp_path):
    save_theirs("bert", tmp_path)
    assert {w.dtype for w in from_pretrained(tmp_path, dtype=torch.bfloat16).parameters()} == {torch.bfloat16}
    assert refusal(TypeError, inspect.unwrap(from_tensors), {"model_type": "bert"}, {}, dtype="bfloat16") == snapshot(
        "from_pretrained: dtype='bfloat16', expected None or a floating-point one of torch, such as torch.bfloat16."
    )
