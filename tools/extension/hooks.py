"""What the book needs from Sphinx beyond its configuration file."""

import re
from functools import partial
from pathlib import Path

from pybtex import plugin
from sphinx.errors import ConfigError

from tools import ROOT
from tools.extension import (
    chapter_numbers,
    folds,
    formulas,
    front_page,
    lean_pages,
    live_transformer,
    moved_pages,
    navigation,
    old_anchors,
    page_parts,
    play,
    publish,
    quiz,
    search,
)
from tools.pages import library_reference, write
from tools.setup.vendor import COMPONENTS, SITE

UNLISTED = "chapters/grader-proof"  # how names of pages begin: thousands of rows, for whoever follows a link to them
MATHJAX = f"mathjax/{COMPONENTS[0]}"
FUNCTION = re.compile(r"<(?:built-in )?(?:function|class) '?(?:[\w.]*\.)?(\w+)'?(?: at 0x[0-9a-f]+)?>")
LABEL = re.compile(r"(\s*)(Source|Cost|Raises):(?= \S)")
PARAMETERS = re.compile(r"<dl>\s*((?:<dd>.*?</dd>\s*)+)</dl>")
EXPLORABLES = ROOT / "tools" / "site" / "explorables"
SHARED = ("explorables.css", "arithmetic.js", "base.js")
PART = re.compile(r'(<a class="part" href="[^"#]+)\.ipynb')
PLAIN_TEXT = ("pybtex.backends", "plaintext")
INDENTATION_OR_COMMENT = re.compile(r"^[ \t]*(?://.*\n)?", re.MULTILINE)


def use_local_mathjax(app, config) -> None:
    """Publish the MathJax that tools/setup/vendor.py has fetched; without it the pages load it from its usual address.

    Where Node.js is there, formulas.py takes the scripts out again.
    """
    config.mathjax3_config = {"options": {"enableMenu": False}}  # the menu would load further files
    if (SITE / MATHJAX).exists():
        config.html_extra_path = [*config.html_extra_path, str(SITE)]
        config.mathjax_path = f"../{MATHJAX}"  # Sphinx looks for scripts in _static
        parts = [name.removesuffix(".js") for name in COMPONENTS[1:] if "/fonts" not in name and "adaptors" not in name]
        config.mathjax3_config = {"loader": {"load": parts}}


def write_pages(app, config) -> None:
    """Solutions and proofs are no part of the repository: they are made of the exercises, as these are now.

    Raises: ConfigError for what cannot be written, such as a link to a section that is gone.
    """
    try:
        write.write(write.of_the_site())
    except ValueError as error:
        raise ConfigError(str(error)) from error


def list_pages(app, docname, source) -> None:
    """The pages that lead to solutions and proofs say, in the repository, where those are; here they list them."""
    source[0] = write.with_list(ROOT / f"{docname}.md", source[0])


def publish_unlisted(app, config) -> None:
    """Build the pages that are linked and not listed: whatever is not in _toc.yml has been excluded before this."""
    config.exclude_patterns = [it for it in config.exclude_patterns if not it.startswith(UNLISTED)]


def offer_exercises_for_download(app, docname, source) -> None:
    """A link to a learner's notebook, which is no page of the book, downloads it; in Jupyter the same link opens it."""
    source[0] = re.sub(r"\]\(((?:\.\./)+exercises/[\w-]+\.ipynb)\)", r"](path:\1)", source[0])


def document_the_library(app, docname, source) -> None:
    """The lists of the library reference are for who reads it in the repository; here stands all that they sum up."""
    if docname == library_reference.PAGE.relative_to(library_reference.ROOT).with_suffix("").as_posix():
        source[0] = library_reference.as_directives(source[0])


def mend_lists(app, pagename, templatename, context, doctree) -> None:
    """Two kinds of list that a screen reader cannot read as they come: long signatures (definitions without terms)
    and the bibliography (a role that has been given up)."""
    body = context.get("body")
    if body:
        body = PARAMETERS.sub(lambda m: re.sub(r"<dd>(.*?)</dd>", r'<span class="sig-line">\1</span>', m[1]), body)
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def follow_parts(app, pagename, templatename, context, doctree) -> None:
    """A table of models links to pages as notebooks, which Jupyter opens; on the site they are pages."""
    if context.get("body"):
        context["body"] = PART.sub(r"\1.html", context["body"])


