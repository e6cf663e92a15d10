"""`grfpp gp`: what goes in, what comes out, what is refused."""

from pathlib import Path

import duckdb
import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, document, refused, warned

from grfpp.cli.results import write_csv
from grfpp.gp import GraphGP


@pytest.fixture
def roads(tmp_path, monkeypatch):
    """A grid with names, and values at 30 of its nodes."""
    monkeypatch.chdir(tmp_path)
    graph = nx.grid_2d_graph(8, 8)
    graph = nx.relabel_nodes(graph, {node: f"{node[0]}-{node[1]}" for node in graph})
    nx.write_edgelist(graph, "roads.txt", data=False)
    names = sorted(graph)
    write_csv(Path("where.csv"), ["node", "x", "y"], ([name, *name.split("-")] for name in names))
    known = np.random.default_rng(0).choice(64, 30, replace=False)
    rows = [(names[k], np.sin(int(names[k][0]) / 2) + int(names[k][2])) for k in known]
    write_csv(Path("known.csv"), ["node", "height"], rows)
    return graph, dict(rows)


def run_sql(query):
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def table(path):
    return run_sql(f"SELECT * FROM '{path}' ORDER BY node")


def test_predictions_are_those_of_the_library(roads, capsys):
    graph, known = roads
    told = document(capsys, "gp", "roads.txt", "--values", "known.csv", "--output", "out.csv")
    model = GraphGP(graph).fit(list(known), list(known.values()))
    mean, std = model.predict(sorted(graph), return_std=True)
    rows = table("out.csv")
    assert [row[0] for row in rows] == sorted(graph)
    np.testing.assert_allclose([row[2:] for row in rows], np.column_stack([mean, std]), rtol=1e-6)
    assert {row[0]: row[1] for row in rows if row[1] is not None} == pytest.approx(known)
    assert told["width"] == pytest.approx(model.width_)
    assert told["noise"] == pytest.approx([model.noise_])
    assert told["n_known"] == 30 and told["written"][0]["path"] == "out.csv"
    assert told["leave_one_out"]["r2"][0] > 0.9


def test_parquet_in_and_out(roads, capsys):
    accepted(capsys, "gp", "roads.txt", "--values", "known.csv", "--output", "out.csv")
    run_sql("COPY (SELECT node, value FROM 'out.csv' WHERE value NOT NULL) TO 'known.parquet'")
    outputs = ["--values", "known.parquet", "--output", "out.parquet"]
    accepted(capsys, "gp", "roads.txt", *outputs)
    for row, other in zip(table("out.parquet"), table("out.csv"), strict=True):
        assert row[0] == other[0]
        np.testing.assert_allclose(np.array(row[1:], float), np.array(other[1:], float), rtol=1e-6)


@pytest.mark.parametrize("options", [[], ["--positions", "where.csv"]])
def test_pictures(roads, capsys, options):
    pytest.importorskip("matplotlib")
    outputs = ["--picture", "map.png", *options]
    out = accepted(capsys, "gp", "roads.txt", "--values", "known.csv", *outputs)
    assert "wrote" in out and "leave one out" in out
    assert Path("map.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_several_quantities_and_given_parameters(roads, capsys):
    _, known = roads
    rows = ((name, value, -value) for name, value in known.items())
    write_csv(Path("two.csv"), ["node", "a", "b"], rows)
    options = ["--values", "two.csv", "--noise", "0.04", "--width", "5", "--output", "out.csv"]
    told = document(capsys, "gp", "roads.txt", *options)
    assert told["width"] == 5 and told["noise"] == pytest.approx([0.04, 0.04])
    columns = list(zip(*table("out.csv"), strict=True))
    np.testing.assert_allclose(columns[2], np.negative(columns[5]), atol=1e-8)


@pytest.mark.parametrize(
    ("rows", "more", "problem"),
    [
        (["0-0,x"], [], "--values must have as many numbers on each line"),
        (["0-0,1", "0-0,2"], [], "each once"),
        (["nowhere,1", "elsewhere,2"], [], "no node is named"),
        (["0-0,1", "0-1,2"], ["--kernel", "diffusion:5", "--width", "3"], "not by diffusion:5"),
        (["0-0,1", "0-1,2"], ["--positions", "where.csv"], "--picture"),
        (["0-0,1", "0-1,2"], ["--kernel", "cosine:3"], "--kernel must"),
        (["0-0,1", "0-1,2"], ["--noise", "-1"], "--noise must"),
        (["0-0,1", "0-1,2"], ["--output", "out.txt"], "suffix .csv or .parquet"),
        (["0-0,1", "0-1,2"], ["--positions", "few.csv", "--picture", "m.png"], "two coordinates"),
    ],
)
def test_bad_input_is_refused(roads, capsys, tmp_path, rows, more, problem):
    (tmp_path / "bad.csv").write_text("\n".join(rows))
    (tmp_path / "few.csv").write_text("0-0,1,2\n")
    assert problem in refused(capsys, "gp", "roads.txt", "--values", "bad.csv", *more)


@pytest.mark.filterwarnings("default:the observations")
def test_components_without_values_and_one_value(roads, capsys):
    Path("parts.txt").write_text(Path("roads.txt").read_text() + "a b\n")
    told = document(
        *(capsys, "gp", "parts.txt", "--values", "known.csv", "--output", "out.csv"),
        *("--picture", "map.png"),
    )
    assert told["n_unreached"] == 2 and len(table("out.csv")) == 66
    Path("one.csv").write_text("0-0,1\n")
    warnings = warned(capsys, "gp", "roads.txt", "--values", "one.csv")
    assert "only one" in warnings and "overflow" not in warnings
