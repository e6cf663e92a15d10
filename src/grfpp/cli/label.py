"""`grfpp label`: from the labels of some nodes to those of the others."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from grfpp.arguments import probability
from grfpp.cli import console, options
from grfpp.cli.outputs import check_output, graph_document, graph_fact, plain, write_csv, wrote
from grfpp.cli.reading import Reading, with_reading
from grfpp.cli.rows import labels_of
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.encodings import as_utf8
from grfpp.io.files import read_attribute, read_bytes
from grfpp.io.storage.paths import existing_file
from grfpp.kernels import kernel_from_spec

if TYPE_CHECKING:
    from grfpp.tasks.nodes.labels.estimator import KernelLabelPropagation

_AUTO = "auto"

#: Shown below the options.
NOTES = """
\b
Labels are propagated by a kernel of the graph. Which kernel, how wide, and how labels are read out
of it is chosen by labels that are held out in turn; so are the probabilities, which are meant as
they are: of nodes with 0.8, about 8 in 10 should be right. grfpp estimate --help lists the kernels.

\b
Examples:
  grfpp label papers.gml --labels-from field --output labels.csv
  grfpp label papers.txt --labels known.csv --hold-out 0.2
  grfpp label papers.graphml --labels-from field --kernel diffusion:20 --how svm --json
