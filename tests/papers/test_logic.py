"""Logic at work: truth tables and comparison tables over their whole input space, and rules learnt from data."""

import itertools
from pathlib import Path

import pytest
import sympy
import torch

import nalm
from nalm.config import Arithmetic, Case, Experiment, Layer, Lists, Range, Recipe, Threshold, grid
from nalm.engine import train
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS, experiments
from nalm.formulas.symbolic import rule
from nalm.formulas.truth import right, truth
from nalm.operations import OPERATIONS, operation
from nalm.results import files as shipped
from nalm.tasks import Sampler
from nalm.units import NLRL, NSR, NSRNAU, AndNLRL

ROOT = Path(__file__).parents[2]
RIGHT = Threshold("fixed", value=1e-5, metric="mistakes")
COMPARISONS = [name for name, o in OPERATIONS.items() if o.kind == "comparison"]


def table(values, inputs: int) -> torch.Tensor:
    """Every combination of values."""
    return torch.tensor(list(itertools.product(values, repeat=inputs)), dtype=torch.float64)


def truths(name: str, x: torch.Tensor) -> torch.Tensor:
    found = operation(name)
    return found.formula(*x.unbind(-1)[: found.arity]).unsqueeze(-1)


# -- hand-made weights, the full input space ---------------------------------------------------


@pytest.mark.parametrize("inputs", [2, 5])
@pytest.mark.parametrize("unit", [NLRL, AndNLRL])
@torch.no_grad()
def test_solved_rules_have_their_whole_truth_table(unit, inputs):
    x = table((0, 1), inputs)
    for name in unit.gold:
        assert torch.equal(unit.solved(name, inputs).double()(x), truths(name, x)), name


def stacked(unit, rows, last) -> torch.nn.Sequential:
    """Two layers: a row of (weight, negate, output) per unit, then the last one's name."""
    first = unit(2, len(rows)).exact_()
    weight, negate, output = (torch.tensor(part) for part in zip(*rows, strict=True))
    first.assign_({"weight": weight, "negate": negate, "output": output})
    return torch.nn.Sequential(first, unit.solved(last)).double()


BOTH, NONE, SECOND, FIRST = (1.0, 1.0), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "unit", "rows", "last"),
    [
        ("xor", NLRL, [(BOTH, SECOND, 0.0), (BOTH, FIRST, 0.0)], "or"),
        ("iff", NLRL, [(BOTH, NONE, 0.0), (BOTH, BOTH, 0.0)], "or"),
        ("implies", NLRL, [(FIRST, FIRST, 0.0), (SECOND, NONE, 0.0)], "or"),
        ("xor", AndNLRL, [(BOTH, BOTH, 1.0), (BOTH, NONE, 1.0)], "and"),
        ("iff", AndNLRL, [(BOTH, SECOND, 1.0), (BOTH, FIRST, 1.0)], "and"),
        ("implies", AndNLRL, [(BOTH, SECOND, 1.0), (NONE, NONE, 0.0)], "and"),
    ],
)
@torch.no_grad()
def test_two_layers_express_what_one_cannot(name, unit, rows, last):
    network, x = stacked(unit, rows, last), table((0, 1), 2)
    assert torch.equal(network(x), truths(name, x))
    a, b = sympy.symbols("a b")
    formula = network[1].formulas(network[0].formulas([a, b]))[0]
    case = Case((Layer("NLRL", 2), Layer("NLRL")), Arithmetic(name, grid(0, 2), grid(0, 2)))
    assert right(case, 0, str(formula)) and not right(case, 0, "a*b")


@pytest.mark.parametrize("name", COMPARISONS)
@torch.no_grad()
def test_solved_comparisons_are_right_for_all_pairs(name):
    pairs = table(range(-40, 41), 2)
    for size in (1e-6, 1.0, 1e9):
        x = pairs * size
        assert torch.equal(NSR.solved(name).double()(x), truths(name, x))
    idle = torch.cat([pairs, 1e6 * torch.randn(len(pairs), 8, dtype=torch.float64)], -1)
    assert torch.equal(NSR.solved(name, 10).double()(idle), truths(name, pairs))


@pytest.mark.parametrize("name", NSRNAU.gold)
@torch.no_grad()
def test_solved_pieces_are_right_for_all_pairs(name):
    x = table(range(-40, 41), 2)
    assert torch.equal(NSRNAU.solved(name).double()(x), truths(name, x))


