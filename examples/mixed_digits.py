"""Readers that see only products, and the digits that they read as a mixture of other classes; and what helps.

    NALM_DATA=FOLDER python examples/mixed_digits.py [READERS]

A network gives ten probabilities for an image, their mean is the digit read, and the target is the product of two of
them. 3 and 5 in equal parts are 4 on average, and nothing turns this mixture into a 4: the derivative of the digit read
with respect to the logit of class k is p_k (k - read). Pseudo-labels do, in the second half of the training: a cross
entropy with the digit that the network reads itself, rounded. Each reader takes a minute of one CPU core, twice.
"""

import sys

import torch
from torch import Tensor, nn

from nalm.engine.images import mnist
from nalm.engine.images.data import normalised
from nalm.engine.images.readers import pseudo_label, softargmax

STEPS, BATCH = 12_000, 128


def images(data: str = "") -> tuple[Tensor, Tensor]:
    """Return the training images of MNIST, (60000, 784), and their digits."""
    found = mnist.load(data)
    pixels = normalised(torch.from_numpy(found.train.copy())).flatten(1)
    return pixels, torch.from_numpy(found.train_digits.copy()).long()


def trained(x: Tensor, y: Tensor, seed: int, sure: float, steps: int = STEPS) -> nn.Module:
    """Train a reader by products; ``sure`` is the weight of the pseudo-labels."""
    torch.manual_seed(seed)
    reader = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))
    optimiser = torch.optim.Adam(reader.parameters(), lr=1e-3)
    chance = torch.Generator().manual_seed(seed)
    for step in range(steps):
        rows = torch.randint(len(x), (BATCH, 2), generator=chance)
        logits = reader(x[rows.flatten()])
        read = softargmax(logits).view(-1, 2)
        loss = (read.prod(-1) - y[rows].prod(-1)).square().mean()
        if sure and step >= steps // 2:
            loss = loss + sure * pseudo_label(logits)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return reader.eval()


@torch.no_grad()
def mixtures(reader: nn.Module, x: Tensor, y: Tensor) -> dict[int, Tensor]:
    """Return digits whose mean probability is below .5 for their own class and below .9 for each other one."""
    p = reader(x).softmax(-1)
    means = torch.stack([p[y == digit].mean(0) for digit in range(10)])
    return {k: mean for k, mean in enumerate(means) if mean[k] < 0.5 and mean.max() < 0.9}


def words(found: dict[int, Tensor]) -> str:
    """Describe mixtures by their largest shares."""
    parts = []
    for digit, mean in found.items():
        shown = " + ".join(f"{mean[k]:.2f} x {k}" for k in mean.topk(3).indices.tolist())
        parts.append(f"{digit} = {shown}")
    return "; ".join(parts) or "none"


def main(readers: int = 10, steps: int = STEPS, data: str = "") -> tuple[int, int]:
    """Train readers without and with the second term; print and count those with a mixture."""
    x, y = images(data)
    counts = [0, 0]
    for seed in range(readers):
        for i, sure in enumerate((0.0, 1.0)):
            found = mixtures(trained(x, y, seed, sure, steps), x[:20_000], y[:20_000])
            counts[i] += bool(found)
            print(
                f"reader {seed}, {('products only', 'and pseudo-labels')[i]:17}: {words(found)}", flush=True
            )
    print(f"{counts[0]} of {readers} mix a digit; with pseudo-labels {counts[1]}.")
    return counts[0], counts[1]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
