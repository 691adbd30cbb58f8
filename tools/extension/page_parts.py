"""What the site's pages are made of, beyond their text: icons, scripts and styles that a page needs, and no others; the
place of a chapter in the book; what a page says about itself to search engines and to those who share it.

Each step is a hook of Sphinx; setup lists them. The template that they fill is tools/site/templates/layout.html.
"""

import html
import re
from functools import cache
from pathlib import Path
from string import Template
from types import SimpleNamespace

import pydata_sphinx_theme

from tools import ROOT
from tools.extension.publish import site_address
from tools.pages.chapters import chapter_number, is_chapter

SITE = ROOT / "tools" / "site"
SCRIPTS = ("reader.js", "again.js", "search.js", "search-engine.js", "present/present.js", "present/present.css")
ICON = re.compile(r'<(i|span) class="([^"]*\bfa-[^"]*)"([^>]*)>\s*</\1>')
ICON_SET = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
ICON_SCRIPT = re.compile(
    r"\s*(?:<!-- So that users can add custom icons -->\s*)?<script[^>]*fontawesome\.js[^>]*></script>"
)
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>|<meta content="[^"]*" name="viewport"[^>]*>')  # the theme has one
FORMULA = re.compile(r'class="[^"]*\b(?:math|output_area|text_latex)\b')
PUNCTUATED = re.compile(r'\(?<span class="math notranslate nohighlight">[^<]*</span>[,.;:!?)’”]+')
NO_TEXT = re.compile(
    r'(<(pre|svg|script|style)\b.*?</\2>|<span class="math\b.*?</span>|<div class="math\b.*?</div>|<[^>]*>)', re.S
)
SIZE = re.compile(r"[\w,.]+(?: × [\w,.]+)+|(?<![\w.,–-])\d[\d.,]*–\d[\d.,]*(?![\w–-])")
INLINE_CODE = re.compile(r'<code class="(docutils literal notranslate)">(.*?)</code>', re.S)
SHORT = 20  # characters of code that stay on one line: two thirds of a line on a phone
INDENTATION_OR_COMMENT = re.compile(r"^[ \t]*(?://.*\n)?", re.MULTILINE)
STYLE_COMMENT = re.compile(r"^[ \t]+|/\*.*?\*/", re.MULTILINE | re.DOTALL)
NOT_PUBLISHED = ("webpack-macros.html", "sbt-webpack-macros.html", "scripts/fontawesome.js")
NEEDED_BY = {  # what a page must hold for a file to be loaded
    "sphinx-design.min.css": r'class="[^"]*\bsd-',
    "design-tabs.js": r"sd-tab-set",
    "togglebutton.css": r'class="[^"]*\b(?:toggle|dropdown)\b',
    "togglebutton.js": r'class="[^"]*\b(?:toggle|dropdown)\b',
    "copybutton.css": r'<div class="highlight',
    "copybutton.js": r'<div class="highlight',
    "clipboard.min.js": r'<div class="highlight',
    "mystnb.": r'class="[^"]*\b(?:cell|output)\b',
}
LONGEST = 200  # characters of a description, so that no search engine cuts it
GOALS = re.compile(r"<p>(After this chapter you can)</p>\s*<ul[^>]*>(.*?)</ul>", re.S)
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.S)


# Before the build


def use_templates(app, config) -> None:
    """The book's own templates and scripts. Scripts in _static would stand in the head of every page, not deferred."""
    config.templates_path = [*config.templates_path, str(SITE / "templates")]
    config.html_static_path = [*config.html_static_path, *(str(SITE / name) for name in SCRIPTS)]


def use_address(app, config) -> None:
    """The address under which the site will be found, for canonical links and the site map; it may be unknown."""
    config.html_baseurl = site_address(config)


# Each page


def chapters(env) -> list[str]:
    """The numbered chapters, in order."""
    return sorted(name for name in env.found_docs if is_chapter(name))


def tell_the_place(app, pagename, templatename, context, doctree) -> None:
    """Below the title of a chapter: its number, and that of the last one."""
    names = chapters(app.env)
    if pagename in names and context.get("body"):
        place = f"Chapter {chapter_number(pagename)} of {chapter_number(names[-1])}"
        line = f'</h1>\n<p class="chapter-place" data-page="{pagename}">{place}</p>'
        context["body"] = context["body"].replace("</h1>", line, 1)


