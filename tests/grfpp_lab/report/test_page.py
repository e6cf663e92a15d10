"""Pages: text is text, code is code, files are whole."""

import pytest

from grfpp_lab.report import page
from grfpp_lab.report.page import Section, render_page, write_page


def test_text_is_escaped_and_back_ticks_are_code():
    html = render_page("A & B", ["x < y, `a<b>`"], [Section("<h1>", ["`f(x)` and `g`"])], "`end`")
    assert "<title>A &amp; B</title>" in html
    assert "<p>x &lt; y, <code>a&lt;b&gt;</code></p>" in html
    assert "<h2>&lt;h1&gt;</h2>" in html
    assert "<p><code>f(x)</code> and <code>g</code></p>" in html
    assert "<footer><p><code>end</code></p></footer>" in html


def test_a_gallery_has_words_for_its_pictures():
    gallery = page.Gallery(
        [page.Picture("data:,1", 'say "a"', "title", "note"), page.Picture("data:,2", "b")], "c"
    )
    html = render_page("t", [], [Section("s", (), [gallery])])
    for part in (
        '<img src="data:,1" alt="say &#34;a&#34;">',
        "<b>title</b><br>note</p>",
        '<img src="data:,2" alt="b">',
        "<figcaption>c</figcaption>",
        "--wide: 4; --narrow: 2",
    ):
        assert part in html


def test_a_table_has_groups_and_marks():
    table = page.Table(
        ["name", "x"], [page.TableGroup("all", [["a", "1"], ["b", "2"]], [1])], "c", words=(0,)
    )
    html = render_page("t", [], [Section("s", (), [table])])
    assert '<th scope="col" class="word">name</th><th scope="col">x</th>' in html
    assert '<tr><td class="word">a</td><td>1</td></tr>' in html
    assert '<tr class="strong"><td class="word">b</td><td>2</td></tr>' in html
    assert '<th colspan="2" scope="rowgroup">all</th>' in html


def test_files_are_whole_or_not_there(tmp_path):
    write_page(tmp_path / "a.html", "grün")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == "grün"
    with pytest.raises(UnicodeEncodeError):
        write_page(tmp_path / "b.html", "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_pages_have_judgements_facts_headings_legends_and_links():
    keys = [page.Key("one", "#123456", dashed=True)]
    gallery = page.Gallery([page.Picture("data:,1", "a")], "c", legend=keys)
    blocks = [
        page.Heading("h & h"),
        page.Judgement("Holds", "good", [("Paper says:", "x < y"), ("Measured:", "`z`")]),
        page.Facts([("seed", "0"), ("kernel", "`exp(W)`")]),
        gallery,
    ]
    html = render_page("t", ["see [there](#over-there)"], [Section("s", (), blocks, "over-there")])
    assert '<a href="#over-there">there</a>' in html
    assert '<section id="over-there">' in html
    assert "<h3>h &amp; h</h3>" in html
    assert '<div class="judgement good">' in html
    assert "<p><b>Paper says:</b> x &lt; y</p>" in html
    assert "<b>seed</b> 0 · <b>kernel</b> <code>exp(W)</code>" in html
    assert "#123456" in html
    assert "stroke-dasharray" in html


def test_the_page_is_for_narrow_screens_dark_ones_and_paper():
    html = render_page("t", [], [])
    assert 'name="viewport"' in html
    for condition in ("max-width: 46rem", "prefers-color-scheme: dark", "@media print"):
        assert condition in html
