import sys

import numpy as np
import pytest
from datasets_helpers import diameter, is_frozen, needs_data, refusal

from grfpp.datasets import LONG_CIFAR_IMAGE, load_cifar10, load_mnist, superpixel_graph
from grfpp.datasets.pictures.superpixels import _nearest, _similarity


@pytest.fixture
def skimage():
    return pytest.importorskip("skimage", reason="needs grfpp[image]")


def gradient(*shape):
    return np.linspace(0, 1, int(np.prod(shape))).reshape(shape)


def by_hand(centroids, colours, k):
    """The benchmark's similarities, entry by entry."""
    n = len(centroids)

    def distance(points, i, j):
        return np.sqrt(sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)))

    def one_way(i, j):
        exponent = 0.0
        for points in (centroids, colours):
            nearest = sorted(distance(points, i, other) for other in range(n) if other != i)[:k]
            exponent += (distance(points, i, j) / (sum(nearest) / len(nearest) + 1e-8)) ** 2
        return np.exp(-exponent)

    return np.array(
        [[0 if i == j else (one_way(i, j) + one_way(j, i)) / 2 for j in range(n)] for i in range(n)]
    )


def test_similarities():
    rng = np.random.default_rng(0)
    centroids, colours = rng.random((7, 2)), rng.random((7, 3))
    for k in (2, 8):
        np.testing.assert_allclose(
            _similarity(centroids, colours, k), by_hand(centroids, colours, k), rtol=1e-12
        )


def test_neighbours():
    rng = np.random.default_rng(1)
    similarity = rng.random((9, 9))
    similarity = similarity + similarity.T
    np.fill_diagonal(similarity, 0)
    kept = _nearest(similarity, 3).toarray()
    np.testing.assert_array_equal(kept, kept.T)
    for i in range(9):
        best = np.argsort(-similarity[i])[:3]
        np.testing.assert_array_equal(kept[i, best], similarity[i, best])
    others = {(i, j) for i in range(9) for j in np.flatnonzero(kept[i])}
    for i, j in others:
        assert j in np.argsort(-similarity[i])[:3] or i in np.argsort(-similarity[j])[:3]


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3), (20, 30)])
def test_the_parts_of_an_image(skimage, shape):
    image = gradient(*shape)
    found = superpixel_graph(image)
    n = found.graph.n_nodes
    assert 5 < n <= (75 if len(shape) == 2 else 150)
    assert found.segments.shape == shape[:2]
    np.testing.assert_array_equal(np.unique(found.segments), np.arange(n))
    for part in (0, n // 2):
        inside = found.segments == part
        np.testing.assert_allclose(found.colours[part], image[inside].mean(axis=0))
        rows, columns = np.nonzero(inside)
        middle = [rows.mean() / shape[0], columns.mean() / shape[1]]
        np.testing.assert_allclose(found.centroids[part], middle)
    assert not found.graph.is_directed
    assert found.graph.out_degree.min() >= 8
    assert found.graph.weights.max() <= 1
    assert is_frozen(found.centroids)
    assert is_frozen(found.segments)


def test_options(skimage):
    image = gradient(32, 32, 3)
    assert superpixel_graph(image, n_superpixels=20).graph.n_nodes <= 20
    few = superpixel_graph(image, n_superpixels=4, n_neighbors=8)
    assert few.graph.n_edges <= 6
    single = superpixel_graph(image, n_superpixels=1)
    assert (single.graph.n_nodes, single.graph.n_edges) == (1, 0)
    assert superpixel_graph(image, n_neighbors=3).graph.out_degree.min() >= 3
    compact, loose = (
        superpixel_graph(image, compactness=value).segments for value in (1000.0, 0.01)
    )
    assert (compact != loose).any()


def test_bytes_and_numbers_are_the_same(skimage):
    image = (gradient(28, 28) * 255).astype(np.uint8)
    one, other = superpixel_graph(image), superpixel_graph(image / 255)
    np.testing.assert_array_equal(one.segments, other.segments)
    assert superpixel_graph(np.zeros((28, 28))).graph.n_nodes > 1  # an image of one colour


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros(5), "found (5,)"),
        (np.zeros((5, 5, 4)), "found (5, 5, 4)"),
        (np.zeros((0, 5)), "found (0, 5)"),
        (np.full((5, 5), 2.0), "from 0 to 1"),
        (np.full((5, 5), np.nan), "from 0 to 1"),
        (np.zeros((5, 5), dtype=int), "bytes, or floating-point"),
    ],
)
def test_what_is_no_image(image, words):
    assert words in refusal(superpixel_graph, image)


def test_wrong_options():
    image = np.zeros((5, 5))
    assert "n_superpixels" in refusal(superpixel_graph, image, n_superpixels=0)
    assert "compactness" in refusal(superpixel_graph, image, compactness=0)
    assert "n_neighbors" in refusal(superpixel_graph, image, n_neighbors=0)


def test_without_scikit_image(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.delitem(sys.modules, "skimage.segmentation", raising=False)
    assert "pip install '.[image]' in a clone of grfpp" in refusal(
        superpixel_graph, np.zeros((5, 5))
    )


def test_the_papers_kind_of_photograph(skimage):
    needs_data()
    graph = superpixel_graph(load_cifar10().images[LONG_CIFAR_IMAGE]).graph
    if skimage.__version__.startswith("0.26."):
        assert (graph.n_nodes, diameter(graph)) == (120, 11)
    else:
        assert 110 <= graph.n_nodes <= 130
        assert 9 <= diameter(graph) <= 13


def test_real_images(skimage):
    needs_data()
    photographs, digits = load_cifar10(), load_mnist("test")
    graphs = [superpixel_graph(image).graph for image in photographs.images[:10]]
    # The benchmark's have 117.6 nodes on average, 85 to 150.
    assert all(70 <= graph.n_nodes <= 150 for graph in graphs)
    assert all(5 <= diameter(graph) <= 15 for graph in graphs)
    # And 70.6, 40 to 75, for the digits.
    graphs = [superpixel_graph(image).graph for image in digits.images[:10]]
    assert all(40 <= graph.n_nodes <= 75 for graph in graphs)
