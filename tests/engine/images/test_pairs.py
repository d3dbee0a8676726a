"""Two digits side by side: which are trained on, what is asked, and what counts as right."""

import pytest
import torch

from nalm.config import Layer, TwoDigits, grid
from nalm.engine.images.data import drawn_from, held_out, normalised, resident, shuffled
from nalm.engine.images.layouts.pair import Pairs
from nalm.experiments.mnist.two_digits import quotient, reading

PICTURES = resident("drawn", "", "cpu")


def pairs(first=0, samples=3, folds=10, operation="multiply"):
    task = TwoDigits(operation, grid(first, 10), source="drawn", samples=samples, folds=folds)
    return Pairs(reading(Layer("NMU"), task))


def test_folds_have_the_published_sizes_and_cover_everything():
    sizes = [len(held_out(81, 10, fold)) for fold in range(10)]
    assert sizes == [9] + [8] * 9
    assert sorted(i for fold in range(10) for i in held_out(100, 10, fold)) == list(range(100))
    assert held_out(100, 10, 0).tolist() == [2, 16, 26, 54, 55, 73, 75, 86, 93, 95]


@pytest.mark.parametrize("first", [0, 1])
def test_test_pairs_are_not_trained_on_and_their_images_neither(first):
    sets = pairs(first).sets(3, PICTURES)
    width = 10 - first
    both = {name: PICTURES.digits[rows] - first for name, rows in sets.items()}
    codes = {name: set((d[:, 0] * width + d[:, 1]).tolist()) for name, d in both.items()}
    assert codes["test"] == set(held_out(width**2, 10, 3).tolist()) and not codes["test"] & codes["train"]
    assert len(codes["test"] | codes["train"]) == width**2 and codes["seen"] <= codes["train"]
    assert (sets["train"] < PICTURES.trained).all() and (sets["test"] >= PICTURES.trained).all()
    assert len(sets["train"]) == 3 * len(codes["train"])
    assert set(both["train"].flatten().tolist()) == set(range(width))


def test_samples_depend_on_the_seed_alone():
    once, again, other = (pairs().sets(seed, PICTURES)["train"] for seed in (0, 0, 10))
    assert torch.equal(once, again)
    assert not torch.equal(once, other)  # the same fold, other images
    assert torch.equal(PICTURES.digits[once], PICTURES.digits[other])


def test_every_image_of_a_digit_is_drawn_about_equally_often():
    places = torch.arange(50, 60)
    drawn = drawn_from(places, 7, 0, 20_000)
    counts = torch.bincount(drawn - 50, minlength=10)
    assert counts.sum() == 20_000 and ((counts - 2_000).abs() < 5 * 2_000**0.5).all()


def orders(counts, wanted, seeds, epoch=0):
    return shuffled(counts, wanted, seeds, epoch, torch.device("cpu"))


def test_an_epoch_sees_every_sample_once_in_another_order():
    first, second = (orders([1_000], 1_000, [0], epoch)[0] for epoch in (0, 1))
    assert sorted(first.tolist()) == list(range(1_000)) and not torch.equal(first, second)
    assert orders([1_000], 900, [0])[0].tolist() == first[:900].tolist()
    assert orders([1_000], 1_100, [0])[0].tolist() == [*first.tolist(), *first[:100].tolist()]


def test_runs_that_are_shuffled_together_have_the_orders_that_they_have_alone():
    both = orders([70, 80], 75, [3, 4], 2)
    assert [row.tolist() for row in both] == [
        *orders([70], 75, [3], 2).tolist(),
        *orders([80], 75, [4], 2).tolist(),
    ]


def test_pixels_are_normalised_as_published():
    x = normalised(torch.tensor([0, 255], dtype=torch.uint8))
    torch.testing.assert_close(x, torch.tensor([-0.1307 / 0.3081, (1 - 0.1307) / 0.3081]))


def test_targets_are_products_and_quotients():
    digits = torch.tensor([[3, 4], [9, 2], [1, 7]])
    assert pairs().target(digits).tolist() == [[12.0], [18.0], [7.0]]
    found = Pairs(quotient(Layer("NRU"))).target(digits)
    torch.testing.assert_close(found, torch.tensor([[0.75], [4.5], [1 / 7]]))


def test_what_counts_as_right_by_hand():
    digits = torch.tensor([[3, 4], [3, 4], [3, 4], [9, 9]])
    read = torch.tensor([[3.0, 4.0], [3.2, 4.0], [2.4, 4.6], [9.0, float("nan")]])
    output = torch.tensor([[12.0], [12.000004], [12.4], [float("nan")]])
    layout = pairs()
    measures, counts = layout.judged(output, read, digits)
    found = dict(zip(layout.measures, measures.mT.tolist(), strict=True))
    assert found["output.strict"] == [1, 0, 0, 0]
    assert found["output.decimals"] == [1, 1, 0, 0]
    assert found["output.rounded"] == [1, 1, 1, 0]
    assert found["label1.strict"] == [1, 0, 0, 1] and found["label1.rounded"] == [1, 1, 0, 1]
    assert found["label2.strict"] == [1, 1, 0, 0] and found["label2.rounded"] == [1, 1, 0, 0]
    assert found["error"][0] == 0 and found["error"][2] == pytest.approx(0.16, rel=1e-5)
    confusion = counts.sum(0).reshape(2, 10, 10)
    assert confusion[0, 3, 3] == 2 and confusion[0, 3, 2] == 1 and confusion[0, 9, 9] == 1
    assert confusion[1, 4, 4] == 2 and confusion[1, 4, 5] == 1 and confusion[1, 9, 0] == 1
    assert confusion.sum() == 8


def test_a_quotient_counts_when_right_to_five_decimals():
    layout = Pairs(quotient(Layer("NRU")))
    digits = torch.tensor([[1, 3], [1, 3], [2, 3]])
    output = torch.tensor([[0.3333349], [0.333336], [0.6666667]])
    measures, _ = layout.judged(output, digits.float(), digits)
    assert measures[:, layout.measures.index("output.decimals")].tolist() == [1, 0, 1]
