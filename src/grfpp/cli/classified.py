"""What `grfpp classify` did, as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grfpp.cli.outputs import wrote

if TYPE_CHECKING:
    from grfpp.datasets import TUDataset
    from grfpp.tasks.graphs.nested import FoldScore

#: What is chosen in the folds.
SETTINGS = ("sigma", "n_walks", "n_eigenvalues")


@dataclass(frozen=True)
class Classified:
    """What the command did, to be told as text or as JSON."""

    data: TUDataset
    method: str
    features: str
    grid: Mapping[str, Sequence[Any]]
    scores: Sequence[FoldScore]
    seed: int
    seconds_features: float
    seconds_forests: float
    output: Path | None

    @property
    def accuracy(self) -> tuple[float, float]:
        """Mean and standard deviation over folds."""
        found = [score.accuracy for score in self.scores]
        return float(np.mean(found)), float(np.std(found))

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Names of columns, and a line a fold."""
        lines = [
            [score.fold, *score.chosen, round(score.inner, 6), round(score.accuracy, 6)]
            for score in self.scores
        ]
        return ["fold", *SETTINGS, "out_of_bag", "accuracy"], lines

    def document(self) -> dict[str, Any]:
        """Everything, in values that JSON can hold."""
        mean, deviation = self.accuracy
        header, lines = self.table()
        return {
            "dataset": self.data.name,
            "n_graphs": len(self.data),
            "n_classes": len(self.data.classes),
            "method": self.method,
            "features": self.features,
            "chosen_among": {name: list(values) for name, values in self.grid.items()},
            "seed": self.seed,
            "accuracy": mean,
            "standard_deviation": deviation,
            "folds": [dict(zip(header, line, strict=True)) for line in lines],
            "seconds": {"features": self.seconds_features, "forests": self.seconds_forests},
            "output": None if self.output is None else str(self.output),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Name and value of everything worth telling."""
        data, (mean, deviation) = self.data, self.accuracy
        n_nodes = sum(graph.n_nodes for graph in data.graphs) / len(data)
        facts = [
            (
                "data",
                f"{data.name}: {len(data):,} graphs of {n_nodes:.1f} nodes on average, "
                f"{len(data.classes)} classes",
            ),
            ("kernel", self.method),
            ("features", self.features),
            ("chosen", f"most often {self._usual()}"),
            ("folds", f"{len(self.scores)}, stratified, seed {self.seed}"),
            (
                "time",
                f"{self.seconds_features:.2f} s features, {self.seconds_forests:.2f} s forests",
            ),
            ("accuracy", f"{100 * mean:.1f} ± {100 * deviation:.1f} %, mean and sd over folds"),
        ]
        return [*facts, *wrote(self.output)]

    def _usual(self) -> str:
        """The value of each setting that was chosen in most folds."""
        usual = {}
        for name in SETTINGS:
            values = [getattr(score.chosen, name) for score in self.scores]
            usual[name] = max(dict.fromkeys(values), key=values.count)
        walks = f"{usual['n_walks']} walks, " if usual["n_walks"] else ""
        return f"sigma {usual['sigma']:g}, {walks}{usual['n_eigenvalues']} eigenvalues"
