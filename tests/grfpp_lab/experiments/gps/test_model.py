"""The model."""


def test_models_of_one_seed_have_the_same_first_weights():
    """With and without an encoding: only what reads the inputs differs, by its shape."""
    import torch

    from grfpp_lab.experiments.gps.model import GraphTransformer

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
