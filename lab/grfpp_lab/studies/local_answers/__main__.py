"""Local answers beside their peers: nearest nodes, blocks, and a process at a graph on disk.

``python -m grfpp_lab.studies.local_answers`` prints what was measured, what was asked for, and
whether that is met. Peers run in the same process: scipy, scikit-network, networkx, igraph where it
is installed. Graphs of up to ten million nodes are made in a temporary folder, or in that of
``--folder``, where they stay; the largest takes 2.5 GB of memory to make and 5 GB to compare with
exact rows. Nodes and walks have a seed that no setting was chosen with: ``--settle`` prints what
budgets were chosen from, on other graphs.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grfpp.warmup import warmup
from grfpp_lab.graphs import rmat
from grfpp_lab.studies.local_answers import asking, blocks, process
from grfpp_lab.studies.local_answers.asking import print_section

PARTS = ("enron", "skewed", "sizes", "million", "blocks", "process", "cold")
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="local_answers", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--folder", type=Path, help="where graphs on disk are, or are made")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="nodes of these graphs")
    parser.add_argument(
        "--nodes", type=int, default=24, help="to compare with exact rows; on email-Enron 4 times"
    )
    parser.add_argument("--scale", type=int, default=18, help="bits of the R-MAT graph's nodes")
    parser.add_argument("--block-nodes", type=int, default=1_000_000)
    parser.add_argument("--block-rows", type=int, default=1000)
    parser.add_argument("--settle", action="store_true", help="budgets on other graphs")
    options = parser.parse_args(arguments)
    warmup()
    if options.settle:
        for title, graph in asking.graphs().items():
            print_section(title, asking.lines(graph, asking.BUDGETS, options.nodes))
        return
    verdicts = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if "enron" in options.parts:
            title, graph = asking.enron()
            n_nodes, words = 4 * options.nodes, f"{title}, PageRank with alpha {asking.ALPHA}"
            lines = asking.diffusion(graph, n_nodes)
            verdicts += print_section(f"{title}, {graph.n_nodes:,} nodes, exp(W)", lines)
            verdicts += print_section(words, asking.pagerank_enron(graph, n_nodes))
        if "skewed" in options.parts:
            graph = rmat(options.scale, 9 << options.scale)
            title = f"PageRank on an R-MAT graph, {graph.n_nodes:,} nodes, {graph.n_edges:,} edges"
            verdicts += print_section(title, asking.skewed(graph, 4 * options.nodes))
        if "sizes" in options.parts:
            found = asking.run(folder, options.sizes, options.nodes)
            verdicts += print_section(
                "scale-free graphs, memory-mapped, top 10", asking.lines_sizes(found)
            )
        if "million" in options.parts:
            n_nodes = min(1_000_000, max(options.sizes))
            lines = asking.pagerank(folder, n_nodes, options.nodes)
            verdicts += print_section(f"PageRank on a scale-free graph of {n_nodes:,} nodes", lines)
        if "blocks" in options.parts:
            for case in blocks.cases(options.block_nodes, options.block_rows):
                title = f"block of {len(case.nodes):,} of {case.W.n_nodes:,} nodes: {case.title}"
                verdicts += print_section(title, blocks.run(case))
        n_nodes = max(options.sizes)
        for part, measure, title in (
            ("process", process.run, f"a fresh process at a map of {n_nodes:,} nodes, exp(W)"),
            ("cold", process.run_cold, f"a map of {n_nodes:,} nodes that is on disk alone, exp(W)"),
        ):
            if part in options.parts:
                path, budget = asking.map_path(folder, n_nodes), asking.QUESTIONS["exp(W)"].budget
                verdicts += print_section(title, measure(path, asking.SEED, budget))
    met = sum(verdict.met for verdict in verdicts)
    print(f"\n{met} of {len(verdicts)} met")


if __name__ == "__main__":
    main()
