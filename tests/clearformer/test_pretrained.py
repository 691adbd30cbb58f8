"""Loading and saving weights of transformers: equal logits both ways, and every kind of folder that must be refused."""

import dataclasses
import inspect
import json
import sys
from contextlib import nullcontext
from functools import partial

import pytest
import torch
from clearformer.attention import SOFTMAX, attend_linear
from clearformer.generation import beam_search, generate
from clearformer.layers import GatedFeedForward, LayerNorm, RMSNorm, gelu_tanh
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig, reconstruction_loss
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig, mean_tokens
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import RelativeKeys, Rotary
from clearformer.pretrained import folders, from_pretrained, from_tensors, save_pretrained
from clearformer.pretrained.convert import weights
from clearformer.pretrained.folders import ARCHITECTURES
from clearformer.pretrained.tables import weight_names
from safetensors.torch import load_file, save_file
from torch import nn
from torch.overrides import TorchFunctionMode

from tests.clearformer.test_multihead import random_module
from tests.clearformer.tolerance import assert_close
from tests.lazily import Lazily

transformers = Lazily("transformers")

V, N, S, B, D, H, HIDDEN = 37, 7, 9, 3, 24, 4, 44
SIZES = {"hidden_size": D, "num_attention_heads": H, "num_hidden_layers": 2, "intermediate_size": HIDDEN}
IMAGES = {"image_size": 12, "patch_size": 4, "num_channels": 2}
DECODER = {"decoder_hidden_size": 20, "decoder_num_attention_heads": 5, "decoder_num_hidden_layers": 3}
SHARED = {"vocab_size": V, "max_position_embeddings": 11, "num_key_value_heads": 2, "rope_theta": 500.0}
CONFIGS = {
    "gpt2": {"vocab_size": V, "n_positions": 11, "n_embd": D, "n_head": H, "n_layer": 3, "bos_token_id": 0}
    | {"eos_token_id": 0, "n_inner": HIDDEN},
    "bert": SIZES | {"vocab_size": V, "max_position_embeddings": 11, "type_vocab_size": 3},
    "vit": SIZES | IMAGES | {"num_labels": 5},
    "vit_mae": SIZES | IMAGES | DECODER | {"decoder_intermediate_size": 36, "mask_ratio": 0.6},
    "marian": {"vocab_size": V, "max_position_embeddings": 11, "d_model": D, "encoder_layers": 2, "decoder_layers": 3}
    | {"encoder_attention_heads": H, "decoder_attention_heads": H, "encoder_ffn_dim": HIDDEN, "decoder_ffn_dim": HIDDEN}
    | {"activation_function": "swish", "scale_embedding": True, "pad_token_id": V - 1, "decoder_start_token_id": V - 1},
    "llama": SIZES | SHARED | {"tie_word_embeddings": True},
    "qwen2": SIZES | SHARED,
    "mistral": SIZES | SHARED | {"sliding_window": None},
}
KINDS = pytest.mark.parametrize("kind", [kind for kind in CONFIGS if kind != "mistral"])  # which is saved as a Llama
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])


def theirs_of(kind, dtype=torch.float32, **changes):
    """A random model of transformers; the fixed waves of Marian stay what they are."""
    torch.manual_seed(3)
    architecture = ARCHITECTURES[kind]
    config = getattr(transformers, architecture.class_name).config_class(**CONFIGS[kind] | changes)
    model = getattr(transformers, architecture.class_name)(config)
    waves = {k: v.clone() for k, v in model.state_dict().items() if "embed_positions" in k}
    random_module(model, dtype)
    model.load_state_dict(waves, strict=False)
    if kind == "marian":
        model.final_logits_bias.normal_()
    return model.to(dtype).eval()


def saved(kind, folder, dtype=torch.float32, **changes):
    model = theirs_of(kind, dtype, **changes)
    model.save_pretrained(folder)
    return model


def token_ids(n=N, high=V - 1):
    return torch.randint(1, high, (B, n), generator=torch.Generator().manual_seed(n))


def padded(n):
    """True for tokens, with another length for each sequence."""
    return torch.arange(n) < torch.tensor([n, n - 2, 3])[:, None]


