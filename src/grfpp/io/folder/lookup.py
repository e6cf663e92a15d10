"""The compiled search for many names in the stored order of a folder's names."""

from __future__ import annotations

from typing import Any

from numba import int64

from grfpp._compiled import compiled


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def text_ranks(stored: Any, order: Any, asked: Any, ranks: Any, counts: Any) -> None:
    """Numbers of smaller names, and of equal ones up to 2; texts are ``(bytes, ends)``."""
    text, ends = stored
    queries, query_ends = asked
    for q in range(len(query_ends)):
        begin = query_ends[q - 1] if q else 0
        size = query_ends[q] - begin
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if _compared(text, ends, order[middle], queries, begin, size) < 0:
                low = middle + 1
            else:
                high = middle
        ranks[q] = low
        counts[q] = 0
        for rank in range(low, min(low + 2, len(order))):
            counts[q] += _compared(text, ends, order[rank], queries, begin, size) == 0


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def _compared(text: Any, ends: Any, node: Any, queries: Any, begin: Any, size: Any) -> Any:
    """Below zero where the name of a node comes before a query, zero where they are equal."""
    first = ends[node - 1] if node else 0
    length = ends[node] - first
    for at in range(min(length, size)):
        difference = int64(text[first + at]) - int64(queries[begin + at])
        if difference != 0:
            return difference
    return length - size
