"""Trainings that are shorter than published."""

from collections.abc import Iterable, Mapping

from nalm.config import Case
from nalm.experiments import EXPERIMENTS


def shorter(cases: Mapping[str, Iterable[Case]]) -> list[str]:
    """Return a sentence for each experiment whose cases were trained for fewer steps than published."""
    found = []
    for name, ours in cases.items():
        steps = max((case.recipe.steps for case in ours), default=0)
        published = max(c.recipe.steps for c in EXPERIMENTS[name].cases) if name in EXPERIMENTS else 0
        if steps < published:
            found.append(
                f"{name} was trained for {steps:,} of {published:,} published steps: "
                "a run that is not solved here may only need more of them."
            )
    return found
