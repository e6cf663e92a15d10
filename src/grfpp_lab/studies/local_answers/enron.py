"""The nearest nodes on a real graph of 36,691 nodes, beside all that finds them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grfpp.graph import Graph
from grfpp.typing import IntArray
from grfpp_lab.studies.local_answers import peers
from grfpp_lab.studies.local_answers.asking import (
    ALPHA,
    ENRON_PAGERANK,
    N_TIMED,
    QUESTIONS,
    SEED,
    Found,
    Question,
    drawn,
    ours,
    peer_answers,
    precisions,
)
from grfpp_lab.studies.local_answers.peers import Peer
from grfpp_lab.studies.local_answers.rows import Lines, Measured, Verdict

_OWN = "LocalKernel.top_k(node, 10)"
_SKNETWORK = "scikit-network, PageRank"


class Rival(NamedTuple):
    """Another way: its name, how to prepare it, and whether it is so slow that few nodes do."""

    name: str
    make: Callable[[], Peer | None]
    slow: bool = False


class Compared(NamedTuple):
    """All ways to one question."""

    lines: list[Measured | Verdict | str]
    seconds: dict[str, float]
    precision: dict[str, float]


def run(graph: Graph, n_asked: int = 60) -> tuple[Lines, Lines]:
    """``exp(W)`` and PageRank, each beside its rivals."""
    return diffusion(graph, n_asked), pagerank(graph, n_asked)


def diffusion(graph: Graph, n_asked: int) -> Lines:
    """``exp(W)``."""
    question, W = QUESTIONS["exp(W)"], graph.normalized("sym")
    rivals = [
        Rival("scipy, four sparse Taylor terms", lambda: peers.sparse_taylor(W)),
        Rival("kernel.apply", lambda: peers.applied(W, question.kernel)),
    ]
    lines, seconds, right = _compared(graph, question, rivals, n_asked)
    ratios = [seconds[rival.name] / seconds[_OWN] for rival in rivals]
    bar = Verdict(
        "faster than both, precision at least 0.99",
        f"{ratios[0]:.1f} and {ratios[1]:.1f} times as fast, {right[_OWN]:.3f}",
        min(ratios) > 1 and right[_OWN] >= 0.99,
    )
    return [*lines, bar]


def pagerank(graph: Graph, n_asked: int) -> Lines:
    """Personalised PageRank."""
    rivals = [
        Rival(_SKNETWORK, lambda: peers.scikit_network(graph, ALPHA)),
        Rival("its ten products alone, by scipy", lambda: peers.bare_steps(graph, ALPHA)),
        Rival("networkx, pagerank", lambda: peers.networkx(graph, ALPHA), slow=True),
        Rival("igraph, PRPACK", lambda: peers.igraph(graph, ALPHA), slow=True),
    ]
    lines, seconds, right = _compared(graph, ENRON_PAGERANK, rivals, n_asked)
    ratio = seconds[_SKNETWORK] / seconds[_OWN]
    bar = Verdict(
        "at least 8 times as fast as scikit-network, precision at least 0.98",
        f"{ratio:.1f} times, {right[_OWN]:.3f}",
        ratio >= 8 and right[_OWN] >= 0.98,
    )
    return [*lines, bar]


def _compared(
    graph: Graph, question: Question, rivals: list[Rival], n_asked: int, n_slow: int = 8
) -> Compared:
    nodes = drawn(graph.n_nodes, n_asked)
    found: dict[str, Found] = {}
    missing = []
    for rival in rivals:
        peer = rival.make()
        if peer is None:
            missing.append(f"{rival.name}: not installed")
            continue
        some: IntArray = nodes[:n_slow] if rival.slow else nodes
        found[rival.name] = peer_answers(peer, some)
    own = ours(graph, question, drawn(graph.n_nodes, N_TIMED), nodes, SEED)
    found = {_OWN: own, **found}
    answers = {name: (question.kernel, each.nodes) for name, each in found.items()}
    right = precisions(graph, answers, nodes)
    note = f"batched {1e3 * own.batched:.3f} ms, budget {question.budget:,.0f}"
    lines: list[Measured | Verdict | str] = [
        Measured(name, each.seconds, right[name], note if name == _OWN else "")
        for name, each in found.items()
    ]
    return Compared([*lines, *missing], {name: each.seconds for name, each in found.items()}, right)
