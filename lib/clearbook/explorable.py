"""Pictures that a reader can move: a cell computes the data, a script of the site draws them and follows the reader."""

import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DECIMALS = 12  # what the last bits of a product say differs between processors, and the page should not
NOTE = "This is the still form. On the site of the book, in a browser of 2023 or later, it can be moved."
DATA = {  # what each of them is drawn from
    "attention-walk": ("words", "features", "queries", "keys", "values", "target"),
    "byte-pairs": ("names", "texts"),
    "causal-mask": ("scores", "values"),
    "cost-calculator": ("models", "machine"),
    "draft-overlap": ("p", "draft", "goal"),
    "expert-routing": ("scores", "step"),
    "forced-target": ("names", "examples"),
    "kv-cache": ("queries", "keys", "values"),
    "lamp-folds": ("names", "inputs", "lamps", "wanted", "units"),
    "latent-cache": ("width", "heads", "ranks", "bits", "full"),
    "online-softmax": ("names", "scores", "values"),
    "patch-attention": ("ink", "heads", "queries", "keys", "goal"),
    "rotary-clock": ("widths", "width", "log_base", "query", "key"),
    "serving-timeline": (
        *("flops", "bytes", "network", "weights", "size", "layers", "width", "kept", "length"),
        *("first", "gap"),
    ),
    "soft-lookup": ("names", "pairs", "keys", "values", "words", "log_temperature"),
    "state-dict": ("heads", "width"),
    "stream-depth": ("parts", "token", "gradient"),
    "text-chunks": ("tokens", "width"),
    "training-road": ("steps", "counts", "cards", "homes", "why"),
    "view-transpose": ("tokens", "heads", "width"),
}


@dataclass(frozen=True)
class Explorable:
    """One of them, ready to be shown by a notebook."""

    tag: str
    data: str
    fallback: str
    label: str

    def __repr__(self) -> str:
        return f"{self.label} (an explorable, to be moved on the site of the book)"

    def _repr_html_(self) -> str:
        return (
            f'<{self.tag} class="explorable" role="group" aria-label="{html.escape(self.label)}">'
            f'<script type="application/json">{self.data}</script>'
            f'<div class="still">{self.fallback}<p class="note">{NOTE}</p></div></{self.tag}>'
        )


def explorable(tag: str, data: Mapping[str, object], *, fallback: str, label: str) -> Explorable:
    """An explorable of the kind ``tag`` with its ``data``.

    ``fallback`` is HTML, a table or a drawing, which stands where no script runs: on paper, in JupyterLab, in an old
    browser. ``label`` is what a screen reader calls the whole.

    Raises: ValueError for an unknown tag, data that are missing, unknown or not finite, no fallback or no label;
    TypeError for data that JSON cannot hold.
    """
    if tag not in DATA:
        raise ValueError(f"explorable: there is no {tag!r}. Choose one of {', '.join(DATA)}.")
    missing, unknown = [name for name in DATA[tag] if name not in data], sorted(set(data) - set(DATA[tag]))
    if missing or unknown:
        raise ValueError(
            f"explorable: {tag!r} is drawn from {', '.join(DATA[tag])}; missing: {', '.join(missing) or 'none'}, "
            f"unknown: {', '.join(unknown) or 'none'}."
        )
    if not fallback.strip() or not label.strip():
        raise ValueError(
            f"explorable: {tag!r} needs a fallback, shown where no script runs, and a label, read to who cannot see "
            f"it; got fallback={fallback!r} and label={label!r}."
        )
    # A blank line would end the block of HTML, and </script> the data.
    text = json.dumps({name: _to_json_value(f"{tag}: {name}", value) for name, value in data.items()}).replace(
        "</", "<\\/"
    )
    return Explorable(tag, text, re.sub(r"\n\s*\n", "\n", fallback.strip()), label)


def still_table(columns: Sequence[str], rows: Mapping[str, Iterable[object]]) -> str:
    """A table as a fallback: its head, and what each row is called and holds; numbers to three decimals.

    Raises: ValueError for a row that has not one entry for each column.
    """
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
    lines = [f"<td></td>{head}"]
    for name, entries in ((name, list(row)) for name, row in rows.items()):
        if len(entries) != len(columns):
            raise ValueError(f"still_table: row {name!r} has {len(entries)} entries, expected {len(columns)}.")
        cells = "".join(f"<td>{html.escape(_format_entry(entry))}</td>" for entry in entries)
        lines.append(f'<th scope="row">{html.escape(name)}</th>{cells}')
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _format_entry(entry) -> str:
    if isinstance(entry, float | np.floating):
        return f"{round(float(entry), 3) + 0.0:g}".replace("-", "−")
    return str(entry)


def _to_json_value(name, value):
    """Arrays and tensors as lists, numbers rounded. Raises: as ``explorable``, with the name of what it was."""
    if isinstance(value, Mapping):
        return {key: _to_json_value(f"{name}[{key!r}]", entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_to_json_value(f"{name}[{i}]", entry) for i, entry in enumerate(value)]
    if isinstance(value, str | bool | int):
        return value
    if not isinstance(value, float):
        raise TypeError(f"explorable: {name} is a {type(value).__name__}, expected numbers, words, or lists of them.")
    if not math.isfinite(value):
        raise ValueError(f"explorable: {name} is {value}, expected a finite number.")
    return round(value, DECIMALS) + 0.0
