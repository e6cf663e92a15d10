"""Ways to damage what is packed: the files of an archive, the arrays of an ``.npz`` file."""

import gzip
import io
import warnings
import zipfile
from contextlib import suppress

import numpy as np
from fuzz.mutations import choice, of_bytes, of_text


def of_gzip(rng, content, others):
    """Damage what is packed, and pack it again."""
    try:
        inner = gzip.decompress(content)
        fellows = [gzip.decompress(other) for other in others]
    except Exception:  # damaged before
        return of_bytes(rng, content, others)
    return gzip.compress(of_text(rng, inner, fellows), mtime=0)


def of_zip(rng, content, others):
    """Damage a member of a zip file, or its name, and pack all of them again."""
    return _repacked(rng, content, of_text)


def of_arrays(rng, content, others):
    """Damage an array of an ``.npz`` file, or the header of one, and pack all of them again."""
    return _repacked(rng, content, _of_array)


def _repacked(rng, content, damage):
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(each.filename, archive.read(each)) for each in archive.infolist()]
    except Exception:  # damaged before
        return of_bytes(rng, content, [])
    if not members:
        return of_bytes(rng, content, [])
    place = int(rng.integers(len(members)))
    name, data = members[place]
    match rng.integers(8):
        case 0:
            del members[place]
        case 1:
            members.append((f"{name}.npy", b"\x93NUMPY\x01\x00" + bytes(40)))
        case 2:
            members[place] = (name, members[int(rng.integers(len(members)))][1])
        case _:
            members[place] = (name, damage(rng, data, [each for _, each in members]))
    packed = io.BytesIO()
    way = choice(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", way) as archive:
        warnings.simplefilter("ignore")  # about names that stand twice
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, way)
    return packed.getvalue()


def _of_array(rng, data, others):
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:  # damaged before
        return of_bytes(rng, data, others)
    if array.dtype.kind in "US" and array.shape == () and rng.random() < 0.7:
        text = of_text(rng, str(array).encode(), [b'{"a": [1, 2]}'])
        return _saved(np.array(text.decode(errors="replace")))
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        match rng.integers(9):
            case 0 | 1 | 2 if array.size and array.dtype.kind in "iuf":
                values = [0, -1, 1, array.size, array.size + 1, 2**31 - 1, 2**31, -(2**31), 10**6]
                values += [np.nan, np.inf, 1e308, 5e-324] * (array.dtype.kind == "f")
                flat = flat.copy()
                place = choice(rng, [0, array.size - 1, int(rng.integers(array.size))])
                flat[place] = np.array(choice(rng, values)).astype(array.dtype)
                array = flat.reshape(array.shape)
            case 3:
                array = flat[: int(rng.integers(array.size + 1))]
            case 4:
                array = np.concatenate([flat] * 2)
            case 5:
                array = array.reshape(choice(rng, [(-1, 1), (1, -1), (1, 1, -1)]))
            case 6:
                kinds = ["i1", "u1", "i4", "u8", "f4", "f8", ">i4", ">f8", "c16", "?", "U5", "S3"]
                with suppress(ValueError):  # words that are no numbers
                    array = array.astype(choice(rng, kinds))
            case 7:
                array = rng.permutation(array) if array.ndim else array[np.newaxis]
            case _:  # the header says something else than the array
                end = data.index(b"\n") if b"\n" in data[:200] else len(data)
                return of_text(rng, data[10:end], [data[10:end]]).join([data[:10], data[end:]])
    return _saved(array)


def _saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
