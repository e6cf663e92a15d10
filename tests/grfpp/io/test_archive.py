import io
import json
import os
import pickle

import numpy as np
import pytest

from grfpp.errors import InputError
from grfpp.io.archive import atomic_write, load_arrays, save_arrays


def test_round_trip(tmp_path):
    path = tmp_path / "x.npz"
    save_arrays(path, "kind", {"a": np.arange(3), "b": np.array(["x"])}, {"seed": 7})
    arrays, meta = load_arrays(path, "kind")
    np.testing.assert_array_equal(arrays["a"], [0, 1, 2])
    assert arrays["b"].tolist() == ["x"]
    assert meta == {"format": "kind", "seed": 7}


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.bin"]  # noqa: PTH208 - nothing is left behind
    with atomic_write(path) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"


def test_permissions_are_those_of_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    with atomic_write(tmp_path / "ours") as stream:
        stream.write(b"")
    assert (tmp_path / "ours").stat().st_mode == plain.stat().st_mode


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        save_arrays(tmp_path / "none" / "x.npz", "kind", {})


def test_other_kinds_and_other_files(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(InputError, match="no file"):
        load_arrays(path, "kind")
    save_arrays(path, "kind", {})
    with pytest.raises(InputError, match="holds 'kind', not 'other'"):
        load_arrays(path, "other")
    np.savez(path, a=np.arange(3))
    with pytest.raises(InputError, match="not written by grfpp"):
        load_arrays(path, "kind")
    np.savez(path, meta=np.array(json.dumps([1])))
    with pytest.raises(InputError, match="not written by grfpp"):
        load_arrays(path, "kind")
    single = io.BytesIO()
    np.save(single, np.arange(3))
    path.write_bytes(single.getvalue())
    with pytest.raises(InputError, match="single array"):
        load_arrays(path, "kind")


class Exploding:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, meta=np.array([Exploding()], dtype=object))
    with pytest.raises(InputError, match="without pickles"):
        load_arrays(path, "kind")
    path.write_bytes(pickle.dumps(Exploding()))
    with pytest.raises(InputError, match="without pickles"):
        load_arrays(path, "kind")


def test_every_truncation_is_noticed(tmp_path):
    path = tmp_path / "x.npz"
    save_arrays(path, "kind", {"a": np.arange(100)})
    whole = path.read_bytes()
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError):
            load_arrays(path, "kind")
