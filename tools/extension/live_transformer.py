"""The live transformer on the site: its parts in one script, and a model's weights in another, which a click loads.

Both are classic scripts, for modules and fetch do not work in a page that was opened as a file. A page says
`<live-transformer model="language" prompt="The ">static picture</live-transformer>`; the build adds the script, where
the weights lie, and what they weigh. A model is a folder in models/ with config.json and model.safetensors.

    .venv/bin/python -m tools.extension.live_transformer language "The "

prints what to paste into a page: the element, and in it a table computed by the library, which stands there on paper,
in JupyterLab and without script.
"""

import base64
import html
import json
import re
import sys
from functools import cache
from pathlib import Path

from tools import ROOT
from tools.extension import live_weights

SOURCES = ROOT / "tools" / "site" / "live"
PARTS = (
    *("tokenizer.js", "weights.js", "model.js", "sources.js", "writer.js"),
    *("parts.js", "picture.js", "tasks.js", "element.js"),
)
SCRIPT = "live/live-transformer.js"
TAG = re.compile(r"<live-transformer\b([^>]*)>")
PLACE = "(window.ClearformerLive = window.ClearformerLive || {})"
TEMPERATURE, TOP_P = 0.8, 0.95  # how the element draws until the reader moves a slider
ROWS, WIDEST = 8, 16  # of the static table: tokens, and blocks of the bar of probability 1
EIGHTHS = ("", *"▏▎▍▌▋▊▉")
MODEL = re.compile(r'\bmodel="([\w-]+)"')


def script() -> str:
    """The element: its parts in order, its markup and its style sheet, without indentation and lines of comment."""
    markup, style, *parts = (_lean(SOURCES / name) for name in ("element.html", "style.css", *PARTS))
    texts = f"Object.assign({PLACE}, {json.dumps({'markup': markup, 'style': style})});"
    return f'if (typeof window !== "undefined") {texts}\n' + "".join(parts)


@cache
def weights_script(folder: Path) -> str:
    """The weights and the configuration of the model in a folder, as a script, with the largest difference that the
    rounding of the weights makes in a logit. Raises: FileNotFoundError.
    """
    model: dict = {
        "config": (folder / "config.json").read_text("utf-8"),
        "weights": base64.b64encode(live_weights.shipped_file(folder)).decode("ascii"),
        "difference": round(live_weights.largest_difference(folder), 2),
    }
    names = folder / "heads.json"  # tools/models/heads.py
    if names.is_file():
        model["heads"] = json.loads(names.read_text("utf-8"))
    named = f"(live.weights = live.weights || {{}})[{json.dumps(folder.name)}] = {json.dumps(model)};"
    return f"(function (live) {{ {named} }})({PLACE});\n"


def bring_weights(body: str, site: Path, up: str, models: Path = ROOT / "models") -> str:
    """The body of a page whose elements know their weights, which lie in the site afterwards with the element's script.

    `up` leads from the page to the top of the site. Raises: FileNotFoundError for a model without files; ValueError
    for an element that names none.
    """

    def name_weights(match: re.Match) -> str:
        model = MODEL.search(match[1])
        if model is None:
            raise ValueError(f'{match[0]} names no model, expected model="…" with the name of a folder in models/.')
        text = weights_script(models / model[1])
        _write(site / "live" / f"{model[1]}.js", text)
        return f'<live-transformer{match[1]} src="{up}live/{model[1]}.js" megabytes="{len(text) / 1e6:.1f}">'

    body = TAG.sub(name_weights, body)
    _write(site / SCRIPT, script())
    return body


def snippet(name: str, prompt: str, models: Path = ROOT / "models") -> str:
    """The element as HTML around the likeliest tokens, drawn as at first; without blank lines, as Markdown asks."""
    rows = []
    for text, value in likeliest(name, prompt, models):
        whole, eighths = divmod(max(1, round(8 * WIDEST * value)), 8)
        bar = "█" * whole + EIGHTHS[eighths]
        cells = f"<td><code>{html.escape(text)}</code></td><td>{100 * value:.1f} %</td>"
        rows.append(f'<tr>{cells}<td aria-hidden="true">{bar}</td></tr>')
    told, written = html.escape(" ".join(prompt.split())), html.escape(prompt).replace("\n", "&#10;")
    drawn = f"at temperature {TEMPERATURE} and top-p {TOP_P}"
    caption = f"<caption>After “{told}”, {drawn}: the likeliest tokens</caption>"
    heads = '<tr><th scope="col">token</th><th scope="col">probability</th><th scope="col">as a bar</th></tr>'
    opening = f'<live-transformer model="{name}" prompt="{written}">'
    return "\n".join((opening, "<table>", caption, heads, *rows, "</table>", "</live-transformer>"))


def likeliest(name: str, prompt: str, models: Path = ROOT / "models") -> list[tuple[str, float]]:
    """The tokens that the element shows first, spelled as there, and their probabilities."""
    import torch
    from clearformer.generation import keep_top_p

    model, tokenizer = live_weights.load_live_model(models / name)
    end = model.config.n_vocab - 1
    with torch.no_grad():
        logits = model(torch.tensor([[end, *tokenizer.encode(prompt)]]))[:, -1]
        p = keep_top_p(logits / TEMPERATURE, TOP_P)[0].softmax(-1)
    best = zip(*(found.tolist() for found in p.topk(ROWS)), strict=True)
    return [("¶" if token == end else spell(tokenizer.decode([token])), value) for value, token in best]


def spell(text: str) -> str:
    """A token with its spaces to be seen, as the element spells it."""
    return text.replace(" ", "␣").replace("\n", "⏎")


def _lean(file: Path) -> str:
    lines = (line.strip() for line in file.read_text("utf-8").splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    print(snippet(sys.argv[1], sys.argv[2]))
