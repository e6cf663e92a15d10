import pytest


@pytest.fixture(autouse=True)
def one_thread():
    """Threads wait for each other longer than matrices of this size take."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
