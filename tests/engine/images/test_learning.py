"""Networks that read learn: drawn digits at once, and two digits of MNIST in a few epochs."""

import pytest
import torch

from nalm.config import Layer, TwoDigits, grid
from nalm.engine import Run
from nalm.engine.images import ImageTrainer, mnist
from nalm.errors import NALMError
from nalm.experiments.mnist.two_digits import SMOKE, lasting, reading

pytestmark = pytest.mark.slow
MUL = Layer("Fixed", options=(("operation", "multiply"),))


def trained(case):
    training = ImageTrainer([Run(case, 0, 0)], torch.device("cpu"))
    while not training.finished:
        training.advance()
    return training.members[0]


def test_drawn_digits_are_learnt_in_the_smoke_test():
    given, nmu = (trained(case) for case in SMOKE)
    assert given.means[-1]["test.label1.rounded"] > 0.6 > 0.2 > given.means[0]["test.label1.rounded"]
    assert nmu.means[-1]["seen.error"] < 0.2 * nmu.means[0]["seen.error"]


def subset(layer, epochs):
    """Products of MNIST's digits from 6 to 9: twelve pairs are trained on, 40 images of each."""
    try:
        mnist.folder()
    except NALMError as error:
        pytest.skip(str(error))
    task = TwoDigits("multiply", grid(6, 10), samples=40, folds=4, exact="rounded", every=4)
    return trained(lasting(reading(layer, task, 16), epochs))


def test_a_given_product_teaches_a_network_to_read():
    run = subset(MUL, 16)
    assert run.means[-1]["seen.output.rounded"] > 0.8 > 0.2 > run.means[0]["seen.output.rounded"]
    # pairs and images it has not seen
    assert min(run.means[-1][f"test.label{k}.rounded"] for k in (1, 2)) > 0.85


def test_the_weights_of_a_nmu_move_towards_the_solution():
    run = subset(Layer("NMU"), 12)
    first, last = (run.weights[i]["0.weight"] for i in (0, -1))
    assert ((1 - last).abs() < 0.6 * (1 - first).abs()).all()
    assert run.means[-1]["seen.error"] < 0.2 * run.means[0]["seen.error"]
