"""Names of cases are fixed by their experiment, whatever else a command or a folder holds."""

import pytest

from nalm.claims import verdicts
from nalm.config import Layer
from nalm.config.labels import labels
from nalm.experiments import EXPERIMENTS
from nalm.experiments.names import names

SWEEP = EXPERIMENTS["thesis/ch5/nru-lr"]


@pytest.mark.parametrize("name", [n for n in EXPERIMENTS if len(EXPERIMENTS[n].cases) < 200])
def test_a_case_alone_has_the_name_and_place_it_has_among_all(name):
    cases = EXPERIMENTS[name].cases
    among_all = names(name, cases)
    for case in (cases[0], cases[len(cases) // 2], cases[-1]):
        alone = names(name, [case])
        assert alone.labels == {case: among_all.labels[case]}
        assert alone.places == {case: among_all.places[case]} and alone.axis == among_all.axis


def test_a_selection_would_be_renamed_without_its_experiment():
    case = SWEEP.cases[0]
    assert labels([case])[case] == "NRU"  # so the name depends on the experiment, and the test above can fail
    assert names(SWEEP.name, [case]).labels[case] == "NRU (lr 0.001)"


def test_an_added_case_renames_no_other():
    other = SWEEP.cases[0].replace(recipe=SWEEP.cases[0].recipe.replace(batch=7))
    both = names(SWEEP.name, [*SWEEP.cases, other]).labels
    assert {c: both[c] for c in SWEEP.cases} == names(SWEEP.name, SWEEP.cases).labels
    assert both[other] not in names(SWEEP.name, SWEEP.cases).labels.values()


def test_a_shorter_training_has_the_published_name_unless_both_are_there():
    case = SWEEP.cases[0]
    short, shorter = (case.replace(recipe=case.recipe.replace(steps=n)) for n in (100, 10))
    assert names(SWEEP.name, [short]).labels == {short: "NRU (lr 0.001)"}
    both = names(SWEEP.name, [case, short, shorter]).labels
    assert both[case] == "NRU (lr 0.001)" and len(set(both.values())) == 3
    assert "100 steps" in both[short] and "10 steps" in both[shorter]


def test_a_unit_of_ones_own_is_named_beside_the_published_ones():
    case = SWEEP.cases[0].replace(model=(Layer("Mine"),))
    found = names(SWEEP.name, [SWEEP.cases[0], case]).labels
    assert found[case].startswith("Mine") and found[SWEEP.cases[0]] == "NRU (lr 0.001)"


def test_cases_of_an_unknown_experiment_are_named_among_themselves():
    assert names("mine", SWEEP.cases).labels == labels(SWEEP.cases)


def test_a_selection_of_an_experiment_is_judged_by_the_same_names(made_runs):
    few = SWEEP.replace(cases=tuple(o.case for o in made_runs))
    whole = {v.claim: v.verdict for v in verdicts(SWEEP, made_runs, {})}
    assert {v.claim: v.verdict for v in verdicts(few, made_runs, {})} == whole
    assert set(whole.values()) - {"not run"}


@pytest.fixture
def made_runs():
    """One solved run of every case with a learning rate of 1."""
    from dataclasses import replace

    from made import outcomes

    (run,) = outcomes("NRU", [True])
    return [replace(run, case=case) for case in SWEEP.cases if case.recipe.lr == 1]
