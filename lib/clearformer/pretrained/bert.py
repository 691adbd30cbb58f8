"""BERT and its kin: the same encoder under other names; RoBERTa counts positions otherwise, ModernBERT turns them."""

from dataclasses import replace

import torch.nn.functional as F

from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.modernbert import ModernBERT, ModernBERTConfig
from clearformer.models.options import Layer
from clearformer.pretrained.reach import (
    FULL,
    SLIDING,
    layer_types,
    reaches,
    rope_of_kind,
    written_ropes_of_kinds,
    written_types,
)
from clearformer.pretrained.rope import flatten_rope
from clearformer.pretrained.tables import BLOCKS, STACKED, TIED, WORDS, Architecture, Row, without_fields
from clearformer.pretrained.together import read_whole

_OURS = "encoder.blocks.{i}."


def _encoder(theirs: str) -> tuple[Row, ...]:
    """Everything below the head, under the name that theirs puts in front."""
    block = theirs + "encoder.layer.{i}."
    return (
        Row("tokens.weight", theirs + "embeddings.word_embeddings.weight"),
        Row("positions.weight", theirs + "embeddings.position_embeddings.weight"),
        Row("segments.weight", theirs + "embeddings.token_type_embeddings.weight"),
        Row("norm.*", theirs + "embeddings.LayerNorm.*"),
        Row(_OURS + "attention.qkv.*", block + "attention.self.(query|key|value).*", STACKED),
        Row(_OURS + "attention.out.*", block + "attention.output.dense.*"),
        Row(_OURS + "attention_norm.*", block + "attention.output.LayerNorm.*"),
        Row(_OURS + "feed_forward.up.*", block + "intermediate.dense.*"),
        Row(_OURS + "feed_forward.down.*", block + "output.dense.*"),
        Row(_OURS + "feed_forward_norm.*", block + "output.LayerNorm.*"),
    )


