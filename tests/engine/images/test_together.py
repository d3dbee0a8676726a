"""Runs trained as one batch: the same steps and evaluations as one by one, whatever the form of the convolutions."""

import importlib.util

import pytest
import torch

from nalm import draws
from nalm.config import Layer, TwoDigits, grid
from nalm.config.images import PSEUDO_LABEL
from nalm.engine import Run, populations, product
from nalm.engine.images import ImageTrainer
from nalm.engine.images.convolutions import FORMS, fastest, form
from nalm.engine.images.dropped import kept_features
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.readers import Dropout
from nalm.engine.images.together import Together
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.mnist.two_digits import BATCH, clipped, lasting, pressed, reading

CPU = torch.device("cpu")
TINY = TwoDigits("multiply", grid(7, 10), source="drawn", samples=8, folds=3, exact="rounded")
FIXED = Layer("Fixed", options=(("operation", "multiply"),))


def case(layer, epochs=1):
    found = lasting(reading(layer, TINY, 4), epochs)
    return found if layer == FIXED else pressed(found, 1, "weight", start=0, end=1)


def decayed(found):
    return found.replace(recipe=found.recipe.replace(weight_decay=0.5))


LABELLED = pressed(case(FIXED), 100, PSEUDO_LABEL, start=0, end=0)
CLIPPED = clipped(case(BATCH))
SCALED = CLIPPED.replace(recipe=CLIPPED.recipe.replace(norm="scaled", clip_norm=0.1))
KINDS = (LABELLED, decayed(case(Layer("NMU"))), CLIPPED, SCALED)


def members(kinds=KINDS, seeds=(1,)):
    programs = [ImageProgram(kind, "", CPU, compiled=False) for kind in kinds]
    found = [Member(program, seed) for program in programs for seed in seeds]
    for member in found:
        member.shuffle(0)
    return found


def trained(runs, until=10**9):
    training = runs if isinstance(runs, ImageTrainer) else ImageTrainer(runs, CPU)
    while not training.finished and training.at < until:
        training.advance()
    return training


def random_weights(generator):
    def drawn(*shape):
        return torch.randn(*shape, generator=generator) / 5

    return {
        "conv1.weight": drawn(2, 32, 1, 3, 3),
        "conv1.bias": drawn(2, 32),
        "conv2.weight": drawn(2, 64, 32, 3, 3),
        "conv2.bias": drawn(2, 64),
        "fc1.weight": drawn(2, 128, 9216) / 20,
        "fc1.bias": drawn(2, 128),
    }


def pictures(kind, generator):
    """Return images: noise, one with a background and one with nothing else, or dots that each pooled pixel sees."""
    x = torch.randn(2, 3, 28, 28, generator=generator)
    if kind == "drawn":
        x[..., :8, :] = x[..., 19:, :] = x[..., :5] = -0.4
        x[:, 1] = -0.4
    elif kind == "dots":
        seen = torch.zeros(28, 28, dtype=torch.bool)
        seen[5::6, 5::6] = True
        x = torch.where(seen, x, -0.4)
    return x


@pytest.mark.parametrize("kind", ["noise", "drawn", "dots"])
@pytest.mark.parametrize("draw", [None, (draws.keys([4, 5], "dropout"), torch.tensor(7, dtype=torch.int32))])
@pytest.mark.parametrize("name", [name for name in FORMS if name != "each"])
def test_every_form_of_the_convolutions_computes_the_same(name, draw, kind):
    generator = torch.Generator().manual_seed(1)
    weights, x = random_weights(generator), pictures(kind, generator)
    gradient = torch.randn(2, 3, 128, generator=generator)
    (hidden, pull), (found, ours) = form("each")(weights, x, draw), form(name)(weights, x, draw)
    torch.testing.assert_close(found, hidden, rtol=1e-4, atol=1e-4)
    wanted, pulled = pull(gradient), ours(gradient)
    for part, value in weights.items():
        assert pulled[part].shape == value.shape
        assert (pulled[part] - wanted[part]).norm() < 1e-4 * wanted[part].norm(), part


