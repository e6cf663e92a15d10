"""Run one peer: a request as JSON on stdin, the answer as JSON in the last line of stdout.

Start it with the Python of an environment that has the peers, as `make bench` does:
``.venv-bench/bin/python benchmarks/peers``. It does not import grfpp.
"""

from __future__ import annotations

import importlib
import json
import sys

#: What a request calls a peer, and the file that runs it.
PEERS = {
    "fast-graph-gp": "fast_graph_gp_sampler",
    "dense GP": "dense_gp",
    "fast-graph-gp regression": "fast_graph_gp_regression",
    "torch_cluster": "torch_cluster_walks",
    "PecanPy": "pecanpy_walks",
}


def main() -> None:
    """Answer the request on stdin; what goes wrong is told in the last line of stderr."""
    request = json.load(sys.stdin)
    try:
        answer = importlib.import_module(PEERS[request["peer"]]).run(request)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed in the peers' environment")
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
