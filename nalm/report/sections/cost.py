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
        "about": _origin(study.about),
        "counted": _counted(study.counted) if study.counted else None,
    }


def _origin(about: dict[str, Any]) -> dict[str, Any]:
    return {name: about[name] for name in ORIGIN if name in about}


def _counted(about: dict[str, Any]) -> dict[str, Any]:
    """Return the cost and the origin of the tallies, whose runs are not here."""
    seconds, steps = (about.get(name, 0) for name in ("seconds", "run_steps"))
    return {
        "runs": about.get("runs", 0),
        "run_steps": steps,
        "seconds": number(seconds),
        "about": _origin(about),
    }
