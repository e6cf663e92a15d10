"""Laplace's approximation of labels, beside plain dense algebra and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp, softmax
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from grfpp.gp.laplace import log_evidence, posterior_mode


def dense_reference(K, Y):
    """Mode and log-evidence by Newton's method on the whole Hessian."""
    n, n_classes = Y.shape
    counts = Y.sum(axis=1)
    whole = np.kron(np.eye(n_classes), K)
    f = np.zeros((n, n_classes))
    for _ in range(100):
        shares = softmax(f, axis=1)
        W = np.zeros((n * n_classes, n * n_classes))
        for i in range(n):
            block = np.diag(shares[i]) - np.outer(shares[i], shares[i])
            W[i::n, i::n] = counts[i] * block
        right = W @ f.T.ravel() + (Y - counts[:, None] * shares).T.ravel()
        f = (whole @ np.linalg.solve(np.eye(len(W)) + W @ whole, right)).reshape(n_classes, n).T
    joint = (Y * f).sum() - (counts * logsumexp(f, axis=1)).sum()
    joint -= f.T.ravel() @ np.linalg.solve(whole, f.T.ravel()) / 2
    return f, joint - np.linalg.slogdet(np.eye(len(W)) + W @ whole)[1] / 2


@pytest.mark.parametrize(("n_classes", "scale"), [(2, 1.0), (3, 5.0), (5, 30.0)])
def test_mode_and_evidence_are_those_of_dense_algebra(n_classes, scale):
    rng = np.random.default_rng(n_classes)
    where = rng.uniform(0, 4, (25, 2))
    K = scale * np.exp(-np.square(where[:, None] - where).sum(axis=2)) + 1e-6 * np.eye(25)
    Y = rng.multinomial(1, np.full(n_classes, 1 / n_classes), size=25).astype(float)
    Y[:5] += np.eye(n_classes)[rng.integers(n_classes, size=5)]  # nodes that repeat
    weights = posterior_mode(lambda a: K @ a, Y)
    f, evidence = dense_reference(K, Y)
    assert_allclose(K @ weights, f, atol=1e-3)
    assert log_evidence(K, Y, weights) == pytest.approx(evidence, rel=1e-6)


def test_two_classes_are_those_of_scikit_learn():
    # The difference of two latent functions has twice their covariance.
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (40, 2))
    labels = (X[:, 0] + 0.5 * rng.standard_normal(40) > 2).astype(int)
    kernel = ConstantKernel(6.0) * RBF(1.0)
    theirs = GaussianProcessClassifier(kernel, optimizer=None).fit(X, labels)
    K = kernel(X) / 2
    weights = posterior_mode(lambda a: K @ a, np.eye(2)[labels])
    expected = theirs.log_marginal_likelihood(kernel.theta)
    assert log_evidence(K, np.eye(2)[labels], weights) == pytest.approx(expected, rel=1e-6)
    f = K @ weights
    assert_allclose((f[:, 1] - f[:, 0]) > 0, theirs.predict(X) == 1)


def test_large_scales_and_separated_classes_converge():
    where = np.linspace(0, 1, 30)
    K = 1e4 * np.exp(-np.square(where[:, None] - where))
    Y = np.eye(2)[(where > 0.5).astype(int)]
    weights = posterior_mode(lambda a: K @ a, Y)
    assert_allclose(weights, Y - softmax(K @ weights, axis=1), atol=1e-3)


def test_modes_of_large_smooth_covariances_are_reached():
    x = np.linspace(0, 1, 300)
    smooth = np.exp(-np.square(x[:, None] - x) / 0.02) + 0.02 * np.exp(-30 * abs(x[:, None] - x))
    K, Y = 1e4 * smooth, np.eye(3)[np.digitize(x, [0.3, 0.6])]
    weights = posterior_mode(lambda a: K @ a, Y, tol=1e-6)
    assert np.abs(Y - softmax(K @ weights, axis=1) - weights).max() < 1e-3
