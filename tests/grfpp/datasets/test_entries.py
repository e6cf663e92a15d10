"""What is known of a data set before it is read."""

from grfpp.datasets import DataFile, DatasetInfo
from grfpp.datasets.entries import table


def test_the_checksum_of_a_download_is_that_of_the_public_file():
    assert DataFile("a", 1, "x").checksum == "x"
    assert DataFile("a", 1, "x", "https://", "y").checksum == "y"


def test_sizes_add_up():
    files = (DataFile("a", 1, "x"), DataFile("b", 20, "y"))
    assert DatasetInfo("name", "graphs", "", "", "", files).n_bytes == 21


def test_tables_come_with_the_package():
    rows = table("datasets.csv")
    assert rows[0]["name"] == "karate"
    assert all(None not in row and None not in row.values() for row in rows)
