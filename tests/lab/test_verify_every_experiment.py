"""Every shipped experiment trained for 50 steps: no false alarm, and every changed digit is found."""

import functools
import itertools
import os
import random

import pytest
from planted import in_array, in_error, in_verdict

from nalm.experiments import EXPERIMENTS
from nalm.lab import verify
from nalm.lab.request import Changes, experiments
from nalm.lab.run import run
from nalm.results.store import Store

STEPS, IMAGES = 50, 2  # steps of every run, and of networks that read images
CASES, OF_IMAGES = 40, 1  # at most so many cases of an experiment
POLISH = 2  # steps of L-BFGS after the others
CHANGED = 40  # runs in each of which one digit is changed
KINDS = (
    functools.partial(in_array, start="weights."),
    in_error,
    in_verdict,
    functools.partial(in_array, start=("validation", "test", "sparsity")),
)

pytestmark = pytest.mark.slow


def trained(name, out):
    """Train an experiment shortly, one seed of each case."""
    images = any(case.task.images for case in EXPERIMENTS[name].cases)
    if images and not os.environ.get("NALM_DATA") and EXPERIMENTS[name].cases[0].task.source == "mnist":
        pytest.skip("MNIST's files are not at hand")
    (asked,), _ = experiments([name], "1", Changes(steps=IMAGES if images else STEPS))
    kept = random.Random(name).sample(asked.cases, min(len(asked.cases), OF_IMAGES if images else CASES))
    short = [
        case.replace(recipe=case.recipe.replace(polish=min(case.recipe.polish, POLISH))) for case in kept
    ]
    run([asked.replace(cases=tuple(short))], out, compiled=False, workers=1)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_untouched_runs_are_true_and_every_changed_digit_is_found(name, tmp_path):
    trained(name, tmp_path)
    chance = random.Random(name)
    with Store(tmp_path, create=True) as store:
        assert [str(f) for f in verify.recompute(store)] == []
        outcomes = store.outcomes()
        changed = {}
        for i, o in enumerate(chance.sample(outcomes, min(len(outcomes), CHANGED))):
            kinds = itertools.islice(itertools.cycle(KINDS), i, i + len(KINDS))
            said = next(filter(None, (change(store, o, chance) for change in kinds)))
            changed[o.case.hash] = f"{o.case.name}: {said}"
        found = {finding.outcome.case.hash for finding in verify.recompute(store)}
    assert [said for key, said in changed.items() if key not in found] == []
    assert found <= changed.keys()
    print(f"{name}: {len(outcomes)} runs, {len(changed)} changed")
