"""Learnable kernels: one set of walks, every modulation, gradients to all of them."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import scipy.sparse as sp
import torch
from independent_walks import INDEPENDENT
from numpy.testing import assert_allclose
from small_graphs import GRAPHS, irregular, karate
from statistics_helpers import blocks, copies, rms_z
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call
from torch.testing import assert_close

import grfpp
from grfpp import DivergentSeriesError, Graph, InputError, TruncationError
from grfpp.torch import (
    DiffusionModulation,
    FreeModulation,
    LearnableKernel,
    LearnableModulation,
    MLPModulation,
    RegularizedLaplacianModulation,
)

DOUBLE = torch.float64
SMALL = GRAPHS["unweighted, sym"]
MODULES = {
    "free": lambda degree: FreeModulation(5, degree=degree),
    "network": lambda degree: MLPModulation(5, degree=degree, n_hidden=3),
    "diffusion": lambda degree: DiffusionModulation(5, degree=degree, lam=0.7),
    "laplacian": lambda degree: RegularizedLaplacianModulation(5, degree=degree, sigma2=0.2),
}


def kernel_of(W=SMALL, n_lengths=40, degree=2, lam=1.0, **options):
    modulation = DiffusionModulation(n_lengths, degree=degree, lam=lam).double()
    with torch.no_grad():
        modulation.raw.copy_(torch.tensor(lam, dtype=DOUBLE).log())
    settings = {"n_walks": 6, "seed": 5, "dtype": DOUBLE, **options}
    return LearnableKernel(W, modulation, **settings)


def as_function(kernel, method):
    """A function of the kernel's parameters, for gradient checks."""
    names, parameters = zip(*kernel.named_parameters(), strict=True)
    inputs = tuple(each.detach().requires_grad_(True) for each in parameters)

    class Caller(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = kernel

        def forward(self):
            return method(self.kernel)

    caller = Caller()
    return lambda *tensors: functional_call(
        caller, {f"kernel.{n}": t for n, t in zip(names, tensors, strict=True)}, ()
    ), inputs


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("name", MODULES)
def test_gradients_of_products(name, degree, symmetric):
    torch.manual_seed(0)
    modulation = MODULES[name](degree).double()
    kernel = LearnableKernel(
        SMALL, modulation, n_walks=4, seed=0, symmetric=symmetric, dtype=DOUBLE
    )
    vectors = torch.randn(9, 2, dtype=DOUBLE)
    function, inputs = as_function(kernel, lambda each: each(vectors))
    assert gradcheck(function, inputs)


@pytest.mark.parametrize(
    "method",
    [
        lambda kernel: kernel.rows([3, 0]),
        lambda kernel: kernel.entries([3, 0, 1], [3, 2, 2]),
        lambda kernel: kernel.diagonal(),
        lambda kernel: kernel.features()[1].to_dense(),
        lambda kernel: kernel.project(torch.eye(9, 2, dtype=DOUBLE))[0],
    ],
)
@pytest.mark.parametrize("symmetric", [False, True])
def test_gradients_of_parts(method, symmetric):
    function, inputs = as_function(kernel_of(n_lengths=5, symmetric=symmetric), method)
    assert gradcheck(function, inputs)


def test_second_derivatives():
    vector = torch.linspace(-1, 1, 9, dtype=DOUBLE)
    function, inputs = as_function(
        kernel_of(n_lengths=5), lambda kernel: vector @ kernel(vector).exp()
    )
    assert gradgradcheck(function, inputs)


def test_gradients_reach_the_vectors():
    kernel = kernel_of()
    vectors = torch.randn(9, 2, dtype=DOUBLE, requires_grad=True)
    assert gradcheck(kernel, (vectors,))


@pytest.mark.parametrize(
    "name", ["unweighted, sym", "weighted, rw", "directed, sym", "loops and isolated, sym"]
)
@pytest.mark.parametrize("degree", [1, 3])
def test_numbers_are_those_of_the_same_walks_without_torch(name, degree):
    W = GRAPHS[name]
    every = np.arange(W.n_nodes)
    for lam in (0.3, 1.4):
        options = {"n_walks": 6, "seed": 5, "walks": "independent", "termination": "geometric:0.2"}
        wanted = grfpp.sample_submatrix(W, grfpp.Diffusion(lam), every, degree=degree, **options)
        kernel = kernel_of(W, degree=degree, lam=lam, **options)
        found = kernel.rows(range(W.n_nodes)).detach().numpy()
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("degree", [1, 2])
def test_all_views_of_the_matrix_agree(degree, symmetric):
    kernel = kernel_of(degree=degree, symmetric=symmetric)
    K = kernel(torch.eye(9, dtype=DOUBLE))
    X, Y = kernel.features()
    nodes = torch.tensor([4, 4, 0])
    assert_close((X.to_dense() @ Y.to_dense().T), K)
    assert_close(kernel.rows(nodes), K[nodes])
    assert_close(kernel.entries(nodes, [1, 4, 0]), K[nodes, [1, 4, 0]])
    assert_close(kernel.diagonal(), K.diagonal())
    with torch.no_grad():
        assert_close(kernel.diagonal(), K.diagonal())
        assert_close(kernel.entries(nodes, [1, 4, 0]), K[nodes, [1, 4, 0]])
    assert_close(kernel(torch.ones(9, dtype=DOUBLE)), K.sum(1))
    G = torch.randn(9, 3, dtype=DOUBLE)
    assert_close(kernel.project(G)[1], Y.to_dense() @ G)
    if symmetric:
        assert_close(K, K.T)
        assert np.linalg.eigvalsh(K.detach().numpy()).min() > -1e-12


def test_nothing_is_walked_again(monkeypatch):
    kernel = kernel_of()
    before = kernel(torch.ones(9, dtype=DOUBLE))
    monkeypatch.setattr("grfpp.torch.kernels.learnable.sample_by_length", None)
    with torch.no_grad():
        kernel.modulation.raw += 0.5
    assert not torch.allclose(kernel(torch.ones(9, dtype=DOUBLE)), before)


@pytest.mark.parametrize("n_exact", [0, 1, 2])
def test_independent_sides_are_unbiased(n_exact):
    small, n_copies, n = irregular(), 600, 9
    W = Graph(small).normalized("sym")
    many = copies(W.adjacency, n_copies)
    kernel = kernel_of(many, 24, n_exact=n_exact, n_walks=4, **INDEPENDENT)
    X, Y = (part.detach().coalesce() for part in kernel.features())
    found = _blocks(X, n) @ _blocks(Y, n).transpose(0, 2, 1)
    assert 0.8 < rms_z(found, grfpp.Diffusion(1.0).exact(W)) < 1.2


@pytest.mark.parametrize("degree", [1, 2])
def test_equal_sides_are_biased_as_the_docs_say(degree):
    """By the variance of a row: of the first factor on the diagonal, of the second around it."""
    n_copies, n = 4000, 9
    W = Graph(irregular()).normalized("sym")
    many = copies(W.adjacency, n_copies)
    kernel = kernel_of(many, 24, degree, lam=2.0, n_walks=1, symmetric=True, **INDEPENDENT)
    X = _blocks(kernel.features()[0].detach().coalesce(), n)
    found, exact = X @ X.transpose(0, 2, 1), grfpp.Diffusion(2.0).exact(W)
    off = ~np.eye(n, dtype=bool)
    assert ((found.mean(0) - exact)[~off] > 0.01 * exact[~off]).all()
    if degree == 2:
        assert rms_z(found[:, off], exact[off]) > 1.5
        F = grfpp.Diffusion(2.0 / 4).exact(W)
        second = kernel.factors[1](kernel.modulation()).detach().to_sparse_coo().coalesce()
        variance = (_blocks(second, n) ** 2).sum(2).mean(0) - (F**2).sum(1)
        exact = exact + F @ np.diag(variance) @ F
    assert 0.8 < rms_z(found[:, off], exact[off]) < 1.2


def _blocks(tensor, n):
    rows, columns = tensor.indices().numpy()
    return blocks(sp.coo_array((tensor.values().numpy(), (rows, columns)), tensor.shape), n)


@pytest.mark.parametrize("n_exact", [1, 2])
def test_an_exact_head_takes_noise_away(n_exact):
    W, kernel = karate(), grfpp.Diffusion(1.0)
    exact = torch.from_numpy(kernel.exact(W))

    def error(head):
        K = kernel_of(W, 20, n_exact=head, n_walks=16, **INDEPENDENT)
        return float((K.rows(range(34)).detach() - exact).norm() / exact.norm())

    assert error(n_exact) < 0.5 * error(n_exact - 1)


def test_the_walks_are_no_part_of_the_saved_state():
    kernel = kernel_of()
    assert set(kernel.state_dict()) == {"modulation.raw"}
    other = kernel_of(lam=3.0)
    other.load_state_dict(kernel.state_dict())
    assert torch.equal(other.rows([0]), kernel.rows([0]))


def test_same_numbers_for_any_number_of_threads():
    rows = [kernel_of(n_jobs=n_jobs, n_exact=1).rows(range(9)) for n_jobs in (1, 3)]
    assert torch.equal(*rows)


def test_number_types_follow_torch():
    kernel = LearnableKernel(SMALL, DiffusionModulation(6), seed=0)
    assert kernel(torch.ones(9)).dtype == torch.float32
    assert kernel.double()(torch.ones(9, dtype=DOUBLE)).dtype == DOUBLE


def test_a_seed_is_drawn_and_told():
    kernel = kernel_of(seed=None)
    assert torch.equal(kernel_of(seed=kernel.seed).rows([0]), kernel.rows([0]))
    assert f"seed={kernel.seed}" in repr(kernel)


def test_a_series_that_is_cut_off_is_told_once():
    kernel = kernel_of(n_lengths=4, lam=20.0)
    with pytest.warns(RuntimeWarning, match=r"4 lengths leave out 0\.57 of its series") as caught:
        kernel.rows([0])
    assert caught[0].filename == __file__  # not a line of the library
    kernel.rows([0])


def test_what_is_cut_off_depends_on_the_graph():
    """On a grid of spectral radius 3.6, eight lengths are too few for λ = 5."""
    W = Graph(nx.grid_2d_graph(6, 6))
    kernel = kernel_of(W, n_lengths=8, degree=1, lam=5.0, n_exact=7)
    with pytest.warns(RuntimeWarning, match=r"leave out 0\.68 .* spectral radius 3\.604"):
        rows = kernel.rows(range(36)).detach().numpy()
    # A share s of the series of the root leaves out 1 − (1 − s)² of the kernel.
    exact = grfpp.Diffusion(5.0).exact(W)
    share = kernel.modulation.neglected(W.spectral_radius())
    top = np.linalg.eigh(W.adjacency.toarray())[1][:, -1]
    assert top @ rows @ top / (top @ exact @ top) == pytest.approx((1 - share) ** 2, rel=0.02)


def test_a_series_that_diverges_on_the_graph_is_refused():
    W = Graph(nx.grid_2d_graph(6, 6))
    modulation = RegularizedLaplacianModulation(12, sigma2=1.0)
    with pytest.raises(DivergentSeriesError, match=r"radii below 2, but this graph's is 3\.60388"):
        LearnableKernel(W, modulation, seed=0)
    # Training may lead there from a good beginning.
    modulation = RegularizedLaplacianModulation(30, sigma2=0.2)
    kernel = LearnableKernel(W, modulation, seed=0)
    kernel.rows([0])
    with torch.no_grad():
        modulation.raw.zero_()
    with pytest.warns(RuntimeWarning, match="leave out 1 of its series"):
        kernel.rows([0])


@pytest.mark.parametrize(
    "method",
    [
        lambda kernel: kernel(torch.ones(9, 2)),
        lambda kernel: kernel(torch.ones(9, dtype=torch.bfloat16)),
        lambda kernel: kernel.rows([3, 0]),
        lambda kernel: kernel.entries([3, 0, 1], [3, 2, 2]),
        lambda kernel: kernel.diagonal(),
        lambda kernel: kernel.features()[1].to_dense(),
        lambda kernel: kernel.project(torch.eye(9, 2))[0],
    ],
)
def test_autocast_changes_nothing(method):
    def found(enabled):
        kernel = LearnableKernel(SMALL, DiffusionModulation(6), n_walks=5, seed=0)
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            values = method(kernel)
            values.pow(2).sum().backward()
            with torch.no_grad():
                again = method(kernel)
        return values, again, kernel.modulation.raw.grad

    assert_close(found(True), found(False), rtol=1e-6, atol=0)


def test_autocast_leaves_a_network_its_precision():
    torch.manual_seed(0)
    kernel = LearnableKernel(SMALL, MLPModulation(6), n_walks=5, seed=0)
    torch.nn.init.normal_(kernel.modulation.network[-1].weight)
    plain = kernel.rows([0])
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(kernel.rows([0]), plain)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: kernel_of(n_walks=0), InputError, "n_walks must be a whole number"),
        (lambda: kernel_of(seed=-1), InputError, "seed must be a whole number"),
        (lambda: kernel_of(n_exact=-1), InputError, "n_exact must be a whole number"),
        (lambda: kernel_of(n_exact=40), InputError, "n_exact must be below"),
        (lambda: kernel_of(n_jobs=0), InputError, "n_jobs"),
        (lambda: kernel_of(termination=0.1), InputError, "termination must be a law"),
        (
            lambda: kernel_of(termination=grfpp.FixedLength(7)),
            TruncationError,
            "end after 7 steps, but the modulation asks for 39: .* n_lengths=8",
        ),
        (lambda: kernel_of(storage="recompute"), InputError, "storage is not an option here"),
        (lambda: kernel_of(degree=5000), InputError, "degree must be at most"),
        (lambda: LearnableKernel(SMALL, grfpp.Diffusion()), InputError, "LearnableModulation"),
        (lambda: kernel_of(GRAPHS["directed, sym"], symmetric=True), InputError, "undirected"),
        (lambda: kernel_of(dtype=torch.int32), InputError, "dtype must be torch.float32 or"),
        (lambda: kernel_of(dtype=torch.float16), InputError, "dtype must be torch.float32 or"),
        (lambda: kernel_of(dtype=torch.bfloat16), InputError, "dtype must be torch.float32 or"),
        (lambda: kernel_of(dtype="float32"), InputError, "found 'float32'"),
        (lambda: kernel_of().half().diagonal(), InputError, "found torch.float16"),
        (lambda: kernel_of()(torch.ones(8)), InputError, "vectors must have 9 rows"),
        (lambda: kernel_of()(torch.ones(9, 2, 2)), InputError, "vectors must have 9 rows"),
        (lambda: kernel_of()(torch.tensor(1.0)), InputError, "vectors must have 9 rows"),
        (lambda: kernel_of()(np.ones(9)), InputError, "torch tensor, found ndarray"),
        (lambda: kernel_of().float()(torch.ones(9, dtype=DOUBLE)), InputError, "convert them with"),
        (lambda: kernel_of()(torch.ones(9, dtype=torch.cfloat)), InputError, "found torch.complex"),
        (lambda: kernel_of().project(torch.ones(8, 2)), InputError, "projection must have 9 rows"),
        (lambda: kernel_of().project(torch.ones(9)), InputError, "projection must be a matrix"),
        (lambda: kernel_of().rows([0, [1]]), InputError, "whole numbers in a list, found"),
        (lambda: kernel_of().rows([1j]), InputError, "whole numbers in a list, found"),
        (lambda: kernel_of().rows(torch.tensor([1j])), InputError, "in a list, found 1j"),
        (lambda: kernel_of().rows([2, 0.5]), InputError, r"in a list, found 0\.5"),
        (lambda: kernel_of().rows([1e30]), InputError, r"in a list, found 1e\+30"),
        (lambda: kernel_of().rows([9]), InputError, "between 0 and 8"),
        (lambda: kernel_of().rows([-1]), InputError, "between 0 and 8"),
        (lambda: kernel_of().rows([0.5]), InputError, "whole numbers"),
        (lambda: kernel_of().rows([float("nan")]), InputError, "whole numbers"),
        (lambda: kernel_of().rows(["a"]), InputError, "whole numbers"),
        (lambda: kernel_of().rows([True]), InputError, "whole numbers"),
        (lambda: kernel_of().rows(torch.ones(8, dtype=torch.bool)), InputError, "whole numbers"),
        (lambda: kernel_of().rows([[0, 1]]), InputError, r"found array\(\[\[0, 1"),
        (lambda: kernel_of().entries([0, 1], [0]), InputError, "do not make pairs"),
    ],
)
def test_what_cannot_be_used_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("values", [None, torch.ones(4), 3.0])
def test_a_modulation_of_the_wrong_kind_is_refused(values):
    class Own(LearnableModulation):
        def forward(self):
            return values

    with pytest.raises(InputError, match="must be a vector of 5 numbers, found"):
        LearnableKernel(SMALL, Own(5), seed=0).rows([0])


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float16, torch.float32, DOUBLE])
def test_vectors_of_narrower_numbers_are_taken(dtype):
    kernel, vectors = kernel_of(), torch.eye(9)[:, :2]
    assert_close(kernel(vectors.to(dtype)), kernel(vectors.double()))