# -- formulas ------------------------------------------------------------------------------------


def test_copies_of_a_register_spell_one_comparison():
    unit = NSR(2, 1, redundancy=4)
    unit.assign_(
        {
            "left": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
            "right": torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]),
            "sign": torch.tensor([-2.0, 3.0, 9.0, 0.0]),
            "zero": torch.tensor([-2.0, -2.0, 1.0, 0.0]),
            "bias": torch.tensor([-2.0, -2.0, 0.0, 0.0]),
        }
    )
    a, b = sympy.symbols("a b")
    assert unit.formulas() == [sympy.Piecewise((1, a < b), (0, True))]


@torch.no_grad()
def test_whatever_copies_vote_their_formula_says():
    x, short = table((-2, 0, 1), 3), 0
    for seed in range(20):
        unit = NSR(3, 1, redundancy=4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        unit.sign[0] += 4 * (seed % 3)  # a copy that outvotes the others
        unit.snap_().exact_()
        short += "sign" not in str(unit.formulas()[0])
        assert nalm.disagreement(unit, x) == 0, seed
    assert 0 < short < 20


def test_a_rule_is_said_in_the_words_of_logic():
    a, b, c = sympy.symbols("a b c")
    for name, words in (("and", "a & b"), ("or", "a | b"), ("implies", "b | ~a"), ("not", "~a")):
        found = operation(name)
        assert str(rule(found.formula(*(a, b)[: found.arity]), (a, b))) == words
    assert str(rule(1 - (1 - a * b) * (1 - c), (a, b, c))) == "c | (a & b)"
    assert rule(sympy.Integer(1), (a,)) is sympy.true and rule(sympy.Integer(0), (a,)) is sympy.false


def test_a_rule_is_right_where_its_inputs_can_lie():
    less = Case((Layer("NSR"),), Arithmetic("less", grid(-9, 10), grid(-9, 10)))
    strict, loose = "Piecewise((1, b > a), (0, True))", "Piecewise((1, a <= b), (0, True))"
    assert right(less, 0, strict) and not right(less, 0, loose)
    assert right(less.replace(train=Range(-1, 1)), 0, loose)  # floats are never equal
    for wrong in (
        "1",
        "Piecewise((1, a < c), (0, True))",
        "Piecewise((1, b < a), (0, True))",
        "Piecewise(1)",
        "?",
    ):
        assert not right(less, 0, wrong)
    count = Case((Layer("Counter"),), Lists("count", grid(0, 9), grid(0, 9), inputs=5))
    assert right(count, 0, "h + Piecewise((1, Eq(q, x)), (0, True))") and not right(count, 0, "h + 1")
    assert str(truth(count, 0)) == "h + Piecewise((1, Eq(q, x)), (0, True))"


# -- data and configuration ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spread", "values"),
    [(grid(0, 2), [0, 1]), (grid(-2, 3), [-2, -1, 0, 1, 2]), (grid(-1, 1, 0.5), [-1, -0.5, 0, 0.5])],
)
def test_a_grid_holds_every_step_equally_often(spread, values):
    sampler = Sampler([spread], 2)
    x = sampler(nalm.draws.keys([0], "train"), torch.tensor(0, dtype=torch.int32), sampler.grid(10_000))
    found, counts = x.unique(return_counts=True)
    assert found.tolist() == values
    expected = 20_000 / len(values)
    assert ((counts - expected).abs() < 5 * expected**0.5).all()


def test_a_length_beyond_training_is_said_only_where_there_is_one():
    case = Case((Layer("Smallest"),), Lists("smallest", grid(0, 9), grid(0, 9), inputs=3))
    longer = case.replace(test_inputs=20)
    assert "test_inputs" not in case.json() and '"test_inputs":20' in longer.json()
    assert all(Case.from_json(c.json()) == c for c in (case, longer)) and case.hash != longer.hash
    with pytest.raises(NALMError, match="0 or more inputs, got -1"):
        case.replace(test_inputs=-1)
    with pytest.raises(NALMError, match="mistakes has a fixed threshold"):
        Threshold(metric="mistakes")


