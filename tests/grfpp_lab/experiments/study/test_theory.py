"""The lemma and the theorem: formula and plan."""

import numpy as np
from laboratory.error_rows import error_rows

from grfpp_lab.experiments.registry import EXPERIMENTS
from grfpp_lab.experiments.study import theory
from grfpp_lab.harness.experiment import Holds, Settings, Size


def test_the_formula_is_without_bias_and_knows_its_error():
    """On matrices with known moments: X = a + noise, E[XᵀX] known."""
    rng = np.random.default_rng(0)
    n, size = 3, 10.0
    scores, formula = [], []
    for _ in range(60):
        first, second = rng.standard_normal((2, 400, n, n)) + np.eye(n)
        measured = np.sum((first @ second) ** 2, axis=(1, 2)) / size - 1
        told = theory._formula(
            measured,
            theory._batch_means(first.transpose(0, 2, 1) @ first),
            theory._batch_means(second @ second.transpose(0, 2, 1)),
            size,
        )
        scores.append(told["difference"] / told["difference_error"])
        formula.append(told["formula"])
    moment = (n + 1) * np.eye(n)  # E[XᵀX] for unit noise around the identity
    expected = np.sum(moment**2) / size - 1
    assert abs(np.mean(formula) - expected) < 4 * np.std(formula, ddof=1) / np.sqrt(60)
    assert abs(np.mean(scores)) < 4 / np.sqrt(60)
    assert 0.7 < np.std(scores) < 1.4


def test_kernels_that_diverge_are_left_out_of_the_theorem():
    plain, wide = (
        {cell["kernel"] for cell in EXPERIMENTS["theory"].plan(Settings(Size.QUICK, 0, s)).cells}
        for s in (None, 2.0)
    )
    assert plain - wide == {"inverse-power:4:1"}


def lemma_row(measured, formula, spread=0.01, **more):
    return {
        "part": theory.LEMMA,
        "graph": "karate",
        "n_walks": 4,
        "error": measured,
        "standard_error": spread,
        "formula": formula,
        "difference": measured - formula,
        "difference_error": spread,
        **more,
    }


def test_lemma():
    true = theory.lemma_judge([lemma_row(0.2, 0.21), lemma_row(0.4, 0.39, n_walks=2)])
    assert true.holds is Holds.YES
    assert "measured over formula is 0.952 to 1.026 in 2 settings" in true.measured
    false = theory.lemma_judge([lemma_row(0.2, 0.21), lemma_row(0.5, 0.4, n_walks=2)])
    assert false.holds is Holds.NO
    assert "on Karate with 2 walks, is 10.0 standard errors (0.5 against 0.4)" in false.measured


def test_theorem():
    def rows(error):
        return error_rows(error, (1, 2, 4), part=theory.THEOREM, kernel="diffusion:1")

    true = theory.theorem_judge(rows(lambda graph, degree, n_walks: 1 / degree))
    assert true.holds is Holds.YES
    assert "MSE(4) below MSE(2) in 4 of 4, error × 0.50" in true.measured
    false = theory.theorem_judge(rows(lambda graph, degree, n_walks: abs(degree - 2.1)))
    assert false.holds is Holds.NO
    assert "MSE(2) below MSE(1) in 4 of 4" in false.measured
    assert "MSE(4) below MSE(2) in 0 of 4" in false.measured
