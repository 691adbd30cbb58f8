"""Calls every public callable of the library wrongly, one argument at a time, and counts what the caller is told.

    python -m tests.clearformer.misuse          counts by target
    python -m tests.clearformer.misuse --raw    and every error that is not in the library's own words

A call is *told* if the library itself raised the error, with a sentence that begins with a name and a colon; *raw* if
Python, NumPy or torch raised it; it *ran* if nothing was raised; it *hangs* after ``SECONDS`` of processor time.
"""

import contextlib
import importlib
import io
import json
import math
import re
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import clearformer
import numpy as np
import torch
import torch.nn.functional as F
from clearformer import attention, cache, checkpoint, generation, layers, patches, positions, tokenizers, training
from clearformer.blocks import Block, Decoder, Encoder, EncoderDecoder
from clearformer.models import bert, gpt, mae, seq2seq, vit
from clearformer.pretrained import from_tensors
from clearformer.pretrained.gpt2_words import byte_characters
from clearformer.tokenizers import N_BYTES
from safetensors.torch import load_file

LIBRARY = str(Path(clearformer.__file__).parent)
SECONDS = 2
SENTENCE = re.compile(r"[\w.][\w., ]*: \S")
B, N, S, D, H, K, V = 2, 5, 7, 12, 3, 4, 11
WRONG: tuple = (
    None,
    True,
    "text",
    b"bytes",
    "",
    -1,
    0,
    1,
    2.5,
    -0.5,
    math.nan,
    math.inf,
    10**6,
    [],
    [1, 2],
    (3,),
    [[1, 2], [3]],
    {},
    {"a": 1},
    {1, 2},
    object(),
    len,
    int,
    range(3),
    slice(0, 9, 2),
    Path("nowhere"),
    np.int64(2),
    np.float32(0.5),
    np.zeros((2, 3)),
    np.ones((2, 5), int),
)


def wrong_tensors() -> Iterator[torch.Tensor]:
    for shape in ((), (1,), (3,), (0, 4), (B, N), (B, N, D), (B, N, D + 1), (B, H, N, K), (1, 1, 1, 1, 1)):
        yield torch.zeros(shape)
        yield torch.full(shape, 3)
    yield torch.zeros(B, N, D, dtype=torch.complex64)
    yield torch.zeros(B, N, D, dtype=torch.float16)
    yield torch.zeros(B, N, D, dtype=torch.float64)
    yield torch.zeros(B, N, D, device="meta")
    yield torch.full((B, N), 99)
    yield torch.full((B, N), -1)
    yield torch.zeros(B, N, dtype=torch.uint8)
    yield torch.zeros(N, N, dtype=torch.bool)
    yield torch.zeros(B, N, D).to_sparse()


class Target:
    """A callable and arguments that are right, each made anew for each call."""

    def __init__(self, name: str, call: Callable, /, **right: Callable):
        self.name, self.call, self.right = name, call, right

    def outcomes(self) -> Iterator[tuple[str, str, str]]:
        """For each wrong argument its name, how it ended and, in one line, what was said."""
        yield "all right", *self.outcome({}, seconds=math.inf)  # which imports what the others need, too
        for name in self.right:
            for wrong in (*WRONG, *wrong_tensors()):
                yield f"{name}={describe(wrong)}", *self.outcome({name: wrong})

    def outcome(self, changed: dict, seconds: float = SECONDS) -> tuple[str, str]:
        arguments = {name: make() for name, make in self.right.items()} | changed
        positional = [arguments.pop(name) for name in [*arguments] if name.startswith("_")]
        try:
            with limited(seconds), contextlib.redirect_stderr(io.StringIO()):
                self.call(*positional, **arguments)
        except TimeoutError:
            return "hangs", ""
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            words = " ".join(str(error).split())[:160]
            own = frames[-1].filename.startswith(LIBRARY) and SENTENCE.match(str(error))
            return ("told" if own else "raw"), f"{type(error).__name__}: {words}"
        return "ran", ""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds if math.isfinite(seconds) else 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def describe(value) -> str:
    if isinstance(value, torch.Tensor | np.ndarray):
        return f"{type(value).__name__} {value.dtype} {tuple(value.shape)} {getattr(value, 'device', '')}"
    return repr(value)[:40]


