"""A quick start: the multiplication of Mistry 2023, chapter 3, at full length with few seeds."""

from nalm.config import Experiment
from nalm.experiments.thesis.ch3 import PRODUCTS, single, sparse

EXPERIMENTS = (
    Experiment(
        "quick",
        "Which unit learns to multiply two numbers, and on which training range?",
        tuple(
            case
            for unit in ("NACMul", "NALU", "INALU", "NMU", "SNMU", "RealNPU")
            for case in single(unit, "multiply", PRODUCTS.get(unit, sparse(10)))
        ),
        tuple(range(5)),
    ),
)
