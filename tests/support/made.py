"""Runs, outcomes and claims made by hand, for the tests of what comes after training."""

import numpy as np

from nalm.config import Arithmetic, Case, Claim, Layer, Range, Recipe
from nalm.results.runs import Outcome, Runs


def case(lr=1e-3):
    return Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(lr=lr, steps=2_000))


def runs(cases=None, seeds=(0, 1), test=(1.0, 1e-12)):
    cases = cases or [case()] * len(seeds)
    n = len(cases)
    steps = np.array([0, 1_000, 2_000])
    curve = [np.array([9.0, 1.0, t]) for t in test]
    return Runs(
        cases=list(cases),
        seeds=list(seeds),
        steps=[steps] * n,
        validation=curve,
        test=[c / 2 for c in curve],
        sparsity=[np.array([0.5, 0.4, 0.3])] * n,
        weights=[{"0.weight": np.eye(2)}] * n,
        trajectories=[{"0.weight": np.ones((3, 1, 2), np.float32)}] * n,
        formulas=["a*b"] * n,
        thresholds=[1e-7] * n,
        seconds=[0.5] * n,
        modes=["eager"] * n,
        resets=[0] * n,
    )


def outcomes(unit, solved, at=3_000, sparsity=0.0, train=None, inputs=2):
    train = train or Range(1, 2)
    case = Case((Layer(unit),), Arithmetic("multiply", train, Range(2, 6), inputs=inputs))
    return [
        Outcome(
            case=case,
            seed=i,
            outcome="solved" if s else "unsolved",
            solved_at=at + 10 * i if s else None,
            best_step=5_000,
            validation=0.0,
            test=0.0,
            sparsity=sparsity,
            threshold=1e-7,
            steps=50_000,
            resets=0,
            formula="a*b",
            seconds=1.0,
            mode="eager",
            device="cpu",
            neighbours=1,
        )
        for i, s in enumerate(solved)
    ]


def claim(
    metric, value, low=None, high=None, unit="NMU", where="U[1,2)", task="single-module, 2 inputs", n=None
):
    return Claim("s", metric, value, low, high, n, "", "Fig. 1", task, unit, "multiply", where)
