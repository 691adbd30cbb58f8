"""The helpers that read pages find what they are meant to find."""

from tests.book.pages import broken_links, requests_elsewhere


def test_broken_links_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<p id="here">b</p>')
    links = ["b.html#here", "b.html", "https://example.org/x", "#top", "b.html#gone", "c.html", "mailto:a@b.c"]
    (tmp_path / "a.html").write_text('<a id="top"></a>' + "".join(f'<a href="{link}">x</a>' for link in links))
    assert [entry.split()[0] for entry in broken_links(tmp_path, "a.html")] == ["b.html#gone", "c.html"]


def test_requests_elsewhere_are_found(tmp_path):
    page = tmp_path / "a.html"
    page.write_text(
        '<script src="https://x.org/a.js"></script><img src="a.png"><a href="https://y.org">y</a>'
        '<link rel="stylesheet" href="//z.org/s.css">'
    )
    assert requests_elsewhere(page) == {"https://x.org/a.js", "//z.org/s.css"}
