"""A small language model in a folder: its sizes, its characters and its weights in half precision, without pickle."""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary
from clearformer.tokenizers import CharTokenizer

CONFIG, WEIGHTS = "config.json", "model.safetensors"
SIZES = ("n_vocab", "n_positions", "d_model", "n_heads", "n_layers")


def save_language_model(model: GPT, tokenizer: CharTokenizer, folder: str | Path) -> None:
    """Write ``config.json`` and ``model.safetensors`` for a GPT with rotary positions and one id more than characters.

    Raises: ValueError for a GPT with other parts than its sizes and rotary positions, which the file could not tell.
    """
    sizes = {name: getattr(model.config, name) for name in SIZES}
    if model.config != GPTConfig(**sizes, rope=Rotary) or model.config.n_vocab != tokenizer.n_vocab + 1:
        raise ValueError(
            f"save_language_model: {model.config} with {tokenizer.n_vocab} characters, expected rope=Rotary, defaults "
            "for all that is no size, and n_vocab one larger. Save other models with pretrained.save_pretrained."
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    config = sizes | {"characters": "".join(tokenizer.characters)}
    (folder / CONFIG).write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    parameters = {name: p.detach().half().cpu().contiguous() for name, p in model.named_parameters()}
    save_file(parameters, folder / WEIGHTS)  # a tied weight has one name among the parameters


def load_language_model(folder: str | Path) -> tuple[GPT, CharTokenizer]:
    """The model, in float32 and evaluation mode, and the tokenizer that ``save_language_model`` wrote.

    Raises: FileNotFoundError for a file that is missing; ValueError for one that is damaged or does not fit.
    """
    folder = Path(folder)
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"load_language_model: there is no {name} in {folder}. Run make models, or look there."
            )
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        tokenizer = CharTokenizer(config.pop("characters"))
        model, weights = GPT(GPTConfig(**config, rope=Rotary)), load_file(folder / WEIGHTS)
    except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"load_language_model: the files in {folder} are damaged ({error}). Take intact ones, or delete the folder "
            "and run make models."
        ) from error
    own = dict(model.named_parameters())
    misfits = [name for name in own.keys() | weights.keys() if _shape(own, name) != _shape(weights, name)]
    if misfits:
        told = "; ".join(f"{n} is {_shape(weights, n)}, expected {_shape(own, n)}" for n in sorted(misfits))
        raise ValueError(f"load_language_model: weights and {CONFIG} in {folder} do not belong together: {told}.")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])
    return model.eval(), tokenizer


def _shape(tensors: dict, name: str) -> tuple[int, ...] | str:
    return tuple(tensors[name].shape) if name in tensors else "missing"
