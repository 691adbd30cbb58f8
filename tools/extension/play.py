"""Pages to play with: a custom element each, whose script, styles and data a page loads when it holds the element.

    ```{play} against-the-model
    :label: You against the model

    What stands here while no script runs: on paper, in an old browser, without JavaScript.
    ```

A folder tools/site/play/NAME holds the scripts of one and its parts.json, which names

    live     parts of the live transformer that it needs, in order (its tokenizer, its model, …)
    scripts  its own scripts, in order
    weights  a folder in models/ whose weights a click loads, or null

and tools/play/NAME.py, where there is one, has a function data() whose result the script finds in
clearformer.data[NAME].
"""

import html
import importlib
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from tools import ROOT
from tools.extension import live_transformer

FOLDER = ROOT / "tools" / "site" / "play"
SHARED = (
    "explorables/explorables.css",
    "play/play.css",
    "explorables/arithmetic.js",
    "explorables/base.js",
    "play/base.js",
)
INDENTATION_OR_COMMENT = re.compile(r"^[ \t]*(?://.*\n)?", re.MULTILINE)


@cache
def names() -> tuple[str, ...]:
    """The elements, each with a folder of its own."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/parts.json")))


def parts(name: str) -> dict:
    return json.loads((FOLDER / name / "parts.json").read_text(encoding="utf-8"))


def files(name: str) -> list[str]:
    """What a page with the element loads, in order, from the top of the site."""
    data = [f"play/{name}-data.js"] if has_data(name) else []
    return [*SHARED, *data, f"play/{name}.js"]


def has_data(name: str) -> bool:
    return find_spec(module_of(name)) is not None


def module_of(name: str) -> str:
    return f"tools.play.{name.replace('-', '_')}"


def script(name: str) -> str:
    """What it needs of the live transformer, and its own scripts, without indentation and lines of comment."""
    named = parts(name)
    sources = [
        *(live_transformer.SOURCES / part for part in named["live"]),
        *(FOLDER / name / it for it in named["scripts"]),
    ]
    return "".join(lean(source) for source in sources)


def lean(source: Path) -> str:
    return INDENTATION_OR_COMMENT.sub("", source.read_text(encoding="utf-8"))


def data_script(name: str) -> str:
    """The data of an element as a classic script, for a page that was opened as a file cannot fetch."""
    text = json.dumps(importlib.import_module(module_of(name)).data(), ensure_ascii=False, separators=(",", ":"))
    return f"(clearformer.data ||= {{}})[{json.dumps(name)}] = {text};\n"


def publish(name: str, site: Path) -> None:
    """The files of one element, and the weights that it can load."""
    texts = {f"play/{name}.js": script(name), **{f"play/{it.name}": lean(it) for it in FOLDER.glob("*.*s*")}}
    if has_data(name):
        texts[f"play/{name}-data.js"] = data_script(name)
    if weights := parts(name).get("weights"):
        texts[f"live/{weights}.js"] = live_transformer.weights_script(ROOT / "models" / weights)
    for file, text in texts.items():
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


class Play(Directive):
    """An element to play with, around what stands there without scripts."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"label": directives.unchanged_required}

    def run(self):
        name = self.arguments[0]
        if name not in names():
            raise self.error(f"play: there is no {name!r}. Choose one of {', '.join(names())}.")
        still = nodes.container(classes=["still"])
        self.state.nested_parse(self.content, self.content_offset, still)
        return [
            nodes.raw("", opening(name, self.options["label"]), format="html"),
            still,
            nodes.raw("", f"</{name}>", format="html"),
        ]


def opening(name: str, label: str) -> str:
    weights = parts(name).get("weights")
    model = f' model="{weights}"' if weights else ""
    return f'<{name} class="explorable play" role="group" aria-label="{html.escape(label)}"{model}>'


def bring(app, pagename, templatename, context, doctree) -> None:
    """The files of the elements that stand in the page, and where from there the weights lie."""
    body = context.get("body") or ""
    up = "../" * pagename.count("/")
    for name in names():
        if f"<{name} class=" not in body:
            continue
        publish(name, Path(app.outdir))
        for file in files(name):
            if file.endswith(".css"):
                app.add_css_file(f"../{file}")  # Sphinx looks for them in _static
            else:
                app.add_js_file(f"../{file}", loading_method="defer")
        if weights := parts(name).get("weights"):
            body = body.replace(f' model="{weights}">', f' model="{weights}" src="{up}live/{weights}.js">')
    if body:
        context["body"] = body


def setup(app):
    app.add_directive("play", Play)
    app.connect("html-page-context", bring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
