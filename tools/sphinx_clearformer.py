"""What the book needs from Sphinx beyond its configuration file."""

import re
from functools import partial

from vendor import SITE

MATHJAX = "mathjax/tex-mml-chtml.js"
FUNCTION = re.compile(r"<(?:built-in )?(?:function|class) '?(?:[\w.]*\.)?(\w+)'?(?: at 0x[0-9a-f]+)?>")
LABEL = re.compile(r"(\s*)(Source|Cost|Raises):(?= \S)")
PARAMETERS = re.compile(r"<dl>\s*((?:<dd>.*?</dd>\s*)+)</dl>")


def use_local_mathjax(app, config) -> None:
    """Publish the MathJax that tools/vendor.py has fetched; without it the pages load it from its usual address."""
    if (SITE / MATHJAX).exists():
        config.html_extra_path = [*config.html_extra_path, str(SITE)]
        config.mathjax_path = f"../{MATHJAX}"  # Sphinx looks for scripts in _static
    config.mathjax3_config = {"options": {"enableMenu": False}}  # the menu would load further files


def offer_exercises_for_download(app, docname, source) -> None:
    """A link to a learner's notebook, which is no page of the book, downloads it; in Jupyter the same link opens it."""
    source[0] = re.sub(r"\]\(((?:\.\./)+exercises/[\w-]+\.ipynb)\)", r"](path:\1)", source[0])


def mend_lists(app, pagename, templatename, context, doctree) -> None:
    """Two kinds of list that a screen reader cannot read as they come: long signatures (definitions without terms)
    and the bibliography (a role that has been given up)."""
    body = context.get("body")
    if body:
        body = PARAMETERS.sub(lambda m: re.sub(r"<dd>(.*?)</dd>", r'<span class="sig-line">\1</span>', m[1]), body)
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def set_off_labels(app, what, name, obj, options, lines) -> None:
    """In a docstring the lines that begin with a label follow one another; on the page each is a paragraph."""
    for i in reversed(range(len(lines))):
        if match := LABEL.match(lines[i]):
            lines[i : i + 1] = ["", f"{match[1]}**{match[2]}:**{lines[i][match.end() :]}"]


def name_defaults(app, what, name, obj, options, signature, returns):
    """A default that is a function or a class, by its name: Sphinx cannot read <built-in function gelu>."""
    return signature and FUNCTION.sub(r"\1", signature), returns


def skip_defaults(app, what, name, obj, skip, options):
    """A field of a dataclass whose default is a function or a class is no method of it."""
    is_own = "." in getattr(obj, "__qualname__", ".") and not isinstance(obj, partial)
    return True if what == "class" and not is_own else skip


def name_the_front_page(app, pagename, templatename, context, doctree) -> None:
    """The browser's title of the front page would else be the name of the book twice."""
    if pagename == app.config.root_doc:
        context["docstitle"] = "transformers, every equation executed"


def setup(app):
    app.connect("config-inited", use_local_mathjax)
    app.connect("source-read", offer_exercises_for_download)
    app.connect("autodoc-process-docstring", set_off_labels)
    app.connect("autodoc-process-signature", name_defaults)
    app.connect("autodoc-skip-member", skip_defaults)
    app.connect("html-page-context", mend_lists)
    app.connect("html-page-context", name_the_front_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
