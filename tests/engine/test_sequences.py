"""Sequences: the first layer keeps a state, operands are sums over time, and the test may be longer."""

import pytest
import torch

from nalm.config import Case, Layer, Range, Recipe, Recurrent, Threshold
from nalm.engine import check, train
from nalm.engine.model import Network
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run, populations, product
from nalm.errors import NALMError
from nalm.tasks.operands import Target, subsets
from nalm.tasks.threshold import threshold

CASE = Case(
    (Layer("NAU", 2), Layer("NMU")),
    Recurrent(
        "multiply",
        Range(1, 2),
        Range(1, 2),
        inputs=4,
        subset=2,
        overlap=1,
        threshold=Threshold("sums"),
        times=(3, 7),
    ),
    Recipe(steps=20),
)


def solved(seed=0):
    """A network whose cell adds its operands to what it has."""
    network = Network(CASE.model, CASE.inputs, recurrent=True)
    weight = torch.zeros(2, 6)
    for row, members in enumerate(subsets(CASE, seed)):
        weight[row, list(members)] = 1
        weight[row, 4 + row] = 1
    cell, unit = network.parts()
    cell.assign_({"weight": weight})
    unit.assign_({"weight": torch.ones(1, 2)})
    return network.eval()


@pytest.mark.parametrize("length", [1, 3, 7])
def test_a_cell_that_keeps_its_sums_is_right_at_any_length(length):
    x = 1 + torch.rand(5, 4 * length, generator=torch.Generator().manual_seed(0))
    target = Target([CASE], [0])(x.unsqueeze(0))[0]
    sums = [x.unflatten(-1, (length, 4)).sum(1)[:, list(m)].sum(-1) for m in subsets(CASE, 0)]
    torch.testing.assert_close(target.squeeze(-1), sums[0] * sums[1])
    torch.testing.assert_close(solved()(x), target)
    torch.testing.assert_close(solved().penalised(x, ["weight"])[0], target)


def test_it_is_judged_on_longer_sequences_and_below_its_threshold():
    program = Program([Run(CASE, 0, 0)], torch.device("cpu"), compiled=False)
    assert (program.data.train.inputs, program.data.test.inputs, program.data.total) == (12, 28, 1_000)
    for name, p in solved().named_parameters():
        program.params[name].copy_(p.unsqueeze(0))
    validation, test = program.evaluate()
    assert validation < 1e-8 and test < threshold(CASE)
    assert threshold(CASE) > threshold(CASE.replace(times=(1, 1)))


def test_it_trains_and_says_no_formula():
    runs = train(CASE, range(3), device="cpu", compiled=False)
    assert runs.formulas == [""] * 3 and all(t[-1] < t[0] for t in runs.validation)
    check([CASE])


def test_lengths_are_part_of_the_program_and_come_in_twos():
    assert len(populations(product([CASE, CASE.replace(times=(3, 9))], [0]))) == 2
    with pytest.raises(NALMError, match="length in training and one in the test"):
        CASE.replace(times=(3,))
