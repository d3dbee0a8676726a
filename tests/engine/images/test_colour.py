"""Digits on top of one another: what the network sees, how it starts, and which samples there are."""

import pytest
import torch

from nalm import config
from nalm.config import Case, Layer, Recipe
from nalm.engine.images.data import resident
from nalm.engine.images.examples import examples
from nalm.engine.images.layouts.colour import ColourReader, Colours, Localiser
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.readers import buffers, starts
from nalm.engine.images.spline import control_points
from nalm.engine.images.trained import Trained
from nalm.engine.plan import Run

SMALL = config.Colour("multiply", source="drawn", samples=3, folds=3, validation=0.15, exact="rounded")
CASE = Case((Layer("NMU"),), SMALL, Recipe(steps=1, batch=4))


def colour(identity: bool) -> ColourReader:
    return ColourReader((Layer("NMU"),), 0, identity)


def given(network: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """The network with the numbers a run of this seed starts from."""
    network.load_state_dict({**starts(network, seed), **buffers(network, seed)}, strict=False)
    return network.eval()


def test_the_network_has_the_published_numbers_of_parameters():
    count = {name: p.numel() for name, p in ColourReader((Layer("NMU"),), 0, False).named_parameters()}
    localiser = sum(n for name, n in count.items() if name.startswith("localisers.0"))
    assert localiser == 1_020 + 10_020 + 10_272 + 1_056  # thesis Fig. E.2
    assert sum(n for name, n in count.items() if name.startswith("reader")) == 608 + 18_496 + 524_416 + 1_290
    assert sum(n for name, n in count.items() if name.startswith("localisers.1")) == localiser


@torch.no_grad()
def test_a_localiser_can_start_as_the_identity():
    image = torch.randn(3, 2, 42, 42)
    points = given(colour(True)).localisers[0](image)
    torch.testing.assert_close(points, control_points().float().expand(3, -1, -1), atol=1e-6, rtol=0)
    erased = given(colour(False)).localisers[0](image)
    assert (erased - points).abs().max() > 0.3 and erased.abs().max() < 1


def test_localisers_start_apart():
    one, two = given(colour(False)).localisers
    assert isinstance(one, Localiser) and not torch.equal(one.conv1.weight, two.conv1.weight)


@torch.no_grad()
def test_every_localiser_shows_both_channels():
    network = given(colour(True))
    image = torch.zeros(1, 2, 42, 42)
    image[0, 0, 10:20, 10:20], image[0, 1, 25:35, 25:35] = 1.0, 2.0
    seen = network.seen(image)
    assert seen.shape == (1, 2, 2, 42, 42)
    torch.testing.assert_close(seen[0, 0], seen[0, 1])  # both start as the identity
    assert (seen[0, 0] - image[0]).abs().mean() < 0.02  # but for the sampling's shrinking
    output, digits = network(image)
    assert output.shape == (1, 1) and digits.shape == (1, 2) and (digits >= 0).all() and (digits <= 9).all()


def test_samples_are_split_as_published():
    layout, pictures = Colours(CASE), resident("drawn", "", "cpu")
    sets = layout.sets(0, pictures)
    assert {name: len(rows) for name, rows in sets.items()} == {
        "train": 168,
        "seen": 168,
        "test": 102,
        "validation": 30,
    }
    digits = {name: {tuple(d) for d in pictures.digits[rows].tolist()} for name, rows in sets.items()}
    assert len(digits["test"]) == 34 and not digits["test"] & (digits["train"] | digits["validation"])
    assert (sets["test"] >= pictures.trained).all() and (sets["train"] < pictures.trained).all()


def test_poses_are_drawn_anew_at_every_step():
    layout, pictures = Colours(CASE), resident("drawn", "", "cpu")
    images, key = pictures.images[:8].reshape(4, 2, 28, 28), torch.tensor([5, 7], dtype=torch.int32)
    first, again, later = (layout.inputs(images, key, torch.tensor(step)) for step in (0, 0, 1))
    assert first.shape == (4, 2, 42, 42) and torch.equal(first, again) and not torch.equal(first, later)


def test_evaluations_draw_their_own_poses():
    program = ImageProgram(CASE, "", torch.device("cpu"), compiled=False)
    member = Member(program, 0)
    keys = [member.tables["transform"], *(s["transform"] for s in member.sets.values())]
    assert len({tuple(k.tolist()) for k in keys}) == 4


@pytest.mark.parametrize("identity", [False, True])
def test_a_step_moves_every_part(identity):
    case = CASE.replace(identity=identity)
    member = Member(ImageProgram(case, "", torch.device("cpu"), compiled=False), 0)
    before = {n: p.clone() for n, p in member.params.items()}
    member.shuffle(0)
    member.advance("mse")
    still = {n for n, p in member.params.items() if torch.equal(p, before[n])}
    resting = {n for n in before if n.startswith("localisers") and ".points." not in n} if identity else set()
    assert still == resting  # behind weights of zero nothing has a slope yet


def test_the_first_fold_shows_what_it_sees():
    program = ImageProgram(CASE, "", torch.device("cpu"), compiled=False)
    shown = examples(Member(program, 0))
    shapes = {name.removeprefix("examples."): tuple(value.shape) for name, value in shown.items()}
    assert shapes == {"input": (4, 2, 42, 42), "seen": (4, 2, 2, 42, 42), "digits": (4, 2), "read": (4, 2)}
    assert shown["examples.input"].dtype == torch.uint8 and shown["examples.input"].float().std() > 10
    assert len({tuple(d) for d in shown["examples.digits"].tolist()}) == 4
    assert examples(Member(program, 1)) == {}


def test_noise_and_poses_go_on_where_they_were():
    """Four steps are two steps, taken out, put back, and two more."""
    case = CASE.replace(model=(Layer("SNMU", options=(("noise_range", "batch"),)),))
    program = ImageProgram(case, "", torch.device("cpu"), compiled=False)
    whole, first, second = (Trained(Run(case, 1, 0), Member(program, 1)) for _ in range(3))
    for trained, steps in ((whole, 4), (first, 2)):
        trained.member.shuffle(0)
        for _ in range(steps):
            trained.member.advance("mse")
            trained.at += 1
    second.restore(first.state())
    second.member.shuffle(0)
    for _ in range(2):
        second.member.advance("mse")
    for name, p in whole.member.params.items():
        assert torch.equal(p, second.member.params[name]), name
