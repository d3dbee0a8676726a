"""L-BFGS for many runs at once, each at its own point of its own line search; one evaluation of all runs per tick.

The line search doubles and halves until the weak Wolfe conditions hold (Lewis & Overton 2013), which needs no smooth
function: an L1 term is none. Departs from the published code (Optim.jl): Hager and Zhang's line search there.
"""

from collections.abc import Callable

import torch
from torch import Tensor

State = dict[str, Tensor]
Value = Callable[[Tensor], tuple[Tensor, Tensor]]  # points (runs, n) to values (runs,) and slopes (runs, n)

MEMORY = 10
DECREASE, CURVATURE = 1e-4, 0.9  # of the Wolfe conditions
TRIALS = 30  # of a line search
FLAT = 1e-8  # the largest slope of a minimum


def begin(x: Tensor, value: Value) -> State:
    """Return the state at a point: no memory, steepest descent; runs that are not finite are done."""
    f, g = value(x)
    runs, n = x.shape
    state = {"x": x.clone(), "f": f.clone(), "g": g.clone(), "direction": -g}
    zeros = torch.zeros_like(f)
    state |= {"step": _first(g), "low": zeros.clone(), "high": torch.full_like(f, torch.inf)}
    state |= {"trials": zeros.clone(), "iterations": zeros.clone(), "remembered": zeros.clone()}
    state |= {name: x.new_zeros(runs, MEMORY, n) for name in ("moves", "turns")}  # the latest is first
    state["done"] = ~f.isfinite() | ~g.isfinite().all(-1) | (g.abs().amax(-1) <= FLAT)
    return state


def _first(g: Tensor) -> Tensor:
    """Return the length of a first step along the steepest descent."""
    return (1 / g.abs().sum(-1).clamp_min(1e-30)).clamp_max(1.0)


def tick(state: State, value: Value, most: int) -> None:
    """Evaluate once every run that is not done, in place; a run is done after ``most`` accepted steps."""
    s, done = state, state["done"]
    x = s["x"] + s["step"].unsqueeze(-1) * s["direction"]
    f, g = value(x)
    falls = (s["g"] * s["direction"]).sum(-1)
    enough = f.isfinite() & g.isfinite().all(-1) & (f <= s["f"] + DECREASE * s["step"] * falls)
    flatter = (g * s["direction"]).sum(-1) >= CURVATURE * falls
    trials = s["trials"] + 1
    accept = enough & (flatter | (trials >= TRIALS))
    failed = ~accept & (trials >= TRIALS)
    high = torch.where(enough, s["high"], s["step"])
    low = torch.where(enough, s["step"], s["low"])
    further = torch.where(high.isfinite(), (low + high) / 2, 2 * s["step"])

    moves, turns = _remembered(s, x - s["x"], g - s["g"], accept)
    kept = torch.where(accept, (s["remembered"] + 1).clamp_max(MEMORY), s["remembered"])
    bent = ((moves[:, 0] * turns[:, 0]).sum(-1) > 1e-12 * turns[:, 0].square().sum(-1)) | ~accept
    # begin again where there is no curvature
    kept = torch.where(bent & ~failed, kept, torch.zeros_like(kept))
    new_x, new_f, new_g = (
        torch.where(_wide(accept, b), a, b) for a, b in ((x, s["x"]), (f, s["f"]), (g, s["g"]))
    )
    direction = _direction(new_g, moves, turns, kept)
    fresh = accept | failed
    iterations = s["iterations"] + accept
    ended = (accept & ((f == s["f"]) | (g.abs().amax(-1) <= FLAT) | (iterations >= most))) | (
        failed & (s["remembered"] == 0)
    )
    zeros, first = torch.zeros_like(f), _first(new_g)
    changes = {
        "x": new_x,
        "f": new_f,
        "g": new_g,
        "direction": torch.where(fresh.unsqueeze(-1), direction, s["direction"]),
        "step": torch.where(fresh, torch.where(kept > 0, torch.ones_like(f), first), further),
        "low": torch.where(fresh, zeros, low),
        "high": torch.where(fresh, torch.full_like(f, torch.inf), high),
        "trials": torch.where(fresh, zeros, trials),
        "iterations": iterations,
        "remembered": kept,
        "moves": moves,
        "turns": turns,
        "done": done | ended,
    }
    for name, new in changes.items():
        s[name].copy_(torch.where(_wide(done, new), s[name], new))


def _wide(which: Tensor, like: Tensor) -> Tensor:
    return which.reshape(-1, *[1] * (like.ndim - 1))


def _remembered(s: State, move: Tensor, turn: Tensor, accept: Tensor) -> tuple[Tensor, Tensor]:
    """Return the memory with one more step in front, where one was accepted."""
    pushed = (
        torch.cat([new.unsqueeze(1), s[name][:, :-1]], 1) for name, new in (("moves", move), ("turns", turn))
    )
    moves, turns = (
        torch.where(_wide(accept, s["moves"]), new, s[name])
        for new, name in zip(pushed, ("moves", "turns"), strict=True)
    )
    return moves, turns


def _direction(g: Tensor, moves: Tensor, turns: Tensor, kept: Tensor) -> Tensor:
    """Compute the direction by the two-loop recursion over the remembered steps (Nocedal 1980)."""
    products = (moves * turns).sum(-1)
    known = (torch.arange(MEMORY, device=g.device) < kept.unsqueeze(-1)) & (products > 0)
    inverse = torch.where(known, 1 / torch.where(known, products, 1.0), 0.0)
    q, shares = g, []
    for k in range(MEMORY):
        share = inverse[:, k] * (moves[:, k] * q).sum(-1)
        shares.append(share)
        q = q - share.unsqueeze(-1) * turns[:, k]
    squares = turns[:, 0].square().sum(-1)
    scale = torch.where(known[:, 0], products[:, 0] / torch.where(squares > 0, squares, 1.0), 1.0)
    q = q * scale.unsqueeze(-1)
    for k in range(MEMORY - 1, -1, -1):
        back = inverse[:, k] * (turns[:, k] * q).sum(-1)
        q = q + (shares[k] - back).unsqueeze(-1) * moves[:, k]
    return -q
