"""A run of images that was begun in one precision is not gone on with in another."""

import pytest
import torch

from nalm.config import Experiment, Layer, TwoDigits, grid
from nalm.engine import Run
from nalm.engine.device import PRECISIONS
from nalm.engine.images import ImageTrainer
from nalm.engine.images.trained import PRECISION
from nalm.errors import NALMError
from nalm.experiments.mnist.two_digits import lasting, reading
from nalm.lab.run import run
from nalm.results.store import Store

CPU = torch.device("cpu")
HERE = {"device": "cpu", "workers": 1}
TINY = TwoDigits("multiply", grid(7, 10), source="drawn", samples=4, folds=3, exact="rounded")


def case(epochs=1):
    return lasting(reading(Layer("NMU"), TINY, 4), epochs)


def training(precision=""):
    return ImageTrainer([Run(case(), 0, 0)], CPU, precision=precision)


def test_every_precision_has_a_number_in_saved_networks():
    assert PRECISION == {"": 0, "float32": 1, "tf32": 2, "bfloat16": 3} and set(PRECISIONS) < set(PRECISION)


@pytest.mark.parametrize(("before", "after"), [("bfloat16", ""), ("", "bfloat16"), ("tf32", "float32")])
def test_another_precision_is_refused_with_both_and_the_remedy(before, after):
    state = training(before).state()
    words = rf"in {before or 'float32'} so far .* in {after or 'float32'}: use --precision {before or 'float32'}, or"
    with pytest.raises(NALMError, match=words):
        training(after).restore(state)
    training(before).restore(state)


def test_a_cpu_without_a_precision_is_one_in_float32():
    training("float32").restore(training().state())
    training().restore(training("float32").state())


def test_a_network_of_a_gpu_without_a_precision_goes_on_without_one():
    state = training().state() | {"0.precision": torch.tensor(0.0)}
    training().restore(state)
    asked = training("tf32")
    asked.members[0].member.program.device = torch.device("cuda")
    words = r"trained in the precision that torch is set to .* in tf32: leave --precision out, or"
    with pytest.raises(NALMError, match=words):
        asked.restore(state)


def test_a_network_that_was_saved_without_a_precision_is_gone_on_with():
    state = {name: t for name, t in training().state().items() if name != "0.precision"}
    training("bfloat16").restore(state)


@pytest.mark.parametrize("odd", [7.0, float("nan"), 0.5, [1.0, 1.0]])
def test_a_precision_that_there_is_not_is_damage(odd):
    state = training().state() | {"0.precision": torch.tensor(odd)}
    with pytest.raises(NALMError, match="see 'precision'"):
        training().restore(state)


def test_a_finished_run_is_left_as_it_is_and_more_epochs_in_another_precision_are_refused(tmp_path):
    def asked(epochs, precision):
        run([Experiment("tiny", "A tiny one", (case(epochs),), (0,))], tmp_path, **HERE, precision=precision)
        with Store(tmp_path) as store:
            return [(o.steps, o.mode) for o in store.outcomes("tiny")]

    wanted = [(case().recipe.steps, "eager bfloat16")]
    assert asked(1, "bfloat16") == asked(1, "float32") == wanted
    with pytest.raises(
        NALMError, match=r"networks/\w+-0.safetensors .* in bfloat16 so far .* in float32: use"
    ):
        asked(2, "float32")
    assert asked(2, "bfloat16") == [*wanted, (case(2).recipe.steps, "eager bfloat16")]
