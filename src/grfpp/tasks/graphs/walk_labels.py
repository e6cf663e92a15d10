"""`WalkLabelFeatures`: which labels walks of each length lead to, in labelled graphs.

The signature of a node at length ``k`` is its label together with its rows of ``W Y, …, W^k Y``,
cut into bins: a smooth relative of the colours of Weisfeiler and Lehman's refinement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import one_of, positive, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.linalg.chebyshev import power_diagonals
from grfpp.linalg.csr import csr
from grfpp.options import WalkOptions
from grfpp.tasks.base import seed_of
from grfpp.tasks.graphs import labelled
from grfpp.typing import FloatArray, IntArray, WordArray
from grfpp.walks.batch import GraphBatch
from grfpp.walks.by_length import BatchLengths
from grfpp.walks.streams import GOLDEN, mix64

COUNTS, PAIRS, RETURNS, SIGNATURES = "counts", "pairs", "returns", "signatures"
SETS = (COUNTS, PAIRS, RETURNS, SIGNATURES)
#: Largest length of walks; longer ones say nothing about small graphs.
_MAX_LENGTHS = 1000
#: Where the first bin begins, in bins: fractions and roots do not fall on it, so that rounding does
#: not separate equal nodes.
_OFFSET = 0.38196601125010515
#: Largest bin number; masses beyond share it.
_MAX_BIN = 2.0**52
_GOLDEN = np.uint64(GOLDEN)


class _Part(NamedTuple):
    """Sums of some consecutive graphs by set, a row a graph, and signatures, a row a length."""

    sums: dict[str, sp.csr_array]
    words: list[WordArray]


@dataclass(eq=False, repr=False)
class WalkLabelFeatures(labelled.GraphListEstimator):
    """Where walks of each length lead, by the labels of where they start and end.

    With the normalised weights ``W``, and ``Y`` the matrix that has a 1 where a node has a label, a
    graph of ``n`` nodes becomes, for each length ``k = 1 … n_lengths``:

    - ``"counts"``: how many nodes have each label (``k = 0``, so to say);
    - ``"pairs"``: ``Yᵀ W^k Y / n`` on and above the diagonal, the mass between two labels;
    - ``"returns"``: ``Σ (W^k)_vv / n`` over the nodes ``v`` of each label, what comes back;
    - ``"signatures"``: how many nodes have each signature. That of a node is its label and its rows
      of ``W Y … W^k Y``: label distributions around it, smoothed by walks, in bins of `width`. One
      column for every signature of the fitted graphs, lengths 0 to `n_lengths`.

    The first three are sums for forests; the last is for linear support vector machines, as
    Weisfeiler–Lehman's colours are. What a graph becomes depends on the graph, on the labels and
    signatures of the fitted graphs and on `random_state`: not on the other graphs of the list,
    their order, or `n_jobs`.

    Parameters
    ----------
    sets
        One of the above, or several: their columns stand one after the other.
    n_lengths
        The longest walks.
    width
        Width of the bins of signatures.
    normalization
        ``"sym"``: ``W = D^-1/2 A D^-1/2``. ``"rw"``: ``D^-1 A``, so that masses are probabilities.
        ``None``: ``A`` itself, so that masses are numbers of walks where edges have no weights, and
        signatures of one step are Weisfeiler–Lehman's colours of one round.
    unlabelled
        Labels where no graph has any: ``"degree"`` (one by one up to 8, then in
        ranges up to 16, 32, 64, …) or ``"constant"``.
    estimate
        ``"exact"``, by sparse products, which are cheap on small graphs, or ``"walks"``.
    n_walks, termination, walks
        Of the walks; see `grfpp.WalkOptions`. Masses are linear in the walks, so their estimates
        are unbiased. The noise of walks parts nodes of equal signatures, unless bins are wide.
    random_state
        A whole number is the seed of the walks; without one, `fit` draws it.
    n_jobs
        Threads; -1 for all cores, ``None`` for one.

    Attributes
    ----------
    labels_
        The labels of the graphs that were fitted, sorted. What walks do at others is left out.
    signatures_
        For each length the signatures of the fitted graphs, as sorted words of 64 bits.
    seed_
        The seed of the walks.

    Examples
    --------
    >>> from grfpp.tasks import LabelledGraph
    >>> water = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
    >>> pairs = WalkLabelFeatures("pairs", n_lengths=2).fit([water])
    >>> pairs.get_feature_names_out()
    array(['H-H after 1', 'H-O after 1', 'O-O after 1', 'H-H after 2',
           'H-O after 2', 'O-O after 2'], dtype=object)
    >>> pairs.transform([water]).toarray().round(2)
    array([[0.  , 0.47, 0.  , 0.67, 0.  , 0.33]])
    """

    sets: Any = (COUNTS, PAIRS, RETURNS)
    n_lengths: int = 4
    width: float = 1e-3
    normalization: str | None = "sym"
    unlabelled: str = "degree"
    estimate: str = "exact"
    n_walks: int = 16
    termination: Any = None
    walks: str = "pooled"
    random_state: Any = None
    n_jobs: int | None = -1

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which labels and signatures there are.

        Parameters
        ----------
        X
            A list of undirected graphs: `LabelledGraph`, or anything that `Graph` takes.
        y
            Not used.
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_array:
        """`fit` and `transform` with one set of walks."""
        return self._features(*self._learn(X))

    def transform(self, X: Any) -> sp.csr_array:
        """The features of graphs.

        Returns
        -------
        csr_array of shape ``(n_graphs, n_features)``
        """
        check_is_fitted(self)
        batch = labelled.graph_batch(X)
        numbers = labelled.label_numbers(self._labels(X, batch), self.labels_)
        return self._features(batch, self._parts(batch, numbers))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Such as ``C``, ``C-O after 2``, ``C back after 2`` and ``signature 2:8a3f…``."""
        check_is_fitted(self)
        lengths = range(1, self._fitted.n_lengths + 1)
        labels, pairs = [str(label) for label in self.labels_], labelled.pair_names(self.labels_)
        signatures = [(k, word) for k, words in enumerate(self.signatures_) for word in words]
        names = {
            COUNTS: labels,
            PAIRS: [f"{pair} after {k}" for k in lengths for pair in pairs],
            RETURNS: [f"{label} back after {k}" for k in lengths for label in labels],
            SIGNATURES: [f"signature {k}:{int(word):016x}" for k, word in signatures],
        }
        return np.array([name for key in self._fitted.sets for name in names[key]], object)

    def _learn(self, X: Any) -> tuple[GraphBatch, list[_Part]]:
        walks = {name: getattr(self, name) for name in ("n_walks", "termination", "walks")}
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        self._options = WalkOptions(**walks, seed=seed_of(self.random_state), n_jobs=n_jobs)
        # What is changed later is for the next fit.
        self._fitted = clone(self).set_params(sets=_checked_sets(self.sets))
        whole(self.n_lengths, "n_lengths", 1, _MAX_LENGTHS)
        positive(self.width, "width")
        one_of(self.normalization, "normalization", ("sym", "rw", None))
        one_of(self.unlabelled, "unlabelled", ("degree", "constant"))
        one_of(self.estimate, "estimate", ("exact", "walks"))
        batch = labelled.graph_batch(X)
        self.labels_, numbers = np.unique(self._labels(X, batch), return_inverse=True)
        self.seed_ = self._options.seed
        parts = self._parts(batch, numbers)
        self.signatures_ = [np.unique(words) for words in _all_words(parts)]
        return batch, parts

    def _labels(self, X: Any, batch: GraphBatch) -> labelled.LabelArray:
        by_degree = self._fitted.unlabelled == "degree"
        return labelled.labels_or_degrees(X, batch, "WalkLabelFeatures", degrees=by_degree)

    def _parts(self, batch: GraphBatch, numbers: IntArray) -> list[_Part]:
        """Sums and signatures of all graphs, part by part, by all threads."""
        n, fitted = len(self.labels_), self._fitted
        W, walks = batch.graph.normalized(fitted.normalization), None
        if fitted.estimate == "walks":
            kind = fitted.normalization
            walks = BatchLengths.of(batch, fitted.n_lengths, self._options, kind).powers
        tasks = batch.tasks()
        largest = max(int(batch.starts[task.stop] - batch.starts[task.start]) for task in tasks)
        n_numbers = (n + 1) * (6 * largest + 3 * max(map(len, tasks)) * (n + 1))
        require_bytes(8 * n_numbers, f"masses of {largest} nodes at {n} labels")

        def work(powers: Any, nodes: slice, starts: IntArray) -> _Part:
            return _part(fitted, powers, numbers[nodes], n, starts)

        return labelled.over_parts(batch, W, walks, work, self._options.n_jobs)

    def _features(self, batch: GraphBatch, parts: list[_Part]) -> sp.csr_array:
        sums = {name: sp.vstack([part.sums[name] for part in parts]) for name in parts[0].sums}
        if SIGNATURES in self._fitted.sets:
            sums[SIGNATURES] = _histograms(_all_words(parts), self.signatures_, batch.starts)
        joined = sp.hstack([sums[name] for name in self._fitted.sets], format="csr")
        # scikit-learn's solvers need 32-bit indices.
        short = joined.indices.astype(np.int32, copy=False)
        return csr(joined.data, short, joined.indptr, joined.shape[1])


