"""Mistry 2023, chapter 5: what makes a unit learn to divide? The Real NPU step by step, and all units side by side.

Mistry 2023: An Investigation into Neural Arithmetic Logic Modules, PhD thesis. Mistry 2021: Learning division with
neural arithmetic logic modules, arXiv:2110.05177.

Mistry 2021 counts a run as solved below a fixed error of 1e-5 on every range; the thesis refers to the simulated
thresholds of chapter 3. Runs whose weights end at whole numbers are solved by either.
"""

from collections.abc import Sequence

from nalm.config import Arithmetic, Case, Claim, Experiment, Growth, Layer, Ramp, Range, Recipe, Threshold
from nalm.experiments.published import AND, claims
from nalm.experiments.thesis.ch3 import RANGES, SEEDS, power, sparse

FIXED = Threshold("fixed", value=1e-5)
NEGATIVE = tuple(train for train, _ in RANGES[:4])
POSITIVE = tuple(train for train, _ in RANGES[5:])

REAL = power(1e-9, 1e-7)  # the Real NPU as it was


def modified(start: float, end: float) -> Recipe:
    """Add penalties of weight 1 on weights and gates to the recipe of the Real NPU."""
    ramp = Ramp(1, start, end)
    return REAL.replace(penalties=(("weight", ramp), ("gate", ramp)))


TWO = {  # inputs: 50,000 steps (thesis Table 5.1)
    "RealNPU": REAL,
    "ModifiedRealNPU": modified(40_000, 50_000),
    "NRU": sparse(10).replace(lr=1),
    "NMRU": sparse(10).replace(lr=1e-2, clip_norm=1),
}
LONG = sparse(10, 50_000, 75_000).replace(steps=100_000)
TEN = {  # inputs, eight of them idle
    "RealNPU": REAL.replace(steps=100_000),
    "ModifiedRealNPU": modified(50_000, 75_000).replace(steps=100_000),
    "NRU": LONG.replace(lr=1e-3),
    "NMRU": LONG.replace(lr=1e-2, clip_norm=1),
}
NEW = ("ModifiedRealNPU", "NRU", "NMRU")


def divide(
    unit: str | Layer, recipe: Recipe, inputs: int = 2, ranges: Sequence[tuple[Range, Range]] = RANGES
) -> tuple[Case, ...]:
    """Make the cases of one unit on a / b over some ranges."""
    layer = Layer(unit) if isinstance(unit, str) else unit
    return tuple(
        Case((layer,), Arithmetic("divide", train, test, inputs=inputs, threshold=FIXED), recipe)
        for train, test in ranges
    )


def both(units: Sequence[str], ranges: Sequence[tuple[Range, Range]]) -> tuple[Case, ...]:
    """Make the cases of units with two inputs and with ten."""
    return tuple(
        case
        for inputs, recipes in ((2, TWO), (10, TEN))
        for unit in units
        for case in divide(unit, recipes[unit], inputs, ranges)
    )


def summary(inputs: int, row: str, ranges: Sequence[Range]) -> tuple[Claim, ...]:
    """Return the claims of a row of Table 5.6: mean success over ranges, or the success on one."""
    where = AND.join(map(str, ranges))
    metric = "mean_success_rate" if len(ranges) > 1 else "success_rate"
    found = claims(f"single-module div, {inputs} inputs", places=("Table 5.6",))
    return tuple(c.replace(where=where, metric=metric) for c in found if c.where == row)


def study(
    name: str,
    title: str,
    cases: tuple[Case, ...],
    found: tuple[Claim, ...] = (),
    seeds: tuple[int, ...] = SEEDS,
) -> Experiment:
    """Make an experiment of this chapter."""
    return Experiment(f"thesis/ch5/{name}", title, tuple(dict.fromkeys(cases)), seeds, found)


NO_L1 = REAL.replace(l1=None)
BETAS = ((1e-11, 1e-9), (1e-9, 1e-7), (1e-8, 1e-6), (1e-7, 1e-5), (1e-5, 1e-3), (1e-3, 1e-1), (1e-1, 10))


def clipped(*names: str) -> Layer:
    """Make a Real NPU with some parameters clamped after each step."""
    return Layer("ModifiedRealNPU", options=(("clip", names), ("constrained", False)))


BOTH = clipped("weight", "gate")
DISCRETE = TWO["ModifiedRealNPU"]
GATES = DISCRETE.replace(penalties=DISCRETE.penalties[1:])


def l1_claims() -> tuple[Claim, ...]:
    """Return the claims about ranges on which the Real NPU is worse and better without L1."""
    found = {c.metric: c for c in claims("Real NPU L1 ablation")}
    pair = "RealNPU vs RealNPU (L1 1e-09 to 1e-07)"
    return tuple(
        found[f"n_ranges_{word}_without_L1"].replace(metric=f"n_ranges_{word}", unit=pair)
        for word in ("worse", "better")
    )


