"""``--dask``: the cluster that a command works on."""

from __future__ import annotations

from asyncio import run
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import Parameter, signature
from typing import Annotated, Any

from grfpp.cli import options
from grfpp.errors import InputError, shown
from grfpp.imports.optional import require

#: Seconds to wait for a scheduler.
_PATIENCE = 10
#: More processes than any machine has use for.
_MOST_WORKERS = 1024

_DASK = Annotated[
    str | None,
    options.optional(
        "Work on a Dask cluster: its scheduler's address, or local:N for N processes here. The "
        "result is the same.",
        "ADDRESS|local:N",
        "--dask",
    ),
]


def with_cluster(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option ``--dask``, in place of its parameter `client`.

    That is a ``distributed.Client`` as long as the command runs, or ``None``.
    """

    def called(**values: Any) -> None:
        with connected(values.pop("client")) as client:
            command(**values, client=client)

    called.__doc__ = command.__doc__
    called.__signature__ = signature(command, eval_str=True)  # type: ignore[attr-defined]  # any function has one
    chosen = {"dask": Parameter("dask", Parameter.KEYWORD_ONLY, default=None, annotation=_DASK)}
    return options.in_place_of("client", chosen, lambda values: values["dask"])(called)


@contextmanager
def connected(place: str | None) -> Iterator[Any]:
    """A client of the cluster that ``--dask`` names, as long as the block runs; else ``None``."""
    if place is None:
        yield None
        return
    dask = require("distributed", "--dask")
    if place.startswith("local:"):
        number = place.removeprefix("local:")
        if not number.isdecimal() or not 1 <= int(number) <= _MOST_WORKERS:
            raise InputError(
                f"--dask local:N needs a number of processes from 1 to {_MOST_WORKERS}, found "
                f"{shown(place)}"
            )
        from grfpp.distributed.cluster import NO_STEALING

        with (
            require("dask").config.set(NO_STEALING),
            dask.LocalCluster(
                n_workers=int(number), threads_per_worker=1, processes=True, dashboard_address=":0"
            ) as cluster,
            dask.Client(cluster) as client,
        ):
            yield client
        return
    try:
        run(_reach(dask, place))
        client = dask.Client(place, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"--dask {place}: no scheduler answers there ({reason}); start one with 'dask "
            "scheduler', or use local:N"
        ) from None
    with client:
        yield client


async def _reach(dask: Any, place: str) -> None:
    """Fail where no scheduler answers. A client that fails would try on in the background."""
    security = dask.Security().get_connection_args("client")
    comm = await import_module("distributed.comm").connect(place, timeout=_PATIENCE, **security)
    await comm.close()


def cluster_fact(client: Any) -> list[tuple[str, str]]:
    """Where a command has worked, for people."""
    if client is None:
        return []
    threads = client.nthreads()
    workers = "1 worker" if len(threads) == 1 else f"{len(threads)} workers"
    return [("cluster", f"{workers} with {sum(threads.values())} threads in all")]


def cluster_document(client: Any) -> dict[str, int] | None:
    """The same for programs."""
    if client is None:
        return None
    threads = client.nthreads()
    return {"n_workers": len(threads), "n_threads": sum(threads.values())}
