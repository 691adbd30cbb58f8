"""The same GPT built by ours and by the other libraries, as alike as their options allow.

All are norm-first, tied, without dropout and with the exact GELU (which is what ours takes; the tanh form written in
Python operations, which some choose by themselves, would make them slower). What differs cannot be chosen:
x-transformers has no biases in its attention, litgpt has rotary instead of learned positions.
"""

from importlib import metadata
from importlib.util import find_spec

import torch
import torch.nn.functional as F
from clearformer.models.gpt import GPT, GPTConfig
from torch import Tensor, nn

from benchmarks.lean import LeanGPT
from benchmarks.sizes import N_VOCAB, Size

OURS, LEAN = "clearformer", "a lean decoder"
PACKAGES = {"transformers": "transformers", "x-transformers": "x_transformers", "litgpt": "litgpt"}
TOLERANCE = 0.02  # of the parameter count


def build(size: Size, *, n_positions: int | None = None) -> tuple[dict[str, nn.Module], list[str]]:
    """By name models with (batch, tokens) → logits, ours first, and a line for every peer that is not installed.

    Raises: ValueError if a peer's parameter count is more than 2 % off ours.
    """
    n_positions = n_positions or size.n_tokens
    makers = {OURS: clearformer_gpt, LEAN: lean_gpt, "torch.nn": TorchGPT, "transformers": hugging_face}
    makers |= {"x-transformers": x_transformers, "litgpt": lit_gpt}
    missing = [name for name, package in PACKAGES.items() if find_spec(package) is None]
    models = {}
    for name in (name for name in makers if name not in missing):
        torch.manual_seed(0)  # for each, whoever else is there
        models[name] = makers[name](size, n_positions)
    check_counts({name: count(model) for name, model in models.items()})
    return models, [f"{name}: not installed" for name in missing]


def check_counts(counts: dict[str, int]) -> None:
    for name, found in counts.items():
        if abs(found - counts[OURS]) > TOLERANCE * counts[OURS]:
            raise ValueError(
                f"benchmarks: {name} has {found:,} parameters, expected {counts[OURS]:,} as ours, give or take "
                f"{TOLERANCE:.0%}. Change its options in benchmarks/peers.py."
            )


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def versions() -> dict[str, str]:
    """The versions of the installed peers."""
    return {name: metadata.version(name) for name, package in PACKAGES.items() if find_spec(package) is not None}


def clearformer_gpt(size: Size, n_positions: int) -> nn.Module:
    return GPT(GPTConfig(N_VOCAB, n_positions, size.d_model, size.n_heads, size.n_layers))


def lean_gpt(size: Size, n_positions: int) -> nn.Module:
    return LeanGPT(size, n_positions).apply(small_weights)


class TorchGPT(nn.Module):
    """PyTorch's own encoder layers behind a causal mask."""

    def __init__(self, size: Size, n_positions: int):
        super().__init__()
        D = size.d_model
        self.tokens, self.positions = nn.Embedding(N_VOCAB, D), nn.Embedding(n_positions, D)
        layer = nn.TransformerEncoderLayer(
            D, size.n_heads, 4 * D, dropout=0.0, activation=F.gelu, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, size.n_layers, nn.LayerNorm(D), enable_nested_tensor=False)
        self.head = nn.Linear(D, N_VOCAB, bias=False)
        self.apply(small_weights)
        self.head.weight = self.tokens.weight
        self.mask: Tensor
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(n_positions))

    def forward(self, ids: Tensor) -> Tensor:
        N = ids.shape[1]
        x = self.tokens(ids) + self.positions.weight[:N]
        return self.head(self.blocks(x, mask=self.mask[:N, :N], is_causal=True))


class HuggingFaceLogits(nn.Module):
    """A model of ``transformers`` that returns its logits alone."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        return self.model(ids, use_cache=False).logits


def hugging_face(size: Size, n_positions: int) -> nn.Module:
    sizes = {"n_embd": size.d_model, "n_layer": size.n_layers, "n_head": size.n_heads, "vocab_size": N_VOCAB}
    return HuggingFaceLogits(gpt2(n_positions=n_positions, activation_function="gelu", **sizes))


def gpt2(**sizes) -> nn.Module:
    """GPT-2 of ``transformers`` with fused attention, no dropout, and no token that ends a text."""
    from transformers import GPT2Config, GPT2LMHeadModel

    dropout = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    config = GPT2Config(**sizes, **dropout, bos_token_id=None, eos_token_id=None, attn_implementation="sdpa")
    return GPT2LMHeadModel(config)


def x_transformers(size: Size, n_positions: int) -> nn.Module:
    from x_transformers import Decoder, TransformerWrapper

    sizes = {"dim": size.d_model, "depth": size.n_layers, "heads": size.n_heads}
    layers = Decoder(**sizes, attn_dim_head=size.d_model // size.n_heads, attn_flash=True)
    model = TransformerWrapper(num_tokens=N_VOCAB, max_seq_len=n_positions, attn_layers=layers, tie_embedding=True)
    return model.apply(small_weights)


def lit_gpt(size: Size, n_positions: int) -> nn.Module:
    from litgpt import GPT as LitGPT
    from litgpt import Config

    sizes = {"n_embd": size.d_model, "n_layer": size.n_layers, "n_head": size.n_heads, "block_size": n_positions}
    parts = {"norm_class_name": "LayerNorm", "mlp_class_name": "GptNeoxMLP", "parallel_residual": False}
    model = LitGPT(Config(**sizes, **parts, padded_vocab_size=N_VOCAB, bias=True, gelu_approximate="none"))
    model.apply(small_weights)
    model.lm_head.weight = model.transformer.wte.weight
    return model


def small_weights(module: nn.Module) -> None:
    """GPT-2's initial weights, so that all losses begin alike."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
