"""The transformer of chapter 8 as a map for the website: each box leads to the chapter that builds it."""

import math
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 492, 730
LEGIBLE = math.ceil(WIDTH * 10.5 / 12.5)  # on a phone it shrinks to this and scrolls: small letters have 10.5 pixels
BOX_WIDTH, BOX_HEIGHT, NORM_HEIGHT = 168, 44, 26
RADIUS, GAP = 9, 10  # of a sum, and below it
LEFT, RIGHT = 100, 362  # the middles of encoder and decoder
BETWEEN = 230  # where the encoder's output goes up between the stacks
MARGIN = 14  # of a stack around its boxes
CORNER = 6
TITLE = "The whole transformer: an encoder reads a text, a decoder writes one. Each box leads to its chapter."
STYLE = """
figure.map { margin: 1rem 0; overflow-x: auto; }
.transformer-map { max-width: max(100%, var(--legible)); height: auto; color: inherit; font-family: inherit; }
.transformer-map rect { fill: var(--pst-color-surface, #f3f5f9); stroke: currentColor; stroke-width: 1.4; }
.transformer-map rect.stack { fill: none; stroke-dasharray: 3 4; stroke-width: 1; }
.transformer-map .attention rect { stroke-width: 3; stroke: var(--cf-accent, #0b5fa5); }
.transformer-map .masked rect { stroke-dasharray: 9 4; stroke: var(--cf-warm, #b3471a); }
.transformer-map .cross rect { stroke-dasharray: 1 5; stroke-linecap: round; stroke: var(--cf-right, #1f6b50); }
.transformer-map .norm rect { fill: var(--pst-color-background, #fff); stroke-width: 1; }
.transformer-map circle { fill: var(--pst-color-background, #fff); stroke: currentColor; stroke-width: 1.4; }
.transformer-map path { fill: none; stroke: currentColor; stroke-width: 1.4; }
.transformer-map marker path { fill: currentColor; stroke: none; }
.transformer-map text { fill: currentColor; font-size: 14px; text-anchor: middle; }
.transformer-map text.small { font-size: 12.5px; }
.transformer-map a text { fill: var(--pst-color-link, #0b5fa5); }
.transformer-map a:hover rect, .transformer-map a:focus-visible rect {
  stroke: var(--pst-color-link, #0b5fa5); stroke-width: 3; }
.transformer-map a:focus-visible { outline: 3px solid var(--pst-color-link, #0b5fa5); outline-offset: 2px; }
"""


@dataclass(frozen=True)
class Box:
    """A part of the model at a height of the map, and the section of a chapter that builds it."""

    y: int
    text: str
    chapter: str
    kind: str = ""
    taught: str = ""

    @property
    def place(self) -> str:
        return self.taught or f"chapter {int(self.chapter[:2])}"

    @property
    def half_height(self) -> int:
        return (NORM_HEIGHT if self.kind == "norm" else BOX_HEIGHT) // 2


ENCODER = (
    Box(630, "tokens → columns", "01-tokens"),
    Box(566, "+ positions", "06-position"),
    Box(501, "norm", "07-residual-norm", "norm"),
    Box(456, "self-attention", "03-self-attention", "attention", "chapters 3 and 4"),
    Box(377, "norm", "07-residual-norm", "norm"),
    Box(332, "feed-forward", "05-feed-forward"),
    Box(237, "final norm", "07-residual-norm", "norm"),
)
DECODER = (
    Box(630, "tokens → columns", "01-tokens"),
    Box(566, "+ positions", "06-position"),
    Box(501, "norm", "07-residual-norm", "norm"),
    Box(456, "masked self-attention", "03-self-attention", "attention masked", "chapters 3 and 4"),
    Box(377, "norm", "07-residual-norm", "norm"),
    Box(332, "cross-attention", "08-encoder-decoder", "attention cross"),
    Box(253, "norm", "07-residual-norm", "norm"),
    Box(208, "feed-forward", "05-feed-forward"),
    Box(113, "final norm", "07-residual-norm", "norm"),
    Box(66, "head: token scores", "09-language-model"),
)


