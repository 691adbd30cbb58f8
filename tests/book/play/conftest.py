"""Each page to play with: its element on a page of its own, opened as a file, as the build publishes it."""

import pytest

from tests.lazy_module import LazyModule

play = LazyModule("tools.extension.play")


@pytest.fixture(scope="session")
def play_files(tmp_path_factory):
    """A folder that holds what every element needs, as the site does."""
    from types import SimpleNamespace

    from tools.extension import hooks

    folder = tmp_path_factory.mktemp("play")
    hooks.publish_elements(SimpleNamespace(outdir=str(folder), builder=SimpleNamespace(format="html")))
    for name in play.names():
        play.publish(name, folder)
    return folder


@pytest.fixture
def opened(window, play_files):
    """An element on its page; `before` is a script that runs first, such as one that fills the storage."""

    def open_it(name: str, page=None, before: str = "localStorage.clear()"):
        shown = page or window
        if not page:
            window.complaints.clear()
        loaded = play.files(name)
        styles = "".join(f'<link rel="stylesheet" href="{file}">' for file in loaded if file.endswith(".css"))
        scripts = "".join(f'<script defer src="{file}"></script>' for file in loaded if file.endswith(".js"))
        weights = play.parts(name).get("weights")
        element = play.opening(name, name).replace(">", f' src="live/{weights}.js">' if weights else ">")
        (play_files / f"{name}.html").write_text(
            '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf8"><title>x</title>'
            f'<meta name="viewport" content="width=device-width"><script>{before}</script>{styles}{scripts}</head>'
            f'<body><main><h1>x</h1>{element}<div class="still"><p>still</p></div></{name}></main></body></html>',
            encoding="utf8",
        )
        shown.set_viewport_size({"width": 1000, "height": 900})
        shown.goto((play_files / f"{name}.html").as_uri(), wait_until="load")
        return shown.locator(name)

    return open_it
