"""When a run counts as solved, as a value."""

from dataclasses import dataclass
from typing import Literal

from nalm.config.values import Value, require


@dataclass(frozen=True)
class Threshold(Value):
    """The test error below which a run is solved: that of a model that is off by epsilon, or a number.

    ``single`` and ``sums`` simulate a unit, or a layer of sums before an exact unit, whose weights are
    off by epsilon (Mistry 2023, section 3.3.1.1); ``fixed`` is the number ``value``; ``gold`` is the error of the
    unit with gold weights on the published test set, plus float32's epsilon (Mistry 2023, section 5.8).
    ``widened`` counts one element more in each subset, as the script behind the published thresholds of two-layer
    tasks does. The test error is ``mse``, or for targets that are whole numbers (truth values, counts) the share of
    predictions that do not round to the target: ``mistakes``, or ``rule`` for those of the snapped network.
    ``valid`` is the squared error of the snapped network where the target is finite; elsewhere, as for a / 0, a
    prediction below 10,000 in magnitude counts as an error of 1, since it looks like a result.
    """

    kind: Literal["single", "sums", "fixed", "gold"] = "single"
    epsilon: float = 1e-5
    value: float = 1e-5
    metric: Literal["mse", "mistakes", "rule", "valid"] = "mse"
    widened: bool = False

    def check(self) -> None:
        require(0 < self.epsilon < 1, f"A threshold needs 0 < epsilon < 1, got {self.epsilon!r}.")
        require(self.value > 0, f"A threshold is positive, got {self.value!r}.")
        require(
            self.metric == "mse" or self.kind == "fixed",
            f"A share of mistakes has a fixed threshold, got {self}.",
        )
