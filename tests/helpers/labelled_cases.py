"""Small graphs with labels."""

import networkx as nx
import numpy as np
from small_graphs import irregular, weighted

from grfpp.tasks.graphs.labelled import LabelledGraph

WATER = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
CHAIN = LabelledGraph(nx.path_graph(4), ["H", "O", "O", "H"])
ODD = LabelledGraph(irregular(), np.arange(9) % 3)
HEAVY = LabelledGraph(weighted(), np.arange(9) // 4)