def stack_long_rows(app, pagename, templatename, context, doctree) -> None:
    """Tables of six columns, which no phone has room for, are stacked there: the style sheet needs a name for them."""
    if pagename.startswith("chapters/grader-proof/") and context.get("body"):
        body = context["body"].replace("<td><p>–</p></td>", '<td class="nothing"><p>–</p></td>')
        context["body"] = f'<div class="stacked-tables">{body}</div>'


def keep_punctuation(app, pagename, templatename, context, doctree) -> None:
    """No line begins with the comma that belongs to a formula."""
    if context.get("body"):
        context["body"] = PUNCTUATED.sub(r'<span class="keep-together">\g<0></span>', context["body"])


def keep_sizes(app, pagename, templatename, context, doctree) -> None:
    """No line ends within 4 × 4 or 0.004–0.005; a long product may break, or tables would be wider than the page."""

    def joined(size: re.Match) -> str:
        return f'<span class="keep-together">{size[0]}</span>' if len(size[0]) <= SHORT else size[0]

    if context.get("body"):
        texts = NO_TEXT.split(context["body"])  # a text, what is none, and the name of its tag, over and over
        texts[::3] = [SIZE.sub(joined, text) for text in texts[::3]]
        context["body"] = "".join(text for number, text in enumerate(texts) if number % 3 < 2)


def keep_short_code(app, pagename, templatename, context, doctree) -> None:
    """No line ends within `make lab` or `PORT=8124`; longer code may break, or tables would be wider than the page."""

    def mark_short(code: re.Match) -> str:
        letters = html.unescape(re.sub(r"<[^>]+>", "", code[2]))
        return f'<code class="{code[1]} short">{code[2]}</code>' if len(letters) <= SHORT else code[0]

    if context.get("body"):
        context["body"] = INLINE_CODE.sub(mark_short, context["body"])


def load_what_is_needed(app, pagename, templatename, context, doctree) -> None:
    """Scripts and styles that nothing on the page asks for stay away: MathJax alone weighs more than a page."""
    body = context.get("body") or ""
    for number, script in enumerate(("reader.js", "search.js")):
        app.add_js_file(script, loading_method="defer", priority=900 + number)

    def is_needed(asset) -> bool:
        name = str(asset.filename or "")
        if "mathjax" in name.lower() or "MathJax" in asset.attributes.get("body", ""):
            return FORMULA.search(body) is not None
        needs = next((pattern for part, pattern in NEEDED_BY.items() if part in name), "")
        return re.search(needs, body) is not None

    for kind in ("css_files", "script_files"):
        files = context[kind]
        files[:] = dict.fromkeys(asset for asset in files if is_needed(asset))


def describe(app, pagename, templatename, context, doctree) -> None:
    """What the template needs: functions that rewrite parts of the page, and what the page says about itself."""
    own = re.search(r'<meta content="([^"]*)" name="description"', context.get("metatags") or "")
    title = re.sub(r"<[^>]+>", "", context.get("title") or "") or pagename.capitalize()
    context["metatags"] = VIEWPORT.sub("", context.get("metatags") or "", count=1)
    card = f"{app.config.html_baseurl}_static/card.png" if app.config.html_baseurl else "_static/card.png"
    context["site"] = SimpleNamespace(
        lean_head=lambda head: ICON_SCRIPT.sub("", head),
        draw_icons=lambda page: ICON.sub(draw_icon, page),
        title=html.unescape(title) if pagename != app.config.root_doc else app.config.project,
        own_description=html.unescape(own[1]) if own else "",
        description="" if own else description(context.get("body") or "", html.unescape(title)),
        card=card,
    )


def description(body: str, title: str) -> str:
    """A sentence or two about a page: what one can do after a chapter, else how its text begins."""
    if goals := GOALS.search(body):
        items = [plain_words(item) for item in re.findall(r"<li>(.*?)</li>", goals[2], re.S)]
        sentence = goals[1] + " " + items[0].rstrip(",;.")
        for item in items[1:]:
            if len(sentence) + len(item) + 2 > LONGEST:
                break
            sentence += "; " + item.rstrip(",;.")
        return first_sentences(f"{sentence}.")
    texts = [plain_words(text) for text in PARAGRAPH.findall(body)]
    first = next((text for text in texts if len(text) > 40), "")
    return first_sentences(f"{title}: {first}" if first else title)


