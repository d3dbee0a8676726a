"""Formulas of a population: its rounded weights are those of each run alone."""

import numpy as np
import pytest
import torch

from nalm.config import Layer
from nalm.engine.model import Network
from nalm.engine.numbers.formulas import rounded
from nalm.units import UNITS


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
