"""Networks that read: their sizes and starts, what they leave out, and what they calculate."""

import math

import pytest
import torch

from nalm import draws
from nalm.config import Layer
from nalm.engine import check
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.readers import Classifier, Dropout, Pair, buffers, pseudo_label, softargmax, starts
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.mnist.two_digits import DIVIDERS

NMU = (Layer("NMU"),)


def test_the_classifier_has_the_published_parameters():
    count = [sum(p.numel() for p in part.parameters()) for part in Classifier(10).children()]
    assert count == [320, 18_496, 0, 0, 1_179_776, 1_290]


def test_a_sure_network_reads_whole_numbers_exactly():
    logits = torch.full((10, 10), -60.0).fill_diagonal_(60.0)
    assert softargmax(logits).tolist() == list(range(10))
    assert softargmax(torch.zeros(1, 9), first=1).item() == pytest.approx(5)


@pytest.mark.parametrize(("halvings", "chance"), [(1, 0.5), (2, 0.25)])
def test_dropout_leaves_out_its_share_by_the_run_and_the_step(halvings, chance):
    layer, x = Dropout(halvings), torch.ones(64, 999)
    layer.noise.key.copy_(draws.keys([0], "dropout")[0])
    first, second = layer(x), layer(x)
    for y in (first, second):
        kept = y != 0
        assert abs(kept.float().mean() - (1 - chance)) < 5 * (chance * (1 - chance) / x.numel()) ** 0.5
        assert torch.allclose(y[kept], torch.tensor(1 / (1 - chance)))
    both = ((first == 0) & (second == 0)).float().mean()
    assert abs(both - chance**2) < 0.01  # one step says nothing about the next
    layer.noise.counter.zero_()
    assert torch.equal(layer(x), first)
    assert layer.eval()(x) is x


def test_starts_are_torchs_and_a_function_of_the_seed():
    network = Pair(NMU, 0)
    one, again, other = (starts(network, seed) for seed in (0, 0, 1))
    assert one.keys() == dict(network.named_parameters()).keys()
    assert all(torch.equal(one[n], again[n]) and not torch.equal(one[n], other[n]) for n in one)
    for name, inputs in {"conv1": 9, "conv2": 288, "fc1": 9216, "fc2": 128}.items():
        for part in ("weight", "bias"):
            values = one[f"reader.{name}.{part}"]
            assert values.abs().max() <= inputs**-0.5
        weight = one[f"reader.{name}.weight"]
        assert weight.std() == pytest.approx((inputs * 3) ** -0.5, rel=0.1)
    assert ((one["arithmetic.layers.0.weight"] - 0.5).abs() <= 0.25).all()


def test_noise_of_units_and_what_is_left_out_have_keys_of_their_own():
    found = buffers(Pair((Layer("SNMU"),), 0), 0)
    assert len(found) == 3 and len({tuple(k.tolist()) for k in found.values()}) == 3


def test_a_pair_is_read_image_by_image_and_then_calculated_with():
    network = Pair((Layer("Fixed", options=(("operation", "divide"),)),), 1).eval()
    images = torch.randn(3, 2, 28, 28)
    output, digits = network(images)
    alone = softargmax(network.reader(images[:, 1].unsqueeze(1)), 1)
    torch.testing.assert_close(digits[:, 1], alone)
    assert torch.equal(output[:, 0], digits[:, 0] / digits[:, 1])
    assert ((digits >= 1) & (digits <= 9)).all()


def test_lower_precision_stays_inside_the_reader():
    network = Pair(NMU, 0, torch.bfloat16)
    exact = Pair(NMU, 0)
    exact.load_state_dict(network.state_dict())
    images = torch.randn(4, 2, 28, 28)
    (output, digits), (wanted, _) = network.eval()(images), exact.eval()(images)
    assert output.dtype == digits.dtype == torch.float32
    torch.testing.assert_close(output, wanted, rtol=0.05, atol=0.05)
    weight = network.arithmetic.layers[0].weight[0]
    by_hand = (weight * digits + 1 - weight)[:, :1] * (weight * digits + 1 - weight)[:, 1:]
    torch.testing.assert_close(output, by_hand)


