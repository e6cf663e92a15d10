"""The compiled loop of independent walks. It takes plain arrays and trusts them.

Walkers of a batch of rows advance in lock-step, in short separate passes (choose the slot; fetch
the next word; multiply the load; log and compact), so that the processor overlaps cache misses.
Lengths are drawn first, so each walker has its place in the log, and the log of a row is
contiguous. A small hash table per row then sums the deposits by column.
"""

from __future__ import annotations

from typing import Any

from numba import uint64

from grfpp._compiled import compiled
from grfpp.walks.hash_table import probe, table_shift
from grfpp.walks.pool_arrays import DONE, FREE, NO_OUTPUT, NO_ROOM
from grfpp.walks.steps import (
    choose_slot,
    degree_of,
    draw_length,
    next_draw,
    node_stream,
    prefetch,
    walk_stream,
)
from grfpp.walks.transition import DEGREE_BITS

#: Fills the log of a walk that ended at a node without edges.
_NO_NODE = -1


@compiled()
def sample_block(
    law: Any, key: Any, n_walks: int, rows: Any, walkers: Any, log: Any, table: Any, out: Any
) -> Any:
    """Walk from `rows` until they are done or a buffer is too small for the next one.

    `law` is the arrays of a `WalkLayout`, a `LengthTable` and the deposits; `walkers` and `log` are
    `WalkerBuffers` and a `StepLog`; `table` is a hash table and a list of its used cells. Results
    go to `out`: ends of rows, columns, values.

    Returns the number of rows, the number of entries, and an exit code such as `DONE`.
    """
    graph, lengths, deposits = law
    words, slots, factors, nodes, potential, inverse_potential = graph
    out_end, out_column, out_value = out
    state, here, position, last, slot, load, length = walkers
    log_end, log_word, log_load = log
    all_cells, reached = table
    weighted = len(factors) > 0
    n_out = 0
    done = 0
    while done < len(rows):
        # Draw the lengths of as many rows as fit into the buffers.
        first = done
        n_walkers = 0
        fill = 0
        reason = DONE
        while done < len(rows):
            row = rows[done]
            before_walkers = n_walkers
            before_fill = fill
            word = words[row]
            if degree_of(word):
                if n_walkers + n_walks > len(here):
                    break
                node_key = node_stream(key, row)
                for walk in range(n_walks):
                    walk_state = walk_stream(node_key, walk)
                    n_steps = draw_length(walk_state, lengths)
                    if n_steps > 0:
                        state[n_walkers] = walk_state
                        here[n_walkers] = word
                        position[n_walkers] = fill
                        last[n_walkers] = fill + n_steps
                        length[n_walkers] = n_steps
                        n_walkers += 1
                        fill += n_steps
            too_long = fill > len(log_word)
            too_many = n_out + fill + (done - first + 1) > len(out_column)
            if too_long or too_many or done - first >= len(log_end):
                reason = NO_ROOM if too_long else NO_OUTPUT
                n_walkers = before_walkers
                fill = before_fill
                break
            log_end[done - first] = fill
            done += 1
        if done == first:
            return done, n_out, reason

        # Walk.
        active = n_walkers
        if weighted:
            for a in range(active):
                load[a] = 1.0
        while active > 0:
            for a in range(active):
                walk_state = next_draw(state[a])
                state[a] = walk_state
                slot[a] = choose_slot(here[a], walk_state)
            if weighted:
                for a in range(active):
                    here[a] = slots[2 * slot[a]]
                    load[a] *= factors[2 * slot[a] + 1]
                for a in range(active):
                    log_load[position[a]] = load[a]
            else:
                for a in range(active):
                    here[a] = slots[slot[a]]
            n_active = 0
            for a in range(active):
                word = here[a]
                following = position[a] + 1
                end = last[a]
                log_word[following - 1] = word
                continues = following < end
                if continues and degree_of(word) == 0:
                    continues = False
                    for rest in range(following, end):
                        log_word[rest] = _NO_NODE
                state[n_active] = state[a]
                here[n_active] = word
                position[n_active] = following
                last[n_active] = end
                if weighted:
                    load[n_active] = load[a]
                n_active += continues
            active = n_active

        # Sum the deposits of each row by node, in the order of walks and steps.
        at = 0
        walker = 0
        for b in range(first, done):
            row = rows[b]
            end = log_end[b - first]
            shift = table_shift(end - at + 1)
            cells = all_cells[: uint64(1) << (uint64(64) - shift)]
            reached[0] = probe(cells, shift, words[row], 0)
            cells[reached[0]].key = words[row]
            cells[reached[0]].value = deposits[0] * n_walks
            n_reached = 1
            while at < end:
                stop = at + length[walker]
                walker += 1
                k = 0
                while at < stop:
                    k += 1
                    word = log_word[at]
                    if word == _NO_NODE:
                        at = stop
                        break
                    amount = deposits[k]
                    if weighted:
                        amount *= log_load[at]
                    at += 1
                    cell = probe(cells, shift, word, 0)
                    if cells[cell].key == FREE:
                        prefetch(nodes, word >> DEGREE_BITS)
                        cells[cell].key = word
                        cells[cell].value = amount
                        reached[n_reached] = cell
                        n_reached += 1
                    else:
                        cells[cell].value += amount
            scale = 1.0 if weighted else potential[row]
            for number in range(n_reached):
                cell = cells[uint64(reached[number])]
                word = cell.key
                value = cell.value
                cell.key = FREE
                if not weighted:
                    value *= scale * inverse_potential[degree_of(word)]
                out_column[n_out + number] = nodes[word >> DEGREE_BITS]
                out_value[n_out + number] = value
            n_out += n_reached
            out_end[b] = n_out
    return done, n_out, DONE