def set_off_labels(app, what, name, obj, options, lines) -> None:
    """In a docstring the lines that begin with a label follow one another; on the page each is a paragraph."""
    for i in reversed(range(len(lines))):
        if match := LABEL.match(lines[i]):
            lines[i : i + 1] = ["", f"{match[1]}**{match[2]}:**{lines[i][match.end() :]}"]


def name_defaults(app, what, name, obj, options, signature, returns):
    """A default that is a function or a class, by its name: Sphinx cannot read <built-in function gelu>, nor <factory>,
    and would not break such a signature into lines."""
    return signature and FUNCTION.sub(r"\1", signature).replace("<factory>", "..."), returns


def skip_defaults(app, what, name, obj, skip, options):
    """A field of a dataclass whose default is a function or a class is no method of it."""
    is_own = "." in getattr(obj, "__qualname__", ".") and not isinstance(obj, partial)
    return True if what == "class" and not is_own else skip


def name_the_front_page(app, pagename, templatename, context, doctree) -> None:
    """The browser's title of the front page would else be the name of the book twice."""
    if pagename == app.config.root_doc:
        context["docstitle"] = "transformers, every equation executed"


def elements() -> dict[str, list[str]]:
    """The files that each custom element needs, by its tag: what is shared, and the script of the same name."""
    scripts = sorted(path.name for path in EXPLORABLES.glob("*-*.js"))
    return {name.removesuffix(".js"): [f"explorables/{file}" for file in (*SHARED, name)] for name in scripts}


def publish_elements(app) -> None:
    """Their files go beside _static: Jupyter Book would put every script inside of it into the head of every page."""
    if app.builder.format != "html":
        return
    for file in sorted({file for files in elements().values() for file in files}):
        target = Path(app.outdir) / file
        target.parent.mkdir(parents=True, exist_ok=True)
        source = (EXPLORABLES.parent / file).read_text(encoding="utf8")
        target.write_text(INDENTATION_OR_COMMENT.sub("", source), encoding="utf8")


def load_elements(app, pagename, templatename, context, doctree) -> None:
    """A page loads the scripts and styles of the custom elements that stand in it, and of no others."""
    body = context.get("body") or ""
    needed = [file for tag, files in elements().items() if f"<{tag}" in body for file in files]
    for file in dict.fromkeys(needed):
        if file.endswith(".css"):
            app.add_css_file(f"../{file}")
        else:
            app.add_js_file(f"../{file}", loading_method="defer")


def bring_the_live_transformer(app, pagename, templatename, context, doctree) -> None:
    """Its script for the pages that hold the element, and beside them the weights, which a click loads."""
    if live_transformer.TAG.search(context.get("body") or ""):
        up = "../" * pagename.count("/")
        context["body"] = live_transformer.bring_weights(context["body"], Path(app.outdir), up)
        app.add_js_file(f"../{live_transformer.SCRIPT}", loading_method="defer")  # Sphinx looks for scripts in _static


def setup(app):
    app.connect("builder-inited", publish_elements)
    app.connect("config-inited", write_pages, priority=0)  # before the table of contents is read
    app.connect("config-inited", use_local_mathjax)
    app.connect("config-inited", publish_unlisted, priority=1000)  # after the table of contents was read
    app.connect("source-read", offer_exercises_for_download)
    app.connect("source-read", document_the_library)
    app.connect("source-read", list_pages)
    app.connect("autodoc-process-docstring", set_off_labels)
    app.connect("autodoc-process-signature", name_defaults)
    app.connect("autodoc-skip-member", skip_defaults)
    app.connect("html-page-context", mend_lists)
    app.connect("html-page-context", follow_parts)
    app.connect("html-page-context", name_the_front_page)
    app.connect("html-page-context", load_elements)
    app.connect("html-page-context", bring_the_live_transformer)
    # Else every citation looks for it in all packages that are installed.
    plugin.register_plugin(*PLAIN_TEXT, plugin.find_plugin(*PLAIN_TEXT), force=True)
    parts = (
        chapter_numbers,
        front_page,
        navigation,
        old_anchors,
        quiz,
        folds,
        page_parts,
        play,
        search,
        lean_pages,
        formulas,
    )
    for part in (*parts, publish, moved_pages):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
