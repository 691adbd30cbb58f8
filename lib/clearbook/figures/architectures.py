"""Known models side by side, part by part in the same rows, so that it shows what each does otherwise."""

from html import escape
from typing import NamedTuple

BOX_HEIGHT, ROW = 25, 38
TOP = 34  # of the highest row; the name of the model stands over it
STYLE = """
.architectures { display: flex; flex-wrap: wrap; gap: 10px 4px; margin: 1rem 0; }
.architectures svg { height: auto; max-width: 100%; color: inherit; font-family: inherit; }
.architectures text { fill: currentColor; font-size: 12px; text-anchor: middle; }
.architectures text.name { font-size: 14px; font-weight: bold; }
.architectures rect, .architectures circle { fill: var(--pst-color-background, #fff); stroke: currentColor; }
.architectures g.differs rect { stroke-width: 3; stroke: var(--cf-warm, #b3471a); }
.architectures g.differs text { font-weight: bold; }
.architectures rect.block { fill: none; stroke-dasharray: 3 4; }
.architectures path { fill: none; stroke: currentColor; stroke-width: 1.3; }
"""


class Part(NamedTuple):
    """A box in a row, counted from below, which may differ from that of GPT-2."""

    row: int
    text: str
    differs: bool = False


class Model(NamedTuple):
    """The parts of a stack, the rows of its block, and for each residual path the rows that it goes around."""

    name: str
    parts: tuple[Part, ...]
    paths: tuple[tuple[float, float], ...]
    layers: int


class Sheet(NamedTuple):
    """The sizes of a stack; rows from ``cuts`` on move down, where no model of the figure has a part in between."""

    width: int
    box: int
    rows: float = 13
    scale: float = 1
    cuts: tuple[tuple[float, float], ...] = ()


NARROW = Sheet(178, 148)
WIDE = Sheet(242, 212, rows=10.7, scale=1.4, cuts=((6, 1.5), (9.5, 0.8)))  # as wide as the text
BLOCK = (2.42, 10.2)  # the rows of its frame
NORM_FIRST, NORM_AFTER = ((2.55, 4.55), (6.5, 8.55)), ((3.5, 4.52), (7.5, 8.52))
MODELS = (
    Model(
        "GPT-2",
        (
            Part(0, "tokens"),
            Part(1, "+ learned positions"),
            Part(3, "LayerNorm"),
            Part(4, "causal attention"),
            Part(7, "LayerNorm"),
            Part(8, "feed-forward, GELU"),
            Part(11, "LayerNorm"),
            Part(12, "head = embedding"),
        ),
        NORM_FIRST,
        12,
    ),
    Model(
        "BERT",
        (
            Part(0, "tokens + segments", True),
            Part(1, "+ learned positions"),
            Part(2, "LayerNorm", True),
            Part(4, "attention both ways", True),
            Part(5, "LayerNorm", True),
            Part(8, "exact GELU", True),
            Part(9, "LayerNorm", True),
            Part(11, "a layer, LayerNorm", True),
            Part(12, "embedding + bias", True),
        ),
        NORM_AFTER,
        12,
    ),
    Model(
        "Llama: SmolLM2",
        (
            Part(0, "tokens"),
            Part(3, "RMSNorm", True),
            Part(4, "causal, rotary, GQA", True),
            Part(7, "RMSNorm", True),
            Part(8, "SwiGLU", True),
            Part(11, "RMSNorm", True),
            Part(12, "head = embedding"),
        ),
        NORM_FIRST,
        30,
    ),
    Model(
        "Marian: encoder",
        (
            Part(0, "tokens × √D", True),
            Part(1, "+ sinusoids", True),
            Part(4, "attention both ways", True),
            Part(5, "LayerNorm", True),
            Part(8, "feed-forward, SiLU", True),
            Part(9, "LayerNorm", True),
        ),
        NORM_AFTER,
        6,
    ),
    Model(
        "Marian: decoder",
        (
            Part(0, "tokens × √D", True),
            Part(1, "+ sinusoids", True),
            Part(3, "causal attention"),
            Part(4, "LayerNorm", True),
            Part(5, "cross-attention", True),
            Part(6, "LayerNorm", True),
            Part(8, "feed-forward, SiLU", True),
            Part(9, "LayerNorm", True),
            Part(12, "embedding + bias", True),
        ),
        ((2.55, 3.5), (4.55, 5.5), (7.5, 8.52)),
        6,
    ),
)


GLM_5 = Model(
    "GLM-5",
    (
        Part(0, "tokens"),
        Part(3, "RMSNorm", True),
        Part(4, "latent, rotary, tokens selected", True),
        Part(7, "RMSNorm", True),
        Part(8, "1 + 8 of 256 gated experts", True),
        Part(11, "RMSNorm", True),
        Part(12, "head of its own", True),
    ),
    NORM_FIRST,
    78,
)


