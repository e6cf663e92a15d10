"""Labels of a few nodes spread to all others: accuracy and seconds, with rivals."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from grfpp.graph import Graph
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.datasets.planetoid import load_planetoid
from grfpp_lab.experiments.claims import chart, distinct, mean_text, select, verdict
from grfpp_lab.experiments.clustering.claims import threads_for_processes, why_no_rivals
from grfpp_lab.experiments.measuring import at_hand, pick, seeds, why_absent
from grfpp_lab.graphs import N_LABELLED, N_VALIDATION, Split, block_model, split_of
from grfpp_lab.harness import experiment as lab
from grfpp_lab.harness.experiment import Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

PLANETOID, RANDOM = "Planetoid", "random"
CORA, PUBMED, GENERATED = "cora", "pubmed", "generated"
#: About how many nodes they have.
N_NODES = {CORA: 2_708, PUBMED: 19_717, GENERATED: 400}


class LabelTask(NamedTuple):
    """A graph, the classes of its nodes, and a split."""

    graph: Graph
    labels: IntArray
    split: Split


def read(name: str) -> object:
    """Read the data, without a download; nothing where it is generated."""
    return None if name == GENERATED else load_planetoid(name, download=False)


@lru_cache(maxsize=4)
def label_task(name: str, kind: str, seed: int) -> LabelTask:
    """One split: the public one of the whole graph, or a random one of the largest component."""
    if name == GENERATED:
        made = block_model(400, 3, 6.0, 0.85, n_parts=2, seed=seed % 2**32)
        return LabelTask(made.graph, made.labels, split_of(made.labels, seed))
    data = load_planetoid(name, download=False)
    if kind == PLANETOID:
        split = Split(data.train, data.validation, data.test)
        return LabelTask(data.graph, data.labels, split)
    graph, nodes = largest_component(data.graph)
    labels = data.labels[nodes]
    return LabelTask(graph, labels, split_of(labels, seed))


def largest_component(graph: Graph) -> tuple[Graph, IntArray]:
    """The largest connected part, and the numbers that its nodes had."""
    _, part = connected_components(graph.adjacency, directed=False)
    nodes = np.flatnonzero(part == np.bincount(part).argmax())
    return Graph(graph.adjacency[nodes][:, nodes]), nodes


def title_of(name: str) -> str:
    """The title of the data."""
    return name.capitalize()


PROPAGATION, SPREADING = "LabelPropagation, scikit-learn", "LabelSpreading, scikit-learn"
NETWORK_PROPAGATION = "Propagation, scikit-network"
NETWORK_DIFFUSION = "DiffusionClassifier, scikit-network"
NETWORK_PAGERANK = "PageRankClassifier, scikit-network"
OF_SKLEARN = (PROPAGATION, SPREADING)
OF_NETWORK = (NETWORK_PROPAGATION, NETWORK_DIFFUSION, NETWORK_PAGERANK)
RIVALS = (*OF_SKLEARN, *OF_NETWORK)
#: scikit-learn's defaults of 1,000 and 30 steps end before convergence on such graphs.
_STEPS = 3_000


def rival_scores(method: str, task: LabelTask) -> FloatArray:
    """Scores of all classes at all nodes, from the labels of the training nodes alone."""
    known = np.full(task.graph.n_nodes, -1)
    known[task.split.train] = task.labels[task.split.train]
    n_classes = int(task.labels.max()) + 1
    found = _sklearn(method, task, known) if method in OF_SKLEARN else _network(method, task, known)
    scores = np.zeros((task.graph.n_nodes, n_classes))
    scores[:, : found.shape[1]] = found
    return scores


def _sklearn(method: str, task: LabelTask, known: IntArray) -> FloatArray:
    """The graph is given in place of similarities; isolated nodes have a loop, or there is 0/0."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.semi_supervised import LabelPropagation, LabelSpreading

    matrix = sp.csr_matrix(task.graph.adjacency)
    alone = np.asarray(matrix.sum(axis=1)).ravel() == 0
    matrix = (matrix + sp.diags(alone.astype(np.float64))).tocsr()
    kind = LabelPropagation if method == PROPAGATION else LabelSpreading
    affinity: Any = matrix if method == PROPAGATION else matrix.tocoo()
    model = kind(kernel=lambda X, Y: affinity, max_iter=_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # nodes that no label reaches
        model.fit(np.arange(task.graph.n_nodes, dtype=np.float64)[:, None], known)
    return np.asarray(np.nan_to_num(model.label_distributions_), np.float64)


def _network(method: str, task: LabelTask, known: IntArray) -> FloatArray:
    from sknetwork.classification import DiffusionClassifier, PageRankClassifier, Propagation

    kinds: dict[str, Any] = {
        NETWORK_PROPAGATION: Propagation,
        NETWORK_DIFFUSION: DiffusionClassifier,
        NETWORK_PAGERANK: PageRankClassifier,
    }
    model = kinds[method]()
    with threads_for_processes():
        model.fit(sp.csr_matrix(task.graph.adjacency), labels=known)
    return np.asarray(model.predict_proba())


#: With the defaults of `KernelLabelPropagation` and a validation set; by folds alone; and each way
#: to read labels out, with a validation set.
OURS, FOLDS = "grfpp", "grfpp, no validation set"
BY_HOW = {f"grfpp, {how}": how for how in ("propagation", "svm", "kriging")}
METHODS = (OURS, FOLDS, *BY_HOW, *RIVALS)
_STYLES = {method: number for number, method in enumerate(METHODS)}


def accuracy_panels(rows: Rows) -> list[Panel]:
    """Accuracy on each split: a chart a graph; the first split is Planetoid's."""
    return _split_panels(rows, lambda row: 100 * row["accuracy"], "accuracy, %", with_size=True)


def calibration_panels(rows: Rows) -> list[Panel]:
    """Calibration error on each split, of methods that give probabilities."""
    return _split_panels(rows, lambda row: row["calibration_error"], "calibration error")


def _split_panels(
    rows: Rows, y: Callable[[Row], Any], label: str, with_size: bool = False
) -> list[Panel]:
    panels = []
    for data in distinct(rows, "data"):
        own = [row for row in select(rows, data=data) if y(row) is not None]
        curves = []
        for method in METHODS:
            mine = select(own, method=method)
            places = [0 if row["split"] == PLANETOID else row["repeat"] + 1 for row in mine]
            style = _STYLES[method]
            curves.append(Curve(method, places, [*map(y, mine)], (), style, joined=False))
        more: dict[str, Any] = {"note": f"{own[0]['n_nodes']:,} nodes"} if with_size else {}
        more |= {"log_x": False, "log_y": False}
        panels.append(chart(title_of(data), curves, "split (0: Planetoid)", label, **more))
    return panels


def table(rows: Rows) -> Table:
    """All methods on all splits."""
    groups = []
    for data in distinct(rows, "data"):
        lines = []
        for method in METHODS:
            own = select(rows, data=data, method=method)
            if own:
                lines.append([method, *_cells(own)])
        groups.append(TableGroup(title_of(data), lines))
    return Table(
        [
            "",
            *("Planetoid, %", "calibration error", "seconds", "chosen"),
            *("random splits, %", "calibration error, mean", "splits"),
        ],
        groups,
        "Share of test nodes whose label is right; random splits: mean and standard error. "
        "Seconds of fit and prediction on one thread, with the choice of kernel.",
    )


def _cells(rows: Rows) -> list[str]:
    public, random = select(rows, split=PLANETOID), select(rows, split=RANDOM)
    first = [""] * 4
    if public:
        row = public[0]
        first = [
            f"{100 * row['accuracy']:.1f}",
            _error([row]),
            f"{row['seconds']:.2g}",
            row["chosen"] or "",
        ]
    return [*first, spread_of(random), _error(random), str(len(random)) if random else ""]


def spread_of(rows: Rows) -> str:
    """Mean and standard error in percent."""
    return mean_text([100 * row["accuracy"] for row in rows], 1)


def _error(rows: Rows) -> str:
    known: list[Row] = [row for row in rows if row["calibration_error"] is not None]
    return f"{np.mean([row['calibration_error'] for row in known]):.3f}" if known else ""


#: Accuracy on the public split, seconds, calibration error; accuracy over random splits of Cora.
LEAST, SECONDS, CALIBRATION, LEAST_RANDOM = 0.72, 10.0, 0.05, 0.775
#: Splits that the last is a mean of.
SPLITS = 10
_NOTHING = "nothing of node labels; our bar: "


def judge_planetoid(rows: Rows) -> Verdict:
    """Accuracy, seconds and calibration on the public split."""
    bar = (
        f"{_NOTHING}at least {100 * LEAST:g} % of the test nodes right on Cora and on Pubmed, "
        f"without words, in {SECONDS:g} s with the choice of the kernel, calibration error at most "
        f"{CALIBRATION:g}"
    )
    own = {row["data"]: row for row in select(rows, split=PLANETOID, method=OURS)}
    facts = [
        f"{title_of(data)}: {100 * row['accuracy']:.1f} %, calibration error "
        f"{row['calibration_error']:.3f}, {row['seconds']:.1f} s, by {row['chosen']}"
        for data, row in own.items()
    ]
    if not {CORA, PUBMED} <= set(own):
        return verdict(bar, facts or "nothing to compare")
    holds = all(
        row["accuracy"] >= LEAST
        and row["seconds"] <= SECONDS
        and row["calibration_error"] <= CALIBRATION
        for row in own.values()
    )
    return verdict(bar, facts, holds)


def judge_random(rows: Rows) -> Verdict:
    """The mean over random splits of Cora."""
    bar = (
        f"{_NOTHING}at least {100 * LEAST_RANDOM:g} % on Cora's largest component, the mean of "
        f"{SPLITS} random splits with 20 labels a class"
    )
    own = select(rows, split=RANDOM, method=OURS)
    facts = []
    for data in distinct(own, "data"):
        mine = select(own, data=data)
        folds = select(rows, split=RANDOM, method=FOLDS, data=data)
        facts.append(
            f"{title_of(data)}: {spread_of(mine)} % over {len(mine)} splits"
            + (f", without a validation set {spread_of(folds)} %" if folds else "")
        )
    shares = [row["accuracy"] for row in select(own, data=CORA)]
    if len(shares) < SPLITS:
        return verdict(bar, facts or "nothing to compare")
    return verdict(bar, facts, bool(np.mean(shares) >= LEAST_RANDOM))


def judge_rivals(rows: Rows) -> Verdict:
    """Above every other method on every graph and kind of split."""
    bar = f"{_NOTHING}above label propagation and its like of scikit-learn and scikit-network"
    facts, above = [], []
    for data in distinct(rows, "data"):
        for split in (PLANETOID, RANDOM):
            here = select(rows, data=data, split=split)
            ours = select(here, method=OURS)
            others = {
                method: _mean(select(here, method=method))
                for method in RIVALS
                if select(here, method=method)
            }
            if not ours or not others:
                continue
            best = max(others, key=lambda method: others[method])
            above.append(_mean(ours) > others[best])
            facts.append(
                f"{title_of(data)}, {split}: {100 * _mean(ours):.1f} against "
                f"{100 * others[best]:.1f} % ({best})"
            )
    return verdict(bar, facts, all(above)) if facts else verdict(bar)


def _mean(rows: Rows) -> float:
    return float(np.mean([row["accuracy"] for row in rows]))


@dataclass(frozen=True)
class Parameters:
    """What is measured: graphs, and random splits of each."""

    data: tuple[str, ...]
    repeats: int


PARAMETERS = {
    lab.Size.FULL: Parameters((CORA, PUBMED), 10),
    lab.Size.QUICK: Parameters((CORA, PUBMED), 10),
    lab.Size.TINY: Parameters((GENERATED,), 1),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every split and method."""
    mine = PARAMETERS[settings.size]
    names, skipped = at_hand(mine.data, lambda name: why_absent(name, read))
    absent = why_no_rivals()
    if absent is not None:
        skipped[", ".join(OF_NETWORK)] = absent
    methods = [OURS, FOLDS, *BY_HOW, *OF_SKLEARN, *(() if absent else OF_NETWORK)]
    cells: list[lab.Cell] = []
    for name in names:
        kinds = [(PLANETOID, 0)] if name != GENERATED else []
        kinds += [(RANDOM, repeat) for repeat in range(mine.repeats)]
        cells += [
            {"data": name, "split": kind, "repeat": repeat, "method": method, "seed": settings.seed}
            for kind, repeat in kinds
            for method in methods
        ]
    return lab.Plan(
        cells,
        {
            "Planetoid": "the public split of the whole graph: 20 labels a class, 500 nodes to "
            "choose by, 1,000 to judge",
            "random": f"{mine.repeats} splits of the largest component: {N_LABELLED} labels a "
            f"class, {N_VALIDATION} nodes to choose by, all others to judge",
            "kernels": "diffusion for times from 1 to 80, (I − c W)^-2 with c from 0.5 to 0.99",
        },
        skipped,
    )


def run(cell: lab.Cell) -> list[lab.Row]:
    """One method on one split."""
    (seed,) = seeds(1, **pick(cell, "data", "split", "repeat", "seed"))
    task = label_task(cell["data"], cell["split"], seed % 2**32)
    began = perf_counter()
    probabilities, chosen = _predicted(cell["method"], task)
    seconds = perf_counter() - began
    test = task.split.test
    truth = task.labels[test]
    error = None
    if cell["method"] not in OF_NETWORK and cell["method"] not in OF_SKLEARN:
        from grfpp.tasks import calibration_error

        error = calibration_error(probabilities[test], truth)
    return [
        {
            **pick(cell, "data", "split", "repeat", "method"),
            "n_nodes": task.graph.n_nodes,
            "n_train": len(task.split.train),
            "n_test": len(test),
            "accuracy": float((probabilities[test].argmax(axis=1) == truth).mean()),
            "calibration_error": error,
            "seconds": seconds,
            "chosen": chosen,
        }
    ]


def _predicted(method: str, task: LabelTask) -> tuple[FloatArray, str | None]:
    """Scores of all classes at all nodes, and what was chosen."""
    if method not in (OURS, FOLDS, *BY_HOW):
        return rival_scores(method, task), None
    from grfpp.tasks import KernelLabelPropagation

    train, validation = task.split.train, task.split.validation
    model = KernelLabelPropagation(task.graph, how=BY_HOW.get(method, "auto"), n_jobs=1)
    given = None if method == FOLDS else (validation, task.labels[validation])
    model.fit(train, task.labels[train], validation=given)
    return model.probabilities_, f"{model.kernel_!r}, {model.how_} ({model.setting_})"


EXPERIMENT = lab.Experiment(
    name="labels",
    plan=plan,
    run=run,
    parts=("tasks",),
    timings=("seconds",),
    claims=[
        lab.Claim("labels-planetoid", accuracy_panels, judge_planetoid, (table,)),
        lab.Claim("labels-random", calibration_panels, judge_random),
        lab.Claim("labels-rivals", accuracy_panels, judge_rivals),
    ],
)
