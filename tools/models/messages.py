"""The translator of chapter 11's closer look at sentences that people wrote, with the page's own code.

The cells of the page that carry the tag ``in-measurement`` are run as they stand: model, loop and writing.
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
N_MERGES, N_STEPS, EVERY = 1000, 14_000, 3500
HEADER = ("step", "pairs_read", "training_loss", "held_out_bleu", "held_out_chrf", "processor_seconds")


def train_messages(
    target: Path,
    checkpoints: Path,
    n_merges: int = N_MERGES,
    n_steps: int = N_STEPS,
    every: int = EVERY,
    pairs: tuple[Pairs, Pairs] | None = None,
) -> None:
    """Train from one start, and write the weights in half precision, the merges, the log and what made them."""
    torch.set_num_threads(1)
    code, (learned, held_out) = page_code((PAGE,)), message_pairs() if pairs is None else pairs
    pieces = BytePairTokenizer("\n".join(text for pair in learned for text in pair), n_merges)
    torch.manual_seed(0)
    model, rows, losses, spent = code["translator"](pieces), [], [], 0.0
    start = time.process_time()
    for step, loss in code["fit"](model, pieces, learned, n_steps):
        losses.append(loss)
        if step % every == 0:
            spent += time.process_time() - start
            scores = score(code, model, pieces, held_out)
            rows.append((step, step * code["N_ROWS"], sum(losses) / len(losses), *scores, round(spent, 1)))
            print("step {}: loss {:.2f}, BLEU {:.1f}, chrF {:.1f}".format(step, *rows[-1][2:5]), flush=True)
            losses, start = [], time.process_time()
    target.mkdir(parents=True, exist_ok=True)
    halves = {name: weight.half().contiguous() for name, weight in model.state_dict().items()}
    save_file(halves, target / "model.safetensors")
    merges = json.dumps(list(pieces.ranks))
    (target / "config.json").write_text(f'{{"merges": {merges}}}\n', encoding="utf-8")
    with (target / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *(shortened(row) for row in rows)])
    facts = {"processor": processor(), "threads": 1, "seed": 0, "python": platform.python_version()}
    write(target / "training.json", facts | {"torch": torch.__version__.split("+")[0]})


def score(code: dict, model: torch.nn.Module, pieces: BytePairTokenizer, pairs: Pairs) -> tuple[float, float]:
    """BLEU and chrF of what the model writes, both in per cent."""
    sources, wanted = zip(*pairs, strict=True)
    texts = code["write"](model, pieces, sources)
    return 100 * bleu(texts, wanted), 100 * chrf(texts, wanted)


def shortened(row: tuple) -> list[str]:
    return [f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value) for value in row]
