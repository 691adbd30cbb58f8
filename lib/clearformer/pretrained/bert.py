"""BERT: norm after, exact GELU, a head of its own before the tied embedding; queries, keys and values apart."""

from clearformer.models.bert import BERT, BERTConfig
from clearformer.pretrained.tables import BLOCKS, STACKED, TIED, WORDS, Architecture, Row

_OURS, _THEIRS = "encoder.blocks.{i}.", "bert.encoder.layer.{i}."

BERT_ARCHITECTURE = Architecture(
    model_type="bert",
    class_name="BertForMaskedLM",
    bare="BertModel",
    prefix="bert.",
    model=BERT,
    config=BERTConfig,
    rows=(
        Row("tokens.weight", "bert.embeddings.word_embeddings.weight"),
        Row("positions.weight", "bert.embeddings.position_embeddings.weight"),
        Row("segments.weight", "bert.embeddings.token_type_embeddings.weight"),
        Row("norm.*", "bert.embeddings.LayerNorm.*"),
        Row(_OURS + "attention.qkv.*", _THEIRS + "attention.self.(query|key|value).*", STACKED),
        Row(_OURS + "attention.out.*", _THEIRS + "attention.output.dense.*"),
        Row(_OURS + "attention_norm.*", _THEIRS + "attention.output.LayerNorm.*"),
        Row(_OURS + "feed_forward.up.*", _THEIRS + "intermediate.dense.*"),
        Row(_OURS + "feed_forward.down.*", _THEIRS + "output.dense.*"),
        Row(_OURS + "feed_forward_norm.*", _THEIRS + "output.LayerNorm.*"),
        Row("transform.*", "cls.predictions.transform.dense.*"),
        Row("transform_norm.*", "cls.predictions.transform.LayerNorm.*"),
        Row("head.bias", "cls.predictions.bias"),
    ),
    head=("transform", "transform_norm", "head"),
    options=BLOCKS | WORDS | {"n_segments": "type_vocab_size"},
    fixed=TIED | {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False},
    renames=((r"LayerNorm\.gamma$", "LayerNorm.weight"), (r"LayerNorm\.beta$", "LayerNorm.bias")),
    aliases={
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    ignored=(r"bert\.pooler\..*", r"cls\.seq_relationship\..*", r"bert\.embeddings\.position_ids"),
)