def constant(value) -> Callable:
    return lambda: value


def make_gpt(**options) -> gpt.GPT:
    torch.manual_seed(0)
    return gpt.GPT(gpt.GPTConfig(V, 16, D, H, 1, **options))


def ids(n: int = N) -> torch.Tensor:
    return torch.arange(B * n).reshape(B, n) % V


def rows(n: int, generator: torch.Generator):
    return ids()[:n], ids()[:n]


def sizes(**values) -> dict:
    return {name: constant(value) for name, value in values.items()}


def config_targets() -> Iterator[Target]:
    small = sizes(d_model=D, n_heads=H, n_layers=1)
    words, common = sizes(n_vocab=V, n_positions=16), sizes(eps=1e-5, activation=F.gelu, d_ff=8)
    pictures = sizes(image_size=8, patch_size=4, n_channels=1)
    yield Target(
        "GPTConfig",
        lambda **o: gpt.GPT(gpt.GPTConfig(**o)),
        **words,
        **small,
        **common,
        **sizes(
            n_kv_heads=1, tied=True, norm=layers.RMSNorm, feed_forward=layers.GatedFeedForward, rope=positions.Rotary
        ),
    )
    yield Target(
        "BERTConfig", lambda **o: bert.BERT(bert.BERTConfig(**o)), **words, **small, **common, **sizes(n_segments=2)
    )
    yield Target(
        "Seq2SeqConfig",
        lambda **o: seq2seq.Seq2Seq(seq2seq.Seq2SeqConfig(**o)),
        **words,
        **small,
        **common,
        **sizes(
            n_decoder_layers=1,
            n_decoder_heads=2,
            d_decoder_ff=8,
            padding=0,
            start=1,
            end=2,
            scale=1.0,
            interleaved=True,
        ),
    )
    yield Target(
        "ViTConfig",
        lambda **o: vit.ViT(vit.ViTConfig(**o)),
        **pictures,
        **small,
        **common,
        **sizes(n_classes=3, n_class_tokens=1, pool=vit.first_token, position_std=0.02),
    )
    yield Target(
        "MAEConfig",
        lambda **o: mae.MAE(mae.MAEConfig(**o)),
        **pictures,
        **small,
        **common,
        **sizes(d_decoder=8, n_decoder_heads=2, n_decoder_layers=1, d_decoder_ff=8, mask_ratio=0.5),
    )
    yield Target(
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


def layer_targets() -> Iterator[Target]:
    yield Target("LayerNorm", layers.LayerNorm, **sizes(d_model=D, eps=1e-5, bias=True))
    yield Target("RMSNorm", layers.RMSNorm, **sizes(d_model=D, eps=1e-5))
    yield Target("FeedForward", layers.FeedForward, **sizes(d_model=D, d_ff=8, activation=F.gelu, bias=True))
    yield Target("GatedFeedForward", layers.GatedFeedForward, **sizes(d_model=D, d_ff=8, activation=F.silu))
    yield Target("MixtureOfExperts", layers.MixtureOfExperts, **sizes(d_model=D, d_ff=8, n_experts=3, top_k=2))
    yield Target(
        "MultiHeadAttention",
        clearformer.MultiHeadAttention,
        **sizes(
            d_model=D,
            n_heads=H,
            n_kv_heads=1,
            bias=True,
            attend=attention.attend,
            rope=positions.Rotary(K, 16),
            relative=positions.RelativeKeys(K, 3),
        ),
    )
    for kind in (Block, partial(Encoder, 1), partial(Decoder, 1)):
        name = getattr(getattr(kind, "func", kind), "__name__", "")
        yield Target(name, kind, **sizes(d_model=D, n_heads=H, d_ff=8, norm=layers.LayerNorm))
    yield Target("Encoder", Encoder, **sizes(n_layers=1, d_model=D, n_heads=H, d_ff=8))
    yield Target("LearnedPositions", positions.LearnedPositions, **sizes(n_positions=16, d_model=D))
    yield Target("RelativeKeys", positions.RelativeKeys, **sizes(d_head=K, max_distance=3))
    yield Target("Rotary", positions.Rotary, **sizes(d_head=K, n_positions=16, base=100.0))
    yield Target("sinusoidal", positions.sinusoidal, **sizes(n_positions=16, d_model=D, start=0))
    yield Target("KVCache", cache.KVCache, **sizes(n_layers=1, batch=B, n_kv_heads=H, n_positions=9, d_head=K))
    yield Target("KVCache.reorder", cache.KVCache(1, B, H, 9, K).reorder, rows=lambda: torch.tensor([1, 0]))
    yield Target("causal_mask", attention.causal_mask, **sizes(n_targets=N, n_sources=S))
    yield Target("window_mask", attention.window_mask, **sizes(n_targets=N, n_sources=S, width=2))
    yield Target("padding_mask", attention.padding_mask, ids=ids, padding=constant(0))


def call_targets() -> Iterator[Target]:
    x = {"x": lambda: torch.zeros(B, N, D)}
    for layer in (
        layers.LayerNorm(D),
        layers.RMSNorm(D),
        layers.FeedForward(D, 8),
        layers.GatedFeedForward(D, 8),
        layers.MixtureOfExperts(D, 8, n_experts=3),
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
    chosen = sizes(temperature=1.0, top_k=3, top_p=0.9)
    yield Target(
        "generate",
        generation.generate,
        model=constant(model),
        ids=ids,
        **settings,
        **chosen,
        generator=lambda: torch.Generator().manual_seed(0),
    )
    yield Target(
        "beam_search",
        generation.beam_search,
        model=constant(model),
        ids=ids,
        **settings,
        **sizes(n_beams=2, length_penalty=1.0),
    )
    logits = {"logits": lambda: torch.randn(B, V)}
    yield Target("keep_top_k", generation.keep_top_k, **logits, k=constant(3))
    yield Target("keep_top_p", generation.keep_top_p, **logits, p=constant(0.9))
    yield Target("draw", generation.draw, **logits, **sizes(top_k=3, top_p=0.9))


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
    yield from call_targets()
    yield from model_targets()
    yield from writing_targets()
    yield from training_targets(folder)
    yield from tokenizer_targets()


def import_what_meta_needs() -> None:
    """For seconds, which no limit should cut in half: what is imported in part fails in all calls after it."""
    importlib.import_module("torch._dynamo")
    torch.zeros(3, device="meta").topk(1)
    F.layer_norm(torch.zeros(2, 3, device="meta"), (3,))


def count(show: bool = False) -> dict[str, Counter]:
    """How the calls of each target ended."""
    import_what_meta_needs()
    counts: dict[str, Counter] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # some calls write where they are told
        for target in targets(Path(folder)):
            counted = counts.setdefault(target.name, Counter())
            for argument, how, words in target.outcomes():
                if argument == "all right" and how != "ran":
                    raise RuntimeError(f"{target.name}: a right call {how}: {words}")
                counted[how] += argument != "all right"
                if show and how in ("raw", "hangs"):
                    print(f"{target.name}({argument}): {how} {words}", flush=True)
    return counts


def main(show: bool) -> None:
    counts = count(show)
    total = sum(counts.values(), Counter())
    for name, counted in sorted(counts.items(), key=lambda item: -item[1]["raw"]):
        print(f"{name:35}" + "  ".join(f"{how} {counted[how]:5}" for how in ("told", "raw", "ran", "hangs")))
    print(f"{sum(total.values())} calls: " + ", ".join(f"{how} {n}" for how, n in total.most_common()))


if __name__ == "__main__":
    main("--raw" in sys.argv)
