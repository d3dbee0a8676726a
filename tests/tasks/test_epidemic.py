"""The fractional SIR model against the published trajectory, and against itself."""

import numpy as np
import pytest
import sympy

from nalm.errors import NALMError
from nalm.experiments.published import claims
from nalm.tasks.epidemic import NAMES, START, FractionalSIR, published


def test_the_data_are_the_published_ones():
    times, values = published()
    assert times.shape == (40,) and values.shape == (40, 3)
    for k, name in enumerate(NAMES):
        rows = claims("fSIR trajectory, true", units=(f"true {name}",))
        assert len(rows) == 40
        at = np.array([float(c.where.removeprefix("t=")) for c in rows])
        np.testing.assert_allclose(at, times, rtol=1e-4)
        # theirs is Tsit5 at its default tolerance of 1e-3
        np.testing.assert_allclose([c.value for c in rows], values[:, k], atol=0.03)


def test_nobody_is_born_and_nobody_dies():
    _, values = published()
    np.testing.assert_allclose(values.sum(1), sum(START), rtol=1e-9)
    s, i, r = sympy.symbols("S I R", positive=True)
    assert sympy.simplify(sum(FractionalSIR().rates(s, i, r))) == 0


def test_whole_powers_are_the_classic_model():
    model = FractionalSIR(alpha=0.1, beta=0.002, eta=0.0, gamma=1.0, kappa=1.0)
    times = np.linspace(0, 50, 11)
    values = model.trajectory((99.0, 1.0, 0.0), times)
    invariant = values[:, 0] * np.exp(model.beta / model.alpha * values[:, 2])  # S exp(beta R / alpha) stays
    np.testing.assert_allclose(invariant, invariant[0], rtol=1e-8)


@pytest.mark.parametrize(
    "start, times",
    [((-1.0, 1.0, 0.0), [0.0, 1.0]), (START, [0.0]), (START, [1.0, 0.0])],
)
def test_what_cannot_be_simulated_is_a_sentence(start, times):
    with pytest.raises(NALMError, match="rising times"):
        FractionalSIR().trajectory(start, np.array(times))
