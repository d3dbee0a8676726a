"""The device that is trained on, and the settings of torch that training changes for a while.

Everything that changes the state of the whole process is here.
"""

import contextlib
import os
from collections.abc import Iterator

import torch

from nalm.errors import NALMError

WORK = 65_536  # numbers that are worth a thread of their own


def device_for(name: str) -> torch.device:
    """Return the device called auto, cpu or cuda; raise a NALMError if there is no such GPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise NALMError(f"There is no device called {name!r}: use 'auto', 'cpu' or 'cuda'.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise NALMError(f"There is no CUDA device {device} on this machine: use device='cpu' or 'auto'.")
    return device


@contextlib.contextmanager
def threads(numbers: int) -> Iterator[None]:
    """Use as many threads as work on so many numbers is worth; compiled code keeps the count it was compiled with."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, min(before, numbers // WORK)))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def fix_matrix_products(device: torch.device) -> None:
    """Let cuBLAS give one result per product, whatever other streams do; without effect once it has been used."""
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


@contextlib.contextmanager
def fixed_convolutions() -> Iterator[None]:
    """Choose convolutions by rules and not by trial, so that a run can be repeated."""
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    try:
        yield
    finally:
        torch.backends.cudnn.deterministic = before
