"""Labels of nodes from those of some."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from estimator_case import NodeEstimatorCase
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import LinearSVC

import grfpp
from grfpp.tasks import KernelLabelPropagation, NodeKFold, label_rules
from grfpp.tasks import labels as module
from grfpp_lab.graphs import block_model, split_of
from grfpp_lab.studies.node_defaults import contacts, poisson_learning

BLOCKS = block_model(400, 3, 8.0, 0.85, n_parts=1, seed=1)
SPLIT = split_of(BLOCKS.labels, 0)
TRAIN, TEST = SPLIT.train, SPLIT.test
NAMES = np.array(["alpha", "beta", "gamma"])[BLOCKS.labels]
CLUB = nx.karate_club_graph()
PARTIES = np.array([CLUB.nodes[node]["club"] for node in CLUB])
KNOWN = np.array([0, 1, 2, 3, 33, 32, 30, 23])
FAST = {"kernel": "diffusion:5", "how": "kriging"}


def dense(kernel="diffusion:5", graph=BLOCKS.graph):
    W = graph.normalized("sym")
    function = grfpp.kernels.kernel_of(kernel)
    return function.exact(W) / function.value(W.spectral_radius())


@pytest.mark.parametrize("how", ["propagation", "svm", "kriging", "auto"])
def test_most_labels_are_right_and_text(how):
    model = KernelLabelPropagation(BLOCKS.graph, how=how).fit(TRAIN, NAMES[TRAIN])
    assert model.classes_.tolist() == ["alpha", "beta", "gamma"]
    assert model.score(TEST, NAMES[TEST]) > 0.85
    given = model.predict_proba(TEST)
    np.testing.assert_allclose(given.sum(axis=1), 1)
    assert (model.classes_[given.argmax(axis=1)] == model.predict(TEST)).all()
    assert how in (model.how_, "auto")
    assert model.held_out_loss_ in [each["loss"] for each in model.candidates_]
    assert model.method_ == "chebyshev"


def test_propagation_is_the_product_with_the_labels():
    model = KernelLabelPropagation(BLOCKS.graph, kernel="diffusion:5", how="propagation")
    model.fit(TRAIN, BLOCKS.labels[TRAIN])
    Y = np.zeros((400, 3))
    Y[TRAIN, BLOCKS.labels[TRAIN]] = 1
    K = dense()
    scale = Y.sum(axis=0) if model.setting_ == "counts" else (K @ Y).sum(axis=0)
    sums = (K @ Y) / scale
    shares = sums / sums.sum(axis=1, keepdims=True)
    logits = np.log(np.maximum(shares, 1e-6)) / model.temperature_
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    here = model.reached_
    np.testing.assert_allclose(model.probabilities_[here], expected[here], atol=1e-6)


def test_kriging_solves_with_the_kernel_of_labelled_nodes():
    model = KernelLabelPropagation(BLOCKS.graph, **FAST).fit(TRAIN, BLOCKS.labels[TRAIN])
    K = dense()
    inner = K[np.ix_(TRAIN, TRAIN)]
    ridge = model.setting_ * inner.diagonal().mean() * np.eye(len(TRAIN))
    sums = K[:, TRAIN] @ np.linalg.solve(inner + ridge, np.eye(3)[BLOCKS.labels[TRAIN]])
    here = model.reached_
    assert here.sum() > 390
    np.testing.assert_array_equal(model.predict(np.flatnonzero(here)), sums.argmax(axis=1)[here])


def test_the_machine_works_with_rows_of_length_one():
    model = KernelLabelPropagation(BLOCKS.graph, kernel="diffusion:5", how="svm")
    model.fit(TRAIN, BLOCKS.labels[TRAIN])
    rows = dense()[:, TRAIN]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    # Stopped where ours is: with another tolerance the machine itself is another one.
    options = {"class_weight": "balanced", "dual": False, "max_iter": 300, "tol": 1e-3}
    machine = LinearSVC(C=model.setting_, **options)
    machine.fit(rows[TRAIN], BLOCKS.labels[TRAIN])
    assert (machine.predict(rows) == model.predict(np.arange(400))).mean() > 0.99


@pytest.mark.parametrize(("n_kernels", "n_tried"), [(4, 4), (6, 4)])
def test_kriging_chooses_kernels_for_machines_where_they_are_many(monkeypatch, n_kernels, n_tried):
    learned, learn = [], label_rules.learn
    monkeypatch.setattr(
        label_rules, "learn", lambda rule, block: learned.append(rule.how) or learn(rule, block)
    )
    kernels = [f"diffusion:{time}" for time in range(1, n_kernels + 1)]
    model = KernelLabelPropagation(CLUB, kernel=kernels, how="svm").fit(KNOWN, PARTIES[KNOWN])
    assert ("kriging" in learned) == (n_kernels > n_tried)
    assert len(model.candidates_) == n_tried * len(label_rules.SETTINGS["svm"])


def test_a_validation_set_chooses_and_shows_the_shares_of_classes():
    kept = np.random.default_rng(0).permutation(SPLIT.validation)
    rare = kept[BLOCKS.labels[kept] == 0][:10]
    others = np.r_[rare, kept[BLOCKS.labels[kept] == 1]]
    model = KernelLabelPropagation(BLOCKS.graph, kernel="diffusion:5", how="propagation")
    plain = clone(model).fit(TRAIN, NAMES[TRAIN])
    validated = clone(model).fit(TRAIN, NAMES[TRAIN], validation=(others, NAMES[others]))
    assert validated.probabilities_[:, 2].mean() < plain.probabilities_[:, 2].mean()
    assert validated.held_out_score_ != plain.held_out_score_
    assert validated.bias_.any() > plain.bias_.any()


def test_a_wide_kernel_is_chosen_where_labels_are_far_between():
    ring = nx.disjoint_union(nx.cycle_graph(80), nx.cycle_graph(80))
    labels = np.repeat(["left", "right"], 80)
    known = np.array([0, 20, 40, 60, 80, 100, 120, 140])
    model = KernelLabelPropagation(ring, kernel=["diffusion:0.1", "diffusion:40"])
    model.fit(known, labels[known])
    assert model.kernel_ == grfpp.Diffusion(40.0)
    assert model.score(np.arange(160), labels) == 1


@pytest.mark.parametrize("how", ["propagation", "svm", "kriging"])
def test_nodes_that_no_label_reaches_have_the_shares_of_classes(how):
    parts = nx.disjoint_union(CLUB, nx.path_graph(3))
    model = KernelLabelPropagation(parts, how=how).fit(KNOWN, PARTIES[KNOWN])
    assert model.reached_.tolist() == [True] * 34 + [False] * 3
    shares = model.probabilities_[:34].mean(axis=0)
    np.testing.assert_allclose(model.probabilities_[34:], np.tile(shares, (3, 1)))
    validated = clone(model).fit(KNOWN, PARTIES[KNOWN], ([4, 5, 6], PARTIES[[4, 5, 6]]))
    np.testing.assert_allclose(validated.probabilities_[35], [0.8, 0.2])  # 3 and 1, 0 and 1


def test_balance():
    """Nine labels of one class against one of the other."""
    two = block_model(400, 2, 8.0, 0.8, n_parts=1, seed=3)
    first, second = (np.flatnonzero(two.labels == each) for each in (0, 1))
    known = np.r_[first[:27], second[:3]]
    model = KernelLabelPropagation(two.graph, kernel="diffusion:5", how="propagation")
    balanced, plain = (
        clone(model).set_params(balance=balance).fit(known, two.labels[known]).predict(range(400))
        for balance in (True, False)
    )
    assert (balanced == 1).mean() > 2 * (plain == 1).mean()


def test_many_labelled_nodes(monkeypatch):
    """Columns of some of them stand for all, and all labels are used."""
    whole = KernelLabelPropagation(BLOCKS.graph, **FAST)
    known = np.r_[TRAIN, SPLIT.validation]
    monkeypatch.setattr(module, "MAX_NODES", 80)
    for how in ("propagation", "svm", "kriging"):
        model = clone(whole).set_params(how=how).fit(known, NAMES[known])
        assert model.score(TEST, NAMES[TEST]) > 0.85
    few = clone(whole).fit(known[:80], NAMES[known[:80]])
    assert (few.probabilities_ != model.probabilities_).any()


def test_directed_graphs_other_normalisations_and_walks():
    directed = nx.DiGraph()
    directed.add_nodes_from(CLUB)  # rows are in the order in which nodes come
    directed.add_weighted_edges_from(
        (a, b, 1 + (a < b)) for u, v in CLUB.edges for a, b in ((u, v), (v, u))
    )
    for graph, options in (
        (directed, {}),
        (CLUB, {"normalization": "rw"}),
        (CLUB, {"estimate": "walks", "n_walks": 64}),
        (CLUB, {"method": "auto"}),
    ):
        model = KernelLabelPropagation(graph, **FAST, **options).fit(KNOWN, PARTIES[KNOWN])
        assert model.score(np.arange(34), PARTIES) > 0.8
        assert (model.method_ == "walks") == ("estimate" in options)


def test_all_kernels_are_compared_on_directed_graphs():
    model = KernelLabelPropagation(CLUB.to_directed(), how="propagation", normalization="rw")
    model.fit(KNOWN, PARTIES[KNOWN])
    assert {each["kernel"] for each in model.candidates_} == set(module.GRID)


def test_searches_over_nodes():
    known = np.r_[TRAIN, SPLIT.validation]
    model = KernelLabelPropagation(BLOCKS.graph, how="propagation")
    grid = {"kernel": ["diffusion:0.01", "diffusion:5"]}
    search = GridSearchCV(model, grid, cv=NodeKFold(3)).fit(known, NAMES[known])
    assert search.best_params_["kernel"] == "diffusion:5"
    chance = np.random.default_rng(0).permutation(NAMES[known])
    model = KernelLabelPropagation(BLOCKS.graph, **FAST)
    assert cross_val_score(model, known, chance, cv=NodeKFold(3)).mean() < 0.6


BAD_LABELS = [
    *(["a"], [["a", "b"], ["c"]], ["a", "a"], [0.5, 1.5], ["a", None], [1.0, np.nan]),
    *(np.array([1, "a"], object), ["a", 1]),
]
BOTH = ["Mr. Hi", "Officer"]
BAD_VALIDATION = [
    *(5, [1, 2, 3], ([4, 4], BOTH), ([4], BOTH), ([4], [1]), ([0], ["Mr. Hi"])),
    *(([4], ["Mrs. Hi"]), ([5, 99], BOTH), ([], [])),
]


def test_bad_labels_and_bad_validation_are_refused():
    for y in BAD_LABELS:
        with pytest.raises(grfpp.InputError) as error:
            KernelLabelPropagation(CLUB).fit([0, 1], y)
        assert error.value.argument == "y"
    for validation in BAD_VALIDATION:
        with pytest.raises(grfpp.InputError) as error:
            KernelLabelPropagation(CLUB).fit(KNOWN, PARTIES[KNOWN], validation=validation)
        assert error.value.argument == "validation"


@pytest.mark.parametrize("mark", [-1, -1.0, "-1", "", "nan", np.nan, None])
def test_labels_of_unknown_nodes_are_refused(mark):
    text, unknown = isinstance(mark, str), np.arange(34) > 7
    classes = ["a", "b"] if text else [1, 2]
    y = [mark if here else classes[node % 2] for node, here in enumerate(unknown)]
    with pytest.raises(grfpp.InputError, match="found 26 of 34") as error:
        KernelLabelPropagation(CLUB).fit(np.arange(34), y)
    assert error.value.argument == "y"
    assert "leave unknown nodes out" in error.value.advice


@pytest.mark.parametrize("classes", [(-1, 1), (-2, -1, 0), ("-1", "1")])
def test_minus_one_can_be_a_class(classes):
    y = [classes[node % len(classes)] for node in KNOWN]
    assert KernelLabelPropagation(CLUB, **FAST).fit(KNOWN, y).classes_.tolist() == sorted(classes)


def test_lengths_that_differ_are_told_and_what_is_not_fitted():
    with pytest.raises(grfpp.InputError, match="must be 8 labels") as error:
        KernelLabelPropagation(CLUB).fit(KNOWN, PARTIES[:6])
    assert (error.value.argument, "found 6" in error.value.problem) == ("y", True)
    with pytest.raises(NotFittedError):
        KernelLabelPropagation(CLUB).predict([1])


class TestEstimator(NodeEstimatorCase):
    FITTED = (
        *("classes_", "graph_", "kernel_", "how_", "setting_", "held_out_score_", "method_"),
        *("held_out_loss_", "candidates_", "temperature_", "bias_", "lapse_", "probabilities_"),
        *("reached_", "n_features_in_"),
    )
    BAD = {"how": "magic", "balance": 2, "n_splits": 1, "normalization": "max"}
    BAD["kernel"] = [[], 5, None, [5]]

    def make(self, **parameters):
        return KernelLabelPropagation(**{"graph": CLUB, **FAST, **parameters})

    def fit(self, estimator):
        return estimator.fit(KNOWN[:, None], PARTIES[KNOWN].tolist())

    def result(self, fitted):
        return fitted.predict_proba(np.arange(34))


def test_small_and_odd_graphs():
    for graph, y in ((sp.csr_array((3, 3)), [1, 2]), (nx.path_graph(2), [1, 2]), (CLUB, [*"abc"])):
        with pytest.warns(grfpp.errors.InputWarning, match="labels to hold out"):
            model = KernelLabelPropagation(graph).fit(range(len(y)), y)
        assert model.predict_proba([1]).shape == (1, len(y))
        np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1)


@pytest.mark.parametrize("how", ["auto", "propagation", "svm", "kriging"])
def test_one_label_a_class_is_learned_from_and_not_held_out(how):
    with pytest.warns(grfpp.errors.InputWarning, match="labels to hold out"):
        model = KernelLabelPropagation(CLUB, how=how).fit([0, 33], PARTIES[[0, 33]])
    assert model.predict([0, 33]).tolist() == PARTIES[[0, 33]].tolist()
    assert model.predict_proba([0, 33]).max(axis=1).min() > 0.503
    assert model.score(np.arange(34), PARTIES) > 0.9
    assert model.kernel_ == module.DEFAULT
    assert (model.temperature_, model.candidates_) == (1, [])
    assert np.isnan(model.held_out_score_)


def test_a_class_alone_is_not_judged_by():
    path = nx.path_graph(4)
    with pytest.warns(grfpp.errors.InputWarning, match="labels to hold out"):
        model = KernelLabelPropagation(path).fit([0, 1, 2], ["a", "b", "b"])
    assert model.predict([0, 2, 3]).tolist() == ["a", "b", "b"]
    # Two other classes tell enough.
    names = np.append(PARTIES[KNOWN], "alone")
    third = KernelLabelPropagation(CLUB).fit(np.append(KNOWN, 16), names)
    assert third.held_out_score_ > 0.7


def test_kernels_that_are_only_tried_do_not_warn():
    walked = {"estimate": "walks", "how": "propagation"}
    with pytest.warns(RuntimeWarning, match="relative error"):
        KernelLabelPropagation(CLUB, kernel="diffusion:80", **walked).fit(KNOWN, PARTIES[KNOWN])
    kernels = ["diffusion:1", "diffusion:80"]
    model = KernelLabelPropagation(CLUB, kernel=kernels, **walked).fit(KNOWN, PARTIES[KNOWN])
    assert model.kernel_ == grfpp.Diffusion(1.0)


def test_kriging_is_left_out_or_refused_where_the_kernel_is_no_covariance():
    with pytest.raises(grfpp.InputError) as error:
        KernelLabelPropagation(CLUB, kernel="cosine:3", how="kriging").fit(KNOWN, PARTIES[KNOWN])
    assert error.value.argument == "kernel"
    model = KernelLabelPropagation(CLUB, kernel="cosine:3").fit(KNOWN, PARTIES[KNOWN])
    assert {each["how"] for each in model.candidates_} == {"propagation", "svm"}


def test_where_products_take_long_labels_are_held_out_one_by_one(monkeypatch):
    known = np.r_[TRAIN, SPLIT.validation]
    model = KernelLabelPropagation(BLOCKS.graph, kernel="diffusion:5", how="propagation")
    folds = clone(model).fit(known, NAMES[known])
    columns, product = [], label_rules.KernelProducts.product
    monkeypatch.setattr(
        label_rules.KernelProducts,
        "product",
        lambda self, number, vectors, *tol: (
            columns.append(vectors.shape[1]) or product(self, number, vectors, *tol)
        ),
    )
    monkeypatch.setattr(module, "MAX_WORK_GIVEN", 0)
    monkeypatch.setattr(module, "MIN_PROBED", 100)
    single = clone(model).fit(known, NAMES[known])
    assert columns == [3, 1]
    assert 0.5 < single.temperature_ / folds.temperature_ < 2
    assert (single.predict(range(400)) == folds.predict(range(400))).mean() > 0.98


@pytest.mark.parametrize("kernel", ["diffusion:5", "diffusion:20"])
def test_labels_held_out_one_by_one_are_about_as_often_right_as_without_them(kernel):
    graph, labels = block_model(800, 8, 12.0, 0.6, n_parts=1, seed=1)
    known = label_rules.LabelledNodes(np.arange(800), labels, 8)
    choice = KernelLabelPropagation(graph, kernel=kernel)._choose()
    products = label_rules.KernelProducts(graph, [choice])
    rule, rng = label_rules.Rule("propagation", "masses", True), np.random.default_rng(0)
    found = label_rules.probe_propagation(products, [rule], known, rng)[0][0]
    K, Y = dense(kernel, graph), np.eye(8)[labels]
    masses = (K @ Y).sum(axis=0) - K.sum(axis=0)[:, np.newaxis] * Y
    others = (K - np.diag(K.diagonal())) @ Y / masses
    assert abs(found.accuracy - (others.argmax(axis=1) == labels).mean()) < 0.25


def test_a_choice_keeps_to_its_budget(monkeypatch):
    work = 1.5 * len(BLOCKS.graph.indices) * 3 * 20
    monkeypatch.setattr(module, "MAX_WORK", work)
    model = KernelLabelPropagation(BLOCKS.graph).fit(TRAIN, NAMES[TRAIN])
    kernels = [each["kernel"] for each in model.candidates_]
    assert grfpp.Diffusion(1.0) in kernels
    assert module.GRID[-1] not in kernels
    assert {each["how"] for each in model.candidates_} == {"propagation"}
    assert model.score(TEST, NAMES[TEST]) > 0.85


@pytest.mark.filterwarnings("ignore:fewer than two classes")
@pytest.mark.parametrize("count", [1, 2])
def test_few_labels_a_class_on_dense_weighted_graphs(count):
    ours, others = [], []
    for seed in range(300, 304):
        graph, labels = contacts(seed)
        order = np.random.default_rng(seed).permutation(len(labels))
        known = np.concatenate([order[labels[order] == c][:count] for c in np.unique(labels)])
        hidden = np.setdiff1d(order, known)
        model = KernelLabelPropagation(graph).fit(known, labels[known])
        poisson = poisson_learning(graph.adjacency, known, labels[known], labels.max() + 1)
        ours.append(model.score(hidden, labels[hidden]))
        others.append((poisson[hidden] == labels[hidden]).mean())
    assert np.mean(ours) > np.mean(others)
