"""On a GPU: graphs and streams train what plain calls train, and a run can be gone on with to the last bit."""

import pytest
import torch
from torch.nn import functional as T

from nalm.config import Layer, TwoDigits
from nalm.engine import Run
from nalm.engine.images import ImageTrainer
from nalm.engine.images.program import ImageProgram, Member
from nalm.experiments.mnist.two_digits import BATCH, lasting, pressed, reading

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and there is none here"),
]


def case(layer=None, epochs=2):
    task = TwoDigits("multiply", source="drawn", samples=20, exact="rounded")
    found = reading(layer or Layer("NMU"), task, 64)
    return lasting(pressed(found, 1, "weight", start=0, end=1), epochs)


def weights(training, i=0):
    torch.cuda.synchronize()
    return {n: p.cpu().clone() for n, p in training.members[i].member.params.items()}


def trained(runs, state=None, stop=None):
    training = ImageTrainer(runs, torch.device("cuda"))
    if state is not None:
        training.restore(state)
    while not training.finished and (stop is None or training.at < stop):
        training.advance()
    return training


@pytest.mark.parametrize("layer", [Layer("NMU"), BATCH], ids=["NMU", "SNMU"])
def test_a_run_ends_the_same_alone_with_others_and_after_a_stop(layer):
    runs = [Run(case(layer), seed, seed) for seed in range(3)]
    whole = trained(runs)
    assert "captured" in whole.results().modes[0]
    alone = trained(runs[1:2])
    for name, p in weights(alone).items():  # cuBLAS sums in an order that depends on the size of the batch
        assert T.cosine_similarity(p.flatten(), weights(whole, 1)[name].flatten(), 0) > 0.95, name
    begun = trained(runs[1:2], stop=1)
    assert 0 < begun.at < case().recipe.steps
    resumed = trained(runs[1:2], begun.state())
    assert all(torch.equal(p, weights(alone)[n]) for n, p in weights(resumed).items())


def test_captured_steps_are_the_steps_of_a_cpu():
    here = Member(ImageProgram(case(), "", torch.device("cpu"), False), 0)
    there = Member(ImageProgram(case(), "", torch.device("cuda"), True, "float32"), 0)
    begun = {name: p.clone() for name, p in here.params.items()}
    for member in (here, there):
        member.shuffle(0)
        for _ in range(5):
            member.advance("mse")
    torch.cuda.synchronize()
    for name, p in here.params.items():  # Adam moves by signs: where gradients are nearly 0, rounding decides
        moves = torch.stack([(q - begun[name]).flatten() for q in (p, there.params[name].cpu())])
        alike = T.cosine_similarity(moves[0], moves[1], 0)
        assert alike > 0.95, (name, alike)


def test_evaluations_are_those_of_a_cpu():
    here = Member(ImageProgram(case(), "", torch.device("cpu"), False), 0)
    there = Member(ImageProgram(case(), "", torch.device("cuda"), True, "float32"), 0)
    found = []
    for member in (here, there):
        for _ in range(2):  # the second time replayed
            member.evaluate()
        found.append(member.judged(member.fetch()))
    for name, value in found[0][0].items():
        assert found[1][0][name] == pytest.approx(value, rel=0.02, abs=0.01), name
    assert (found[0][1]["test.confusion"] - found[1][1]["test.confusion"]).abs().sum() < 40
