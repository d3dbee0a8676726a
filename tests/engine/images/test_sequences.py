"""Sequences are cut as published, and go through a loop together as they would alone."""

import numpy as np
import pytest
import torch

from nalm.config import Case, ImageSequence, Layer, Ramp, Recipe, grid
from nalm.engine.images import ImageTrainer
from nalm.engine.images.data import resident
from nalm.engine.images.layouts.sequence import (
    TEST_SEED,
    Sequences,
    along,
    amounts,
    cut,
    permuted,
    training_seed,
)
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.plan import Run
from nalm.errors import NALMError
from nalm.networks.cells import LSTM, Accumulator
from nalm.networks.loop import Loop
from nalm.units import NAU, NMU, SNMU

LABELS = np.random.RandomState(1).randint(0, 10, 300)


def test_only_the_wanted_digits_are_kept_each_once():
    order = permuted(LABELS, 1, 5)
    assert sorted(order) == [i for i, label in enumerate(LABELS) if label]
    assert not np.array_equal(order, np.sort(order))


def test_orders_are_numpys():
    """As the published code makes them: a permutation by a generator seeded so."""
    kept = [i for i, label in enumerate(LABELS) if label in range(1, 10)]
    assert np.array_equal(permuted(LABELS, 1, TEST_SEED), np.random.RandomState(TEST_SEED).permutation(kept))
    assert training_seed(0) == 2357136044  # RandomState(0).randint(0, 2**32 - 1)


