"""The book, built once for all workers, and served on loopback for the browser."""

import functools
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from filelock import FileLock

from tests.book.pages import AXE, CHROMIUM, NO_CHROMIUM
from tools import ROOT
from tools.book.build import build
from tools.setup.bootstrap import SetupProblem

IN_THE_BROWSER = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)]
PATIENCE = 600_000  # milliseconds; only what hangs takes so long


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]):
    """What uses the browser is marked as such, in whatever file it stands, and is skipped where there is none."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            for mark in IN_THE_BROWSER:
                item.add_marker(mark)


@pytest.fixture(scope="session")
def book_build(tmp_path_factory, request) -> SimpleNamespace:
    """A fresh build as `make book` does it: pages, ok (no error, no warning) and log."""
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent
    target, log = shared / "book", shared / "book.log"
    with FileLock(shared / "book.lock"):
        if not log.exists():
            with log.open("w") as file:
                try:
                    build(ROOT, target, log=file.fileno())
                except SetupProblem as problem:
                    file.seek(0, 2)
                    file.write(f"\nFAILED {problem}\n")
    text = log.read_text()
    return SimpleNamespace(pages=target / "_build" / "html", ok="\nFAILED " not in text, log=text)


class QuietHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for all that a page loads

    def translate_path(self, path):
        return str(AXE) if path == f"/{AXE.name}" else super().translate_path(path)  # beside the site, to be cached too

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")  # what pages share is fetched once
        super().end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def site(book_build) -> Iterator[str]:
    """The address of the built site."""
    handler = functools.partial(QuietHandler, directory=str(book_build.pages))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="package")
def browser():
    """Chromium, one for all the files here that a process reads."""
    from playwright.sync_api import sync_playwright

    from tests.book.test_browser import FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=PATIENCE)
        for maker in ("new_page", "new_context"):
            setattr(browser, maker, with_patience(getattr(browser, maker)))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def window(browser):
    """The page that shows one element after the other, and what it complains of."""
    page = browser.new_page()
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    page.close()


@pytest.fixture
def reader(browser):
    """A reader who has not been here before."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield context
    context.close()


@pytest.fixture
def visit(reader, site):
    def visit_it(name: str):
        page = reader.new_page()
        page.goto(f"{site}/{name}", wait_until="load")
        return page

    return visit_it


def with_patience(make: Callable) -> Callable:
    """What makes a page or a context that waits long for what is to come: on a busy machine half a minute is short."""

    @functools.wraps(make)
    def make_patient(*arguments, **options):
        it = make(*arguments, **options)
        it.set_default_timeout(PATIENCE)
        return it

    return make_patient
