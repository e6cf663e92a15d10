"""Lists of nodes in all forms that users hold."""

import numpy as np
import pytest
import torch

from grfpp.errors import InputError
from grfpp.torch.arguments import node_indices


@pytest.mark.parametrize(
    "nodes",
    [
        *([0, 2], (0, 2), range(0, 3, 2), [0.0, 2.0]),
        *(np.array([0, 2], dtype=np.uint8), np.array([5, 0, 5, 2])[1::2]),
        torch.tensor([0, 2], dtype=torch.int32),
        torch.tensor([0.0, 2.0], dtype=torch.bfloat16, requires_grad=True),
    ],
)
def test_forms_of_the_same_nodes(nodes):
    found = node_indices(nodes, 3)
    assert found.dtype == torch.int64
    assert found.tolist() == [0, 2]
    assert [node_indices(given, 3).tolist() for given in (2, [])] == [[2], []]


@pytest.mark.parametrize("nodes", [[3], [-1], [0.5], [torch.inf], [True], ["a"], None, [0, [1]]])
def test_what_are_no_nodes(nodes):
    with pytest.raises(InputError, match="nodes must"):
        node_indices(nodes, 3)
