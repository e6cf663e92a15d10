"""`WalkLabelFeatures`: masses of walks between labels, by length, in labelled graphs.

The signature of a node at length ``k`` is its label together with its rows of ``W Y, …, W^k Y``,
divided into bins: a smooth version of Weisfeiler-Lehman colours.
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
COLOURS = "colours"
SETS = (COUNTS, PAIRS, RETURNS, SIGNATURES, COLOURS)
#: Sets that count nodes of equal words.
_HASHED = (SIGNATURES, COLOURS)
#: Largest length of walks: on small graphs longer ones are close to stationary.
_MAX_LENGTHS = 1000
#: Offset of the bins, over their width: one minus the inverse golden ratio, far from fractions and
#: roots, which on the border of a bin would separate nodes of equal masses by rounding.
_OFFSET = 0.38196601125010515
#: Largest bin number, up to which float64 holds all integers; larger masses share it.
_MAX_BIN = 2.0**52
_GOLDEN = np.uint64(GOLDEN)


class _Part(NamedTuple):
    """Sums of consecutive graphs, one row per graph, and words of their nodes, by set."""

    sums: dict[str, sp.csr_array]
    words: dict[str, list[WordArray]]


@dataclass(eq=False, repr=False)
class WalkLabelFeatures(labelled.GraphListEstimator):
    """Masses of walks by their length and by the labels of their first and last nodes.

    With the normalised weights ``W`` and the one-hot matrix ``Y`` of labels, the features of a
    graph of ``n`` nodes are, for each length ``k = 1 … n_lengths``:

    - ``"counts"``: the number of nodes of each label (once, not for each length);
    - ``"pairs"``: ``Yᵀ W^k Y / n`` on and above the diagonal, the mass between two labels;
    - ``"returns"``: ``Σ (W^k)_vv / n`` over the nodes ``v`` of each label, the mass that returns;
    - ``"signatures"``: the number of nodes of each signature. That of a node is its label and its
      rows of ``W Y … W^k Y``: label distributions around it, smoothed by walks, in bins of `width`
      [2]_. One column for every signature of the fitted graphs, of lengths 0 to `n_lengths`.
    - ``"colours"``: the number of nodes of each Weisfeiler-Lehman colour after ``0 … n_lengths``
      rounds [1]_: that of a node is its own and the multiset of its neighbours' of the round
      before. Edge weights do not count. One column for every colour of the fitted graphs.

    The first three are for forests; the others for support vector machines. The features of a graph
    depend on the graph, on the labels, signatures and colours of the fitted graphs and on
    `random_state`: not on the other graphs of the list, their order, or `n_jobs`.

    Parameters
    ----------
    sets
        One of the above, or several, whose columns are concatenated.
    n_lengths
        Length of the longest walks.
    width
        Width of the bins of signatures.
    normalization
        ``"sym"``: ``W = D^-1/2 A D^-1/2``. ``"rw"``: ``D^-1 A``, so that masses are probabilities.
        ``None``: ``A`` itself, so that masses are numbers of walks where edges have no weights, and
        signatures of one step are the Weisfeiler-Lehman colours of one round.
    unlabelled
        Labels where no graph has any: ``"degree"`` (single degrees up to 8, then ranges up to 16,
        32, 64, …) or ``"constant"``.
    estimate
        ``"exact"``, by sparse products, which are cheap on small graphs, or ``"walks"``.
    n_walks, termination, walks
        See `grfpp.WalkOptions`. Masses are linear in the walks, so their estimates are unbiased.
        The noise of walks separates nodes of equal signatures, unless bins are wide.
    random_state
        A whole number is the seed of the walks; without one, `fit` draws it.
    n_jobs
        Threads; -1 for all cores, ``None`` for one.

    Attributes
    ----------
    labels_
        The sorted labels of the fitted graphs. Masses at other labels are left out.
    signatures_
        For each length the signatures of the fitted graphs, as sorted words of 64 bits.
    colours_
        For each round the colours of the fitted graphs, as sorted words of 64 bits.
    seed_
        The seed of the walks.

    References
    ----------
    .. [1] Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt: Weisfeiler-Lehman graph
       kernels. Journal of Machine Learning Research 12, 2011.
    .. [2] Neumann, Garnett, Bauckhage, Kersting: Propagation kernels: efficient graph kernels from
       propagated information. Machine Learning 102, 2016.

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
        """Store the labels and signatures of the graphs.

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
        """`fit` and `transform`, which sample the walks once."""
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
        """Names such as ``C``, ``C-O after 2``, ``C back after 2`` and ``signature 2:8a3f…``."""
        check_is_fitted(self)
        lengths = range(1, self._fitted.n_lengths + 1)
        labels, pairs = [str(label) for label in self.labels_], labelled.pair_names(self.labels_)
        names = {
            COUNTS: labels,
            PAIRS: [f"{pair} after {k}" for k in lengths for pair in pairs],
            RETURNS: [f"{label} back after {k}" for k in lengths for label in labels],
            SIGNATURES: _word_names("signature", self.signatures_),
            COLOURS: _word_names("colour", self.colours_),
        }
        return np.array([name for key in self._fitted.sets for name in names[key]], object)

    def _learn(self, X: Any) -> tuple[GraphBatch, list[_Part]]:
        walks = {name: getattr(self, name) for name in ("n_walks", "termination", "walks")}
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        self._options = WalkOptions(**walks, seed=seed_of(self.random_state), n_jobs=n_jobs)
        # Parameters that are changed later are for the next fit.
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
        fitted = {name: list(map(np.unique, _all_words(parts, name))) for name in _HASHED}
        self.signatures_, self.colours_ = fitted[SIGNATURES], fitted[COLOURS]
        return batch, parts

    def _labels(self, X: Any, batch: GraphBatch) -> labelled.LabelArray:
        by_degree = self._fitted.unlabelled == "degree"
        return labelled.labels_or_degrees(X, batch, "WalkLabelFeatures", degrees=by_degree)

    def _parts(self, batch: GraphBatch, numbers: IntArray) -> list[_Part]:
        """Sums and signatures of all graphs, by ranges of consecutive ones."""
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
            part = _part(fitted, powers, numbers[nodes], n, starts)
            if COLOURS in fitted.sets:
                A = batch.graph.adjacency[nodes, nodes]
                part.words[COLOURS] = node_colours(A, numbers[nodes], fitted.n_lengths)
            return part

        return labelled.over_parts(batch, W, walks, work, self._options.n_jobs)

    def _features(self, batch: GraphBatch, parts: list[_Part]) -> sp.csr_array:
        sums = {name: sp.vstack([part.sums[name] for part in parts]) for name in parts[0].sums}
        for name, known in {SIGNATURES: self.signatures_, COLOURS: self.colours_}.items():
            if known:
                sums[name] = _histograms(_all_words(parts, name), known, batch.starts)
        joined = sp.hstack([sums[name] for name in self._fitted.sets], format="csr")
        # scikit-learn's solvers need 32-bit indices.
        short = joined.indices.astype(np.int32, copy=False)
        return csr(joined.data, short, joined.indptr, joined.shape[1])


def _checked_sets(sets: Any) -> list[str]:
    names = [sets] if isinstance(sets, str) else sets
    if not isinstance(names, Sequence) or not names or len(set(names)) < len(names):
        raise InputError(f"must be distinct ones of {SETS}, found {shown(sets)}", argument="sets")
    return [one_of(name, "sets", SETS) for name in names]


def _all_words(parts: Sequence[_Part], name: str) -> list[WordArray]:
    """Signatures or colours of all nodes by length; empty if they are not among the sets."""
    by_length = zip(*(part.words.get(name, []) for part in parts), strict=True)
    return [np.concatenate(words) for words in by_length]


def _word_names(name: str, words: Sequence[WordArray]) -> list[str]:
    return [f"{name} {k}:{int(word):016x}" for k, own in enumerate(words) for word in own]


def _part(fitted: Any, powers: Any, numbers: IntArray, n: int, starts: IntArray) -> _Part:
    """Sums and signatures of some graphs; nodes of unseen labels have the number `n`.

    `powers` are the weights ``W``, or a list of estimates of ``W, W², …``.
    """
    sets, n_nodes = fitted.sets, np.diff(starts)[:, np.newaxis]
    sums: dict[str, list[FloatArray]] = {name: [] for name in sets}
    # Unseen labels have a column too, so that their signatures differ from the fitted ones.
    masses = labelled.indicators(numbers, n + 1)
    words = [_label_words(numbers)]
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
    return _Part(blocks, {SIGNATURES: words} if SIGNATURES in sets else {})


def _label_words(numbers: IntArray) -> WordArray:
    return mix64((numbers.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


def node_colours(adjacency: sp.csr_array, numbers: IntArray, n_rounds: int) -> list[WordArray]:
    """Hashes of the nodes' Weisfeiler-Lehman colours after each round from 0 to `n_rounds`.

    Equal colours have equal hashes; different ones collide with probability ``2^-64``.
    """
    words = [_label_words(numbers)]
    for _ in range(n_rounds):
        own = words[-1] * _GOLDEN
        # Sums modulo 2^64 do not depend on the order of neighbours.
        sums = np.cumsum(mix64(own + np.uint64(1))[adjacency.indices], dtype=np.uint64)
        ends = np.concatenate([np.zeros(1, np.uint64), sums])[adjacency.indptr]
        words.append(mix64(own + np.diff(ends)))
    return words


def next_words(words: WordArray, masses: FloatArray, width: float) -> WordArray:
    """Hashes of the nodes' signatures, from those of the previous length and the new masses.

    Equal signatures have equal hashes; different ones collide with probability ``2^-64``.

    Parameters
    ----------
    words
        Hashes of the previous length, of 64 bits.
    masses
        ``W^k Y``, one column per label.
    width
        Width of the bins.
    """
    with np.errstate(over="ignore"):
        bins = np.floor(np.clip(masses / width, -_MAX_BIN, _MAX_BIN) + _OFFSET)
    salt = mix64(np.arange(1, bins.shape[1] + 1, dtype=np.uint64) * _GOLDEN)
    mixed = mix64(bins.astype(np.int64).view(np.uint64) * _GOLDEN + salt)
    # Labels that no walk leads to do not count, so that hashes do not depend on their number.
    mixed[bins == 0] = 0
    return mix64(words * _GOLDEN + mixed.sum(axis=1, dtype=np.uint64))


def _histograms(
    words: Sequence[WordArray], vocabulary: Sequence[WordArray], starts: IntArray
) -> sp.csr_array:
    """Counts of each word of the sorted vocabularies, one per length, in each graph."""
    n_graphs = len(starts) - 1
    graph_of = np.repeat(np.arange(n_graphs), np.diff(starts))
    blocks = []
    for observed, known in zip(words, vocabulary, strict=True):
        position = labelled.label_numbers(observed, known)
        nodes = np.flatnonzero(position < len(known))
        entries = (np.ones(len(nodes)), (graph_of[nodes], position[nodes]))
        blocks.append(sp.coo_array(entries, shape=(n_graphs, len(known))))
    return sp.hstack(blocks, format="csr")


def count_levels(counts: sp.csr_array) -> sp.csr_array:
    """A column for "at least t" of every count and every ``t`` from 1 to the largest.

    Inner products of the result are sums of the smaller of two counts: the histogram intersection
    kernel.

    References
    ----------
    Barla, Odone, Verri: Histogram intersection kernel for image classification. ICIP 2003.

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
