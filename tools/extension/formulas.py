"""Formulas are typeset when the site is built: a reader gets them with the page, not a script of 760 KB that sets them.

Without Node.js the pages keep their TeX and the MathJax that sets it in the browser.
"""

import hashlib
import html
import json
import logging as std_logging
import re
import shutil
import subprocess
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.util import logging

from tools import ROOT
from tools.setup.vendor import COMPONENTS, SITE

TYPESET = ROOT / "tools" / "site" / "typeset.cjs"
FORMULA = re.compile(r'(<(span|div) class="math notranslate nohighlight"[^>]*>)(.*?)(</\2>)', re.DOTALL)
EQUATION_NUMBER = re.compile(r'<span class="eqno">.*?</a></span>|<span class="eqno">.*?</span>', re.DOTALL)
TEX = re.compile(r"\\\((.*)\\\)|\\\[(.*)\\\]", re.DOTALL)
SCRIPT = re.compile(
    r"\s*<script>window\.MathJax = [^<]*</script>|\s*<script[^>]*src=\"[^\"]*mathjax[^\"]*\"[^>]*></script>"
)
SHEET = "mathjax/mathjax.css"
FONTS = "output/chtml/fonts/woff-v2"  # from the style sheet
LETTER = re.compile(r'content: ?"((?:[^"\\]|\\.)*)"')
CODE_POINT = re.compile(r"\\([0-9A-Fa-f]{1,6}) ?|\\?(.)", re.DOTALL)
LINK = re.compile(r'\s*<link rel="stylesheet" href="[^"]*mathjax\.css[^"]*" />')
KEPT = "formulas.json"  # which formulas each page has, for builds that write some of the pages
# MathJax measures the letters around a formula; a length in their own x-heights says the same.
SIZE = 'mjx-container[jax="CHTML"] { position: relative; font-size: 2.26ex; }\n'
IDLE = (' style="position: relative;"', ' unselectable="on"', ' xmlns="http://www.w3.org/1998/Math/MathML"')
logger = logging.getLogger(__name__)

Formula = tuple[str, bool]  # TeX, and whether it is displayed


def typeset_pages(app, exception) -> None:
    """Hook of Sphinx ("build-finished")."""
    if exception is not None or app.builder.name != "html" or not can_typeset():
        return
    out, kept = Path(app.outdir), Path(app.doctreedir) / KEPT
    held = json.loads(kept.read_text(encoding="utf8")) if kept.exists() else {}
    pages = {path: path.read_text(encoding="utf8") for path in out.rglob("*.html")}
    for path, text in pages.items():
        if found := formulas(text):
            held[str(path.relative_to(out))] = found
    every = list(dict.fromkeys(tuple(formula) for found in held.values() for formula in found))
    drawn, style = typeset_formulas(every)
    write(out, SHEET, style)
    keep_letters(out / "mathjax" / FONTS, letters(style))
    version = hashlib.sha256(style.encode()).hexdigest()[:8]
    for path, text in pages.items():
        if str(path.relative_to(out)) in held:
            up = "../" * (len(path.relative_to(out).parts) - 1)
            path.write_text(with_formulas(text, drawn, f"{up}{SHEET}?v={version}"), encoding="utf8")
    for script in (out / "mathjax").rglob("*.js"):
        script.unlink()
    kept.write_text(json.dumps(held), encoding="utf8")


def can_typeset() -> bool:
    return shutil.which("node") is not None and all((SITE / "mathjax" / name).exists() for name in COMPONENTS)


def formulas(page: str) -> list[Formula]:
    """The formulas of a page that are still TeX, in order."""
    return [formula for match in FORMULA.finditer(page) if (formula := formula_in(match[3]))]


def formula_in(content: str) -> Formula | None:
    found = TEX.search(EQUATION_NUMBER.sub("", content))
    if found is None:
        return None
    return html.unescape(found[1] or found[2]).strip(), found[1] is None


def typeset_formulas(every: list[Formula]) -> tuple[dict[Formula, str], str]:
    """Each formula as HTML, and one style sheet for all of them; one that MathJax cannot read is a warning."""
    asked = {"mathjax": str(SITE / "mathjax"), "fonts": FONTS, "formulas": every}
    told = json.dumps(asked)
    done = subprocess.run(["node", str(TYPESET)], input=told, capture_output=True, text=True, encoding="utf8")
    if done.returncode != 0:
        raise RuntimeError(
            f"typeset_formulas: MathJax has failed on {len(every)} formulas: {done.stderr.strip()[-500:]}"
        )
    answer = json.loads(done.stdout)
    for (tex, _), drawn in zip(every, answer["html"], strict=True):
        if "mjx-merror" in drawn:
            logger.warning("MathJax cannot read the formula %r", tex)
    return dict(zip(every, map(remove_idle_markup, answer["html"]), strict=True)), SIZE + compress_style(answer["css"])


def remove_idle_markup(drawn: str) -> str:
    for idle in IDLE:
        drawn = drawn.replace(idle, "")
    return drawn


def compress_style(style: str) -> str:
    """A style sheet of MathJax, which has a line for each property, without comments and with a line for each rule."""
    lines = (line.strip() for line in re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL).splitlines())
    return "".join(line + "\n" * (line == "}") for line in lines)


def with_formulas(page: str, drawn: dict[Formula, str], sheet: str) -> str:
    """The page with its formulas typeset, the style sheet that they need, and no script for them."""

    def put(match: re.Match) -> str:
        formula = formula_in(match[3])
        if formula is None:
            return match[0]
        number = "".join(EQUATION_NUMBER.findall(match[3]))
        return f"{match[1]}{number}{drawn[formula]}{match[4]}"

    page = FORMULA.sub(put, SCRIPT.sub("", page))
    return LINK.sub("", page).replace("</head>", f'<link rel="stylesheet" href="{sheet}" />\n  </head>', 1)


def letters(style: str) -> set[int]:
    """The characters that a style sheet of MathJax puts on the page."""
    codes = (CODE_POINT.findall(text) for text in LETTER.findall(style))
    return {int(code, 16) if code else ord(character) for found in codes for code, character in found}


def keep_letters(folder: Path, wanted: set[int]) -> None:
    """The fonts, in ``folder``, without the letters that no formula of the book has."""
    options = subset.Options(notdef_outline=True, name_IDs=[], hinting=False)
    options.drop_tables += ["FFTM"]
    std_logging.getLogger("fontTools").setLevel(std_logging.ERROR)
    for path in (SITE / "mathjax" / FONTS).glob("*.woff"):
        font = TTFont(path)
        if not wanted & set(font.getBestCmap() or {}):
            continue
        reduced = subset.Subsetter(options)
        reduced.populate(unicodes=wanted)
        reduced.subset(font)
        font.flavor = "woff"
        font.save(folder / path.name)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf8")


def setup(app):
    app.connect("build-finished", typeset_pages, priority=900)  # when every page is written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
