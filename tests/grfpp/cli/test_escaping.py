import csv
import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.cli.escaping import csv_cell, visible, visible_json

HARMFUL = ["\x1b]0;title\x07", "\x9b31m", "\x00", "\x7f", "\r", "\n", "\u202e", "\u2066", "\u200f",
           "\u2028", "\ufeff", "\U000e0041", "\ud800"]  # fmt: skip


@pytest.mark.parametrize("text", HARMFUL)
def test_what_terminals_obey_is_written_out(text):
    assert visible(text).isascii()
    assert visible(text).isprintable()
    assert visible(f"a{text}b").startswith("a\\")


@pytest.mark.parametrize("text", ["Anna", "Zoë", "日本", "می\u200cخواهم", "👩\u200d🚀", "a b", ""])
def test_other_text_stays(text):
    assert visible(text) == text
    document = json.dumps(text, ensure_ascii=False)
    assert visible_json(document) == document


@QUICK
@given(st.text(st.characters()))
def test_documents_stay_what_they_are(text):
    shown = visible_json(json.dumps({"label": text}, indent=2, ensure_ascii=False))
    assert json.loads(shown) == {"label": text}
    hidden = {unicodedata.category(c) for c in shown.replace("\n", "")} & {"Cc", "Cs", "Zl", "Zp"}
    assert not hidden


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "-cmd|' /C x'!A0"],
)
def test_formulas_become_text(text):
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a=b", "-5", "+3.25", "-1e-7", "", -5, -0.5, True, "a@b.org"])
def test_numbers_and_other_text_stay(value):
    assert csv_cell(value) == value


@QUICK
@given(st.text(st.characters()))
def test_every_cell_can_be_written_and_read(text):
    stream = io.StringIO()
    csv.writer(stream).writerow([csv_cell(text)])
    stream.getvalue().encode()
    assert csv_cell(("a", 1)) == "('a', 1)"
