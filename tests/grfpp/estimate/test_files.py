"""Estimates written to files and read again."""

import json

import numpy as np
import pytest
from estimates import SOURCES, directed_graph, negative, sampled
from numpy.testing import assert_array_equal
from small_graphs import GRAPHS, karate

from grfpp import InputError, KernelEstimate


@pytest.fixture(params=[*SOURCES, "transposed"])
def K(request):
    if request.param == "transposed":
        return negative(directed_graph(), 3).T
    return SOURCES[request.param]()


def test_files_keep_every_bit(K, tmp_path):
    path = tmp_path / "k.npz"
    K.save(path)
    again = KernelEstimate.load(path, n_jobs=2)
    assert (again.sign, again.degree, again.n_nodes) == (K.sign, K.degree, K.n_nodes)
    assert again.symmetrized is K.symmetrized
    assert again.meta == json.loads(json.dumps(K.meta))
    assert again.n_jobs == 2
    for pair, wanted in zip(again.factors, K.factors, strict=True):
        for found, want in zip(pair, wanted, strict=True):
            assert found.dtype == want.dtype
            for part in ("indptr", "indices", "data"):
                assert_array_equal(getattr(found, part), getattr(want, part))
    assert (again.deflation is None) is (K.deflation is None)
    if K.deflation is not None:
        assert_array_equal(again.deflation.vectors, K.deflation.vectors)
        assert_array_equal(again.deflation.values, K.deflation.values)
    assert_array_equal(again.toarray(), K.toarray())


@pytest.mark.parametrize(
    ("graph", "n_factors"), [(karate(), 1), (directed_graph(), 2)], ids=["undirected", "directed"]
)
def test_reused_walks_are_stored_once(tmp_path, graph, n_factors):
    K = sampled(graph, 4, reuse_walks=True)
    K.save(tmp_path / "k.npz")
    with np.load(tmp_path / "k.npz") as archive:
        assert sum(name.startswith("data") for name in archive.files) == n_factors
    again = KernelEstimate.load(tmp_path / "k.npz")
    assert again.degree == 4
    assert len({id(factor) for factor, _ in again.chain.links}) == n_factors


def test_nothing_is_left_when_saving_fails(tmp_path):
    K = sampled(karate(), 1)
    K._made_by["not JSON"] = object()
    with pytest.raises(TypeError):
        K.save(tmp_path / "k.npz")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="does not exist"):
        sampled(karate(), 1).save(tmp_path / "nowhere" / "k.npz")


def refusal(path):
    with pytest.raises(InputError) as caught:
        KernelEstimate.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "k.npz"
    sampled(GRAPHS["weighted, sym"], 1).save(path)
    return path


def test_files_that_are_cut_or_of_others(saved):
    """What else is no archive of this kind is tested with archives."""
    saved.write_bytes(saved.read_bytes()[:-1])
    assert "is not a whole .npz file" in refusal(saved)
    karate().save(saved)
    assert "holds 'grfpp-graph-1', not 'grfpp-estimate-1'" in refusal(saved)


def rewrite(path, meta=None, drop=(), **arrays):
    """Change parts of a saved estimate as someone else's program might."""
    with np.load(path) as archive:
        content = {name: archive[name] for name in archive.files}
    header = json.loads(str(content.pop("meta")))
    header.update(meta or {})
    content.update(arrays)
    for name in drop:
        (header if name in header else content).pop(name)
    np.savez(path, meta=np.asarray(json.dumps(header)), **content)


DROPPED = ["data_1", "indptr_0", "order", "sign", "n_nodes", "made_by"]
HEADERS = {
    "order": [[0], [], [0, 1, 0], [0, 7], [0, -1], ["a", "b"], 3, [0.0, 1.0]],
    "sign": [2, "plus", True],
    "symmetrize": ["yes", None],
    "n_nodes": [8, 10, None, 1e999, 10**12],
    "made_by": [5, [["a", 1]]],
}
ARRAYS = {
    "data_0": [np.array([np.nan]), np.array(["a", "b"]), np.zeros((2, 2))],
    "indices_0": [np.array([1.5]), np.zeros(3)],
    "indptr_0": [np.zeros(10, np.int32), np.arange(3), np.array([0] + [10**6] * 8 + [0])],
}


def changes():
    yield from ({"drop": [name]} for name in DROPPED)
    yield from ({"meta": {name: value}} for name, values in HEADERS.items() for value in values)
    yield from ({name: value} for name, values in ARRAYS.items() for value in values)


def test_damaged_content(saved):
    content = saved.read_bytes()
    for change in changes():
        saved.write_bytes(content)
        rewrite(saved)
        assert KernelEstimate.load(saved).n_nodes == 9  # the rewriting itself does no harm
        rewrite(saved, **change)
        assert "the stored estimate is damaged" in refusal(saved), change


def test_files_from_before_estimates_were_symmetrised(saved):
    sampled(GRAPHS["weighted, sym"], 1, symmetrize=False).save(saved)
    wanted = KernelEstimate.load(saved).toarray()
    rewrite(saved, drop=["symmetrize"])
    again = KernelEstimate.load(saved)
    assert again.symmetrized is False
    assert_array_equal(again.toarray(), wanted)


EIGENVECTORS = [
    {"drop": ["deflation_values"]},
    {"drop": ["deflation_vectors"]},
    {"deflation_values": np.ones(3)},
    {"deflation_values": np.ones((2, 1))},
    {"deflation_values": np.array([1.0, np.nan])},
    {"deflation_vectors": np.ones((9, 1))},
    {"deflation_vectors": np.full((9, 2), 1e308)},
    {"deflation_vectors": np.full((9, 2), 1 / 3)},
    {"deflation_vectors": np.ones((8, 2))},
    {"deflation_vectors": np.full((9, 2), np.inf)},
    {"deflation_vectors": np.ones((9, 2), dtype=complex)},
    {"deflation_vectors": np.ones((9, 2), dtype=np.float32)},
    {"deflation_vectors": np.array([["a"] * 2] * 9)},
]


def test_damaged_eigenvectors(tmp_path):
    path = tmp_path / "k.npz"
    sampled(GRAPHS["weighted, sym"], 1, deflate=2).save(path)
    content = path.read_bytes()
    for change in EIGENVECTORS:
        path.write_bytes(content)
        rewrite(path)
        assert KernelEstimate.load(path).deflation.n_vectors == 2
        rewrite(path, **change)
        assert "the stored estimate is damaged" in refusal(path), change


def test_damaged_values(saved):
    with np.load(saved) as archive:
        data, indices = archive["data_0"], archive["indices_0"]
    for values, bad in [(data, np.nan), (data, np.inf), *((indices, i) for i in (-1, 9, 2**30))]:
        changed = values.copy()
        changed[3] = bad
        rewrite(saved, **{"data_0": data, "indices_0": indices})
        rewrite(saved, **{"data_0" if values is data else "indices_0": changed})
        assert "the stored estimate is damaged" in refusal(saved)
    rewrite(saved, indices_0=indices)
    for dtype in (complex, np.float16, np.int64):
        rewrite(saved, data_0=data.astype(dtype))
        assert "not finite real numbers" in refusal(saved)
