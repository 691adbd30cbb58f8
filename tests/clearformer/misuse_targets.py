"""Every public callable of the library with arguments that it takes, one of which is then replaced by a wrong one."""

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import clearformer
import torch
import torch.nn.functional as F
from clearformer import (
    attention,
    block_variants,
    cache,
    checkpoint,
    drafts,
    experts,
    generation,
    layers,
    patches,
    positions,
    rope_scaling,
    sampling,
    scores,
    text,
    tokenizers,
    training,
)
from clearformer.blocks import Block, Decoder, Encoder
from clearformer.encoder_decoder import EncoderDecoder
from clearformer.models import bert, gpt, mae, seq2seq, vit
from clearformer.pretrained import from_tensors
from clearformer.pretrained.gpt2_words import byte_characters
from clearformer.tokenizers import N_BYTES
from safetensors.torch import load_file

from tests.clearformer.misuse_configs import config_targets
from tests.clearformer.misuse_parts import part_targets
from tests.clearformer.wrong_values import B, D, H, K, N, S, Target, V, constant, ids, make_gpt, rows, sizes


def layer_targets() -> Iterator[Target]:
    yield Target("LayerNorm", layers.LayerNorm, **sizes(d_model=D, eps=1e-5, bias=True))
    yield Target("RMSNorm", layers.RMSNorm, **sizes(d_model=D, eps=1e-5))
    yield Target("FeedForward", layers.FeedForward, **sizes(d_model=D, d_ff=8, activation=F.gelu, bias=True))
    yield Target("GatedFeedForward", layers.GatedFeedForward, **sizes(d_model=D, d_ff=8, activation=F.silu))
    yield from part_targets()
    yield Target(
        "MultiHeadAttention",
        clearformer.MultiHeadAttention,
        **sizes(
            d_model=D,
            n_heads=H,
            n_kv_heads=1,
            d_head=K,
            qk_norm=layers.RMSNorm,
            bias=True,
            attend=attention.attend,
            rope=positions.Rotary(K, 16),
            relative=positions.RelativeKeys(K, 3),
            window=4,
            joint_norm=True,
        ),
    )
    for kind in (Block, partial(Encoder, 1), partial(Decoder, 1)):
        name = getattr(getattr(kind, "func", kind), "__name__", "")
        yield Target(name, kind, **sizes(d_model=D, n_heads=H, d_ff=8, norm=layers.LayerNorm))
    yield Target("Encoder", Encoder, **sizes(n_layers=1, d_model=D, n_heads=H, d_ff=8))
    yield Target("LearnedPositions", positions.LearnedPositions, **sizes(n_positions=16, d_model=D))
    yield Target("RelativeKeys", positions.RelativeKeys, **sizes(d_head=K, max_distance=3))
    yield Target("sinusoidal", positions.sinusoidal, **sizes(n_positions=16, d_model=D, start=0))
    yield Target("KVCache", cache.KVCache, **sizes(n_layers=1, batch=B, n_kv_heads=H, n_positions=9, d_head=K))
    yield Target("KVCache.reorder", cache.KVCache(1, B, H, 9, K).reorder, rows=lambda: torch.tensor([1, 0]))
    yield Target("causal_mask", attention.causal_mask, **sizes(n_targets=N, n_sources=S))
    yield Target("window_mask", attention.window_mask, **sizes(n_targets=N, n_sources=S, width=2))
    yield Target("padding_mask", attention.padding_mask, ids=ids, padding=constant(0))


