"""The trials of networks that compute, beside plain ones."""

from dataclasses import replace

import pytest
import torch

from benchmarks import computing
from benchmarks.computing import NETWORKS, PROBLEMS, Job, Options, jobs, one, seeded, sums, totals
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
    x, y = sums((1, 30), (3, 2), seeded(0))
    for row, result in zip(x[0].tolist(), y[0, :, 0].tolist(), strict=True):
        text = "".join("0123456789+-"[int(c)] for c in row)
        first, second = (int(part) for part in text.replace("-", "+").split("+"))
        assert result == (first + second if "+" in text else first - second)
    assert PROBLEMS["sums in digits"].batch((1, 2), 0.0, seeded(0))[0].shape[-1] == 3  # one digit at first
    assert PROBLEMS["sums in digits"].test((1, 2), seeded(0))[0].shape[-1] == 17


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
