"""Greedy generation beside ``transformers`` with its cache, and the time to read the weights once a token.

Ours went through ``prepare_for_generation``; the peer keeps most of its weights column-major by itself. At GPT-2's
shape ours is measured with its weights in 8 bits, too.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import torch
from clearformer.generation import generate, prepare_for_generation
from clearformer.models.gpt import GPT, GPTConfig
from torch import Tensor

from benchmarks.floor import weights_read
from benchmarks.harness import Report, Row, interleave
from benchmarks.peers import OURS, check_counts, clearformer_gpt, count, gpt2
from benchmarks.sizes import N_VOCAB, Options, Size

N_PROMPT = 16
PEER = "transformers"
IN_8_BITS = "ours, weights in 8 bits"
FASTER = {("tiny", 1): 1.8, ("tiny", 8): 1.6, ("small", 1): 1.3, ("small", 8): 1.5, ("gpt2", 1): 1.1, ("gpt2", 8): 1.15}
SHARE_OF_BOUND = {"small": 0.70, "gpt2": 0.80}


def run(options: Options) -> Report:
    report = Report()
    if find_spec(PEER) is None:
        report.skipped.append(f"{PEER}: not installed")
    for size in options.sizes:
        for batch in (1, 8):
            compare(size.name, pair(size, options), batch, options, report)
    if options.gpt2:
        for batch in (1, 8):
            models = gpt2_pair()
            compare("gpt2", models | {IN_8_BITS: in_8_bits(models[OURS].eval())}, batch, options, report)
    return report


def pair(size: Size, options: Options) -> dict[str, torch.nn.Module]:
    """Ours and the peer's, with room for prompt and answer."""
    n_positions = N_PROMPT + options.n_new
    models = {OURS: prepare_for_generation(clearformer_gpt(size, n_positions))}
    if find_spec(PEER):
        sizes = {"n_embd": size.d_model, "n_layer": size.n_layers, "n_head": size.n_heads, "vocab_size": N_VOCAB}
        models[PEER] = gpt2(n_positions=n_positions, activation_function="gelu", **sizes)
    return models


def gpt2_pair() -> dict[str, torch.nn.Module]:
    """GPT-2's shape with 124 million random weights; the peer, too, gets the tanh form of the GELU as one operation."""
    models = {OURS: prepare_for_generation(GPT(GPTConfig.preset("gpt2")))}
    if find_spec(PEER):
        models[PEER] = gpt2(activation_function="gelu_pytorch_tanh")
    return models


def in_8_bits(model: torch.nn.Module) -> torch.nn.Module:
    """A copy whose linear layers keep their weights as 8-bit integers and scale each input as it comes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*deprecated")  # torch.ao moves to torchao
        return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)


def compare(name: str, models: dict, batch: int, options: Options, report: Report) -> None:
    check_counts({which: count(model.eval()) for which, model in models.items() if which != IN_8_BITS})
    prompt = torch.randint(N_VOCAB, (batch, N_PROMPT), generator=torch.Generator().manual_seed(0))
    writers = {OURS: generate, PEER: peer_generate, IN_8_BITS: generate}
    calls: dict[str, Callable] = {
        which: length_checked_call(writers[which], model, prompt, options.n_new) for which, model in models.items()
    }
    bounds = weights_read(models[OURS], options.n_new) if batch == 1 else {}
    times = interleave(calls | bounds, options.rounds, least=options.least)
    work = f"generation, {name}, batch {batch}"
    report.seconds[work] = times.seconds
    if PEER in models:
        report.rows.append(Row(work, f"faster than {PEER}", times.ratio(PEER, OURS), FASTER.get((name, batch))))
    if IN_8_BITS in models:
        report.rows.append(Row(work, "faster with weights in 8 bits", times.ratio(OURS, IN_8_BITS)))
    if bounds:
        share, of_sum = (times.best_ratio(bound, OURS) for bound in bounds)
        report.rows.append(Row(work, "of the products with the weights (bests)", share, SHARE_OF_BOUND.get(name)))
        report.rows.append(Row(work, "of one sum over the weights (bests)", of_sum))


def peer_generate(model, prompt: Tensor, n_new: int) -> Tensor:
    options = {"do_sample": False, "use_cache": True, "max_new_tokens": n_new, "pad_token_id": 0}
    return model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)


def length_checked_call(writer: Callable, model, prompt: Tensor, n_new: int) -> Callable[[], None]:
    """Raises: ValueError when the answer has another length than asked for."""

    def call() -> None:
        shape, expected = tuple(writer(model, prompt, n_new).shape), (len(prompt), N_PROMPT + n_new)
        if shape != expected:
            raise ValueError(f"benchmarks: {writer.__name__} gave ids of shape {shape}, expected {expected}.")

    return call
