"""Find the files of a data set in ``GRFPP_DATA`` or the cache, or download them."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from grfpp._imports import require
from grfpp._memory import readable_bytes
from grfpp.datasets.registry import DataFile, DatasetInfo, dataset_info
from grfpp.errors import InputError, MissingDataError

_LOGGER = logging.getLogger("grfpp")
#: Seconds without an answer of the server that end a download.
_TIMEOUT_SECONDS = 30


def data_folder() -> Path | None:
    """The folder that ``GRFPP_DATA`` names, or ``None`` if it is not set.

    Examples
    --------
    >>> from grfpp.datasets import data_folder
    >>> folder = data_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    value = os.environ.get("GRFPP_DATA")
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise InputError(f"GRFPP_DATA is {value!r}, not a folder", advice="correct or unset it")
    return folder


def cache_folder() -> Path:
    """The folder of downloads: ``GRFPP_CACHE``, else a folder of the system's user cache.

    It is created by the first download.

    Examples
    --------
    >>> from grfpp.datasets import cache_folder
    >>> list(cache_folder().glob("graphs/*.gml"))     # downloaded so far
    [...]
    """
    if value := os.environ.get("GRFPP_CACHE"):
        return Path(value).expanduser()
    # As `pooch.os_cache`, which is an optional package.
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local"
        return Path(local, "grfpp", "Cache", "grfpp")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/grfpp"
    return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache", "grfpp")


def find_file(file: DataFile) -> Path | None:
    """The path of a file in ``GRFPP_DATA`` or the cache, or ``None`` if it is in neither."""
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (path := folder / file.path).is_file():
            return path
    return None


def at_hand(name: str) -> bool:
    """Whether a data set can be loaded without downloading anything.

    Examples
    --------
    >>> from grfpp.datasets import at_hand, load_graph
    >>> if at_hand("cora"):
    ...     cora = load_graph("cora")
    """
    return where(dataset_info(name)) is not None


def where(info: DatasetInfo) -> str | None:
    """What holds a data set: ``"GRFPP_DATA"``, ``"cache"``, both, or the name of a package.

    ``None`` if a file is missing.

    Examples
    --------
    >>> from grfpp.datasets import dataset_info, where
    >>> where(dataset_info("karate"))                 # or "cache", or "GRFPP_DATA"
    '...'
    """
    paths = [find_file(file) for file in info.files]
    if info.instead and None in paths:
        paths = [find_file(info.instead)]
    if None in paths:
        return info.package or None
    cache = cache_folder()
    folders = {"cache" if path and path.is_relative_to(cache) else "GRFPP_DATA" for path in paths}
    return " and ".join(sorted(folders))


def fetch(name: str, family: str | None = None, *, download: bool = True) -> Path:
    """Find the only file of a data set, or download it into the cache."""
    info = dataset_info(name, family)
    return fetch_file(info, info.files[0], download=download)


def fetch_file(info: DatasetInfo, file: DataFile, *, download: bool = True) -> Path:
    """Find a file, or download it into the cache.

    The checksum of a download must be that of the registry. Existing files are not checked.

    Parameters
    ----------
    info, file
        The data set, and one of its files.
    download
        Whether to download a missing file.

    Raises
    ------
    MissingDataError
        If the file is missing, and cannot be downloaded or `download` is false. The message names
        the file and the folder to put it into.

    Examples
    --------
    >>> from grfpp.datasets import dataset_info, fetch_file
    >>> from grfpp.errors import MissingDataError
    >>> info = dataset_info("dolphins")
    >>> try:
    ...     path = fetch_file(info, info.files[0], download=False)
    ... except MissingDataError:
    ...     path = None
    """
    if (path := find_file(file)) is not None:
        return path
    if not download:
        raise missing(info, file, "download is False")
    if not file.address:
        raise missing(info, file, "it has no public address")
    target, size = cache_folder() / file.path, readable_bytes(file.n_bytes)
    try:
        pooch = require("pooch", "downloading")
        _LOGGER.warning("grfpp: downloading %s (%s) from %s", info.name, size, file.address)
        pooch.get_logger().setLevel(logging.ERROR)  # it repeats what was logged above
        how = pooch.HTTPDownloader(timeout=_TIMEOUT_SECONDS)
        checksum = f"sha256:{file.checksum}"
        pooch.retrieve(file.address, checksum, target.name, target.parent, downloader=how)
        return target
    except InputError as error:
        reason = str(error)
    except ValueError:
        reason = f"the file at its address does not have the checksum {file.checksum}"
    except OSError as error:  # the base of requests' errors and of those of a read-only cache
        reason = f"the download failed ({type(error).__name__})"
        if (response := getattr(error, "response", None)) is not None:
            response.close()  # pooch leaves it open
            reason = f"the download failed (HTTP status {response.status_code})"
    raise missing(info, file, reason)


def missing(info: DatasetInfo, file: DataFile, reason: str) -> MissingDataError:
    """Make the error about a missing file, with the path to put it at."""
    folder = data_folder()
    places = f"neither in GRFPP_DATA ({folder})" if folder else "not in GRFPP_DATA, which is unset,"
    problem = f"{info.name}: {file.path} is {places} nor in the cache, and {reason}"
    advice = f"get it from {file.address or info.page} and put it at {cache_folder() / file.path}, "
    advice += f"or set GRFPP_DATA to a folder that holds {file.path}"
    return MissingDataError(problem, advice=advice)
