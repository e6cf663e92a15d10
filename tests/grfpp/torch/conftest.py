"""Tests that need packages that are not installed are not collected."""

from importlib.util import find_spec

NEEDED = {"*": "torch", "encodings/*": "torch_geometric", "gp/*": "gpytorch"}
collect_ignore_glob = [files for files, package in NEEDED.items() if find_spec(package) is None]
