"""Sizes of the laboratory's data sets, for `grfpp datasets NAME`."""

from grfpp_lab.datasets.graphs import load_shapes
from grfpp_lab.datasets.images import load_cifar10, load_mnist
from grfpp_lab.datasets.peptides import load_peptide_splits, load_peptides
from grfpp_lab.datasets.planetoid import load_planetoid


def count(name: str, *, download: bool) -> dict[str, int | float]:
    """Load a data set and count what it has."""
    if name.startswith("planetoid"):
        data = load_planetoid(name, download=download)
        sizes = {"nodes": data.graph.n_nodes, "edges": data.graph.n_edges}
        parts = {part: len(getattr(data, part)) for part in ("train", "validation", "test")}
        return {**sizes, "classes": int(data.labels.max()) + 1, **parts}
    if name == "peptides":
        peptides = load_peptides(download=download)
        return {"molecules": len(peptides), "functions": peptides.labels.shape[1]}
    if name == "peptide-splits":
        rows = load_peptide_splits(download=download)
        return {"train": len(rows.train), "val": len(rows.val), "test": len(rows.test)}
    if name == "cifar10":
        images = load_cifar10(download=download)
        return {"images": len(images), "classes": len(images.classes)}
    if name == "mnist":
        digits, others = load_mnist("train", download=download), load_mnist("test")
        return {"train": len(digits), "test": len(others), "classes": len(digits.classes)}
    train, test = load_shapes("train", download=download), load_shapes("test")
    nodes = [mesh.graph.n_nodes for mesh in (*train.values(), *test.values())]
    return {
        "meshes": len(nodes),
        "classes": len(train),
        "fewest nodes": min(nodes),
        "most nodes": max(nodes),
    }
