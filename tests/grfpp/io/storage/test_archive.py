import io
import json
import pickle

import numpy as np
import pytest

from grfpp.errors import InputError
from grfpp.io.storage.archive import opened_kind, save_arrays


def test_round_trip(tmp_path):
    path = tmp_path / "x.npz"
    save_arrays(path, "kind", {"a": np.arange(3), "b": np.array(["x"])}, {"seed": 7})
    with opened_kind(path, "kind") as (arrays, meta):
        np.testing.assert_array_equal(arrays["a"], [0, 1, 2])
        assert arrays["b"].tolist() == ["x"]
    assert meta == {"format": "kind", "seed": 7}


def load_arrays(path, kind):
    with opened_kind(path, kind) as (arrays, _):
        return dict(arrays)


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