BERT_ARCHITECTURE = Architecture(
    model_type="bert",
    class_name="BertForMaskedLM",
    bare="BertModel",
    prefix="bert.",
    model=BERT,
    config=BERTConfig,
    rows=(
        *_encoder("bert."),
        Row("transform.*", "cls.predictions.transform.dense.*"),
        Row("transform_norm.*", "cls.predictions.transform.LayerNorm.*"),
        Row("head.bias", "cls.predictions.bias"),
    ),
    head=("transform", "transform_norm", "head"),
    options=BLOCKS | WORDS | {"n_segments": "type_vocab_size"},
    fixed=TIED | {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False},
    constants={"padding": None},
    renames=((r"LayerNorm\.gamma$", "LayerNorm.weight"), (r"LayerNorm\.beta$", "LayerNorm.bias")),
    aliases={
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    ignored=(r"bert\.pooler\..*", r"cls\.seq_relationship\..*", r"bert\.embeddings\.position_ids"),
)
ROBERTA = replace(
    BERT_ARCHITECTURE,
    model_type="roberta",
    class_name="RobertaForMaskedLM",
    bare="RobertaModel",
    prefix="roberta.",
    rows=(
        *_encoder("roberta."),
        Row("transform.*", "lm_head.dense.*"),
        Row("transform_norm.*", "lm_head.layer_norm.*"),
        Row("head.bias", "lm_head.bias"),
    ),
    options={ours: theirs for ours, theirs in BERT_ARCHITECTURE.options.items() if ours != "activation"}
    | {"padding": "pad_token_id"},
    defaults={"pad_token_id": 1},
    fixed=BERT_ARCHITECTURE.fixed | {"hidden_act": "gelu"},  # the head has it whatever the blocks have
    constants={"activation": F.gelu},
    aliases={
        "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
        "lm_head.decoder.bias": "lm_head.bias",
    },
    ignored=(r"roberta\.pooler\..*", r"roberta\.embeddings\.position_ids"),
)
XLM_ROBERTA = replace(ROBERTA, model_type="xlm-roberta", class_name="XLMRobertaForMaskedLM", bare="XLMRobertaModel")
CAMEMBERT = replace(
    ROBERTA,
    model_type="camembert",
    class_name="CamembertForMaskedLM",
    bare="CamembertModel",
    fixed=without_fields(ROBERTA.fixed, *TIED),
    same={name: lambda options: True for name in TIED},  # which has to be written: transformers 5 has no default for it
)

_DISTIL = "distilbert.transformer.layer.{i}."
DISTILBERT = replace(  # Sanh et al. 2019, section 3: half of the layers, and no kinds of sentence
    BERT_ARCHITECTURE,
    model_type="distilbert",
    class_name="DistilBertForMaskedLM",
    bare="DistilBertModel",
    prefix="distilbert.",
    rows=(
        Row("tokens.weight", "distilbert.embeddings.word_embeddings.weight"),
        Row("positions.weight", "distilbert.embeddings.position_embeddings.weight"),
        Row("norm.*", "distilbert.embeddings.LayerNorm.*"),
        Row(_OURS + "attention.qkv.*", _DISTIL + "attention.(q|k|v)_lin.*", STACKED),
        Row(_OURS + "attention.out.*", _DISTIL + "attention.out_lin.*"),
        Row(_OURS + "attention_norm.*", _DISTIL + "sa_layer_norm.*"),
        Row(_OURS + "feed_forward.up.*", _DISTIL + "ffn.lin1.*"),
        Row(_OURS + "feed_forward.down.*", _DISTIL + "ffn.lin2.*"),
        Row(_OURS + "feed_forward_norm.*", _DISTIL + "output_layer_norm.*"),
        Row("transform.*", "vocab_transform.*"),
        Row("transform_norm.*", "vocab_layer_norm.*"),
        Row("head.bias", "vocab_projector.bias"),
    ),
    options=WORDS
    | {
        "d_model": "dim",
        "n_heads": "n_heads",
        "n_layers": "n_layers",
        "d_ff": "hidden_dim",
        "activation": "activation",
    },
    defaults={"activation": "gelu"},
    fixed=TIED,
    constants={"padding": None, "n_segments": 0, "eps": 1e-12},
    aliases={"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"},
    ignored=(r"distilbert\.embeddings\.position_ids",),
)

_MODERN = "model.layers.{i}."


def _some_look_near(options: dict) -> list[Layer]:
    """Every third layer sees all, the others half of ``local_attention`` to each side, turned with another base."""
    every = read_whole(options, "global_attn_every_n_layers", 3)
    window = read_whole(options, "local_attention", 128) // 2 + 1
    kinds = layer_types(options, lambda layer: layer % every != 0)
    ropes = {
        FULL: rope_of_kind(options, FULL, "global_rope_theta", 160000.0),
        SLIDING: rope_of_kind(options, SLIDING, "local_rope_theta", 10000.0),
    }
    return [Layer(window if kind == SLIDING else None, ropes[kind]) for kind in kinds]


def _write_some_look_near(layers: list[Layer]) -> dict:
    said = written_types(layers)
    reach = said.pop("sliding_window")
    near = {} if reach is None else {"local_attention": 2 * (reach - 1)}
    return said | near | written_ropes_of_kinds(layers, "global_rope_theta", "local_rope_theta")


MODERNBERT = Architecture(
    model_type="modernbert",
    class_name="ModernBertForMaskedLM",
    bare="ModernBertModel",
    prefix="model.",
    model=ModernBERT,
    config=ModernBERTConfig,
    rows=(
        Row("tokens.weight", "model.embeddings.tok_embeddings.weight"),
        Row("norm.weight", "model.embeddings.norm.weight"),
        Row(_OURS + "attention_norm.weight", _MODERN + "attn_norm.weight", only=lambda c: range(1, c.n_layers)),
        Row(_OURS + "attention.qkv.weight", _MODERN + "attn.Wqkv.weight"),
        Row(_OURS + "attention.out.weight", _MODERN + "attn.Wo.weight"),
        Row(_OURS + "feed_forward_norm.weight", _MODERN + "mlp_norm.weight"),
        Row(_OURS + "feed_forward.gate_up.weight", _MODERN + "mlp.Wi.weight"),
        Row(_OURS + "feed_forward.down.weight", _MODERN + "mlp.Wo.weight"),
        Row("encoder.norm.weight", "model.final_norm.weight"),
        Row("transform.weight", "head.dense.weight"),
        Row("transform_norm.weight", "head.norm.weight"),
        Row("head.bias", "decoder.bias"),
    ),
    head=("transform", "transform_norm", "head"),
    options=BLOCKS | WORDS | {"eps": "norm_eps", "activation": "hidden_activation"},
    plain=flatten_rope,
    together=(reaches(_some_look_near, _write_some_look_near),),
    defaults={"norm_eps": 1e-5, "hidden_activation": "gelu"},
    fixed=TIED
    | dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), False)
    | {"decoder_bias": True},
    same={"classifier_activation": lambda o: o.get("hidden_activation")},
    aliases={"decoder.weight": "model.embeddings.tok_embeddings.weight"},
)
