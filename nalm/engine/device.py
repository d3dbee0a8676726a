"""The device that is trained on, by name."""

import torch

from nalm.errors import NALMError


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
