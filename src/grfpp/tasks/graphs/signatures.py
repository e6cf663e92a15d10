"""Nodes told apart by where their walks lead: a smooth kin of Weisfeiler–Lehman's colours.

The signature of a node at length ``k`` is its label together with the rows of ``W Y, …, W^k Y``
that are its own: how much of its walks of each length ends at each label. Values are cut into bins;
with narrow ones, nodes share a signature where walks see no difference between them, which is
nearly what ``k`` rounds of Weisfeiler–Lehman's refinement tell apart. Wider bins forgive small
differences, and the noise of walks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

from grfpp.linalg.sparse import csr
from grfpp.tasks.graphs.labelled import LabelArray
from grfpp.typing import FloatArray, IntArray, WordArray
from grfpp.walks.streams import GOLDEN, mix64

#: Where the first bin begins, in bins: a place that fractions and roots of them do not fall on, so
#: that rounding does not part equal nodes.
_OFFSET = 0.38196601125010515
#: Beyond so many bins from zero all is one.
_MOST_BINS = 2.0**52


def signature_words(numbers: IntArray, spread: Iterable[FloatArray], width: float) -> WordArray:
    """64 bits for the signature of each node at each length: a row a length, from 0.

    Equal signatures have equal words; different ones have different words, but for a chance of
    ``2^-64`` a pair.

    Parameters
    ----------
    numbers
        Of the nodes' labels.
    spread
        ``W Y``, ``W² Y``, … with a column a label.
    width
        Of the bins.
    """
    golden = np.uint64(GOLDEN)
    words = [mix64((numbers.astype(np.uint64) + np.uint64(1)) * golden)]
    for masses in spread:
        with np.errstate(over="ignore"):
            bins = np.floor(np.clip(masses / width, -_MOST_BINS, _MOST_BINS) + _OFFSET)
        salt = mix64(np.arange(1, bins.shape[1] + 1, dtype=np.uint64) * golden)
        mixed = mix64(bins.astype(np.int64).view(np.uint64) * golden + salt)
        # Labels that no walk leads to add nothing: how many of them there are does not matter.
        mixed[bins == 0] = 0
        words.append(mix64(words[-1] * golden + mixed.sum(axis=1, dtype=np.uint64)))
    return np.array(words)


def histograms(
    words: Sequence[WordArray], vocabulary: Sequence[LabelArray], starts: IntArray
) -> sp.csr_array:
    """How many nodes of each graph have each word: a column a word of the sorted vocabularies.

    Words that are not in the vocabulary of their length are left out.
    """
    n_graphs = len(starts) - 1
    graph_of = np.repeat(np.arange(n_graphs), np.diff(starts))
    found = []
    for own, known in zip(words, vocabulary, strict=True):
        place = np.minimum(np.searchsorted(known, own), max(len(known) - 1, 0))
        kept = np.flatnonzero(known[place] == own) if len(known) else np.empty(0, np.int64)
        counts = sp.coo_array(
            (np.ones(len(kept)), (graph_of[kept], place[kept])), shape=(n_graphs, len(known))
        )
        found.append(counts.tocsr())
    return sp.csr_array(sp.hstack(found, format="csr"))


def count_levels(counts: sp.csr_array) -> sp.csr_array:
    """A column for "at least t" of every count and every ``t`` from one up to the largest.

    Inner products of the result are sums of the lesser of two counts: the kernel of histogram
    intersection, which counts how many nodes of two graphs can be paired with their like.

    Examples
    --------
    >>> levels = count_levels(sp.csr_array([[3, 0], [1, 2]]))
    >>> (levels @ levels.T).toarray()
    array([[3., 1.],
           [1., 3.]])
    """
    matrix = sp.csr_array(counts)
    times = matrix.data.astype(np.int64)
    level = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    most = int(times.max(initial=1))
    _, columns = np.unique(
        np.repeat(matrix.indices.astype(np.int64), times) * most + level, return_inverse=True
    )
    indptr = np.concatenate([[0], np.cumsum(times)])[matrix.indptr]
    n_columns = int(columns.max(initial=-1)) + 1
    return csr(np.ones(len(columns)), columns.astype(np.int32), indptr, n_columns)
