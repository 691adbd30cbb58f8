"""``torch.compile``: whether it takes every model in one piece, and what it gains."""

import shutil

import torch
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig
from torch import nn

from benchmarks.harness import Report, Row, interleave, one
from benchmarks.sizes import N_VOCAB, Options, Size

NOT_SLOWER = 1.0
COMPILERS = ("g++", "clang++", "cl")
NO_COMPILER = "torch.compile: needs a C++ compiler (g++ or clang++)"
IMAGE, PATCH = 32, 4


def run(options: Options) -> Report:
    """The forward pass at the first of the sizes."""
    report, size = Report(), options.sizes[0]
    compiler = any(shutil.which(name) for name in COMPILERS)
    if not compiler:
        report.skipped.append(NO_COMPILER)
    for name, (model, inputs) in cases(size).items():
        work = f"forward, {name}, {size.name}"
        with torch.no_grad():
            torch.compiler.reset()
            report.rows.append(Row(work, "graph breaks", one(breaks(model, inputs)), 0, True, unit=""))
            if compiler:
                seconds = compare(model, inputs, options)
                report.seconds[work] = seconds.seconds
                report.rows.append(
                    Row(work, "compiled faster than eager", seconds.ratio("eager", "compiled"), NOT_SLOWER)
                )
    return report


def cases(size: Size) -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    """Every model with an input, all of the same width and depth."""
    D, H, M, N = size.d_model, size.n_heads, size.n_layers, size.n_tokens
    ids = torch.randint(N_VOCAB, (size.batch, N))
    images = torch.randn(size.batch, 3, IMAGE, IMAGE)
    noise = torch.rand(size.batch, (IMAGE // PATCH) ** 2)
    half = max(1, M // 2)
    models = {
        "GPT": (GPT(GPTConfig(N_VOCAB, N, D, H, M)), (ids,)),
        "BERT": (BERT(BERTConfig(N_VOCAB, N, D, H, M)), (ids,)),
        "ViT": (ViT(ViTConfig(IMAGE, PATCH, 3, 10, D, H, M)), (images,)),
        "MAE": (MAE(MAEConfig(IMAGE, PATCH, 3, D, H, M, D // 2, H, half)), (images, noise)),
        "Seq2Seq": (Seq2Seq(Seq2SeqConfig(N_VOCAB, N, D, H, half)), (ids, ids)),
    }
    return {name: (model.eval(), inputs) for name, (model, inputs) in models.items()}


def breaks(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> int:
    return torch._dynamo.explain(model)(*inputs).graph_break_count


def compare(model: nn.Module, inputs: tuple[torch.Tensor, ...], options: Options):
    compiled = torch.compile(model)
    calls = {"eager": lambda: model(*inputs), "compiled": lambda: compiled(*inputs)}
    return interleave(calls, options.rounds, least=options.least)