def transformer_map(folder: str = "", suffix: str = ".html") -> str:
    """The map as SVG in HTML, whose links lead to ``folder`` + chapter + ``suffix``.

    Source: Vaswani et al. 2017, figure 1, with the norms before the parts and one more on top of each stack.
    """
    drawn = [
        _stack(LEFT, 272, 536, "× M"),
        _stack(RIGHT, 148, 536, "× M"),
        *_column(LEFT, ENCODER, folder, suffix),
        *_column(RIGHT, DECODER, folder, suffix),
        _arrow(f"M {LEFT} 224 V 200 H {BETWEEN} V 332 H {RIGHT - BOX_WIDTH // 2}"),
        _arrow(f"M {RIGHT} 44 V 24"),
        _text(LEFT, 710, "the text to read"),
        _text(RIGHT, 710, "what has been written so far"),
        _text(RIGHT, 16, "softmax: chances of the next token", "small"),
        _text(LEFT - 66, 265, "encoder", "small"),
        _text(RIGHT - 66, 141, "decoder", "small"),
        _text(160, 192, "keys and values: D × S", "small"),
        _text(LEFT + 40, 601, "D × S", "small"),
        _text(RIGHT + 40, 601, "D × N", "small"),
        _text(RIGHT + 40, 141, "D × N", "small"),
    ]
    head = (
        f'<figure class="map"><svg class="transformer-map" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" style="--legible: {LEGIBLE}px" role="group" '
        f'aria-label="{escape(TITLE)}"><style>{STYLE}</style><defs>'
        '<marker id="map-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>'
    )
    return "".join([head, *drawn, "</svg></figure>"]).replace("\n", " ")


def _column(x: int, boxes: tuple[Box, ...], folder: str, suffix: str) -> list[str]:
    """The boxes with their sums, arrows upwards through all of them, and around each part the way to its sum."""
    inside = [(norm, part) for norm, part in pairwise(boxes) if norm.text == "norm"]
    added = [(norm, part.y - part.half_height - GAP - RADIUS) for norm, part in inside]
    stops = sorted(
        [(690, 0), *((box.y, box.half_height) for box in boxes), *((y, RADIUS) for _, y in added)], reverse=True
    )
    side = x + BOX_WIDTH // 2 + 7
    return [
        *(_box(x, box, folder, suffix) for box in boxes),
        *(f'<circle cx="{x}" cy="{y}" r="{RADIUS}"/>{_text(x, y + 5, "+")}' for _, y in added),
        *(_arrow(f"M {x} {low - half} V {high + other}") for (low, half), (high, other) in pairwise(stops)),
        *(_arrow(f"M {x} {norm.y + norm.half_height + GAP} H {side} V {y} H {x + RADIUS}") for norm, y in added),
    ]


def _box(x: int, box: Box, folder: str, suffix: str) -> str:
    corner = f'x="{x - BOX_WIDTH // 2}" y="{box.y - box.half_height}" rx="{CORNER}"'
    words = ((-38, 5), (42, 5)) if box.kind == "norm" else ((0, -2), (0, 14))  # side by side, or below each other
    (name_x, name_y), (place_x, place_y) = words
    return (
        f'<a class="{box.kind}" href="{folder}{box.chapter}{suffix}">'
        f'<rect {corner} width="{BOX_WIDTH}" height="{2 * box.half_height}"/>'
        f"{_text(x + name_x, box.y + name_y, box.text)}"
        f"{_text(x + place_x, box.y + place_y, box.place, 'small')}</a>"
    )


def _stack(x: int, top: int, bottom: int, times: str) -> str:
    corner = f'x="{x - BOX_WIDTH // 2 - MARGIN}" y="{top}" rx="10"'
    frame = f'<rect class="stack" {corner} width="{BOX_WIDTH + 2 * MARGIN}" height="{bottom - top}"/>'
    return frame + _text(x + BOX_WIDTH // 2 + MARGIN + 15, bottom - 6, times, "small")


def _arrow(path: str) -> str:
    return f'<path d="{path}" marker-end="url(#map-head)"/>'


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{kind or "name"}">{escape(text)}</text>'
