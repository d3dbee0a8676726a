"""Modules that cannot be stacked or taken apart, and their error messages."""

import pytest
import torch
from torch import nn

from nalm.errors import NALMError
from nalm.population import keep, member, stack
from nalm.units import NAU, NMU, SNMU
from nalm.units.baselines import Fixed


def four() -> nn.Module:
    return stack([NMU(2, 1) for _ in range(4)])


ALONE = {"unit": lambda: NMU(2, 1), "network": lambda: nn.Sequential(NMU(2, 2), nn.ReLU())}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "A population needs at least one member, got none."),
        (
            [nn.Sequential(nn.Linear(8, 2), NMU(2, 1))],
            r"The part '0' is an nn.Linear, .*: use nalm.BASELINES\['Linear'\]\(8, 2, bias=True\) in its place.",
        ),
        ([NMU(2, 1), NAU(2, 1)], r"Member 1 is NAU\(.*\), member 0 is NMU\(.*\): a population has one kind."),
        ([NMU(2, 1), NMU(2, 1, penalty="squared")], "Member 1 is .*'squared'.*a population has one kind."),
        (
            [NMU(2, 1), NMU(2, 1), NMU(3, 1)],
            "Member 2 has other shapes or types than member 0: stack equal layers only.",
        ),
        ([SNMU(2, 1), SNMU(2, 1, noise_range="batch")], "Member 1 is .*a population has one kind."),
        (
            [nn.Sequential(NMU(2, 1)), nn.Sequential(NAU(2, 1))],
            "Member 1 is .*a population has one kind.",
        ),
    ],
    ids=["none", "linear", "class", "option", "shape", "noise", "nested"],
)
def test_unlike_members_are_refused(parts, message):
    with pytest.raises(NALMError, match=f"(?s)^{message}$"):
        stack(parts)


@pytest.mark.parametrize("index", [4, -5])
def test_a_member_that_does_not_exist_is_refused(index):
    with pytest.raises(NALMError, match=f"There is no member {index} in a population of 4"):
        member(four(), index)


@pytest.mark.parametrize("which", [[0, 4], [-5], torch.tensor(2), torch.tensor([[0, 1]])], ids=str)
def test_runs_that_do_not_exist_are_refused(which):
    with pytest.raises(NALMError, match="Runs of this population are numbered 0 to 3, got"):
        keep(four(), which)


@pytest.mark.parametrize("mask", [[True], [True] * 5], ids=len)
def test_a_mask_of_the_wrong_size_is_refused(mask):
    with pytest.raises(NALMError, match=rf"A mask for 4 runs has shape \(4,\), got \({len(mask)},\)"):
        keep(four(), mask)


@pytest.mark.parametrize("alone", ALONE)
def test_a_single_module_cannot_be_taken_apart(alone):
    for take in (lambda m: member(m, 0), lambda m: keep(m, [0])):
        with pytest.raises(NALMError, match="is a single module: stack members before taking them apart"):
            take(ALONE[alone]())


def test_a_module_without_parameters_has_no_members():
    with pytest.raises(NALMError, match="has no parameters, so it has no members"):
        member(stack([Fixed(2, 1), Fixed(2, 1)]), 0)
