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
_TIMEOUT_SECONDS = 30


def data_folder() -> Path | None:
    """The folder that ``GRFPP_DATA`` names, or ``None`` when it is not set."""
    named = os.environ.get("GRFPP_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InputError(f"GRFPP_DATA is {named!r}, which is not a folder; correct or unset it")
    return folder


def cache_folder() -> Path:
    """The folder that downloads go to: ``GRFPP_CACHE``, else where the system keeps caches.

    It is not made before it is needed.
    """
    if named := os.environ.get("GRFPP_CACHE"):
        return Path(named).expanduser()
    # As `pooch.os_cache`, which is an optional package.
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local"
        return Path(local, "grfpp", "Cache", "grfpp")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/grfpp"
    return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache", "grfpp")


def find_file(file: DataFile) -> Path | None:
    """Where a file is, or ``None`` when it is not at hand."""
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

    ``None`` when it is not wholly at hand.
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

    Downloads have the checksum that the registry holds, or are refused. Files that are at hand are
    taken as they are.

    Raises
    ------
    MissingDataError
        When the file is not at hand and cannot be had, or `download` is false. It names the file
        and the folder that it can be put into.
    """
    if (path := find_file(file)) is not None:
        return path
    if not download:
        raise missing(info, file, "downloads were not asked for")
    if not file.address:
        raise missing(info, file, "grfpp knows no address to download it from")
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
    except OSError as error:  # all of requests' are, and those of a cache that cannot be written
        reason = f"the download failed ({type(error).__name__})"
        if (response := getattr(error, "response", None)) is not None:
            response.close()  # pooch leaves it open
            reason = f"the download failed (HTTP status {response.status_code})"
    raise missing(info, file, reason)


def missing(info: DatasetInfo, file: DataFile, reason: str) -> MissingDataError:
    """Make the error that says what is missing and where to put it."""
    folder = data_folder()
    places = f"neither in GRFPP_DATA ({folder})" if folder else "not in GRFPP_DATA, which is unset,"
    return MissingDataError(
        f"{info.name}: {file.path} is {places} nor in the cache, and {reason}. "
        f"Get it from {file.address or info.page} and put it at {cache_folder() / file.path}, "
        f"or set GRFPP_DATA to a folder that holds {file.path}"
    )
