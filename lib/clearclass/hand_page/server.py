"""Serves the pages to grade by hand to the browsers of this machine, and to those alone who have the address."""

import contextlib
import hmac
import json
import secrets
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from clearcheck.notebooks.escaping import one_line

from clearclass.hand import HandProblem
from clearclass.hand_page.given import ChangedMeanwhile, Given, GivenPoints
from clearclass.hand_page.look import SCRIPT, STYLE
from clearclass.hand_page.pages import Sheet, all_html, sheet_html

HOST = "127.0.0.1"
LARGEST_BODY = 2**17
HTML, JSON = "text/html; charset=utf-8", "application/json"
FILES = {"page.css": ("text/css; charset=utf-8", STYLE), "page.js": ("text/javascript; charset=utf-8", SCRIPT)}
HEADERS = {
    # A page loads its own style and script from here and pictures from itself; nothing that a learner wrote can run.
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class NotServed(Exception):
    """A request that gets nothing but the status."""

    def __init__(self, status: HTTPStatus):
        super().__init__(status.phrase)
        self.status = status


class HandServer(ThreadingHTTPServer):
    """On a free port of this machine alone; the token in the address is fresh for each start."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, sheets: list[Sheet], given: GivenPoints):
        super().__init__((HOST, 0), Handler)
        self.sheets, self.given = sheets, given
        self.token = secrets.token_urlsafe(24)

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.server_port}"

    @property
    def address(self) -> str:
        return f"{self.origin}/{self.token}/"

    def points(self) -> dict[tuple[int, str], Given]:
        return self.given.all(list({sheet.question.id: sheet.question for sheet in self.sheets}.values()))


class Handler(BaseHTTPRequestHandler):
    """Answers one request: whoever asks for another host, from another page or without the token gets nothing."""

    server: HandServer
    protocol_version = "HTTP/1.1"
    timeout = 60
    server_version, sys_version = "clearclass", ""

    def do_GET(self):
        self._answer(self._get)

    def do_POST(self):
        self._answer(self._post)

    def log_message(self, *arguments):
        """Nothing: an address holds the token."""

    def _answer(self, make):
        with contextlib.suppress(ConnectionError):  # the browser has gone on
            self._send(*self._outcome(make))

    def _outcome(self, make) -> tuple[HTTPStatus, str, str]:
        try:
            return HTTPStatus.OK, *make(self._asked_for())
        except NotServed as refused:
            self.close_connection = True  # what is left of the request is not read
            return refused.status, JSON, _error(refused.status.phrase)
        except ChangedMeanwhile as changed:
            return HTTPStatus.CONFLICT, JSON, _error(str(changed), kept=asdict(changed.kept))
        except HandProblem as problem:
            return HTTPStatus.UNPROCESSABLE_ENTITY, JSON, _error(str(problem))
        except (ConnectionError, TimeoutError):  # the browser's: for one that is late the connection is closed
            raise
        except OSError as error:
            said = f"The table of points cannot be written ({error.strerror or error})."
            return HTTPStatus.INTERNAL_SERVER_ERROR, JSON, _error(said)

    def _asked_for(self) -> str:
        """The part of the path behind the token. Raises: NotServed."""
        if self.headers.get_all("Host") != [f"{HOST}:{self.server.server_port}"]:
            raise NotServed(HTTPStatus.MISDIRECTED_REQUEST)
        origins = self.headers.get_all("Origin") or []
        if any(origin != self.server.origin for origin in origins):
            raise NotServed(HTTPStatus.FORBIDDEN)
        token, slash, name = self.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise NotServed(HTTPStatus.FORBIDDEN)
        return name

    def _get(self, name: str) -> tuple[str, str]:
        if name in FILES:
            return FILES[name]
        if name == "":
            return HTML, all_html(self.server.sheets, self.server.points())
        if not (name.isascii() and name.isdigit() and len(name) < 9 and int(name) < len(self.server.sheets)):
            raise NotServed(HTTPStatus.NOT_FOUND)
        sheet = self.server.sheets[int(name)]
        return HTML, sheet_html(self.server.sheets, int(name), self.server.points()[sheet.key])

    def _post(self, name: str) -> tuple[str, str]:
        if name != "save":
            raise NotServed(HTTPStatus.NOT_FOUND)
        if not self.headers.get("Origin") or self.headers.get("Content-Type") != JSON:
            raise NotServed(HTTPStatus.FORBIDDEN)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > LARGEST_BODY:
            raise NotServed(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.server.given.save(*self._change(self.rfile.read(int(length))))
        return JSON, "{}"

    def _change(self, body: bytes) -> tuple[int, Any, Given, Given]:
        """Which work and question, what was given and what is now. Raises: NotServed."""
        try:
            asked = json.loads(body)
            sheets = {sheet.key: sheet for sheet in self.server.sheets}
            sheet = sheets[asked["number"], asked["question"]]
            was, now = (Given(asked[name]["points"], asked[name]["remark"]) for name in ("was", "now"))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise NotServed(HTTPStatus.BAD_REQUEST) from None
        if not all(isinstance(text, str) for given in (was, now) for text in (given.points, given.remark)):
            raise NotServed(HTTPStatus.BAD_REQUEST)
        return sheet.number, sheet.question, was, now

    def _send(self, status: HTTPStatus, kind: str, text: str):
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _error(sentence: str, **more) -> str:
    return json.dumps({"error": one_line(sentence), **more})
