"""What the cost model says of graphs that no machine here holds."""

from __future__ import annotations

from grfpp_lab.studies.distributed.model import Machine, Work

#: What makers say of them: physical cores, memory, network.
MACHINES = (
    Machine("r7i.48xlarge (96 cores, 1.5 TB, 50 Gbit/s)", 96, 1.5e12, 50e9 / 8),
    Machine("u7i-6tb.112xlarge (224 cores, 6 TB, 100 Gbit/s)", 224, 6e12, 100e9 / 8),
)
#: Steps a second and thread on graphs far larger than any cache, and seconds of a local query.
STEPS_A_SECOND, QUERY_SECONDS = 1.0e7, 1.0e-3
#: Entries of a row of a factor of exp(W) with 144 steps; `costs` finds them on scale-free graphs.
ROW_ENTRIES = 130.0
#: Share of a machine's memory that may be taken.
_GRANTED = 0.6


def tell() -> None:
    """Print a table for a few graphs and numbers of machines."""
    print("\nPredictions: exp(W), degree 2, one worker process a machine; graphs on disk")
    print(
        f"assumed: {STEPS_A_SECOND:.0e} steps a second and core, {ROW_ENTRIES:.0f} entries a row "
        f"of a factor, {1e3 * QUERY_SECONDS:g} ms a local query"
    )
    for n_nodes, n_edges in ((1e8, 1e9), (1e9, 1e10), (1e9, 1e11)):
        for machine in MACHINES:
            for number in (16, 64):
                print(f"{n_nodes:.0e} nodes, {n_edges:.0e} edges, {number} x {machine.name}")
                print("  " + described(n_nodes, n_edges, machine, number))


def described(n_nodes: float, n_edges: float, machine: Machine, number: int) -> str:
    """One line."""
    work = Work(n_nodes, 2 * n_edges, ROW_ENTRIES, on_disk=True)
    threads = number * machine.n_cores
    fixed = work.layout_bytes + work.graph_bytes
    each = fixed + work.held_bytes / number + 2 * 8 * n_nodes
    top_k = QUERY_SECONDS * n_nodes / threads
    local = f"nearest nodes of all: {top_k / 60:.0f} min, {work.graph_bytes / 1e9:,.0f} GB mapped"
    if each > _GRANTED * machine.memory:
        return (
            f"an estimate does not fit: {each / 1e9:,.0f} GB a machine, of which "
            f"{work.layout_bytes / 1e9:,.0f} to walk, and {_GRANTED * machine.memory / 1e9:,.0f} "
            f"may be taken; {local}"
        )
    walking = work.walking_seconds(threads, STEPS_A_SECOND)
    exchange = work.exchanged_bytes(number) / number / machine.network
    product = work.product_bytes(number, 1) / number / machine.network
    return (
        f"{each / 1e9:,.0f} GB a machine; walking {walking:,.0f} s, transposing {exchange:,.0f} s, "
        f"a product {product:,.0f} s a column; {local}"
    )
