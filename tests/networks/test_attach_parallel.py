"""``attach`` under DistributedDataParallel: both processes keep the same weights, those of one process."""

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

import nalm
from nalm.config import Ramp, Recipe

X = torch.rand(32, 3, generator=torch.Generator().manual_seed(0)) + 0.5
Y = X[:, :1] * X[:, 1:2]
RECIPE = Recipe(penalties=(("weight", Ramp(0.5)),))


def trained(rows: torch.Tensor, targets: torch.Tensor, wrap=lambda net: net) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    net = wrap(nn.Sequential(nalm.NAU(3, 2, generator=generator), nalm.NMU(2, 1, generator=generator)))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.5)
    nalm.attach(net, optimiser, recipe=RECIPE)
    for _ in range(5):
        optimiser.zero_grad()
        (net(rows) - targets).square().mean().backward()
        optimiser.step()
    return [p.detach() for p in net.parameters()]


def process(rank: int, address: str, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    half = slice(16 * rank, 16 * rank + 16)
    wrap = nn.parallel.DistributedDataParallel
    torch.save(trained(X[half], Y[half], wrap), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_processes_train_as_one(tmp_path):
    mp.spawn(process, (f"file://{tmp_path}/meeting", str(tmp_path)), nprocs=2)
    alone = trained(X, Y)
    for rank in range(2):
        for p, q in zip(torch.load(tmp_path / f"{rank}.pt", weights_only=True), alone, strict=True):
            torch.testing.assert_close(p, q)
