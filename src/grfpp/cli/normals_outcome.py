"""What `grfpp interpolate` did, as text for people, as JSON for programs, and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grfpp.cli.outputs import write_csv, wrote

if TYPE_CHECKING:
    from grfpp.datasets import TriangleMesh
    from grfpp.tasks.nodes.normal_prediction import PredictedNormals


@dataclass(frozen=True)
class Outcome:
    """What the command did, to be told as text or as JSON."""

    path: Path
    mesh: TriangleMesh
    mask: float
    parameters: dict[str, Any]
    found: PredictedNormals
    seconds_read: float
    seconds_predict: float

    def facts(self, written: list[Path]) -> list[tuple[str, str]]:
        """Name and value of everything worth telling."""
        graph, task, p = self.mesh.graph, self.found.task, self.parameters
        if p["estimate"] == "exact":
            how = "exact"
        else:
            reused = ", reused (biased)" if p["reuse_walks"] else ""
            how = (
                f"stitching degree {p['degree']}, {p['n_walks']} walks{reused}, lengths "
                f"{p['termination']}, seed {p['random_state']}"
            )
        facts = [
            (
                "mesh",
                f"{self.path}: {graph.n_nodes:,} vertices, {graph.n_edges:,} edges, "
                f"{len(self.mesh.faces):,} faces",
            ),
            ("normals", f"{len(task.known):,} known, {len(task.hidden):,} hidden"),
            ("kernel", f"{p['kernel']}, sigma {p['sigma']:g}, {how}"),
        ]
        if self.found.n_unreached:
            cut_off = (
                f", {task.n_cut_off:,} of them in parts without a known one"
                if task.n_cut_off
                else ""
            )
            facts.append(
                (
                    "no answer",
                    f"at {self.found.n_unreached:,} hidden vertices, counted as cosine 0{cut_off}",
                )
            )
        facts += [
            ("cosine", f"{self.found.cosine:.4f}, mean over the hidden vertices"),
            (
                "time",
                f"{self.seconds_read:.2f} s reading, {self.seconds_predict:.2f} s predicting",
            ),
        ]
        return [*facts, *wrote(*written)]

    def document(self, written: list[Path]) -> dict[str, Any]:
        """The same for programs."""
        graph, task = self.mesh.graph, self.found.task
        own = ("random_state", "n_jobs")
        return {
            "mesh": {
                "path": str(self.path),
                "n_vertices": graph.n_nodes,
                "n_edges": graph.n_edges,
                "n_faces": len(self.mesh.faces),
            },
            "mask": self.mask,
            "seed": self.parameters["random_state"],
            **{name: value for name, value in self.parameters.items() if name not in own},
            "n_known": len(task.known),
            "n_hidden": len(task.hidden),
            "n_unreached": self.found.n_unreached,
            "n_cut_off": task.n_cut_off,
            "mean_cosine": self.found.cosine,
            "seconds": {"read": self.seconds_read, "predict": self.seconds_predict},
            "written": [{"path": str(path), "n_bytes": path.stat().st_size} for path in written],
        }


def write_table(path: Path, found: PredictedNormals, origin: list[int] | None) -> None:
    """A line a vertex; `origin` are the numbers that vertices have in their file."""
    task = found.task
    kind = dict.fromkeys(task.known.tolist(), "known") | dict.fromkeys(
        task.hidden.tolist(), "hidden"
    )
    lines = []
    columns = (task.normals.tolist(), found.predicted.tolist(), found.angles().tolist())
    for node, (true, predicted, angle) in enumerate(zip(*columns, strict=True)):
        state = kind.get(node, "none")
        shown = angle if state == "hidden" else ""
        number = node if origin is None else origin[node]
        lines.append([number, state, *true, *predicted, shown])
    header = ["vertex", "normal", "x", "y", "z", "predicted_x", "predicted_y", "predicted_z"]
    write_csv(path, [*header, "angle"], lines)