def architectures() -> str:
    """GPT-2, BERT, SmolLM2 and Marian as SVG in HTML: a bold frame where a part is not that of GPT-2.

    Source: Radford et al. 2019, section 2.3; Devlin et al. 2019, section 3; Touvron et al. 2023, section 2.2,
    and Ainslie et al. 2023 for GQA; Vaswani et al. 2017, figure 1.
    """
    alone, pair = MODELS[:-2], MODELS[-2:]
    return _side_by_side([*((model,) for model in alone), pair])


def two_decoders() -> str:
    """GPT-2 and GLM-5, drawn in the same way. Source: Transformers 5.24, the code of glm_moe_dsa."""
    return _side_by_side([MODELS[:1], (GLM_5,)], WIDE)


def _side_by_side(groups: list[tuple[Model, ...]], sheet: Sheet = NARROW) -> str:
    drawn = "".join(_draw_models(models, sheet) for models in groups)
    return f'<div class="architectures" role="group"><style>{STYLE}</style>{drawn}</div>'.replace("\n", " ")


def _draw_models(models: tuple[Model, ...], sheet: Sheet) -> str:
    """One stack, or encoder and decoder with the way from one to the other."""
    width, height = sheet.width * len(models), TOP + round(sheet.rows * ROW) + 8
    told = "; ".join(f"{model.name}, from below: {', '.join(part.text for part in model.parts)}" for model in models)
    stacks = [
        f'<g transform="translate({sheet.width * i} 0)">{_stack(model, sheet)}</g>' for i, model in enumerate(models)
    ]
    if len(models) == 2:
        edge = sheet.width + (sheet.width - sheet.box) // 2
        middle, high, low = sheet.width // 2, _y(10.4, sheet), _y(5, sheet)
        stacks.append(f'<path d="M {middle} {high:.0f} H {sheet.width} V {low:.0f} H {edge} m -6 -4 l 6 4 l -6 4"/>')
    size = f'width="{sheet.scale * width:.0f}" height="{sheet.scale * height:.0f}"'
    head = f'<svg viewBox="0 0 {width} {height}" {size} role="img" aria-label="{escape(told)}">'
    return f"{head}{''.join(stacks)}</svg>"


def _stack(model: Model, sheet: Sheet) -> str:
    middle, rows = sheet.width // 2, [part.row for part in model.parts]
    top_end = max(rows) + (1.4 if max(rows) < 11 else 0.5)
    line = f'<path d="M {middle} {_y(-0.5, sheet):.0f} V {_y(top_end, sheet):.0f}"/>'
    arcs = "".join(_residual_path(low, high, sheet) for low, high in model.paths)
    boxes = "".join(_box(part, sheet) for part in model.parts)
    bottom, top = (_y(row, sheet) for row in BLOCK)
    frame = f'<rect class="block" x="2" y="{top:.0f}" width="{sheet.width - 4}" height="{bottom - top:.0f}" rx="8"/>'
    count = f'<text x="24" y="{top + 16:.0f}">× {model.layers}</text>'
    name = f'<text class="name" x="{middle}" y="16">{escape(model.name)}</text>'
    return "".join([name, frame, count, line, arcs, boxes])


def _y(row: int | float, sheet: Sheet) -> float:
    row -= sum(down for start, down in sheet.cuts if row > start)
    return TOP + (sheet.rows - 0.5 - row) * ROW


def _residual_path(low: float, high: float, sheet: Sheet) -> str:
    """What comes in is added to what comes out: past the part on the right, into a sum."""
    x = sheet.width // 2
    side = x + sheet.box // 2 + 8
    low, high = _y(low, sheet), _y(high, sheet)
    path = f'<path d="M {x} {low:.0f} H {side} V {high:.0f} H {x}"/>'
    circle = f'<circle cx="{x}" cy="{high:.0f}" r="6.5"/>'
    plus = f"M {x - 4} {high:.0f} h 8 M {x} {high - 4:.0f} v 8"
    return f'{path}{circle}<path d="{plus}"/>'


def _box(part: Part, sheet: Sheet) -> str:
    x = sheet.width // 2
    left, top = x - sheet.box // 2, _y(part.row, sheet) - BOX_HEIGHT / 2
    box = f'<rect x="{left}" y="{top:.0f}" width="{sheet.box}" height="{BOX_HEIGHT}" rx="5"/>'
    text = f'<text x="{x}" y="{_y(part.row, sheet) + 4:.0f}">{escape(part.text)}</text>'
    return f'<g class="{"differs" if part.differs else "same"}">{box}{text}</g>'
