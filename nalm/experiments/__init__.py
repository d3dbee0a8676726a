"""Every experiment by its name, which is a path: a prefix stands for all below it."""

from importlib import import_module

from nalm.config import Experiment
from nalm.errors import unknown

MODULES = (  # in the order in which they are listed; a new one is named here
    "quick",
    "ch1",
    "ch3",
    "ch4",
    "ch5",
    "ch5_more",
    "ch6",
    "ch7",
    "madsen",
    "schloer",
    "heim",
    "trask",
    "beyond",
    "logic",
    "mnist",
    "mnist_more",
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for module in MODULES
    for experiment in import_module(f"{__name__}.{module}").EXPERIMENTS
}


def experiments(name: str) -> list[Experiment]:
    """The experiment of that name, or all whose path begins with it.

    >>> [e.name for e in experiments("thesis/ch3")][:2]
    ['thesis/ch3/add', 'thesis/ch3/sub']
    """
    path = name.strip("/")
    found = [e for e in EXPERIMENTS.values() if f"{e.name}/".startswith(f"{path}/")]
    if not found or not path:
        raise unknown("experiment", name, EXPERIMENTS)
    return found
