"""When a run is solved: published thresholds of one and of two layers, and what plays no part."""

import importlib

import pytest

from nalm.config import Arithmetic, Case, Layer, Range, Recipe, Threshold, mirrored
from nalm.errors import NALMError
from nalm.tasks import threshold

module = importlib.import_module("nalm.tasks.threshold")

NINE = [(-40, -20), (-6, -2), (-6.1, -1.2), (-2, -0.2), (-6, -2, 2, 6), (0.2, 2), (2, 6), (1.2, 6), (20, 40)]
TABLE = {  # published thresholds, in the order of these ranges
    (2, "add"): "3.67e-7, 6.67e-9, 5.73e-9, 5.38e-10, 6.67e-9, 5.39e-10, 6.66e-9, 5.56e-9, 3.67e-7",
    (2, "multiply"): "3.48e-4, 1.20e-7, 9.39e-8, 8.77e-10, 1.20e-7, 8.76e-10, 1.20e-7, 8.85e-8, 3.49e-4",
    (2, "divide"): "4.67e-10, 5.79e-10, 8.37e-10, 1.48e-9, 5.79e-10, 1.49e-9, 5.78e-10, 8.28e-10, 4.67e-10",
    (10, "add"): "9.03e-6, 1.61e-7, 1.35e-7, 1.24e-8, 1.61e-7, 1.24e-8, 1.61e-7, 1.32e-7, 9.03e-6",
    (10, "multiply"): "5.12, 3.51e-5, 2.32e-5, 2.60e-8, 3.50e-5, 2.61e-8, 3.50e-5, 2.13e-5, 5.12",
    (10, "divide"): "6.85e-6, 1.68e-7, 2.07e-7, 4.38e-8, 1.68e-7, 4.39e-8, 1.68e-7, 1.99e-7, 6.85e-6",
    (100, "add"): "9.00e-4, 1.60e-5, 1.33e-5, 1.21e-6, 1.60e-5, 1.21e-6, 1.60e-5, 1.30e-5, 9.00e-4",
}
SMT = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)))
ADT = SMT.replace(inputs=100, subset=25, overlap=12, threshold=Threshold("sums"))


def over(*ends: float) -> Range:
    return Range(*ends) if len(ends) == 2 else mirrored(*ends)


@pytest.fixture
def fewer(monkeypatch):
    """A tenth of the samples where there are 100 inputs: seconds instead of a minute, and precise enough."""
    module._simulated.cache_clear()
    monkeypatch.setattr(module, "SAMPLES", 100_000)
    yield
    module._simulated.cache_clear()


# -- one layer ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("inputs", "operation"), [key for key in TABLE if key[0] < 100], ids=str)
def test_the_table_of_single_units_is_reproduced(inputs, operation):
    expected = [float(t) for t in TABLE[inputs, operation].split(",")]
    cases = [SMT.replace(operation=operation, inputs=inputs, test=over(*ends)) for ends in NINE]
    assert [threshold(case) for case in cases] == pytest.approx(expected, rel=0.015)


@pytest.mark.parametrize("index", [0, 2, 4, 5])
def test_the_table_of_a_hundred_inputs_is_reproduced(index, fewer):
    case = SMT.replace(operation="add", inputs=100, test=over(*NINE[index]))
    assert threshold(case) == pytest.approx(float(TABLE[100, "add"].split(",")[index]), rel=0.015)


@pytest.mark.parametrize("inputs", [2, 10])
def test_subtraction_has_the_threshold_of_addition(inputs):
    case = SMT.replace(inputs=inputs)
    assert threshold(case.replace(operation="subtract")) == threshold(case.replace(operation="add"))


def exact(operation: str, eps: float) -> float:
    """The integral over two inputs in U[2, 6) of the squared deviation, by hand."""
    mean, square, inverse = 4.0, 52 / 3, 1 / 12  # of x, x^2 and 1/x^2
    return {
        "add": eps**2 * 2 * (square + mean**2),
        "subtract": eps**2 * 2 * (square + mean**2),
        "multiply": square**2 * (1 - (1 - eps) ** 2) ** 2,
        "divide": square * inverse * (1 - (1 - eps) / (1 + eps)) ** 2,
    }[operation]


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("eps", [1e-5, 1e-3, 0.1])
def test_the_threshold_of_two_inputs_is_the_integral_it_estimates(operation, eps):
    case = SMT.replace(operation=operation, threshold=Threshold(epsilon=eps))
    assert threshold(case) == pytest.approx(exact(operation, eps), rel=0.005)


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("inputs", [2, 10])
def test_ten_times_the_epsilon_is_a_hundred_times_the_threshold(operation, inputs):
    case = SMT.replace(operation=operation, inputs=inputs)
    wide = case.replace(threshold=Threshold(epsilon=1e-4))
    assert threshold(wide) == pytest.approx(100 * threshold(case), rel=0.01)


