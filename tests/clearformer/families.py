"""Small random models of each pretrained family, theirs and ours, and folders that hold their weights."""

import json
import re
from functools import partial

import pytest
import torch
from clearformer.attention_pool import AttentionPool
from clearformer.block_variants import ScaledHead
from clearformer.distances import DistanceBuckets
from clearformer.layers import FeedForward, GatedFeedForward, RMSNorm, gelu_tanh
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.modernbert import ModernBERT, ModernBERTConfig
from clearformer.models.options import LayerOptions
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig
from clearformer.positions import Rotary
from clearformer.pretrained.folders import ARCHITECTURES
from clearformer.pretrained.t5 import NO_BIAS
from clearformer.pretrained.towers import GATES
from safetensors.torch import load_file, save_file

from tests.clearformer.decoders import as_it_is
from tests.clearformer.models import random_module
from tests.lazy_module import LazyModule

transformers = LazyModule("transformers")
V, N, S, B, D, H, HIDDEN = 37, 7, 9, 3, 24, 4, 44
SIZES = {"hidden_size": D, "num_attention_heads": H, "num_hidden_layers": 2, "intermediate_size": HIDDEN}
IMAGES = {"image_size": 12, "patch_size": 4, "num_channels": 2}
DECODER = {"decoder_hidden_size": 20, "decoder_num_attention_heads": 5, "decoder_num_hidden_layers": 3}
SHARED = {"vocab_size": V, "max_position_embeddings": 11, "num_key_value_heads": 2, "rope_theta": 500.0}
TRANSLATOR = (
    {"vocab_size": V, "max_position_embeddings": 11, "d_model": D, "encoder_layers": 2, "decoder_layers": 3}
    | {"encoder_attention_heads": H, "decoder_attention_heads": H, "encoder_ffn_dim": HIDDEN, "decoder_ffn_dim": HIDDEN}
    | {"activation_function": "swish", "scale_embedding": True, "pad_token_id": V - 1, "decoder_start_token_id": V - 1}
)
TOLD_DISTANCES = {
    "vocab_size": V,
    "d_model": D,
    "d_kv": 5,
    "d_ff": HIDDEN,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": H,
} | {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 11, "decoder_start_token_id": 0}
CONFIGS = {
    "gpt2": {"vocab_size": V, "n_positions": 11, "n_embd": D, "n_head": H, "n_layer": 3, "bos_token_id": 0}
    | {"eos_token_id": 0, "n_inner": HIDDEN},
    "bert": SIZES | {"vocab_size": V, "max_position_embeddings": 11, "type_vocab_size": 3},
    "roberta": SIZES | {"vocab_size": V, "max_position_embeddings": 11, "type_vocab_size": 3, "pad_token_id": 1},
    "xlm-roberta": SIZES | {"vocab_size": V, "max_position_embeddings": 11, "type_vocab_size": 1, "pad_token_id": 2},
    "camembert": SIZES
    | {"vocab_size": V, "max_position_embeddings": 13, "type_vocab_size": 2, "pad_token_id": 0}
    | {"tie_word_embeddings": True},
    "distilbert": {"vocab_size": V, "max_position_embeddings": 11, "dim": D, "n_heads": H, "n_layers": 2}
    | {"hidden_dim": HIDDEN, "activation": "relu"},
    "modernbert": SIZES
    | {"vocab_size": V, "max_position_embeddings": 11, "num_hidden_layers": 4, "local_attention": 4, "pad_token_id": 0}
    | {"global_rope_theta": 500.0, "local_rope_theta": 50.0, "cls_token_id": 1, "bos_token_id": 1, "eos_token_id": 2}
    | {"sep_token_id": 2},
    "vit": SIZES | IMAGES | {"num_labels": 5},
    "vit_mae": SIZES | IMAGES | DECODER | {"decoder_intermediate_size": 36, "mask_ratio": 0.6},
    "dinov2": SIZES | IMAGES | {"num_labels": 5, "mlp_ratio": 2, "use_mask_token": False},
    "dinov2_with_registers": SIZES | IMAGES | {"num_labels": 5, "mlp_ratio": 2, "num_register_tokens": 3},
    "clip_vision_model": SIZES | IMAGES | {"projection_dim": 5},
    "siglip_vision_model": SIZES | IMAGES,
    "marian": TRANSLATOR,
    **dict.fromkeys(("bart", "mbart"), TRANSLATOR),
    "t5": TOLD_DISTANCES,
    "mt5": TOLD_DISTANCES,
    "umt5": TOLD_DISTANCES,
    "llama": SIZES | SHARED | {"tie_word_embeddings": True},
    "qwen2": SIZES | SHARED,
    "qwen3": SIZES | SHARED | {"head_dim": 10},
    "mistral": SIZES | SHARED | {"sliding_window": None},
}
BERTS = {"bert": 3, "roberta": 3, "xlm-roberta": 1, "camembert": 2}  # how many kinds of sentence
WRITERS = ("marian", "bart", "mbart")
TOLD = ("t5", "mt5", "umt5")
SEES = {
    "vit": "logits",
    "dinov2": "logits",
    "dinov2_with_registers": "logits",
    "clip_vision_model": "image_embeds",
    "siglip_vision_model": "pooler_output",
}
KINDS = pytest.mark.parametrize("kind", [kind for kind in CONFIGS if kind != "mistral"])  # in test_decoders


