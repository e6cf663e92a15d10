"""The data sets as PyG graphs."""

import numpy as np
import pytest

from grfpp.errors import InputError
from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps.experiment import PARAMETERS
from grfpp_lab.harness.experiment import Size


def test_block_models_as_pyg_graphs(pattern):
    assert [len(part) for part in (pattern.train, pattern.val, pattern.test)] == [6, 3, 3]
    for graph in pattern.everything:
        assert graph.x.shape == (graph.num_nodes, 3)
        assert (graph.x.sum(dim=1) == 1).all()
        assert set(graph.y.tolist()) == {0, 1}
        assert graph.is_undirected()
    cluster = gps_data.load("cluster", 2, 1, 1).train[0]
    assert cluster.x.shape[1] == 7
    assert set(cluster.y.tolist()) == set(range(6))


@pytest.mark.parametrize("name", ["mnist", "cifar10", "peptides-func", "peptides-struct"])
def test_real_data_as_pyg_graphs(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    if (why := gps_data.why_absent(name)) is not None:
        pytest.skip(why)
    splits = gps_data.load(name, 3, 2, 2)
    assert [len(part) for part in (splits.train, splits.val, splits.test)] == [3, 2, 2]
    for graph in splits.everything:
        assert graph.x.shape[0] == graph.num_nodes > 10
        assert graph.x.min() >= -1e-6
        assert graph.x.max() <= 1 + 1e-6
        assert graph.is_undirected()
        targets = {"peptides-func": (1, 10), "peptides-struct": (1, 11)}
        assert tuple(graph.y.shape) == targets.get(name, (1,))
    if name == "peptides-struct":
        import torch

        y = torch.cat([graph.y for graph in splits.train])
        assert torch.allclose(y.mean(dim=0), torch.zeros(11), atol=1e-5)
        assert torch.allclose(y.std(dim=0, correction=0), torch.ones(11), atol=1e-5)
        assert max(graph.num_nodes for graph in splits.everything) <= 60
    widths = {"mnist": 3, "cifar10": 5, "peptides-func": 19, "peptides-struct": 19}
    assert {graph.x.shape[1] for graph in splits.everything} == {widths[name]}


@pytest.mark.parametrize("name", ["mnist", "cifar10", "peptides-func"])
def test_draws_that_settings_are_judged_on_are_apart(name):
    effort = PARAMETERS[Size.FULL].efforts[name]
    n_graphs = effort.n_train + effort.n_val + effort.n_test
    draws = (1, 3) if name == "mnist" else (1, 2)
    assert n_graphs <= (draws[1] - draws[0]) * gps_data._APART


def test_another_draw_of_molecules_is_from_the_training_part():
    if (why := gps_data.why_absent("peptides-func")) is not None:
        pytest.skip(why)
    from grfpp_lab.datasets.peptides import load_peptide_splits

    splits = load_peptide_splits(download=False)
    used = np.concatenate(gps_data._rows((500, 200, 400), 0))
    parts = gps_data._rows((500, 200, 400), 1)
    assert [len(each) for each in parts] == [500, 200, 400]
    drawn = np.concatenate(parts)
    assert len(np.unique(drawn)) == len(drawn)
    assert np.isin(drawn, splits.train).all()
    assert not np.isin(drawn, used).any()
    even = gps_data._rows((3, 2, 2), 0, lambda row: row % 2 == 0)
    assert not (np.concatenate(even) % 2).any()
    with pytest.raises(InputError, match="too few molecules for draw 1"):
        gps_data._rows((500, 150, 250), 1, lambda row: row % 50 == 0)


@pytest.mark.parametrize("name", ["pattern", "cluster", "mnist", "cifar10"])
def test_another_draw_has_other_graphs(name):
    if (why := gps_data.why_absent(name)) is not None:
        pytest.skip(why)
    first, other = (gps_data.load(name, 2, 1, 1, draw).everything for draw in (0, 1))
    assert not any(a.x.shape == b.x.shape and (a.x == b.x).all() for a in first for b in other)


def test_parts_of_other_graphs(pattern):
    parts = pattern.like(range(12))
    assert [list(part) for part in (parts.train, parts.val, parts.test)] == [
        *([0, 1, 2, 3, 4, 5], [6, 7, 8], [9, 10, 11])
    ]
