import numpy as np
import pytest
import scipy.sparse as sp
from independent_walks import sample
from refusal_case import bad_values
from scipy.sparse.linalg import aslinearoperator
from small_graphs import directed, karate

from grfpp import (
    Diffusion,
    DivergentSeriesError,
    Geometric,
    Graph,
    InputError,
    InversePower,
    relative_error,
)
from grfpp.estimate import accuracy
from grfpp.estimate.accuracy import RelativeError

KERNEL = Diffusion(1.0)


def estimated(graph, seed=0, n_walks=8):
    # Independent walks: others may have no error on graphs as small as these.
    return sample(graph, KERNEL, 1, n_walks, Geometric(0.2), seed)


@pytest.mark.parametrize("graph", [karate(), Graph(directed()).normalized("rw")])
def test_errors_are_ratios_of_frobenius_norms(graph):
    K = estimated(graph)
    error = relative_error(K, KERNEL, graph)
    exact = np.linalg.norm(K.toarray() - KERNEL.exact(graph)) / np.linalg.norm(KERNEL.exact(graph))
    assert error == pytest.approx(exact, rel=1e-12)
    assert error > 0.01
    assert error.standard_error == 0.0 and error.n_probes == 0
    for seed in range(5):
        probed = relative_error(K, KERNEL, graph, method="probe", n_probes=64, seed=seed)
        assert abs(probed - exact) < 4 * probed.standard_error
        assert 0 < probed.standard_error < 0.2 * exact
        assert probed.n_probes == 64


def test_the_standard_error_is_the_jackknifes():
    graph = Graph(np.diag([1.0, 2.0, 0.5], 1)).normalized("rw")
    K = np.random.default_rng(0).normal(size=(4, 4))
    z = 2.0 * np.random.default_rng([1, 0x9E0BE]).integers(0, 2, (4, 3)) - 1.0
    exact = KERNEL.exact(graph)

    def ratio(probes):
        return np.linalg.norm((K - exact) @ probes) / np.linalg.norm(exact @ probes)

    without = np.array([ratio(np.delete(z, j, axis=1)) for j in range(3)])
    wanted = np.sqrt(2 / 3 * np.sum((without - without.mean()) ** 2))
    found = relative_error(K, KERNEL, graph, method="probe", n_probes=3, seed=1)
    assert found.standard_error == pytest.approx(wanted, rel=1e-6)
    assert wanted > 0.01


def test_small_graphs_are_compared_whole_and_large_ones_probed(monkeypatch):
    K, graph = estimated(karate()), karate()
    assert relative_error(K, KERNEL, graph).n_probes == 0
    monkeypatch.setattr(accuracy, "DENSE_LIMIT", 33)
    assert relative_error(K, KERNEL, graph).n_probes == 16
    assert relative_error(K, KERNEL, graph, method="exact").n_probes == 0
    monkeypatch.setattr(accuracy, "DENSE_LIMIT", 34)
    assert relative_error(K, KERNEL, graph).n_probes == 0


def test_probing_never_forms_a_whole_matrix(monkeypatch):
    K, graph = estimated(karate()), karate()
    for owner, name in ((type(K), "toarray"), (Diffusion, "exact")):
        monkeypatch.setattr(owner, name, lambda *args: pytest.fail("formed a whole matrix"))
    relative_error(K, KERNEL, graph, method="probe")


@pytest.mark.parametrize("method", ["exact", "probe"])
def test_estimates_of_any_form_and_the_kernel_itself(method):
    graph, K = karate(), estimated(karate())
    whole, exact = K.toarray(), KERNEL.exact(graph)
    wanted = relative_error(K, KERNEL, graph, method=method)
    for form in (whole, sp.csr_array(whole), aslinearoperator(whole), np.asfortranarray(whole)):
        assert relative_error(form, KERNEL, graph, method=method) == pytest.approx(wanted)
    assert relative_error(exact, KERNEL, graph, method=method) < 1e-9
    twice = relative_error(2 * exact, KERNEL, graph, method=method)
    assert twice == pytest.approx(1.0, rel=1e-9)
    assert twice.standard_error < 1e-8


def compared(K=None, kernel=KERNEL, method="probe", **options):
    return relative_error(
        np.eye(34) if K is None else K, kernel, karate(), method=method, **options
    )


test_bad_arguments_are_refused = bad_values(
    compared, n_probes=[0, 1, 2.0, True, "8", None], method="fast", tol=0.0
)


def test_shapes_and_kernels_that_do_not_fit_are_refused():
    for shape in ((33, 33), (34, 33), (34,)):
        with pytest.raises(InputError, match="shape"):
            compared(np.zeros(shape))
    with pytest.raises(DivergentSeriesError):
        compared(kernel=InversePower(1))


def test_a_relative_error_is_a_float_that_knows_more():
    whole, probed = RelativeError(0.125), RelativeError(0.125, 0.01, 16)
    assert whole == probed == 0.125
    assert isinstance(whole + 1, float) and whole < 0.2
    assert repr(whole) == "0.125"
    assert repr(probed) == "0.125 ± 0.01 (16 probes)"
    assert f"{probed:.2f}" == "0.12"
