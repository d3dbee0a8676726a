"""The published recipes of the single-module task (spec section 2 and 9), shortened where the tests say so."""

from nalm.config import Arithmetic, Case, Growth, Layer, Ramp, Range, Recipe, Threshold


def ramp(weight, start=20_000, end=35_000):
    return (("weight", Ramp(weight, start, end)),)


NPU_MODIFIED = (("weight", Ramp(1, 40_000, 50_000)), ("gate", Ramp(1, 40_000, 50_000)))
FIXED = Threshold("fixed", value=1e-5)
ONE_TWO = (Range(1, 2), Range(2, 6))

PUBLISHED = {
    "NAU add": Case((Layer("NAU"),), Arithmetic("add", *ONE_TWO), Recipe(penalties=ramp(0.01))),
    "NAU subtract": Case((Layer("NAU"),), Arithmetic("subtract", *ONE_TWO), Recipe(penalties=ramp(0.01))),
    "INALU add": Case((Layer("INALU"),), Arithmetic("add", *ONE_TWO), Recipe(clip_value=0.1, inalu=True)),
    "NMU multiply": Case((Layer("NMU"),), Arithmetic("multiply", *ONE_TWO), Recipe(penalties=ramp(10))),
    "SNMU multiply": Case(
        (Layer("SNMU"),), Arithmetic("multiply", Range(-2, -1), Range(-6, -2)), Recipe(penalties=ramp(10))
    ),
    "RealNPU multiply": Case(
        (Layer("RealNPU"),), Arithmetic("multiply", *ONE_TWO), Recipe(lr=5e-3, l1=Growth(1e-7, 1e-5))
    ),
    "ModifiedRealNPU divide": Case(
        (Layer("ModifiedRealNPU"),),
        Arithmetic("divide", *ONE_TWO, threshold=FIXED),
        Recipe(lr=5e-3, l1=Growth(1e-9, 1e-7), penalties=NPU_MODIFIED),
    ),
    "NRU divide": Case(
        (Layer("NRU"),), Arithmetic("divide", *ONE_TWO, threshold=FIXED), Recipe(lr=1.0, penalties=ramp(10))
    ),
    "NMRU divide": Case(
        (Layer("NMRU"),),
        Arithmetic("divide", *ONE_TWO, threshold=FIXED),
        Recipe(lr=1e-2, penalties=ramp(10), clip_norm=1.0),
    ),
}
TRUTH = {"add": "a + b", "subtract": "a - b", "multiply": "a*b", "divide": "a/b"}