def l2_claims() -> tuple[Claim, ...]:
    """Return the claims about ranges on which L2 is below, equal to or above L1 and no penalty."""
    words = {"lower": "worse", "worse": "worse", "equal": "equal", "same": "equal", "better": "better"}
    l2, other = "RealNPU (L2 1e-07 to 1e-05)", {"L1": "RealNPU (L1 1e-09 to 1e-07)", "none": "RealNPU"}
    return tuple(
        c.replace(
            metric=f"n_ranges_{words[c.metric.split('_')[3]]}",
            unit=f"{l2} vs {other[c.metric.split('_')[-1]]}",
        )
        for c in (*claims("Real NPU L2 vs L1"), *claims("Real NPU L2 vs none"))
    )


def main_claims() -> tuple[Claim, ...]:
    """Return the claims of the text and abstract of Mistry 2021, and the rows of Table 5.6 about one sign."""
    found = [*claims("single-module div, 2 inputs", places=("Sec 6.1",))]
    for c in claims("single-module div, 10 inputs", places=("Abstract", "Sec 6.3")):
        if c.metric == "success_rate_gain_over_baseline":
            c = c.replace(
                metric="success_rate_difference", value=c.value / 100, unit="ModifiedRealNPU minus RealNPU"
            )
        found.append(c.replace(where=c.where.replace("mean over 9 ranges x 25 seeds", "9 ranges")))
    found += [
        c.replace(task="single-module div, 10 inputs", where="9 ranges") for c in claims("NMRU redundancy")
    ]
    for inputs in (2, 10):
        found += summary(inputs, "Negative / Uniform", NEGATIVE) + summary(
            inputs, "Positive / Uniform", POSITIVE
        )
    return tuple(found)


def discretisation_claims() -> tuple[Claim, ...]:
    """Return the claim that the baseline has two more successes on one range than weights drawn to whole numbers."""
    plain = "ModifiedRealNPU (clip weight gate, not constrained"
    return tuple(
        c.replace(
            metric="success_rate_difference",
            value=c.value / len(SEEDS),
            unit=f"{plain}) minus {plain}, weight 1, gate 1)",
        )
        for c in claims("Real NPU discretisation")
    )


def lr_claims() -> tuple[Claim, ...]:
    """Return the claims about the NRU with a learning rate of 1."""
    return tuple(
        c.replace(unit="NRU (lr 1)", where=c.where.removeprefix("lr=1; "))
        for c in claims("NRU learning rate")
    )


EXPERIMENTS = (
    study(
        "main",
        "Which unit learns a / b from 2 inputs, and from 10? (thesis 5.5, Figs 5.6, 5.7)",
        both(tuple(TWO), RANGES),
        main_claims(),
    ),
    study(
        "l1",
        "Does the Real NPU need L1? (thesis Fig. 5.4a)",
        divide("RealNPU", REAL) + divide("RealNPU", NO_L1),
        l1_claims(),
    ),
    study(
        "beta",
        "How strong should the Real NPU's L1 be? (thesis Fig. 5.4b; the text says six, the code has seven)",
        tuple(c for ends in BETAS for c in divide("RealNPU", REAL.replace(l1=Growth(*ends)))),
    ),
    study(
        "clipping",
        "Does it help to clamp the Real NPU's gates, weights, or both? (thesis Fig. 5.5a)",
        divide("RealNPU", REAL)
        + divide(clipped("gate"), REAL)
        + divide(clipped("weight"), REAL)
        + divide(BOTH, REAL),
    ),
    study(
        "discretisation",
        "Does pressure towards whole gates, or whole gates and weights, help? (thesis Fig. 5.5b)",
        divide(BOTH, REAL) + divide(BOTH, GATES) + divide(BOTH, DISCRETE),
        discretisation_claims(),
    ),
    study(
        "start",
        "Does a start within [-0.5, 0.5] help? (thesis Fig. 5.5c)",
        divide(BOTH, DISCRETE) + divide("ModifiedRealNPU", DISCRETE),
    ),
    study(
        "l2",
        "Is L2 as good as L1 for the Real NPU? (thesis G.3; its L2 ran with other weights, as in the code)",
        divide("RealNPU", NO_L1)
        + divide("RealNPU", REAL)
        + divide("RealNPU", NO_L1.replace(l2=Growth(1e-7, 1e-5))),
        l2_claims(),
    ),
    study(
        "realnpu-lr",
        "Which learning rate suits the modified Real NPU? (thesis Fig. G.3)",
        tuple(
            c for lr in (5e-4, 5e-3, 5e-2, 5e-1) for c in divide("ModifiedRealNPU", DISCRETE.replace(lr=lr))
        ),
    ),
    study(
        "nru-lr",
        "Which learning rate suits the NRU? (thesis G.4)",
        tuple(c for lr in (1e-3, 1e-2, 1e-1, 1) for c in divide("NRU", TWO["NRU"].replace(lr=lr))),
        lr_claims(),
    ),
    study(
        "nru-tanh",
        "How sharp must the NRU's stand-in for |w| be? (thesis G.2; the scales are ours, none are published)",
        tuple(
            c
            for scale in (1.0, 10.0, 100.0)
            for c in divide(Layer("NRU", options=(("tanh_scale", scale),)), TWO["NRU"])
        )
        + divide("NRU", TWO["NRU"]),  # 1000, as published
    ),
)
