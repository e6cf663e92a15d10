"""A process that reads mutants: names and numbers come in by lines, outcomes go out."""

import faulthandler
import json
import resource
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path

from fuzz import check, formats, selftest

from grfpp import memory

#: What a mutant may take beside what the process has, and what grfpp is told that there is.
LIMIT = 3 * 2**29


def main():
    """Read until nobody writes."""
    faulthandler.enable()
    known = formats.FORMATS | selftest.FORMATS
    check.outcome(formats.FORMATS["txt"], _written(formats.FORMATS["txt"], b"0 1\n"))  # compiles
    memory.available_bytes = lambda root="/": LIMIT * 2 // 3
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + LIMIT, now + LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", flush=True)
    for line in sys.stdin:
        name, number = line.split()
        form = known[name]
        path = _written(form, selftest.mutant(name, int(number)))
        try:
            result, detail = check.outcome(form, path), ""
        except BaseException as error:
            result = "failed"
            detail = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-6)}"
        print(json.dumps([result, detail]), flush=True)


@cache
def _folder():
    memory_disk = Path("/dev/shm")  # files there cost nothing
    return tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None)


def _written(form, content):
    path = Path(_folder().name, f"mutant{form.suffix}")
    path.write_bytes(content)
    return path


if __name__ == "__main__":
    main()