def option_targets() -> Iterator[Target]:
    turned = sizes(base=100.0, share=1.0, interleaved=True, scaling=rope_scaling.LinearScaling(2.0))
    yield Target("Rotary", positions.Rotary, **sizes(d_head=K, n_positions=16), **turned)
    yield Target("LinearScaling", rope_scaling.LinearScaling, **sizes(factor=2.0))
    yield Target("Llama3Scaling", rope_scaling.Llama3Scaling, **sizes(factor=2.0, low=1.0, high=4.0, n_trained=8))
    yield Target(
        "YarnScaling", rope_scaling.YarnScaling, **sizes(factor=2.0, n_trained=8, fast=4.0, slow=1.0, amplitude=1.0)
    )
    pairs = sizes(short=(1.0,) * (K // 2), long=(2.0,) * (K // 2), n_trained=8, amplitude=1.0)
    yield Target("LongRotary", rope_scaling.LongRotary, **sizes(d_head=K, n_positions=16), **pairs)
    yield Target("ScaledHead", block_variants.ScaledHead, **sizes(d_model=D, n_vocab=V, scale=2.0, cap=3.0))
    yield Target("Scale", block_variants.Scale, **sizes(d_model=D, factor=2.0))


def call_targets() -> Iterator[Target]:
    x = {"x": lambda: torch.zeros(B, N, D)}
    for layer in (
        layers.LayerNorm(D),
        layers.RMSNorm(D),
        layers.FeedForward(D, 8),
        layers.GatedFeedForward(D, 8),
        experts.MixtureOfExperts(D, 8, n_experts=3),
    ):
        yield Target(f"{type(layer).__name__}(x)", layer, **x)
    attend_to = {"source": lambda: torch.zeros(B, S, D), "mask": lambda: torch.ones(N, S, dtype=torch.bool)}
    yield Target(
        "MultiHeadAttention(x)", clearformer.MultiHeadAttention(D, H), **x, **attend_to, causal=constant(False)
    )
    rotary = clearformer.MultiHeadAttention(D, H, rope=positions.Rotary(K, 16))
    yield Target("MultiHeadAttention(x, positions)", rotary, **x, positions=constant(slice(0, N)))
    whole = {"mask": lambda: torch.ones(N, N, dtype=torch.bool)}
    yield Target("Block(x)", Block(D, H, 8), **x, **whole)
    yield Target("Encoder(x)", Encoder(1, D, H, 8), **x, **whole)
    yield Target("Decoder(x)", Decoder(1, D, H, 8), **x, **whole)
    both = EncoderDecoder(Encoder(1, D, H, 8), Decoder(1, D, H, 8, cross=True))
    yield Target("EncoderDecoder(x)", both, source=lambda: torch.zeros(B, S, D), target=x["x"])
    for name in attention.__all__:
        if name.startswith("attend"):
            q, k, v = (lambda n=n: torch.zeros(B, H, n, K) for n in (N, S, S))
            mask = lambda: torch.ones(1, S, dtype=torch.bool)  # noqa: E731
            yield Target(name, getattr(attention, name), q=q, k=k, v=v, mask=mask, causal=constant(False))
    learned, keys = positions.LearnedPositions(16, D), positions.RelativeKeys(K, 3)
    yield Target("LearnedPositions(p)", learned, positions=constant(slice(0, N)))
    yield Target("RelativeKeys(q)", keys, q=lambda: torch.zeros(B, H, N, K), n_sources=constant(S))
    yield Target(
        "Rotary(x)", positions.Rotary(K, 16), x=lambda: torch.zeros(B, H, N, K), positions=constant(slice(0, N))
    )
    yield Target("patchify", patches.patchify, images=lambda: torch.zeros(B, 1, 8, 8), size=constant(4))
    yield Target(
        "unpatchify", patches.unpatchify, patches=lambda: torch.zeros(B, 4, 16), size=constant(4), rows=constant(2)
    )


def model_targets() -> Iterator[Target]:
    model, words = make_gpt(), {"ids": ids}
    yield Target("GPT(ids)", model, **words, mask=lambda: torch.ones(N, N, dtype=torch.bool))
    yield Target("GPT.hidden_states", model.hidden_states, **words, positions=constant(slice(0, N)))
    yield Target("GPT.new_cache", model.new_cache, **sizes(batch=B, n_positions=9))
    yield Target("next_token_loss", gpt.next_token_loss, model=constant(model), ids=ids, targets=ids)
    yield Target("surprisal", gpt.surprisal, model=constant(model), ids=lambda: ids()[0], **sizes(stride=2, batch=2))
    encoder = bert.BERT(bert.BERTConfig(V, 16, D, H, 1))
    yield Target("BERT(ids)", encoder, **words, segments=lambda: torch.zeros(B, N, dtype=torch.long))
    translator = seq2seq.Seq2Seq(seq2seq.Seq2SeqConfig(V, 16, D, H, 1, padding=0, start=1, end=2))
    pair = {"source": lambda: ids(S) + 0, "target": ids}
    yield Target("Seq2Seq", translator, **pair)
    yield Target(
        "translation_loss", seq2seq.translation_loss, model=constant(translator), **pair, smoothing=constant(0.1)
    )
    yield Target("conditioned_on", translator.conditioned_on, source=lambda: ids(S))
    pictures = {"images": lambda: torch.zeros(B, 1, 8, 8)}
    yield Target("ViT", vit.ViT(vit.ViTConfig(8, 4, 1, 3, D, H, 1)), **pictures)
    painter = mae.MAE(mae.MAEConfig(8, 4, 1, D, H, 1, 8, 2, 1, mask_ratio=0.5))
    yield Target("MAE", painter, **pictures, noise=lambda: torch.rand(B, 4), mask_ratio=constant(0.5))


def writing_targets() -> Iterator[Target]:
    model = make_gpt()
    settings = sizes(n_tokens=3, stop=4, cached=True)
    chosen = sizes(temperature=1.0, top_k=3, top_p=0.9, adjust=lambda logits, new: logits)
    for name in ("generate", "stream_tokens"):
        yield Target(
            name,
            getattr(generation, name),
            model=constant(model),
            ids=ids,
            **settings,
            **chosen,
            generator=lambda: torch.Generator().manual_seed(0),
        )
    yield Target(
        "generate one text",
        generation.generate,
        model=constant(make_gpt(rope=positions.Rotary)),
        ids=lambda: ids()[:1],
        **sizes(n_tokens=20, n_sinks=2, draft=lambda written: written[-2:]),
    )
    yield Target(
        "beam_search",
        generation.beam_search,
        model=constant(model),
        ids=ids,
        **settings,
        **sizes(n_beams=2, length_penalty=1.0),
    )
    tokenizer = tokenizers.ByteTokenizer()
    made = {"tokenizer": constant(tokenizer), "tokens": constant([104, 105]), "until": constant(["."])}
    yield Target("stream_text", lambda **given: "".join(text.stream_text(**given)), **made)


def sampling_targets() -> Iterator[Target]:
    logits = {"logits": lambda: torch.randn(B, V)}
    yield Target("keep_top_k", generation.keep_top_k, **logits, k=constant(3))
    yield Target("keep_top_p", generation.keep_top_p, **logits, p=constant(0.9))
    yield Target("draw", generation.draw, **logits, **sizes(top_k=3, top_p=0.9))
    yield Target("keep_min_p", sampling.keep_min_p, **logits, p=constant(0.1))
    yield Target("penalise_repetition", sampling.penalise_repetition, **logits, ids=ids, penalty=constant(1.2))
    yield Target("prompt_lookup", drafts.prompt_lookup, ids=lambda: ids()[0], **sizes(n_matched=2, n_drafted=8))
    yield Target("log_probabilities", scores.log_probabilities, model=make_gpt, ids=lambda: ids()[:, :2], written=ids)


def training_targets(folder: Path) -> Iterator[Target]:
    config = clearformer.TrainConfig(1, B)
    yield Target(
        "train",
        lambda **o: training.train(**({"progress": False} | o)),
        model=make_gpt,
        loss=constant(gpt.next_token_loss),
        batch=constant(rows),
        config=constant(config),
        evaluate=constant(lambda m: 0.0),
        folder=lambda: Path(tempfile.mkdtemp(dir=folder)),
    )
    training.train(make_gpt(), gpt.next_token_loss, rows, config, folder=folder / "run", progress=False)
    yield Target("checkpoint.load", checkpoint.load, folder=lambda: folder / "run")
    yield Target("has_checkpoint", checkpoint.has_checkpoint, folder=lambda: folder / "run")
    yield Target("load_model", checkpoint.load_model, folder=lambda: folder / "run", model=make_gpt)
    saved = folder / "gpt"
    clearformer.save_pretrained(make_gpt(), saved)
    yield Target("from_pretrained", clearformer.from_pretrained, name=constant(saved), dtype=constant(torch.float32))
    options, weights = json.loads((saved / "config.json").read_text()), load_file(saved / "model.safetensors")
    yield Target(
        "from_tensors", from_tensors, options=constant(options), theirs=constant(weights), dtype=constant(None)
    )
    yield Target(
        "save_pretrained", clearformer.save_pretrained, model=make_gpt, folder=constant(saved), labels_and_tokens=dict
    )


def tokenizer_targets() -> Iterator[Target]:
    text = "low lower lowest"
    yield Target("CharTokenizer", tokenizers.CharTokenizer, text=constant(text))
    yield Target(
        "BytePairTokenizer",
        tokenizers.BytePairTokenizer,
        **sizes(text=text, n_merges=3, special=("<end>",)),
        pattern=constant(tokenizers.WORD),
    )
    spelled = {character: i for i, character in enumerate(byte_characters())} | {"lo": N_BYTES}
    yield Target(
        "from_vocabulary",
        tokenizers.BytePairTokenizer.from_vocabulary,
        vocabulary=constant(spelled),
        merges=constant([("l", "o")]),
        pattern=constant(tokenizers.WORD),
        **sizes(special=("<end>",), skip_unknown=False),
    )
    for tokenizer in (
        tokenizers.CharTokenizer(text),
        tokenizers.BytePairTokenizer(text, 3),
        tokenizers.ByteTokenizer(),
    ):
        name = type(tokenizer).__name__
        yield Target(f"{name}.encode", tokenizer.encode, text=constant("low"))
        yield Target(f"{name}.decode", tokenizer.decode, ids=constant([1, 2]))
    learned = tokenizers.BytePairTokenizer(text, 1)
    yield Target("add_merges", learned.add_merges, pairs=constant([(97, 98)]))


def targets(folder: Path) -> Iterator[Target]:
    yield from config_targets()
    yield from layer_targets()
    yield from option_targets()
    yield from call_targets()
    yield from model_targets()
    yield from writing_targets()
    yield from sampling_targets()
    yield from training_targets(folder)
    yield from tokenizer_targets()
