"""What is printed where somebody watches, and where nobody does."""

import contextlib
import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.cli import console
from grfpp.cli.results import Result


class Terminal(io.StringIO):
    def isatty(self):
        return True


def watched(monkeypatch):
    """Let somebody watch; not a fixture, because pytest puts its own streams back after those."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_steps_and_bars_are_timed_and_shown_on_a_terminal(monkeypatch):
    terminal, result = watched(monkeypatch), Result()
    with result.timed("read", "reading it"), result.timed("walk"):
        pass
    with pytest.raises(ValueError, match="no"), result.timed("fail"):
        raise ValueError("no")
    assert list(result.seconds) == ["walk", "read"]
    assert "reading it" in terminal.getvalue()
    with console.progress_bar("measuring") as update:
        update(completed=1, total=2)
        update(completed=2, description="drawing")
    assert "drawing" in terminal.getvalue()


def test_nothing_is_shown_elsewhere(capsys):
    with console.progress_bar("measuring") as update, console.status("reading"):
        update(completed=1, total=2)
    assert capsys.readouterr() == ("", "")


def test_tables_have_words_to_the_left_and_numbers_to_the_right(capsys):
    table = console.new_table(("name", "size"), ("name",), "A title")
    table.add_row("a", "1")
    table.add_row("longer", "1000")
    console.print_table(table)
    title, *lines = capsys.readouterr().out.splitlines()
    assert title == "A title"
    assert any("a      │    1" in line for line in lines)


HARMFUL = ["\x1b]0;title\x07", "\x9b31m", "\x00", "\x7f", "\r", "\n", "\u202e", "\u2066", "\u200f",
           "\u2028", "\ufeff", "\U000e0041", "\ud800"]  # fmt: skip


def test_what_terminals_obey_is_escaped_and_other_text_stays():
    for text in HARMFUL:
        assert console.visible(text).isascii()
        assert console.visible(text).isprintable()
        assert console.visible(f"a{text}b").startswith("a\\")
    for text in ("Anna", "Zoë", "日本", "می\u200cخواهم", "👩\u200d🚀", "a b", ""):
        assert console.visible(text) == text


@QUICK
@given(st.text(st.characters()))
def test_json_documents_stay_what_they_are(text):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        console.print_json({"label": text})
    printed = stream.getvalue()
    assert json.loads(printed) == {"label": text}
    hidden = {unicodedata.category(c) for c in printed.replace("\n", "")}
    assert not hidden & {"Cc", "Cs", "Zl", "Zp"}
