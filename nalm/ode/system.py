"""A system of equations: one law per variable, as text, SymPy and LaTeX, simulated, saved as JSON."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sympy
from scipy.integrate import solve_ivp

from nalm.discover.certificate.verdict import SYSTEM_MEANING, Verdict
from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Input, Node, Power, evaluate, parts
from nalm.discover.law.json import law_of, number, plain_law
from nalm.errors import NALMError
from nalm.operating_system import read_json, write_json

FORMAT = "nalm ode 1"
EVALUATIONS = 40_000  # of the right-hand side; a trajectory that needs more counts as stiff or diverging
MOST_SECONDS = 20.0


class Number(NamedTuple):
    """A rate, exponent or K of the system with its 95% interval; ``where`` says which one it is."""

    where: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class System:
    """The equations found for a trajectory, with the verdict, intervals and flags.

    >>> from nalm.discover.law.expression import Power, Input
    >>> decay = System((Law(Power((Input(0),), (1.0,), -0.5), ("x",)),))
    >>> print(decay), decay.simulate([0.0, 2.0], [1.0]).round(4).tolist()
    dx/dt = -x/2
    (None, [[1.0], [0.3679]])
    """

    laws: tuple[Law, ...]  # one per variable, of all variables
    verdict: Verdict = Verdict.NONE
    tested: str = ""  # one sentence
    flags: tuple[str, ...] = ()
    intervals: tuple[Number, ...] = ()
    start: tuple[tuple[float, ...], ...] = ()  # fitted first states, one per trajectory
    residual: tuple[float, ...] = ()  # of each variable: rms over its spread
    forecast: float | None = None  # rms over the spread on the last quarter, by numbers fitted to the rest
    restarts: tuple[int, int] = (0, 0)  # how many found this structure, of how many
    others: tuple[tuple[str, float], ...] = ()  # other structures; by how many nats each is longer
    seconds: float = 0.0

    @property
    def meaning(self) -> str:
        """The meaning of the verdict, in plain sentences."""
        return SYSTEM_MEANING[self.verdict]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.laws[0].names

    @property
    def formula(self) -> str:
        """The equations as text, one line each."""
        return "\n".join(f"d{n}/dt = {law}" for n, law in zip(self.names, self.laws, strict=True))

    @property
    def equations(self) -> list[sympy.Eq]:
        """The equations in SymPy, for functions of t."""
        t = sympy.Symbol("t")
        functions = {sympy.Symbol(n): sympy.Function(n)(t) for n in self.names}
        sides = [law.sympy().subs(functions) for law in self.laws]
        return [sympy.Eq(sympy.Derivative(f, t), s) for f, s in zip(functions.values(), sides, strict=True)]

    def latex(self) -> str:
        """Return the equations in LaTeX, aligned."""
        rows = [
            rf"\dot {{{sympy.latex(sympy.Symbol(n))}}} &= {law.latex()}"
            for n, law in zip(self.names, self.laws, strict=True)
        ]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def rates(self, x: Any) -> Array:
        """Evaluate the right-hand side at states (rows, variables)."""
        x = np.atleast_2d(np.asarray(x, dtype=np.float64)).copy()
        for j in self._under_roots():
            x[:, j] = np.maximum(x[:, j], 0.0)  # a step of the integrator may go below
        return np.stack([evaluate(law.expression, x) for law in self.laws], 1)

    def simulate(self, t: Any, x0: Any, *, rtol: float = 1e-9, max_time: float = MOST_SECONDS) -> Array:
        """Return the states at the times t, (times, variables), from the state x0 at the first of them.

        Explicit steps of order 8 are tried first, implicit ones if the system is stiff. A trajectory that cannot be
        followed to the end is an error that says how far it went.
        """
        t, x0 = np.asarray(t, dtype=np.float64), np.asarray(x0, dtype=np.float64).ravel()
        if len(x0) != len(self.names) or not np.isfinite(x0).all():
            raise NALMError(
                f"A start needs {len(self.names)} finite numbers ({', '.join(self.names)}), got {x0.tolist()}."
            )
        if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
            raise NALMError(f"A simulation needs two or more rising times, got {t.size} of shape {t.shape}.")
        until = time.monotonic() + max_time
        with np.errstate(all="ignore"):
            return self._followed(t, x0, rtol, until, max_time)

    def _followed(self, t: Array, x0: Array, rtol: float, until: float, max_time: float) -> Array:
        moved = np.abs(self.rates(x0)).max() * (t[-1] - t[0])
        size = np.abs(x0).max() or (moved if 0 < moved < np.inf else 1.0)
        reached = t[0]
        for method, share in (("DOP853", 0.5), ("Radau", 1.0)):
            clock = _Clock(self, until - (1 - share) * max_time)
            try:
                out = solve_ivp(clock, (t[0], t[-1]), x0, method, t, rtol=rtol, atol=1e-12 * size)
            except (_StoppedError, ValueError):  # scipy's, when a matrix is no longer finite
                reached = max(reached, clock.reached)
                continue
            if out.success and out.y.shape[1] == len(t) and np.isfinite(out.y).all():
                return np.asarray(out.y.T)
            reached = max(reached, float(clock.reached))
        raise NALMError(
            f"The trajectory cannot be followed beyond t = {reached:.6g}: it diverges or is too stiff; end earlier, or "
            "start elsewhere."
        )

    def _under_roots(self) -> list[int]:
        """Return the variables of which a fractional power is taken: they are never negative."""
        return sorted({j for law in self.laws for j in _roots(law.expression)})

    def __str__(self) -> str:
        return self.formula

    def plain(self) -> dict[str, Any]:
        """Convert the system to plain values for JSON."""
        return {
            "format": FORMAT,
            "formula": self.formula,
            "verdict": str(self.verdict),
            "tested": self.tested,
            "flags": list(self.flags),
            "laws": [plain_law(law) for law in self.laws],
            "intervals": [list(n) for n in self.intervals],
            "start": [list(s) for s in self.start],
            "residual": list(self.residual),
            "forecast": self.forecast,
            "restarts": list(self.restarts),
            "others": [list(o) for o in self.others],
            "seconds": self.seconds,
        }

    def save(self, path: str | Path) -> None:
        """Write the system as JSON; nothing in the file is ever executed."""
        write_json(Path(path), self.plain())


def load(path: str | Path) -> System:
    """Read what ``System.save`` wrote; refuse anything else."""
    match read_json(Path(path)):
        case {
            "format": str(form),
            "verdict": "exact" | "consistent" | "none" as verdict,
            "tested": str(tested),
            "flags": list(flags),
            "laws": [_, *_] as laws,
            "intervals": list(intervals),
            "start": list(start),
            "residual": list(residual),
            "forecast": None | int() | float() as forecast,
            "restarts": [int(found), int(tried)],
            "others": list(others),
            "seconds": int() | float() as seconds,
        } if form == FORMAT:
            pass
        case _:
            raise NALMError(f"{path} is not a system that nalm saved ({FORMAT}): fit and save it again.")
    try:
        read = tuple(map(law_of, laws))
        if any(law.names != read[0].names for law in read) or len(read) != len(read[0].names):
            raise NALMError("its laws are not one for each of its variables.")
        return System(
            read,
            Verdict(verdict),
            tested,
            tuple(map(str, flags)),
            tuple(Number(str(w), number(v), number(a), number(b)) for w, v, a, b in intervals),
            tuple(tuple(map(number, s)) for s in start),
            tuple(map(number, residual)),
            None if forecast is None else number(forecast),
            (found, tried),
            tuple((str(f), number(n)) for f, n in others),
            float(seconds),
        )
    except (NALMError, TypeError, ValueError) as error:
        raise NALMError(f"{path} cannot be read: {error}") from None


class _StoppedError(Exception):
    """Raised inside a simulation that takes too long."""


class _Clock:
    """The right-hand side for an integrator; it raises once too many evaluations or too much time were used."""

    def __init__(self, system: System, until: float):
        self.system, self.until, self.left, self.reached = system, until, EVALUATIONS, -np.inf

    def __call__(self, t: float, x: Array) -> Array:
        self.left -= 1
        if self.left < 0 or (self.left % 64 == 0 and time.monotonic() > self.until):
            raise _StoppedError
        if np.isfinite(x).all():
            self.reached = max(self.reached, t)
        return self.system.rates(x)[0]


def _roots(node: Node) -> Sequence[int]:
    """Return the inputs of which a fractional power is taken."""
    own = []
    if isinstance(node, Power):
        raised = zip(node.factors, node.exponents, strict=True)
        own = [f.index for f, p in raised if isinstance(f, Input) and p % 1]
    return own + [j for part in parts(node) for j in _roots(part)]