"""


@with_reading
def label(
    graph: options.GraphFile,
    *,
    labels_from: Annotated[
        str | None,
        options.optional(
            "The attribute of nodes in a .gml or .graphml file that holds the labels, where they "
            "have it.",
            "ATTRIBUTE",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        options.optional(
            "A table with a node and its label on each line, in place of --labels-from.", "FILE.csv"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        options.output("Write label and probability of each node that had no label."),
    ] = None,
    kernel: Annotated[
        str, options.kernel("The kernel; auto chooses one by labels held out.", "-k")
    ] = _AUTO,
    how: Annotated[
        Literal["auto", "propagation", "svm", "kriging"],
        options.option(
            "K @ Y, a support-vector machine, kriging, or the best of them on labels held out."
        ),
    ] = "auto",
    hold_out: Annotated[
        float,
        options.option(
            "Hide this share of the labels at first, and tell how many of them are predicted.", "X"
        ),
    ] = 0.0,
    seed: Annotated[int, options.option("Of what is held out.", "N", "--seed", min=0)] = 0,
    directed: options.Directed = False,
    reading: Reading,
    as_json: options.AsJson = False,
) -> None:
    """Predict the labels of nodes from those of some nodes.

    Reads a graph in which some nodes have a label, and gives the others the likeliest one, with its
    probability.
    """
    check_output(output, ".csv", others=[graph, labels])
    if (labels_from is None) == (labels is None):
        raise InputError(
            "the labels are in an attribute, --labels-from, or in a table, --labels: give one"
        )
    share = probability(hold_out, "--hold-out", below_one=True)
    function = kernel if kernel == _AUTO else kernel_from_spec(kernel)

    with console.status(f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        if labels is not None:
            given, where = read_labels(labels, source), f"--labels {labels}"
        else:
            attribute = read_attribute(graph, str(labels_from))
            given = {n: str(each) for n, each in enumerate(attribute) if each is not None}
            where = f"--labels-from {labels_from}"
    if len(set(given.values())) < 2:
        raise InputError(
            f"{where}: {len(given)} of the {source.n_nodes} nodes of {graph} have a label, and "
            "there must be two different ones"
        )
    if len(given) == len(set(given.values())) and len(given) > max(2, source.n_nodes // 2):
        raise InputError(
            f"{where}: each of the {len(given)} nodes of {graph} that have a label has one of its "
            f"own, such as {shown(next(iter(given.values())))}. These are names or measurements "
            "rather than labels; to learn from, nodes must share some"
        )
    nodes = np.array(list(given), np.int64)
    names = np.array(list(given.values()))

    from grfpp.tasks.nodes.labels.estimator import KernelLabelPropagation

    model = KernelLabelPropagation(source, kernel=function, how=how, random_state=seed)
    seconds: dict[str, float] = {}
    judged = None
    if share:
        with console.timed(seconds, "hold out", "predicting labels held out"):
            judged = _held_out(model, nodes, names, share, seed)
    with console.timed(seconds, "predict", "choosing and predicting"):
        model.fit(nodes, names)

    unknown = np.setdiff1d(np.arange(source.n_nodes), nodes)
    found = model.probabilities_[unknown]
    predicted = model.classes_[found.argmax(axis=1)].tolist()
    sure = found.max(axis=1, initial=0.0).tolist()
    called = [labels_of(source)[node] for node in unknown.tolist()]
    if output is not None:
        lines = [[*each] for each in zip(called, predicted, sure, strict=True)]
        write_csv(output, ["node", "label", "probability"], lines)

    n_unreached = int((~model.reached_[unknown]).sum())
    sizes = {str(name): predicted.count(name) for name in model.classes_.tolist()}
    listed = ", ".join(f"{name} {size:,}" for name, size in list(sizes.items())[:8])
    score = model.held_out_score_ if model.candidates_ else None
    facts = [
        graph_fact(graph, source),
        ("labels", f"{len(nodes):,} known, {len(model.classes_)} different ones"),
        ("kernel", f"{model.kernel_!r}, {model.how_} ({model.setting_})"),
        (
            "right",
            "not known: too few labels to hold some out"
            if score is None
            else f"{100 * score:.1f} % of labels held out to choose by",
        ),
    ]
    if judged is not None:
        facts.append(
            (
                "held out",
                f"{100 * judged['accuracy']:.1f} % of {judged['n']:,} labels are right; the "
                f"probabilities are {judged['calibration_error']:.3f} off",
            )
        )
    facts.append(
        ("predicted", f"{len(predicted):,} nodes: {listed}" + (", ..." if len(sizes) > 8 else ""))
    )
    if n_unreached:
        facts.append(
            (
                "no answer",
                f"at {n_unreached:,} nodes, which no label reaches: the shares of classes",
            )
        )
    facts.append(("time", ", ".join(f"{s:.2f} s to {what}" for what, s in seconds.items())))
    document = {
        "graph": graph_document(graph, source),
        "kernel": repr(model.kernel_),
        "how": model.how_,
        "setting": model.setting_,
        "seed": seed,
        "classes": [str(name) for name in model.classes_.tolist()],
        "n_labelled": len(nodes),
        "held_out_score": score,
        "held_out": judged,
        "n_unreached": n_unreached,
        "nodes": [plain(node) for node in called],
        "labels": [str(name) for name in predicted],
        "probabilities": sure,
        "seconds": seconds,
        "output": None if output is None else str(output),
    }
    console.tell([*facts, *wrote(output)], document, as_json)


def read_labels(path: Path, graph: Graph) -> dict[int, str]:
    """The labels in a table, by the places of their nodes; nodes without text have none.

    The first line may hold the names of the columns: it does where no node is called so.
    """
    text = as_utf8(read_bytes(existing_file(path), ".csv", str(path)), str(path)).decode()
    found: dict[int, str] = {}
    try:
        lines = list(csv.reader(text.splitlines(), strict=True))
    except csv.Error as error:
        raise InputError(f"--labels {path} is not a table: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if len(line) < 2:
            raise InputError(
                f"--labels {path}, line {number}: a node and its label are wanted, found "
                f"{shown(line[0])}"
            )
        name, written = line[0].strip(), line[1].strip()
        try:
            node = graph.names.written(name, f"--labels {path}, line {number}: nodes")
        except InputError:
            if number == 1:
                continue
            raise
        if node in found:
            raise InputError(f"--labels {path}, line {number}: {shown(name)} is there twice")
        if written:
            found[node] = written
    return found


def _held_out(
    model: KernelLabelPropagation, nodes: Any, names: Any, share: float, seed: int
) -> dict[str, Any]:
    """How well labels are predicted that are hidden, a share of each class."""
    from sklearn.base import clone

    from grfpp.tasks.nodes.labels.calibration import calibration_error

    rng = np.random.default_rng(seed)
    hidden = np.zeros(len(nodes), bool)
    for name in np.unique(names):
        members = np.flatnonzero(names == name)
        # One of each stays: what is never seen cannot be predicted.
        n_hidden = min(round(share * len(members)), len(members) - 1)
        hidden[rng.choice(members, n_hidden, replace=False)] = True
    if not hidden.any():
        raise InputError(f"--hold-out {share:g} of {len(nodes)} labels is none; hide more")
    tried = clone(model).fit(nodes[~hidden], names[~hidden])
    probabilities = tried.predict_proba(nodes[hidden])
    return {
        "n": int(hidden.sum()),
        "accuracy": float(tried.score(nodes[hidden], names[hidden])),
        "calibration_error": calibration_error(probabilities, names[hidden], tried.classes_),
    }
