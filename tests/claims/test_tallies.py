"""Published numbers beside tallies: the verdict on counted runs is the verdict on the runs."""

from dataclasses import replace
from pathlib import Path

import pytest
from made import claim, outcomes

from nalm.claims import judge, verdicts
from nalm.claims.compare import compare_results
from nalm.claims.rules import base
from nalm.config import Range
from nalm.config.labels import labels
from nalm.experiments import EXPERIMENTS
from nalm.results import files as shipped
from nalm.results import source, tally_files
from nalm.results.tally import tallies

RESULTS = Path(__file__).parents[2] / "results"
STUDIES = (
    "thesis/ch3/mul",
    "thesis/ch5/main",
    "thesis/ch5/distributions",
    "thesis/ch6/scaling",
    "madsen/simple",
)


def first_seed(outcomes):
    """One run of each case, which a tally replaces."""
    return list({o.case.hash: o for o in reversed(outcomes)}.values())


def counted_again(name, tmp_path):
    """The shipped runs of an experiment, and their tallies written to a file and read back."""
    source = RESULTS / f"{name}.csv"
    runs = shipped.read(source)
    path = tmp_path / "a.tally.csv"
    path.write_text(tally_files.table(tallies(runs)), encoding="utf-8")
    path.with_suffix(".json").write_text(source.with_suffix(".json").read_text("utf-8"), encoding="utf-8")
    return runs, tally_files.read(path)


@pytest.mark.parametrize("name", STUDIES)
def test_counted_runs_are_judged_as_the_runs(name, tmp_path):
    runs, counted = counted_again(name, tmp_path)
    experiment = EXPERIMENTS[name]
    metrics = (
        "success_rate",
        "mean_success_rate",
        "solved_at_mean",
        "solved_at_median",
        "sparsity_error_mean",
    )
    experiment = experiment.replace(claims=tuple(c for c in experiment.claims if c.metric in metrics))
    full, few = verdicts(experiment, runs, {}), verdicts(experiment, first_seed(runs), {}, counted)
    assert len(full) > 3
    for ours, theirs in zip(full, few, strict=True):
        assert (theirs.verdict, theirs.why) == (ours.verdict, ours.why)
        if ours.p is None or theirs.p is None:
            assert ours.p is theirs.p
        else:
            assert theirs.p == pytest.approx(ours.p, rel=1e-4, abs=1e-12)


def test_a_tally_of_more_runs_decides_what_few_runs_cannot():
    few = outcomes("NMU", [True] * 4 + [False] * 4)
    named = base.NamedRuns.of_cases(few, labels(o.case for o in few))
    many = tallies(outcomes("NMU", [True] * 480 + [False] * 520))
    more = replace(named, tallies={t.case.hash: t for t in many})
    told = claim("success_rate", 0.5, n=25)
    assert judge(told, named).verdict == base.CANNOT_TELL
    assert judge(told, more).verdict == base.AGREES and judge(told, more).ours.n == 1_000


def test_ranges_are_counted_together_whether_in_rows_or_counted():
    one, two = outcomes("NMU", [True] * 5), outcomes("NMU", [False] * 5, train=Range(-2, -1))
    found = base.NamedRuns([("NMU", "", o) for o in one + two], tallies={}).counted("NMU")
    assert (found.runs, found.solved, found.ranges) == (10, 5, 2)
    (counted,) = tallies(outcomes("NMU", [True] * 90 + [False] * 10))
    named = base.NamedRuns([("NMU", "", o) for o in one + two], tallies={counted.case.hash: counted})
    found = named.counted("NMU")
    assert (found.runs, found.solved, found.ranges, len(found.steps)) == (105, 90, 2, 90)
    assert found.sparsity[0].n == 5  # of rows: fits of several cases cannot be joined


def test_a_folder_is_compared_with_its_tallies(tmp_path):
    name = "thesis/ch3/mul"
    runs = shipped.read(RESULTS / f"{name}.csv")
    for suffix in (".json", ".csv"):
        target = (tmp_path / name).with_suffix(suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((RESULTS / name).with_suffix(suffix).read_text("utf-8"), encoding="utf-8")
    doubled = [replace(o, seed=o.seed + add) for add in (0, 100) for o in runs]
    path = (tmp_path / name).with_suffix(".tally.csv")
    path.write_text(tally_files.table(tallies(doubled)), encoding="utf-8")
    path.with_suffix(".json").write_text((RESULTS / f"{name}.json").read_text("utf-8"), encoding="utf-8")
    rates = [
        v
        for v in compare_results(tmp_path, source.outcomes(tmp_path))[name]
        if v.claim.metric == "success_rate"
    ]
    assert rates and {v.ours.n for v in rates if v.ours} == {50}
