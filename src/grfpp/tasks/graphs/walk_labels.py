"""Labelled graphs as points: which labels walks of each length lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import one_of, positive, whole
from grfpp.errors import InputError, shown
from grfpp.linalg.sparse import csr
from grfpp.memory import require_bytes
from grfpp.options import WalkOptions
from grfpp.parallel import in_order, thread_count
from grfpp.tasks.graphs.batch_kernels import GraphListEstimator
from grfpp.tasks.graphs.labelled import (
    indicators,
    label_numbers,
    labels_or_degrees,
    plain_graphs,
    sums_by_label,
)
from grfpp.tasks.graphs.powers import ExactPowers, Powers, WalkedPowers
from grfpp.tasks.graphs.signatures import histograms, signature_words
from grfpp.tasks.kernels import seed_of
from grfpp.typing import FloatArray, IntArray, WordArray
from grfpp.walks.batch import GraphBatch
from grfpp.walks.by_length.batch import BatchLengths

COUNTS, PAIRS, RETURNS, SIGNATURES = "counts", "pairs", "returns", "signatures"
#: What `WalkLabelFeatures` is made of.
SETS = (COUNTS, PAIRS, RETURNS, SIGNATURES)
_PURPOSE = "WalkLabelFeatures"
#: Walks longer than that tell nothing of small graphs.
_MOST_LENGTHS = 1000


class _Settled(NamedTuple):
    """The parameters as they were when the features were fitted, checked."""

    sets: list[str]
    n_lengths: int
    width: float
    normalization: Any
    by_degree: bool
    walked: bool
    options: WalkOptions


class _Part(NamedTuple):
    """What some consecutive graphs become: sums, a row a graph, and words, a row a length."""

    sums: sp.csr_array
    words: WordArray


@dataclass(eq=False, repr=False)
class WalkLabelFeatures(GraphListEstimator):
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
    signatures of the fitted graphs and on `random_state`: not on the graphs beside it, on its place
    among them, or on `n_jobs`.

    Parameters
    ----------
    sets
        One of the above, or several: their columns stand one after the other.
    n_lengths
        The longest walks.
    width
        Of the bins of signatures.
    normalization
        ``"sym"``: ``W = D^-1/2 A D^-1/2``. ``"rw"``: ``D^-1 A``, so that masses are probabilities.
        ``None``: ``A`` itself, so that masses are numbers of walks where edges have no weights, and
        signatures of one step are Weisfeiler–Lehman's colours of one round.
    unlabelled
        What stands for labels where no graph has any: ``"degree"`` (one by one up to 8, then in
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
        """As `fit` and `transform`, with one set of walks."""
        return self._features(*self._learn(X))

    def transform(self, X: Any) -> sp.csr_array:
        """The features of graphs.

        Returns
        -------
        csr_array of shape ``(n_graphs, n_features)``
        """
        check_is_fitted(self)
        batch = GraphBatch.of(plain_graphs(X))
        numbers = label_numbers(self._labels(X, batch), self.labels_)
        return self._features(batch, self._parts(batch, numbers))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Such as ``C``, ``C-O after 2``, ``C back after 2`` and ``signature 2:8a3f…``."""
        check_is_fitted(self)
        labels, lengths = self.labels_.tolist(), range(1, self._settled.n_lengths + 1)
        first, second = np.triu_indices(len(labels))
        pairs = [f"{labels[a]}-{labels[b]}" for a, b in zip(first, second, strict=True)]
        names = {
            COUNTS: [str(label) for label in labels],
            PAIRS: [f"{pair} after {k}" for k in lengths for pair in pairs],
            RETURNS: [f"{label} back after {k}" for k in lengths for label in labels],
            SIGNATURES: [
                f"signature {k}:{word:016x}"
                for k, words in enumerate(self.signatures_)
                for word in words.tolist()
            ],
        }
        found = [name for each in self._settled.sets for name in names[each]]
        return np.array(found, dtype=object)

    def _learn(self, X: Any) -> tuple[GraphBatch, list[_Part]]:
        options = WalkOptions(
            n_walks=self.n_walks,
            termination=self.termination,
            walks=self.walks,  # type: ignore[arg-type]  # checked there
            seed=seed_of(self.random_state),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
        )
        self._settled = _Settled(
            _checked_sets(self.sets),
            whole(self.n_lengths, "n_lengths", 1, _MOST_LENGTHS),
            positive(self.width, "width"),
            one_of(self.normalization, "normalization", ("sym", "rw", None)),
            one_of(self.unlabelled, "unlabelled", ("degree", "constant")) == "degree",
            one_of(self.estimate, "estimate", ("exact", "walks")) == "walks",
            options,
        )
        batch = GraphBatch.of(plain_graphs(X))
        labels = self._labels(X, batch)
        self.seed_ = options.seed
        self.labels_, numbers = np.unique(labels, return_inverse=True)
        parts = self._parts(batch, numbers)
        self.signatures_ = [np.unique(each) for each in _words(parts)]
        return batch, parts

    def _labels(self, X: Any, batch: GraphBatch) -> npt.NDArray[Any]:
        return labels_or_degrees(X, batch, _PURPOSE, degrees=self._settled.by_degree)

    def _parts(self, batch: GraphBatch, numbers: IntArray) -> list[_Part]:
        """The sums and words of all graphs, part by part, by all threads."""
        n, settled = len(self.labels_), self._settled
        W = batch.graph.normalized(settled.normalization)
        lengths = None
        if settled.walked:
            lengths = BatchLengths.of(batch, W, settled.n_lengths, settled.options)

        def work(graphs: range) -> _Part:
            starts = batch.starts[graphs.start : graphs.stop + 1]
            nodes = slice(int(starts[0]), int(starts[-1]))
            powers: Powers = (
                ExactPowers(W.adjacency[nodes, nodes], settled.n_lengths)
                if lengths is None
                else WalkedPowers(lengths.powers(graphs))
            )
            return _part(settled, powers, numbers[nodes], n, starts - starts[0])

        tasks = batch.tasks()
        largest = max(int(batch.starts[each.stop] - batch.starts[each.start]) for each in tasks)
        most_graphs = max(map(len, tasks))
        require_bytes(
            8 * (n + 1) * (6 * largest + 3 * most_graphs * (n + 1)),
            f"masses of {largest} nodes at {n} labels",
        )
        return list(in_order(work, tasks, thread_count(settled.options.n_jobs)))

    def _features(self, batch: GraphBatch, parts: list[_Part]) -> sp.csr_array:
        sums = sp.csr_array(sp.vstack([part.sums for part in parts], format="csr"))
        n, k = len(self.labels_), self._settled.n_lengths
        widths = {COUNTS: n, PAIRS: k * n * (n + 1) // 2, RETURNS: k * n}
        blocks, begin = [], 0
        for each in self._settled.sets:
            if each == SIGNATURES:
                blocks.append(histograms(_words(parts), self.signatures_, batch.starts))
            else:
                blocks.append(sums[:, begin : begin + widths[each]])
                begin += widths[each]
        joined = sp.csr_array(sp.hstack(blocks, format="csr"))
        # scikit-learn's solvers want short indices.
        short = joined.indices.astype(np.int32, copy=False)
        return csr(joined.data, short, joined.indptr, joined.shape[1])


def _checked_sets(sets: Any) -> list[str]:
    named = [sets] if isinstance(sets, str) else sets
    if not isinstance(named, Sequence) or not named:
        raise InputError(f"sets must be one or several of {SETS}, found {shown(sets)}")
    found = [one_of(each, "sets", SETS) for each in named]
    if len(set(found)) < len(found):
        raise InputError(f"sets has one of them twice: {shown(sets)}")
    return found


def _words(parts: Sequence[_Part]) -> list[WordArray]:
    """Of all nodes, length by length; none where no signatures are wanted."""
    return [np.concatenate(each) for each in zip(*(part.words for part in parts), strict=True)]


def _part(settled: _Settled, powers: Powers, numbers: IntArray, n: int, starts: IntArray) -> _Part:
    """What some graphs become; nodes with labels that are not known have the number `n`."""
    # Those have a column too: a signature that sees them is none of the fitted ones.
    sets, Y = settled.sets, indicators(numbers, n + 1)
    n_nodes = np.diff(starts)[:, np.newaxis]
    pairs: list[sp.csr_array] = []
    first, second = np.triu_indices(n)

    def watched() -> Iterator[FloatArray]:
        for masses in powers.spread(Y):
            if PAIRS in sets:
                total = sums_by_label(masses[:, :n], numbers, n, starts)
                mean = 0.5 * (total[:, first, second] + total[:, second, first])
                pairs.append(sp.csr_array(mean / n_nodes))
            yield masses

    words = np.empty((0, len(numbers)), np.uint64)
    if SIGNATURES in sets:
        words = signature_words(numbers, watched(), settled.width)
    elif PAIRS in sets:
        for _ in watched():
            pass
    sums: dict[str, list[sp.csr_array]] = {PAIRS: pairs}
    if COUNTS in sets:
        ones = np.ones((len(numbers), 1))
        sums[COUNTS] = [sp.csr_array(sums_by_label(ones, numbers, n, starts)[:, :, 0])]
    if RETURNS in sets:
        back = sums_by_label(powers.diagonals().T, numbers, n, starts) / n_nodes[:, :, np.newaxis]
        sums[RETURNS] = [sp.csr_array(back[:, :, k]) for k in range(back.shape[2])]
    blocks = [block for each in sets if each != SIGNATURES for block in sums[each]]
    blocks.append(sp.csr_array((len(starts) - 1, 0)))
    return _Part(sp.csr_array(sp.hstack(blocks, format="csr")), words)
