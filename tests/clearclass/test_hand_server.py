"""The pages to grade by hand: who gets them, what runs in them, and what is saved."""

import http.client
import json
import re
import socket
import threading
from html.parser import HTMLParser

import pytest
from clearclass.hand_page.given import Given, GivenPoints
from clearclass.hand_page.pages import sheets_of
from clearclass.hand_page.server import LARGEST_BODY, Handler, HandServer
from clearclass.hand_page.shown import work_html

from .hand_class import ESSAY, PLOT, code_cell, png, shows, text_cell, write_work

SCRIPT = "<script>alert(1)</script>"
DRAWING = f'<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>'


@pytest.fixture
def server(tmp_path):
    """Two learners, two questions."""
    works = [write_work(tmp_path / f"{name}.ipynb", name, "", code_cell("print(1)")) for name in ("ada", "bob")]
    with HandServer(sheets_of(works, [PLOT, ESSAY]), GivenPoints(tmp_path / "hand.csv", works)) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def ask(server: HandServer, name: str = "", body=None, token: str | None = None, **headers) -> tuple[int, str]:
    """The status and the text of an answer; a header that is None is left out."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    path = f"/{server.token if token is None else token}/{name}"
    sent = {"Host": f"127.0.0.1:{server.server_port}"}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    if data is not None:
        sent |= {"Origin": server.origin, "Content-Type": "application/json", "Content-Length": str(len(data))}
    sent |= {key.replace("_", "-"): value for key, value in headers.items()}
    connection.putrequest("GET" if data is None else "POST", path, skip_host=True, skip_accept_encoding=True)
    for key, value in sent.items():
        if value is not None:
            connection.putheader(key, value)
    connection.endheaders(data)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def change(points: str, remark: str = "", was=("", ""), number=0, question="plot") -> dict:
    """What the page sends."""
    before, now = ({"points": p, "remark": r} for p, r in (was, (points, remark)))
    return {"number": number, "question": question, "was": before, "now": now}


def test_only_who_has_the_address_gets_a_page(server):
    """Catches a page of names and work for a program that guesses the port, and a host by another name."""
    assert ask(server)[0] == ask(server, "0")[0] == ask(server, "page.js")[0] == 200
    assert server.server_address[0] == "127.0.0.1" and len(server.token) >= 32
    for token in ("", "x", server.token[:-1], server.token + "x", "%00"):
        status, text = ask(server, token=token)
        assert (status, "ada" in text) == (403, False)
    for host in ("example.org", f"localhost:{server.server_port}", "127.0.0.1", None):
        status, text = ask(server, Host=host)
        assert status in (400, 421) and "ada" not in text
    for origin in ("http://example.org", "null", server.origin.replace("127.0.0.1", "localhost")):
        assert ask(server, Origin=origin)[0] == 403
    for name in ("9", "-1", "x", "../0", "0/", "%C2%B2"):
        assert ask(server, name)[0] == 404


def test_only_the_page_saves(server):
    """Catches points that a page of somebody else sends in the instructor's browser."""
    for headers in (
        {"Origin": "http://example.org"},
        {"Origin": "null"},
        {"Origin": None},
        {"Content_Type": "text/plain"},
        {"Host": "example.org"},
        {"token": "x"},
    ):
        assert ask(server, "save", change("3"), **headers)[0] in (403, 421), headers
    assert ask(server, "save", b"x" * (LARGEST_BODY + 1))[0] == 413
    assert ask(server, "save", change("3"), Content_Length="-1")[0] == 413
    assert ask(server, "0", change("3"))[0] == 404
    assert not server.given.path.exists()


BAD = [
    b"",
    b"[]",
    b"{" * 9999,
    b"[" * 100_000,
    change("3", number=7),
    change("3", question="x"),
    change(3),
    change("3", None),
]


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
def test_what_is_no_change_is_refused(server, body):
    """Catches a traceback in place of an answer, and a work that is not there."""
    assert ask(server, "save", body)[0] == 400
    assert ask(server)[0] == 200 and not server.given.path.exists()


def test_points_are_saved_and_shown(server):
    """Catches what is said to be saved and is not, points of another learner, and an error without its reason."""
    assert ask(server, "save", change("3", "Tall <b> & “wide”"))[0] == 200
    assert 'value="3"' in ask(server, "0")[1] and "Tall &lt;b&gt; &amp; “wide”" in ask(server, "0")[1]
    assert 'value=""' in ask(server, "1")[1]
    listed = ask(server)[1]
    assert "1 of 4 have points" in listed and "3 of 4" in listed and 'id="start" href="1"' in listed
    status, text = ask(server, "save", change("5", was=("3", "Tall <b> & “wide”")))
    assert status == 422 and "from 0 to 4" in json.loads(text)["error"]
    server.given.path.write_text("nobody\n1\n")
    status, text = ask(server, "save", change("1"))
    assert status == 422 and "whose the points are" in json.loads(text)["error"]


