"""Where files are looked for, and what becomes of downloads: from a server on this machine."""

import hashlib
import logging
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from datasets_helpers import no_data, refusal

from grfpp.datasets import at_hand, cache_folder, data_folder, dataset_info, fetch_file, where
from grfpp.datasets.fetch import find_file
from grfpp.datasets.registry import DataFile, DatasetInfo
from grfpp.errors import MissingDataError

CONTENT = b"a graph\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


pooch = pytest.importorskip("pooch")


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    """The address of a folder that holds the file ``public.gml``."""
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "public.gml").write_bytes(CONTENT)
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def entry(address="", sha256=DIGEST, **options):
    file = DataFile("graphs/local.gml", len(CONTENT), sha256, address)
    return DatasetInfo("local", "graphs", "a test", "none", "https://page", (file,), **options)


def fetch(info, **options):
    return fetch_file(info, info.files[0], **options)


def put(folder, file="graphs/local.gml"):
    path = Path(folder, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTENT)
    return path


def test_the_data_folder_comes_before_the_cache(monkeypatch, tmp_path, cache):
    info = entry()
    assert where(info) is None
    (cache / "graphs/local.gml").mkdir(parents=True)  # a folder is no file
    assert find_file(info.files[0]) is None
    (cache / "graphs/local.gml").rmdir()
    cached = put(cache)
    assert fetch(info) == cached
    assert where(info) == "cache"
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path / "data"))
    assert "not a folder" in refusal(data_folder)
    given = put(tmp_path / "data")
    assert fetch(info) == given
    assert where(info) == "GRFPP_DATA"


def test_what_serves_instead(cache):
    other = DataFile("graphs/other.gml", 1, "0" * 64)
    assert where(entry(package="networkx")) == "networkx"
    assert where(entry(instead=other)) is None
    put(cache, other.path)
    assert where(entry(instead=other)) == "cache"


def test_at_hand(cache):
    assert at_hand("karate")
    assert not at_hand("cora")
    put(cache, "graphs/cora.gml")
    assert at_hand("cora")
    assert not at_hand("mnist")
    for file in dataset_info("mnist").files:
        put(cache, file.path)
    assert at_hand("mnist")


def test_the_cache_is_where_pooch_has_it(monkeypatch, tmp_path):
    monkeypatch.delenv("GRFPP_CACHE", raising=False)
    assert cache_folder() == Path(pooch.os_cache("grfpp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == Path(pooch.os_cache("grfpp"))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    for platform, end in (("win32", "grfpp/Cache/grfpp"), ("darwin", "Library/Caches/grfpp")):
        monkeypatch.setattr(sys, "platform", platform)
        assert cache_folder().as_posix().endswith(end)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_a_download_is_kept(cache, server, caplog, capfd):
    info = entry(f"{server}/public.gml")
    with caplog.at_level(logging.WARNING, "grfpp"):
        path = fetch(info)
    assert path == cache / "graphs/local.gml"
    assert path.read_bytes() == CONTENT
    assert [record.getMessage() for record in caplog.records] == [
        f"grfpp: downloading local (8 bytes) from {server}/public.gml"
    ]
    assert capfd.readouterr().err.count("\n") <= 1  # what pooch says is not said twice
    path.write_bytes(b"kept")
    assert fetch(info).read_bytes() == b"kept"


def test_the_checksum_of_a_download(cache, server):
    message = refusal(fetch, entry(f"{server}/public.gml", "0" * 64))
    assert f"does not have the checksum {'0' * 64}" in message
    assert not [path for path in cache.rglob("*") if path.is_file()]
    file = DataFile("graphs/local.gml", 8, "0" * 64, f"{server}/public.gml", DIGEST)
    assert fetch_file(entry(), file).read_bytes() == CONTENT  # that of the public file counts


def test_downloads_that_fail(cache, server, monkeypatch, tmp_path):
    cache.write_bytes(b"a file, not a folder")
    assert "the download failed" in refusal(fetch, entry(f"{server}/public.gml"))
    cache.unlink()
    assert "the download failed (HTTP status 404)" in refusal(fetch, entry(f"{server}/absent.gml"))
    message = refusal(fetch, entry("http://127.0.0.1:9/public.gml"))
    assert "the download failed (ConnectionError)" in message
    assert f"put it at {cache / 'graphs/local.gml'}" in message
    assert "get it from http://127.0.0.1:9/public.gml" in message
    assert "set GRFPP_DATA to a folder that holds graphs/local.gml" in message
    message = refusal(fetch, entry())
    assert "no public address" in message and "get it from https://page" in message
    assert "download is False" in refusal(fetch, entry("http://127.0.0.1:9/x"), download=False)
    with pytest.raises(MissingDataError):
        fetch(entry())
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    assert f"neither in GRFPP_DATA ({tmp_path}) nor in the cache" in refusal(fetch, entry())


def test_without_pooch(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    message = refusal(fetch, entry("http://127.0.0.1:9/x"))
    assert "pip install './lab[all]' in a clone of grfpp" in message
    assert str(cache / "graphs/local.gml") in message
