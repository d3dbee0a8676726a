"""No run depends on its neighbours: not on their number, their order, their troubles, or a pause."""

import numpy as np
import pytest
import torch

from nalm.config import Arithmetic, Case, Growth, Layer, Ramp, Range, Recipe
from nalm.engine import Run, populations, product, train
from nalm.engine.numbers import NumberTrainer
from nalm.engine.numbers.program import Program

CPU = torch.device("cpu")
SPARSE = (("weight", Ramp(10, 250, 750)),)
SHORT = Recipe(steps=1_000, penalties=SPARSE, lr=1e-2)


def case(unit="NMU", low=1.0, high=2.0, operation="multiply", **recipe):
    return Case((Layer(unit),), Arithmetic(operation, Range(low, high), Range(2, 6)), SHORT.replace(**recipe))


def same(alone, among, rtol=1e-4):
    for name in ("validation", "test", "sparsity"):
        a, b = getattr(alone, name)[0], getattr(among, name)[0]
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9, err_msg=name)


def program(cases, seeds, compiled=False):
    return Program([Run(c, s, i) for i, (c, s) in enumerate(zip(cases, seeds, strict=True))], CPU, compiled)


def test_draws_and_starts_are_the_same_alone_and_in_any_population():
    alone = program([case()], [7])
    among = program([case(low=-2, high=-1), case(), case(lr=0.5)], [3, 7, 7])
    for name, p in alone.params.items():
        assert torch.equal(p[0], among.params[name][1])
        assert torch.equal(p[0], among.params[name][2])
        assert not torch.equal(p[0], among.params[name][0])
    for step in (0, 5, 10**6):
        at = torch.tensor(step, dtype=torch.int32)
        x, many = (q.data.batch(at, q.settings)[0] for q in (alone, among))
        assert torch.equal(x[0], many[1])


def test_a_run_is_the_same_alone_and_among_others():
    target = case()
    alone = train(target, [7], "cpu", compiled=False)
    others = [case(low=-2, high=-1), target, case(lr=1e-3)]
    among = train(others, [3, 7], "cpu", compiled=False)
    same(alone, among.take([3]), rtol=1e-5)
    assert among.seeds[3] == 7
    assert among.cases[3] == target


@pytest.mark.system
def test_a_diverging_member_leaves_its_neighbours_as_they_are_alone():
    good = case("RealNPU", lr=5e-3, penalties=(), l1=Growth(1e-7, 1e-5))
    exploding = good.replace(recipe=good.recipe.replace(lr=1e6))
    alone = train(good, [1], "cpu", compiled=False)
    among = train([exploding, good], [1], "cpu", compiled=False)
    assert among.outcomes[0] != "solved"
    assert not among.test[0][-1] < 1
    same(alone, among.take([1]))


@pytest.mark.system
def test_a_member_of_not_numbers_leaves_its_neighbours_alone_even_under_clipping():
    """Per-run norm clipping: a NaN gradient of one run must not reach the others."""
    clipped = case("NMRU", operation="divide", clip_norm=1.0)
    broken = clipped.replace(test=Range(2, 6), train=Range(1, 2))
    training = NumberTrainer([Run(broken, 0, 0), Run(clipped, 1, 1)], CPU, compiled=False)
    with torch.no_grad():
        training.program.params["layers.0.weight"][0] = float("nan")
    alone = NumberTrainer([Run(clipped, 1, 0)], CPU, compiled=False)
    for t in (training, alone):
        while not t.finished:
            t.advance()
    assert training.results().outcomes[0] == "diverged"
    assert training.results().formulas[0] == ""
    same(alone.results(), training.results().take([1]))


@pytest.mark.system
def test_state_can_be_taken_out_and_put_back_exactly():
    cases = [case(), case("NMU", -2, -1)]
    runs = populations(product(cases, range(3)))[0]
    straight = NumberTrainer(runs, CPU, compiled=False)
    while not straight.finished:
        straight.advance()
    first = NumberTrainer(runs, CPU, compiled=False)
    first.advance()
    state = first.state()
    second = NumberTrainer(runs, CPU, compiled=False)
    second.restore(state)
    while not second.finished:
        second.advance()
    a, b = straight.results(), second.results()
    for name in ("validation", "test", "sparsity"):
        for x, y in zip(getattr(a, name), getattr(b, name), strict=True):
            np.testing.assert_array_equal(x, y)
    assert a.formulas == b.formulas
    for x, y in zip(a.weights, b.weights, strict=True):
        np.testing.assert_array_equal(x["0.weight"], y["0.weight"])


def test_state_of_another_population_is_refused():
    runs = populations(product([case()], range(3)))[0]
    state = NumberTrainer(runs[:2], CPU, compiled=False).state()
    with pytest.raises(ValueError, match="another population"):
        NumberTrainer(runs, CPU, compiled=False).restore(state)


@pytest.mark.slow
def test_compiled_and_eager_agree_in_their_verdicts():
    cases = [case(), case("NMU", -2, -1), case(low=10, high=20)]
    eager = train(cases, range(25), "cpu", compiled=False)
    compiled = train(cases, range(25), "cpu")
    assert set(compiled.modes) == {"compiled"}
    assert (eager.solved == compiled.solved).mean() >= 0.99
    assert sum(a == b for a, b in zip(eager.formulas, compiled.formulas, strict=True)) >= 0.99 * len(eager)


def test_the_grouping_is_a_function_of_the_cases_alone():
    cases = [case(), case("NAU", operation="add"), case(low=-2, high=2), case(lr=1e-5), case(steps=500)]
    groups = populations(product(cases, range(4)))
    assert sorted(len(g) for g in groups) == [4, 4, 12]
    assert sorted(run.index for g in groups for run in g) == list(range(20))
    assert [len(g) for g in populations(product(cases[:1], range(10)), numbers=4 * 128 * 2)] == [4, 4, 2]
