"""Write features to a folder of shards: on the workers where they see it, else from here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from grfpp.distributed.cluster import Cluster
from grfpp.distributed.features import FeatureBlock
from grfpp.io.shards import (
    HEADER,
    SIDES,
    ShardFormat,
    write_header,
    write_names,
    write_shard,
)
from grfpp.io.storage.atomic_folder import LOCK, atomic_folder


def save_shards(
    cluster: Cluster,
    folder: Path,
    format: ShardFormat,
    blocks: Sequence[Any],
    ranges: Sequence[range],
    *,
    made_by: Mapping[str, Any],
    names: npt.NDArray[Any] | None,
) -> None:
    """Write all blocks of features, whole or not at all."""
    with atomic_folder(folder, HEADER) as temporary:
        place = str(temporary.resolve())
        arguments = [[each] * len(ranges) for each in (place, format)]
        numbers = list(range(len(ranges)))
        starts = [rows.start for rows in ranges]
        if cluster.sees(f"{place}{os.sep}{LOCK}"):
            writing = cluster.map(write_block, blocks, numbers, starts, *arguments)
            written = cluster.gather(writing)
        else:
            found = cluster.one_by_one(blocks)
            written = list(map(write_block, found, numbers, starts, *arguments))
        facts: dict[str, Any] = {
            "file_format": format,
            "n_nodes": ranges[-1].stop,
            "n_columns": written[0]["n_columns"],
            "dtype": written[0]["dtype"],
            "made_by": made_by,
            "shards": [each["sides"] for each in written],
        }
        if names is not None:
            facts["names"] = write_names(temporary, format, names)
        write_header(temporary, facts)


def write_block(
    block: FeatureBlock, number: int, start: int, folder: str, format: ShardFormat
) -> dict[str, Any]:
    """Write both sides of some rows; on a worker. Written again, it is the same."""
    sides = {
        side: write_shard(folder, f"{side}-{number:05d}", format, start, part.matrix)
        for side, part in zip(SIDES, block, strict=True)
    }
    matrix = block.left.matrix
    return {"sides": sides, "n_columns": matrix.shape[1], "dtype": str(matrix.dtype)}