def plain_words(fragment: str) -> str:
    """The words of a piece of HTML, a formula as its letters."""
    text = html.unescape(re.sub(r"<[^>]+>", "", fragment))
    text = re.sub(r"\\\((.*?)\\\)", lambda m: re.sub(r"\\[a-zA-Z]+|[{}\\]", "", m[1]), text)
    return " ".join(text.split())


def first_sentences(text: str) -> str:
    """The first sentences that fit; where one alone is too long, its beginning up to a word."""
    if len(text) <= LONGEST:
        return text
    end = max(text.rfind(". ", 0, LONGEST), text.rfind("? ", 0, LONGEST))
    return text[: end + 1] if end > LONGEST // 3 else text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


@cache
def icon(name: str) -> tuple[str, str] | None:
    """Width and height, and the path, of an icon of Font Awesome's free set, taken from the theme's copy of it."""
    pattern = rf'[{{,]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","(M[^"]+)"\]'
    found = re.findall(pattern, ICON_SET.read_text(encoding="utf8"))
    return (f"{found[-1][0]} {found[-1][1]}", found[-1][2]) if found else None


def draw_icon(match: re.Match) -> str:
    """An icon as SVG; one that is not in the set stays as it was."""
    classes, rest = match[2].split(), re.sub(r'\s*title="[^"]*"', "", match[3])
    shape = next(filter(None, (icon(name[3:]) for name in classes if name.startswith("fa-"))), None)
    if shape is None:
        return match[0]
    kept = " ".join(["svg-inline--fa", *(name for name in classes if name == "fa-lg" or not name.startswith("fa"))])
    attributes = f'class="{kept}"{rest} aria-hidden="true"'
    return f'<svg {attributes} viewBox="0 0 {shape[0]}"><path fill="currentColor" d="{shape[1]}"/></svg>'


# After the build


def publish_only_pages(app, exception) -> None:
    """The theme's raw templates, its script of icons and the maps of its sources are of no use to a reader."""
    static = Path(app.outdir) / "_static"
    if exception is None and app.builder.format == "html":
        for file in [*(static / name for name in NOT_PUBLISHED), *static.glob("s*/*.map")]:
            file.unlink(missing_ok=True)
        for name in (*(Path(name).name for name in SCRIPTS), "a11y.js", "clearformer.css"):
            make_lean(static / name)


def make_lean(file: Path) -> None:
    """Without indentation and comments, which every page would load."""
    if file.is_file():
        unsaid = STYLE_COMMENT if file.suffix == ".css" else INDENTATION_OR_COMMENT
        file.write_text(unsaid.sub("", file.read_text(encoding="utf8")), encoding="utf8")


def write_for_visitors(app, exception) -> None:
    """404.html, robots.txt and, where the address is known, sitemap.xml."""
    if exception is not None or app.builder.format != "html":
        return
    folder, address = Path(app.outdir), app.config.html_baseurl
    not_found = Template((SITE / "404.html").read_text(encoding="utf8"))
    filled = not_found.substitute(project=app.config.project, root=address or "/")
    (folder / "404.html").write_text(filled, encoding="utf8")
    listed = sorted(name for name in app.env.found_docs if not is_hidden(app.env.metadata.get(name, {})))
    rules = "User-agent: *\nAllow: /\n"
    if address:
        pages = "".join(f"<url><loc>{address}{name}.html</loc></url>\n" for name in listed)
        xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
        sitemap = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{xmlns}">\n{pages}</urlset>\n'
        (folder / "sitemap.xml").write_text(sitemap, encoding="utf8")
        rules += f"Sitemap: {address}sitemap.xml\n"
    (folder / "robots.txt").write_text(rules, encoding="utf8")


def is_hidden(metadata: dict) -> bool:
    """Whether a page keeps itself out of every search."""
    return "nosearch" in metadata


def setup(app):
    app.connect("config-inited", use_templates)
    app.connect("config-inited", use_address)
    app.connect("html-page-context", keep_punctuation, priority=850)
    app.connect("html-page-context", keep_short_code, priority=855)
    app.connect("html-page-context", keep_sizes, priority=856)
    app.connect("html-page-context", tell_the_place, priority=860)
    app.connect("html-page-context", stack_long_rows, priority=870)
    app.connect("html-page-context", load_what_is_needed, priority=900)  # after MathJax has been added
    app.connect("html-page-context", describe, priority=910)
    app.connect("build-finished", publish_only_pages)
    app.connect("build-finished", write_for_visitors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
