"""Pages: text is text, code is code, files are whole."""

import pytest

from grfpp_lab.report import page
from grfpp_lab.report.page import Section, render_page, write_page


def assert_page_has(given, *parts):
    html = render_page(*given)
    for part in parts:
        assert part in html


def test_text_is_escaped_and_back_ticks_are_code():
    assert_page_has(
        ("A & B", ["x < y, `a<b>`"], [Section("<h1>", ["`f(x)` and `g`"])], "`end`"),
        "<title>A &amp; B</title>",
        "<p>x &lt; y, <code>a&lt;b&gt;</code></p>",
        "<h2>&lt;h1&gt;</h2>",
        "<p><code>f(x)</code> and <code>g</code></p>",
        "<footer><p><code>end</code></p></footer>",
    )


def test_galleries_and_tables():
    pictures = [page.Picture("data:,1", 'say "a"', "title", "note"), page.Picture("data:,2", "b")]
    groups = [page.TableGroup("all", [["a", "1"], ["b", "2"]], [1])]
    blocks = [page.Gallery(pictures, "c"), page.Table(["name", "x"], groups, "c", words=(0,))]
    assert_page_has(
        ("t", [], [Section("s", (), blocks)]),
        '<img src="data:,1" alt="say &#34;a&#34;">',
        "<b>title</b><br>note</p>",
        '<img src="data:,2" alt="b">',
        "<figcaption>c</figcaption>",
        "--wide: 4; --narrow: 2",
        '<th scope="col" class="word">name</th><th scope="col">x</th>',
        '<tr><td class="word">a</td><td>1</td></tr>',
        '<tr class="strong"><td class="word">b</td><td>2</td></tr>',
        '<th colspan="2" scope="rowgroup">all</th>',
        # For narrow screens, dark ones and paper.
        'name="viewport"',
        *("max-width: 46rem", "prefers-color-scheme: dark", "@media print"),
    )


def test_files_are_whole_or_not_there(tmp_path):
    write_page(tmp_path / "a.html", "grün")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == "grün"
    with pytest.raises(UnicodeEncodeError):
        write_page(tmp_path / "b.html", "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_pages_have_judgements_facts_headings_legends_and_links():
    keys = [page.Key("one", "#123456", dashed=True)]
    blocks = [
        page.Heading("h & h"),
        page.Judgement("Holds", "good", [("Paper says:", "x < y"), ("Measured:", "`z`")]),
        page.Facts([("seed", "0"), ("kernel", "`exp(W)`")]),
        page.Gallery([page.Picture("data:,1", "a")], "c", legend=keys),
    ]
    assert_page_has(
        ("t", ["see [there](#over-there)"], [Section("s", (), blocks, "over-there")]),
        '<a href="#over-there">there</a>',
        '<section id="over-there">',
        "<h3>h &amp; h</h3>",
        '<div class="judgement good">',
        "<p><b>Paper says:</b> x &lt; y</p>",
        "<b>seed</b> 0 · <b>kernel</b> <code>exp(W)</code>",
        *("#123456", "stroke-dasharray"),
    )
