"""Formulas of a population: its rounded weights are those of each run alone."""

import numpy as np
import pytest
import torch

from nalm.config import Layer
from nalm.engine.model import Network
from nalm.engine.numbers.formulas import rounded
from nalm.engine.spelling import TooLongError, spelled
from nalm.units import UNITS
from nalm.units.spelling import letters


@pytest.mark.parametrize("unit", UNITS)
def test_many_runs_are_rounded_as_each_alone(unit):
    one = Network([Layer(unit)], 2).eval()
    params = {name: 3 * p for name, p in one.starts(range(4), torch.zeros(4)).items()}
    next(iter(params.values()))[3] = torch.nan
    rows = rounded(one, params)
    for i in range(4):
        with torch.no_grad():
            for name, p in params.items():
                one.get_parameter(name).copy_(p[i])
        alone = [w.flatten().numpy() for part in one.parts() for w in part.rounded().values()]
        np.testing.assert_array_equal(rows[i], np.concatenate(alone))


def test_a_formula_of_too_many_choices_is_not_spelt():
    """Seven NALUs of unsaturated weights make 2^7 combinations of their paths: that took minutes, then failed."""
    one = Network([Layer("NALU", 7), Layer("NALU", 1)], 40).eval()
    with torch.no_grad():
        for name, p in one.starts([0], torch.zeros(1)).items():
            one.get_parameter(name).copy_(torch.randn(p[0].shape, generator=torch.Generator().manual_seed(0)))
    with pytest.raises(TooLongError, match="too many choices"):
        spelled(one, letters(40))
