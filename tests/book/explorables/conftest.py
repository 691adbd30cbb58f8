"""Each explorable on a page of its own, opened as a file, with the data that the chapters have stored."""

from types import SimpleNamespace

import pytest

from tests.book.explorables.shown import ExplorableOnPage, extension, stored_html


@pytest.fixture(scope="module")
def site_files(tmp_path_factory):
    """The files of the explorables as the build publishes them."""
    folder = tmp_path_factory.mktemp("explorables")
    extension.publish_elements(SimpleNamespace(outdir=str(folder), builder=SimpleNamespace(format="html")))
    return folder


@pytest.fixture
def show(window, site_files):
    """One explorable on a page of its own, opened as a file; its data may be changed before."""

    def show_it(tag, change=lambda html: html, page=window):
        files = extension.elements()[tag]
        styles = "".join(f'<link rel="stylesheet" href="{file}">' for file in files if file.endswith(".css"))
        scripts = "".join(f'<script defer src="{file}"></script>' for file in files if file.endswith(".js"))
        (site_files / "page.html").write_text(
            f'<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf8"><title>x</title>'
            f'<meta name="viewport" content="width=device-width">{styles}{scripts}</head>'
            f"<body><main><h1>x</h1>{change(stored_html(tag))}</main></body></html>",
            encoding="utf8",
        )
        window.complaints.clear()
        page.set_viewport_size({"width": 800, "height": 900})
        page.goto((site_files / "page.html").as_uri(), wait_until="load")
        return ExplorableOnPage(page, tag)

    return show_it
