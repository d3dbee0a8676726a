"""Runs that read images, from start to end: epochs between evaluations, and what is recorded there."""

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.config import Case
from nalm.engine.images.examples import examples
from nalm.engine.images.layouts import LAYOUTS
from nalm.engine.images.program import Member, Program
from nalm.engine.model import spelled
from nalm.engine.plan import Run
from nalm.engine.records import SMALL
from nalm.errors import NALMError
from nalm.results import networks as saved
from nalm.results.runs import Mark, Runs, judged
from nalm.units import Unit
from nalm.units.spelling import letters

STEPS = {"cpu": 8, "cuda": 128}  # of a member before another gets its turn


class Trained:
    """One run: how far it is, and what was measured of it."""

    def __init__(self, run: Run, member: Member):
        self.run, self.member = run, member
        self.at = 0
        self.steps: list[int] = []
        self.means: list[dict[str, float]] = []
        self.counts: dict[str, Tensor] = {}  # of the last evaluation
        self.sparsity: list[float] = []
        self.weights: list[dict[str, Tensor]] = []  # of the layers behind the reader, if they are few
        self.seconds = 0.0

    @property
    def finished(self) -> bool:
        """Whether nothing is left to train."""
        return bool(self.steps) and self.steps[-1] >= self.run.case.recipe.steps

    @property
    def due(self) -> bool:
        """Whether an evaluation belongs here: before every epoch, and at the end."""
        case = self.run.case
        ends = self.at % (case.task.every * case.epoch) == 0 or self.at == case.recipe.steps
        return ends and (not self.steps or self.steps[-1] != self.at)

    def advance(self) -> None:
        """Some steps, to the next evaluation at most."""
        case, recipe = self.run.case, self.run.case.recipe
        if self.member.epoch != self.at // case.epoch:
            self.member.shuffle(self.at // case.epoch)
        ends = [recipe.steps, self.at // case.epoch * case.epoch + case.epoch]
        ends += [recipe.switch] if self.at < recipe.switch else []
        count = min(STEPS[self.member.program.device.type], min(ends) - self.at)
        for _ in range(count):
            self.member.advance(recipe.then if recipe.then and self.at >= recipe.switch else recipe.loss)
        self.at += count

    def record(self) -> None:
        """Keep what an evaluation has found."""
        means, self.counts = self.member.judged()
        network = self.member.arithmetic()
        with torch.no_grad():
            sparsity = [float(layer.sparsity_error()) for layer in network.parts()]
            weights = {name: w.detach().clone() for name, w in network.meaning().items()}
        self.steps.append(self.at)
        self.means.append(means)
        self.sparsity.append(max(sparsity))
        few = sum(w.numel() for w in weights.values()) <= SMALL
        self.weights.append(weights if few else {})

    # -- out and in ---------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        """Everything as named tensors."""
        member = self.member
        with member.here():
            tensors = {f"params.{n}": p.cpu() for n, p in member.params.items()}
            tensors |= {
                f"slots.{i}.{n}": s.cpu() for n, slots in member.slots.items() for i, s in enumerate(slots)
            }
        tensors |= {
            f"means.{n}": torch.tensor([m[n] for m in self.means], dtype=torch.float64) for n in self._names()
        }
        tensors |= {f"weights.{n}": torch.stack([w[n] for w in self.weights]) for n in self._weights()}
        tensors |= {f"counts.{n}": c for n, c in self.counts.items()}
        numbers = {"steps": self.steps, "sparsity": self.sparsity, "at": self.at, "seconds": self.seconds}
        return tensors | {name: torch.tensor(value, dtype=torch.float64) for name, value in numbers.items()}

    def _names(self) -> list[str]:
        return list(self.means[0]) if self.means else []

    def _weights(self) -> list[str]:
        return list(self.weights[0]) if self.weights else []

    def _odd(self, tensors: dict[str, Tensor]) -> str:
        """What is missing in a state, or is not of this network's shape; nothing if all is well."""
        member, count = self.member, len(tensors.get("steps", torch.zeros(1)).reshape(-1))
        wanted = {"at": (), "seconds": (), "steps": (count,), "sparsity": (count,)}
        wanted |= {f"params.{n}": tuple(p.shape) for n, p in member.params.items()}
        wanted |= {
            f"slots.{i}.{n}": tuple(s.shape) for n, slots in member.slots.items() for i, s in enumerate(slots)
        }
        for name, shape in wanted.items():
            if name not in tensors or tuple(tensors[name].shape) != shape:
                return name
        for name, values in tensors.items():
            if name.startswith(("means.", "weights.")) and (values.ndim == 0 or len(values) != count):
                return name
        steps = tensors["steps"].tolist()
        return "" if steps == sorted(set(steps)) and 0 <= max(steps, default=0) <= tensors["at"] else "steps"

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``state`` took out; of a shorter training without the evaluation at its end."""
        member, case = self.member, self.run.case
        if odd := self._odd(tensors):
            file = saved.network_name(case.trunk.hash, self.run.seed)
            raise NALMError(
                f"The network {file} of the results folder is damaged or of another kind (see {odd!r}): delete it, "
                "and its run starts again."
            )
        self.at, self.seconds = int(tensors["at"]), float(tensors["seconds"])
        with member.here():
            for name, p in member.params.items():
                p.copy_(tensors[f"params.{name}"])
                for i, slot in enumerate(member.slots[name]):
                    slot.copy_(tensors[f"slots.{i}.{name}"])
            member.at.fill_(self.at)
        steps, grid = [int(step) for step in tensors["steps"].tolist()], case.task.every * case.epoch
        own = [i for i, at in enumerate(steps) if at % grid == 0 or at == case.recipe.steps]
        self.steps, self.sparsity = [steps[i] for i in own], [float(tensors["sparsity"][i]) for i in own]
        self.means, self.weights = [{} for _ in own], [{} for _ in own]
        for name, values in tensors.items():
            kind, _, rest = name.partition(".")
            for k, i in enumerate(own):
                if kind == "means":
                    self.means[k][rest] = float(values[i])
                elif kind == "weights":
                    self.weights[k][rest] = values[i].clone()
            if kind == "counts":
                self.counts[rest] = values.clone()

    # -- results ------------------------------------------------------------------------------

    def errors(self, test: bool) -> np.ndarray:
        """What a run is judged by at every evaluation."""
        layout = self.member.program.layout
        return np.array([layout.error(means, test) for means in self.means])

    def mark(self) -> Mark:
        """The epoch that is judged, and when the test was first good enough."""
        seen, test = self.errors(False), self.errors(True)
        chosen = judged(self.run.case, seen)
        low = test < self.run.case.threshold.value
        first = self.steps[int(np.argmax(low))] if low.any() else None
        return Mark(self.steps[chosen], seen[chosen], test[chosen], self.sparsity[chosen], first)

    def formula(self) -> str:
        """What the layers spell once their weights are rounded; nothing of many outputs, or if a layer is no unit."""
        network = self.member.arithmetic()
        if self.run.case.model[-1].out > 1 or not all(isinstance(part, Unit) for part in network.parts()):
            return ""
        try:
            return spelled(network, letters(network.inputs, positive=True))
        except NALMError:
            return ""  # weights that are not numbers

    def records(self) -> dict[str, np.ndarray]:
        """Every mean at every evaluation, and the counts of the last."""
        found = {name: np.array([m[name] for m in self.means]) for name in self._names()}
        found |= {name: c.double().numpy() for name, c in self.counts.items()}
        return found | {name: picture.double().numpy() for name, picture in examples(self.member).items()}


class Training:
    """Trains some runs of one program side by side; can be stopped after any turn and gone on with exactly."""

    def __init__(self, runs: Sequence[Run], device: torch.device, *, compiled: bool = True, data: str = ""):
        self.program = Program(runs[0].case, data, device, compiled)
        self.members = [Trained(run, Member(self.program, run.seed)) for run in runs]

    @staticmethod
    def check(case: Case) -> None:
        """Refuse a cell that does not fit the images it has to read."""
        LAYOUTS[type(case.task)].check(case)

    @staticmethod
    def was_compiled(mode: str) -> bool:
        """Return whether a run with this mode was compiled; graphs are captured of either."""
        return "compiled" in mode

    @property
    def at(self) -> int:
        """How many steps the runs have taken on average."""
        return sum(m.at for m in self.members) // len(self.members)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to train."""
        return all(m.finished for m in self.members)

    def solved_now(self) -> np.ndarray:
        """Which runs are below their threshold at the last evaluation."""
        return np.array(
            [bool(m.steps) and m.errors(True)[-1] < m.run.case.threshold.value for m in self.members]
        )

    def advance(self) -> None:
        """Evaluate those that are due, then some steps of each that is not finished."""
        started = time.perf_counter()
        self._evaluate()
        active = [m for m in self.members if not m.finished]
        for m in active:
            m.advance()
        self._evaluate([m for m in active if m.at == m.run.case.recipe.steps])
        for m in active:
            m.seconds += (time.perf_counter() - started) / len(active)

    def _evaluate(self, among: Sequence[Trained] | None = None) -> None:
        due = [m for m in (self.members if among is None else among) if m.due]
        for m in due:
            m.member.evaluate()
        for m in due:
            m.record()

    def state(self) -> dict[str, Tensor]:
        """Every run's network as named tensors, the runs by their number here."""
        return {
            f"{i}.{name}": t.contiguous() for i, m in enumerate(self.members) for name, t in m.state().items()
        }

    def final_state(self) -> dict[str, Tensor]:
        """Return the state: a longer training goes on from it."""
        return self.state()

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from a state, with those of its networks that are no further than wanted."""
        for i, m in enumerate(self.members):
            own = {n.removeprefix(f"{i}."): t for n, t in tensors.items() if n.startswith(f"{i}.")}
            if own and not (own.get("at", torch.zeros(())) > m.run.case.recipe.steps).any():
                m.restore(own)

    def results(self) -> Runs:
        """What was recorded, as plain arrays."""
        members = self.members
        names = [
            {n: np.stack([w[n].double().numpy() for w in m.weights]) for n in m.weights[0]} for m in members
        ]
        return Runs(
            cases=[m.run.case for m in members],
            seeds=[m.run.seed for m in members],
            steps=[np.array(m.steps) for m in members],
            validation=[m.errors(False) for m in members],
            test=[m.errors(True) for m in members],
            sparsity=[np.array(m.sparsity) for m in members],
            weights=[{n: path[-1] for n, path in paths.items()} for paths in names],
            trajectories=names,
            formulas=[m.formula() for m in members],
            thresholds=[m.run.case.threshold.value for m in members],
            seconds=[m.seconds for m in members],
            modes=[self.program.mode] * len(members),
            device=str(self.program.device),
            resets=[0] * len(members),
            marks=[m.mark() for m in members],
            records=[m.records() for m in members],
        )
