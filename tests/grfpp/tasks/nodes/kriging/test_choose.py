"""Kernels and noises are chosen by what is held out."""

from functools import partial

import numpy as np
import pytest

import grfpp
from grfpp.datasets import grid
from grfpp.tasks.nodes.kriging.build import process_of
from grfpp.tasks.nodes.kriging.choose import Folds, KnownValues, choose, held_out_means
from grfpp.tasks.nodes.kriging.defaults import NOISES, default_kernels

GRAPH = grid(16, 16)
MAKE = partial(process_of, GRAPH)
RNG = np.random.default_rng(0)
KNOWN = np.sort(RNG.choice(256, size=60, replace=False))
SMOOTH = np.cos(np.add.outer(np.arange(16), np.arange(16)) / 5).ravel()


def data(field):
    values = field[KNOWN]
    return KnownValues(256, KNOWN, (values - values.mean())[:, None])


def squares(true, found):
    return np.square(true - found).sum(axis=1)


def chosen(field, kernels=None, noises=NOISES, seed=0):
    folds = Folds.of(len(KNOWN), 256, 1, seed)
    return choose(MAKE, kernels or default_kernels(), noises, data(field), squares, folds, seed)


def test_smooth_fields_choose_wide_kernels_and_rough_ones_noise():
    smooth = chosen(SMOOTH)
    rough = chosen(RNG.standard_normal(256), noises=(0.001, 0.1, 10.0))
    assert len(smooth.losses) == len(default_kernels()) * len(NOISES)
    assert smooth.setting.kernel.sigma2 > 2
    assert rough.setting.noise == 10.0
    assert smooth.losses[smooth.setting] == min(smooth.losses.values())


def test_what_is_held_out_takes_no_part():
    own = data(SMOOTH)
    folds = Folds.of(len(KNOWN), 256, 1, 3)
    process = MAKE(grfpp.RegularizedLaplacian(2))
    before = held_out_means(process, 0.1, own, folds)
    part = folds.held_out[0]
    own.values[part] += 100.0
    after = held_out_means(process, 0.1, own, folds)
    np.testing.assert_array_equal(after[0], before[0])
    assert np.abs(after[1] - before[1]).max() > 0.1


@pytest.mark.parametrize(("n_known", "n_parts"), [(2, 2), (9, 9), (57, 10)])
def test_parts_hold_every_known_node_once(n_known, n_parts):
    parts = Folds.of(n_known, 100, 3, 0).held_out
    assert len(parts) == n_parts
    assert sorted(np.concatenate(parts).tolist()) == list(range(n_known))


def test_large_graphs_hold_out_fewer_parts():
    parts = Folds.of(4_000, 10_000, 3, 0).held_out
    assert [len(part) for part in parts] == [400, 400]
    assert len(Folds.of(4_000, 20_000, 30, 0).held_out) == 1


def test_values_within_a_part_of_the_graph():
    own = data(SMOOTH)
    nodes = np.arange(100, 200)
    part = own.within(nodes)
    inside = (KNOWN >= 100) & (KNOWN < 200)
    assert part.n_nodes == 100
    np.testing.assert_array_equal(part.known, KNOWN[inside] - 100)
    np.testing.assert_array_equal(part.values, own.values[inside])
    assert own.within(np.arange(256)) is own


def test_there_is_nothing_to_choose_with_one_setting_or_one_node():
    (kernel,) = default_kernels()[:1]
    assert chosen(SMOOTH, [kernel], (0.1,)) == ((kernel, 0.1), {})
    one = KnownValues(256, np.array([4]), np.zeros((1, 1)))
    found = choose(MAKE, default_kernels(), NOISES, one, squares, Folds.of(1, 256, 1, 0), 0)
    assert found == ((default_kernels()[0], NOISES[0]), {})