# -- two layers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "widened", "expected"),
    [
        ("add", True, 1.4785e-5),
        ("subtract", True, 1.385e-8),
        ("multiply", True, 0.16005),
        ("divide", True, 4.95e-12),
        ("sqrt", True, 8.95e-9),
        ("square", True, 0.1595),
        ("add", False, 1.604e-5),
        ("multiply", False, 0.16057),
        ("divide", False, 5.82e-12),
    ],
)
def test_the_published_thresholds_of_two_layers_are_reproduced(operation, widened, expected, fewer):
    case = ADT.replace(operation=operation, threshold=Threshold("sums", widened=widened))
    assert threshold(case) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((-40, -20), 505.4),
        ((20, 40), 505.4),
        ((-6, -2), 0.1600),
        ((-6.1, -1.2), 0.1113),
        ((1.2, 6), 0.1053),
        ((-2, -0.2), 9.20e-4),
        ((0.2, 2), 9.20e-4),
        ((-6, -2, 2, 6), 2.307e-4),
        ((1, 5), 0.0508),
    ],
    ids=str,
)
def test_the_published_thresholds_of_products_are_reproduced_range_by_range(ends, expected, fewer):
    case = ADT.replace(test=over(*ends), threshold=Threshold("sums", widened=True))
    assert threshold(case) == pytest.approx(expected, rel=0.02)


def test_a_million_samples_give_the_published_threshold_of_products_to_a_part_in_a_thousand():
    assert threshold(ADT.replace(threshold=Threshold("sums", widened=True))) == pytest.approx(
        0.16005, rel=1e-3
    )


def test_widened_subsets_are_told_from_plain_ones(fewer):
    for operation, ratio in (
        ("add", 1.4785 / 1.604),
        ("multiply", 0.16005 / 0.16057),
        ("divide", 4.95 / 5.82),
    ):
        plain, wide = (
            threshold(ADT.replace(operation=operation, threshold=Threshold("sums", widened=widened)))
            for widened in (False, True)
        )
        assert wide / plain == pytest.approx(ratio, rel=min(0.02, (1 - ratio) / 2))


@pytest.mark.parametrize(
    ("inputs", "subset", "overlap", "expected"),
    [
        (4, 1, 0, 7.104e-8),
        (10, 2, 1, 1.5096e-5),
        (25, 6, 3, 6.143e-4),
        (50, 12, 6, 0.01003),
        (100, 5, 2, 0.028848),
        (100, 10, 5, 0.075819),
        (100, 50, 25, 2.2214e-3),
    ],
)
def test_the_published_thresholds_of_products_are_reproduced_layout_by_layout(
    inputs, subset, overlap, expected, fewer
):
    wide = Threshold("sums", widened=True)
    case = ADT.replace(inputs=inputs, subset=subset, overlap=overlap, threshold=wide)
    assert threshold(case) == pytest.approx(expected, rel=0.02)


def test_a_widened_subset_that_does_not_fit_the_inputs_is_refused_or_has_a_threshold():
    try:
        case = ADT.replace(inputs=38, threshold=Threshold("sums", widened=True))
        assert 0 < threshold(case) < 1
    except NALMError as error:
        assert "38" in str(error)  # the sentence shows the value


# -- what plays no part ------------------------------------------------------------------------


def test_a_fixed_threshold_is_its_value_whatever_the_task():
    fixed = Threshold("fixed", epsilon=1e-3, value=0.25)
    for case in (SMT, ADT, SMT.replace(operation="no such operation")):
        assert threshold(case.replace(threshold=fixed)) == 0.25
    assert threshold(SMT.replace(threshold=Threshold("fixed"))) == 1e-5


@pytest.mark.parametrize(
    "changes",
    [
        {"model": (Layer("NAU", 2, (("gate", (1, 2)),)), Layer("MCFC"))},
        {"recipe": Recipe(steps=3, batch=5, lr=0.5, optimiser="sgd", loss="pcc", then="mse", switch=2)},
        {"train": Range(-20, -10)},
        {"sample": 100},
        {"data": "authors"},
        {"threshold": Threshold(value=3.0)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_simulated_threshold_depends_on_the_task_alone(changes):
    module._simulated.cache_clear()
    first = threshold(SMT)
    module._simulated.cache_clear()
    assert threshold(SMT.replace(**changes)) == first


@pytest.mark.parametrize("changes", [{"operation": "add"}, {"test": Range(2, 5)}, {"inputs": 3}], ids=str)
def test_a_simulated_threshold_depends_on_operation_test_range_and_inputs(changes):
    assert threshold(SMT.replace(**changes)) != pytest.approx(threshold(SMT), rel=0.1)
