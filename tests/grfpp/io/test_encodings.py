import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.errors import InputError
from grfpp.io import encodings
from grfpp.io.encodings import as_utf8

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"))


@QUICK
@given(
    TEXT, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be"]), st.booleans()
)
def test_any_encoding_becomes_utf8(text, encoding, crlf):
    data = (text.replace("\n", "\r\n") if crlf else text).encode(encoding)
    told = encoding if encoding == "utf-16-be" else None
    assert as_utf8(data, "it", told) == text.encode()


def test_a_mark_is_cut_off_whatever_is_told():
    assert as_utf8(b"\xef\xbb\xbfa", "it", "utf-8") == b"a"
    assert as_utf8("\ufeffa".encode("utf-16-le"), "it", "utf-16-le") == b"a"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1 << 20])
def test_the_line_is_told(monkeypatch, size):
    monkeypatch.setattr(encodings, "_BLOCK", size)
    with pytest.raises(InputError, match=r"it, line 3: not UTF-8 .*encoding='latin-1' or the like"):
        as_utf8("é\n€\nz".encode() + b"\xebx\n", "it")
    with pytest.raises(InputError, match="line 2: a zero byte"):
        as_utf8(b"a\n\0", "it")
    with pytest.raises(InputError, match="it, line 2: not ascii text"):
        as_utf8("a\né".encode(), "it", "ascii")
    with pytest.raises(InputError, match="line 2: not utf-16 text"):
        as_utf8("a\nb".encode("utf-16") + b"\n", "it")
