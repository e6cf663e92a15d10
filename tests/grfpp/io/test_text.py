"""Bytes of text files as lines and tables, and errors that name the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.errors import InputError
from grfpp.io.text import decode, errors_about

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"))
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]


@QUICK
@given(TEXT, st.sampled_from(ENCODINGS), st.booleans())
def test_decoding(text, encoding, crlf):
    data = (text.replace("\n", "\r\n") if crlf else text).encode(encoding)
    assert decode(data, "it") == text


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("é\n€\nz".encode() + b"\xebx\n", 3),
        (b"a\r\nb\rc\n\0", 3),
        ("a\nb".encode("utf-16") + b"\n", 2),
    ],
)
def test_bytes_that_are_no_text(data, line):
    with pytest.raises(InputError, match=f"^it, line {line}: "):
        decode(data, "it")


def test_errors_are_given_a_name_once():
    with pytest.raises(InputError, match=r"^FILE: too small$"), errors_about("FILE"):
        raise InputError("too small")
    with pytest.raises(KeyError), errors_about("FILE"):
        raise KeyError("no error of ours")
