"""A file of weights as a ribbon of bytes: a length, a header that tells where everything lies, and the numbers."""

import json
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from clearbook.figures.plots import COLOURS, axes_or_new

SHOWN = 3  # tensors, the first ones of the file
LETTERS = "ABC"  # of an entry and of its bytes
LENGTH_BYTES = 8
WIDTH = 30


def file_bytes(path: str | Path, ax: Axes | None = None) -> Axes:
    """The three parts of a safetensors file, and the entries of its first tensors with their bytes.

    Source: the description of the format in the documentation of safetensors.
    """
    content = Path(path).read_bytes()
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    header = json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])
    header.pop("__metadata__", None)
    entries = sorted(header.items(), key=lambda item: item[1]["data_offsets"])[:SHOWN]
    ax = axes_or_new(ax, (6.2, 4.0))
    ax.set(xlim=(-0.3, WIDTH + 0.3), ylim=(-2.6, 15.2))
    ax.axis("off")

    first = " ".join(f"{byte:02x}" for byte in content[:LENGTH_BYTES])
    ax.add_patch(Rectangle((0, 12.1), 17, 1.5, fc="white", ec=COLOURS[0], lw=1.6))
    ax.text(0.4, 12.85, f"{first}   = {length:,}", fontsize=9, va="center", family="monospace")
    ax.text(0, 13.75, "8 bytes: how long the header is", fontsize=10, va="bottom")
    ax.add_patch(Rectangle((0, 3.9), WIDTH, 6.9, fc="white", ec=COLOURS[1], lw=1.6, ls="--"))
    ax.text(0, 11.0, f"{length:,} bytes: the header, in JSON", fontsize=10, va="bottom")
    body = len(content) - LENGTH_BYTES - length
    ax.text(0, -1.4, f"{body:,} bytes: the numbers of one tensor after the other", fontsize=10, va="top")
    left, width = 0.0, WIDTH / (SHOWN + 0.6)
    for row, (name, entry) in enumerate(entries):
        begin, end = entry["data_offsets"]
        y = 9.6 - 1.6 * row
        short = name.replace("decoder.blocks.", "…blocks.")
        text = f'{LETTERS[row]} "{short}": {entry["dtype"]} {entry["shape"]} {begin:,} to {end:,}'
        ax.text(0.4, y, text, fontsize=9, va="center", family="monospace")
        ax.add_patch(Rectangle((left, 0), width - 0.2, 1.8, fc="#eef2f8", ec=COLOURS[2], lw=1.6))
        ax.text(
            left + width / 2, 0.9, f"{LETTERS[row]}  {begin:,} … {end - 1:,}", fontsize=8.5, ha="center", va="center"
        )
        left += width
    ax.text(0.4, 9.6 - 1.6 * SHOWN, "…", fontsize=12, va="center")
    ax.text(left + 0.3, 0.9, "…", fontsize=14, va="center")
    return ax
