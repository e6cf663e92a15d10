"""Entries and blocks of a kernel, from one side or from both.

On undirected graphs the pool of ``j`` estimates a column as well:
``Q^b[v, j] = Q^b[j, v] · share(v) / share(j)``, where ``Q`` is ``W`` in the measure of the masses.
A *state* is a pair of a node and a step. A *side* lists states with amounts; an entry of the kernel
is the sum of products over the states that two sides have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int64, uint64

from grfpp._compiled import compiled, inlined
from grfpp.linalg.csr import Block
from grfpp.local.loops import seeded_pool
from grfpp.local.plan import LocalPlan
from grfpp.local.queries import first_output, in_parts, joined, pool_rows, work_buffers
from grfpp.local.seeds import Seeds
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.hash_table import clear, home_cell, probe
from grfpp.walks.pool import inverse_potential
from grfpp.walks.pool_arrays import DONE, FREE, NO_OUTPUT, NO_ROOM, hash_table
from grfpp.walks.sampling import filled
from grfpp.walks.steps import prefetch

#: Largest ratio of the pools of two sides to those of one; up to it two sides have less error.
_MAX_POOL_RATIO = 16
#: Largest number of states of the right side in memory: about 1.5 GB with its hash table.
_MAX_STATES = 1 << 24
#: Low bits of a state that hold the step; the others hold the node.
_STEP_BITS = 20
#: Distance, in states, at which table cells are prefetched, which hides the latency of memory.
_AHEAD = 12


def kernel_block(
    plan: LocalPlan, rows: IntArray | Seeds, columns: IntArray, n_threads: int = 1
) -> FloatArray:
    """``K[rows, columns]``, a function of the plan and the nodes.

    On undirected graphs pools start on both sides, unless one side has far more nodes.
    """
    result = np.empty((len(rows), len(columns)))
    if not result.size:
        return result
    few = min(result.shape)
    if not plan.weights.is_reversible or sum(result.shape) > _MAX_POOL_RATIO * few:
        _read_rows(plan, rows, columns, result, n_threads)
        return result
    size = max(1, int(_MAX_STATES / (2 * plan.budget + 64)))
    for start in range(0, len(columns), size):
        part = slice(start, start + size)
        _meet(plan, rows, columns[part], result[:, part], n_threads)
    return result


def _meet(
    plan: LocalPlan, rows: IntArray | Seeds, columns: IntArray, result: FloatArray, n_threads: int
) -> None:
    """Products of the left sides of rows with the right sides of columns."""
    right = list(in_parts(lambda part: side(plan.right, part), plan, columns, n_threads))
    products = _products_with(joined(right) if len(right) > 1 else right[0])
    _fill(result, plan, rows, n_threads, lambda part: products(side(plan, part)))


def _read_rows(
    plan: LocalPlan, rows: IntArray | Seeds, columns: IntArray, result: FloatArray, n_threads: int
) -> None:
    """Fill `result` from sampled rows of the smaller set of nodes."""
    if isinstance(rows, np.ndarray) and len(rows) > len(columns) and plan.weights.is_reversible:
        transpose = np.empty((len(columns), len(rows)))
        _read_rows(plan, columns, rows, transpose, n_threads)
        result[:] = transpose.T * plan.weights.ratio_to_transpose(plan.graph, rows, columns)
        return
    n = len(columns)
    products = _products_with(Block._make([np.arange(1, n + 1), columns, np.ones(n)]))

    def read(part: IntArray) -> FloatArray:
        block = pool_rows(plan, part)
        return products(block._replace(columns=block.columns.astype(np.int64)))

    _fill(result, plan, rows, n_threads, read)


def _fill(
    result: FloatArray,
    plan: LocalPlan,
    rows: IntArray | Seeds,
    n_threads: int,
    work: Callable[[Any], FloatArray],
) -> None:
    done = 0
    for part in in_parts(work, plan, rows, n_threads):
        result[done : done + len(part)] = part
        done += len(part)


def side(plan: LocalPlan, nodes: IntArray | Seeds) -> Block:
    """States and amounts of the pools of `nodes`, for the left or the right side of a product.

    The left side also takes sets of seeds of positive weight.

    - Any series: a state is a node and a step. ``Σ_k α_k Q^k = Σ_k α_k Q^⌈k/2⌉ Q^⌊k/2⌋``: the left
      side has ``x_a`` at step ``a``, the right one ``α_{2a} y_a + α_{2a-1} y_{a-1}``.
    - A geometric series: the left side is only pushed. By
      ``G[i, j] = deposits[j] + Σ_v r[v] G[v, j]`` its deposits are stored at step 1, its residual
      ``r`` at step 0, where the right side has its rows.
    """
    seeds = Seeds.of_nodes(nodes)
    series, residual = plan.half_series, plan.residual

    def call(done: int, out: Any) -> Any:
        law = (plan.read_layout, series, plan.series.scale, plan.key)
        with work_buffers() as work:
            buffers = work.of(plan.room, 0 if residual else len(series.share))
            return write_side(law, residual, seeds[done:].arrays, buffers, plan.is_right, out)

    result = filled(call, len(seeds), first_output(plan, np.int64), plan.enlarge_room)
    plan.require_read()
    return result


def _products_with(right: Block) -> Callable[[Block], FloatArray]:
    """A function that multiplies left sides with a right side, which is sorted by state once."""
    n, n_columns = len(right.columns), len(right.end)
    cells, shift = hash_table(2 << max(3, n.bit_length()))
    first = np.zeros(n + 2, np.int64)
    columns, amounts = np.empty(n, np.int32), np.empty(n)
    table, by_state = (cells, shift), (first, columns, amounts)
    _sort_states(tuple(right), table, np.empty(n, np.int64), by_state)

    def products(left: Block) -> FloatArray:
        result = np.zeros((len(left.end), n_columns))
        _add_products(tuple(left), table, by_state, result)
        return result

    return products


@inlined
def _put(states: Any, amounts: Any, n_out: Any, node: Any, step: Any, amount: Any) -> Any:
    states[uint64(n_out)] = (int64(node) << _STEP_BITS) | int64(step)
    amounts[uint64(n_out)] = amount
    return n_out + 1


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_side(law: Any, residual: Any, seeds: Any, buffers: Any, is_right: Any, out: Any) -> Any:
    """Write one side for each set of seeds to `out`: ends of rows, states, amounts.

    Weights of seeds are positive. `series` has the steps of a half series, and the deposits of the
    whole one. Returns the number of rows, the number of states, and an exit code such as `DONE`.
    """
    graph, series, scale, key = law
    end, states, amounts = out
    trace, trace_end, deposits = buffers.trace, buffers.trace_end, series.deposits
    n_out = int64(0)
    for b in range(len(seeds[0])):
        n_used, row_scale = seeded_pool(
            graph, series, residual, scale, key, seeds, b, buffers, not is_right
        )
        # Numba compiles one branch, by the type of `residual`.
        n_states = 2 * trace_end[len(trace_end) - 1] if residual is None else 2 * n_used + 1
        if n_used < 0:
            return b, n_out, NO_ROOM
        if n_out + n_states > len(states):
            clear(buffers.cells, buffers.reached, n_used)
            return b, n_out, NO_OUTPUT
        start = buffers.reached[0]
        row = int64(start.node)
        inverse = inverse_potential(graph, row, int64(start.degree))
        factor = inverse / start.share if is_right else row_scale
        if residual is None:
            first = int64(0)
            for step in range(len(trace_end)):
                for a in range(first, trace_end[step]):
                    reached = buffers.reached[uint64(trace[uint64(a)].number)]
                    amount = factor * trace[uint64(a)].mass
                    if not is_right:
                        n_out = _put(states, amounts, n_out, reached.node, step, amount)
                        continue
                    amount *= reached.share
                    for k in range(2 * step, min(2 * step + 2, len(deposits))):
                        if deposits[k] != 0.0:
                            left_step, product = (k + 1) // 2, deposits[k] * amount
                            n_out = _put(states, amounts, n_out, reached.node, left_step, product)
                first = trace_end[step]
        else:
            if is_right:
                n_out = _put(states, amounts, n_out, row, 1, inverse)
            for number in range(n_used):
                reached = buffers.reached[uint64(number)]
                amount = factor * reached.total
                if is_right:
                    amount *= reached.share
                    n_out = _put(states, amounts, n_out, reached.node, 0, amount)
                    continue
                n_out = _put(states, amounts, n_out, reached.node, 1, amount)
                if reached.ahead > 0.0:
                    residual_amount = factor * reached.ahead
                    n_out = _put(states, amounts, n_out, reached.node, 0, residual_amount)
        clear(buffers.cells, buffers.reached, n_used)
        end[b] = n_out
    return len(seeds[0]), n_out, DONE


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def _sort_states(side: Any, table: Any, numbers: Any, by_state: Any) -> None:
    """Number the states in the order of their first appearance, and sort the entries by number.

    The entries of number ``p`` are then those from ``first[p]`` to ``first[p + 1]``.
    """
    end, states, amounts = side
    cells, shift = table
    first, columns, sorted_amounts = by_state
    n_known = int64(0)
    for a in range(len(states)):
        ahead = states[uint64(min(a + _AHEAD, len(states) - 1))]
        prefetch(cells, int64(home_cell(ahead, shift)))
        cell = cells[probe(cells, shift, states[uint64(a)], 0)]
        if cell.key == FREE:
            cell.key = states[uint64(a)]
            cell.value = n_known
            n_known += 1
        numbers[uint64(a)] = int64(cell.value)
        first[uint64(cell.value) + uint64(2)] += 1
    for number in range(2, n_known + 2):
        first[uint64(number)] += first[uint64(number - 1)]
    begin = int64(0)
    for row in range(len(end)):
        for a in range(begin, end[row]):
            number = uint64(numbers[uint64(a)] + 1)
            at = uint64(first[number])
            first[number] += 1
            columns[at] = row
            sorted_amounts[at] = amounts[uint64(a)]
        begin = end[row]


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def _add_products(left: Any, table: Any, by_state: Any, result: Any) -> None:
    """Add the products over common states to `result`, row by row."""
    end, states, amounts = left
    cells, shift = table
    first, columns, right_amounts = by_state
    begin = int64(0)
    for row in range(len(end)):
        last = end[row] - 1
        for a in range(begin, last + 1):
            ahead = states[uint64(min(a + _AHEAD, last))]
            prefetch(cells, int64(home_cell(ahead, shift)))
            cell = cells[probe(cells, shift, states[uint64(a)], 0)]
            if cell.key == FREE:
                continue
            number = uint64(cell.value)
            for at in range(first[number], first[number + uint64(1)]):
                product = amounts[uint64(a)] * right_amounts[uint64(at)]
                result[row, uint64(columns[uint64(at)])] += product
        begin = end[row]
