"""The trials of networks that compute, beside plain ones."""

from dataclasses import replace

import pytest
import torch

from benchmarks import computing
from benchmarks.computing import NETWORKS, PROBLEMS, Job, Options, calculations, jobs, one, seeded, totals
from nalm.tasks.lists import of_list


def test_every_problem_is_tried_with_every_network():
    made = jobs(Options(seeds=3))
    assert [(j.problem, j.network) for j in made] == [(p, n) for p in PROBLEMS for n in NETWORKS]


def test_graphs_of_the_test_have_five_times_as_many_nodes_and_edges_a_hundred_times_as_long():
    problem = PROBLEMS["shortest paths"]
    x, y = problem.test((1, 20), seeded(0))
    small, _, _ = problem.batch((1, 20), 0.0, seeded(0))
    assert x.shape[-1] == 25 * small.shape[-1] and float(x.min()) >= 100 * float(small.min())
    assert torch.equal(y, of_list("shortest_path", x).unsqueeze(-1))


def test_the_result_of_a_row_of_symbols_is_that_of_its_text():
    x, y = calculations((1, 40), (3, 2), 3, seeded(0))
    seen = set()
    for row, result in zip(x[0].tolist(), y[0, :, 0].tolist(), strict=True):
        text = "".join("0123456789+-x"[int(c)] for c in row)
        first, second = int(text[:3]), int(text[4:])
        assert result == {"+": first + second, "-": first - second, "x": first * second}[text[3]]
        seen.add(text[3])
    assert seen == set("+-x")


def test_training_begins_with_one_digit_and_the_test_has_eight():
    sums, products = PROBLEMS["sums in digits"], PROBLEMS["sums and products in digits"]
    assert sums.batch((1, 2), 0.0, seeded(0))[0].shape[-1] == 3
    assert [p.test((1, 2), seeded(0))[0].shape[-1] for p in (sums, products)] == [17, 16]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_job_trains_its_networks_and_counts_the_exact_ones(name, monkeypatch):
    monkeypatch.setitem(computing.PROBLEMS, name, replace(PROBLEMS[name], steps=2))
    monkeypatch.setattr(computing, "TESTS", 5)
    monkeypatch.setattr(computing, "STARTS", 2)
    found = [one(Job(name, network, 2, 5)) for network in NETWORKS]
    units, untrained, plain = found
    assert 0 <= units.exact <= 2 and plain.exact == 0 and units.parameters < plain.parameters
    assert (units.steps, untrained.steps) == (2, 0) and untrained.parameters == units.parameters
    assert [row["seeds"] for row in totals(found)] == [2, 2, 2]
