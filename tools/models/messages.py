"""The two translators of chapter 11's closer look at sentences that people wrote, with the page's own code.

The cells of the page that carry the tag ``in-measurement`` are run as they stand: model, hints, loop and writing.
"""

import csv
import json
import platform
import time
from pathlib import Path

import torch
from clearbook.data.builtin import Pairs
from clearbook.data.messages import message_pairs
from clearbook.overlap import bleu, chrf
from clearformer.tokenizers import BytePairTokenizer
from safetensors.torch import save_file

from tools import ROOT
from tools.models.digits import page_code, processor
from tools.models.loop import write

PAGE = ROOT / "chapters" / "closer" / "11-human-sentences.ipynb"
N_MERGES, N_STEPS, EVERY = 1000, 24_000, 3000
HEADER = ("sees", "step", "training_loss", "held_out_bleu", "held_out_chrf", "processor_seconds")
FILES = {"hints": "model", "source": "alone"}  # what each sees, and the file of its weights


def train_messages(
    target: Path,
    checkpoints: Path,
    n_merges: int = N_MERGES,
    n_steps: int = N_STEPS,
    every: int = EVERY,
    pairs: tuple[Pairs, Pairs] | None = None,
) -> None:
    """Train both from one start, and write their weights in half precision, the merges, the log and what made them."""
    torch.set_num_threads(1)
    code, (learned, held_out) = page_code((PAGE,)), message_pairs() if pairs is None else pairs
    pieces = BytePairTokenizer("\n".join(text for pair in learned for text in pair), n_merges)
    target.mkdir(parents=True, exist_ok=True)
    (target / "config.json").write_text(f'{{"merges": {json.dumps(list(pieces.ranks))}}}\n', encoding="utf-8")
    rows = []
    for sees, name in FILES.items():
        seen = to_learn(code, sees, learned), to_translate(code, sees, learned, held_out)
        model, log = train_one(code, pieces, seen, n_steps, every)
        rows += [(sees, *row) for row in log]
        halves = {part: weight.half().contiguous() for part, weight in model.state_dict().items()}
        save_file(halves, target / f"{name}.safetensors")
    with (target / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *(shortened(row) for row in rows)])
    facts = {"processor": processor(), "threads": 1, "seed": 0, "python": platform.python_version()}
    write(target / "training.json", facts | {"torch": torch.__version__.split("+")[0]})


def to_learn(code: dict, sees: str, learned: Pairs) -> list:
    """What a translator sees of each learned pair, with what it has to write."""
    texts = [source for source, _ in learned]
    seen = code["hints_to_learn"](learned) if sees == "hints" else [(text,) for text in texts]
    return [(texts, german) for texts, (_, german) in zip(seen, learned, strict=True)]


def to_translate(code: dict, sees: str, learned: Pairs, held_out: Pairs) -> list:
    """What it sees of each held-out pair, with what is wanted."""
    texts = [source for source, _ in held_out]
    seen = code["hints"](texts, learned) if sees == "hints" else [(text,) for text in texts]
    return [(texts, german) for texts, (_, german) in zip(seen, held_out, strict=True)]


def train_one(
    code: dict, pieces: BytePairTokenizer, seen: tuple[list, list], n_steps: int, every: int, seed: int = 0
) -> tuple[torch.nn.Module, list[tuple]]:
    """A trained translator, and a row of the log every so many steps."""
    learned, held_out = seen
    torch.manual_seed(seed)
    model, rows, losses, spent = code["translator"](pieces), [], [], 0.0
    start = time.process_time()
    for step, loss in code["fit"](model, pieces, *zip(*learned, strict=True), n_steps):
        losses.append(loss)
        if step % every == 0:
            spent += time.process_time() - start
            rows.append((step, sum(losses) / len(losses), *score(code, model, pieces, held_out), round(spent, 1)))
            print("step {}: loss {:.2f}, BLEU {:.1f}, chrF {:.1f}".format(*rows[-1]), flush=True)
            losses, start = [], time.process_time()
    return model, rows


def score(code: dict, model: torch.nn.Module, pieces: BytePairTokenizer, held_out: list) -> tuple[float, float]:
    """BLEU and chrF of what the model writes, both in per cent."""
    seen, wanted = zip(*held_out, strict=True)
    texts = code["write"](model, pieces, seen)
    return 100 * bleu(texts, wanted), 100 * chrf(texts, wanted)


def shortened(row: tuple) -> list[str]:
    return [f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value) for value in row]
