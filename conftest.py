"""What holds for all tests, and for the examples in `src` and `docs`."""

import gc
import os

# Threads of linear algebra wait for each other longer than matrices of this size take, above all
# where as many processes test as there are cores. Before numpy is loaded; processes inherit it.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# What is imported and collected stays to the end: looking through it for garbage, again and again,
# takes a tenth of the time.
gc.disable()


def pytest_collection_finish(session):
    """Leave what there is now to the end of the process."""
    gc.collect()
    gc.freeze()
    gc.enable()