@torch.no_grad()
def both(kind, ours, theirs, dtype):
    """The same input through both."""
    if kind == "gpt2":
        return ours(token_ids()), theirs(token_ids()).logits
    if kind in ("llama", "qwen2", "mistral"):  # they compute the angles in float32 whatever the weights are
        return ours(token_ids()).float(), theirs(token_ids()).logits.float()
    if kind == "bert":
        segments, seen = token_ids(high=3), padded(N)
        expected = theirs(token_ids(), attention_mask=seen.long(), token_type_ids=segments).logits
        return ours(token_ids(), seen[:, None, None], segments)[seen], expected[seen]
    if kind == "marian":
        source = token_ids(S).masked_fill(~padded(S), V - 1)
        expected = theirs(source, padded(S).long(), decoder_input_ids=token_ids()).logits
        return ours(source, token_ids()), expected
    images = torch.randn(B, 2, 12, 12, dtype=dtype)
    if kind == "vit":
        return ours(images), theirs(images).logits
    noise = torch.rand(B, 9, dtype=dtype)
    drawn, hidden = ours(images, noise)
    expected = theirs(images, noise=noise)
    assert torch.equal(hidden, expected.mask.bool())
    # theirs holds the colours of a pixel side by side, ours the pixels of a colour
    return drawn, expected.logits.unflatten(-1, (16, 2)).transpose(-1, -2).flatten(-2)


@pytest.mark.slow
@KINDS
@DTYPES
def test_their_weights_give_their_logits(kind, dtype, tmp_path):
    theirs = saved(kind, tmp_path, dtype)
    ours = from_pretrained(tmp_path)
    assert not ours.training and next(ours.parameters()).dtype == dtype
    mine, expected = both(kind, ours, theirs, dtype)
    assert expected.std() > 0.1
    assert_close(mine, expected)


OURS = {
    "gpt2": lambda: GPT(GPTConfig(V, 11, D, H, 3)),
    "bert": lambda: BERT(BERTConfig(V, 11, D, H, 2, n_segments=3)),
    "vit": lambda: ViT(ViTConfig(12, 4, 2, 5, D, H, 2)),
    "vit_mae": lambda: MAE(MAEConfig(12, 4, 2, D, H, 2, 20, 5, 3)),
    "marian": lambda: Seq2Seq(ARCHITECTURES["marian"].config(V, 11, D, H, 2, n_decoder_layers=3, padding=V - 1)),
    "llama": lambda: llama(),
    "qwen2": lambda: ARCHITECTURES["qwen2"].build(llama().config),
}


def llama(**changes):
    parts = {"norm": RMSNorm, "feed_forward": GatedFeedForward, "rope": partial(Rotary, base=700.0)}
    sizes = {"n_kv_heads": 2, "activation": torch.nn.functional.silu, "tied": False}
    return ARCHITECTURES["llama"].build(GPTConfig(V, 11, D, H, 3, **parts | sizes | changes))


def our_model(kind, dtype=torch.float64):
    model = OURS[kind]()
    if kind == "marian":
        constants = ARCHITECTURES[kind].constants
        model = Seq2Seq(
            Seq2SeqConfig(V, 11, D, H, 2, n_decoder_layers=3, padding=V - 1, start=V - 1, end=0, **constants)
        )
    return random_module(model, dtype).eval()


@KINDS
@DTYPES
def test_our_weights_give_the_same_logits_in_transformers(kind, dtype, tmp_path):
    ours = our_model(kind, dtype)
    save_pretrained(ours, tmp_path)
    kind_of_theirs = getattr(transformers, ARCHITECTURES[kind].class_name)
    theirs, report = kind_of_theirs.from_pretrained(tmp_path, dtype=dtype, output_loading_info=True)
    assert not report["unexpected_keys"] and not report["mismatched_keys"] and not report["missing_keys"], report
    mine, expected = both(kind, ours, theirs.eval(), dtype)
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
    theirs = saved(kind, tmp_path / "one")
    theirs.save_pretrained(tmp_path / "many", max_shard_size="10KB")
    assert len(list((tmp_path / "many").glob("*.safetensors"))) > 1
    one, many = (from_pretrained(tmp_path / name).state_dict() for name in ("one", "many"))
    assert one.keys() == many.keys() and all(torch.equal(one[name], many[name]) for name in one)


@pytest.mark.parametrize("normalise", [True, False])
def test_the_loss_of_mae_is_theirs(normalise, tmp_path):
    theirs = saved("vit_mae", tmp_path, torch.float64, norm_pix_loss=normalise)
    images, noise = torch.randn(B, 2, 12, 12, dtype=torch.float64), torch.rand(B, 9, dtype=torch.float64)
    ours = reconstruction_loss(from_pretrained(tmp_path), images, noise, normalise=normalise)
    assert_close(ours, theirs(images, noise=noise).loss)


