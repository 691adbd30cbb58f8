"""MAE: ViT's encoder, and a second small one as decoder; it draws pixel by pixel where we draw colour by colour."""

from clearformer.models.mae import MAE, MAEConfig
from clearformer.pretrained.tables import COLOURS_FIRST, WITHOUT_BATCH, Architecture, Row
from clearformer.pretrained.vit import DEFAULTS, OPTIONS, vit_blocks, vit_encoder

DECODER_OPTIONS = {
    "d_decoder": "decoder_hidden_size", "n_decoder_heads": "decoder_num_attention_heads",
    "n_decoder_layers": "decoder_num_hidden_layers", "d_decoder_ff": "decoder_intermediate_size",
    "mask_ratio": "mask_ratio",
}  # fmt: skip

MAE_ARCHITECTURE = Architecture(
    model_type="vit_mae",
    class_name="ViTMAEForPreTraining",
    bare="ViTMAEModel",
    model=MAE,
    config=MAEConfig,
    rows=(
        *vit_encoder("positions"),
        Row("to_decoder.*", "decoder.decoder_embed.*"),
        Row("mask_token", "decoder.mask_token", WITHOUT_BATCH),
        Row("decoder_positions", "decoder.decoder_pos_embed", WITHOUT_BATCH),
        *vit_blocks("decoder.blocks.{j}", "decoder.decoder_layers.{j}"),
        Row("decoder.norm.*", "decoder.decoder_norm.*"),
        Row("head.*", "decoder.decoder_pred.*", COLOURS_FIRST),
    ),
    head=("to_decoder", "mask_token", "decoder_positions", "decoder", "head"),
    layers={"i": "n_layers", "j": "n_decoder_layers"},
    options=OPTIONS | DECODER_OPTIONS,
    prefix="vit.",
    defaults=DEFAULTS,
    fixed={"qkv_bias": True},
    renames=((r"^decoder\.decoder_encoder\.layer\.", "decoder.decoder_layers."),),  # as transformers 5 writes it
)
