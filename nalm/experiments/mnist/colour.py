"""Products of two digits that lie in two colour channels of one image and have to be located first.

Mistry 2023 (An Investigation into Neural Arithmetic Logic Modules, PhD thesis), section 4.6.1.2, and Mistry
2022c (Improving the robustness of neural multiplication units with reversible stochasticity), section 8.2.
Departures from the papers: those of two_digits.py.
"""

from nalm.config import Case, Claim, Colour, Experiment, Layer
from nalm.experiments.mnist.two_digits import BATCH, pressed, reading
from nalm.experiments.published import Name, claims, once, tied

COLOUR = Colour("multiply", samples=1_100, folds=3, validation=0.15, exact="rounded")


def colour(layer: Layer, identity: bool = False) -> Case:
    """Make the case of a layer that multiplies two digits in two channels."""
    case = reading(layer, COLOUR.replace(identity=identity), batch=256)
    return pressed(case, 100, "weight") if layer.unit in ("NMU", "SNMU") else case


MUL, FC = Layer("Fixed", options=(("operation", "multiply"),)), Layer("ProductFC")
NMU, SNMU = Layer("NMU"), Layer("SNMU")
COLOURS: dict[Name, Case] = {
    ("MUL (solved baseline)", "multiply", "3 folds"): colour(MUL),
    ("sNMU batch", "multiply", "3 folds"): colour(BATCH),
}
GAIN = "sNMU batch minus MUL"  # in how many of the first digits are read


def colour_claims() -> tuple[Claim, ...]:
    """Return the claims about single units, and about the difference of two."""
    found = claims("MNIST colour-channel product")
    pair = tuple(case.hash for case in COLOURS.values())
    return once((*tied(found, COLOURS), *(c.replace(cases=pair) for c in found if c.unit == GAIN)))


EXPERIMENTS = (
    Experiment(
        "mnist/colour",
        "Does a unit learn to multiply digits that have to be found first? (thesis 4.6.1.2, Figs 4.14, 4.15, F.6)",
        tuple(map(colour, (MUL, FC, NMU, SNMU, BATCH))),
        tuple(range(3)),
        colour_claims(),
    ),
    Experiment(
        "mnist/colour-identity",
        "The same with localisers that start as the identity, which the published code erases before it trains.",
        tuple(colour(layer, identity=True) for layer in (MUL, NMU, BATCH)),
        tuple(range(3)),
    ),
)
