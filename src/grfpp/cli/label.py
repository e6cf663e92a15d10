"""`grfpp label`: from the labels of some nodes to those of the others.

Labels are predicted by a kernel of the graph. Kernel, width and rule are chosen by cross-validation
on the known labels, which also calibrates the probabilities: of nodes with 0.8, about 8 in 10
should be right. grfpp estimate --help lists the kernels.

Example commands:
  grfpp label papers.gml --labels-from field --output labels.csv
  grfpp label papers.txt --labels known.csv --hold-out 0.2
  grfpp label papers.graphml --labels-from field --kernel diffusion:20 --json
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from grfpp._checks import probability
from grfpp.cli import console, options, results
from grfpp.cli.tables import read_rows
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.files import read_attribute

_AUTO = "auto"
#: Number of classes whose sizes are shown, so that they fit on one line.
_N_SHOWN = 8


@options.command
@options.option("--labels-from", metavar="ATTRIBUTE")
@options.path_option("--labels", metavar="FILE.csv")
@options.output_option()
@options.kernel_option(_AUTO, "-k")
@options.how_option(_AUTO, "propagation", "svm", "kriging", default=_AUTO)
@options.option("--hold-out", type=float, default=0.0)
@options.seed_option
@options.graph_options
@options.shows_result
def label(
    *,
    file: options.GraphFile,
    labels_from: str | None,
    labels: Path | None,
    output: Path | None,
    kernel: str,
    how: str,
    hold_out: float,
    seed: int,
) -> results.Result:
    """Predict the labels of nodes from those of some nodes.

    Reads a graph in which some nodes have a label, and predicts the most probable label of the
    others, with its probability.

    Parameters
    ----------
    labels_from
        The attribute of nodes in a .gml or .graphml file that holds the labels.
    labels
        A table with a node and its label on each line, in place of --labels-from.
    output
        Write label and probability of each node that had no label.
    kernel
        The kernel; auto chooses one by held-out labels.
    how
        K @ Y, a support-vector machine, kriging, or the best of them on held-out labels.
    hold_out
        First hide this share of the labels, and report the accuracy of their prediction.
    seed
        Of the folds, and of the labels to hide.
    """
    if labels_from is None and labels is None:
        raise InputError("or --labels-from must be given", argument="labels")
    if labels_from is not None and labels is not None:
        raise InputError("and --labels-from are both given", argument="labels", advice="pass one")
    share = probability(hold_out, "hold_out", below_one=True)
    with console.status(f"reading {file.path}"):
        source = file.read()
        if labels is not None:
            known = read_labels(labels, source)
            check_labels(known, f"--labels {labels}", source.n_nodes)
        else:
            known = attribute_labels(file.path, str(labels_from), source.n_nodes)
    nodes = np.array(list(known), np.int64)
    values = np.array(list(known.values()))

    from grfpp.tasks.labels import KernelLabelPropagation, score_held_out

    model = KernelLabelPropagation(source, kernel=kernel, how=how, random_state=seed)
    result = results.Result()
    held_out = None
    if share:
        with result.timed("hold out", "predicting labels held out"):
            held_out = score_held_out(model, nodes, values, share, seed)
    with result.timed("predict", "choosing and predicting"):
        model.fit(nodes, values)

    unknown = np.setdiff1d(np.arange(source.n_nodes), nodes)
    probabilities = model.probabilities_[unknown]
    predicted = model.classes_[probabilities.argmax(axis=1)].tolist()
    confidence = probabilities.max(axis=1, initial=0.0).tolist()
    names = [results.node_names(source)[node] for node in unknown.tolist()]
    rows = zip(names, predicted, confidence, strict=True)
    results.write_csv(output, ["node", "label", "probability"], rows)

    classes = model.classes_.tolist()
    result.add_graph(file.path, source)
    text = f"{len(nodes):,} known, {len(classes)} different ones"
    result.add("labels", text, n_labelled=len(nodes), classes=classes)
    chosen = {"kernel": repr(model.kernel_), "how": model.how_, "setting": model.setting_}
    result.add("kernel", "{kernel}, {how} ({setting})".format(**chosen), **chosen, seed=seed)
    score, text = None, "not known: too few labels to hold some out"
    if model.candidates_:
        score = model.held_out_score_
        text = f"{100 * score:.1f} % of labels held out to choose by"
    result.add("right", text, held_out_score=score, held_out=held_out)
    if held_out is not None:
        text = f"{100 * held_out['accuracy']:.1f} % of {held_out['n']:,} labels are right"
        error = held_out["calibration_error"]
        result.add("held out", f"{text}; the probabilities are {error:.3f} off")
    sizes = [f"{name} {predicted.count(name):,}" for name in classes[:_N_SHOWN]]
    more = ", ..." if len(classes) > _N_SHOWN else ""
    answer = {"nodes": list(map(results.json_name, names)), "labels": predicted}
    text = f"{len(predicted):,} nodes: {', '.join(sizes)}{more}"
    result.add("predicted", text, **answer, probabilities=confidence)
    n_unreached = int((~model.reached_[unknown]).sum())
    result.add(n_unreached=n_unreached, output=output)
    if n_unreached:
        text = f"at {n_unreached:,} nodes, which no label reaches: the shares of classes"
        result.add("no answer", text)
    result.add_time(**{name: f"to {name}" for name in result.seconds})
    result.add_file(output)
    return result


def attribute_labels(path: Path, attribute: str, n_nodes: int) -> dict[int, str]:
    """The labels in an attribute of the nodes of a file, by node index, where they have it."""
    values = enumerate(read_attribute(path, attribute))
    labels = {node: str(value) for node, value in values if value is not None}
    check_labels(labels, f"--labels-from {attribute} of {path}", n_nodes)
    return labels


def check_labels(labels: dict[int, str], option: str, n_nodes: int) -> None:
    """Refuse labels that are too few to be learned from, or to be compared with."""
    n, n_classes = len(labels), len(set(labels.values()))
    if n_classes < 2 or (n == n_classes and n > max(2, n_nodes // 2)):
        problem = "must give at least two different labels, and some to several nodes, found "
        problem += f"{n_classes} different ones at {n} of {n_nodes} nodes"
        raise InputError(problem, argument=option)


def read_labels(path: Path, graph: Graph) -> dict[int, str]:
    """The labels in a table, by node index; nodes without text have none.

    The first line holds the names of the columns if its first cell is not the name of a node.
    """
    rows = read_rows(path, graph.names, "labels", "label")
    for node, cells in rows.items():
        if any(cells[1:]):
            problem = f"{path} must have two columns, a node and its label, found {cells} after "
            problem += f"node {shown(results.node_names(graph)[node])}"
            advice = "leave other columns out, such as an index that pandas wrote"
            raise InputError(problem, argument="labels", advice=advice)
    return {node: cells[0] for node, cells in rows.items() if cells[0]}
