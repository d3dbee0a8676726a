"""Tables of reversible noise: solved runs and wrong formulas with and without it, for the page future-work.md."""

from future_measured import Pair, by_task, case_of, compared, kinds, measured, solved, task_of, told
from future_runs import NOT_SHIPPED, formulas_of
from tables import table

from nalm.experiments.future.noise import WITHOUT_NOISE
from nalm.lab.measured import Measured


def noise_pairs() -> list[Pair]:
    """Return every cell with reversible noise beside the same unit without it."""
    ours = measured("beyond/reversible-noise", "beyond/noise-distributions")
    plain = by_task([*measured("thesis/ch5/main"), *measured("thesis/ch4/single")])
    pairs: list[Pair] = []
    for m in ours:
        without = [o for o in plain.get(task_of(m), ()) if o.unit == WITHOUT_NOISE.get(m.unit, "NMU")]
        pairs += [(max(without, key=lambda o: o.n), m)] if without else []
    return pairs


def noise() -> str:
    """Return the solved runs with and without reversible noise, in every cell."""
    pairs = noise_pairs()
    lines = [
        (
            f"`{m.unit}`",
            distribution(m),
            m.operation,
            str(m.inputs),
            f"`{m.train}`",
            told(o),
            told(m),
            *words,
        )
        for (o, m), words in zip(pairs, compared(pairs), strict=True)
    ]
    head = ("unit", "noise", "operation", "inputs", "range", "without", "with", "p", "noise is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/reversible-noise")


def distribution(m: Measured) -> str:
    """Return the distribution of the noise of a case."""
    return str(dict(case_of(m).model[-1].options).get("distribution", "uniform"))


def optima() -> str:
    """Return the wrong formulas of units with two inputs, where a run with or without noise is not solved."""
    lines = []
    for o, m in noise_pairs():
        plain, noisy = (formulas_of(x.experiment, x.case) for x in (o, m))
        target = {"multiply": "a*b", "divide": "a/b"}[m.operation]
        if m.inputs == 2 and solved(o) + solved(m) < o.n + m.n:
            words = (
                "; ".join(f"`{text}` {n:,}" for text, n in found.items() if text != target) or "none"
                for found in (plain, noisy)
            )
            lines.append((f"`{m.unit}`", distribution(m), f"`{m.train}`", *words))
    head = ("unit", "noise", "range", "wrong formulas without", "wrong formulas with")
    return table(head, lines) if lines else NOT_SHIPPED.format(name="beyond/reversible-noise")
