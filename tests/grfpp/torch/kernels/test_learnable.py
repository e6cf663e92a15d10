"""Learnable kernels: values, means and gradients, from pooled and from independent walks."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from attention_helpers import compiles
from independent_walks import INDEPENDENT
from numpy.testing import assert_allclose
from refusal_case import bad_values, refused
from small_graphs import GRAPHS, irregular, karate
from statistics_helpers import blocks, copies, rms_z
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call
from torch.testing import assert_close

import grfpp
from grfpp import DivergentSeriesError, Graph, InputError, TruncationError, WalkOptions
from grfpp.torch import (
    DiffusionModulation,
    LearnableKernel,
    LearnableModulation,
    MLPModulation,
    RegularizedLaplacianModulation,
)
from grfpp.walks import sample_factor
from grfpp.walks.by_length import plan_by_length

DOUBLE = torch.float64
SMALL = GRAPHS["unweighted, sym"]


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

    def function(*tensors):
        named = {f"kernel.{name}": each for name, each in zip(names, tensors, strict=True)}
        return functional_call(Caller(), named, ())

    return function, inputs


PARTS = [
    lambda kernel: kernel(torch.ones(9, 2)),
    lambda kernel: kernel.rows([3, 0]),
    lambda kernel: kernel.entries([3, 0, 1], [3, 2, 2]),
    lambda kernel: kernel.diagonal(),
    lambda kernel: kernel.features()[1].to_dense(),
    lambda kernel: kernel.project(torch.eye(9, 2).to(kernel.factors[0].amounts))[0],
]


@pytest.mark.parametrize("method", PARTS)
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
    assert gradcheck(kernel_of(n_lengths=5), (vector.requires_grad_(),))


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


def test_seed_threads_and_number_types():
    kernel = kernel_of(seed=None, n_exact=1, n_jobs=3)
    again = kernel_of(seed=kernel.seed, n_exact=1, n_jobs=1)
    assert torch.equal(again.rows([0]), kernel.rows([0]))
    assert f"seed={kernel.seed}" in repr(kernel)
    single = LearnableKernel(SMALL, DiffusionModulation(6), seed=0)
    assert single(torch.ones(9)).dtype == torch.float32
    assert single.double()(torch.ones(9, dtype=torch.int64)).dtype == DOUBLE


def test_truncated_series_warn_once():
    kernel = kernel_of(n_lengths=4, lam=20.0)
    with pytest.warns(RuntimeWarning, match="too few lengths") as caught:
        kernel.rows([0])
    assert caught[0].filename == __file__  # not a line of the library
    found = {name: round(value, 2) for name, value in caught[0].message.details.items()}
    assert found == {"neglected_share": 0.57, "spectral_radius": 0.8, "n_lengths": 4}
    kernel.rows([0])


def test_the_truncated_share_depends_on_the_graph():
    """On a grid of spectral radius 3.6, eight lengths are too few for λ = 5."""
    W = Graph(nx.grid_2d_graph(6, 6))
    kernel = kernel_of(W, n_lengths=8, degree=1, lam=5.0, n_exact=7)
    with pytest.warns(RuntimeWarning, match="too few lengths") as caught:
        rows = kernel.rows(range(36)).detach().numpy()
    assert caught[0].message.details["neglected_share"] == pytest.approx(0.68, abs=0.005)
    # A share s of the root's series is 1 − (1 − s)² of the kernel.
    exact, share = grfpp.Diffusion(5.0).exact(W), kernel.modulation.neglected(W.spectral_radius())
    top = np.linalg.eigh(W.adjacency.toarray())[1][:, -1]
    assert top @ rows @ top / (top @ exact @ top) == pytest.approx((1 - share) ** 2, rel=0.02)


def test_a_series_that_diverges_on_the_graph_is_refused():
    W = Graph(nx.grid_2d_graph(6, 6))
    modulation = RegularizedLaplacianModulation(12, sigma2=1.0)
    with pytest.raises(DivergentSeriesError, match=r"radii below 2, found .*3\.60388"):
        LearnableKernel(W, modulation, seed=0)
    # Training may lead there from a good beginning.
    modulation = RegularizedLaplacianModulation(30, sigma2=0.2)
    kernel = LearnableKernel(W, modulation, seed=0)
    kernel.rows([0])
    with torch.no_grad():
        modulation.raw.zero_()
    with pytest.warns(RuntimeWarning, match="too few lengths"):
        kernel.rows([0])


@pytest.mark.parametrize(
    "method", [lambda kernel: kernel(torch.ones(9, dtype=torch.bfloat16)), *PARTS]
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
    network = MLPModulation(6)
    torch.nn.init.normal_(network.network[-1].weight)
    kernel = LearnableKernel(SMALL, network, n_walks=5, seed=0)
    plain = method(kernel)
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(method(kernel), plain)


test_bad_options_are_refused = bad_values(
    kernel_of,
    **{"n_walks": 0, "seed": -1, "n_exact": [-1, 40], "n_jobs": 0, "storage": "recompute"},
    **{"degree": 5000, "dtype": [torch.float16, "float32"]},
)
VECTORS = [torch.ones(8), torch.ones(9, 2, 2), torch.tensor(1.0), np.ones(9)]
VECTORS += [torch.ones(9, dtype=torch.cfloat)]
test_bad_arguments_are_refused = refused(
    {None: lambda: kernel_of().entries([0, 1], [0])},
    modulation=lambda: LearnableKernel(SMALL, grfpp.Diffusion()),
    symmetric=lambda: kernel_of(GRAPHS["directed, sym"], symmetric=True),
    vectors=[
        *(lambda given=given: kernel_of()(given) for given in VECTORS),
        lambda: kernel_of().float()(torch.ones(9, dtype=DOUBLE)),
    ],
    projection=lambda: kernel_of().project(torch.ones(8, 2)),
    nodes=lambda: kernel_of().rows([9]),
)


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_a_law_that_ends_too_early_is_refused(walks):
    with pytest.raises(TruncationError, match=r"after 7 steps.* up to 39; .* n_lengths=8"):
        kernel_of(termination=grfpp.FixedLength(7), walks=walks)


@pytest.mark.parametrize("values", [None, torch.ones(4), 3.0])
def test_a_modulation_of_the_wrong_kind_is_refused(values):
    class Own(LearnableModulation):
        def forward(self):
            return values

    with pytest.raises(InputError, check=lambda error: error.argument == "modulation"):
        LearnableKernel(SMALL, Own(5), seed=0).rows([0])


def state_loaded(kernel):
    """Walks are no part of the saved state."""
    other = kernel_of(lam=3.0)
    assert set(kernel.state_dict()) == {"modulation.raw"}
    other.load_state_dict(kernel.state_dict())
    return other


def pickled(kernel):
    return pickle.loads(pickle.dumps(kernel))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled, state_loaded])
def test_copies_are_kernels_of_their_own(copied):
    kernel = kernel_of()
    rows = kernel.rows([2, 5]).detach()
    other = copied(kernel)
    assert torch.equal(other.rows([2, 5]), rows)
    with torch.no_grad():
        other.modulation.raw += 1
    assert not torch.equal(other.rows([2, 5]), rows)
    assert torch.equal(kernel.rows([2, 5]), rows)


def test_nodes_by_name():
    graph = Graph(nx.les_miserables_graph()).normalized()
    K = LearnableKernel(graph, DiffusionModulation(5), n_walks=4, seed=0)
    valjean, cosette, javert = graph.index(["Valjean", "Cosette", "Javert"])
    assert_close(K.rows(["Valjean", "Cosette"]), K.rows([valjean, cosette]))
    found = K.entries(["Valjean", 3], ["Cosette", "Javert"])
    assert_close(found, K.entries([valjean, 3], [cosette, javert]))
    with pytest.raises(InputError, match="Valjan"):
        K.rows("Valjan")
    some = torch.arange(K.n_nodes) % 2 == 0
    assert_close(K.rows(some), K.rows(torch.nonzero(some)[:, 0]))
    assert K.rows([]).shape == (0, K.n_nodes) and K.entries([], []).shape == (0,)


# Pooled walks.


@pytest.mark.parametrize("law", [None, "geometric:0.2", "matched:3"])
@pytest.mark.parametrize("name", ["unweighted, sym", "weighted, rw", "directed, sym"])
def test_pooled_factors_are_those_of_the_engine(name, law):
    W = GRAPHS[name]
    kernel = kernel_of(W, 12, termination=law)
    f = kernel.modulation().detach().numpy()
    options = WalkOptions(n_walks=6, seed=5, termination=law)
    product = np.eye(W.n_nodes)
    for number in (0, 2, 3, 1):
        side = W.reversed() if number % 2 and W.is_directed else W
        plan = plan_by_length(side, len(f), options).with_factor(number)
        factor = sample_factor(type(plan).of(side, f, plan.lengths, 6, 5, number)).toarray()
        product = product @ (factor.T if number % 2 else factor)
    assert_allclose(kernel.rows(range(W.n_nodes)).detach().numpy(), product, rtol=1e-12, atol=1e-15)


def test_pooled_walks_serve_any_parameter():
    W = Graph(karate().adjacency)
    kernel = kernel_of(W, 24, n_walks=64)
    amounts = kernel.factors[0].amounts
    assert torch.equal(kernel_of(W, 24, lam=4.0, n_walks=64).factors[0].amounts, amounts)
    for lam, bar in ((0.5, 1e-4), (4.0, 0.01), (16.0, 0.02)):
        with torch.no_grad():
            kernel.modulation.raw.fill_(np.log(lam))
            rows = kernel.rows(range(34)).numpy()
        exact = grfpp.Diffusion(lam).exact(W)
        assert np.linalg.norm(rows - exact) < bar * np.linalg.norm(exact)


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_one_length_is_the_identity(walks):
    kernel = kernel_of(karate(), 1, walks=walks, lam=1e-9)
    assert_allclose(kernel.rows(range(34)).detach().numpy(), np.eye(34), atol=1e-12)


@compiles
@pytest.mark.parametrize(("backend", "symmetric"), [("eager", True), ("aot_eager", False)])
def test_compiled_products_and_their_gradients(backend, symmetric):
    """Without a break of the graph; kernels of the same shapes share the code, not the walks."""
    torch.compiler.reset()
    kernel = kernel_of(n_lengths=5, symmetric=symmetric)
    twin = copy.deepcopy(kernel)
    twin.modulation.raw.data.add_(0.5)
    vectors = torch.randn(3, 9, 2, dtype=DOUBLE, requires_grad=True)
    for each in (kernel, twin):
        inputs = [vectors, each.modulation.raw]
        compiled = torch.compile(each, fullgraph=True, backend=backend)
        assert_close(compiled(vectors), each(vectors))
        gradients = (torch.autograd.grad(K(vectors).exp().sum(), inputs) for K in (compiled, each))
        for found, wanted in zip(*gradients, strict=True):
            assert_close(found, wanted)


@compiles
def test_compiled_kernels_warn_of_lengths_that_are_missing():
    torch.compiler.reset()
    kernel = kernel_of(n_lengths=3, lam=9.0)
    with pytest.warns(RuntimeWarning, match="too few lengths"):
        torch.compile(kernel, fullgraph=True, backend="eager")(torch.ones(9, dtype=DOUBLE))


@pytest.mark.parametrize("shape", [(9,), (9, 0), (9, 2), (4, 9, 2), (2, 3, 9, 1), (0, 9, 2)])
def test_batches_are_multiplied_matrix_by_matrix(shape):
    kernel, vectors = kernel_of(n_lengths=5), torch.randn(shape, dtype=DOUBLE)
    wanted = kernel.rows(range(9)) @ vectors
    assert_close(kernel(vectors), wanted)
