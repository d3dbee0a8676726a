"""Units inside larger networks, continued: digits that have to be found first, and digits one after another.

Thesis 4.6.1.2 (colours), 4.6.2 and 6.3.2 (sequences); document 004, sections 8.2 and 8.3; Madsen & Johansen (2020).
Departures, beside those of mnist.py: sequences are evaluated without noise. Counting is the thesis' D.1 after Trask et
al. (2018): how many there are of each digit, asked at the end of ten images; the rest of its settings is that of sums.
"""

from nalm.config import Case, Colour, Experiment, ImageSequence, Layer, Ramp, Recipe, Threshold, grid
from nalm.config.images import amounts_to
from nalm.experiments.mnist.two_digits import BATCH, EPOCHS, lasting, pressed, reading
from nalm.experiments.published import Name, claims, tied

COLOUR = Colour("multiply", samples=1_100, folds=3, validation=0.15, exact="rounded")


def colour(layer: Layer, identity: bool = False) -> Case:
    """Two digits in two channels, multiplied."""
    case = reading(layer, COLOUR.replace(identity=identity), batch=256)
    return pressed(case, 100, "weight") if layer.unit in ("NMU", "SNMU") else case


MUL, FC = Layer("Fixed", options=(("operation", "multiply"),)), Layer("ProductFC")
NMU, SNMU = Layer("NMU"), Layer("SNMU")
COLOURS: dict[Name, Case] = {
    ("MUL (solved baseline)", "multiply", "3 folds"): colour(MUL),
    ("sNMU batch", "multiply", "3 folds"): colour(BATCH),
}

# -- one after another ----------------------------------------------------------------------------

LEARNT = Threshold(
    "fixed", value=10.0
)  # of squared error at the training length, a twentieth of the variance
COUNTED = Threshold("fixed", value=0.05)  # the same for counts
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
    """A layer as a cell: it sees what is read of an image, and its own last output."""
    task = TASKS[operation].replace(inputs=amounts_to(operation) + layer.out)
    return lasting(Case((layer,), task, recipe.replace(penalties=penalties)), EPOCHS)


def reference(operation: str) -> Case:
    """The arithmetic given, so that the digits alone are learnt: what the others are measured by."""
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

# Cases, however long they are trained, and by what names the figures of Madsen & Johansen are in the table.
FIGURES: dict[Case, tuple[str, str]] = {
    case.trunk: (task, unit)
    for task, cases in (
        ("sequential MNIST product", PRODUCTS),
        ("sequential MNIST product, no R_z", FREE),
        ("sequential MNIST sum", SUMS),
        ("sequential MNIST sum, NAU without R_z", {"NAU": NAU_FREE}),
    )
    for unit, case in cases.items()
}

EXPERIMENTS = (
    Experiment(
        "mnist/colour",
        "Does a unit learn to multiply digits that have to be found first? (thesis 4.6.1.2, Figs 4.14, 4.15, F.6)",
        tuple(map(colour, (MUL, FC, NMU, SNMU, BATCH))),
        tuple(range(3)),
        tied(claims("MNIST colour-channel product"), COLOURS),
    ),
    Experiment(
        "mnist/colour-identity",
        "The same with localisers that start as the identity, which the published code erases before it trains.",
        tuple(colour(layer, identity=True) for layer in (MUL, NMU, BATCH)),
        tuple(range(3)),
    ),
    Experiment(
        "mnist/sequence-product",
        "Does a unit in a loop, trained on two images, multiply up to twenty? (thesis 4.6.2, Fig. 4.17)",
        (reference("multiply"), *PRODUCTS.values()),
        SEEDS,
    ),
    Experiment(
        "mnist/sequence-losses",
        "Do other losses than the squared error help it? (thesis 6.3.2, Figs 6.4, 6.5)",
        (
            reference("multiply"),
            *(
                sequence(layer, "multiply", BOTH, recipe)
                for layer in (NMU, SNMU)
                for recipe in (SQUARES, *OTHERS)
            ),
        ),
        SEEDS,
    ),
    Experiment(
        "mnist/sequence-sum",
        "Does a unit in a loop, trained on ten images, add up to a thousand? (Madsen & Johansen 2020)",
        (reference("add"), *SUMS.values()),
        SEEDS,
    ),
    Experiment(
        "mnist/sequence-free",
        "What if nothing draws idle inputs to where they do not count? (Madsen & Johansen 2020, without R_z)",
        (reference("multiply"), *FREE.values(), reference("add"), NAU_FREE),
        SEEDS,
    ),
    Experiment(
        "mnist/count",
        "Does a unit in a loop, trained on ten images, count the digits of a thousand? (thesis D.1, Trask et al. 2018)",
        (reference("count"), *COUNTS),
        SEEDS,
    ),
)
