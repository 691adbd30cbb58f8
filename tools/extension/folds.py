"""What the bar of a folded cell says: what a click on it shows."""

import re

from docutils import nodes

DEFINED = re.compile(r"^(class|def) (\w+)", re.MULTILINE)
KINDS = {"class": "the class", "def": "the function"}
MOST_NAMES = 3
YOURS = re.compile(r"# (yours from chapter \d+)")
SETUP = re.compile(r"^setup\(", re.MULTILINE)
ONE_FOR_ALL = '<summary aria-label="Toggle hidden content">'  # what a screen reader would say for every bar


def what_it_shows(code: str, is_figure: bool = False) -> str:
    """The code of a cell in a few words."""
    defined = DEFINED.findall(code)
    if SETUP.search(code):
        return "the imports"
    if is_figure:
        return "the code of the figure"
    if not defined or len(defined) > MOST_NAMES:
        return "the code"
    names = [name for _, name in defined]
    shown = f"{KINDS[defined[0][0]]} {names[0]}" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    yours = YOURS.match(code)
    return f"{shown}, {yours[1]}" if yours else shown


def name_folds(app, doctree) -> None:
    """Hook of Sphinx ("doctree-read"). A cell that was given words of its own keeps them."""
    for cell in doctree.findall(nodes.container):
        if not cell.get("hide_mode"):
            continue
        if cell["prompt_show"] == app.config.nb_code_prompt_show:
            is_figure = "figure" in cell["cell_metadata"].get("mystnb", {})
            what = what_it_shows(cell.children[0].astext(), is_figure)
            cell["prompt_show"] = f"Show {what if cell['hide_mode'] in ('input', 'all') else 'the {type}'}"
        cell["prompt_hide"] = re.sub("^Show", "Hide", cell["prompt_show"])


def read_each_bar(app, pagename, templatename, context, doctree) -> None:
    """Hook of Sphinx ("html-page-context"): a bar is called what stands on it."""
    if context.get("body"):
        context["body"] = context["body"].replace(ONE_FOR_ALL, "<summary>")


def setup(app):
    app.connect("doctree-read", name_folds)
    app.connect("html-page-context", read_each_bar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