def rewrite(folder, change):
    """Replace the weights in a folder by what ``change`` makes of them."""
    save_file(change(load_file(folder / "model.safetensors")), folder / "model.safetensors", metadata={"format": "pt"})


def set_options(folder, **changes):
    options = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps({k: v for k, v in options.items() if v is not ...}))


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
    "vit": lambda t: t | {"vit.pooler.dense.weight": torch.ones(D, D)},
    "llama": lambda t: (
        {k.removeprefix("model."): v for k, v in t.items()} | {"layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)}
    ),
    "qwen2": lambda t: t | {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)},
    "vit_mae": lambda t: {k.replace("decoder_encoder.layer.", "decoder_layers."): v for k, v in t.items()},
    "marian": lambda t: (
        {k: v for k, v in t.items() if "shared" not in k}
        | {"lm_head.weight": t["model.shared.weight"], "model.encoder.embed_positions.weight": torch.ones(11, D)}
    ),
}


@KINDS
def test_older_names_second_names_and_empty_luggage_are_understood(kind, tmp_path):
    saved(kind, tmp_path)
    expected = from_pretrained(tmp_path).state_dict()
    rewrite(tmp_path, OTHER_NAMES[kind])
    found = from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())


@pytest.mark.parametrize(("kind", "class_name"), [("gpt2", "GPT2Model"), ("bert", "BertForPreTraining")])
def test_checkpoints_of_related_classes_are_read(kind, class_name, tmp_path):
    """GPT2Model has no head, which is tied anyway; BertForPreTraining has one more, which is not needed."""
    theirs = theirs_of(kind)
    related = random_module(getattr(transformers, class_name)(theirs.config), torch.float32).eval()
    related.save_pretrained(tmp_path)
    mine = from_pretrained(tmp_path)(token_ids())
    found = related(token_ids())
    if kind == "gpt2":
        assert_close(mine, found.last_hidden_state @ related.wte.weight.T)
    else:
        assert_close(mine, found.prediction_logits)


@pytest.mark.parametrize("n_beams", [1, 3])
def test_a_decoder_of_other_heads_and_widths_than_the_encoder_is_read_and_written(n_beams, tmp_path):
    """Catches heads and widths of the encoder in the decoder, in its cache or in what is written."""
    sizes = {"d_model": 30, "encoder_attention_heads": 5, "decoder_attention_heads": 3, "decoder_ffn_dim": 17}
    theirs = saved("marian", tmp_path, torch.float64, **sizes)
    ours = from_pretrained(tmp_path)
    assert_close(*both("marian", ours, theirs, torch.float64))
    save_pretrained(ours, tmp_path / "again")
    again = transformers.MarianMTModel.from_pretrained(tmp_path / "again", dtype=torch.float64).eval()
    assert_close(*both("marian", ours, again, torch.float64))
    start, written = torch.full((B, 1), V - 1), ours.conditioned_on(token_ids(S))
    rows = [beam_search(written, start, 5, n_beams, cached=cached)[0] for cached in (True, False)]
    assert rows[0].equal(rows[1])


BARE = {
    "bert": lambda ours, theirs: (ours.encode(token_ids()), theirs(token_ids()).last_hidden_state),
    "vit": lambda ours, theirs: (ours.encode(IMAGE), theirs(IMAGE).last_hidden_state),
    "vit_mae": lambda ours, theirs: (ours.classifier(3).encode(IMAGE), last_hidden_of_mae(theirs)),
    "llama": lambda ours, theirs: (ours.hidden_states(token_ids()), theirs(token_ids()).last_hidden_state),
    "qwen2": lambda ours, theirs: (ours.hidden_states(token_ids()), theirs(token_ids()).last_hidden_state),
}
IMAGE = torch.randn(B, 2, 12, 12, generator=torch.Generator().manual_seed(1))


def last_hidden_of_mae(theirs):
    """Of all patches in their order, none of them hidden."""
    theirs.config.mask_ratio = 0.0
    return theirs(IMAGE, noise=torch.arange(9.0).expand(B, -1)).last_hidden_state


