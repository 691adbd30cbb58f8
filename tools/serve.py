"""Build the site and serve it on this machine only, at a printed address, until Ctrl-C.

The port is taken before the site is built, so that a taken one is told at once. PORT=... in the environment asks
for one port; without it the first free one from 8000 on is used.
"""

import errno
import functools
import os
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from book import build
from bootstrap import ROOT, SetupProblem

HOST = "127.0.0.1"
FIRST_PORT = 8000
TRIES = 20


class Handler(SimpleHTTPRequestHandler):
    """Serves files quietly, and tells the browser to ask again after a rebuild."""

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
            build(ROOT)
            print(f"\nClearformer is at http://{HOST}:{server.server_port}/ (Ctrl-C ends it)", flush=True)
            server.serve_forever()
    except SetupProblem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
    return 0


def open_server(wanted: str, folder: Path) -> Server:
    """A server bound to the wanted port, or to the first free one when none is named.

    Raises: SetupProblem if the wanted port is no port or is taken.
    """
    handler = functools.partial(Handler, directory=str(folder))
    if wanted:
        port = int(wanted) if wanted.isascii() and wanted.isdigit() else -1
        if not 0 <= port <= 65535:
            raise SetupProblem(f"PORT={wanted} is not a port: choose a number from 1024 to 65535.")
        server = try_port(port, handler)
        if server is None:
            raise SetupProblem(f"Port {port} is taken: choose another, for instance make serve PORT={free_port()}.")
        return server
    for port in range(FIRST_PORT, FIRST_PORT + TRIES):
        server = try_port(port, handler)
        if server is not None:
            if port != FIRST_PORT:
                print(f"Port {FIRST_PORT} is taken, port {port} is used instead.", flush=True)
            return server
    raise SetupProblem(
        f"Ports {FIRST_PORT} to {FIRST_PORT + TRIES - 1} are all taken: choose another, for instance "
        f"make serve PORT={free_port()}."
    )


def try_port(port: int, handler) -> Server | None:
    """A server on this port, or None if the port is taken or not allowed."""
    try:
        return Server((HOST, port), handler)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES) or os.name == "nt":
            return None
        raise


def free_port() -> int:
    with Server((HOST, 0), Handler) as server:
        return server.server_port


if __name__ == "__main__":
    sys.exit(main())
