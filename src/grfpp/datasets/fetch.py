"""Find the files of a data set in ``GRFPP_DATA`` or the cache, or download them."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

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
    named = os.environ.get("GRFPP_CACHE")
    return Path(named).expanduser() if named else _system_cache() / "grfpp"


def _system_cache() -> Path:
    """Where `pooch.os_cache` is too, without need of pooch."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData/Local") / "grfpp" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches"
    named = os.environ.get("XDG_CACHE_HOME", "").strip()
    return Path(named) if named else Path.home() / ".cache"


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
    folders = {"GRFPP_DATA": data_folder(), "cache": cache_folder()}
    paths = [find_file(file) for file in info.files]
    if info.instead and None in paths:
        paths = [find_file(info.instead)]
    if None in paths:
        return info.package or None
    return " and ".join(
        name
        for name, folder in folders.items()
        if folder and any(path.is_relative_to(folder) for path in paths if path)
    )


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
    path = find_file(file)
    if path is not None:
        return path
    if not download:
        raise missing(info, file, "downloads were not asked for")
    if not file.address:
        raise missing(info, file, "grfpp knows no address to download it from")
    try:
        pooch = require("pooch", "downloading")
    except InputError as error:
        raise missing(info, file, str(error)) from None
    target, size = cache_folder() / file.path, readable_bytes(file.n_bytes)
    _LOGGER.warning("grfpp: downloading %s (%s) from %s", info.name, size, file.address)
    pooch.get_logger().setLevel(logging.ERROR)  # it repeats what was logged above
    try:
        pooch.retrieve(
            file.address,
            known_hash=f"sha256:{file.checksum}",
            fname=target.name,
            path=target.parent,
            downloader=pooch.HTTPDownloader(timeout=_TIMEOUT_SECONDS),
        )
    except ValueError:
        raise missing(
            info, file, f"what is at its address has not the checksum {file.checksum}"
        ) from None
    except OSError as error:  # all of requests' are, and those of a cache that cannot be written
        raise missing(info, file, f"the download failed: {_failure(error, file)}") from None
    return target


def _failure(error: OSError, file: DataFile) -> str:
    host = urlsplit(file.address).hostname
    response = getattr(error, "response", None)
    if response is not None:
        response.close()  # pooch leaves it open
        return f"{host} answers {response.status_code}"
    if type(error).__module__.startswith("requests"):
        return f"{host} cannot be reached ({type(error).__name__})"
    return str(error)


def missing(info: DatasetInfo, file: DataFile, reason: str) -> MissingDataError:
    """Make the error that says what is missing and where to put it."""
    folder = data_folder()
    places = f"neither in GRFPP_DATA ({folder})" if folder else "not in GRFPP_DATA, which is unset,"
    return MissingDataError(
        f"{info.name}: {file.path} is {places} nor in the cache, and {reason}. "
        f"Get it from {file.address or info.page} and put it at {cache_folder() / file.path}, "
        f"or set GRFPP_DATA to a folder that holds {file.path}"
    )