@pytest.mark.parametrize("kind", BARE)
@torch.no_grad()
def test_a_checkpoint_without_a_head_gives_a_model_without_one(kind, tmp_path):
    """The body is theirs, a call says what is missing instead of drawing from random weights, and it can be saved."""
    architecture = ARCHITECTURES[kind]
    bare_class = getattr(transformers, architecture.bare)
    changes = {"tie_word_embeddings": False} if kind == "llama" else {}  # a tied head is there with the embedding
    theirs = random_module(bare_class(theirs_of(kind, **changes).config), torch.float32).eval()
    theirs.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    with pytest.raises(ValueError, match=f"checkpoint was a {architecture.bare}.* {architecture.class_name}"):
        ours(IMAGE if kind.startswith("vit") else token_ids())
    save_pretrained(ours, tmp_path / "again")
    again, report = bare_class.from_pretrained(tmp_path / "again", output_loading_info=True)
    assert not report["unexpected_keys"] and not [n for n in report["missing_keys"] if "pooler" not in n], report
    assert json.loads((tmp_path / "again" / "config.json").read_text())["architectures"] == [architecture.bare]
    assert_close(*BARE[kind](ours, theirs))
    assert_close(*BARE[kind](from_pretrained(tmp_path / "again"), again.eval()))


@pytest.mark.parametrize(
    ("kind", "class_name"),
    [
        ("bert", "BertForSequenceClassification"),
        ("bert", "BertForTokenClassification"),
        ("gpt2", "GPT2ForSequenceClassification"),
        ("llama", "LlamaForSequenceClassification"),
        ("qwen2", "Qwen2ForTokenClassification"),
        ("vit", "ViTForMaskedImageModeling"),
    ],
)
def test_a_checkpoint_with_another_head_is_refused_with_a_cure_that_works(kind, class_name, tmp_path):
    """Catches a head that is dropped in silence, and an advice that does not help."""
    architecture = ARCHITECTURES[kind]
    config = type(theirs_of(kind).config)(**CONFIGS[kind] | ({"encoder_stride": 4} if kind == "vit" else {}))
    random_module(getattr(transformers, class_name)(config), torch.float32).save_pretrained(tmp_path / "folder")
    with pytest.raises(ValueError, match="is unexpected") as caught:
        from_pretrained(tmp_path / "folder")
    advice = f"transformers.{architecture.bare}.from_pretrained(folder).save_pretrained(other_folder)"
    assert advice in str(caught.value)
    names = {"transformers": transformers, "folder": tmp_path / "folder", "other_folder": tmp_path / "other"}
    exec(advice, names)
    from_pretrained(tmp_path / "other")


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("shared", [1, 4])
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_heads_of_a_llama_may_be_shared_or_not_and_its_embedding_tied_or_not(kind, shared, tied, tmp_path):
    """As older releases wrote the folder: what is said of positions has another place."""
    changes = {"num_key_value_heads": shared, "tie_word_embeddings": tied}
    theirs = saved(kind, tmp_path, **changes)
    set_options(tmp_path, rope_parameters=..., head_dim=..., rope_theta=500.0, rope_scaling=None)
    ours = from_pretrained(tmp_path)
    assert (ours.head.weight is ours.tokens.weight) == tied and ours.config.rope.keywords == {"base": 500.0}
    assert_close(*both(kind, ours, theirs, torch.float32))
    prompt = token_ids(4)
    expected = theirs.generate(prompt, max_new_tokens=6, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert torch.equal(generate(ours, prompt, 6), expected)
    save_pretrained(ours, tmp_path / "again")
    again = getattr(transformers, ARCHITECTURES[kind].class_name).from_pretrained(tmp_path / "again").eval()
    assert_close(*both(kind, ours, again, torch.float32))


def test_a_llama_says_what_it_cannot_be_saved_with(tmp_path):
    for changes, message in (
        ({"activation": torch.sin}, "hidden_act for activation=sin"),
        ({"rope": lambda width, n: None}, "rope_theta for rope="),
        ({"norm": LayerNorm}, "norm=LayerNorm"),
    ):
        with pytest.raises(ValueError, match=message):
            save_pretrained(llama(**changes), tmp_path)


def test_weights_need_no_folder():
    theirs = theirs_of("llama")
    ours = from_tensors(theirs.config.to_dict(), theirs.state_dict())
    assert_close(*both("llama", ours, theirs, torch.float32))


class Called(TorchFunctionMode):
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
    with Called() as called:
        ours = from_tensors(theirs.config.to_dict(), theirs.state_dict())
    assert "zero_" in called.names and not called.names & {"normal_", "uniform_", "kaiming_uniform_"}
    monkeypatch.setattr(folders, "_Undrawn", nullcontext)
    drawn = from_tensors(theirs.config.to_dict(), theirs.state_dict())
    tensors, expected = (dict([*m.named_parameters(), *m.named_buffers()]) for m in (ours, drawn))  # a tied one once
    assert tensors.keys() == expected.keys() and ours.state_dict().keys() == drawn.state_dict().keys()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in tensors.items())


