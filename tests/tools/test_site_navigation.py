"""The navigation from titles: what is kept of a page's contents, and that a build's own contents stay whole."""

from types import SimpleNamespace

from docutils.nodes import bullet_list, list_item, paragraph
from sphinx.addnodes import toctree

from tools.extension import navigation


def contents(*below) -> bullet_list:
    """A page with two headings, and below the second one what is given."""
    headings = [list_item("", paragraph("", heading)) for heading in ("first", "second")]
    if below:
        headings[1] += bullet_list("", *below)
    return bullet_list("", list_item("", paragraph("", "title"), bullet_list("", *headings)))


def test_headings_go_and_pages_below_stay():
    """Catches a closer look that the navigation has lost, and headings that it copies for nothing."""
    whole = contents(toctree(includefiles=["closer"]))
    thin = navigation.titles(whole)
    assert thin.astext().strip() == "title" and [node["includefiles"] for node in thin.findall(toctree)] == [["closer"]]
    assert navigation.titles(contents()).astext().strip() == "title"
    assert "second" in whole.astext()


def test_only_a_navigation_of_titles_is_made_from_them():
    """Catches a page whose own contents have lost their headings."""
    seen, hooks = [], []
    env = SimpleNamespace(tocs={"page": contents()})
    app = SimpleNamespace(env=env, connect=lambda event, hook: hooks.append(hook))
    navigation.setup(app)
    context = {"toctree": lambda **options: seen.append(env.tocs["page"].astext())}
    hooks[-1](app, "page", "page.html", context, None)
    context["toctree"](titles_only=True)
    context["toctree"]()
    assert seen[0].strip() == "title" and "first" in seen[1] and "first" in env.tocs["page"].astext()
