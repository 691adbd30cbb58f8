"""Build the site and serve it on this machine only, at a printed address, until Ctrl-C.

The port is taken before the site is built, so that a taken one is told at once. PORT=... in the environment asks
for one port; without it the first free one from 8000 on is used.
"""

import functools
import os
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools import ROOT
from tools.book.build import build
from tools.setup.bootstrap import SetupProblem
from tools.takeaway.downloads import write_notebooks

HOST = "127.0.0.1"
PORTS = (*range(8000, 8020), 0)  # 0 is any that is free
TYPES = SimpleHTTPRequestHandler.extensions_map | {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}


class Handler(SimpleHTTPRequestHandler):
    """Serves files quietly, and tells the browser to ask again after a rebuild.

    What a file is does not depend on this system: in a Windows registry, scripts and style sheets are often plain text.
    """

    extensions_map = TYPES

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # on Windows it would share a port that is taken


def main() -> int:
    try:
        with open_server(os.environ.get("PORT", ""), ROOT / "_build" / "html") as server:
            address = f"http://{HOST}:{server.server_port}/"
            write_notebooks(build(ROOT), address)
            print(f"\nClearformer is at {address} (Ctrl-C ends it)", flush=True)
            server.serve_forever()
    except SetupProblem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
    return 0


def open_server(wanted: str, folder: Path) -> Server:
    """A server bound to the wanted port, or to the first free one when none is named.

    Raises: SetupProblem if the wanted port is no port or cannot be had.
    """
    if wanted and not (wanted.isascii() and wanted.isdigit() and int(wanted) <= 65535):
        raise SetupProblem(f"PORT={wanted} is not a port: choose a number from 1024 to 65535.")
    for port in [int(wanted)] if wanted else PORTS:
        try:
            return Server((HOST, port), functools.partial(Handler, directory=str(folder)))
        except OSError:
            continue
    raise SetupProblem(f"Port {wanted} is taken: choose another, or leave PORT away and a free one is found.")


if __name__ == "__main__":
    sys.exit(main())