def test_labels_and_special_tokens_survive_both_ways(tmp_path):
    """Catches GPT-2's own end token, 50256, in a model of 37 words."""
    names = {0: "cat", 1: "dog", 2: "cow", 3: "hen", 4: "pig"}
    saved("vit", tmp_path / "vit", id2label=names, label2id={name: i for i, name in names.items()})
    saved("gpt2", tmp_path / "gpt2", eos_token_id=4, bos_token_id=3, pad_token_id=0)
    for kind in ("vit", "gpt2"):
        model = from_pretrained(tmp_path / kind)
        save_pretrained(model, tmp_path / "again")
        again = getattr(transformers, ARCHITECTURES[kind].class_name).from_pretrained(tmp_path / "again").config
        if kind == "vit":
            assert again.id2label == names and again.label2id["hen"] == 3
        else:
            assert (again.bos_token_id, again.eos_token_id, again.pad_token_id) == (3, 4, 0)
    save_pretrained(our_model("gpt2"), tmp_path / "own")
    assert transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "own").config.eos_token_id is None
    save_pretrained(our_model("gpt2"), tmp_path / "own", labels_and_tokens={"eos_token_id": 5})
    assert transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "own").config.eos_token_id == 5


@pytest.mark.parametrize("given", [{"vocab_size": 3}, {"id2label": {0: "one label for five classes"}}])
def test_labels_and_tokens_that_do_not_fit_are_refused(given, tmp_path):
    with pytest.raises(ValueError, match=r"labels_and_tokens=.* for 5 classes"):
        save_pretrained(our_model("vit"), tmp_path / "new", labels_and_tokens=given)
    assert not (tmp_path / "new").exists()


def test_two_families_may_share_a_class(monkeypatch, tmp_path):
    """A family of rotary GPTs beside GPT-2: the configuration says which one a model is."""
    gpt2 = ARCHITECTURES["gpt2"]
    rows = tuple(row for row in gpt2.rows if row.ours != "positions.weight")
    constants = gpt2.constants | {"rope": Rotary}
    rotary = dataclasses.replace(gpt2, model_type="toy", class_name="Toy", rows=rows, constants=constants)
    monkeypatch.setitem(ARCHITECTURES, "toy", rotary)
    for kind, rope in (("gpt2", None), ("toy", Rotary)):
        model = random_module(GPT(GPTConfig(V, 11, D, H, 3, rope=rope)), torch.float32).eval()
        save_pretrained(model, tmp_path / kind)
        assert json.loads((tmp_path / kind / "config.json").read_text())["model_type"] == kind
        again = from_pretrained(tmp_path / kind)
        assert again.config.rope is rope and torch.equal(again(token_ids()), model(token_ids()))
    with pytest.raises(ValueError, match=r"^save_pretrained: GPT2LMHeadModel has no option for norm=RMSNorm"):
        save_pretrained(GPT(GPTConfig(V, 11, D, H, 1, norm=RMSNorm)), tmp_path)


@pytest.mark.parametrize("attend", SOFTMAX)
def test_what_gives_the_same_as_their_attention_is_saved(attend, tmp_path):
    """Catches a group for each head, which is no sharing, taken for something that GPT-2 lacks, too."""
    options = {"attention": partial(MultiHeadAttention, attend=attend)}
    model = GPT(GPTConfig(V, 11, D, H, 1, n_kv_heads=H), **options).eval()
    save_pretrained(model, tmp_path)
    assert_close(from_pretrained(tmp_path)(token_ids()), model(token_ids()))


