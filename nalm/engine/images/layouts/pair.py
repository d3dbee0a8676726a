"""Two images side by side, each read alone."""

import torch
from torch import Tensor, nn

from nalm.config import Case
from nalm.config.images import OfTwoDigits
from nalm.engine.images.data import Resident, drawn_from, held_out, normalised
from nalm.engine.images.readers import Pair
from nalm.operations import operation as find_operation

DECIMALS = 1e5  # rounding to five decimals
SEEN = 10_000  # training samples that are evaluated


class Pairs:
    """Two images side by side, and one operation on their digits (Mistry 2023, sections 4.6.1.1 and 5.10)."""

    measures = (
        *("output.strict", "output.rounded", "output.decimals", "error"),
        *("label1.strict", "label1.rounded", "label2.strict", "label2.rounded"),
    )
    tables: dict[str, tuple[int, ...]] = {"confusion": (2, 10, 10)}  # of either image: true digit, digit read

    halves = True
    task: OfTwoDigits

    def __init__(self, case: Case):
        self.case, self.first = case, int(case.train.low)
        self.task = case.task  # type: ignore[assignment]  # LAYOUTS chooses this class by its kind
        self.operation = find_operation(case.operation)

    @staticmethod
    def check(case: Case) -> None:
        """Accept every model: its inputs are the two digits."""

    def network(self, precision: torch.dtype) -> nn.Module:
        """Return a classifier for both images, followed by the case's layers."""
        return Pair(self.case.model, self.first, precision)

    def sets(self, seed: int, pictures: Resident) -> dict[str, Tensor]:
        """Return training pairs on training images, some of them to evaluate, test pairs on test images."""
        places = [[pictures.where(d, test) for d in range(10)] for test in (False, True)]
        width = 10 - self.first
        out = set(held_out(width**2, self.task.folds, seed % self.task.folds).tolist())
        rows: dict[bool, list[Tensor]] = {False: [], True: []}
        for pair in range(width**2):
            test = pair in out
            both = pair // width + self.first, pair % width + self.first
            columns = [
                drawn_from(places[test][d], seed, 2 * pair + k, self.task.samples) for k, d in enumerate(both)
            ]
            rows[test].append(torch.stack(columns, -1))
        train = torch.cat(rows[False])
        return {"train": train, "seen": self.some(train), "test": torch.cat(rows[True])}

    @staticmethod
    def some(train: Tensor) -> Tensor:
        """Return the training samples that are evaluated."""
        return train[:: -(-len(train) // SEEN)]

    def inputs(self, images: Tensor, key: Tensor, step: Tensor) -> Tensor:
        """Return the images, normalised."""
        return normalised(images)

    def target(self, digits: Tensor) -> Tensor:
        """Return the result of the operation on the digits."""
        result: Tensor = self.operation.formula(*digits.float().unbind(-1))
        return result.unsqueeze(-1)

    def judged(self, output: Tensor, read: Tensor, digits: Tensor) -> tuple[Tensor, Tensor]:
        """Return which outputs and digits are right, squared errors, and both confusion matrices."""
        output, target = output[:, 0].double(), self.target(digits)[:, 0].double()
        right = [
            output == target,
            output.round() == target.round(),
            (output * DECIMALS).round() == (target * DECIMALS).round(),
            (output - target).square(),
        ]
        for k in range(2):
            right += [read[:, k] == digits[:, k], read[:, k].round() == digits[:, k]]
        seen = read.nan_to_num(0).round().clamp(0, 9).long()
        ten = torch.arange(10, device=seen.device)
        hit = (digits.unsqueeze(-1) == ten).unsqueeze(-1) & (seen.unsqueeze(-1) == ten).unsqueeze(-2)
        return torch.stack([r.double() for r in right], -1), hit.flatten(1).double()

    def error(self, means: dict[str, float], test: bool) -> float:
        """Return the share of outputs that are not right, in the sense of the case."""
        return 1 - means[f"{'test' if test else 'seen'}.output.{self.task.exact}"]
