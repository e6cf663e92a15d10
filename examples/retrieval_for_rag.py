"""Passages for a question, by personalised PageRank on a knowledge graph of entities and passages.

A graph as retrieval systems build it: passages mention entities, and entities have relations. A
question gives weighted entities; the passages where a surfer from them is found most are what the
language model reads. `LocalKernel` answers from the neighbourhood of the question; igraph, where
it is installed, solves for all nodes.

    python examples/retrieval_for_rag.py --nodes 100000
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from time import perf_counter

import numpy as np
import scipy.sparse as sp

import grfpp

TOP, ALPHA = 20, 0.5  # HippoRAG's damping factor is 0.5


def knowledge_graph(n_nodes: int, rng: np.random.Generator) -> tuple[sp.csr_array, np.ndarray]:
    """Weights of the edges, and which nodes are passages; topics share entities and passages."""
    n_entities = n_nodes // 2
    topic = np.sort(rng.integers(0, max(1, n_nodes // 200), n_nodes - n_entities))
    first = np.arange(topic.max() + 1) * n_entities // (topic.max() + 1)
    width = n_entities // (topic.max() + 1)
    passages = n_entities + np.repeat(np.arange(n_nodes - n_entities), 8)  # eight mentions each
    # Most mentions are of the passage's topic, popular entities first; some are of any.
    near = first[np.repeat(topic, 8)] + (width * rng.random(len(passages)) ** 2).astype(int)
    far = (n_entities * rng.random(len(passages)) ** 3).astype(int)
    mentioned = np.where(rng.random(len(passages)) < 0.8, near, far)
    relations = rng.integers(0, n_entities, (2, n_entities))
    rows = np.concatenate([passages, relations[0]])
    columns = np.concatenate([mentioned, relations[1]])
    weights = rng.uniform(0.5, 1.5, len(rows))
    half = sp.coo_array((weights, (rows, columns)), (n_nodes, n_nodes)).tocsr()
    return (half + half.T).tocsr(), np.arange(n_nodes) >= n_entities


def questions(n_nodes: int, n: int, rng: np.random.Generator) -> Iterator[dict[int, float]]:
    """Five entities each, weighted by how well they match the question."""
    for _ in range(n):
        center = rng.integers(0, n_nodes // 2 - 50)
        yield {int(center + i): float(rng.uniform(0.2, 1.0)) for i in rng.choice(50, 5, False)}


def main() -> None:
    """Answer questions and compare with igraph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=10)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    weights, is_passage = knowledge_graph(options.nodes, rng)
    asked = list(questions(options.nodes, options.questions, rng))

    graph = grfpp.Graph(weights)
    near = grfpp.LocalKernel(graph.normalized("rw"), grfpp.PersonalizedPageRank(ALPHA), seed=0)
    near.top_k(seeds=asked[0], k=TOP, among=is_passage)  # compiles, and chooses the budget
    began = perf_counter()
    found = [near.top_k(seeds=question, k=TOP, among=is_passage)[0] for question in asked]
    ours = (perf_counter() - began) / len(asked)
    print(f"{graph}: {1e3 * ours:.2f} ms a question")
    print("the first one reads passages", found[0].tolist())

    with suppress(ImportError):
        import igraph

        upper = sp.triu(weights).tocoo()
        network = igraph.Graph(options.nodes, np.stack([upper.row, upper.col], axis=1))
        overlaps, began = [], perf_counter()
        for question, mine in zip(asked, found, strict=True):
            reset = np.zeros(options.nodes)
            reset[list(question)] = list(question.values())
            ranks = network.personalized_pagerank(
                damping=1 - ALPHA, reset=reset.tolist(), weights=upper.data.tolist()
            )
            theirs = np.argsort(-np.where(is_passage, ranks, 0.0))[:TOP]
            overlaps.append(len(np.intersect1d(mine, theirs)) / TOP)
        seconds = (perf_counter() - began) / len(asked)
        print(f"igraph: {1e3 * seconds:.0f} ms, {seconds / ours:.0f} times as long; ", end="")
        print(f"the same top {TOP}: {np.mean(overlaps):.3f}")


if __name__ == "__main__":
    main()
