"""Edge lists that are not plain, on the command line."""

import json

import pandas as pd
import pytest
from cli_helpers import accepted, refused

from grfpp.cli import run

LOG = "when|who|whom|n\n1|zoë|adam|2\n2|adam|zoë|3\n3|adam|bob|1\n"


def test_options_reach_the_reader(tmp_path, capsys):
    path = tmp_path / "log.txt"
    path.write_bytes(LOG.encode("latin-1"))
    options = ["--separator", "|", "--columns", "who,whom,n", "--encoding", "latin-1"]
    for command in (["estimate"], ["cluster", "-k", "2"]):
        rule = ["--duplicates", "max", "--walks", "2", "--json"]
        out = accepted(capsys, *command, path, *options, *rule)
        assert json.loads(out)["graph"]["n_edges"] == 2
    refusal = refused(capsys, "estimate", path, *options, "--duplicates", "error")
    assert "line 3: the edge 'adam' - 'zoë' is listed again, after line 2; use" in refusal
    assert "--duplicates sum or --duplicates max" in refusal


def test_columns_by_number_and_words_for_white_space(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("a\tb,c\t7\n")
    out = accepted(capsys, "estimate", path, "--separator", "tab", "--columns", "0,1", "--json")
    assert json.loads(out)["graph"]["n_nodes"] == 2
    out = accepted(capsys, "estimate", path, "--separator", "space", "--no-header", "--json")
    assert json.loads(out)["graph"]["n_edges"] == 1


def test_advice_is_in_options(tmp_path, capsys):
    path = tmp_path / "friends.csv"
    path.write_text("person,friend\nann,bob\nbob,cy\n")
    assert refused(capsys, "estimate", path).endswith("; use --header or --no-header")
    path.write_bytes(b"zo\xeb,b\n")
    assert "--encoding latin-1 or the like" in refused(capsys, "estimate", path)
    path.write_text("a|b|1\n")
    assert "--separator" in refused(capsys, "estimate", path)
    path.write_text("a,b,c,d\n1,2,3,4\n")
    assert refused(capsys, "estimate", path, "--header").endswith("use --columns a,b,c or the like")


@pytest.mark.filterwarnings("always")
def test_a_list_that_is_mirrored_is_told_of_in_options(tmp_path, capsys):
    path = tmp_path / "friends.csv"
    path.write_text("a,b,1\nb,a,1\n")
    assert run(["estimate", str(path), "--walks", "2"]) == 0
    assert "use --duplicates max or --duplicates sum" in capsys.readouterr().err


def test_options_that_mean_nothing_are_refused(tmp_path, capsys):
    path = tmp_path / "edges.parquet"
    pd.DataFrame({"u": ["a"], "v": ["b"]}).to_parquet(path)
    accepted(capsys, "estimate", path, "--walks", "2")
    told = refused(capsys, "estimate", path, "--separator", ",")
    assert told == "--separator is for text edge lists, not for .parquet files"
    assert "--columns must be two or three" in refused(capsys, "estimate", path, "--columns", "u")
