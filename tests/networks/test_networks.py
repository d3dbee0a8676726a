"""Networks of units: lines, populations, masks, and training in the engine."""

import itertools

import pytest
import sympy
import torch

import nalm
from nalm.config import Arithmetic, Case, Layer, Range, Recipe, Threshold
from nalm.engine import check, train
from nalm.formulas.parse import parse
from nalm.formulas.symbolic import disagreement
from nalm.formulas.truth import right, truth
from nalm.networks import NETWORKS, FrozenSelector, GatedStack, Selector, Stack
from nalm.networks.selector import OPERATIONS
from nalm.operations import COMPOSITIONS, CUMULATIVE
from nalm.testing import seeded
from nalm.units.spelling import letters

PLUGGED = [
    (Stack, ("NAU", "ModifiedRealNPU")),
    (Stack, ("INAC", "IMNAC", "NAC")),
    (GatedStack, ("NAU", "NMU")),
    (GatedStack, ("INAC", "IMNAC")),
    (Selector, ("NAU", "SNMU", "NAU")),
    (Selector, ("INAC", "NALU")),
    (FrozenSelector, None),
]


def build(cls, units, seed=0):
    options = {} if units is None else {"units": units}
    return cls(4, 1, generator=seeded(seed), **options)


@pytest.mark.parametrize(("cls", "units"), PLUGGED)
def test_a_population_is_its_members(cls, units):
    members = [build(cls, units, seed).eval() for seed in range(3)]
    x = 1 + torch.rand(3, 6, 4)
    each = torch.stack([m(row) for m, row in zip(members, x, strict=True)])
    population = nalm.stack(members)
    torch.testing.assert_close(population(x), each)
    assert population.runs == (3,) and population.sparsity_error().shape == (3,)
    assert all(p.shape == (3,) for p in population.penalties().values())
    torch.testing.assert_close(nalm.member(population, 1)(x[1]), members[1](x[1]))


@pytest.mark.parametrize(("cls", "units"), PLUGGED)
def test_the_snapped_network_computes_its_expression(cls, units):
    network = build(cls, units, 3).double().eval().snap_().exact_()
    assert disagreement(network, 1 + torch.rand(9, 4, dtype=torch.float64)) < 1e-12
    symbols = letters(4, positive=True)
    (formula,) = network.formulas(symbols)
    plain = formula.xreplace(dict(zip(symbols, letters(4), strict=True)))
    assert sympy.simplify(parse(network.text(symbols)) - plain) == 0
    assert network.is_solved() and "y = " in repr(network)


@pytest.mark.parametrize(("cls", "units"), PLUGGED)
def test_every_parameter_has_a_gradient_and_a_projection(cls, units):
    network = build(cls, units)
    (network(1 + torch.rand(32, 4)).square().mean() + sum(network.penalties().values())).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())
    with torch.no_grad():
        for p in network.parameters():
            p.add_(100)
    network.project()
    assert network(1 + torch.rand(2, 4)).shape == (2, 1)


