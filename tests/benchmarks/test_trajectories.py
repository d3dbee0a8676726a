"""Trials on known systems: how a fitted system is compared with the true one, and what the shipped ones show."""

from pathlib import Path

import pytest

from benchmarks import trajectories as trials
from benchmarks.known_systems import KNOWN, Known, Part, parts
from nalm.errors import NALMError
from nalm.ode.system import System
from nalm.report.sections import benchmarks as sections

RESULTS = Path(__file__).parents[2] / "results"
LOGISTIC = next(k for k in KNOWN if k.name == "logistic growth")


def changed(*row: Part) -> System:
    return Known("", ("x",), (row,), (1.0,), 1.0, 10, ()).system


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: k.name)
def test_the_truth_is_right(known):
    assert trials.compared(known.system, known) == (True, 0.0, 0.0)
    assert [parts(law) for law in known.system.laws] == [list(row) for row in known.parts]


def test_wrong_terms_exponents_and_rates_are_seen():
    x, squared = LOGISTIC.parts[0]
    assert trials.compared(changed(x), LOGISTIC)[0] is False
    assert trials.compared(changed(x, squared, Part(1e-9, (3.0,))), LOGISTIC)[0] is False
    assert trials.compared(changed(x, Part(-0.016, (2.1,))), LOGISTIC)[0] is False
    right, exponents, rates = trials.compared(changed(x, Part(-0.02, (2.03,))), LOGISTIC)
    assert right and exponents == pytest.approx(0.03) and rates == pytest.approx(0.25)


def test_the_truth_errs_nowhere():
    assert trials.at_new_starts(LOGISTIC.system, LOGISTIC) < 1e-7


def test_sindy_finds_the_polynomial():
    pytest.importorskip("pysindy", reason="pysindy is not installed")
    found = trials.one(trials.Job("pysindy", LOGISTIC.name, 0.0, 0, 60.0))
    assert found.right and found.rate_error < 0.01


def test_the_shipped_trials_show_every_system_found():
    (shown,) = [b for b in sections.benchmarks(RESULTS) if b["kind"] == "trajectories"]
    ours = [row["cells"]["nalm.ode"] for row in shown["rows"]]
    assert {row["system"] for row in shown["rows"]} == {k.name for k in KNOWN}
    assert all(c["right"] == c["trials"] for c in ours) and sum(c["trials"] for c in ours) == 60
    (epidemic,) = [r for r in shown["rows"] if r["system"] == "fractional SIR" and r["noise"] == 0]
    cell = epidemic["cells"]["nalm.ode"]
    assert cell["exponent_error"] <= 0.05 and cell["rate_error"] <= 0.1
    assert shown["published"] == trials.published()
    assert {"kappa": 0.57, "gamma": 0.62}.items() <= shown["published"].items()


def test_levels_of_noise_are_given_as_numbers():
    found = trials.jobs(trials.Options(seeds=2, seconds=1.0, noises="0,0.1"))
    assert len(found) == len(KNOWN) * len(trials.METHODS) * (1 + 2) and len(set(found)) == len(found)
    with pytest.raises(NALMError, match="got 'some'"):
        trials.jobs(trials.Options(noises="some"))