def theirs_of(kind, dtype=torch.float32, **changes):
    """A random model of transformers; the fixed waves of Marian stay what they are."""
    torch.manual_seed(3)
    architecture = ARCHITECTURES[kind]
    config = transformers.AutoConfig.for_model(kind, **CONFIGS[kind] | changes)  # by name: as in ``decoders``
    with built_as(kind, dtype):
        model = getattr(transformers, architecture.class_name)(config)
    waves = {k: v.clone() for k, v in model.state_dict().items() if "embed_positions" in k}
    random_module(model, dtype)
    model.load_state_dict(waves, strict=False)
    if kind in WRITERS:
        model.final_logits_bias.normal_()
    return model.to(dtype).eval()


def built_as(kind, dtype):
    """Of those that compute angles when they are built, one does it in the dtype of its weights."""
    return as_it_is(dtype if kind == "modernbert" else torch.float32)


def save_theirs(kind, folder, dtype=torch.float32, **changes):
    model = theirs_of(kind, dtype, **changes)
    model.save_pretrained(folder)
    return model


def loaded_by_theirs(kind, folder, **options):
    """Their model from a folder. Its configuration is named, since under Python 3.14 some of their classes that read
    pictures take that of the pair with a text encoder (transformers 5.2.0).
    """
    return kind.from_pretrained(folder, config=transformers.AutoConfig.from_pretrained(folder), **options)


def missing_of(kind, report):
    """What their model has besides what ours wrote, but for what holds nothing that we need."""
    table = ARCHITECTURES[kind]
    names = {name if name.startswith(table.prefix) else table.prefix + name for name in report["missing_keys"]}
    return {name for name in names if not any(re.fullmatch(pattern, name) for pattern in table.ignored)}


def token_ids(n=N, high=V - 1):
    return torch.randint(1, high, (B, n), generator=torch.Generator().manual_seed(n))


def seen_tokens(n):
    """True for tokens, with another length for each sequence."""
    return torch.arange(n) < torch.tensor([n, n - 2, 3])[:, None]


@torch.no_grad()
def outputs_of_both(kind, ours, theirs, dtype):
    """The same input through both."""
    if kind == "gpt2":
        return ours(token_ids()), theirs(token_ids()).logits
    if kind in ("llama", "qwen2", "qwen3", "mistral"):  # they compute the angles in float32 whatever the weights are
        return ours(token_ids()).float(), theirs(token_ids()).logits.float()
    if kind in ("distilbert", "modernbert"):
        seen = seen_tokens(N)
        with as_it_is(dtype):
            expected = theirs(token_ids(), attention_mask=seen.long()).logits
        return ours(token_ids(), seen[:, None, None])[seen], expected[seen]
    if kind in BERTS:
        segments, seen = token_ids(high=max(BERTS[kind], 2)) % BERTS[kind], seen_tokens(N)
        expected = theirs(token_ids(), attention_mask=seen.long(), token_type_ids=segments).logits
        return ours(token_ids(), seen[:, None, None], segments)[seen], expected[seen]
    if kind in WRITERS:
        source = token_ids(S).masked_fill(~seen_tokens(S), V - 1)
        expected = theirs(source, seen_tokens(S).long(), decoder_input_ids=token_ids()).logits
        return ours(source, token_ids()), expected
    if kind in TOLD:
        source = token_ids(S).masked_fill(~seen_tokens(S), 0)
        with as_it_is(dtype):
            expected = theirs(source, seen_tokens(S).long(), decoder_input_ids=token_ids()).logits
        return ours(source, token_ids()), expected
    images = torch.randn(B, 2, 12, 12, dtype=dtype)
    if kind in SEES:
        return ours(images), theirs(images)[SEES[kind]]
    noise = torch.rand(B, 9, dtype=dtype)
    drawn, hidden = ours(images, noise)
    expected = theirs(images, noise=noise)
    assert torch.equal(hidden, expected.mask.bool())
    # theirs holds the colours of a pixel side by side, ours the pixels of a colour
    return drawn, expected.logits.unflatten(-1, (16, 2)).transpose(-1, -2).flatten(-2)