def test_working_lists_the_lines_and_their_units():
    weight = torch.tensor([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    product = torch.tensor([[0.0, 0.0, 1.0, 0.0, 1.0, 0.0]])
    choice = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    network = Selector(4, 1, units=("NAU", "NMU")).eval()
    network.assign_({"parts.0.weight": weight, "parts.1.weight": product, "choice": choice})
    assert list(map(str, network.working())) == ["s1 = a + b  (NAU)", "s2 = c*s1  (NMU)"]
    assert [str(f) for f in network.formulas()] == ["c*(a + b)"]
    gated = GatedStack(2, 1, units=("NAU", "NMU"), width=2)
    rows = {0: [[1, 1], [0, 0]], 1: [[0, 0], [0, 1]], 2: [[0, 0]], 3: [[1, 1]]}
    weights = {f"parts.{k}.weight": torch.tensor(v, dtype=torch.float) for k, v in rows.items()}
    gated.assign_(weights | {"gate0": torch.tensor([1.0, 0.0]), "gate1": torch.tensor([0.0])})
    assert gated.text(letters(2)) == "o1 = a + b; o2 = b; o1*o2"


def test_unused_lines_are_left_out():
    network = Stack(3, 1, units=("NAU", "NAU"), width=2)
    network.assign_(
        {
            "parts.0.weight": torch.tensor([[1.0, 0, 0], [0, 1, 1]]),
            "parts.1.weight": torch.tensor([[0.0, -1]]),
        }
    )
    assert network.text(letters(3)) == "o2 = b + c; -o2"


def selector_that_does(in_features: int, working) -> FrozenSelector:
    """A selector with weights set by hand: per step an operation and the places it sees, lines after the inputs."""
    made = FrozenSelector(in_features, 1, steps=len(working)).eval()
    choice, mask = (torch.zeros_like(p) for p in (made.choice_hat, made.mask_hat))
    for t, (name, places) in enumerate(working):
        k = OPERATIONS.index(name)
        choice[t, k] = 1.0
        mask[t, :, (k + 1) % 4] = 1.0
        mask[t, list(places)] = choice[t]
    return made.assign_({"choice": choice, "mask": mask})


# -- the mask -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_mask_over_all_subsets_of_three_inputs(name):
    x = torch.tensor([2.0, -3.0, 0.5])
    for seen in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in range(4)):
        chosen = [x[i].item() for i in seen]
        total, product = sum(chosen), float(torch.tensor([1.0, *chosen]).prod())
        expected = {"add": total, "sub": -total, "mul": product, "div": 1 / product}[name]
        network = selector_that_does(3, [(name, seen)])
        assert network(x).item() == pytest.approx(expected), seen


def test_each_input_goes_to_one_module_and_an_unwritten_line_is_neutral():
    network = FrozenSelector(4, 1)
    assert (network.weights()["mask"].sum(-1) == 1).all()
    with torch.no_grad():
        network.mask_hat[0, 4:, 2] = 5.0  # both empty lines to the product: they change nothing
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    outputs = network.modules_at(0, x, [])
    assert outputs.tolist() == [
        [10.0, 0.0, 1.0, 1.0]
    ]  # all inputs to the sum; the others have their neutral value


def test_a_line_is_seen_by_the_next_step():
    for first, second in itertools.product(OPERATIONS, repeat=2):
        network = selector_that_does(4, [(first, (0, 1)), (second, (2, 4))])
        a, b, c = 1.5, 2.5, 3.0
        expected = CUMULATIVE[second](CUMULATIVE[first](a, b), c)
        assert network(torch.tensor([a, b, c, 9.0])).item() == pytest.approx(expected)
        target = COMPOSITIONS[f"{first}-{second}"].formula(*sympy.symbols("a b c"))
        assert sympy.simplify(network.formulas()[0] - target) == 0


# -- in the engine ------------------------------------------------------------------------------


def case(layer, formula="add-mul"):
    fixed = Threshold("fixed")
    return Case(
        (layer,),
        Arithmetic(
            formula, Range(1, 2), Range(2, 6), inputs=4, subset=1, overlap=0, subsets=4, threshold=fixed
        ),
        Recipe(steps=5),
    )


def test_runs_of_a_network_do_not_depend_on_their_neighbours():
    layers = [Layer("Selector", 1, (("units", ("NAU", "SNMU")),)), Layer("GatedStack")]
    cases = [case(layer, formula) for layer in layers for formula in ("add-mul", "div-div")]
    together = train(cases, range(2), "cpu", compiled=False)
    for i in (1, 2):
        alone = train(cases[i], [1], "cpu", compiled=False)
        for name, value in alone.weights[0].items():
            assert (together.weights[2 * i + 1][name] == value).all(), name
    assert len({f for f in together.formulas if f}) > 1


def test_the_target_of_a_composition_leaves_out_the_last_input():
    c = case(Layer("FrozenSelector"))
    assert {str(truth(c, seed)) for seed in range(5)} == {"c*(a + b)"}
    assert right(c, 0, "s1 = a + b + d; c*s1 - c*d") and right(c, 0, "s1 = a*c; b*c + s1")
    assert not right(c, 0, "s1 = a + b; d*s1") and not right(c, 0, "s1 = a +; s1") and not right(c, 0, "")


def test_names_and_options_are_checked():
    assert {"Stack", "GatedStack", "Selector", "FrozenSelector"} < set(NETWORKS)
    assert case(Layer("Selector", 1, (("units", ("NAU", "NMU")),))).name == "Selector(NAU,NMU) add-mul U[1,2)"
    for bad in (
        Layer("Selector", 1, (("units", ("NAUU",)),)),
        Layer("Selector", 1, (("unit", "NAU"),)),
        Layer("GatedStack", 1, (("units", ("NAU",)),)),
        Layer("Stack", 1, (("units", ()),)),
        Layer("FrozenSelector", 1, (("steps", 0),)),
    ):
        with pytest.raises(nalm.NALMError):
            check([case(bad)])
    with pytest.raises(nalm.NALMError, match="one output"):
        FrozenSelector(4, 2)
    with pytest.raises(nalm.NALMError, match="NAME = EXPRESSION"):
        parse("a + b; a")


@pytest.mark.slow
def test_a_selector_learns_a_product_of_three():
    recipe = Recipe(steps=20_000, lr=1e-2)
    c = case(Layer("Selector", 1, (("units", ("NMU",)),)), "mul-mul").replace(recipe=recipe)
    runs = train(c, range(4), "cpu")
    assert any(right(c, seed, formula) for seed, formula in enumerate(runs.formulas))
