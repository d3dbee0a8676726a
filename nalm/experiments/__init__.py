"""Every experiment by its name, which is a path: a prefix stands for all below it."""

from importlib import import_module

from nalm.config import Experiment
from nalm.errors import unknown

MODULES = (  # in the order in which they are listed; a new one is named here
    "quick",
    "thesis.ch1",
    "thesis.ch3",
    "thesis.ch4",
    "thesis.ch5",
    "thesis.ch5_ablations",
    "thesis.ch6",
    "thesis.ch7",
    "madsen2020",
    "schloer2020",
    "heim2020",
    "trask2018",
    "beyond",
    "logic",
    "mnist.two_digits",
    "mnist.colour",
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
