"""Experiments of the literature, one paper or chapter per file, as data; published numbers; selection by name.

May import config only, and never torch. To add a paper write a file with a tuple ``EXPERIMENTS`` and name it in
``MODULES``; CONTRIBUTING.md has all steps.
"""

from collections.abc import Iterable, Iterator, MutableMapping
from importlib import import_module

from nalm.config import Experiment
from nalm.errors import unknown

# first part of the names of its experiments, and the module, in the order in which they are listed
MODULES = (
    ("quick", "quick"),
    ("thesis/ch1", "thesis.ch1"),
    ("thesis/ch3", "thesis.ch3"),
    ("thesis/ch4", "thesis.ch4"),
    ("thesis/ch4", "thesis.ch4_denoising"),
    ("thesis/ch5", "thesis.ch5"),
    ("thesis/ch5", "thesis.ch5_ablations"),
    ("thesis/ch6", "thesis.ch6"),
    ("thesis/ch7", "thesis.ch7"),
    ("mcfc", "mcfc"),
    ("madsen", "madsen2020"),
    ("schloer", "schloer2020"),
    ("heim", "heim2020"),
    ("trask", "trask2018"),
    ("beyond", "beyond"),
    ("beyond", "future.noise"),
    ("beyond", "future.division"),
    ("beyond", "future.scientific"),
    ("beyond", "future.unit"),
    ("beyond", "future.losses"),
    ("beyond", "future.codes"),
    ("beyond", "future.selection"),
    ("beyond", "future.coefficients"),
    ("beyond", "future.invalid"),
    ("logic", "logic"),
    ("mnist", "mnist.two_digits"),
    ("mnist", "mnist.colour"),
    ("mnist", "mnist.sequences"),
)


class _Experiments(MutableMapping[str, Experiment]):
    """Experiments by name; looking up a name imports the modules of its paper only, iterating imports all."""

    def __init__(self) -> None:
        self._loaded: dict[str, dict[str, Experiment]] = {}  # by module
        self._added: dict[str, Experiment] = {}

    def _module(self, module: str) -> dict[str, Experiment]:
        if module not in self._loaded:
            found = import_module(f"{__name__}.{module}").EXPERIMENTS
            self._loaded[module] = {experiment.name: experiment for experiment in found}
        return self._loaded[module]

    def __getitem__(self, name: str) -> Experiment:
        if name in self._added:
            return self._added[name]
        for prefix, module in MODULES:
            if below(prefix, [name]) and name in self._module(module):
                return self._module(module)[name]
        raise KeyError(name)

    def __setitem__(self, name: str, experiment: Experiment) -> None:
        self._added[name] = experiment

    def __delitem__(self, name: str) -> None:
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        published = (name for _, module in MODULES for name in self._module(module))
        return iter(dict.fromkeys((*published, *self._added)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def about(self, name: str) -> str:
        """Return the first line of the file that holds an experiment, which names its paper; empty for a user's."""
        for prefix, module in MODULES:
            if below(prefix, [name]) and name in self._module(module):
                return (import_module(f"{__name__}.{module}").__doc__ or "").partition("\n")[0]
        return ""

    def below(self, path: str) -> list[Experiment]:
        """Return the experiments at or below a path, from the modules that can hold them."""
        modules = [module for prefix, module in MODULES if below(path, [prefix]) or below(prefix, [path])]
        known = {name: e for module in modules for name, e in self._module(module).items()} | self._added
        return [known[name] for name in below(path, known)]


def below(path: str, names: Iterable[str]) -> list[str]:
    """Select the names that are this path or begin with it; an empty path selects all.

    >>> below("thesis/ch3/", ["thesis/ch3", "thesis/ch3/add", "thesis/ch31"])
    ['thesis/ch3', 'thesis/ch3/add']
    """
    start = path.strip("/")
    return [name for name in names if not start or f"{name}/".startswith(f"{start}/")]


EXPERIMENTS = _Experiments()


def experiments(name: str) -> list[Experiment]:
    """Return the experiment of that name, or all whose path begins with it.

    >>> [e.name for e in experiments("thesis/ch3")][:2]
    ['thesis/ch3/add', 'thesis/ch3/sub']
    """
    path = name.strip("/")
    found = EXPERIMENTS.below(path) if path else []
    if not found:
        raise unknown("experiment", name, EXPERIMENTS, see="`nalm list`")
    return found
