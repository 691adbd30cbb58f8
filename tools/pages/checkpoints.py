"""Write chapters/checkpoints.md: which families of checkpoints load, and how far their logits are from the original's.

The families stand in lib/clearformer/pretrained, the numbers in tests/clearformer/measured_parity.json.
"""

import json
from collections.abc import Iterator
from typing import Any

from clearformer.pretrained.folders import ARCHITECTURES
from clearformer.pretrained.relatives import RELATIVES

from tools import ROOT
from tools.pages import reading

PAGE = reading.CHAPTERS / "checkpoints.md"
MEASURED = ROOT / "tests" / "clearformer" / "measured_parity.json"
INTRO = """\
# Which checkpoints load

<!-- Written by `make pages` from tests/clearformer/measured_parity.json; edit neither. -->

`from_pretrained` reads a folder with a `config.json` and its weights, and fetches one from the Hugging Face hub. The `config.json` says under `model_type` to which family the model belongs. This page lists the families that load.

```python
from clearformer import from_pretrained, save_pretrained

model = from_pretrained("path/to/a/folder")
save_pretrained(model, "path/to/another")
```
"""  # noqa: E501
TRIED = """\
## How they were tried

For each row a small model with random weights was built in `transformers` {transformers}, saved, and loaded here, with PyTorch {torch}. Then both read the same batch. The difference is the largest between two logits, divided by the largest logit. In float64 the original computes its norms and angles in float64 as well.

A decoder is also given a padded batch, and the same batch in chunks with a cache; there the logits agree as closely. Greedily it writes the same tokens. Saved again, it has the same weights, bit for bit, and `transformers` loads it.

| `model_type` | class in `transformers` | tried with | float32 | float64 |
|---|---|---|---|---|
"""  # noqa: E501
APART = """\
## Where they differ

A translator here never writes padding, and the probabilities of all other words sum to 1. Beams of `transformers` compare sums in which padding keeps its share. With `renormalize_logits=True` they choose the same texts as `beam_search`.

Where YaRN stretches a DeepSeek-V2, its authors also make the scores larger (`mscale_all_dim`), and so does this library. `transformers` {transformers} does it for DeepSeek-V3 alone.

The mask token of a DINOv2, with registers or without, which only pretraining needs, and the poolers of BERT and ViT are not kept. The experts of gpt-oss are published in 4 bits (MXFP4). They are read so, and become bfloat16.
"""  # noqa: E501
LACKING = """\
## What does not load yet

The error names the nearest family that does load, and what is lacking. For `clip` and `siglip` it also gives the line of `transformers` that takes the tower for images out; that tower loads.

| `model_type` | nearest | has besides |
|---|---|---|
"""  # noqa: E501


def page() -> str:
    """The whole page. Raises: ValueError for a family that was not measured."""
    stored = json.loads(MEASURED.read_text(encoding="utf-8"))
    if missing := ARCHITECTURES.keys() - {row["kind"] for row in stored["rows"]}:
        raise ValueError(f"{', '.join(sorted(missing))} not measured: python -m tests.clearformer.measured_parity")
    tried = TRIED.format(**stored["libraries"]) + "\n".join(measured(stored["rows"]))
    apart = APART.format(**stored["libraries"])
    return f"{INTRO}\n{tried}\n\n{apart}\n{LACKING}" + "\n".join(lacking()) + "\n"


def measured(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        name = ARCHITECTURES[row["kind"]].class_name
        apart = " | ".join(f"{row[dtype]:.0e}" if row[dtype] else "0" for dtype in ("float32", "float64"))
        yield f"| `{row['kind']}` | `{name}` | {row['tried']} | {apart} |"


def lacking() -> Iterator[str]:
    for kind, (relative, besides) in sorted(RELATIVES.items()):
        yield f"| `{kind}` | `{relative}` | {besides} |"
