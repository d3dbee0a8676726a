"""Which inputs the operands are, and the truth about them, against the published list and plain NumPy."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm import functional as F
from nalm.config import Arithmetic, Case, Growth, Layer, Range, Recipe, Threshold
from nalm.operations import OPERATIONS
from nalm.tasks import Target, offset, subsets
from nalm.tasks.operands import apply, masks

PUBLISHED = (
    "5,5,8,8,7,3,3,4,3,5,4,0,6,2,8,8,5,1,3,5,3,8,5,3,2"  # 10 inputs, seeds 0 to 24 (Madsen 2020, code)
)
SMT = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)))
TEN = SMT.replace(inputs=10)
ADT = SMT.replace(inputs=100, subset=25, overlap=12)
NUMPY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "reciprocal": lambda a, b: 1 / a,
    "square": lambda a, b: a**2,
    "sqrt": lambda a, b: np.sqrt(a),
    "select": lambda a, b: a,
    "mean": lambda a, b: (a + b) / 2,
}
quick = settings(deadline=None, database=None, max_examples=60)
every_layout = pytest.mark.parametrize("case", [SMT, TEN, ADT], ids=["I=2", "I=10", "ADT"])


def inputs(runs: int, rows: int, size: int, seed: int = 0) -> torch.Tensor:
    """Positive numbers around 1, so that roots and quotients are fine."""
    generator = torch.Generator().manual_seed(seed)
    return 0.2 + 2 * torch.rand(runs, rows, size, generator=generator, dtype=torch.float64)


def by_numpy(case: Case, seed: int, x: np.ndarray) -> np.ndarray:
    """Spec 1.1, steps 2, 3 and 6, word for word: subset k starts at the last end less the overlap."""
    start, sums = offset(case, seed), []
    for _ in range(case.task.subsets):
        sums.append(sum(x[:, column] for column in range(start, start + case.task.subset)))
        start = start + case.task.subset - case.task.overlap
    if case.operation in ("add", "multiply"):
        return sum(sums) if case.operation == "add" else math.prod(sums)
    return NUMPY[case.operation](*sums[:2])


def check(cases: list[Case], seeds: list[int], rtol: float = 1e-12) -> None:
    x = inputs(len(cases), 7, cases[0].inputs)
    truth = Target(cases, seeds)(x)
    assert truth.shape == (len(cases), 7, 1) and truth.dtype == x.dtype
    for run, (case, seed) in enumerate(zip(cases, seeds, strict=True)):
        expected = by_numpy(case, seed, x[run].numpy())
        np.testing.assert_allclose(truth[run, :, 0].numpy(), expected, rtol=rtol, atol=1e-12)


# -- positions ---------------------------------------------------------------------------------


def test_the_authors_offsets_are_the_published_ones():
    case = TEN.replace(data="authors")
    assert ",".join(str(offset(case, seed)) for seed in range(25)) == PUBLISHED
    assert [offset(TEN, seed) for seed in range(25)] != [offset(case, seed) for seed in range(25)]


@pytest.mark.parametrize("data", ["draws", "authors"])
def test_the_default_two_layer_task_uses_38_inputs_anywhere_among_100(data):
    case = ADT.replace(data=data)
    assert case.task.used == 38
    assert {offset(case, seed) for seed in range(2_000)} == set(range(63))
    for seed in range(20):
        one, other = subsets(case, seed)
        assert len(one) == len(other) == 25 and len(set(one) & set(other)) == 12
        assert max(other) - min(one) == 37 and min(one) >= 0 and max(other) <= 99


@pytest.mark.parametrize("data", ["draws", "authors"])
def test_two_inputs_leave_no_choice(data):
    assert all(subsets(SMT.replace(data=data), seed) == [range(0, 1), range(1, 2)] for seed in range(20))


@pytest.mark.parametrize(("case", "places"), [(TEN, 9), (ADT, 63)], ids=["I=10", "ADT"])
def test_our_offsets_are_uniform_over_seeds(case, places):
    seeds = 100 * places
    counts = np.bincount([offset(case, seed) for seed in range(seeds)], minlength=places)
    assert len(counts) == places
    statistic = ((counts - 100) ** 2 / 100).sum()  # chi squared
    assert abs(statistic - (places - 1)) < 4 * math.sqrt(2 * (places - 1))


def test_our_offsets_of_neighbouring_seeds_are_independent():
    drawn = np.array([offset(ADT, seed) for seed in range(10_000)])
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / math.sqrt(len(drawn))


@pytest.mark.parametrize(
    "changes",
    [
        {"model": (Layer("NAU", 2), Layer("sNMU"))},
        {"operation": "add"},
        {"train": Range(-2, 2)},
        {"test": Range(20, 40)},
        {"recipe": Recipe(lr=0.5, steps=3, l1=Growth(1e-9, 1e-7))},
        {"sample": 10},
        {"threshold": Threshold("fixed")},
        {"subset": 50, "overlap": 37, "inputs": 125},  # another layout with as many places
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_offset_depends_on_the_seed_alone(changes):
    other = ADT.replace(**changes)
    assert [offset(other, seed) for seed in range(100)] == [offset(ADT, seed) for seed in range(100)]


def test_a_widened_subset_has_one_input_more():
    for exact, wide in zip(subsets(ADT, 3), subsets(ADT, 3, widened=1), strict=True):
        assert list(wide) == [*exact, exact.stop]


@every_layout
def test_masks_mark_the_inputs_of_each_operand(case):
    seeds = [0, 1, 2, 2**40]
    table = masks([case] * 4, seeds)
    assert table.shape == (4, 2, case.inputs) and set(table.unique().tolist()) == {0.0, 1.0}
    for row, seed in zip(table, seeds, strict=True):
        assert [operand.nonzero().flatten().tolist() for operand in row] == [
            list(members) for members in subsets(case, seed)
        ]


# -- truth -------------------------------------------------------------------------------------


def test_every_arithmetic_operation_is_compared():
    assert set(NUMPY) == {name for name, o in OPERATIONS.items() if o.kind == "arithmetic"}


@every_layout
@pytest.mark.parametrize("operation", NUMPY)
@pytest.mark.parametrize("data", ["draws", "authors"])
def test_the_truth_is_what_numpy_computes(case, operation, data):
    check([case.replace(operation=operation, data=data)] * 4, [0, 1, 2, 3])


@every_layout
def test_each_run_of_a_population_has_its_own_operation(case):
    check([case.replace(operation=name) for name in [*NUMPY, *reversed(NUMPY)]], list(range(2 * len(NUMPY))))


@pytest.mark.parametrize("operation", ["add", "multiply"])
@pytest.mark.parametrize(
    "layout", [{"inputs": 3}, {"inputs": 10}, {"inputs": 100, "subset": 25, "overlap": 12}], ids=str
)
@pytest.mark.parametrize("operands", [1, 3])
def test_sums_and_products_take_any_number_of_subsets(operation, layout, operands):
    check([SMT.replace(operation=operation, subsets=operands, **layout)] * 3, [0, 1, 2])


def test_products_of_three_stand_beside_sums_of_three_and_quotients_of_the_first_two():
    names = ["multiply", "add", "divide", "multiply"]
    check([TEN.replace(operation=name, subsets=3) for name in names], [0, 1, 2, 3])


@given(st.data())
@quick
def test_the_truth_is_what_numpy_computes_in_any_layout(data):
    subset, operands = data.draw(st.integers(1, 9)), data.draw(st.integers(2, 4))
    overlap = data.draw(st.integers(0, subset))
    case = SMT.replace(inputs=60, subset=subset, overlap=overlap, subsets=operands)
    names = data.draw(st.lists(st.sampled_from(sorted(NUMPY)), min_size=1, max_size=5))
    seeds = data.draw(st.lists(st.integers(0, 2**33), min_size=len(names), max_size=len(names)))
    check([case.replace(operation=name) for name in names], seeds, rtol=1e-10)


@pytest.mark.parametrize("case", [SMT, TEN], ids=["I=2", "I=10"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_inputs_shared_by_all_runs_are_taken_as_masks_would_take_them(case, dtype):
    cases, seeds = [case.replace(operation=name) for name in NUMPY], [5] * len(NUMPY)
    x = inputs(len(cases), 50, case.inputs).to(dtype)
    operands = F.linear(x, masks(cases, seeds).to(dtype)).unbind(-1)
    expected = torch.stack([apply(name, operands)[run] for run, name in enumerate(NUMPY)])
    assert Target(cases, seeds)(x).equal(expected.unsqueeze(-1))


def test_the_truth_of_a_run_does_not_depend_on_its_neighbours():
    cases = [TEN.replace(operation=name) for name in NUMPY]
    x, seeds = inputs(len(cases), 20, 10), list(range(len(cases)))
    together = Target(cases, seeds)(x)
    for run, (case, seed) in enumerate(zip(cases, seeds, strict=True)):
        assert Target([case], [seed])(x[[run]]).equal(together[[run]])


def test_an_undefined_value_of_one_operation_stays_in_its_run():
    x = torch.tensor([[[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]]])
    truth = Target([SMT.replace(operation=name) for name in ("divide", "reciprocal", "add")], [0] * 3)(x)
    assert truth[0].isnan().all() and truth[1].isinf().all() and (truth[2] == 0).all()


def test_logic_and_comparisons_have_a_truth_too():
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    names = [name for name, o in OPERATIONS.items() if o.kind != "arithmetic"]
    truth = Target([SMT.replace(operation=name) for name in names], [0] * len(names))(
        x.expand(len(names), 4, 2)
    )
    table = dict(zip(names, truth.squeeze(-1).tolist(), strict=True))
    assert table["xor"] == table["not_equal"] == [0, 1, 1, 0]
    assert table["implies"] == table["less_equal"] == [1, 1, 0, 1]
    assert table["not"] == [1, 1, 0, 0] and table["or"] == [0, 1, 1, 1]


def test_one_operation_on_operands_is_its_formula():
    a, b, c = torch.tensor([2.0]), torch.tensor([4.0]), torch.tensor([8.0])
    assert [apply("divide", [a, b]).item(), apply("multiply", [a, b, c]).item()] == [0.5, 64.0]
    assert [apply("add", [a]).item(), apply("reciprocal", [a, b]).item()] == [2.0, 0.5]


def test_operands_may_be_given_and_of_any_size():
    case = SMT.replace(inputs=4, operands=((0, 4), (0, 2)))
    assert case.task.used == 4 and subsets(case, 0) == subsets(case, 7) == [range(4), range(2)]
    x = inputs(2, 5, 4)
    torch.testing.assert_close(Target([case] * 2, [0, 7])(x)[..., 0], x.sum(-1) * x[..., :2].sum(-1))


def test_sums_of_any_size_and_overlap_share_a_population():
    cases = [ADT, ADT.replace(subset=5, overlap=2), ADT.replace(overlap=25)]
    x = inputs(3, 4, 100)
    together = Target(cases, [0, 1, 2])(x)
    alone = [Target([case], [seed])(x[seed : seed + 1]) for seed, case in enumerate(cases)]
    torch.testing.assert_close(together, torch.cat(alone))
