"""Memory and time of linear attention with a graph mask, by the number of tokens.

``python -m grfpp_lab.benchmark.attention_memory`` prints a table; each number of tokens is
measured in a process of its own, forward and backward.
"""

import argparse
import json
from collections.abc import Sequence
from math import isqrt
from typing import Any

from grfpp._memory import readable_bytes
from grfpp.errors import InputError
from grfpp_lab.benchmark.settings import LAW, WALKS
from grfpp_lab.benchmark.timing import peak_memory, timed
from grfpp_lab.harness.processes import call

TOKENS = (4096, 16384, 65536)
WAYS = ("multiply", "add")
#: Size of the attention layer that is measured.
EMBED_DIM, HEADS = 32, 2
N_WALKS = 8
TIMEOUT = 600.0


def measure(n_tokens: int, how: str, *, threads: int = 1) -> dict[str, Any]:
    """Peak memory and seconds of one pass forward and backward, in a process of its own.

    Parameters
    ----------
    n_tokens
        A square number: the tokens are the patches of a square picture.
    how
        ``"multiply"`` or ``"add"``, as for `LinearMaskedAttention`.
    threads
        Number of threads of torch.
    """
    if isqrt(n_tokens) ** 2 != n_tokens:
        raise InputError(f"the number of tokens must be a square, found {n_tokens}")
    request = {"n_tokens": n_tokens, "how": how, "threads": threads}
    function = "grfpp_lab.benchmark.attention_memory:one_pass"
    row: dict[str, Any] = call(function, request, timeout=TIMEOUT, threads=threads)
    return row


def one_pass(request: dict[str, Any]) -> dict[str, Any]:
    """One pass, in the process that `measure` starts."""
    import torch

    from grfpp.datasets import grid
    from grfpp.torch import LinearMaskedAttention, factored_mask

    torch.set_num_threads(request["threads"])
    torch.manual_seed(0)

    def attend(side: int) -> Any:
        """Everything that depends on the number of tokens: the mask, and attention with it."""
        options = {"termination": LAW, "walks": WALKS, "n_jobs": request["threads"]}
        mask = factored_mask(grid(side, side), n_walks=N_WALKS, **options)
        module = LinearMaskedAttention(EMBED_DIM, HEADS, mask, how=request["how"])
        x = torch.randn(1, side * side, EMBED_DIM)

        def work() -> None:
            module(x).square().sum().backward()

        return timed(work)[1], mask.n_entries

    attend(8)  # loads and compiles what the first call does
    with peak_memory() as peak:
        seconds, n_entries = attend(isqrt(request["n_tokens"]))
    return {**request, "peak_bytes": peak.n_bytes, "n_entries": n_entries, "seconds": seconds}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The measured rows, with the memory of a dense mask.

    Examples
    --------
    >>> print(table([{"n_tokens": 4096, "how": "add", "peak_bytes": 10**8, "seconds": 0.5}]))
    tokens  how         peak memory  bytes a token  seconds  a dense mask alone
      4096  add              100 MB          24414     0.50             67.1 MB
    """
    lines = ["tokens  how         peak memory  bytes a token  seconds  a dense mask alone"]
    for row in rows:
        n, peak = row["n_tokens"], row["peak_bytes"]
        lines.append(
            f"{n:>6}  {row['how']:<10}  {readable_bytes(peak):>11}  {peak / n:>13.0f}  "
            f"{row['seconds']:>7.2f}  {readable_bytes(4 * n * n):>18}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="attention_memory", description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=TOKENS, help="square numbers")
    parser.add_argument("--how", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    rows = [
        measure(n_tokens, how, threads=options.threads)
        for how in options.how
        for n_tokens in options.tokens
    ]
    print(json.dumps(rows, indent=1) if options.json else table(rows))


if __name__ == "__main__":
    main()
