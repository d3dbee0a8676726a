"""The device that is asked for, by its name."""

import pytest
import torch

from nalm.engine import device_for
from nalm.errors import NALMError


@pytest.mark.parametrize(("visible", "number"), [(None, "1"), ("4,7", "7"), ("4", "1")])
def test_a_gpu_that_is_not_the_first_is_refused_with_the_remedy(visible, number, monkeypatch):
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert (
        device_for("cuda").type == device_for("cuda:0").type == "cuda" and device_for("cpu:1").type == "cpu"
    )
    words = f"not cuda:1: start it with CUDA_VISIBLE_DEVICES={number} and use device='cuda'"
    with pytest.raises(NALMError, match=words):
        device_for("cuda:1")
    with pytest.raises(NALMError, match="There is no CUDA device cuda:2"):
        device_for("cuda:2")
