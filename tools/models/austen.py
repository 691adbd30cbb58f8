"""The GPT that the course ships: it has read Jane Austen, in byte pairs, and writes her kind of sentence."""

import lzma
import platform
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import torch
from clearbook.data.austen import austen_split, in_chapters
from clearbook.data.text_file import count_characters, marked_stream
from clearbook.language_model import load_language_model, save_language_model
from clearbook.ngrams import Ngrams
from clearformer.generation import generate
from clearformer.models.gpt import GPT, GPTConfig, surprisal
from clearformer.positions import Rotary
from clearformer.tokenizers import BytePairTokenizer, CharTokenizer
from clearformer.training import TrainConfig

from tools.models.loop import drop_out, train_on, write, write_log

N_MERGES = 1792  # with 256 bytes and the end token 2,049 ids
SIZES = {"n_positions": 256, "d_model": 256, "n_heads": 4, "n_layers": 4}
TRAINING = TrainConfig(
    n_steps=2600,
    batch_size=16,
    learning_rate=3e-3,
    warmup_steps=100,
    min_lr_ratio=0.02,
    eval_every=200,
    save_every=100,
    seed=0,
)
DROPOUT = 0.1  # each novel is read many times: without it the model learns them by heart
SAMPLES, SAMPLE_TOKENS, TEMPERATURE, TOP_P = 20, 160, 0.8, 0.95


def train_austen(
    target: Path,
    checkpoints: Path,
    config: TrainConfig = TRAINING,
    sizes: dict = SIZES,
    n_merges: int = N_MERGES,
    texts: tuple[list[str], list[str]] | None = None,
) -> None:
    """Train, and write weights in half precision, sizes, log, samples and result to ``target``."""
    learned_texts, held_out_texts = map(in_chapters, texts or austen_split())
    tokenizer = BytePairTokenizer("".join(learned_texts), n_merges)
    learned, held_out = (marked_stream(part, tokenizer) for part in (learned_texts, held_out_texts))
    n_characters = count_characters(held_out_texts)
    torch.manual_seed(config.seed)
    model = GPT(GPTConfig(n_vocab=tokenizer.n_vocab + 1, rope=Rotary, **sizes))
    drop_out(model, DROPOUT)
    history, seconds = train_on(model, learned, partial(bits, held_out, n_characters), config, checkpoints)
    save_language_model(model, tokenizer, target)
    saved, read_back = load_language_model(target)
    facts = {
        "bits_per_character": round(bits(held_out, n_characters, saved, stride=sizes["n_positions"] // 4), 4),
        "baselines": baselines("".join(learned_texts), "".join(held_out_texts)),
        "characters": {"learned": count_characters(learned_texts), "held_out": n_characters},
        "tokens": {"learned": len(learned) - 1, "held_out": len(held_out) - 1},
        "parameters": sum(p.numel() for p in saved.parameters()),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
        "dropout": DROPOUT,
        "training": asdict(config),
    }
    write(target / "training.json", facts)
    read = config.batch_size * sizes["n_positions"] * count_characters(learned_texts) / (len(learned) - 1)
    write_log(target / "log.csv", history, seconds, round(read), (len(learned) - 1) / count_characters(learned_texts))
    written = (f"--- seed {seed}\n{sample(saved, read_back, seed)}" for seed in range(SAMPLES))
    (target / "samples.txt").write_text("\n".join(written), encoding="utf-8")


def bits(ids: torch.Tensor, n_characters: int, model: GPT, stride: int | None = None) -> float:
    """Bits per character; without a stride by windows that do not overlap, which is quick and a little worse."""
    length = model.config.n_positions
    return surprisal(model, ids, stride=stride or length).sum().item() / n_characters


def baselines(learned: str, held_out: str) -> dict[str, float]:
    """Bits per character of the held-out text, by tables of characters and by a compressor that has read the rest."""
    tokenizer = CharTokenizer(learned + held_out)
    ids, test = (np.array(tokenizer.encode(text)) for text in (learned, held_out))
    found = {
        name: Ngrams(ids, n, tokenizer.n_vocab).surprisal(test).sum() / len(test)
        for name, n in (("unigram", 1), ("bigram", 2), ("5-gram", 5))
    }
    alone, both = (compressed_bytes(text) for text in (learned, learned + held_out))
    found["xz"] = 8 * (both - alone) / len(held_out)
    return {name: round(float(value), 4) for name, value in found.items()}


def compressed_bytes(text: str) -> int:
    return len(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def sample(model: GPT, tokenizer: CharTokenizer | BytePairTokenizer, seed: int) -> str:
    """What the model writes from the start token; of the seeds from 0 on none is left out."""
    end = tokenizer.n_vocab
    ids = generate(
        model,
        torch.tensor([[end]]),
        min(SAMPLE_TOKENS, model.config.n_positions - 1),
        temperature=TEMPERATURE,
        top_p=TOP_P,
        stop=end,
        generator=torch.Generator().manual_seed(seed),
    )
    return tokenizer.decode([i for i in ids[0].tolist() if i != end]).strip() + "\n"