OURS = {
    "gpt2": lambda: GPT(GPTConfig(V, 11, D, H, 3)),
    "bert": lambda: BERT(BERTConfig(V, 11, D, H, 2, n_segments=3)),
    "roberta": lambda: BERT(BERTConfig(V, 11, D, H, 2, n_segments=3, padding=1)),
    "xlm-roberta": lambda: BERT(BERTConfig(V, 11, D, H, 2, n_segments=1, padding=2)),
    "camembert": lambda: BERT(BERTConfig(V, 13, D, H, 2, n_segments=2, padding=0)),
    "distilbert": lambda: BERT(BERTConfig(V, 11, D, H, 2, n_segments=0)),
    "modernbert": lambda: ModernBERT(modernbert_config()),
    "vit": lambda: ViT(ViTConfig(12, 4, 2, 5, D, H, 2)),
    "dinov2": lambda: tower("dinov2", d_ff=30, feed_forward=FeedForward),
    "dinov2_with_registers": lambda: tower(
        "dinov2_with_registers", d_ff=40, feed_forward=GATES, activation=torch.nn.functional.silu, n_registers=2
    ),
    "clip_vision_model": lambda: tower("clip_vision_model", eps=1e-5),
    "siglip_vision_model": lambda: tower(
        "siglip_vision_model", n_classes=D, head=partial(AttentionPool, n_heads=H, d_ff=96, eps=1e-3), eps=1e-3
    ),
    "vit_mae": lambda: MAE(MAEConfig(12, 4, 2, D, H, 2, 20, 5, 3)),
    "marian": lambda: Seq2Seq(ARCHITECTURES["marian"].config(V, 11, D, H, 2, n_decoder_layers=3, padding=V - 1)),
    "bart": lambda: translator(first_position=2, norm_embeddings=True),
    "mbart": lambda: translator(first_position=2, norm_embeddings=True, norm_first=True),
    "t5": lambda: told_distances("t5", feed_forward=partial(FeedForward, bias=False)),
    "mt5": lambda: told_distances("mt5", feed_forward=GatedFeedForward, activation=gelu_tanh),
    "umt5": lambda: told_distances(
        "umt5", feed_forward=GatedFeedForward, activation=gelu_tanh, head=partial(ScaledHead, scale=D**-0.5)
    ),
    "llama": lambda: llama(),
    "qwen2": lambda: ARCHITECTURES["qwen2"].build(llama().config),
    "qwen3": lambda: llama(d_head=10, qk_norm=RMSNorm),
}


def modernbert_config() -> ModernBERTConfig:
    near = LayerOptions((1, 2), window=3, rope=partial(Rotary, base=70.0))
    return ModernBERTConfig(V, 11, D, H, 4, rope=partial(Rotary, base=700.0), layers=(near,))


def translator(**parts):
    tokens = {"padding": V - 1, "start": V - 1, "end": 0}
    return Seq2Seq(Seq2SeqConfig(V, 11, D, H, 2, n_decoder_layers=3, **tokens, **parts))


def tower(kind, n_classes=5, **parts):
    return ViT(ViTConfig(12, 4, 2, n_classes, D, H, 2, **ARCHITECTURES[kind].constants | parts))


def told_distances(kind, **parts):
    table = ARCHITECTURES[kind]
    parts = {"head": NO_BIAS, "distances": partial(DistanceBuckets, n_buckets=8, max_distance=11)} | parts
    constants = table.constants | {"padding": 0, "start": 0, "end": 1, "eps": 1e-6, "d_head": 5, "n_decoder_layers": 3}
    n_positions = table.defaults["n_positions"]
    return table.build(Seq2SeqConfig(V, n_positions, D, H, 2, HIDDEN, **constants | parts))


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
    model.family = kind  # several kinds may share a class
    return random_module(model, dtype).eval()


def rewrite(folder, change):
    """Replace the weights in a folder by what ``change`` makes of them."""
    save_file(change(load_file(folder / "model.safetensors")), folder / "model.safetensors", metadata={"format": "pt"})


def set_options(folder, **changes):
    options = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps({k: v for k, v in options.items() if v is not ...}))