def test_a_mixture_that_reads_the_right_digit_is_not_turned_into_it():
    logits = torch.full((10,), -4.0)
    logits[[3, 5]] = 4.0
    logits.requires_grad_()
    read = softargmax(logits)
    (found,) = torch.autograd.grad(read, logits)
    p = torch.softmax(logits.detach(), -1)
    torch.testing.assert_close(found, p * (torch.arange(10) - read.detach()))
    assert abs(read.item() - 4) < 0.01 and found[4].abs() < 1e-5 < 0.1 < found[5].abs()


def test_a_pseudo_label_turns_a_mixture_into_the_digit_that_it_reads():
    logits = torch.full((2, 3, 9), -20.0)
    logits[..., [2, 4]] = 0.0  # digits from 1: 3 and 5 in equal parts
    logits.requires_grad_()
    found = pseudo_label(logits, 1)
    (slope,) = torch.autograd.grad(found.sum(), logits)
    assert found.shape == (2,) and found.detach().tolist() == pytest.approx([20 + math.log(2)] * 2)
    assert torch.equal(slope.argmin(-1), torch.full((2, 3), 3)) and slope[0, 0, 3] == pytest.approx(-1 / 3)
    with torch.no_grad():
        for _ in range(200):
            logits -= torch.func.grad(lambda x: pseudo_label(x, 1).sum())(logits)
    torch.testing.assert_close(softargmax(logits, 1), torch.full((2, 3), 4.0), atol=0.05, rtol=0)
    assert torch.softmax(logits, -1)[..., 3].min() > 0.95


def test_a_recipe_with_pseudo_labels_is_for_pairs_of_images_alone():
    labels = EXPERIMENTS["mnist/product-labels"]
    assert [dict(c.recipe.penalties)["pseudo-label"].weight for c in labels.cases] == [1.0] * 4
    check(labels.cases)
    colour = EXPERIMENTS["mnist/colour"].cases[0]
    wrong = colour.replace(recipe=labels.cases[0].recipe)
    with pytest.raises(NALMError, match="has no penalty called 'pseudo-label'"):
        check([wrong])


def test_layers_can_start_alike_in_every_fold_while_readers_do_not():
    network = Pair(NMU, 0)
    own, shared = starts(network, 0), starts(network, 0, first=3)
    same = {n for n in own if torch.equal(own[n], shared[n])}
    assert same == {n for n in own if n.startswith("reader.")}
    assert torch.equal(shared["arithmetic.layers.0.weight"], starts(network, 3)["arithmetic.layers.0.weight"])


def test_units_that_divide_start_alike_and_elsewhere_apart():
    def first(case, seed):
        small = case.replace(source="drawn", samples=2)
        member = Member(ImageProgram(small, "", torch.device("cpu"), compiled=False), seed)
        return member.params["arithmetic.layers.0.weight"].tolist()

    found = {(c.model[0].unit, c.task.start): c for c in EXPERIMENTS["mnist/division-starts"].cases}
    for unit in DIVIDERS:
        own, shared = found[unit, -1], found[unit, 3]
        assert first(shared, 0) == first(shared, 1) == first(own, 3) != first(own, 0)


def test_units_that_divide_start_where_torchs_seed_3_puts_them_on_a_gpu():
    """(u0, u1, u2, u3) of torch.manual_seed(3); torch.rand(4, device="cuda"), in the published ranges of each unit."""
    u = torch.tensor([0.8167, 0.2046, 0.1540, 0.0825])
    wanted = {"ModifiedRealNPU": u[:2] - 0.5, "NRU": u[:2] - 0.5, "NMRU": 0.25 + 0.5 * u}
    cases = [c for c in EXPERIMENTS["mnist/division"].cases if c.model[0].unit in DIVIDERS]
    assert len(cases) == 6 and {(c.task.start, c.task.generator) for c in cases} == {(3, "torch")}
    for case in cases:
        network = Pair(case.model, case.task.first)
        for seed in (0, 7):
            begun = starts(network, seed, case.task.start, generator=case.task.generator)
            assert begun["arithmetic.layers.0.weight"].flatten().tolist() == pytest.approx(
                wanted[case.model[0].unit].tolist(), abs=1e-4
            )
    assert torch.equal(begun["reader.conv1.weight"], starts(network, 7)["reader.conv1.weight"])
