"""SINDy with a polynomial library (Brunton 2016; package pysindy), to compare ``nalm.ode`` with."""

import itertools
import warnings

import numpy as np

from benchmarks.known_systems import Known, Part
from nalm.discover.law.expression import Array
from nalm.errors import NALMError
from nalm.ode.system import System

THRESHOLDS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of coefficients, with variables and time scaled to 1
DEGREES = (2, 3)


def sindy(t: Array, x: Array, known: Known, noise: float, seed: int, time_limit: float) -> System:
    """Fit with SINDy and a polynomial library, with the degree and threshold that describe the samples best."""
    try:
        import pysindy
    except ImportError:
        raise NALMError("The comparison needs pysindy: pip install nalm[baselines].") from None
    scale, best = np.abs(x).max(0), (np.inf, _nothing(known))
    for degree, threshold in itertools.product(DEGREES, THRESHOLDS):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = pysindy.SINDy(
                optimizer=pysindy.STLSQ(threshold=threshold, alpha=1e-6),
                feature_library=pysindy.PolynomialLibrary(degree=degree),
                differentiation_method=pysindy.SmoothedFiniteDifference()
                if noise
                else pysindy.FiniteDifference(order=4),
            )
            model.fit(x / scale, t=t / known.span)
        rows = _polynomial(
            np.asarray(model.coefficients()), np.asarray(model.feature_library.powers_), scale, known.span
        )
        system = Known(known.name, known.names, rows, known.start, known.span, known.samples, ()).system
        try:
            off = (system.simulate(t, x[0], rtol=1e-6, max_time=5.0) - x) / x.std(0)
        except NALMError:
            continue
        size = sum(map(len, rows))
        length = x.size * np.log(np.mean(off**2) + 1e-14) + 1.5 * np.log(x.size) * size
        best = min(best, (float(length), system), key=lambda b: b[0])
    return best[1]


def _nothing(known: Known) -> System:
    empty = tuple(() for _ in known.names)
    return Known(known.name, known.names, empty, known.start, known.span, known.samples, ()).system


def _polynomial(
    coefficients: Array, powers: Array, scale: Array, span: float
) -> tuple[tuple[Part, ...], ...]:
    """Convert SINDy's coefficients of scaled variables into terms in the units of the data."""
    rows = []
    for j, row in enumerate(coefficients):
        rows.append(
            tuple(
                Part(float(c * scale[j] / np.prod(scale**p) / span), tuple(map(float, p)))
                for c, p in zip(row, powers, strict=True)
                if c
            )
        )
    return tuple(rows)
