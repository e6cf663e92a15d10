"""The nearest nodes on scale-free graphs of several sizes, memory-mapped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from grfpp_lab.studies.local_answers import peers
from grfpp_lab.studies.local_answers.asking import (
    ALPHA,
    N_TIMED,
    PRECISE_PAGERANK,
    QUESTIONS,
    SEED,
    Found,
    drawn,
    mapped,
    ours,
    peer_answers,
    precisions,
)
from grfpp_lab.studies.local_answers.rows import Lines, Measured, Verdict


class Size(NamedTuple):
    """What was found on a graph of one size."""

    n_nodes: int
    found: dict[str, Found]
    precision: dict[str, float]


def run(folder: Path, sizes: Sequence[int], n_asked: int = 24) -> list[Size]:
    """All questions on scale-free graphs of several sizes, memory-mapped.

    Times of all sizes are taken one after the other, in several rounds: what disturbs the machine
    disturbs all.
    """
    graphs = {n: mapped(folder, n) for n in sizes}
    best: dict[int, dict[str, Found]] = {n: {} for n in sizes}
    for _ in range(3):
        for n, graph in graphs.items():
            for name, question in QUESTIONS.items():
                again = ours(graph, question, drawn(n, N_TIMED), drawn(n, n_asked), SEED)
                before = best[n].get(name, again)
                best[n][name] = Found(
                    min(before.seconds, again.seconds),
                    min(before.batched, again.batched),
                    again.nodes,
                )
    results = []
    for n, graph in graphs.items():
        answers = {name: (QUESTIONS[name].kernel, found.nodes) for name, found in best[n].items()}
        results.append(Size(n, best[n], precisions(graph, answers, drawn(n, n_asked))))
    return results


def lines(results: Sequence[Size]) -> Lines:
    """What is said of them."""
    told: list[Measured | Verdict | str] = []
    for name, question in QUESTIONS.items():
        for size in results:
            found = size.found[name]
            note = f"batched {1e3 * found.batched:.3f} ms, budget {question.budget:,.0f}"
            what = f"{name}, {size.n_nodes:,} nodes"
            told.append(Measured(what, found.seconds, size.precision[name], note))
    last = results[-1]
    ms = {name: 1e3 * found.seconds for name, found in last.found.items()}
    share = last.precision
    growth = last.found["exp(W)"].seconds / results[0].found["exp(W)"].seconds
    told.append(
        Verdict(
            f"exp(W), {last.n_nodes:,} nodes: under 1 ms, precision at least 0.98",
            f"{ms['exp(W)']:.3f} ms, {share['exp(W)']:.3f}",
            ms["exp(W)"] < 1 and share["exp(W)"] >= 0.98,
        )
    )
    told.append(
        Verdict(
            f"exp(W): time within 2 times from {results[0].n_nodes:,} to {last.n_nodes:,} nodes",
            f"{growth:.2f} times",
            growth <= 2,
        )
    )
    for name in ("exp(5 W)", "PageRank"):
        told.append(
            Verdict(
                f"{name}, {last.n_nodes:,} nodes: under 50 ms, precision at least 0.95",
                f"{ms[name]:.2f} ms, {share[name]:.3f}",
                ms[name] < 50 and share[name] >= 0.95,
            )
        )
    return told


def pagerank(folder: Path, n_nodes: int, n_asked: int = 24) -> Lines:
    """PageRank on a larger graph beside scikit-network's power iteration."""
    graph, question = mapped(folder, n_nodes), PRECISE_PAGERANK
    nodes = drawn(n_nodes, n_asked)
    own = ours(graph, question, drawn(n_nodes, N_TIMED), nodes, SEED)
    rivals = {
        "scikit-network": peer_answers(peers.scikit_network(graph, ALPHA), nodes[:6]),
        "ten products alone": peer_answers(peers.bare_steps(graph, ALPHA), nodes[:6]),
    }
    answers = {"own": (question.kernel, own.nodes)} | {
        name: (question.kernel, found.nodes) for name, found in rivals.items()
    }
    right = precisions(graph, answers, nodes)
    ratio = rivals["scikit-network"].seconds / own.seconds
    note = f"batched {1e3 * own.batched:.3f} ms, budget {question.budget:,.0f}"
    return [
        Measured("LocalKernel.top_k(node, 10)", own.seconds, right["own"], note),
        *(Measured(name, found.seconds, right[name]) for name, found in rivals.items()),
        Verdict(
            "at least 100 times as fast as scikit-network, precision at least 0.98",
            f"{ratio:.0f} times, {right['own']:.3f} ({right['scikit-network']:.3f} there)",
            ratio >= 100 and right["own"] >= 0.98,
        ),
    ]
