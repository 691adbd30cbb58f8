"""Serving: the address is this machine's only, and a taken port is told, or passed over when none was asked for."""

import mimetypes
import socket
import threading
import urllib.request

import pytest

from tools.book import serve
from tools.setup.bootstrap import SetupProblem


@pytest.fixture
def taken_port():
    """A port that something listens on."""
    with socket.socket() as listener:
        listener.bind((serve.HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_wanted_port_that_is_taken_is_told(taken_port, tmp_path):
    with pytest.raises(SetupProblem, match=rf"Port {taken_port} is taken: choose another"):
        serve.open_server(str(taken_port), tmp_path)


def test_without_a_wanted_port_a_taken_one_is_passed_over(taken_port, tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "PORTS", (taken_port, 0))
    with serve.open_server("", tmp_path) as server:
        assert server.server_port not in (0, taken_port)


@pytest.mark.parametrize("wanted", ["http", "-1", "70000", "80 80", "²"])
def test_what_is_no_port_is_told(wanted, tmp_path):
    with pytest.raises(SetupProblem, match="is not a port: choose a number"):
        serve.open_server(wanted, tmp_path)


def test_pages_are_served_on_loopback_and_asked_for_again(tmp_path):
    (tmp_path / "index.html").write_text("hello", encoding="utf-8")
    with serve.open_server("0", tmp_path) as server:
        assert server.server_address[0] == "127.0.0.1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
            assert answer.read() == b"hello"
            assert answer.headers["Cache-Control"] == "no-cache"
        server.shutdown()


@pytest.mark.parametrize(("suffix", "kind"), serve.TYPES.items())
def test_a_file_is_what_it_is_whatever_this_system_says(suffix, kind, tmp_path, monkeypatch):
    """Catches style sheets that a browser refuses, since the registry of a Windows calls them plain text."""
    monkeypatch.setattr(mimetypes, "guess_type", lambda path, *strict: ("text/plain", None))
    handler = serve.Handler.__new__(serve.Handler)
    assert handler.guess_type(str(tmp_path / f"a{suffix}")) == kind


def test_the_port_is_taken_before_the_book_is_built(taken_port, monkeypatch, capsys):
    monkeypatch.setenv("PORT", str(taken_port))
    monkeypatch.setattr(serve, "build", lambda root: pytest.fail("built although the port is taken"))
    assert serve.main() == 1
    assert "is taken" in capsys.readouterr().err


def test_ctrl_c_ends_it_without_a_traceback(monkeypatch, capsys):
    def interrupt(root):
        raise KeyboardInterrupt

    monkeypatch.setenv("PORT", "0")
    monkeypatch.setattr(serve, "build", interrupt)
    assert serve.main() == 0
    assert "Stopped." in capsys.readouterr().out
