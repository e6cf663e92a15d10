import pytest

from grfpp.io.tables.numerals import INTEGER, is_number


@pytest.mark.parametrize("text", ["0", "7", "-12", "1" * 300])
def test_whole_numbers(text):
    assert INTEGER.fullmatch(text)


@pytest.mark.parametrize("text", ["", "007", "+7", "-0", "-", "1.0", "1e3", " 1", "٣", "1" * 301])
def test_names(text):
    assert not INTEGER.fullmatch(text)


def test_numbers():
    assert all(map(is_number, ("1", "-1.5e-3", ".5", "inf", "nan")))
    assert not any(map(is_number, ("", "x", "1_000", "٣", "0x10", "1,5")))
