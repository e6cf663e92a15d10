"""Estimates on real worker processes: the bits of one machine, also when workers die."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import grfpp
from grfpp import distributed
from grfpp.distributed import tasks
from grfpp.distributed.cluster import NO_STEALING, Cluster
from grfpp.errors import InputError
from grfpp.estimate import factor as factors
from grfpp.estimate.factor import Factor
from grfpp.walks.planning import plan_walks

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dask = pytest.importorskip("distributed")

KERNEL = grfpp.Diffusion(2.0)
NETWORK = grfpp.Graph(nx.barabasi_albert_graph(300, 3, seed=0)).normalized("sym")
ARCS = grfpp.Graph(nx.gnp_random_graph(90, 0.06, seed=1, directed=True)).normalized("rw")


@pytest.fixture(scope="module")
def client():
    with (
        pytest.importorskip("dask").config.set(NO_STEALING),
        dask.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        dask.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


def same(found, wanted):
    """Equal to the last bit, sparse or not."""
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for each in zip(found, wanted, strict=True):
            same(*each)
    elif sp.issparse(wanted):
        assert found.shape == wanted.shape
        for part in ("indptr", "indices", "data"):
            same(getattr(found, part), getattr(wanted, part))
    else:
        assert_array_equal(found, wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype


def both(client, W=NETWORK, kernel=KERNEL, **options):
    options.setdefault("seed", 5)
    return distributed.sample(client, W, kernel, **options), grfpp.sample(W, kernel, **options)


def columns(n, width=3):
    return np.random.default_rng(0).normal(size=(n, width))


def tasks_left(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def worker_names(client):
    """Of those that the scheduler knows now: it may have lost some, which are started again."""
    return client.run_on_scheduler(
        lambda dask_scheduler: {str(each.name) for each in dask_scheduler.workers.values()}
    )


def wait_until(true, seconds=300):
    """Let time pass until it is so; that it never is so is the failure, not that it takes long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def started(command, **options):
    """Another process, which is killed at the end."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def kill_one(client):
    """Kill a worker that lives: one that was killed before may still be listed."""
    found = {}

    def answered():
        answers = client.run(os.getpid, on_error="ignore")
        found.update({key: each for key, each in answers.items() if isinstance(each, int)})
        return bool(found)

    wait_until(answered)
    worker, number = next(iter(found.items()))
    os.kill(number, signal.SIGKILL)
    return worker


@pytest.mark.parametrize(
    ("W", "options"),
    [
        (NETWORK, {}),
        (NETWORK, {"degree": 1, "deflate": 2}),
        (ARCS, {"degree": 3, "dtype": "float32", "walks": "independent"}),
    ],
    ids=["network", "deflated", "arcs"],
)
def test_all_answers_have_the_bits_of_one_machine(client, W, options):
    D, K = both(client, W, **options)
    assert isinstance(D, distributed.DistributedEstimate) and isinstance(D, grfpp.KernelEstimate)
    V = columns(W.n_nodes)
    same(D @ V, K @ V)
    same(D.T @ V[:, 0], K.T @ V[:, 0])
    same(D.rows([7, 3, 7, 80]), K.rows([7, 3, 7, 80]))
    assert D.entry(3, 9) == K.entry(3, 9) == D[3, 9]
    same(D.project(8, seed=1), K.project(8, seed=1))
    same(D.features(), K.features())
    same(D.factors, K.factors)
    same(D.feature_side("right"), K.feature_side("right"))
    if not options:
        same(D.diagonal(), K.diagonal())
        same(D.project(8, seed=1, where="pairs"), K.project(8, seed=1, where="pairs"))
    assert D.meta["seed"] == K.meta["seed"] and set(D.meta) == set(K.meta)


def test_tasks_run_where_their_blocks_are(client):
    def where(block, vector):
        return dask.get_worker().address

    one, other = client.nthreads()
    cluster = Cluster(client)

    def placed():
        block = client.submit(tasks.identity, 1, workers=[one], pure=False)
        vector = client.submit(np.zeros, 10**6, workers=[other], pure=False)
        cluster.wait([block, vector])
        return [block] * 4, [vector] * 4

    assert client.gather(cluster.map_colocated(where, *placed())) == [one] * 4
    assert other in client.gather(cluster.map(where, *placed()))  # as Dask would have it


def test_factors_stay_where_they_are(client):
    K = distributed.sample(client, NETWORK, KERNEL, seed=5)
    K @ columns(NETWORK.n_nodes)
    sides = [
        each.sides(transposed=transposed)
        for each in {link.factor for link in K.chain.links}
        for transposed in (False, True)
    ]
    blocks = [block for _, side in sides for block in side]
    K @ columns(NETWORK.n_nodes)
    assert {len(workers) for workers in client.who_has(blocks).values()} == {1}


def test_walking_to_a_tolerance_and_error_bars_are_the_same(client):
    D, K = both(client, ARCS, tol=0.1, dtype="float32")
    assert len(D.origin.batches) > 1
    same(D @ columns(90, 1), K @ columns(90, 1))
    assert D.meta["relative_error"] == K.meta["relative_error"]
    D, K = both(client, ARCS, n_groups=2, degree=1)
    same(D.rows([1], return_std=True), K.rows([1], return_std=True))


def test_a_replicate_is_walked_where_it_is_asked_for(client):
    D, K = both(client, ARCS, degree=1)
    replicates = [each.origin.replicate(0) for each in (D, K)]
    first, *_ = (link.factor for link in replicates[0].chain.links)
    same(first.rows(np.array([4, 2]), 1), replicates[1].factors[0][0][[4, 2]])
    assert "blocks" not in vars(first)  # but those rows alone
    same(replicates[0].rows([4]), replicates[1].rows([4]))


def test_a_cluster_factor_is_one_matrix_however_it_is_asked(client):
    D, K = both(client, ARCS, degree=1)
    factor, matrix = D.chain.links[0].factor, K.factors[0][0]
    assert isinstance(factor, Factor) and factor.n_entries == matrix.nnz
    stored = factors.StoredFactor(matrix)
    for transposed in (False, True):
        for nodes in (np.array([5, 0, 89, 5]), np.zeros(0, np.int64)):
            found, wanted = (
                each.rows(nodes, 1, transposed=transposed) for each in (factor, stored)
            )
            same(found.toarray(), wanted.toarray())
        same(factor.to_csr(transposed=transposed), stored.to_csr(transposed=transposed))
    assert factor.csr_bytes(transposed=True) >= matrix.data.nbytes + matrix.indices.nbytes


@pytest.mark.parametrize("format", ["parquet", "npz"])
def test_features_go_to_shards_and_back(client, tmp_path, monkeypatch, format):
    graph = grfpp.Graph(nx.les_miserables_graph())
    D, K = both(client, graph.normalized("sym"), degree=1)
    for _ in range(2):  # the second replaces the first
        D.save_features(tmp_path / "features", format)
    same(distributed.load_features(tmp_path / "features"), K.features())
    assert [each.name for each in tmp_path.iterdir()] == ["features"]
    names = {each.name for each in (tmp_path / "features").iterdir()}
    assert {"features.json", f"left-00000.{format}", f"nodes.{format}"} < names
    with pytest.raises(InputError, match="is a folder without"):
        D.save_features(tmp_path)
    # Through the client where workers do not see the folder.
    monkeypatch.setattr(type(D.cluster), "sees", lambda self, path: False)
    D.save_features(tmp_path / "features", format)
    same(distributed.load_features(tmp_path / "features"), K.features())


def test_graphs_on_disk_are_opened_by_the_workers(client, tmp_path, monkeypatch):
    grfpp.Graph(NETWORK).save(tmp_path / "network.grf")
    W = grfpp.Graph.open(tmp_path / "network.grf")
    D, K = both(client, W, degree=1)
    same(D @ columns(300), K @ columns(300))
    nodes = np.arange(0, 300, 7)
    near = grfpp.LocalKernel(W, KERNEL, seed=3)
    same(distributed.top_k(client, W, KERNEL, nodes, 4, seed=3), near.top_k(nodes, 4))
    # Replaced by another graph between two calls.
    grfpp.Graph(nx.cycle_graph(300)).save(tmp_path / "network.grf")
    for ask in (
        lambda: distributed.top_k(client, W, KERNEL, nodes, 4, seed=3),
        lambda: distributed.sample(client, W, KERNEL, seed=3),
    ):
        with pytest.raises(InputError, match="has changed since it was opened"):
            ask()
    shutil.move(tmp_path / "network.grf", tmp_path / "elsewhere.grf")
    opened = client.run(pickle.loads, pickle.dumps(W), on_error="return")
    assert opened and all("does not exist" in str(error) for error in opened.values())
    monkeypatch.setattr(type(W), "require_unchanged", lambda self: None)
    with pytest.raises(InputError, match=r"not all workers can open the graph: tcp://.*not exist"):
        Cluster(client).check(W)


def test_rows_and_nearest_nodes(client):
    near, nodes = grfpp.LocalKernel(NETWORK, KERNEL, seed=2), np.arange(20, 60)
    for std in (False, True):
        found = distributed.rows(client, NETWORK, KERNEL, nodes, seed=2, return_std=std)
        same(found, near.rows(nodes, return_std=std))
        found = distributed.top_k(client, NETWORK, KERNEL, nodes, 3, seed=2, return_std=std)
        same(found, near.top_k(nodes, 3, return_std=std))
    done = []
    told = {"progress": lambda *told: done.append(told)}
    found = distributed.top_k(client, NETWORK, KERNEL, seed=2, **told)
    same(found, near.top_k(np.arange(300)))
    assert done[-1] == (300, 300) and done == sorted(done)
    same(distributed.top_k(client, NETWORK, KERNEL, 5, seed=2), near.top_k(5))
    with pytest.raises(InputError, match="k must be"):
        distributed.top_k(client, NETWORK, KERNEL, k=0)


def test_an_interruption_frees_the_workers(client):
    def interrupt(done, n):
        raise KeyboardInterrupt

    for call in (distributed.sample, distributed.top_k):
        with pytest.raises(KeyboardInterrupt):
            call(client, NETWORK, KERNEL, seed=5, progress=interrupt)
    wait_until(lambda: tasks_left(client) == 0)


def test_estimates_that_are_gone_free_the_workers(client):
    D, _ = both(client, ARCS, degree=1)
    D @ columns(90, 1)
    assert tasks_left(client) > 0
    with pytest.raises(InputError, match=r"cannot be pickled.*save_features"):
        pickle.dumps(D)
    del D
    wait_until(lambda: tasks_left(client) == 0)
    wait_until(lambda: not any(client.run(lambda dask_worker: len(dask_worker.data)).values()))


def test_a_client_that_is_killed_frees_the_workers(client):
    code = (
        "import sys, time, warnings; warnings.simplefilter('ignore')\n"
        "import distributed, grfpp, networkx as nx\n"
        "client = distributed.Client(sys.argv[1])\n"
        "W = grfpp.Graph(nx.cycle_graph(50)).normalized('sym')\n"
        "K = grfpp.distributed.sample(client, W, grfpp.Diffusion(1.0), seed=0)\n"
        "print('sampled', flush=True); time.sleep(100)\n"
    )
    address = client.scheduler.address
    with started([sys.executable, "-c", code, address], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"sampled\n"
        assert tasks_left(client) > 0
    wait_until(lambda: tasks_left(client) == 0)


def test_workers_without_the_package_are_named(client, tmp_path, monkeypatch):
    (tmp_path / "no_grfpp.py").write_text("import sys\nsys.modules['grfpp'] = None\n")
    command = [sys.executable, "-m", "dask", "worker", client.scheduler.address]
    preload = ["--preload", str(tmp_path / "no_grfpp.py")]
    options = ["--no-dashboard", "--no-nanny", "--name", "stranger", *preload]
    with started([*command, *options], stderr=subprocess.DEVNULL, cwd=tmp_path):
        wait_until(lambda: "stranger" in worker_names(client))
        with pytest.raises(InputError, match=r"all workers need grfpp .*tcp://\S+ has no grfpp"):
            distributed.sample(client, ARCS, KERNEL, seed=0)
    wait_until(lambda: {"stranger"}.isdisjoint(names := worker_names(client)) and names)
    monkeypatch.setattr(grfpp, "__version__", "0.0.1")
    with pytest.raises(InputError, match=r"all workers need grfpp 0.0.1: tcp://.* has"):
        distributed.sample(client, ARCS, KERNEL, seed=0)


def test_what_cannot_be_asked_for_is_refused(client, monkeypatch):
    with pytest.raises(InputError, match=r"client must be a distributed.Client"):
        distributed.sample("tcp://127.0.0.1:1", ARCS, KERNEL)
    with pytest.raises(InputError, match="storage is not an option here"):
        distributed.sample(client, ARCS, KERNEL, storage="recompute")
    with pytest.raises(InputError, match="symmetrize needs symmetric weights"):
        distributed.sample(client, ARCS, KERNEL, symmetrize=True)
    monkeypatch.setattr(Cluster, "memory", 1_000_000)
    with pytest.raises(InputError, match=r"4 factors .* need \S+ MB, .* 60% .* 600"):
        distributed.sample(client, NETWORK, KERNEL)


def test_a_client_that_is_closed_is_told_in_words(client):
    with dask.Client(client.scheduler.address, set_as_default=False) as other:
        D = distributed.sample(other, ARCS, KERNEL, seed=0, degree=1)
    for ask in (
        lambda: D @ columns(90, 1),
        lambda: D.rows([3]),
        lambda: D.project(4, seed=0),
        lambda: distributed.sample(other, ARCS, KERNEL, seed=0),
        lambda: distributed.top_k(other, ARCS, KERNEL, [1]),
    ):
        with pytest.raises(InputError, match=r"connect a new client|sample again"):
            ask()


def test_processes_of_an_executor_give_the_same_bits(client):
    done = []
    with ProcessPoolExecutor(2) as pool:
        for walks in ("pooled", "independent"):
            options = {"seed": 5, "degree": 1, "walks": walks}
            told = {"progress": lambda *told: done.append(told)}
            found = grfpp.sample(ARCS, KERNEL, **options, executor=pool, **told)
            same(found.factors, grfpp.sample(ARCS, KERNEL, **options).factors)
            assert done[-1] == (180, 180)
    with client.get_executor() as pool:
        found = grfpp.sample(ARCS, KERNEL, seed=5, degree=1, executor=pool)
    same(found.factors, grfpp.sample(ARCS, KERNEL, seed=5, degree=1).factors)


def test_plans_are_pickled_without_what_can_be_made_again():
    plan = plan_walks(NETWORK, KERNEL, grfpp.WalkOptions(seed=1)).forward
    packed = pickle.dumps(plan)
    assert len(packed) < 4 * plan.graph.indices.nbytes + 8 * plan.graph.n_nodes * 4
    again = pickle.loads(packed)
    for found, wanted in zip(again.layout, plan.layout, strict=True):
        assert_array_equal(found, wanted)


def test_workers_that_are_killed_change_nothing(client):
    killed = []

    def kill(done, n):
        if not killed:
            assert done < n
            killed.append(kill_one(client))

    D = distributed.sample(client, NETWORK, KERNEL, seed=5, progress=kill)
    killed.clear()
    found = distributed.top_k(client, NETWORK, KERNEL, seed=2, progress=kill)
    same(found, grfpp.LocalKernel(NETWORK, KERNEL, seed=2).top_k(np.arange(300)))
    same(D @ columns(300), grfpp.sample(NETWORK, KERNEL, seed=5) @ columns(300))


def test_the_example_of_the_docs_runs_as_a_script(tmp_path):
    """Its workers import it: what is not guarded would start workers of theirs."""
    page = (Path(__file__).parents[3] / "docs" / "distributed.md").read_text("utf-8")
    code = page.split("```\n")[1].replace("/shared/", f"{tmp_path.as_posix()}/")
    (tmp_path / "script.py").write_text(code.replace("n_workers=4", "n_workers=1"), "utf-8")
    grfpp.Graph(nx.karate_club_graph()).save(tmp_path / "web.grf")
    subprocess.run([sys.executable, tmp_path / "script.py"], check=True, timeout=90)
    assert (tmp_path / "features" / "features.json").exists()