def test_every_sheet_is_listed_and_leads_to_the_next(server):
    """Catches a column without its name, points of a sheet that has none, and a sheet that no other leads to."""
    ask(server, "save", change("3", number=1))
    listed = ask(server)[1]
    names = ("Question", "Learner", "Exercise", "Points")
    assert "".join(f'<th scope="col">{name}</th>' for name in names) in listed
    assert re.findall(r"<td>([^<]*)</td></tr>", listed) == ["–", "3 of 4", "–", "–"]
    links = [
        {tag["id"]: tag["href"] for _, tag in Tags(ask(server, str(i))[1]).found if "rel" in tag and "id" in tag}
        for i in range(4)
    ]
    assert links == [
        {"next": "1"},
        {"previous": "0", "next": "2"},
        {"previous": "1", "next": "3"},
        {"previous": "2"},
    ]


def test_a_change_that_does_not_arrive_is_no_fault_of_the_table(server, monkeypatch, capsys):
    """Catches an answer that blames the file, and a traceback, where the browser's connection is lost."""
    monkeypatch.setattr(Handler, "timeout", 0.1)
    head = f"POST /{server.token}/save HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nOrigin: {server.origin}\r\n"
    with socket.create_connection(server.server_address) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{{".encode())
        assert connection.recv(1) == b""
    assert ask(server)[0] == 200 and capsys.readouterr().err == ""


def test_two_windows(server):
    """Catches the window that saves last and undoes the other, without a word."""
    ask(server, "save", change("3", "mine"))
    status, text = ask(server, "save", change("1"))
    assert status == 409 and json.loads(text)["kept"] == {"points": "3", "remark": "mine"}
    assert server.given.all([PLOT])[0, "plot"] == Given("3", "mine")


def test_many_saves_at_once(server):
    """Catches two threads of which one writes over the row of the other."""
    sent = [change("1", number=number, question=question) for number in (0, 1) for question in ("plot", "essay")]
    threads = [threading.Thread(target=ask, args=(server, "save", body)) for body in sent]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {given.points for given in server.given.all([PLOT, ESSAY]).values()} == {"1"}


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_nothing_of_a_submission_runs(tmp_path):
    """Catches a script, an address or a style of a learner that a browser would obey, wherever it stands."""
    everywhere = shows(text_html=SCRIPT, text_plain=SCRIPT, application_javascript="alert(1)")
    cells = [
        text_cell(f"# A plot {SCRIPT}\n![x](javascript:alert(1))"),
        code_cell(SCRIPT, everywhere, shows(**{"image_svg+xml": [DRAWING]}), shows(image_png=png())),
        code_cell("1", {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m \u202e", SCRIPT]}),
        code_cell("1", {"output_type": "error", "traceback": [SCRIPT, 1]}, {"output_type": "error"}),
    ]
    page = work_html(write_work(tmp_path / "a.ipynb", "a", "", *cells), "")
    tags = Tags(page).found
    assert not {tag for tag, _ in tags} - {"div", "p", "pre", "code", "img"}
    sources = [attributes["src"] for tag, attributes in tags if tag == "img"]
    assert [source.partition(";")[0] for source in sources] == ["data:image/svg+xml", "data:image/png"]
    assert all(attributes["alt"] for tag, attributes in tags if tag == "img")
    assert "alert(1)" in page and "\\u202e" in page and "\x1b" not in page and "red" in page


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image_png", "bm90IGEgcG5n"),
        ("image_png", "not base64"),
        ("image_png", png()[:20]),
        ("image_png", "iVBORw0KGgoAAAANSUhEUv//////////"),  # as wide and high as a header can say
        ("image_jpeg", png()),
        ("image_svg+xml", "<html>"),
        ("image_svg+xml", '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'),
        ("image_png", 5),
    ],
)
def test_a_picture_that_is_none_is_told(tmp_path, kind, data):
    """Catches bytes of any kind behind the name of a picture."""
    page = work_html(write_work(tmp_path / "a.ipynb", "a", "", code_cell("1", shows(**{kind: data}))), "")
    assert "is not shown" in page and "<img" not in page


def test_the_section_that_is_asked_for_is_shown(tmp_path):
    """Catches another question's work, a pasted picture that is lost, and nothing where the text is nowhere."""
    pasted = {"scan.png": {"image/png": png()}}
    cells = [
        text_cell("# One"),
        code_cell("first = 1"),
        text_cell("## Two"),
        text_cell("see", attachments=pasted),
        code_cell("plot_it()"),
        text_cell("text"),
        text_cell("# Three"),
        code_cell("last = 1"),
    ]
    work = write_work(tmp_path / "a.ipynb", "a", "", *cells)
    page = work_html(work, "plot_it")
    assert "## Two" in page and "Code cell 2" in page and "text" in page and "<img" in page
    assert "first" not in page and "last" not in page
    assert work_html(work, "## Two") == page  # the heading itself
    page = work_html(work, "nowhere")
    assert "No cell holds nowhere" in page and "first" in page and "last" in page


@pytest.mark.parametrize("text", ["{", "[]", '{"nbformat": 4, "cells": []}', None])
def test_a_file_that_cannot_be_shown_is_told(tmp_path, text):
    """Catches a page that is not there for the learner whose file is broken, changed or gone."""
    work = write_work(tmp_path / "a.ipynb", "a", "", code_cell("1"))
    work.path.unlink() if text is None else work.path.write_text(text)
    page = work_html(work, "")
    assert ("is not there" if text is None else "has changed") in page
