"""Pretend that the machine has next to no memory."""

from grfpp import _memory as memory


def only(monkeypatch, n_bytes):
    """Let `n_bytes` be all there is, small requests included."""
    monkeypatch.setattr(memory, "MAX_UNCHECKED_BYTES", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda: n_bytes)
