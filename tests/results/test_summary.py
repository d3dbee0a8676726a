"""Summaries of the runs of a case."""

import json
import math

from made import outcomes

from nalm.config import Range
from nalm.results.summary import summarise

RUNS = (
    outcomes("NMU", [True] * 25)
    + outcomes("NALU", [True] * 5 + [False] * 20)
    + outcomes("NMU", [False] * 25, train=Range(-2, -1))
)


def test_each_case_gets_its_numbers():
    first, second, third = summarise(RUNS)
    assert first.success.estimate == 1 and round(first.success.low, 3) == 0.867
    assert first.solved_at.n == 25 and first.formulas == (("a*b", 25),)
    assert second.success.estimate == 0.2 and second.solved_at.n == 5
    assert third.solved_at.n == 0 and math.isnan(third.solved_at.estimate)


def test_a_summary_is_plain_json():
    for summary in summarise(RUNS):
        row = json.loads(json.dumps(summary.plain(), allow_nan=False))
        assert row["success"]["n"] == 25 and row["unit"] in ("NMU", "NALU")
    assert summarise(RUNS)[2].plain()["solved_at"]["estimate"] is None
