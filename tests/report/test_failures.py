"""How runs fail, in words."""

import pytest
from made import outcomes

from nalm.report.sections.failures import failures, outcome
from nalm.results.runs import Outcome


def run(formula="a", sparsity=0.0, word="unsolved"):
    (one,) = outcomes("NMU", [False], sparsity=sparsity)
    return Outcome(**{**vars(one), "formula": formula, "outcome": word})


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (run("a*b", word="solved"), "solved"),
        (run("a*b", word="diverged"), "not a number"),
        (run("a*b", 1e-5), "right formula, error above the threshold"),
        (run("Abs(a)*Abs(b)", 1e-5), "right formula, error above the threshold"),
        (run("b", 1e-5), "wrong optimum: a discrete formula that is not the right one"),
        (run("1", 0.3), "not discrete"),
        (run("a*b", 0.3), "not discrete, near the right formula"),
        (run("", 0.0), "wrong optimum: a discrete formula that is not the right one"),
    ],
)
def test_each_kind_of_failure_is_described(one, words):
    assert outcome(one) == words


def test_failures_are_counted_with_their_formulas():
    found = failures([run("b"), run("b"), run("1"), run("1", 0.4), run("a*b", word="solved")])
    assert found[0] == (
        "wrong optimum: a discrete formula that is not the right one",
        3,
        [("b", 2), ("1", 1)],
    )
    assert found[1] == ("not discrete", 1, [("1", 1)])
