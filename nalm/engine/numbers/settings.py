"""The numbers that differ between the runs of a population, as tensors with one entry per run."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm import draws
from nalm.config import Case
from nalm.engine.step import start_and_slope

Tensors = dict[str, Tensor]


def settings(cases: Sequence[Case], seeds: Sequence[int], grid: Tensor) -> Tensors:
    """Return what differs between runs and what the host changes at evaluations; ``grid`` numbers a batch's inputs."""
    recipes, device = [c.recipe for c in cases], grid.device
    first = recipes[0]

    def vector(values: Sequence[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32, device=device)

    s = {
        "lr": vector([r.lr for r in recipes]),
        "train": draws.keys(seeds, "train", device=device),
        "grid": draws.packed(grid),
    }
    if cases[0].task.sample:
        s["rows"] = draws.keys(seeds, "rows", device=device)
    for name, _ in first.penalties:
        ramps = [dict(r.penalties)[name] for r in recipes]
        starts, slopes = zip(*map(start_and_slope, ramps), strict=True)
        s[f"{name}.weight"] = vector([r.weight for r in ramps])
        s[f"{name}.start"], s[f"{name}.slope"] = vector(starts), vector(slopes)
    if first.inalu:
        s["inalu"] = vector([0.0] * len(recipes))
    if first.rules:  # of the errors of batches, the sum and the sum of squares since the last evaluation
        s["losses"] = torch.zeros(len(recipes), 2, dtype=torch.float64, device=device)
    for name in ("l1", "l2"):
        if getattr(first, name) is not None:
            s[name] = vector([getattr(r, name).at(0) for r in recipes])
    for name in ("clip_norm", "clip_value", "gradient_noise"):
        if getattr(first, name) > 0:
            s[name] = vector([getattr(r, name) for r in recipes])
    if first.gradient_noise > 0:
        s["gradient"] = draws.keys(seeds, "gradient", device=device)
    return s
