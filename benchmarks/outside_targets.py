"""Targets that no law equals: special functions, pieces, networks, noise, and functions that hardly vary."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from nalm.discover.law.expression import Array

Target = Callable[[Array], Array]
RANGES = ((1.0, 2.0), (1e-3, 2e-3), (1.1, 1.2), (-2.0, 2.0), (0.1, 1.0), (5.0, 9.0), (100.0, 101.0))
COLUMNS = (1, 2, 3, 5)
FLAT = 1e-9  # share of its size by which a special function varies at least

SPECIAL: dict[str, Target] = {
    "j0": special.j0,
    "j1": special.j1,
    "y0": lambda u: special.y0(np.abs(u) + 0.1),
    "i0": lambda u: special.i0e(u),
    "k0": lambda u: special.k0e(np.abs(u) + 0.1),
    "erf": special.erf,
    "dawson": special.dawsn,
    "gamma": lambda u: special.gammaln(1 + np.abs(u)),
    "digamma": lambda u: special.digamma(1 + np.abs(u)),
    "airy": lambda u: special.airy(u)[0],
    "zeta": lambda u: special.zeta(1.5 + np.abs(u)),
    "lambert": lambda u: np.real(special.lambertw(1 + np.abs(u))),
    "integral": lambda u: special.sici(u)[0],
    "exponential integral": lambda u: special.exp1(0.1 + np.abs(u)),
    "elliptic": lambda u: special.ellipk(0.9 * np.tanh(u)),
    "fresnel": lambda u: special.fresnel(u)[0],
    "spence": lambda u: special.spence(1 + np.abs(u)),
    "struve": lambda u: special.struve(0, u),
}
SLOW: dict[str, Target] = {
    "sin": np.sin,
    "tanh": np.tanh,
    "atan": np.arctan,
    "exp": np.exp,
    "cosh": np.cosh,
    "log": lambda u: np.log(1 + np.abs(u)),
    "root": lambda u: np.sqrt(1 + u**2),
    "logistic": special.expit,
    "tower": lambda u: np.exp(np.sin(u)),
    "waves": lambda u: np.sin(u) + np.cos(0.7 * u),
}
BESIDE: tuple[Callable[[Array, Array], Array], ...] = (
    lambda g, b: g,
    lambda g, b: g * b,
    lambda g, b: g + b,
    lambda g, b: g / (1 + b**2),
)
PIECES: tuple[Callable[[Array, Array], Array], ...] = (
    lambda a, b: np.maximum(a, b),
    lambda a, b: np.floor(3 * a) + b,
    lambda a, b: np.mod(3 * a, 1) * (1 + b**2),
    lambda a, b: np.where(a > 0, a + b, a * b),
    lambda a, b: np.clip(a, -0.5, 0.5) + b,
    lambda a, b: np.sign(a) * b**2,
)
LAWS: tuple[Callable[[Array, Array], Array], ...] = (
    lambda a, b: a * b,
    lambda a, b: a + 2 * b,
    lambda a, b: a**2 / (3 + b**2),
    lambda a, b: np.sin(a) * b,
    lambda a, b: np.exp(-np.abs(b)) + a,
)


@dataclass(frozen=True)
class Problem:
    """A table, and the same target on far rows where it is a function; empty where nothing may be exact."""

    name: str
    x: Array
    y: Array
    noise: float  # declared
    far_x: Array
    far_y: Array


def _table(rng: np.random.Generator) -> Array:
    low, high = RANGES[int(rng.integers(len(RANGES)))]
    rows = int(rng.choice((60, 150, 400)))
    return rng.uniform(low, high, (rows, int(rng.choice(COLUMNS))))


def _centred(x: Array) -> tuple[Array, Array]:
    """Return the first and the last column with mean 0 and spread 1."""
    z = (x - x.mean(0)) / x.std(0)
    return z[:, 0], z[:, -1]


def _problem(
    name: str, x: Array, y: Array, far_x: Array | None = None, far_y: Array | None = None
) -> Problem:
    nothing = np.empty((0, x.shape[1]))
    return Problem(
        name, x, y, 0.0, nothing if far_x is None else far_x, nothing[:, 0] if far_y is None else far_y
    )


def special_function(rng: np.random.Generator) -> Problem:
    """Draw a special function of the first column, alone or beside the last one."""
    x, name = _table(rng), str(rng.choice(list(SPECIAL)))
    rate, beside = float(rng.choice((1.0, 0.01, 2.0))), BESIDE[int(rng.integers(len(BESIDE)))]
    g = SPECIAL[name](rate * x[:, 0])
    flat = not np.ptp(g) > FLAT * np.abs(g).max()  # erf(100) is 1: drawn again
    return _problem(name, x, beside(g, x[:, -1]) + (np.nan if flat else 0.0))


def slow_function(rng: np.random.Generator) -> Problem:
    """Draw a function of the class whose argument hardly changes, alone or beside the last column."""
    x, name = _table(rng), str(rng.choice(list(SLOW)))
    beside = BESIDE[int(rng.integers(len(BESIDE)))]
    rate = 10.0 ** rng.uniform(-4, -1) / float(np.abs(x).max())
    rate = float(f"{rate:.0e}") if rng.integers(2) else rate
    far = rng.uniform(x.min(0), x.max(0), (200, x.shape[1]))
    far[:, 0] = np.linspace(0.1, 3, 200) / rate
    ys = [beside(SLOW[name](rate * t[:, 0]), t[:, -1]) for t in (x, far)]
    return _problem(f"{name} {rate:.2g}", x, ys[0], far, ys[1])


def pieces(rng: np.random.Generator) -> Problem:
    """Draw a function made of pieces."""
    x, k = _table(rng), int(rng.integers(len(PIECES)))
    a, b = _centred(x) if x.shape[1] > 1 else (_centred(x)[0], np.sin(_centred(x)[0]))
    return _problem(f"pieces {k}", x, PIECES[k](a, b))


def power(rng: np.random.Generator) -> Problem:
    """Draw a**b, alone, or with an exponent that is no law, or beside a term that is none."""
    x, k = _table(rng), int(rng.integers(3))
    far = rng.uniform(1, 4, (200, x.shape[1]))
    if k == 0 and x.shape[1] > 1:
        return _problem("a**b", x, np.abs(x[:, 0]) ** x[:, -1], far, far[:, 0] ** far[:, -1])
    a, b = 1.3 + np.abs(x[:, 0]), x[:, -1] / np.abs(x).max()
    return _problem(f"power {k}", x, a ** special.erf(b) if k == 1 else a**b + special.j0(b))


def network(rng: np.random.Generator) -> Problem:
    """Draw a network of one hidden layer of tanh with random weights."""
    x, hidden = _table(rng), int(rng.integers(3, 9))
    wide = float(rng.choice((0.05, 0.3, 1.0, 3.0)))
    z = (x - x.mean(0)) / x.std(0)
    inner = np.tanh(z @ rng.normal(0, wide, (x.shape[1], hidden)) + rng.normal(0, 1, hidden))
    return _problem(f"network {hidden}", x, inner @ rng.normal(0, 1, hidden))


def noise(rng: np.random.Generator) -> Problem:
    """Draw a law with noise although none is declared, or with a small term that is outside the class."""
    x, k = _table(rng), int(rng.integers(len(LAWS)))
    y = LAWS[k](x[:, 0], x[:, -1])
    level = 10.0 ** rng.uniform(-10, -1) * float(np.std(y))
    rest = rng.standard_normal(len(y)) if rng.integers(2) else special.j0(3 * _centred(x)[0])
    return _problem(f"law {k} {level:.1g}", x, y + level * rest)


KINDS = {
    "special": special_function,
    "slow": slow_function,
    "pieces": pieces,
    "power": power,
    "network": network,
    "noise": noise,
}


def target(seed: int) -> tuple[str, Problem]:
    """Draw a target; kinds take turns."""
    kind = list(KINDS)[seed % len(KINDS)]
    for attempt in range(100):
        problem = KINDS[kind](np.random.default_rng([3, seed, attempt]))
        if np.isfinite(problem.y).all() and np.ptp(problem.y) > 1e-9 * np.abs(problem.y).max():
            return kind, problem
    raise AssertionError(f"No finite target was drawn for the seed {seed}.")