def test_what_was_published_is_reported_by_name():
    names = [e.name for e in experiments("logic")]
    asked = (
        "rules",
        "arithmetic",
        "comparisons",
        "scale",
        "piecewise",
        "minimum",
        "count",
        "paths",
        "digits",
    )
    assert names == [f"logic/{name}" for name in asked]
    assert {c.operation for c in EXPERIMENTS["logic/comparisons"].cases} == set(COMPARISONS)
    rules = EXPERIMENTS["logic/rules"]
    assert {c.model[0].out for c in rules.cases} == {1, 2, 4, 8, 16}
    assert isinstance(rules, Experiment) and {c.model[0].unit for c in rules.cases} == {"NLRL", "AndNLRL"}


# -- what is shipped (docs/logic.md) -------------------------------------------------------------


def counted(name, key):
    """Solved runs, right rules and runs of a shipped experiment, by a key of their cases."""
    found = {}
    for o in shipped.read(ROOT / "results" / "logic" / f"{name}.csv"):
        solved, rules, runs = found.get(key(o.case), (0, 0, 0))
        found[key(o.case)] = (solved + o.solved, rules + right(o.case, o.seed, o.formula), runs + 1)
    return found


def test_ten_copies_learn_every_comparison_and_one_fails_at_equality():
    table = counted("comparisons", lambda c: (c.model[0].options[0][1], c.operation))
    assert all(n == (40, 40, 40) for (copies, _), n in table.items() if copies == 10)
    easy = ("less", "greater", "less_equal", "greater_equal")
    assert all(table[1, op] == (40, 40, 40) for op in easy)
    assert table[1, "equal"][0] + table[1, "not_equal"][0] == 20


def test_more_units_between_two_layers_help():
    hard = counted("rules", lambda c: (c.operation in ("xor", "iff"), c.model[0].unit, c.model[0].out))
    for unit, solved in (("NLRL", [0, 7, 14, 14, 14]), ("AndNLRL", [0, 2, 7, 17, 20])):
        assert [hard[True, unit, width][0] for width in (1, 2, 4, 8, 16)] == solved
        assert all(hard[False, unit, width][0] == 70 for width in (8, 16))


def test_a_snapped_minimum_is_perfect_and_a_jump_is_not_learnt():
    minimum = counted("minimum", lambda c: c.threshold.metric)
    assert minimum["rule"] == (40, 40, 40) and minimum["mistakes"][1:] == (40, 40)
    pieces = counted("piecewise", lambda c: (c.operation, c.model[0].options[0][1]))
    assert all(pieces[name, 10] == (10, 10, 10) for name in ("distance", "minimum", "maximum"))
    assert pieces["jump", 1] == (0, 10, 10) and pieces["jump", 10] == (1, 10, 10)


# -- training ------------------------------------------------------------------------------------


def test_an_untrained_network_is_judged_by_its_mistakes_and_by_its_rule():
    recipe = Recipe(steps=1, batch=8)
    case = Case((Layer("NSR"),), Arithmetic("less", grid(-3, 4), grid(-3, 4), threshold=RIGHT), recipe)
    ruled = case.replace(threshold=Threshold("fixed", value=1e-5, metric="rule"))
    runs = train([case, ruled], range(2), "cpu", compiled=False)
    rows = [10_000 * error for r in runs.test for error in r]
    assert all(0 <= n <= 10_000 and abs(n - round(n)) < 1e-6 for n in rows) and max(rows) > 0
    assert (runs.test[0] != runs.test[2]).any()


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_a_comparison_is_learnt_and_holds_for_larger_numbers(compiled):
    model = (Layer("NSR", 1, (("redundancy", 10),)),)
    recipe = Recipe(steps=2_000, lr=1e-2, loss="bce")
    case = Case(model, Arithmetic("equal", grid(-9, 10), grid(991, 1010), inputs=4, threshold=RIGHT), recipe)
    runs = train(case, range(5), "cpu", compiled=compiled)
    assert runs.solved.all() and all(
        right(case, s, f) for s, f in zip(runs.seeds, runs.formulas, strict=True)
    )


@pytest.mark.slow
def test_a_minimum_is_learnt_on_three_numbers_and_holds_for_fifty():
    (case,) = [
        c
        for c in EXPERIMENTS["logic/minimum"].cases
        if c.threshold.metric == "rule" and c.task.test_inputs == 20 and c.test != c.train
    ]
    runs = train(case.replace(test_inputs=50), range(3), "cpu", compiled=False)
    assert runs.solved.all() and all(
        right(case, s, f) for s, f in zip(runs.seeds, runs.formulas, strict=True)
    )
