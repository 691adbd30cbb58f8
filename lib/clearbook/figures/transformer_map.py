"""The whole transformer as a map for the website: each box leads to the chapter that builds it."""

from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 492, 660
BOX_WIDTH, BOX_HEIGHT = 168, 44
LEFT, RIGHT = 100, 362  # the middles of encoder and decoder
BETWEEN = 230  # where the encoder's output goes up between the stacks
MARGIN = 14  # of a stack around its boxes
CORNER = 6
TITLE = "The whole transformer: an encoder reads a text, a decoder writes one. Each box leads to its chapter."
STYLE = """
figure.map { margin: 1rem 0; overflow-x: auto; }
.transformer-map { max-width: 100%; height: auto; color: inherit; font-family: inherit; }
.transformer-map rect { fill: var(--pst-color-surface, #f3f5f9); stroke: currentColor; stroke-width: 1.4; }
.transformer-map rect.stack { fill: none; stroke-dasharray: 3 4; stroke-width: 1; }
.transformer-map .attention rect { stroke-width: 3; stroke: var(--cf-accent, #0b5fa5); }
.transformer-map .masked rect { stroke-dasharray: 9 4; stroke: var(--cf-warm, #b3471a); }
.transformer-map .cross rect { stroke-dasharray: 1 5; stroke-linecap: round; stroke: var(--cf-right, #1f6b50); }
.transformer-map .norm rect { fill: var(--pst-color-background, #fff); stroke-width: 1; }
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


ENCODER = (
    Box(560, "tokens → columns", "01-tokens"),
    Box(496, "+ positions", "06-position"),
    Box(406, "self-attention", "03-self-attention", "attention", "chapters 3 and 4"),
    Box(352, "add, then norm", "07-residual-norm", "norm"),
    Box(298, "feed-forward", "05-feed-forward"),
    Box(244, "add, then norm", "07-residual-norm", "norm"),
)
DECODER = (
    Box(560, "tokens → columns", "01-tokens"),
    Box(496, "+ positions", "06-position"),
    Box(406, "masked self-attention", "03-self-attention", "attention masked", "chapters 3 and 4"),
    Box(352, "add, then norm", "07-residual-norm", "norm"),
    Box(298, "cross-attention", "08-encoder-decoder", "attention cross"),
    Box(244, "add, then norm", "07-residual-norm", "norm"),
    Box(190, "feed-forward", "05-feed-forward"),
    Box(136, "add, then norm", "07-residual-norm", "norm"),
    Box(60, "next-token chances", "09-language-model"),
)


def transformer_map(folder: str = "", suffix: str = ".html") -> str:
    """The map as SVG in HTML, whose links lead to ``folder`` + chapter + ``suffix``.

    Source: Vaswani et al. 2017, figure 1.
    """
    drawn = [
        _stack(LEFT, 216, 436, "× M"),
        _stack(RIGHT, 108, 436, "× M"),
        *(_box(LEFT, box, folder, suffix) for box in ENCODER),
        *(_box(RIGHT, box, folder, suffix) for box in DECODER),
        *_arrows(LEFT, [box.y for box in ENCODER], 620),
        *_arrows(RIGHT, [box.y for box in DECODER], 620),
        *_residuals(LEFT, ENCODER),
        *_residuals(RIGHT, DECODER),
        _arrow(f"M {LEFT} {244 - BOX_HEIGHT // 2} V 186 H {BETWEEN} V 298 H {RIGHT - BOX_WIDTH // 2}"),
        _arrow(f"M {RIGHT} {60 - BOX_HEIGHT // 2} V 14"),
        _text(LEFT, 640, "the text to read"),
        _text(RIGHT, 640, "what has been written so far"),
        _text(LEFT - 66, 206, "encoder", "small"),
        _text(RIGHT - 66, 98, "decoder", "small"),
        _text(166, 178, "keys and values: D × S", "small"),
        _text(LEFT + 40, 531, "D × S", "small"),
        _text(RIGHT + 40, 531, "D × N", "small"),
        _text(RIGHT + 40, 100, "D × N", "small"),
    ]
    head = (
        f'<figure class="map"><svg class="transformer-map" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="group" aria-label="{escape(TITLE)}"><style>{STYLE}</style><defs>'
        '<marker id="map-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>'
    )
    return "".join([head, *drawn, "</svg></figure>"]).replace("\n", " ")


def _box(x: int, box: Box, folder: str, suffix: str) -> str:
    corner = f'x="{x - BOX_WIDTH // 2}" y="{box.y - BOX_HEIGHT // 2}" rx="{CORNER}"'
    return (
        f'<a class="{box.kind}" href="{folder}{box.chapter}{suffix}">'
        f'<rect {corner} width="{BOX_WIDTH}" height="{BOX_HEIGHT}"/>{_text(x, box.y - 2, box.text)}'
        f"{_text(x, box.y + 14, box.place, 'small')}</a>"
    )


def _stack(x: int, top: int, bottom: int, times: str) -> str:
    corner = f'x="{x - BOX_WIDTH // 2 - MARGIN}" y="{top}" rx="10"'
    frame = f'<rect class="stack" {corner} width="{BOX_WIDTH + 2 * MARGIN}" height="{bottom - top}"/>'
    return frame + _text(x + BOX_WIDTH // 2 + MARGIN + 15, bottom - 6, times, "small")


def _arrows(x: int, heights: list[int], start: int) -> list[str]:
    """From below the first box through all of them upwards."""
    begins = [start, *(y - BOX_HEIGHT // 2 for y in heights)]
    return [_arrow(f"M {x} {begin} V {y + BOX_HEIGHT // 2}") for begin, y in zip(begins[:-1], heights, strict=True)]


def _residuals(x: int, boxes: tuple[Box, ...]) -> list[str]:
    """Around each part on the right: what comes in is added to what comes out."""
    side, edge = x + BOX_WIDTH // 2 + 10, x + BOX_WIDTH // 2
    return [
        _arrow(f"M {x} {part.y + BOX_HEIGHT // 2 + 5} H {side} V {norm.y} H {edge}")
        for part, norm in pairwise(boxes)
        if norm.kind == "norm"
    ]


def _arrow(path: str) -> str:
    return f'<path d="{path}" marker-end="url(#map-head)"/>'


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{kind or "name"}">{escape(text)}</text>'
