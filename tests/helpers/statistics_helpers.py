"""Many independent estimates in one call: a graph of many disjoint copies of a small one.

The copies are different nodes, so their walks are independent; the factors are block-diagonal.
"""

import numpy as np
import scipy.sparse as sp

from grfpp import Graph


def copies(weights, n_copies):
    return Graph(sp.block_diag([sp.csr_array(weights)] * n_copies, format="csr"))


def blocks(matrix, n):
    """The diagonal blocks of a sparse matrix as an array of shape (copies, n, n)."""
    coo = matrix.tocoo()
    rows, columns = coo.coords
    assert np.array_equal(rows // n, columns // n)
    dense = np.zeros((matrix.shape[0] // n, n, n))
    dense[rows // n, rows % n, columns % n] = coo.data
    return dense


def estimates(estimate, n):
    """The estimates of all copies, dense: the product ``K1 K2^T`` of the pairs, in their order."""
    product = None
    for left, right in estimate.factors:
        pair = blocks(left, n) @ blocks(right, n).transpose(0, 2, 1)
        product = pair if product is None else product @ pair
    return estimate.sign * product


def deflated(sample, weights, n_vectors, n_estimates, n_copies=6):
    """Dense deflated estimates, some at a time: `sample(graph, deflate=, seed=)` of the copies.

    They share eigenvalues, so that eigenvectors may belong to several of them; but those of whole
    eigenspaces are taken, which leaves nothing between one copy and another.
    """
    graph, n = copies(weights, n_copies), len(weights)
    made = []
    for seed in range(n_estimates // n_copies):
        K = sample(graph, deflate=n_copies * n_vectors, seed=seed).toarray()
        made += np.split(K, n_copies)
    rows = np.reshape(made, (n_estimates, n, n_copies, n))
    own = np.arange(n_estimates) % n_copies
    found = rows[np.arange(n_estimates), :, own]
    rows[np.arange(n_estimates), :, own] = 0.0
    np.testing.assert_allclose(rows, 0.0, atol=1e-12 * np.abs(found).max())
    return found


def rms_z(samples, exact):
    """Root mean square z-score of the mean against the truth, over the entries that vary.

    Entries that do not vary (between components, at isolated nodes) must be right to rounding.
    """
    mean = samples.mean(axis=0)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    size = np.abs(exact).max()
    varies = error > 1e-12 * size
    np.testing.assert_allclose(mean[~varies], exact[~varies], rtol=0, atol=1e-12 * size)
    return float(np.sqrt(np.mean(((mean - exact)[varies] / error[varies]) ** 2)))