def test_the_features_that_a_batch_leaves_out_are_those_of_the_dropout_layer():
    layer = Dropout(2)
    layer.noise.key, layer.noise.counter = (
        draws.keys([4, 5], "dropout"),
        torch.full((2,), 7, dtype=torch.int32),
    )
    wanted = layer(torch.ones(2, 3, 9216)) != 0
    stay = kept_features((draws.keys([4, 5], "dropout"), torch.tensor(7, dtype=torch.int32)), 3)
    assert torch.equal(stay, wanted) and 0.7 < float(stay.float().mean()) < 0.8


def test_another_form_gets_a_suggestion():
    with pytest.raises(NALMError, match="fused"):
        form("fusd")
    assert fastest("cpu", "") == "each"


def capable(monkeypatch, first, hip=None):
    """Pretend that there is a GPU of this compute capability, and Triton."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (first, 0))
    monkeypatch.setattr(torch.version, "hip", hip)


@pytest.mark.parametrize(("first", "hip"), [(7, None), (8, None), (10, None), (12, None), (9, "6.4")])
def test_the_kernels_are_for_hopper_and_other_gpus_use_a_form_of_torchs_own(first, hip, monkeypatch):
    capable(monkeypatch, first, hip)
    assert fastest("cuda", "bfloat16") == fastest("cuda", "tf32") == "each"


def test_without_triton_a_form_of_torchs_own_is_used(monkeypatch):
    capable(monkeypatch, 9)
    assert fastest("cuda", "bfloat16") == fastest("cuda", "tf32") == "fused"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert fastest("cuda", "bfloat16") == "each"


def test_a_batch_of_units_takes_the_steps_of_each_alone():
    apart, batch = members(), members()
    whole = Together(batch, "each", compiled=False)
    for _ in range(2):
        whole.advance("mse")
        for member in apart:
            member.advance("mse")
    assert whole.at == apart[0].at == 2
    for one, other in zip(apart, batch, strict=True):
        for name, p in one.params.items():
            far = (other.params[name] - p).abs() > 2e-4 + 1e-3 * p.abs()
            assert far.float().mean() < 1e-5, (
                name
            )  # Adam steps either way where a gradient is zero but for rounding
    assert whole.params["reader.fc1.weight"].data_ptr() == batch[0].params["reader.fc1.weight"].data_ptr()


def test_gradients_are_clipped_in_the_runs_and_by_the_norms_that_ask_for_it():
    def plain(found):  # descent moves by gradients themselves, Adam hardly by their size
        return found.replace(recipe=found.recipe.replace(optimiser="sgd", lr=0.1))

    free, *clip = kinds = [plain(kind) for kind in (case(BATCH), CLIPPED, SCALED)]
    apart, batch = members(kinds), members(kinds)
    begun = {name: p.clone() for name, p in apart[0].params.items()}
    Together(batch, "each", compiled=False).advance("mse")
    moved = []
    for one, other in zip(apart, batch, strict=True):
        one.advance("mse")
        moves = [torch.cat([(m.params[n] - begun[n]).flatten() for n in begun]) for m in (one, other)]
        assert (moves[1] - moves[0]).norm() < 1e-3 * moves[0].norm()
        moved.append(float(moves[1].norm()) / free.recipe.lr)
    assert moved[0] > 2 and moved[1:] == pytest.approx([kind.recipe.clip_norm for kind in clip], rel=1e-3)


def test_a_batch_is_evaluated_as_each_alone():
    apart, batch = members(), members()
    Together(batch, "each", compiled=False).evaluate()
    for one, other in zip(apart, batch, strict=True):
        one.evaluate()
        (means, counts), (ours, counted) = (m.judged(m.fetch()) for m in (one, other))
        assert ours == pytest.approx(means, rel=1e-4)
        assert all(torch.equal(counted[name], table) for name, table in counts.items())


def test_a_cpu_evaluates_few_images_at_a_time_and_finds_the_same():
    many = case(FIXED).replace(task=TINY.replace(samples=50))
    apart, batch = members([many], (0, 1)), members([many], (0, 1))
    whole = Together(batch, "each", compiled=False)
    assert len(whole.pictures["grid"]) == 256 and whole.pictures["rows"].shape[1] > 256  # of each of two runs
    assert all(len(torch.unique(rows)) > 256 for rows in whole.pictures["rows"])
    whole.evaluate()
    for one, other in zip(apart, batch, strict=True):
        one.evaluate()
        assert other.judged(other.fetch())[0] == pytest.approx(one.judged(one.fetch())[0], rel=1e-4)


@pytest.mark.system
def test_a_run_ends_the_same_alone_and_among_other_units():
    whole, alone = (
        ImageTrainer([Run(kind, seed, 0) for kind in kinds for seed in seeds], CPU)
        for kinds, seeds in ((KINDS, (0, 1)), (KINDS[1:2], (1,)))
    )
    for training in (whole, alone):
        while not training.finished:
            training.advance()
    (one,) = alone.members
    other = whole.members[3]
    assert (other.run.case, other.run.seed, other.steps) == (one.run.case, 1, one.steps)
    verdicts = [{n: v for n, v in m.means[-1].items() if n.endswith("rounded")} for m in (one, other)]
    assert verdicts[0] == verdicts[1]


def test_runs_at_different_steps_are_different_batches():
    runs = [Run(KINDS[1], seed, seed) for seed in range(2)]
    ahead = ImageTrainer(runs[:1], CPU)
    ahead.advance()
    both = ImageTrainer(runs, CPU)
    both.restore(ahead.state())
    assert [m.at for m in both.members] == [8, 0]
    while not both.finished:
        both.advance()
    assert [len(b.members) for b in both.batches] == [1, 1] and both.at == KINDS[1].recipe.steps


def test_all_folds_and_units_of_a_study_are_one_population_on_a_gpu():
    asked = EXPERIMENTS["mnist/product"]
    (whole,) = populations(product(asked.cases, asked.seeds), 2**27)
    assert len(whole) == 50
    division = EXPERIMENTS["mnist/division"]
    sizes = [len(part) for part in populations(product(division.cases, division.seeds), 2**27)]
    assert sizes == [64, 16]  # as many as there may be, and the rest


def test_runs_that_were_saved_before_and_after_an_evaluation_are_each_evaluated_once():
    epoch = KINDS[1].epoch
    finished = trained([Run(case(Layer("NMU")), 0, 0)])  # saved after the evaluation at the end of an epoch
    stopped = trained([Run(case(Layer("NMU"), 2), 1, 0)], until=epoch)  # and before it
    assert [(t.at, t.members[0].steps) for t in (finished, stopped)] == [(epoch, [0, epoch]), (epoch, [0])]
    for seeds in ((0, 1), (1, 0)):
        states = {n.replace("0.", f"{seeds.index(0)}.", 1): t for n, t in finished.state().items()}
        states |= {n.replace("0.", f"{seeds.index(1)}.", 1): t for n, t in stopped.state().items()}
        both = ImageTrainer([Run(case(Layer("NMU"), 2), seed, seed) for seed in seeds], CPU)
        both.restore(states)
        both.advance()
        again = ImageTrainer([m.run for m in both.members], CPU)
        again.restore(both.state())  # not refused as damaged
        assert [m.steps for m in again.members] == [[0, epoch]] * 2
        assert [len(m.means) for m in trained(both).members] == [3, 3]
        assert [m.steps for m in both.members] == [[0, epoch, 2 * epoch]] * 2


def test_the_precision_is_recorded_and_an_unknown_one_refused():
    training = ImageTrainer([Run(KINDS[1], 0, 0)], CPU, precision="bfloat16")
    assert training.members[0].member.program.mode == "eager bfloat16"
    with pytest.raises(NALMError, match="bfloat16"):
        ImageTrainer([Run(KINDS[1], 0, 0)], CPU, precision="bfloat")
