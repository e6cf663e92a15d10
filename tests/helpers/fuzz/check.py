"""What is asked of one mutant."""

import warnings
from functools import reduce

import numpy as np
import scipy.linalg

import grfpp
from grfpp.errors import InputError, InputWarning

#: Larger graphs are read, and not compared.
_MOST_NODES = 60
_KERNEL = grfpp.Diffusion(1.0)


class MismatchError(AssertionError):
    """Numbers differ from those of a reference."""


def outcome(form, path):
    """Read a file: ``"refused"``, ``"accepted"``, or ``"compared"`` where a reference agreed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", InputWarning)
        try:
            found = form.read(path)
        except InputError as error:
            if str(path) not in str(error):
                raise MismatchError(f"the message does not name the file: {error}") from error
            return "refused"
        if found.n_nodes > _MOST_NODES:
            return "accepted"
        is_graph = isinstance(found, grfpp.Graph)
        numbers = found.adjacency.toarray() if is_graph else found.toarray()
        if is_graph:
            _check_graph(found, numbers, path)
        if form.reference is None:
            return "accepted"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own affair
            try:
                wanted = form.reference(found, path)
            except Exception:  # other readers refuse what is read here
                wanted = None
        if wanted is None:
            return "accepted"
        _compare(numbers, wanted, "the reference")
        return "compared"


def _check_graph(graph, A, path):
    """Its arrays are canonical, it can be saved, and walks estimate what dense algebra computes."""
    if not (np.isfinite(A).all() and (A >= 0).all() and np.count_nonzero(A) == len(graph.weights)):
        raise MismatchError("weights that are not canonical")
    _check_saved(graph, path)
    try:
        W = graph.normalized("sym")
        K = grfpp.sample(W, _KERNEL, n_walks=4, seed=0, n_jobs=1)
    except InputError:
        return  # weights that are too far apart, and the like
    unit = A.max(initial=0.0) or 1.0
    A = A / unit  # sums of weights may be infinite
    out, into = A.sum(axis=1), A.sum(axis=0)
    with np.errstate(all="ignore"):
        dense = np.where(A > 0, A / np.sqrt(np.outer(out, into)), 0.0)
    if np.isfinite(dense).all() and (dense[A > 0] > 1e-100).all():
        _compare(W.adjacency.toarray(), dense, "the normalised matrix")
    exact = scipy.linalg.expm(W.adjacency.toarray())
    _compare(_KERNEL.exact(W), exact, "the exact kernel")
    found = K.toarray()
    _compare(found, reduce(np.matmul, [each.toarray() for each in K.matrices()]), "the product")
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    if not error < 1:
        raise MismatchError(f"the estimate is off by {error:g}")


def _check_saved(graph, path):
    saved = path.with_name("saved.npz")
    graph.save(saved)
    again = grfpp.Graph.load(saved)
    for part in ("indptr", "indices", "weights"):
        if not np.array_equal(getattr(graph, part), getattr(again, part)):
            raise MismatchError(f"{part} is not saved as it is")
    if list(map(str, graph.node_ids or [])) != list(map(str, again.node_ids or [])):
        raise MismatchError(f"{graph.node_ids} are saved as {again.node_ids}")


def _compare(found, wanted, what):
    if found.shape != wanted.shape:
        raise MismatchError(f"{what} has shape {wanted.shape}, not {found.shape}")
    with np.errstate(all="ignore"):
        scale = np.abs(wanted).max(initial=0.0)
        same = np.isclose(found, wanted, rtol=1e-9, atol=1e-9 * min(scale, 1.0), equal_nan=True)
    if not same.all():
        i, j = np.argwhere(~same)[0]
        raise MismatchError(f"{what} has {wanted[i, j]!r} at ({i}, {j}), not {found[i, j]!r}")
