"""The encodings, by name."""

import pytest
from independent_walks import INDEPENDENT

from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps import encodings
from grfpp_lab.experiments.gps.encodings import DIM, GRF, GRF_PP, NONE, encode

WALKS = {"n_walks": 4, "scale": 1.0, "termination": "geometric:0.1"}


@pytest.mark.parametrize("encoding", encodings.ENCODINGS)
def test_every_encoding_has_the_same_width_and_repeats(encoding, pattern):
    graphs = pattern.everything[:3]
    first, again = (encode(graphs, encoding, seed=5, **WALKS) for _ in range(2))
    assert not any("pe" in graph for graph in graphs)
    if encoding == NONE:
        assert not any("pe" in graph for graph in first)
        return
    # Three for each feature.
    widths = {encodings.SMOOTH: 9, encodings.CONTRAST: 9, encodings.PROFILE: DIM + 9}
    width = widths.get(encoding, DIM)
    for graph, made, same in zip(graphs, first, again, strict=True):
        assert made.pe.shape == (graph.num_nodes, width)
        assert made.pe.dtype == made.x.dtype
        assert made.pe.isfinite().all()
        assert (made.pe == same.pe).all()
    other = encode(graphs, encoding, seed=6, **WALKS)
    if encoding in encodings.OURS:
        assert (first[0].pe == other[0].pe).all()
    if encoding in (GRF, GRF_PP, encodings.NOISE):
        assert not (first[0].pe == other[0].pe).any()


def test_the_papers_encodings_are_those_of_the_library(pattern):
    from grfpp.torch import grf_pe

    graphs = pattern.everything[:2]
    for encoding, degree in ((GRF, 1), (GRF_PP, 2)):
        made = encode(graphs, encoding, seed=5, **WALKS)
        expected = grf_pe(graphs, 8, degree, 4, seed=5, **INDEPENDENT)
        assert all((a.pe == b).all() for a, b in zip(made, expected, strict=True))


def test_eigenvectors_of_a_small_graph_are_padded():
    import torch

    edge = gps_data.load("pattern", 1, 1, 1).train[0].clone()
    edge.x, edge.edge_index = torch.eye(3), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    (made,) = encode([edge], encodings.LAPLACIAN, seed=0, **WALKS)
    assert made.pe.shape == (3, DIM)
    assert (made.pe[:, 2:] == 0).all()
    assert (made.pe[:, :2].norm(dim=0) - 1).abs().max() < 1e-6
