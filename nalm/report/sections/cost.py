"""The cost and the origin of an experiment's runs."""

from typing import Any

from nalm.report.figures import number
from nalm.report.study import Study

# seconds per run-step of the published code, one model per process, one core (docs/decisions/003-one-compiled-step.md)
AUTHORS = 920e-6
ORIGIN = ("command", "nalm", "torch", "device", "engine", "date")


def cost(study: Study) -> dict[str, Any]:
    """Return time and run-steps, the time that the published code would take where it is known, and the origin."""
    steps = sum(o.steps for o in study.outcomes)
    unknown = any(o.measures or o.case.task.images for o in study.outcomes)
    return {
        "runs": len(study.outcomes),
        "run_steps": steps,
        "seconds": number(sum(o.seconds for o in study.outcomes)),
        "authors": None if unknown else number(steps * AUTHORS),
        "about": {name: study.about[name] for name in ORIGIN if name in study.about},
    }
