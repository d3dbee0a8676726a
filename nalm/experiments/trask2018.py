"""Trask 2018: Neural arithmetic logic units. The recurrent task, in which two sums grow over a sequence.

Andrew Trask, Felix Hill, Scott Reed, Jack Rae, Chris Dyer, Phil Blunsom, NeurIPS 2018, arXiv:1808.00508;
described in Mistry 2023, section D.1.

At each time step the first layer sees ten inputs and its own last output; after the last step the second layer
calculates with the two sums. Longer sequences in the test make numbers far larger than any in training. The thesis
describes no more than that, and the paper gives no details: sizes, lengths and units are our choice.
"""

from nalm.config import Case, Experiment, Layer, Range, Recipe, Threshold
from nalm.experiments.thesis.ch3 import sparse

STEPS = 50_000
PLAIN = Recipe(steps=STEPS)
MODELS = {
    "add": (("NAC", "NAC", PLAIN), ("NALU", "NALU", PLAIN), ("NAU", "NAU", sparse(0.01))),
    "subtract": (("NAC", "NAC", PLAIN), ("NALU", "NALU", PLAIN), ("NAU", "NAU", sparse(0.01))),
    "multiply": (("NAC", "NACMul", PLAIN), ("NALU", "NALU", PLAIN), ("NAU", "NMU", sparse(10))),
}

EXPERIMENTS = (
    Experiment(
        "trask/recurrent",
        "Which units keep two sums over a sequence, and calculate with them? (thesis D.1)",
        tuple(
            Case(
                (Layer(cell, 2), Layer(unit)),
                operation,
                Range(1, 2),
                Range(1, 2),
                recipe,
                inputs=10,
                subset=3,
                overlap=1,
                threshold=Threshold("sums"),
                times=(5, 50),
            )
            for operation, models in MODELS.items()
            for cell, unit, recipe in models
        ),
        tuple(range(10)),
    ),
)
