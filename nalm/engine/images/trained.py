"""One run that reads images: how far it is, what was measured of it, and its state as tensors."""

import numpy as np
import torch
from torch import Tensor

from nalm.engine.images.examples import examples
from nalm.engine.images.program import Member
from nalm.engine.plan import Run
from nalm.engine.records import SMALL
from nalm.engine.spelling import spelled
from nalm.errors import NALMError
from nalm.results import networks as saved
from nalm.results.runs import Mark, mark
from nalm.units import Unit
from nalm.units.spelling import letters

STEPS = {"cpu": 8, "cuda": 128}  # of a member before another gets its turn
# numbers of the precisions in saved networks, never to be changed; "": on a GPU, as torch is set
PRECISION = {"": 0, "float32": 1, "tf32": 2, "bfloat16": 3}


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
        """True if nothing is left to train."""
        return bool(self.steps) and self.steps[-1] >= self.run.case.recipe.steps

    @property
    def due(self) -> bool:
        """True if an evaluation is due: before every epoch, and at the end."""
        case = self.run.case
        ends = self.at % (case.task.every * case.epoch) == 0 or self.at == case.recipe.steps
        return ends and (not self.steps or self.steps[-1] != self.at)

    @property
    def epoch(self) -> int:
        """The number of epochs before this one."""
        return self.at // self.run.case.epoch

    def turn(self) -> tuple[str, int]:
        """Return the loss of the next steps and how many they are, to the next evaluation at most."""
        recipe = self.run.case.recipe
        ends = [recipe.steps, (self.epoch + 1) * self.run.case.epoch]
        ends += [recipe.switch] if self.at < recipe.switch else []
        count = min(STEPS[self.member.program.device.type], min(ends) - self.at)
        return (recipe.then if recipe.then and self.at >= recipe.switch else recipe.loss), count

    def advance(self) -> None:
        """Take some steps."""
        if self.member.epoch != self.epoch:
            self.member.shuffle(self.epoch)
        loss, count = self.turn()
        for _ in range(count):
            self.member.advance(loss)
        self.at += count

    def record(self, found: dict[str, Tensor]) -> None:
        """Keep what an evaluation has found: what the member or its batch has fetched."""
        means, self.counts = self.member.judged(found)
        network = self.member.arithmetic(found)
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
        """Return everything as named tensors."""
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
        numbers["precision"] = PRECISION[self._precision]
        return tensors | {name: torch.tensor(value, dtype=torch.float64) for name, value in numbers.items()}

    @property
    def _precision(self) -> str:
        """The precision that it is trained in; "" on a GPU that was not told any."""
        return self.member.program.precise or self._unasked

    @property
    def _unasked(self) -> str:
        """The precision without one that was asked for: of a CPU float32, of a GPU as torch is set."""
        return "float32" if self.member.program.device.type == "cpu" else ""

    def _names(self) -> list[str]:
        return list(self.means[0]) if self.means else []

    def _weights(self) -> list[str]:
        return list(self.weights[0]) if self.weights else []

    def _odd(self, tensors: dict[str, Tensor]) -> str:
        """Return the name of a tensor that is missing in a state or has another shape; "" if all fit."""
        member, count = self.member, len(tensors.get("steps", torch.zeros(1)).reshape(-1))
        wanted = {"at": (), "seconds": (), "steps": (count,), "sparsity": (count,)}
        wanted |= {f"params.{n}": tuple(p.shape) for n, p in member.params.items()}
        wanted |= {
            f"slots.{i}.{n}": tuple(s.shape) for n, slots in member.slots.items() for i, s in enumerate(slots)
        }
        if "precision" in tensors:  # which networks of earlier versions do not have
            wanted["precision"] = ()
        for name, shape in wanted.items():
            if name not in tensors or tuple(tensors[name].shape) != shape:
                return name
        for name, values in tensors.items():
            if name.startswith(("means.", "weights.")) and (values.ndim == 0 or len(values) != count):
                return name
        if float(tensors.get("precision", 0)) not in PRECISION.values():
            return "precision"
        steps = tensors["steps"].tolist()
        return "" if steps == sorted(set(steps)) and 0 <= max(steps, default=0) <= tensors["at"] else "steps"

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restore what ``state`` returned; of a shorter training without the evaluation at its end."""
        member, case = self.member, self.run.case
        if odd := self._odd(tensors):
            file = saved.network_name(case.trunk.hash, self.run.seed)
            raise NALMError(
                f"The network {file} of the results folder is damaged or of another kind (see {odd!r}): delete it, "
                "and its run starts again."
            )
        self._check_precision(tensors)
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

    def _check_precision(self, tensors: dict[str, Tensor]) -> None:
        """Refuse a state that was trained in another precision: the run would be recorded as all in the last one."""
        own = self._precision
        names = {number: name for name, number in PRECISION.items()}
        before = names[int(tensors.get("precision", PRECISION[own]))] or self._unasked
        if before == own:
            return
        file = saved.network_name(self.run.case.trunk.hash, self.run.seed)
        words = [name or "the precision that torch is set to" for name in (before, own)]
        remedy = f"use --precision {before}" if before else "leave --precision out"
        raise NALMError(
            f"The network {file} of the results folder was trained in {words[0]} so far and would go on in {words[1]}: "
            f"{remedy}, or another results folder."
        )

    # -- results ------------------------------------------------------------------------------

    def error(self, means: dict[str, float], test: bool = True) -> float:
        """Return the error that counts at one evaluation."""
        return float(self.member.program.layout.error(means, test))

    def errors(self, test: bool) -> np.ndarray:
        """Return the error that counts at every evaluation."""
        return np.array([self.error(means, test) for means in self.means])

    def mark(self) -> Mark:
        """Return the evaluation that counts, and when the test error was first below the threshold."""
        case, seen, test = self.run.case, self.errors(False), self.errors(True)
        return mark(case, self.steps, seen, test, self.sparsity, case.threshold.value)

    def formula(self) -> str:
        """Return the formula of the layers with rounded weights; "" for many outputs, or if a layer is no unit."""
        network = self.member.arithmetic(self.member.fetch())
        if self.run.case.model[-1].out > 1 or not all(isinstance(part, Unit) for part in network.parts()):
            return ""
        try:
            return spelled(network, letters(network.inputs, positive=True))
        except NALMError:
            return ""  # weights that are not numbers

    def records(self) -> dict[str, np.ndarray]:
        """Return every mean at every evaluation, and the counts of the last."""
        found = {name: np.array([m[name] for m in self.means]) for name in self._names()}
        found |= {name: c.double().numpy() for name, c in self.counts.items()}
        return found | {name: picture.double().numpy() for name, picture in examples(self.member).items()}
