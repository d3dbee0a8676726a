"""Test samples and what a network makes of them: pictures for the report."""

import torch
from torch import Tensor

from nalm.engine.images.data import as_bytes
from nalm.engine.images.program import Member
from nalm.engine.images.readers import Pair

COUNT = 4  # samples that are pictured


@torch.no_grad()
def examples(member: Member) -> dict[str, Tensor]:
    """Return some test samples of the first fold as bytes, the true ``digits``, and those ``read``.

    The result is empty for sequences and for other folds.

    ``examples.input`` (samples, 2, 42, 42) and ``examples.seen`` (samples, localisers, 2, 42, 42) of networks that look
    again at their images; ``pairs.input`` (samples, 2, 28, 28) of those that look once.
    """
    program = member.program
    again = hasattr(program.judge, "seen")
    if member.seed or not (again or isinstance(program.judge, Pair)):
        return {}
    with member.here():
        test, tensors = member.sets["test"], {**member.params, **member.noise}
        rows = test["rows"][:: max(1, member.sizes["test"] // COUNT)][:COUNT]
        x = program.layout.inputs(member.shared["images"][rows], test["transform"], member.at)
        _, read = program.quiet("forward", tensors, x)
        found = {"input": as_bytes(x), "digits": member.shared["digits"][rows], "read": read}
        if again:
            found["seen"] = as_bytes(program.quiet("seen", tensors, x))
        return {f"{'examples' if again else 'pairs'}.{name}": value.cpu() for name, value in found.items()}
