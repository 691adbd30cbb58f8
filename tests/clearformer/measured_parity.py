"""How far our logits are from those of another library, measured for the page *Which checkpoints load*.

    python -m tests.clearformer.measured_parity

writes ``measured_parity.json`` beside this file, with the versions it was measured with.
"""

import json
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from clearformer.pretrained import from_pretrained

from tests.clearformer import decoders, families

STORED = Path(__file__).with_suffix(".json")
DTYPES = {"float32": torch.float32, "float64": torch.float64}
OTHERS = {"gpt2": "tied", "bert": "with padding and kinds of sentence", "vit": "12 × 12 pixels"}
OTHERS |= {"roberta": "with padding and kinds of sentence", "xlm-roberta": "with padding", "camembert": "with padding"}
OTHERS |= {"distilbert": "with padding", "modernbert": "with padding, windows to both sides"}
OTHERS |= {"dinov2": "12 × 12 pixels", "dinov2_with_registers": "12 × 12 pixels, three registers"}
OTHERS |= dict.fromkeys(("clip_vision_model", "siglip_vision_model"), "12 × 12 pixels")
OTHERS |= {"vit_mae": "12 × 12 pixels, most of them hidden", "marian": "with padding"}
OTHERS |= dict.fromkeys(("bart", "mbart", "t5", "mt5", "umt5"), "with padding")


def rows() -> Iterator[dict[str, Any]]:
    """A row for each family and size: what was tried, and the largest difference as a part of the largest logit."""
    for case in decoders.CASES:
        yield {"kind": case.kind, "tried": case.tried} | {n: of_a_decoder(case, dtype) for n, dtype in DTYPES.items()}
    for kind, tried in OTHERS.items():
        yield {"kind": kind, "tried": tried} | {name: of_another(kind, dtype) for name, dtype in DTYPES.items()}


@torch.no_grad()
def of_a_decoder(case: decoders.Case, dtype: torch.dtype) -> float:
    theirs = decoders.theirs_of(case, dtype)
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        ours = from_pretrained(folder)
    ids = decoders.prompts()
    with decoders.as_it_is(dtype):
        expected = theirs(ids).logits
    return decoders.difference(ours(ids), expected)


def of_another(kind: str, dtype: torch.dtype) -> float:
    with tempfile.TemporaryDirectory() as folder:
        theirs = families.save_theirs(kind, folder, dtype)
        ours = from_pretrained(folder)
    return decoders.difference(*families.outputs_of_both(kind, ours, theirs, dtype))


def main() -> None:
    libraries = {name: version(name).partition("+")[0] for name in ("torch", "transformers")}
    STORED.write_text(json.dumps({"libraries": libraries, "rows": list(rows())}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
