"""Reading how much memory is left."""

from __future__ import annotations

import pytest
from little_memory import only

from grfpp import _memory as memory
from grfpp._memory import available_bytes, require_bytes
from grfpp.errors import InputError


def machine(root, files):
    """A folder that looks like the root of a machine, which has 8000 kB left."""
    meminfo = "MemTotal:       16000 kB\nMemAvailable:   8000 kB\n"
    for name, text in {"proc/meminfo": meminfo, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def group(name, limits):
    """Control groups of a process, and files of theirs."""
    return {"proc/self/cgroup": name} | {f"sys/fs/cgroup/{each}": limits[each] for each in limits}


def version_1(name, limit, usage):
    """Inside a container the group is often mounted at the root."""
    files = {"memory/memory.limit_in_bytes": limit, "memory/memory.usage_in_bytes": usage}
    return group(name, files)


VERSION_2 = {
    "jobs/7/memory.max": "max\n",
    "jobs/7/memory.current": "500\n",
    "jobs/memory.max": "3000\n",
    "jobs/memory.current": "2000\n",
    "jobs/memory.stat": "anon 7\ninactive_file 400\n",
}
OVERFULL = {"memory.max": "10\n", "memory.current": "20\n"}
SOFT = {"memory.max": "9000\n", "memory.high": "5000\n", "memory.current": "2000\n"}
MACHINES = {
    "plain": ({}, 8000 * 1024),
    "version 2": (group("0::/jobs/7\n", VERSION_2), 3000 - 2000 + 400),
    "version 1": (version_1("5:cpu,cpuacct:/x\n4:memory:/docker/abc\n", "10000\n", "9000\n"), 1000),
    "no limit": (version_1("4:memory:/\n", "9223372036854771712\n", "9000\n"), 8000 * 1024),
    "overfull group": (group("0::/\n", OVERFULL), 0),
    "soft limit": (group("0::/\n", SOFT), 3000),
}


@pytest.mark.parametrize(("files", "left"), MACHINES.values(), ids=MACHINES)
def test_what_is_left(tmp_path, files, left):
    assert available_bytes(machine(tmp_path, files)) == left


def test_unknown_machine(tmp_path, monkeypatch):
    assert available_bytes(tmp_path) > 0
    monkeypatch.delattr(memory.os, "sysconf", raising=False)
    assert available_bytes(tmp_path) == 4 * 2**30


LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max data size             {data}            unlimited            bytes
Max address space         {space}              unlimited            bytes
"""


@pytest.mark.parametrize(
    ("space", "data", "left"),
    [
        ("5000000", "unlimited", 5_000_000 - 1024 * 3000),
        ("unlimited", "5000000", 5_000_000 - 1024 * 2000),
        ("5000000", "2500000", 2_500_000 - 1024 * 2000),
        ("1000000", "unlimited", 0),
        ("unlimited", "unlimited", 8000 * 1024),
    ],
)
def test_limits_of_the_process(tmp_path, space, data, left):
    files = {
        "proc/self/limits": LIMITS.format(space=space, data=data),
        "proc/self/status": "Name:\tpython\nVmSize:\t    3000 kB\nVmData:\t    2000 kB\n",
    }
    assert available_bytes(machine(tmp_path, files)) == left


def test_refusal_names_both_numbers(monkeypatch):
    only(monkeypatch, 4_000_000)
    require_bytes(3_000_000, "a table")
    with pytest.raises(InputError, match=r"a table needs 3500000 bytes \(3.5 MB\).*3000000 \(3 MB"):
        require_bytes(3_500_000, "a table")
