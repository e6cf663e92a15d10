import numpy as np
import pytest
import scipy.sparse as sp

from grfpp import Graph
from grfpp.estimate.deflation import deflation_of
from grfpp.kernels import Diffusion
from grfpp_lab.studies import coverage


@pytest.mark.parametrize("options", [{"walks": "pooled"}, {"deflate": 2, "n_walks": 4}])
def test_shares_of_intervals(options):
    W = coverage.graphs()["families"]
    found = coverage.coverage("one", W, Diffusion(2.0), 40, 0, degree=2, **options)
    assert found.case == "one"
    assert all(0.8 < share <= 1 for share in found[1:])


def test_printed(monkeypatch, capsys):
    monkeypatch.setattr(coverage, "KERNELS", (Diffusion(1.0),))
    everything = coverage.graphs()
    monkeypatch.setattr(coverage, "graphs", lambda: {"directed": everything["directed"]})
    coverage.main(["--repeats", "20", "--degrees", "1"])
    *_, last = lines = capsys.readouterr().out.splitlines()
    assert "directed, Diffusion(lam=1.0), degree 1, walks=independent" in lines[2]
    assert "of 8 shares within 0.93 and 0.97" in last


@pytest.mark.parametrize("name", ["families", "weighted"])
def test_copies_are_deflated_as_the_graph_is(name):
    W, kernel = coverage.graphs()[name], Diffusion(2.0)
    copies = Graph(sp.block_diag([W.adjacency] * 4, format="csr"))
    one, all_of_them = (
        found.vectors @ found.vectors.T
        for found in (deflation_of(W, kernel, 3), deflation_of(copies, kernel, 12))
    )
    np.testing.assert_allclose(all_of_them, np.kron(np.eye(4), one), rtol=0, atol=1e-10)
