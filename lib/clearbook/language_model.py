"""A small language model in a folder: its sizes, its tokenizer and its weights in half precision, without pickle."""

import json
from pathlib import Path

import torch
from clearformer.attention import SOFTMAX
from clearformer.checks import check_path
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import Rotary
from clearformer.tokenizers import N_BYTES, WORD, BytePairTokenizer, CharTokenizer
from clearformer.weight_files import damaged, find_misfits, read_object, read_tensors, require_file, written_whole
from safetensors.torch import save_file

CONFIG, WEIGHTS = "config.json", "model.safetensors"
SIZES = ("n_vocab", "n_positions", "d_model", "n_heads", "n_layers")
ROTARY, TIED = "rotary", "tied"  # told only where they are false: positions in a table, a head with its own weights
MEND = "Take intact files, or delete the folder and run make models."
Tokenizer = CharTokenizer | BytePairTokenizer


def save_language_model(model: GPT, tokenizer: Tokenizer, folder: str | Path) -> None:
    """Write ``config.json`` and ``model.safetensors`` for a GPT with rotary or learned positions, its head tied or not.

    It has one id more than its tokenizer: the last is the end token, as in ``marked_stream``. The live transformer of
    the website reads these two files.

    Raises: ValueError for a GPT with other parts than its sizes and these positions, or a tokenizer with special
    tokens, a pattern or an order of ids of its own, which the files could not tell; OSError if the disk takes no more.
    """
    folder = check_path("save_language_model", "folder", folder, "a folder for the model")
    sizes = {name: getattr(model.config, name) for name in SIZES}
    for name, part in model.named_modules():
        if isinstance(part, MultiHeadAttention) and (part.attend not in SOFTMAX or part.relative is not None):
            raise ValueError(
                f"save_language_model: {name} has attend={getattr(part.attend, '__name__', part.attend)} and "
                f"relative={part.relative}, which the files could not tell, expected a softmax, such as attend_fused, "
                "and None. Save such a model with safetensors.torch.save_model."
            )
    rope, tied = model.config.rope, model.config.tied
    expected = GPTConfig(**sizes, rope=rope, tied=tied).filled()
    if rope not in (Rotary, None) or model.config != expected or model.config.n_vocab != tokenizer.n_vocab + 1:
        raise ValueError(
            f"save_language_model: {model.config} with {tokenizer.n_vocab} ids of the tokenizer, expected rope=Rotary "
            "or None, n_vocab one larger, and defaults for all else but tied. Save other models with "
            "pretrained.save_pretrained."
        )
    told = {name: False for name, is_so in ((ROTARY, rope is not None), (TIED, tied)) if not is_so}
    config = sizes | told | {"tokenizer": _tokenizer_settings(tokenizer)}
    parameters = {name: p.detach().half().cpu().contiguous() for name, p in model.named_parameters()}
    with written_whole("save_language_model", folder, WEIGHTS, CONFIG) as (weights, text):
        save_file(parameters, weights)  # a tied weight has one name among the parameters
        text.write_text(json.dumps(config, ensure_ascii=False) + "\n", encoding="utf-8")


def load_language_model(folder: str | Path) -> tuple[GPT, Tokenizer]:
    """The model, in float32 and evaluation mode, and the tokenizer that ``save_language_model`` wrote.

    Raises: FileNotFoundError for a file that is missing; ValueError for one that is damaged or does not fit.
    """
    folder = check_path("load_language_model", "folder", folder, "a folder with a model")
    for name in (CONFIG, WEIGHTS):
        require_file("load_language_model", folder / name, "Run make models, or look there.")
    config = read_object("load_language_model", folder / CONFIG, MEND)
    try:
        tokenizer = _read(config.pop("tokenizer"))
        rope = Rotary if config.pop(ROTARY, True) else None
        model = GPT(GPTConfig(**config, rope=rope))
    except (KeyError, IndexError, TypeError) as error:
        raise damaged("load_language_model", folder / CONFIG, error, MEND) from error
    weights, _ = read_tensors("load_language_model", folder / WEIGHTS, MEND)
    own = dict(model.named_parameters())
    wrong = find_misfits(weights, own.items(), any_float=True)
    if wrong:
        raise ValueError(
            f"load_language_model: weights and {CONFIG} in {folder} do not belong together: {'; '.join(wrong)}. {MEND}"
        )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])
    return model.eval(), tokenizer


def _tokenizer_settings(tokenizer: Tokenizer) -> dict:
    if isinstance(tokenizer, CharTokenizer):
        return {"characters": "".join(tokenizer.characters)}
    pieces = tokenizer.pieces
    in_order = [bytes([byte]) for byte in range(N_BYTES)] + [pieces[a] + pieces[b] for a, b in tokenizer.ranks]
    if tokenizer.special or tokenizer.pattern != WORD or pieces != in_order:
        raise ValueError(
            f"save_language_model: a BytePairTokenizer with special={[*tokenizer.special]}, pattern "
            f"{tokenizer.pattern.pattern!r} and pieces {pieces[:3]}..., expected one without special tokens or a "
            "pattern of its own, whose ids are the bytes and then the merges. Learn one from a text."
        )
    return {"merges": [*tokenizer.ranks]}


def _read(written: dict) -> Tokenizer:
    if "merges" in written:
        tokenizer = BytePairTokenizer("", 0)
        tokenizer.add_merges((first, second) for first, second in written["merges"])
        return tokenizer
    return CharTokenizer(written["characters"])