def test_weights_that_they_have_no_place_for_are_not_left_out(tmp_path):
    """Attention without biases, with relative positions or without a softmax: nothing in the configuration tells."""
    parts = {"bias": (partial(MultiHeadAttention, bias=False), r"attention\.qkv\.bias")}
    parts["relative"] = (partial(MultiHeadAttention, relative=RelativeKeys(D // H, 2)), r"attention\.relative\.")
    parts["linear"] = (partial(MultiHeadAttention, attend=attend_linear), r"decoder\.blocks\.0\.attention")
    parts["bias by a rule"] = (partial(MultiHeadAttention, relative=lambda q, n: q.new_zeros(n)), "blocks.0.attention")
    for attention, message in parts.values():
        with pytest.raises(ValueError, match=f"not those of a GPT2LMHeadModel.*{message}"):
            save_pretrained(GPT(GPTConfig(V, 11, D, H, 1), attention=attention), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("n_beams", [1, 3])
def test_a_translation_is_theirs(n_beams, tmp_path):
    """They forbid padding in the configuration of generation, we in the model's writer."""
    theirs = saved("marian", tmp_path, torch.float64)
    with torch.no_grad():
        theirs.final_logits_bias[:, -1] = 9.0  # padding would win
    theirs.save_pretrained(tmp_path)
    source = token_ids(S).masked_fill(~padded(S), V - 1)
    options = {"num_beams": n_beams, "do_sample": False, "max_new_tokens": 6, "eos_token_id": None}
    options |= {"forced_eos_token_id": None, "bad_words_ids": [[V - 1]], "length_penalty": 1.0}
    expected = theirs.generate(source, attention_mask=padded(S).long(), **options)
    ours = from_pretrained(tmp_path)
    start = torch.full((B, 1), ours.config.start)
    if n_beams == 1:
        found = generate(ours.conditioned_on(source), start, 6)
    else:
        found, _ = beam_search(ours.conditioned_on(source), start, 6, n_beams)
    assert torch.equal(found, expected) and (found[:, 1:] != V - 1).all()


@KINDS
def test_all_misfits_are_listed_at_once(kind, tmp_path):
    saved(kind, tmp_path)
    prefix = ARCHITECTURES[kind].prefix
    missing, misshapen, integers, *_ = sorted(
        n for n in load_file(tmp_path / "model.safetensors") if n.startswith(prefix)
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
    saved("gpt2", tmp_path)
    rewrite(tmp_path, lambda t: t | {"lm_head.weight": t["transformer.wte.weight"] + 1})
    with pytest.raises(ValueError, match=r"lm_head\.weight is not equal to transformer\.wte\.weight"):
        from_pretrained(tmp_path)


REFUSED = [
    ("gpt2", "scale_attn_by_inverse_layer_idx", True),
    ("gpt2", "add_cross_attention", True),
    ("gpt2", "scale_attn_weights", False),
    ("mistral", "sliding_window", 9),
    ("gpt2", "activation_function", "swiglu"),
    ("gpt2", "quantization_config", {"bits": 4}),
    ("bert", "position_embedding_type", "relative_key"),
    ("bert", "is_decoder", True),
    ("bert", "hidden_act", ["gelu"]),
    ("bert", "hidden_size", "24"),
    ("vit", "qkv_bias", False),
    ("vit", "image_size", [12, 12]),
    ("vit", "patch_size", 5),
    ("vit_mae", "qkv_bias", False),
    ("marian", "decoder_vocab_size", 38),
    ("marian", "share_encoder_decoder_embeddings", False),
    ("marian", "normalize_before", True),
    ("llama", "attention_bias", True),
    ("llama", "mlp_bias", True),
    ("llama", "head_dim", 8),
    ("llama", "hidden_act", "relu6"),
    ("llama", "rope_parameters", {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0}),
    ("llama", "quantization_config", {"bits": 4}),
    ("qwen2", "use_sliding_window", True),
    ("qwen2", "num_key_value_heads", "2"),
]


@pytest.mark.parametrize(("kind", "option", "value"), REFUSED)
def test_an_unsupported_option_is_named_with_its_value(kind, option, value, tmp_path):
    saved(kind, tmp_path)
    set_options(tmp_path, **{option: value})
    if isinstance(value, dict) and "rope_type" in value:
        option, value = "rope_type", value["rope_type"]
    with pytest.raises(ValueError, match=option) as caught:
        from_pretrained(tmp_path)
    assert str(value) in str(caught.value)


def test_a_size_that_is_missing_is_named_and_a_missing_option_has_its_default(tmp_path):
    theirs = saved("gpt2", tmp_path)
    set_options(tmp_path, activation_function=..., layer_norm_epsilon=...)
    mine, expected = both("gpt2", from_pretrained(tmp_path), theirs, torch.float32)
    assert_close(mine, expected)
    set_options(tmp_path, n_embd=...)
    with pytest.raises(ValueError, match="lacks 'n_embd'"):
        from_pretrained(tmp_path)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swish"])
def test_options_of_marian_that_vary_are_followed(scaled, activation, tmp_path):
    theirs = saved("marian", tmp_path, torch.float64, scale_embedding=scaled, activation_function=activation)
    mine, expected = both("marian", from_pretrained(tmp_path), theirs, torch.float64)
    assert_close(mine, expected)


def test_a_pickle_is_never_opened(tmp_path):
    saved("gpt2", tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"whatever it is")
    with pytest.raises(ValueError, match=r"pytorch_model\.bin only, a pickle.*GPT2LMHeadModel"):
        from_pretrained(tmp_path)


@pytest.mark.parametrize("size", [0, 5, 200, -1])
def test_a_damaged_file_is_named_with_its_size(size, tmp_path):
    saved("vit", tmp_path)
    content = (tmp_path / "model.safetensors").read_bytes()[:size]
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=rf"model\.safetensors of {len(content)} bytes is truncated or altered"):
        from_pretrained(tmp_path)


def test_what_else_can_be_wrong_with_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="nor can it be a name"):
        from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"no config\.json"):
        from_pretrained(tmp_path)
    saved("gpt2", tmp_path)
    config = (tmp_path / "config.json").read_text()
    for text, message in ((config[:-9], "is no JSON"), ("[1, 2]", "is no JSON object"), ("{}", "model_type=None")):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(config)
    set_options(tmp_path, model_type="t5")
    with pytest.raises(ValueError, match=r"model_type='t5'.*gpt2, bert, vit, vit_mae, marian, llama, mistral, qwen2"):
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


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, rope=Rotary)), "rope=Rotary"),
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, norm=RMSNorm)), "norm=RMSNorm"),
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, n_kv_heads=2)), "n_kv_heads=2"),
        (lambda: BERT(BERTConfig(V, 11, D, H, 1, activation=torch.sin)), "activation=sin"),
        (lambda: ViT(ViTConfig(12, 4, 2, 5, D, H, 1, n_class_tokens=0, pool=mean_tokens)), "n_class_tokens=0"),
        (lambda: Seq2Seq(Seq2SeqConfig(V, 11, D, H, 1)), "interleaved=True"),
    ],
)
def test_a_model_that_they_do_not_have_is_not_saved_as_another(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_pretrained(model(), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_nearest_family_alone_says_why(tmp_path):
    """Catches a changed GPT-2 that is told what Llama and Qwen 2 lack."""
    with pytest.raises(ValueError) as caught:
        save_pretrained(GPT(GPTConfig(V, 11, D, H, 1, n_kv_heads=2)), tmp_path)
    assert "GPT2LMHeadModel has no option for n_kv_heads=2" in str(caught.value) and "Llama" not in str(caught.value)


@pytest.mark.parametrize("rope", [Rotary, partial(Rotary), partial(Rotary, base=500.0)])
def test_a_rotary_is_saved_with_its_base_however_it_is_given(rope, tmp_path):
    save_pretrained(llama(rope=rope), tmp_path)
    expected = 500.0 if getattr(rope, "keywords", {}) else 10000.0
    assert json.loads((tmp_path / "config.json").read_text())["rope_theta"] == expected
    assert from_pretrained(tmp_path).config.rope.keywords == {"base": expected}


def test_a_gpt2_whose_head_is_its_own_goes_both_ways(tmp_path):
    theirs = saved("gpt2", tmp_path, tie_word_embeddings=False)
    ours = from_pretrained(tmp_path)
    assert ours.head.weight is not ours.tokens.weight
    assert_close(*both("gpt2", ours, theirs, torch.float32))
    save_pretrained(ours, tmp_path / "again")
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "again").eval()
    assert_close(*both("gpt2", ours, again, torch.float32))


def test_a_mistral_without_a_window_is_a_llama(tmp_path):
    theirs = saved("mistral", tmp_path)
    assert_close(*both("mistral", from_pretrained(tmp_path), theirs, torch.float32))


@pytest.mark.parametrize("wrapper", ["_orig_mod.", "module."])
def test_weights_of_a_compiled_or_a_parallel_model_are_read(wrapper, tmp_path):
    theirs = saved("gpt2", tmp_path)
    rewrite(tmp_path, lambda tensors: {wrapper + name: tensor for name, tensor in tensors.items()})
    assert_close(*both("gpt2", from_pretrained(tmp_path), theirs, torch.float32))


def test_a_compiled_model_is_saved_as_what_was_compiled(tmp_path):
    model = GPT(GPTConfig(V, 11, D, H, 1, activation=gelu_tanh)).eval()
    save_pretrained(torch.compile(model, backend="eager"), tmp_path)
    assert_close(from_pretrained(tmp_path)(token_ids(4)), model(token_ids(4)))


def test_a_block_that_stands_twice_is_not_saved_once(tmp_path):
    """Catches a model that comes back with half of its layers."""
    model = GPT(GPTConfig(V, 11, D, H, 1))
    model.decoder.blocks.append(model.decoder.blocks[0])
    with pytest.raises(ValueError, match=r"decoder\.blocks\.1\.attention\.qkv\.weight"):
        save_pretrained(model, tmp_path)


def test_saving_that_fails_leaves_the_older_model_whole(tmp_path, monkeypatch):
    """Catches files that are written in place: killed or with a full disk, they are one half of each."""
    model = GPT(GPTConfig(V, 11, D, H, 1))
    save_pretrained(model, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "save_file", full)
    with pytest.raises(OSError, match=r"could not be written to .*No space left on device.*What was there is whole"):
        save_pretrained(GPT(GPTConfig(V, 11, D, H, 2)), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_pointer_of_git_lfs_is_called_one(name, tmp_path):
    saved("gpt2", tmp_path)
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(ValueError, match=f"{name} is a pointer of Git LFS .* git lfs pull"):
        from_pretrained(tmp_path)


def test_an_index_leads_nowhere_but_to_its_own_folder(tmp_path):
    """Catches a path in an index that is followed to any file of the machine, and one that is no list of files."""
    inside = tmp_path / "model"
    theirs_of("bert").save_pretrained(inside, max_shard_size="10KB")
    index = inside / "model.safetensors.index.json"
    part = sorted(inside.glob("*.safetensors"))[0]
    part.rename(tmp_path / part.name)
    index.write_text(index.read_text().replace(f'"{part.name}"', f'"../{part.name}"'))
    with pytest.raises(FileNotFoundError, match=rf"{part.name}, which .* names, is missing in .*model"):
        from_pretrained(inside)
    for wrong in ([1], 3, {"a": 1}):
        index.write_text(json.dumps({"weight_map": wrong}))
        with pytest.raises(ValueError, match=r"weight_map in .* expected the name of a file for each weight"):
            from_pretrained(inside)


def test_a_kind_of_model_or_numbers_that_are_none_is_named(tmp_path):
    saved("gpt2", tmp_path)
    with pytest.raises(TypeError, match=r"dtype=torch\.int8, expected None or a floating-point one"):
        from_pretrained(tmp_path, dtype=torch.int8)
    set_options(tmp_path, model_type=["gpt2"])
    with pytest.raises(ValueError, match=r"model_type=\['gpt2'\], expected one of"):
        from_pretrained(tmp_path)


def test_only_models_are_saved(tmp_path):
    with pytest.raises(TypeError, match="cannot save a Linear, expected one of GPT, BERT, ViT, MAE, Seq2Seq"):
        save_pretrained(nn.Linear(2, 3), tmp_path)


def test_without_the_package_for_the_hub_the_message_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match="pip install huggingface_hub"):
        from_pretrained("openai/gpt2")


def test_another_dtype_can_be_asked_for(tmp_path):
    saved("bert", tmp_path)
    assert {w.dtype for w in from_pretrained(tmp_path, dtype=torch.bfloat16).parameters()} == {torch.bfloat16}
    with pytest.raises(TypeError, match=r"dtype='bfloat16', expected None or a floating-point one of torch"):
        inspect.unwrap(from_tensors)({"model_type": "bert"}, {}, dtype="bfloat16")


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
    with pytest.raises(TypeError, match=r"^from_pretrained: .* (expected a dict|expected names and tensors)\."):
        inspect.unwrap(from_tensors)(*wrong)


@pytest.mark.parametrize(
    "changes", [{"model_type": "roberta"}, {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, {"head_dim": 64}]
)
def test_who_brings_what_cannot_be_loaded_is_told_what_can(changes):
    """Catches a refusal after which nobody knows how to go on."""
    options = {"model_type": "llama"} | CONFIGS["llama"] | changes
    with pytest.raises(ValueError, match=r"Small ones that load are openai-community/gpt2, .* HuggingFaceTB/SmolLM2"):
        from_tensors(options, {})
