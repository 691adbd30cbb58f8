"""Anchors of headings as the tools compute them are those of the built book."""

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from myst_parser.mdit_to_docutils.base import default_slugify

from tools.pages import reading


@pytest.mark.parametrize("name", reading.pages())
def test_anchors_are_those_of_the_book(name):
    """Catches an anchor that we compute in another way than MyST does when it builds the page."""
    path = reading.pages()[name]
    parser = (
        MarkdownIt()
        .use(front_matter_plugin)
        .use(dollarmath_plugin)
        .use(anchors_plugin, max_level=3, slug_func=default_slugify)
    )
    prose = ["".join(cell["source"]) for cell in reading.cells(path) if cell["cell_type"] == "markdown"]
    tokens = parser.parse("\n\n".join(prose))
    expected = [token.attrs["id"] for token in tokens if token.type == "heading_open" and "id" in token.attrs]
    assert list(reading.headings(path)) == expected
