"""Arrays of .npz files: only what is asked for, no pickles, not more than memory bears."""

import io
import json
import pickle
import tracemalloc
import zipfile
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from io_helpers import QUICK, file_holding
from little_memory import only

import grfpp
from grfpp import Graph, InputError, KernelEstimate
from grfpp.io.archive import opened_arrays, opened_kind, save_arrays

SIZE = 8_000_000


def packed(members, way=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", way) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def read(content, name="a"):
    with file_holding(content, ".npz") as path, opened_arrays(path) as arrays:
        return arrays[name]


def load(path, kind):
    with opened_kind(path, kind) as (arrays, meta):
        return dict(arrays), meta


KINDS = st.one_of(
    npst.integer_dtypes(endianness="="),
    npst.floating_dtypes(sizes=(32, 64)),
    npst.boolean_dtypes(),
    npst.unicode_string_dtypes(max_len=3),
    st.sampled_from([np.dtype(">f8"), np.dtype(">i4")]),
)


@QUICK
@given(st.data(), st.booleans(), st.booleans())
def test_arrays_are_read_as_numpy_does(data, compressed, transposed):
    shape = npst.array_shapes(min_dims=0, min_side=0, max_side=4)
    array = data.draw(npst.arrays(data.draw(KINDS), shape))
    array = array.T if transposed else array
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, a=array)
    found = read(stream.getvalue())
    np.testing.assert_array_equal(found, array)
    assert found.shape == array.shape and found.dtype == array.dtype.newbyteorder("=")


class Exploding:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_round_trip_other_kinds_and_other_files(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(InputError, match="no file"):
        load(path, "kind")
    save_arrays(path, "kind", {"a": np.arange(3), "b": np.array(["x"])}, {"seed": 7})
    found, meta = load(path, "kind")
    assert found["a"].tolist() == [0, 1, 2] and found["b"].tolist() == ["x"]
    assert meta == {"format": "kind", "seed": 7}
    with pytest.raises(InputError, match="holds 'kind', not 'other'"):
        load(path, "other")
    for arrays in ({"a": np.arange(3)}, {"meta": np.array(json.dumps([1]))}):
        np.savez(path, **arrays)
        with pytest.raises(InputError, match="not written by grfpp"):
            load(path, "kind")
    np.savez(path, meta=np.array([Exploding()], dtype=object))
    for content in (path.read_bytes(), pickle.dumps(Exploding()), saved(np.arange(3))):
        path.write_bytes(content)
        with pytest.raises(InputError, match="without pickles"):
            load(path, "kind")


@pytest.mark.parametrize(
    "member",
    [
        b"",
        b"\x93NUMPY\x09\x00" + bytes(9),
        saved(np.zeros(3)) + b"x",
        saved(np.zeros(3)).replace(b"(3,)", b"(9,)"),
        saved(np.zeros(3)).replace(b"<f8", b"|O8"),
        saved(np.zeros(3, "f4,i2")),
        saved(np.zeros(0, "S1")).replace(b"|S1", b"|S0").replace(b"(0,)", b"(9999999999,)"),
        saved(np.array([2**31, 65], np.uint32).view("U1")),
        saved(np.array([2**31, 65], ">u4").view(">U1")),
        b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + bytes(9),
    ],
)
def test_damaged_members(member):
    with pytest.raises(InputError, match=r"not a whole \.npz file"):
        read(packed({"a.npy": member}))


def test_damaged_archives(tmp_path):
    whole = packed({"a.npy": saved(np.arange(9.0))}, zipfile.ZIP_STORED)
    changed = bytearray(whole)
    changed[whole.index(b"NUMPY") + 130] ^= 1
    odd = packed({"a.npy": saved(np.zeros(3))}, zipfile.ZIP_LZMA)
    for content in (bytes(changed), odd, *(whole[:end] for end in range(0, len(whole), 37))):
        with pytest.raises(InputError):
            read(content)


def zeros_of(n_bytes):
    """The member of an array of zeros, which packs to a thousandth."""
    return saved(np.zeros(n_bytes // 8))


def peak_of(call):
    tracemalloc.start()
    try:
        call()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def test_members_that_nobody_needs_are_not_unpacked(tmp_path):
    """Neither in graphs of either kind nor in estimates."""
    graph = Graph(np.ones((3, 3)))
    graph.save(tmp_path / "graph.npz")
    sp.save_npz(tmp_path / "scipy.npz", graph.adjacency)
    grfpp.sample(graph.normalized("sym"), grfpp.Diffusion(1.0), seed=0).save(tmp_path / "k.npz")
    for path in tmp_path.iterdir():
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            for name in ("data_77.npy", "unused.npy"):
                archive.writestr(name, zeros_of(SIZE))
    for name, reader in (("graph", Graph.load), ("scipy", Graph), ("k", KernelEstimate.load)):
        assert peak_of(partial(reader, tmp_path / f"{name}.npz")) < SIZE / 10


@pytest.mark.parametrize("name", ["weights", "indptr", "node_ids", "meta"])
def test_small_files_that_hold_much_are_refused_before_they_are_unpacked(
    tmp_path, monkeypatch, name
):
    path = tmp_path / "g.npz"
    Graph([("a", "b")]).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    path.write_bytes(packed(members | {f"{name}.npy": zeros_of(SIZE)}))
    only(monkeypatch, SIZE * 2 if name != "meta" else SIZE // 2)

    def refused():
        with pytest.raises(InputError, match=r"bytes .* of memory"):
            Graph(path)

    assert peak_of(refused) < SIZE / 10


def test_the_memory_that_a_graph_takes_is_counted(tmp_path):
    """Three and a half times the arrays, as is asked for."""
    rng, n = np.random.default_rng(0), 3000
    matrix = sp.random_array((n, n), density=0.02, rng=rng, format="csr")
    Graph(matrix).save(tmp_path / "g.npz")
    sp.save_npz(tmp_path / "s.npz", matrix, compressed=False)
    for name in ("g.npz", "s.npz"):
        size = (tmp_path / name).stat().st_size
        assert peak_of(partial(Graph, tmp_path / name)) < 3.5 * size
