"""What PyTorch's compiler and exporter make of the library, one line for each part of it: a program of its own.

The shape checks of the test run, which look at sizes, are not part of the library.
"""

import warnings
from functools import partial

import torch
from clearformer.attention import attend, attend_blockwise, attend_fused, attend_softcapped
from clearformer.block_variants import OutputNormBlock, ScaledHead
from clearformer.blocks import Block, Decoder
from clearformer.distances import DistanceBuckets
from clearformer.experts import MixtureOfExperts
from clearformer.generation import prepare_for_generation
from clearformer.layers import RMSNorm
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.latent import LatentGPT, LatentGPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.options import LayerOptions
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import Rotary
from clearformer.sinks import SinkAttention
from torch import nn
from torch.export import Dim, export

V, POSITIONS, WIDTHS = 37, 32, (24, 4, 1)  # model width, heads, layers
BATCH, TARGETS, SOURCES = Dim("batch", max=64), Dim("targets", max=POSITIONS), Dim("sources", max=POSITIONS)


def ids(batch, n_tokens):
    return torch.randint(0, V, (batch, n_tokens))


def images(batch, *_):
    return torch.randn(batch, 2, 12, 12)


CASES = {
    "GPT": (lambda: GPT(GPTConfig(V, POSITIONS, *WIDTHS)), [(ids, {0: BATCH, 1: TARGETS})]),
    "GPT with rotary positions and shared keys": (
        lambda: GPT(GPTConfig(V, POSITIONS, *WIDTHS, n_kv_heads=2, rope=Rotary)),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "GPT with wide heads whose queries and keys are normed": (
        lambda: GPT(GPTConfig(V, POSITIONS, *WIDTHS, d_head=10, qk_norm=RMSNorm, rope=Rotary)),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "GPT of which a layer has no positions, with capped logits and norms of what is written": (
        lambda: GPT(
            GPTConfig(
                *(V, POSITIONS, 24, 4, 2),
                rope=Rotary,
                layers=(LayerOptions((1,)),),
                qk_norm=RMSNorm,
                joint_norm=True,
                attend=partial(attend_fused, scale=0.3),
                block=OutputNormBlock,
                head=partial(ScaledHead, cap=5.0),
                embedding_scale=2.0,
            )
        ),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "GPT with sinks": (
        lambda: GPT(GPTConfig(V, POSITIONS, *WIDTHS, n_kv_heads=2, rope=Rotary), attention=SinkAttention),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "GPT with a latent vector": (
        lambda: LatentGPT(LatentGPTConfig(V, POSITIONS, *WIDTHS, rope=Rotary, d_head=4, d_latent=5, d_value=6)),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "GPT laid for generation": (
        lambda: prepare_for_generation(GPT(GPTConfig(V, POSITIONS, *WIDTHS))),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
    "BERT": (lambda: BERT(BERTConfig(V, POSITIONS, *WIDTHS)), [(ids, {0: BATCH, 1: TARGETS})]),
    "ViT": (lambda: ViT(ViTConfig(12, 4, 2, 3, *WIDTHS)), [(images, {0: BATCH})]),
    "ViT with registers": (lambda: ViT(ViTConfig(12, 4, 2, 3, *WIDTHS, n_registers=2)), [(images, {0: BATCH})]),
    "MAE": (
        lambda: MAE(MAEConfig(12, 4, 2, *WIDTHS, 20, 5, 1)),
        [(images, {0: BATCH}), (lambda batch, *_: torch.rand(batch, 9), {0: BATCH})],
    ),
    "Seq2Seq": (
        lambda: Seq2Seq(Seq2SeqConfig(V, POSITIONS, *WIDTHS, padding=0)),
        [(lambda b, n: ids(b, n + 3), {0: BATCH, 1: SOURCES}), (ids, {0: BATCH, 1: TARGETS})],
    ),
    "Seq2Seq told distances": (
        lambda: Seq2Seq(Seq2SeqConfig(V, POSITIONS, *WIDTHS, padding=0, distances=DistanceBuckets)),
        [(lambda b, n: ids(b, n + 3), {0: BATCH, 1: SOURCES}), (ids, {0: BATCH, 1: TARGETS})],
    ),
}
# How many tokens an expert gets is known when it is computed: exported with a size that is open, compiled in parts.
EXPORTED_ONLY = {
    "GPT with experts": (
        lambda: GPT(
            GPTConfig(V, POSITIONS, *WIDTHS, feed_forward=partial(MixtureOfExperts, n_experts=3, top_k=2)),
        ),
        [(ids, {0: BATCH, 1: TARGETS})],
    ),
}


LAYERS: dict[str, tuple[nn.Module, int, dict]] = {
    "multihead": (MultiHeadAttention(24, 6, n_kv_heads=2), 24, {"causal": True}),
    "block": (Block(24, 6, 20, cross=True), 24, {"causal": True, "source": torch.randn(2, 7, 24)}),
    "decoder": (Decoder(2, 24, 6, 20), 24, {}),
}
ATTENTION = {function.__name__: function for function in (attend, attend_blockwise, attend_fused, attend_softcapped)}


def result_line(check, name: str, well: str) -> str:
    """A line that says what came of it; whatever fails for one part stops no other."""
    try:
        check(name)
    except Exception as error:
        return f"{name}: {type(error).__name__}: {str(error)[:500]}"
    return f"{name}: {well}"


def in_one_graph(name: str) -> None:
    if name in CASES:
        build, parts = CASES[name]
        inputs = [make(3, 5) for make, _ in parts]
        options: dict = {}
        layer = build().eval()
    else:
        layer, width, options = LAYERS[name]
        inputs = [torch.randn(2, 5, width)]
    found = torch._dynamo.explain(layer)(*inputs, **options)
    assert (found.graph_count, found.graph_break_count) == (1, 0), found.break_reasons


def in_one_graph_at_every_size(name: str) -> None:
    function = ATTENTION[name]
    q, k, v = (torch.randn(2, 3, n, width) for n, width in ((5, 4), (7, 4), (7, 6)))
    compiled = torch.compile(function, fullgraph=True, backend="eager")
    for n in (5, 4, 3):  # compiled for the first size, then for any, which the third finds
        y, _ = compiled(q[..., :n, :], k, v, causal=True)
        torch.testing.assert_close(y, function(q[..., :n, :], k, v, causal=True)[0])
    torch.compiler.reset()


def exported_and_equal(name: str) -> None:
    build, parts = (CASES | EXPORTED_ONLY)[name]
    model = build().eval()
    example = tuple(make(3, 5) for make, _ in parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = export(model, example, dynamic_shapes=[sizes for _, sizes in parts], strict=False).module()
    for sizes in ((1, 1), (7, 9), (2, 29)):
        inputs = [make(*sizes) for make, _ in parts]
        torch.testing.assert_close(exported(*inputs), model(*inputs))


if __name__ == "__main__":
    for check, names, well in (
        (exported_and_equal, CASES | EXPORTED_ONLY, "exported and equal"),
        (in_one_graph, [*CASES, *LAYERS], "one graph"),
        (in_one_graph_at_every_size, ATTENTION, "one graph at every size"),
    ):
        for name in names:
            print(result_line(check, name, well), flush=True)
