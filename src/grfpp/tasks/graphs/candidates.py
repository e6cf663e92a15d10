"""Features of a list of graphs for every setting that a choice is to be made among."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from grfpp.arguments import listed, one_of, positive, whole
from grfpp.errors import InputError
from grfpp.kernels import Diffusion, SquaredDiffusion
from grfpp.operators import kernel_and_method, scale_of
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures
from grfpp.typing import FloatArray

#: The spectrum; that of walks between equal labels; both of them.
SPECTRUM, SAME_LABEL, BOTH = "spectrum", "same-label", "both-spectra"
#: The sums of the kernel over pairs of labels; the spectrum and them.
PAIRS, UNION = "label-pairs", "spectrum-and-pairs"
KINDS = (SPECTRUM, SAME_LABEL, BOTH, PAIRS, UNION)
_WITHIN = {"restrict": "same-label"}
#: Which spectra each kind has.
_SPECTRA: dict[str, list[dict[str, Any]]] = {SAME_LABEL: [_WITHIN], BOTH: [{}, _WITHIN], PAIRS: []}


class Setting(NamedTuple):
    """What a choice is made among; no walks where the kernel is exact, no eigenvalues of pairs."""

    scale: float
    n_walks: int
    n_eigenvalues: int

    @property
    def sigma(self) -> float:
        """The root of `scale`, which is the paper's ``σ``."""
        return float(np.sqrt(self.scale))


def candidate_features(
    graphs: Any,
    *,
    scales: Sequence[float] = (),
    n_walks: Sequence[int],
    n_eigenvalues: Sequence[int],
    kind: str = SPECTRUM,
    sigmas: Sequence[float] = (),
    **options: Any,
) -> dict[Setting, FloatArray]:
    """Features for every scale, number of walks and number of eigenvalues.

    Each spectrum is computed once, as long as the longest that is wanted.

    Parameters
    ----------
    graphs
        As for `KernelSpectrumFeatures`.
    scales, n_walks, n_eigenvalues
        What is chosen among.
    kind
        Which features: one of `KINDS`. All but the first need labelled graphs.
    sigmas
        Deprecated: the roots of `scales`.
    options
        Other parameters of `KernelSpectrumFeatures`. With ``estimate="exact"`` there are no walks
        to choose among. Nor are there scales, where the kernel is ``exp(λ W)`` or ``exp(λ W²)``
        and only spectra count: those of one scale are then monotone functions of those of
        another, and forests do not see the difference.

    Examples
    --------
    >>> import networkx as nx
    >>> graphs = [nx.cycle_graph(5), nx.path_graph(3)]
    >>> candidates = candidate_features(
    ...     graphs, scales=[0.25, 0.81], n_walks=[4], n_eigenvalues=[2, 3], random_state=0
    ... )
    >>> [(tuple(setting), X.shape) for setting, X in candidates.items()][:2]
    [((0.25, 4, 2), (2, 2)), ((0.25, 4, 3), (2, 3))]
    """
    one_of(kind, "kind", KINDS)
    lengths = sorted({whole(k, "n_eigenvalues", 1) for k in listed(n_eigenvalues, "n_eigenvalues")})
    factors = [positive(scale, "scale") for scale in listed(scales, "scales")]
    factors += [scale_of(1.0, sigma) for sigma in listed(sigmas, "sigmas")]
    n_walks = [whole(n, "n_walks", 1) for n in listed(n_walks, "n_walks")]
    if not (factors and n_walks and lengths):
        raise InputError("scales, n_walks and n_eigenvalues must each have a value at least")
    kernel, is_exact = kernel_and_method(
        options.get("kernel", "diffusion"), options.get("estimate", "walks")
    )
    options |= {"kernel": kernel, "estimate": "exact" if is_exact else "walks"}
    if is_exact:
        n_walks = [0]
        if kind not in (PAIRS, UNION) and isinstance(kernel, Diffusion | SquaredDiffusion):
            factors = factors[-1:]
    candidates = {}
    for scale, walks in product(factors, n_walks):
        parameters = {**options, "scale": scale, "n_walks": max(walks, 1)}
        spectra = [
            KernelSpectrumFeatures(lengths[-1], **which, **parameters).fit_transform(graphs)
            for which in _SPECTRA.get(kind, [{}])
        ]
        sums = []
        if kind in (PAIRS, UNION):
            sums = [LabelPairFeatures(**parameters).fit_transform(graphs)]
        for k in lengths if spectra else [0]:
            columns = [each[:, :k] for each in spectra] + sums
            candidates[Setting(scale, walks, k)] = np.hstack(columns)
    return candidates