@pytest.mark.parametrize(
    "nodes",
    [
        [3, 0],
        (3, 0),
        np.array([3, 0], np.uint8),
        np.array([0, 3])[::-1],
        np.frombuffer(np.array([3, 0]).tobytes(), np.int64),  # cannot be written to
        torch.tensor([3.0, 0.0]),
    ],
)
def test_lists_of_nodes_of_any_kind(nodes):
    kernel = kernel_of()
    assert torch.equal(kernel.rows(nodes), kernel.rows(torch.tensor([3, 0])))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_are_kernels_of_their_own(copied):
    kernel = kernel_of()
    rows = kernel.rows([2, 5]).detach()
    other = copied(kernel)
    assert torch.equal(other.rows([2, 5]), rows)
    with torch.no_grad():
        other.modulation.raw += 1
    assert not torch.equal(other.rows([2, 5]), rows)
    assert torch.equal(kernel.rows([2, 5]), rows)


def test_no_nodes_no_rows():
    kernel = kernel_of()
    assert kernel.rows([]).shape == (0, 9)
    with torch.no_grad():
        assert kernel.entries([], []).shape == (0,)


def test_large_graphs_take_linear_memory():
    W = Graph(nx.to_scipy_sparse_array(nx.cycle_graph(20_000))).normalized("sym")
    kernel = LearnableKernel(W, DiffusionModulation(8), n_walks=8, seed=0)
    ones = kernel(torch.ones(20_000))
    ones.sum().backward()
    assert torch.isfinite(kernel.modulation.raw.grad)
    assert ones.mean().item() == pytest.approx(np.e, rel=0.01)  # exp(W) 1 = e · 1


def test_nodes_by_name():
    graph = Graph(nx.les_miserables_graph()).normalized()
    K = LearnableKernel(graph, DiffusionModulation(5), n_walks=4, seed=0)
    places = graph.index(["Valjean", "Cosette"])
    assert_close(K.rows(["Valjean", "Cosette"]), K.rows(places))
    assert_close(
        K.entries(["Valjean", 3], ["Cosette", "Javert"]),
        K.entries([places[0], 3], graph.index(["Cosette", "Javert"])),
    )
    with pytest.raises(InputError, match="no node is named 'Valjan'"):
        K.rows("Valjan")


def test_a_mask_of_nodes():
    K = kernel_of()
    some = torch.arange(K.n_nodes) % 2 == 0
    assert_close(K.rows(some), K.rows(torch.nonzero(some)[:, 0]))
