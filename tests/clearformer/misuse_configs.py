"""Every configuration of the library with fields that it takes, one of which is then replaced by a wrong one."""

from collections.abc import Iterator

import clearformer
import torch.nn.functional as F
from clearformer import attention, block_variants, layers, positions
from clearformer.models import bert, gpt, latent, mae, modernbert, options, seq2seq, vit
from torch import nn

from tests.clearformer.wrong_values import D, H, Target, V, sizes

BLOCKS = sizes(d_model=D, n_heads=H, n_layers=1, eps=1e-5, activation=F.gelu, d_ff=8)
WORDS = sizes(n_vocab=V, n_positions=16)
OPTIONS = sizes(
    joint_norm=True,
    window=4,
    attend=attention.attend,
    layers=(options.LayerOptions((0,), window=2),),
    block=block_variants.OutputNormBlock,
    head=block_variants.ScaledHead,
    embedding_scale=2.0,
)
PICTURES = sizes(image_size=8, patch_size=4, n_channels=1)


def config_targets() -> Iterator[Target]:
    yield from targets_that_read_words()
    yield from targets_told_otherwise()
    yield from targets_that_fill_gaps()
    yield from targets_that_see_pictures()
    yield training_target()


def targets_that_read_words() -> Iterator[Target]:
    yield Target(
        "GPTConfig",
        lambda **o: gpt.GPT(gpt.GPTConfig(**o)),
        **WORDS,
        **BLOCKS,
        **sizes(
            n_kv_heads=1,
            tied=True,
            norm=layers.RMSNorm,
            feed_forward=layers.GatedFeedForward,
            rope=positions.Rotary,
            d_head=4,
            qk_norm=layers.RMSNorm,
        ),
        **OPTIONS,
    )
    yield Target("LayerOptions", options.LayerOptions, **sizes(layers=(0, 2), window=2, rope=positions.Rotary))


def targets_told_otherwise() -> Iterator[Target]:
    yield Target(
        "Seq2SeqConfig",
        lambda **o: seq2seq.Seq2Seq(seq2seq.Seq2SeqConfig(**o)),
        **WORDS,
        **BLOCKS,
        **sizes(
            n_decoder_layers=1,
            n_decoder_heads=2,
            d_decoder_ff=8,
            padding=0,
            start=1,
            end=2,
            scale=1.0,
            interleaved=True,
            first_position=2,
            norm_embeddings=True,
            norm_first=True,
            norm=layers.RMSNorm,
            feed_forward=layers.GatedFeedForward,
            d_head=4,
            shared_distances=True,
            tied=True,
        ),
    )
    yield Target(
        "LatentGPTConfig",
        lambda **o: latent.LatentGPT(latent.LatentGPTConfig(**o)),
        **WORDS,
        **BLOCKS,
        **sizes(rope=positions.Rotary, d_head=4, d_latent=5, d_unturned=3, d_value=6, d_query_latent=7),
    )


def targets_that_fill_gaps() -> Iterator[Target]:
    turned = sizes(rope=positions.Rotary, window=2, layers=())
    yield Target(
        "ModernBERTConfig",
        lambda **o: modernbert.ModernBERT(modernbert.ModernBERTConfig(**o)),
        **WORDS,
        **BLOCKS,
        **turned,
    )
    yield Target(
        "BERTConfig", lambda **o: bert.BERT(bert.BERTConfig(**o)), **WORDS, **BLOCKS, **sizes(n_segments=2, padding=0)
    )


def targets_that_see_pictures() -> Iterator[Target]:
    yield Target(
        "ViTConfig",
        lambda **o: vit.ViT(vit.ViTConfig(**o)),
        **PICTURES,
        **BLOCKS,
        **sizes(n_classes=3, n_class_tokens=1, pool=vit.first_token, position_std=0.02),
        **sizes(block=block_variants.OutputNormBlock, patch_bias=False, norm_embeddings=True, head=nn.Linear),
        **sizes(n_registers=2),
    )
    yield Target(
        "MAEConfig",
        lambda **o: mae.MAE(mae.MAEConfig(**o)),
        **PICTURES,
        **BLOCKS,
        **sizes(d_decoder=8, n_decoder_heads=2, n_decoder_layers=1, d_decoder_ff=8, mask_ratio=0.5),
    )


def training_target() -> Target:
    return Target(
        "TrainConfig",
        clearformer.TrainConfig,
        **sizes(
            n_steps=4,
            batch_size=2,
            learning_rate=0.1,
            warmup_steps=1,
            min_lr_ratio=0.1,
            weight_decay=0.1,
            betas=(0.9, 0.95),
            max_grad_norm=1.0,
            grad_accum_steps=1,
            eval_every=0,
            save_every=0,
            autocast=True,
            seed=0,
        ),
    )