def _checked_sets(sets: Any) -> list[str]:
    names = [sets] if isinstance(sets, str) else sets
    if not isinstance(names, Sequence) or not names or len(set(names)) < len(names):
        raise InputError(f"must be different ones of {SETS}, found {shown(sets)}", argument="sets")
    return [one_of(name, "sets", SETS) for name in names]


def _all_words(parts: Sequence[_Part]) -> list[WordArray]:
    """Signatures of all nodes, length by length; none where they are not wanted."""
    return [np.concatenate(words) for words in zip(*(part.words for part in parts), strict=True)]


def _part(fitted: Any, powers: Any, numbers: IntArray, n: int, starts: IntArray) -> _Part:
    """Sums and signatures of some graphs; nodes with labels that are not fitted have number `n`.

    `powers` are the weights ``W``, or a list of estimates of ``W, W², …``.
    """
    sets, n_nodes = fitted.sets, np.diff(starts)[:, np.newaxis]
    sums: dict[str, list[FloatArray]] = {name: [] for name in sets}
    # Unfitted labels have a column too: a signature that sees them is none of the fitted ones.
    masses = labelled.indicators(numbers, n + 1)
    words = [mix64((numbers.astype(np.uint64) + np.uint64(1)) * _GOLDEN)]
    product = masses
    for k in range(fitted.n_lengths if {PAIRS, SIGNATURES} & set(sets) else 0):
        product = powers @ product if sp.issparse(powers) else powers[k] @ masses
        if PAIRS in sets:
            total = labelled.sums_by_label(product[:, :n], numbers, n, starts)
            sums[PAIRS].append(labelled.upper_triangle(total) / n_nodes)
        if SIGNATURES in sets:
            words.append(next_words(words[-1], product, fitted.width))
    if COUNTS in sets:
        ones = np.ones((len(numbers), 1))
        sums[COUNTS] = [labelled.sums_by_label(ones, numbers, n, starts)[:, :, 0]]
    if RETURNS in sets:
        if sp.issparse(powers):
            # D^-1 A has the diagonals of powers of the symmetric D^-1/2 A D^-1/2 = √(W ∘ Wᵀ).
            symmetric = sp.csr_array((powers * powers.T).sqrt())
            diagonals = power_diagonals(symmetric, starts, fitted.n_lengths)
        else:
            diagonals = np.column_stack([power.diagonal() for power in powers])
        back = labelled.sums_by_label(diagonals, numbers, n, starts) / n_nodes[:, :, np.newaxis]
        sums[RETURNS] = [*np.moveaxis(back, 2, 0)]
    blocks = {name: sp.csr_array(np.hstack(parts)) for name, parts in sums.items() if parts}
    return _Part(blocks, words if SIGNATURES in sets else [])


