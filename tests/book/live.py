"""Small random models in folders, as a reader has them, and pages that hold the live transformer."""

import html
import json
from pathlib import Path

import torch
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary
from clearformer.tokenizers import BytePairTokenizer, CharTokenizer
from safetensors.torch import save_file

from tools.extension.live_transformer import SCRIPT, bring_weights

SIZES = ("n_vocab", "n_positions", "d_model", "n_heads", "n_layers")
HEAD = f"""<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><script defer src="{SCRIPT}"></script></head>"""
STATIC = "A picture of the model at work."


def random_gpt(tokenizer, n_positions: int, d_model: int, n_heads: int, n_layers: int, dtype=torch.float16) -> GPT:
    """With weights large enough that every slip shows, rounded as the file will hold them."""
    sizes = tokenizer.n_vocab + 1, n_positions, d_model, n_heads, n_layers
    model = GPT(GPTConfig(*sizes, rope=Rotary)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if name.endswith("norm.weight") else 0.0, 0.2)
            parameter.copy_(parameter.to(dtype).float())
    return model


def save(folder: Path, model: GPT, tokenizer: CharTokenizer | BytePairTokenizer, dtype=torch.float16) -> Path:
    """The two files of a model: its configuration with its tokenizer, and its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(tokenizer, CharTokenizer):
        told: dict[str, object] = {"characters": "".join(tokenizer.characters)}
    else:
        told = {"merges": [list(pair) for pair in tokenizer.ranks]}
    config = {name: getattr(model.config, name) for name in SIZES} | {"tokenizer": told}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    weights = {name: p.detach().to(dtype).contiguous() for name, p in model.named_parameters()}
    save_file(weights, folder / "model.safetensors")
    return folder


def write_page(site: Path, models: Path, model: str, prompt: str = "", tasks: list | None = None) -> Path:
    """A page with the element and nothing else."""
    site.mkdir(parents=True, exist_ok=True)
    asked = html.escape(json.dumps(tasks or []))
    element = f'<live-transformer model="{model}" prompt="{prompt}" tasks="{asked}"><p>{STATIC}</p></live-transformer>'
    body = f"<body><main><h1>Live</h1>{bring_weights(element, site, '', models)}</main></body></html>"
    (site / "page.html").write_text(HEAD + body, encoding="utf-8")
    return site / "page.html"
