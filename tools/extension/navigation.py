"""The navigation of a page: made from the titles of the others, and from chapter to chapter.

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


CLOSER = "chapters/closer/"  # how pages begin that a reader may leave out


def lead_from_chapter_to_chapter(app, pagename, templatename, context, doctree) -> None:
    """The buttons of a chapter pass over the closer looks, which are listed above them."""
    if pagename.startswith(CLOSER) or pagename not in app.builder.relations:
        return
    for place, step in (("prev", 1), ("next", 2)):  # in a page's relations: its parent, previous and next page
        name = app.builder.relations[pagename][step]
        if not name or not name.startswith(CLOSER):
            continue
        while name and name.startswith(CLOSER):
            name = app.builder.relations[name][step]
        context[place] = name and {"link": app.builder.get_relative_uri(pagename, name), "title": title(app, name)}
    if looks := [name for name in app.env.toctree_includes.get(pagename, ()) if name.startswith(CLOSER)]:
        items = "".join(
            f'<li><a href="{app.builder.get_relative_uri(pagename, name)}">{title(app, name)}</a></li>'
            for name in looks
        )
        head = '<p id="closer-looks">Closer looks at this chapter, each a page of its own:</p>'
        context["body"] += f'<nav class="closer-looks" aria-labelledby="closer-looks">{head}<ul>{items}</ul></nav>'


def title(app, name: str) -> str:
    return app.builder.render_partial(app.env.titles[name])["title"].removeprefix("Closer look: ")


def setup(app) -> None:
    app.connect("html-page-context", lead_from_chapter_to_chapter)
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
