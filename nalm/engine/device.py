"""The device that is trained on, and the settings of torch that training changes for a while.

Everything that changes the state of the whole process is here.
"""

import contextlib
import os
import warnings
from collections.abc import Iterator

import torch

from nalm.errors import NALMError, unknown

PRECISIONS = ("float32", "tf32", "bfloat16")  # of the products in networks that read images
VISIBLE = "CUDA_VISIBLE_DEVICES"  # the variable of the environment that numbers GPUs
WORK = 65_536  # numbers that are worth a thread of their own


def device_for(name: str) -> torch.device:
    """Return the device called auto, cpu or cuda; raise a NALMError if there is no such GPU, or it is not the first."""
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
    # streams and graphs would be made on the first GPU, which torch takes by default
    if device.type == "cuda" and device.index:
        seen = os.environ.get(VISIBLE, "").split(",")
        number = seen[device.index] if device.index < len(seen) else device.index
        raise NALMError(
            f"Training uses the first GPU that it sees, not {device}: start it with {VISIBLE}={number} and use "
            "device='cuda' (--device cuda)."
        )
    return device


@contextlib.contextmanager
def threads(numbers: int) -> Iterator[None]:
    """Use only as many threads as pay for so many numbers.

    Compiled code keeps the count that it was compiled with.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, min(before, numbers // WORK)))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def fix_matrix_products(device: torch.device) -> None:
    """Make cuBLAS repeat products exactly, whatever other streams do; no effect once it has been used."""
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


def check_precision(name: str) -> None:
    """Raise an error that suggests a precision if there is none of that name; "" leaves the choice to the trainer."""
    if name and name not in PRECISIONS:
        raise unknown("precision", name, PRECISIONS)


@contextlib.contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Multiply float32 on a GPU in full precision, or in tf32, if either is named."""
    if precision not in ("float32", "tf32"):
        yield
        return
    before = _tf32(precision == "tf32", precision == "tf32")
    try:
        yield
    finally:
        _tf32(*before)


def _tf32(products: bool, convolutions: bool) -> tuple[bool, bool]:
    """Set whether float32 products and convolutions are computed in tf32; return the settings before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # newer torch has a second way to say it
        before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = products
        torch.backends.cudnn.allow_tf32 = convolutions
    return before
