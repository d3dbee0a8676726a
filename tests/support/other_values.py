"""One value of every configuration class, and a different value for each of its fields."""

from nalm.config import (
    Arithmetic,
    Case,
    Claim,
    Colour,
    Experiment,
    Growth,
    ImageSequence,
    Layer,
    Lists,
    Ramp,
    Range,
    Recipe,
    Recurrent,
    Rows,
    SystemTask,
    Threshold,
    TwoDigits,
    grid,
)

CASE = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)))
EXPERIMENT = Experiment("smt", "Single Module Task", (CASE,), (0, 1), (Claim("Fig. 3.2", "success", 1.0),))
OTHER = {  # a different value for every field of every class
    Range: {"low": 0.5, "high": 2.0, "kind": "sobol", "low2": 1.0, "high2": 1.0, "mean": 1.0, "sd": 2.0},
    Layer: {"unit": "NAU", "out": 2, "options": (("gate", True),)},
    Ramp: {"weight": 2.0, "start": -1.0, "end": 1.0},
    Growth: {"start": 1e-8, "end": 1e-5, "every": 10},
    Recipe: {"steps": 1, "batch": 1, "lr": 0.1, "optimiser": "sgd", "momentum": 0.9, "schedule": "cosine"}
    | {"loss": "pcc", "then": "mape", "switch": 7, "penalties": (("w", Ramp(1)),), "l1": Growth(1e-9, 1e-7)}
    | {"l2": Growth(1e-9, 1e-7), "clip_norm": 1.0, "clip_value": 1.0, "gradient_noise": 1.0, "inalu": True}
    | {"stop_when_solved": True, "grid": 21, "decay": 0.9, "polish": 5, "starts": (("0.weight", 0.0, 1.0),)}
    | {
        "weight_decay": 1e-3,
        "norm": "scaled",
        "normal_starts": (("0.weight", 0.0, 1.0),),
        "rules": "schloer",
    },
    Threshold: {"kind": "sums", "epsilon": 1e-4, "value": 1.0, "widened": True},
    Case: {"model": (Layer("NAU"),), "task": Arithmetic("add", Range(), Range()), "recipe": Recipe(steps=1)},
    Claim: {"source": "x", "metric": "x", "value": 2.0, "low": 0.1, "high": 0.2, "n": 25, "note": "x"}
    | dict.fromkeys(("place", "task", "unit", "operation", "where"), "x")
    | dict.fromkeys(("cases", "rows", "points"), ("x",)),
    Experiment: {"name": "x", "title": "x", "cases": (), "seeds": (3,), "claims": ()},
}
FIRST = [Range(), Layer("NMU"), Ramp(1), Growth(1e-9, 1e-7), Recipe(then="pcc", switch=1), Threshold()]
FIRST += [CASE, EXPERIMENT.claims[0], EXPERIMENT]
RANGES = {"train": Range(), "test": Range(), "threshold": Threshold("fixed"), "inputs": 9}
OPERANDS = {
    **RANGES,
    "operation": "add",
    "subset": 2,
    "overlap": 1,
    "subsets": 1,
    "operands": ((0, 4), (0, 2)),
}
DIGITS = {
    "train": grid(1, 10),
    "threshold": Threshold("fixed", value=0.5),
    "source": "drawn",
    "every": 3,
    "start": 4,
}
PAIRS = {**DIGITS, "operation": "add", "samples": 9, "folds": 4, "exact": "rounded", "chosen": "train"}
TASKS = {  # a task of every kind, and another value for each of its fields
    Arithmetic("multiply", Range(1, 2), Range(2, 6), inputs=8, subset=3): {
        **OPERANDS,
        **{"sample": 1, "data": "authors", "scaling": "zscore", "counts": (1e-3,), "noise": 0.1},
        "grids": (("multiply", Range(0, 1, "grid")),),
    },
    Recurrent("multiply", Range(1, 2), Range(2, 6), inputs=8, subset=3): {**OPERANDS, "times": (2, 3)},
    Lists("smallest", Range(1, 2), Range(2, 6)): {**RANGES, "operation": "count", "test_inputs": 9},
    Rows("area", Range(1, 2), Range(2, 6), "3f2a"): {
        **{"train": Range(), "test": Range(), "threshold": Threshold("fixed", value=2.0), "operation": "add"},
        **{"digest": "77", "inputs": 9, "outputs": 2, "sample": 7},
    },
    SystemTask("fractional_sir", Range(1, 2), Range(2, 6)): {**RANGES, "counts": (1e-3,)},
    TwoDigits("multiply"): {**PAIRS, "generator": "torch"},
    Colour("multiply"): {**PAIRS, "validation": 0.3, "identity": True},
    ImageSequence("multiply"): {**DIGITS, "operation": "add", "inputs": 9, "length": 1, "lengths": (1, 2)},
}
