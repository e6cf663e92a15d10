"""Collections that settings were chosen on."""

import numpy as np
import pytest

from grfpp_lab.studies.classification.settling import SETTLING, contacts, molecules


@pytest.mark.parametrize("rule", [0, 1, 2])
def test_molecules_have_two_classes_of_one_size(rule):
    found = molecules(20, rule, seed=3)
    again = molecules(20, rule, seed=3)
    assert len(found.graphs) == 20
    assert 4 <= found.classes.sum() <= 16
    for a, b in zip(found.graphs, again.graphs, strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
    sizes = [each.graph.n_nodes for each in found.graphs]
    assert min(sizes) >= 12
    assert max(sizes) < 45
    assert all(int(each.graph.out_degree.max()) <= 5 for each in found.graphs)


def test_contacts_are_undirected_chains():
    found = contacts(12, 6, seed=0)
    assert np.bincount(found.classes).tolist() == [2] * 6
    for each in found.graphs:
        assert not each.graph.is_directed
        assert int(each.graph.out_degree.min()) >= 3
        assert set(each.labels.tolist()) <= {0, 1, 2}


def test_none_of_them_is_judged_on():
    from grfpp_lab.experiments.classification.planning import SIX, TEN

    assert not set(SETTLING) & {*SIX, *TEN}
