"""The model."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from grfpp_lab.experiments.gps import data as gps_data


def test_models_of_one_seed_have_the_same_first_weights():
    """With and without an encoding: only what reads the inputs differs, by its shape."""
    import torch

    from grfpp_lab.experiments.gps.training import GraphTransformer

    options = {"channels": 16, "n_layers": 2, "n_heads": 2, "of_nodes": True}
    states = []
    for pe_dim in (0, 8):
        torch.manual_seed(3)
        states.append(GraphTransformer(4, 3, pe_dim=pe_dim, **options).state_dict())
    plain, encoded = states
    shared = [name for name in plain if name.startswith(("layers.", "head."))]
    assert len(shared) > 20
    for name in shared:
        assert torch.equal(plain[name], encoded[name]), name


@pytest.fixture(scope="module")
def easy():
    """Graphs whose class is seen in their encodings, up to a sign, and nowhere else."""
    import torch

    from grfpp._imports import require

    generator = torch.Generator().manual_seed(0)
    found = []
    for number in range(120):
        pe = torch.randn(6, 2, generator=generator) * (0.1 if number % 2 else 3.0)
        ends = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
        found.append(
            require("torch_geometric").data.Data(
                x=torch.ones(6, 1),
                edge_index=torch.cat([ends, ends.flip(0)], dim=1),
                y=torch.tensor([number % 2]),
                pe=pe,
            )
        )
    return found


def learned(graphs, **changes):
    from grfpp_lab.experiments.gps.training import Learning, learn

    learning = Learning(channels=16, n_layers=1, n_heads=2, epochs=6, batch_size=8, rate=1e-2)
    task = gps_data.Task("easy", "accuracy", 2)
    options = {"flip_signs": False, "seed": 0, **changes}
    return learn(task, graphs[:60], graphs[60:90], graphs[90:], learning, **options)


def test_what_stands_in_the_encoding_is_learned_and_only_from_there(easy):
    assert learned(easy).test >= 0.9
    assert learned(easy, flip_signs=True).test >= 0.9
    without = []
    for graph in easy:
        without.append(graph.clone())
        del without[-1].pe
    assert learned(without).test == 0.5


def test_training_leaves_torch_as_it_was(easy):
    import torch

    threads, state = torch.get_num_threads(), torch.get_rng_state()
    learned(easy, seed=1)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_seeds_and_signs_count_in_training(easy):
    plain = learned(easy)
    assert learned(easy) == plain
    assert learned(easy, seed=1).train_loss != plain.train_loss
    assert learned(easy, flip_signs=True).train_loss != plain.train_loss


def test_the_metrics():
    from grfpp_lab.experiments.gps.training import score

    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(50, 4)), rng.integers(4, size=50)
    found = scores.argmax(axis=1)
    assert score(scores, truth, "accuracy") == pytest.approx(np.mean(found == truth))
    assert score(scores, truth, "weighted accuracy") == pytest.approx(
        balanced_accuracy_score(truth, found)
    )
    # A question that all or none answer with yes is not asked.
    asked = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]])
    ranked = np.array([[4.0, 0, 0], [3, 0, 0], [2, 0, 0], [1, 0, 0]])
    assert score(ranked, asked, "AP") == pytest.approx((1 + 2 / 3) / 2)
