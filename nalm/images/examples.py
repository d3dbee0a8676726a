"""What a network that looks again at its images sees of them: pictures for the report."""

import torch
from torch import Tensor

from nalm.images.data import as_bytes
from nalm.images.program import Member

COUNT = 4  # samples that are pictured


@torch.no_grad()
def examples(member: Member) -> dict[str, Tensor]:
    """Some test samples of the first fold before and after, as bytes; nothing of networks that look only once.

    ``input`` (samples, 2, 42, 42), ``seen`` (samples, localisers, 2, 42, 42), the true ``digits``, and those ``read``.
    """
    program = member.program
    if member.seed or not hasattr(program.judge, "seen"):
        return {}
    with member.here():
        test, tensors = member.sets["test"], {**member.params, **member.noise}
        rows = test["rows"][:: max(1, member.sizes["test"] // COUNT)][:COUNT]
        x = program.layout.inputs(member.shared["images"][rows], test["transform"], member.at)
        _, read = program.quiet("forward", tensors, x)
        seen = as_bytes(program.quiet("seen", tensors, x))
        found = {"input": as_bytes(x), "seen": seen, "digits": member.shared["digits"][rows], "read": read}
        return {f"examples.{name}": value.cpu() for name, value in found.items()}
