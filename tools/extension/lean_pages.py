"""What nobody sees is left out of the built site: rules of style sheets for things that no page has, marks around words
of code that look as the words beside them, and digits of drawings below a hundredth of a point.

Each step is a hook of Sphinx ("build-finished"), and finds nothing to do on what it has been through.
"""

import html
import math
import re
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import tinycss2
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Token

from tools.extension.lean_svg import lean

SHEETS = ("styles/*.css", "basic.css", "sphinx-design.min.css", "mystnb.*.css", "pygments.css")  # of others than us
NAMED = re.compile(r'\b(?:class|id)="([^"]*)"')
WORD = re.compile(r"[A-Za-z_][\w-]*")
NO_CODE = ("search-data.js", "searchindex.js", "live")  # words of the book and weights of models, among the scripts
GROUPS = ("media", "supports", "layer")
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
FIGURE = re.compile(r'<img\b[^>]*\bsrc="([^"]*_images/[^"/]+\.svg)"[^>]*/?>')
POINT = 4 / 3  # in pixels
LETTERS = re.compile(r"\bscale\((0?\.\d+) -0?\.\d+\)")  # of a piece of text: its size in points, over 100
LEGIBLE = 10.5  # pixels of a letter's size: on a phone a drawing shrinks no further, and scrolls
PHONE = 375  # pixels of a window, of which a page leaves 359 to a drawing: one that needs hardly more is shrunk


def lean_drawings(app, exception) -> None:
    for path in sources(app, exception, "_images/*.svg"):
        path.write_text(lean(path.read_text(encoding="utf8")), encoding="utf8")


def lean_pages(app, exception) -> None:
    idle = re.compile(rf'<span class="(?:{"|".join(idle_marks(app.config))})">([^<]*)</span>')
    for path in sources(app, exception, "**/*.html"):
        page = path.read_text(encoding="utf8")
        page = page.replace('data-theme="auto"', 'data-theme="light"', 1)  # for who has no scripts
        page = CODE.sub(lambda code: idle.sub(r"\1", code[0]), page)
        page = FIGURE.sub(partial(with_size, folder=path.parent), page)
        path.write_text(page, encoding="utf8")


def lean_styles(app, exception) -> None:
    known: set[str] = set()
    for path in sources(app, exception, "**/*.html"):
        for names in NAMED.findall(path.read_text(encoding="utf8")):
            known.update(html.unescape(names).split())
    for path in sources(app, exception, "**/*.js"):
        if not any(name in path.parts for name in NO_CODE):
            known.update(WORD.findall(path.read_text(encoding="utf8")))
    for pattern in SHEETS:
        for path in sources(app, exception, f"_static/{pattern}"):
            path.write_text(lean_sheet(path.read_text(encoding="utf8"), known), encoding="utf8")


def sources(app, exception, pattern: str) -> list[Path]:
    """Files of a site that is built without an error."""
    return sorted(Path(app.outdir).glob(pattern)) if exception is None and app.builder.name == "html" else []


# Code


def idle_marks(config) -> list[str]:
    """Classes of Pygments that look as the code around them, in the light and in the dark."""
    options = config.html_theme_options
    styles = [get_style_by_name(options[f"pygments_{scheme}_style"]) for scheme in ("light", "dark")]

    def is_idle(token) -> bool:
        return all(style.style_for_token(token) == style.style_for_token(Token.Text) for style in styles)

    return [short for token, short in STANDARD_TYPES.items() if short and is_idle(token)]


# Drawings


def with_size(image: re.Match, folder: Path) -> str:
    """The image with its size, so that its place is kept before it is there.

    One whose letters would be too small on a phone says to the style sheet how wide it has to be.
    """
    if "width=" in image[0] or not (drawing := folder / image[1]).exists():
        return image[0]
    text = drawing.read_text(encoding="utf8")
    root = ElementTree.fromstring(text)
    width, height = (round(float(root.get(side, "0").removesuffix("pt")) * POINT) for side in ("width", "height"))
    sized = image[0].replace("<img", f'<img width="{width}" height="{height}"', 1)
    smallest = min((100 * float(size) * POINT for size in LETTERS.findall(text)), default=math.inf)
    legible = math.ceil(width * min(1, LEGIBLE / smallest))
    wide = f'<span class="wide-drawing" style="--legible: {legible}px">{sized}</span>'
    return wide if legible > PHONE else sized


# Style sheets


def lean_sheet(sheet: str, known: set[str]) -> str:
    """The rules of a sheet that can apply where these classes and ids are ``known``."""
    return lean_rules(tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True), known)


def lean_rules(rules: list, known: set[str]) -> str:
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [tinycss2.serialize(s).strip() for s in selectors_of(rule.prelude) if can_apply(s, known)]
            if selectors:
                kept.append(f"{','.join(selectors)}{{{tinycss2.serialize(rule.content).strip()}}}\n")
        elif rule.type == "at-rule" and rule.content is not None and rule.lower_at_keyword in GROUPS:
            inside = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if inner := lean_rules(inside, known):
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}\n")
        else:
            kept.append(rule.serialize() + "\n")
    return "".join(kept)


def selectors_of(prelude: list) -> list[list]:
    """The selectors that commas part."""
    found: list[list] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def can_apply(selector: list, known: set[str]) -> bool:
    """Whether all classes and ids of a selector are known; what stands in brackets is not looked at."""
    before = ""
    for token in selector:
        is_name = token.type == "hash" or (token.type == "ident" and before == ".")
        if is_name and token.value not in known:
            return False
        before = token.value if token.type == "literal" else ""
    return True


def make_lean(app, error):
    """In this order: what pages no longer name is then found to be in no use."""
    for step in (lean_drawings, lean_pages, lean_styles):
        step(app, error)


def setup(app):
    app.connect("build-finished", make_lean, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
