"""The navigation of a page, made from the titles of the others.

Sphinx copies the headings of every page for the navigation of every page, and throws them away, since a navigation has
titles alone: a quarter of the time of a build.
"""

import posixpath

from docutils.nodes import bullet_list
from sphinx.addnodes import toctree


def titles(contents: bullet_list) -> bullet_list:
    """The title of a page with the lists of pages below it, and without its headings."""
    thin = contents.deepcopy()
    for entry in thin:
        if len(entry) > 1:
            below = list(entry.findall(toctree))
            if below:
                entry[1][:] = below
            else:
                entry.pop(1)
    return thin


def setup(app) -> None:
    thin: dict[str, bullet_list] = {}
    made: dict[tuple, str] = {}

    def use_titles(app, pagename, templatename, context, doctree) -> None:
        make = context["toctree"]

        def from_titles(**options):
            if not options.get("titles_only"):
                return make(**options)
            if not thin:
                thin.update({name: titles(contents) for name, contents in app.env.tocs.items()})
            # Pages that stand in no contents have one navigation in each folder.
            place = pagename if pagename in thin else f"{posixpath.dirname(pagename)}/"
            asked = (place, *sorted(options.items()))
            if asked not in made:
                whole, app.env.tocs = app.env.tocs, thin
                try:
                    made[asked] = make(**options)
                finally:
                    app.env.tocs = whole
            return made[asked]

        context["toctree"] = from_titles

    app.connect("html-page-context", use_titles)