def test_what_is_left_over_is_dropped():
    order = torch.arange(23)
    for length in (1, 2, 5, 10, 20, 23):
        rows = cut(order, length)
        assert rows.shape == (23 // length, length)
        assert torch.equal(rows.flatten(), order[: rows.numel()])
    assert cut(order, 24).shape == (0, 24)


def test_targets_by_hand():
    digits = torch.tensor([[2, 3, 4], [9, 9, 1]])
    assert amounts("multiply", digits)[..., 0].tolist() == [[2, 6, 24], [9, 81, 81]]
    assert amounts("add", digits)[..., 0].tolist() == [[2, 5, 9], [9, 18, 19]]
    counts = amounts("count", digits)
    assert counts.shape == (2, 3, 10) and counts[1, :, 9].tolist() == [1, 2, 2] and counts[1, -1, 1] == 1


@pytest.mark.parametrize(
    "loop", [Loop(NMU(2, 1), first=1.0), Loop(NAU(2, 1)), Loop(LSTM(3, 2)), Loop(NAU(20, 10))]
)
@torch.no_grad()
def test_lengths_together_are_lengths_alone(loop):
    values = torch.rand(57, 10 if loop.outputs == 10 else 1)
    lengths = (1, 7, 3, 20)
    together = along(loop, values, lengths)
    assert together.shape == (4, 57, loop.outputs)
    for results, length in zip(together, lengths, strict=True):
        alone, _ = loop(cut(values, length))
        torch.testing.assert_close(cut(results, length), alone)
        assert not results[57 // length * length :].any()


@torch.no_grad()
def test_perfect_digits_make_perfect_products_at_any_length():
    digits = torch.randint(1, 10, (200,))
    results = along(Loop(Accumulator(2, 1), first=1.0), digits.double()[:, None], (1, 2, 9))
    for found, length in zip(results, (1, 2, 9), strict=True):
        assert torch.equal(cut(found, length), amounts("multiply", cut(digits, length)))


# -- the layout -----------------------------------------------------------------------------------

SMALL = ImageSequence("multiply", grid(1, 10), source="drawn", length=2, lengths=(1, 2, 7), every=2)
RECIPE = Recipe(steps=1, batch=4, penalties=(("weight", Ramp(10, 10, 20)), ("inputs", Ramp(1))))
PRODUCT = Case((Layer("NMU"),), SMALL, RECIPE)
BARE = RECIPE.replace(penalties=())


def program(case: Case) -> ImageProgram:
    return ImageProgram(case, "", torch.device("cpu"), compiled=False)


@pytest.mark.parametrize("source", ["drawn", "mnist"])
@pytest.mark.parametrize("first", [0, 1])
def test_an_epoch_has_as_many_steps_as_there_are_whole_batches(source, first):
    try:
        pictures = resident(source, "", "cpu")
    except NALMError as error:  # no files of MNIST here
        pytest.skip(str(error))
    case = PRODUCT.replace(train=grid(first, 10), source=source)
    train = Sequences(case).sets(0, pictures)["train"]
    assert case.epoch == len(train) // 4


def test_sets_are_of_three_parts_and_in_one_row_where_they_are_judged():
    pictures = resident("drawn", "", "cpu")
    sets = Sequences(PRODUCT).sets(3, pictures)
    assert [tuple(rows.shape) for rows in sets.values()] == [(824, 2), (1, 151), (1, 450)]
    train, validation, test = (set(rows.flatten().tolist()) for rows in sets.values())
    assert max(train) < 1833 <= min(validation) and max(validation) < 2000 <= min(test)
    assert all((pictures.digits[rows] > 0).all() for rows in sets.values())
    other = Sequences(PRODUCT).sets(4, pictures)
    assert not torch.equal(other["train"], sets["train"]) and torch.equal(other["test"], sets["test"])


def test_the_target_of_a_batch_is_of_every_step_and_of_counts_the_last():
    digits = torch.tensor([[2, 3], [9, 9]])
    assert Sequences(PRODUCT).target(digits).tolist() == [[2, 6], [9, 81]]
    counting = PRODUCT.replace(operation="count", model=(Layer("NAU", 10),), inputs=20, recipe=BARE)
    assert Sequences(counting).target(digits)[1].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]


@torch.no_grad()
def test_errors_by_length_are_those_of_each_length_alone():
    layout = Sequences(PRODUCT)
    digits, said = torch.randint(1, 10, (1, 30)), torch.rand(1, 3, 30, 1) * 9
    found, _ = layout.judged(said, said, digits)
    for k, length in enumerate(SMALL.lengths):
        wanted, mine = amounts("multiply", cut(digits[0], length)), cut(said[0, k], length).double()
        assert found[0, 2 * k].item() == pytest.approx((mine - wanted).square().mean().item())
        assert found[0, 2 * k + 1].item() == pytest.approx(
            (mine[:, -1].round() == wanted[:, -1]).double().mean().item()
        )


def test_errors_of_long_products_do_not_overflow():
    layout = Sequences(PRODUCT.replace(lengths=(2, 20)))
    digits = torch.full((1, 40), 9)
    found, _ = layout.judged(torch.zeros(1, 2, 40, 1), digits, digits)
    assert found[0, 2].item() == pytest.approx((81.0**20 * 81 / 80 - 81 / 80) / 20, rel=1e-9)


@pytest.mark.parametrize(
    ("layer", "operation", "inputs", "first"),
    [
        (Layer("NMU"), "multiply", 2, 1.0),
        (Layer("Accumulator"), "multiply", 2, 1.0),
        (Layer("NALU"), "multiply", 2, 0.0),
        (Layer("LSTM", 2), "multiply", 3, 0.0),
        (Layer("NAU"), "add", 2, 0.0),
        (Layer("NAU", 10), "count", 20, 0.0),
    ],
)
def test_loops_begin_where_the_published_ones_do(layer, operation, inputs, first):
    case = PRODUCT.replace(model=(layer,), operation=operation, inputs=inputs, recipe=BARE)
    network = Sequences(case).network(torch.float32)
    assert network.loop.first == first
    output, _ = network.penalised(torch.randn(3, 2, 28, 28), [])
    assert output.shape == Sequences(case).target(torch.ones(3, 2)).shape


def test_penalties_are_those_of_the_cell_with_all_that_it_saw():
    network = Sequences(PRODUCT).network(torch.float32)
    images = torch.randn(3, 2, 28, 28)
    _, terms = network.penalised(images, ["weight", "inputs"])
    unit = network.loop.unit
    _, seen = network.loop(network.read(images))
    assert seen.shape == (6, 2)
    w, z = unit.weight[0], seen.mean(0)
    torch.testing.assert_close(terms["inputs"], ((1 - w) * (1 - z) ** 2).mean())
    torch.testing.assert_close(terms["weight"], torch.minimum(w, 1 - w).mean())


def test_noise_differs_between_times_and_steps():
    case = PRODUCT.replace(model=(Layer("SNMU"),))
    member = Member(program(case), 0)
    network = member.program.network
    key = member.noise["arithmetic.layers.0.noise.key"]
    seen = []
    for at in (0, 1):
        made = SNMU(2, 1)
        made.noise.key, made.noise.counter = key, torch.tensor(at, dtype=torch.int32)
        made.noise.counter = made.noise.counter * 2
        seen += [made.draw(torch.ones(4, 2)) for _ in range(2)]
    assert network.loop.unit.noisy and len({tuple(n.flatten().tolist()) for n in seen}) == 4


def test_evaluations_come_every_few_epochs_and_at_the_end():
    case = PRODUCT.replace(recipe=RECIPE.replace(steps=5 * PRODUCT.epoch - 7))
    (trained,) = ImageTrainer([Run(case, 0, 0)], torch.device("cpu")).members
    due = []
    for trained.at in range(case.recipe.steps + 1):
        due += [trained.at] if trained.due else []
    assert due == [0, 2 * case.epoch, 4 * case.epoch, case.recipe.steps]


def test_the_epoch_with_the_best_validation_counts():
    (trained,) = ImageTrainer([Run(PRODUCT, 0, 0)], torch.device("cpu")).members
    trained.steps, trained.sparsity = [0, 9, 18], [0.4, 0.3, 0.2]
    trained.means = [{"validation.2.error": v, "test.2.error": t} for v, t in ((9, 8), (2, 5), (3, 1e-9))]
    mark = trained.mark()
    assert (mark.best_step, mark.validation, mark.test, mark.sparsity, mark.solved_at) == (9, 2, 5, 0.3, 18)


@pytest.mark.slow
def test_a_loop_learns_to_add():
    """Digits drawn in code, two at a time: the error falls far below the target's variance, at longer lengths too."""
    recipe = Recipe(steps=1, batch=32)
    case = Case((Layer("NAU"),), SMALL.replace(operation="add", train=grid(0, 10)), recipe)
    case = case.replace(recipe=case.recipe.replace(steps=36 * case.epoch, penalties=(("inputs", Ramp(1)),)))
    training = ImageTrainer([Run(case, 0, 0)], torch.device("cpu"))
    while not training.finished:
        training.advance()
    runs = training.results()
    assert runs.marks[0].test < 4.0  # of a variance of 26
    assert runs.records[0]["test.7.error"][-1] < 0.1 * runs.records[0]["test.7.error"][0]
