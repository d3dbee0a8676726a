"""The benchmark measures what it says, in the form it promises."""

import json

import torch

from nalm.lab.bench import numbers as bench

KEYS = {
    "name",
    "device",
    "threads",
    "mode",
    "runs",
    "inputs",
    "us_per_run_step",
    "naive_us_per_run_step",
    "ratio",
}
CPU = torch.device("cpu")


def test_a_population_is_cheaper_per_run_than_a_plain_loop():
    case = bench.small("NMU")
    us, mode = bench.measure(case, 64, CPU, compiled=False, seconds=0.05)
    assert mode == "eager"
    assert 0 < us < bench.naive(case, 0.05)


def test_the_two_layer_case_is_the_arithmetic_dataset_task():
    case = bench.two_layers()
    assert (case.inputs, case.task.used, [layer.out for layer in case.model]) == (100, 38, [2, 1])
    assert bench.naive(case, 0.02) > 0


def test_the_report_is_a_list_of_timings(monkeypatch, capsys):
    monkeypatch.setattr(bench, "measure", lambda *arguments: (2.0, "compiled"))
    monkeypatch.setattr(bench, "naive", lambda *arguments: 600.0)
    bench.report("cpu", as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert all(set(row) >= KEYS for row in rows)
    assert {row["name"] for row in rows} >= {"NMU", "RealNPU", "INALU", "NALU", "100-2-1"}
    assert all(row["ratio"] == 300 for row in rows if row["naive_us_per_run_step"])
    assert {row["runs"] for row in rows} >= {25, 225, 5_000}
    assert {row["inputs"] for row in rows} >= {2, 10, 100}
    bench.report("cpu", quick=True)
    assert "300x" in capsys.readouterr().out
