"""Sequences of digits: a unit in a loop multiplies, adds or counts what is read from one image after another.

Madsen 2020 (Neural arithmetic units): products and sums, with and without the penalty R_z on unused inputs.
Mistry 2023 (An Investigation into Neural Arithmetic Logic Modules, PhD thesis), sections 4.6.2 (products) and
6.3.2 (other losses), and Mistry 2022c (Improving the robustness of neural multiplication units with reversible
stochasticity), section 8.3.
Counting is described in Mistry 2023, section D.1, after Trask 2018 (Neural arithmetic logic units): the number
of images of each digit, asked after ten images; its other settings are those of the sums.
Departures from the papers: those of two_digits.py; sequences are evaluated without noise.
"""

from collections.abc import Iterable, Mapping

from nalm.config import Case, Claim, Experiment, ImageSequence, Layer, Ramp, Recipe, Threshold, grid
from nalm.config.images import amounts_to
from nalm.experiments.mnist.two_digits import BATCH, EPOCHS, lasting
from nalm.experiments.published import claims, once

NMU, SNMU = Layer("NMU"), Layer("SNMU")
# squared error at the length of training, below a twentieth of the target's variance
LEARNT = Threshold("fixed", value=10.0)
COUNTED = Threshold("fixed", value=0.05)
PRODUCT = ImageSequence(
    "multiply", grid(1, 10), threshold=LEARNT, length=2, lengths=tuple(range(1, 21)), every=5
)
SUM = ImageSequence("add", threshold=LEARNT, length=10, lengths=(1, 10, *range(100, 1_001, 100)), every=5)
COUNT = SUM.replace(operation="count", threshold=COUNTED, lengths=(1, 10, 100, 1_000))
TASKS = {task.operation: task for task in (PRODUCT, SUM, COUNT)}
SEEDS = tuple(range(10))
DISCRETE = ("weight", Ramp(10, 10_000, 100_000))
IDLE = ("inputs", Ramp(1))  # R_z
SQUARES = Recipe(batch=64)


def sequence(
    layer: Layer, operation: str, penalties: tuple[tuple[str, Ramp], ...] = (), recipe: Recipe = SQUARES
) -> Case:
    """Make the case of a layer that sees what was read from an image and its own last output."""
    task = TASKS[operation].replace(inputs=amounts_to(operation) + layer.out)
    return lasting(Case((layer,), task, recipe.replace(penalties=penalties)), EPOCHS)


def reference(operation: str) -> Case:
    """Make the reference: the arithmetic is given and only the digits are learnt. It sets the limits of the others."""
    given = (("operation", "multiply" if operation == "multiply" else "add"),)
    return sequence(Layer("Accumulator", amounts_to(operation), given), operation)


BOTH = (DISCRETE, IDLE)
PRODUCTS = {
    name: sequence(layer, "multiply", penalties)
    for name, layer, penalties in (
        ("NMU", NMU, BOTH),
        ("SNMU", SNMU, BOTH),
        ("sNMU batch", BATCH, BOTH),
        ("NACMul", Layer("NACMul"), ()),
        ("NACMulSigmoid", Layer("NACMulSigmoid"), ()),
        ("NACMulClamped", Layer("NACMulClamped"), BOTH),
        ("NALU", Layer("NALU"), ()),
        ("LSTM", Layer("LSTM", 2), ()),
    )
}
FREE = {name: sequence(Layer(name), "multiply", (DISCRETE,)) for name in ("NMU", "NACMulClamped")}
OTHERS = (
    SQUARES.replace(loss="pcc_sequential"),
    SQUARES.replace(loss="mape"),
    SQUARES.replace(loss="pcc_sequential", then="mse", switch=7_500),
)
SUMS = {
    "NAU": sequence(Layer("NAU"), "add", BOTH),
    "NAC": sequence(Layer("NAC"), "add"),
    "NAC+_Rz": sequence(Layer("NAC"), "add", (IDLE,)),
    "NALU": sequence(Layer("NALU"), "add"),
    "LSTM": sequence(Layer("LSTM", 2), "add"),
}
NAU_FREE = sequence(Layer("NAU"), "add", (DISCRETE,))
COUNTS = (
    sequence(Layer("NAU", 10), "count", (DISCRETE,)),
    sequence(Layer("NAC", 10), "count"),
    sequence(Layer("NALU", 10), "count"),
    sequence(Layer("LSTM", 20), "count"),
)

AT_LENGTH = "_at_length"  # end of the metric of a claim about one length of sequences


def _figure(task: str, cases: Mapping[str, Case]) -> dict[Case, tuple[Claim, ...]]:
    """Tie the claims of a figure of Madsen 2020 to cases, which are named as the figure names them."""
    by_length = [c for c in claims(task) if c.metric.endswith(AT_LENGTH)]
    return {
        case.trunk: once(c.replace(cases=(case.hash,)) for c in by_length if c.unit == unit)
        for unit, case in cases.items()
    }


# published numbers of a case by length of the sequences; the key is the case without its number of steps
PUBLISHED: dict[Case, tuple[Claim, ...]] = (
    _figure("sequential MNIST product", PRODUCTS)
    | _figure("sequential MNIST product, no R_z", FREE)
    | _figure("sequential MNIST sum", SUMS)
    | _figure("sequential MNIST sum, NAU without R_z", {"NAU": NAU_FREE})
)


def study(name: str, title: str, cases: Iterable[Case], elsewhere: Iterable[Case] = ()) -> Experiment:
    """Make an experiment with the claims about its cases, except those that are judged in an earlier experiment."""
    own, before = tuple(cases), {case.trunk for case in elsewhere}
    trunks = [case.trunk for case in own if case.trunk not in before]
    found = tuple(claim for trunk in trunks for claim in PUBLISHED.get(trunk, ()))
    return Experiment(f"mnist/{name}", title, own, SEEDS, found)


EXPERIMENTS = (
    study(
        "sequence-product",
        "Does a unit in a loop, trained on two images, multiply up to twenty? (thesis 4.6.2, Fig. 4.17)",
        (reference("multiply"), *PRODUCTS.values()),
    ),
    study(
        "sequence-losses",
        "Do other losses than the squared error help it? (thesis 6.3.2, Figs 6.4, 6.5)",
        (
            reference("multiply"),
            *(
                sequence(layer, "multiply", BOTH, recipe)
                for layer in (NMU, SNMU)
                for recipe in (SQUARES, *OTHERS)
            ),
        ),
        elsewhere=PRODUCTS.values(),
    ),
    study(
        "sequence-sum",
        "Does a unit in a loop, trained on ten images, add up to a thousand? (Madsen & Johansen 2020)",
        (reference("add"), *SUMS.values()),
    ),
    study(
        "sequence-free",
        "What if nothing draws idle inputs to where they do not count? (Madsen & Johansen 2020, without R_z)",
        (reference("multiply"), *FREE.values(), reference("add"), NAU_FREE),
    ),
    study(
        "count",
        "Does a unit in a loop, trained on ten images, count the digits of a thousand? (thesis D.1, Trask et al. 2018)",
        (reference("count"), *COUNTS),
    ),
)
