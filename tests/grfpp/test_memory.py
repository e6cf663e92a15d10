"""Reading how much memory is left."""

from __future__ import annotations

import pytest
from little_memory import only

from grfpp import _memory as memory
from grfpp._memory import available_bytes, require_bytes
from grfpp.errors import InputError


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = "MemTotal:       16000 kB\nMemAvailable:   8000 kB\n"


def test_plain_machine(tmp_path):
    assert available_bytes(write(tmp_path, {"proc/meminfo": MEMINFO})) == 8000 * 1024


def test_control_group_of_version_2(tmp_path):
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "0::/jobs/7\n",
            "sys/fs/cgroup/jobs/7/memory.max": "max\n",
            "sys/fs/cgroup/jobs/7/memory.current": "500\n",
            "sys/fs/cgroup/jobs/memory.max": "3000\n",
            "sys/fs/cgroup/jobs/memory.current": "2000\n",
            "sys/fs/cgroup/jobs/memory.stat": "anon 7\ninactive_file 400\n",
        },
    )
    assert available_bytes(root) == 3000 - 2000 + 400


def test_control_group_of_version_1(tmp_path):
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",
            # Inside a container the group is often mounted at the root.
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "10000\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "9000\n",
        },
    )
    assert available_bytes(root) == 1000


def test_no_limit_is_no_limit(tmp_path):
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "4:memory:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "9000\n",
        },
    )
    assert available_bytes(root) == 8000 * 1024


def test_overfull_group_leaves_nothing(tmp_path):
    root = write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": "10\n",
            "sys/fs/cgroup/memory.current": "20\n",
        },
    )
    assert available_bytes(root) == 0


def test_unknown_machine(tmp_path, monkeypatch):
    assert available_bytes(tmp_path) > 0
    monkeypatch.delattr(memory.os, "sysconf", raising=False)
    assert available_bytes(tmp_path) == 4 * 2**30


def test_a_soft_limit_counts_too(tmp_path):
    root = write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": "9000\n",
            "sys/fs/cgroup/memory.high": "5000\n",
            "sys/fs/cgroup/memory.current": "2000\n",
        },
    )
    assert available_bytes(root) == 3000


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
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/limits": LIMITS.format(space=space, data=data),
            "proc/self/status": "Name:\tpython\nVmSize:\t    3000 kB\nVmData:\t    2000 kB\n",
        },
    )
    assert available_bytes(root) == left


def test_refusal_names_both_numbers(monkeypatch):
    only(monkeypatch, 4_000_000)
    require_bytes(3_000_000, "a table")
    with pytest.raises(InputError, match=r"a table needs 3500000 bytes \(3.5 MB\).*3000000 \(3 MB"):
        require_bytes(3_500_000, "a table")