def next_words(words: WordArray, masses: FloatArray, width: float) -> WordArray:
    """64 bits for the signature of each node, from those of the length before and new masses.

    Equal signatures have equal words; different ones differ except with probability ``2^-64``.

    Parameters
    ----------
    words
        Of the length before.
    masses
        ``W^k Y``, with a column a label.
    width
        Of the bins.
    """
    with np.errstate(over="ignore"):
        bins = np.floor(np.clip(masses / width, -_MAX_BIN, _MAX_BIN) + _OFFSET)
    salt = mix64(np.arange(1, bins.shape[1] + 1, dtype=np.uint64) * _GOLDEN)
    mixed = mix64(bins.astype(np.int64).view(np.uint64) * _GOLDEN + salt)
    # Labels that no walk leads to add nothing, however many there are.
    mixed[bins == 0] = 0
    return mix64(words * _GOLDEN + mixed.sum(axis=1, dtype=np.uint64))


def _histograms(
    words: Sequence[WordArray], vocabulary: Sequence[WordArray], starts: IntArray
) -> sp.csr_array:
    """Counts of each word of the sorted vocabularies, one a length, in each graph."""
    n_graphs = len(starts) - 1
    graph_of = np.repeat(np.arange(n_graphs), np.diff(starts))
    blocks = []
    for observed, known in zip(words, vocabulary, strict=True):
        position = labelled.label_numbers(observed, known)
        kept = np.flatnonzero(position < len(known))
        entries = (np.ones(len(kept)), (graph_of[kept], position[kept]))
        blocks.append(sp.coo_array(entries, shape=(n_graphs, len(known))))
    return sp.hstack(blocks, format="csr")


def count_levels(counts: sp.csr_array) -> sp.csr_array:
    """A column for "at least t" of every count and every ``t`` from 1 to the largest.

    Inner products of the result are sums of the lesser of two counts: the kernel of histogram
    intersection.

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
    largest = int(times.max(initial=1))
    keys = np.repeat(matrix.indices.astype(np.int64), times) * largest + level
    distinct, columns = np.unique(keys, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(times)])[matrix.indptr]
    return csr(np.ones(len(keys)), columns.astype(np.int32), indptr, len(distinct))
