"""Sparse features of an estimate, made by the workers: blocks of rows of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.chain import Chain, Link
from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.factor import ClusterFactor
from grfpp.distributed.tasks import RowBlock
from grfpp.estimate.signed_chain import SignedChain, feature_sides
from grfpp.typing import FloatArray, IntArray


class FeatureBlock(NamedTuple):
    """Features of some nodes, both sides."""

    left: RowBlock
    right: RowBlock


@dataclass(frozen=True)
class Halves:
    """Futures of the halves ``X Yᵀ`` of a chain, in the same blocks of rows."""

    cluster: Cluster
    ranges: list[range]
    left: list[Any]
    right: list[Any]

    @classmethod
    def of(cls, cluster: Cluster, chain: Chain) -> Halves:
        """Submit what makes them; nothing comes here."""
        X, Y = chain.halves()
        ranges = cluster_factor(X.links[0]).ranges
        return cls(cluster, ranges, _products(cluster, X), _products(cluster, Y))

    def diagonal(self) -> FloatArray:
        """The diagonal of the chain."""
        parts = self.cluster.gather(self.cluster.map(tasks.diagonal, self.left, self.right))
        return np.concatenate(parts)

    def features(
        self, walked: SignedChain, low_rank: tuple[FloatArray, FloatArray] | None
    ) -> list[Any]:
        """Futures of `FeatureBlock`, one for each block of rows."""
        rule = walked.sign, walked.symmetrized
        beside: list[Any] = [None] * len(self.ranges)
        if low_rank is not None:
            beside = [tuple(each[rows] for each in low_rank) for rows in map(_slice, self.ranges)]
        return self.cluster.map(
            feature_block, self.left, self.right, [rule] * len(self.ranges), beside
        )


def cluster_factor(link: Link) -> ClusterFactor:
    """The factor of a link of a chain that is on a cluster."""
    assert isinstance(link.factor, ClusterFactor)
    return link.factor


def _products(cluster: Cluster, chain: Chain) -> list[Any]:
    """Blocks of the rows of a chain: each asks the workers for the rows that it reaches."""
    first, *others = chain.links
    _, blocks = cluster_factor(first).sides(transposed=first.transposed)
    for link in others:
        edges, parts = cluster_factor(link).sides(transposed=link.transposed)
        wanted = cluster.map_beside(tasks.reached, blocks, [edges] * len(blocks))
        taken: list[list[Any]] = [
            cluster.map_beside(tasks.take_reached, [part] * len(blocks), wanted, [j] * len(blocks))
            for j, part in enumerate(parts)
        ]
        following = [list(each) for each in zip(*taken, strict=True)]
        blocks = cluster.map_beside(tasks.multiply, blocks, following)
    return blocks


def feature_block(
    x: RowBlock, y: RowBlock, rule: tuple[int, bool], beside: tuple[FloatArray, FloatArray] | None
) -> FeatureBlock:
    """Features from rows of both halves; on a worker."""
    sides = feature_sides(x.matrix, y.matrix, *rule)
    if beside is not None:
        A, B = beside
        sides = sp.hstack([sides[0], A], format="csr"), sp.hstack([sides[1], B], format="csr")
    return FeatureBlock(*map(RowBlock, sides))


def side_of(block: FeatureBlock, number: int) -> RowBlock:
    """One side."""
    return block[number]


def entries_of(block: FeatureBlock) -> IntArray:
    """Entries of both sides."""
    return np.array([each.matrix.nnz for each in block], dtype=np.int64)


def _slice(rows: range) -> slice:
    return slice(rows.start, rows.stop)
