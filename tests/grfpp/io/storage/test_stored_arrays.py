"""Arrays of .npz files: only what is asked for, and not more than memory bears."""

import io
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

from grfpp import Graph, InputError, KernelEstimate
from grfpp.io.storage.archive import save_arrays
from grfpp.io.storage.stored_arrays import opened_arrays


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


def refusal(content, name="a"):
    with file_holding(content, ".npz") as path:
        with pytest.raises(InputError) as caught, opened_arrays(path) as arrays:
            arrays[name]
        assert str(path) in str(caught.value)
        return str(caught.value)


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
    assert found.shape == array.shape
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.dtype.isnative


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (b"", "not an array"),
        (b"\x93NUMPY", "not an array"),
        (b"\x93NUMPY\x09\x00" + bytes(9), "not an array"),
        (saved(np.zeros(3))[:-1], "24 bytes in a member of 23"),
        (saved(np.zeros(3)) + b"x", "24 bytes in a member of 25"),
        (saved(np.zeros(3)).replace(b"(3,)", b"(9,)"), "72 bytes in a member of 24"),
        (saved(np.zeros(3)).replace(b"(3,)", b"9**9"), "not an array"),
        (saved(np.zeros(3)).replace(b"<f8", b"|O8"), "not an array"),
        (saved(np.zeros(3)).replace(b"<f8", b"<f9"), "no such type"),
        (saved(np.zeros(3, "f4,i2")), "not an array"),
        (saved(np.array([2**31, 65], np.uint32).view("U1")), "codes that no character has"),
        (saved(np.array([2**31, 65], ">u4").view(">U1")), "codes that no character has"),
        (saved(np.zeros(3, "M8[s]")), "not an array"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + bytes(9), "a header of 2,147,483,647 bytes"),
    ],
)
def test_damaged_members(member, words):
    assert words in refusal(packed({"a.npy": member}))


def test_odd_packings_are_refused():
    content = packed({"a.npy": saved(np.zeros(3))}, zipfile.ZIP_LZMA)
    assert "packed in a way that numpy does not use" in refusal(content)


def test_a_changed_byte_is_noticed():
    content = bytearray(packed({"a.npy": saved(np.arange(9.0))}, zipfile.ZIP_STORED))
    content[content.index(b"NUMPY") + 130] ^= 1
    assert "Bad CRC-32" in refusal(bytes(content))


def zeros_of(n_bytes):
    """The member of an array of zeros, which packs to a thousandth."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_bytes // 8},), }}"
    header = header.ljust(117) + "\n"
    return (
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(n_bytes)
    )


def peak_of(call):
    tracemalloc.start()
    try:
        call()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


SIZE = 8_000_000


def test_members_that_nobody_needs_are_not_unpacked(tmp_path):
    """Neither in graphs of either kind nor in estimates."""
    import grfpp

    graph = Graph(np.ones((3, 3)))
    graph.save(tmp_path / "graph.npz")
    sp.save_npz(tmp_path / "scipy.npz", graph.adjacency)
    grfpp.sample(graph.normalized("sym"), grfpp.Diffusion(1.0), seed=0).save(tmp_path / "k.npz")
    for path in tmp_path.iterdir():
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data_77.npy", zeros_of(SIZE))
            archive.writestr("unused.npy", zeros_of(SIZE))
            archive.writestr("README", bytes(SIZE))
    for name, load in (("graph", Graph), ("graph", Graph.load), ("scipy", Graph),
                       ("k", KernelEstimate.load)):  # fmt: skip
        assert peak_of(partial(load, tmp_path / f"{name}.npz")) < SIZE / 10


@pytest.mark.parametrize("name", ["weights", "indices", "indptr", "node_ids", "meta"])
def test_small_files_that_hold_much_are_refused_before_they_are_unpacked(
    tmp_path, monkeypatch, name
):
    path = tmp_path / "g.npz"
    ring = Graph([[0, 1], [1, 0]])
    parts = {part: getattr(ring, part) for part in ("indptr", "indices", "weights")}
    save_arrays(path, "grfpp-graph-1", {**parts, "node_ids": np.arange(2)})
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    path.write_bytes(packed(members | {f"{name}.npy": zeros_of(SIZE)}))
    assert path.stat().st_size < SIZE / 100
    only(monkeypatch, SIZE * 2 if name != "meta" else SIZE // 2)

    def load():
        with pytest.raises(InputError, match=r"bytes .* of memory"):
            Graph(path)

    assert peak_of(load) < SIZE / 10


def test_the_memory_that_a_graph_takes_is_counted(tmp_path):
    """Three and a half times the arrays, as is asked for."""
    rng, n = np.random.default_rng(0), 3000
    matrix = sp.random_array((n, n), density=0.02, rng=rng, format="csr")
    Graph(matrix).save(tmp_path / "g.npz")
    sp.save_npz(tmp_path / "s.npz", matrix, compressed=False)
    for name in ("g.npz", "s.npz"):
        size = (tmp_path / name).stat().st_size
        assert peak_of(partial(Graph, tmp_path / name)) < 3.5 * size


def test_text_without_room_for_a_letter_is_not_made_room_for():
    header = saved(np.zeros(3, "S1")).replace(b"|S1", b"|S0")
    huge = header[:-3].replace(b"(3,), }      ", b"(3000000000,)}")
    assert b"3000000000" in huge and len(huge) == len(header) - 2
    assert "without room" in refusal(packed({"a.npy": huge[:128]}))
