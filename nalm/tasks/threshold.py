"""Thresholds: the error of a simulated model whose weights are off by epsilon (Mistry 2023, section 3.3.1.1)."""

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from nalm import draws
from nalm.config import Case, Task
from nalm.errors import NALMError
from nalm.operations import operation as find_operation
from nalm.tasks.operands import apply, summed
from nalm.tasks.sampler import Sampler

SAMPLES = 1_000_000
CHUNK = 2**17  # numbers drawn at a time on a CPU: they stay in its cache
SUMS = ("add", "subtract", "select")
METRICS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # of each prediction and its target
    "mse": lambda prediction, y: (prediction - y).square(),
    "mistakes": lambda prediction, y: (prediction.round() != y).to(y.dtype),
    "rule": lambda prediction, y: (prediction.round() != y).to(y.dtype),
    "valid": lambda prediction, y: _valid(prediction, y),
}
INVALID = 1e4  # an output of this magnitude does not look like a result


def _valid(prediction: Tensor, y: Tensor) -> Tensor:
    """Return squared errors of finite targets; of others, whether the prediction looks like a result."""
    known = y.isfinite()
    error = (prediction - torch.where(known, y, 0.0)).square()
    return torch.where(known, error, (prediction.abs() < INVALID).to(y.dtype))


def threshold(case: Case, device: torch.device | str = "cpu") -> float:
    """Return the test error below which a run of this case is solved; simulate it on the device."""
    if case.threshold.kind == "fixed":
        return case.threshold.value
    return _simulated(_deviating(case), str(device))


@functools.lru_cache(maxsize=4096)
def _deviating(case: Case) -> Task:
    """Return the task that is simulated for a case; a population asks for each of its runs."""
    size = case.task.used + case.threshold.widened
    if size > case.inputs:
        raise NALMError(
            f"A widened threshold needs {size} inputs, there are {case.inputs}: use widened=False."
        )
    plain = case.task.simulated()
    if case.threshold.kind == "single" and case.operation in SUMS:
        plain = plain.replace(operation="add")  # the deviation is the same for all of them
    return plain


@functools.lru_cache(maxsize=1024)
def _simulated(task: Task, device: str) -> float:
    """Return the mean squared deviation over a million test inputs, fewer of sequences."""
    length = task.times[1] if task.times else 1
    sampler = Sampler([task.test], task.inputs * length, device)
    key = draws.keys([0], "threshold", device=torch.device(device))
    zero = torch.zeros((), dtype=torch.int32, device=device)
    samples = SAMPLES // 10 ** math.ceil(math.log10(length))
    rows = SAMPLES // 10 if device != "cpu" else max(100, 10 ** int(math.log10(CHUNK / sampler.inputs)))
    rows = min(rows, samples)
    grid = sampler.grid(rows)
    total = torch.zeros((), dtype=torch.float64, device=device)
    for start in range(0, samples, rows):
        x = sampler(key, zero, grid + start * sampler.inputs)[0].mT.double()  # (rows, in)
        total = total + _deviation(task, summed(x, task.inputs)).square().sum()
    return float(total) / samples


def _deviation(task: Task, x: Tensor) -> Tensor:
    size, stride = task.subset + task.threshold.widened, task.subset - task.overlap
    members = [range(k * stride, k * stride + size) for k in range(task.subsets)]  # the first inputs
    if task.operands:
        members = [range(*ends) for ends in task.operands]
    eps = task.threshold.epsilon
    if task.operation not in ("add", "multiply"):
        members = members[: find_operation(task.operation).arity]
    operands = [x[:, list(part)].sum(-1) for part in members]
    inside = {i for part in members for i in part}
    others = [i for i in range(task.inputs) if i not in inside]
    exact = apply(task.operation, operands)
    if task.threshold.kind == "sums":
        everything = x.sum(-1)
        off = [(1 - eps) * o + eps * (everything - o) for o in operands]
        return apply(task.operation, off) - exact
    if task.operation in SUMS:
        return eps * x.abs().sum(-1)
    ignored = (1 - eps * x[:, others].abs()).prod(-1)
    used = {
        "multiply": (1 - eps) ** len(operands),
        "divide": (1 - eps) / (1 + eps),
        "reciprocal": 1 / (1 + eps),
    }
    return exact * (1 - used.get(task.operation, 1 - eps) * ignored)
