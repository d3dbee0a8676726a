"""Units inside larger networks: images of two digits are read, and a unit learns what is to be done with them.

Thesis 4.6.1.1 (product) and 5.10 with appendix G.8 (division); document 004, section 8.1.
Settings are those of the tables. Where text and code differ: a quotient is judged at the epoch, of the last
ten, with the most right training outputs (code); units that divide have one start for all folds, that of seed 3 (text,
and the names of the published files; the code has one per fold, as `mnist/division-starts`); gradients are clipped for
the NMRU alone in Table 5.5 (text; the code clips the NRU's), and Table G.1 has both.
From that start our NMRU turns to b/a in every shipped fold, and the reader to 9/digit.
Departures: an epoch has whole batches only (703 for products, 570 for quotients); some 10,000 training samples
are evaluated; penalties grow with every step of epochs 30 to 40, not in stairs; the perceptron starts as the
library's do.
"""

from nalm.config import Case, Experiment, Layer, Ramp, Recipe, Task, Threshold, TwoDigits, grid
from nalm.experiments.published import Name, claims, tied

EPOCHS = 1_000
BATCH = Layer("SNMU", options=(("noise_range", "batch"),))
PERCEPTRON = Layer("MLP", options=(("hidden", (256, 256)),))
NINE_IN_TEN = Threshold("fixed", value=0.1, metric="mistakes")  # ours: the papers report accuracies alone


def reading(layer: Layer, task: Task, batch: int = 128) -> Case:
    """Return a layer behind a reader of digits, for the published number of epochs."""
    case = Case((layer,), task.replace(threshold=NINE_IN_TEN), Recipe(steps=1, batch=batch))
    return lasting(case, EPOCHS)


def lasting(case: Case, epochs: int) -> Case:
    """A case for so many epochs."""
    return case.replace(recipe=case.recipe.replace(steps=epochs * case.epoch))


def pressed(case: Case, weight: float, *names: str, start: int = 30, end: int = 40) -> Case:
    """A case whose penalties grow to a weight between two epochs."""
    ramp = Ramp(weight, start * case.epoch, end * case.epoch)
    return case.replace(recipe=case.recipe.replace(penalties=tuple((name, ramp) for name in names)))


def clipped(case: Case) -> Case:
    """A case whose gradient, over all its parameters, has a norm of at most 1."""
    return case.replace(recipe=case.recipe.replace(clip_norm=1.0))


def product(layer: Layer) -> Case:
    """Two digits from 0 to 9, multiplied; outputs count when right to the last bit."""
    return reading(layer, TwoDigits("multiply"))


def quotient(layer: Layer, start: int = -1) -> Case:
    """Two digits from 1 to 9, divided; outputs count when right to five decimals."""
    return reading(layer, TwoDigits("divide", grid(1, 10), exact="decimals", chosen="train", start=start))


def divider(unit: str, start: int) -> Case:
    """A unit that divides, its weights and gates pressed to whole numbers."""
    names = ("weight", "gate") if unit == "ModifiedRealNPU" else ("weight",)
    return pressed(quotient(Layer(unit), start), 2, *names)


MUL, FC = product(Layer("Fixed", options=(("operation", "multiply"),))), product(Layer("ProductFC"))
NMU, SNMU, SNMU_BATCH = (
    pressed(product(layer), 100, "weight") for layer in (Layer("NMU"), Layer("SNMU"), BATCH)
)
DIV = quotient(Layer("Fixed", options=(("operation", "divide"),)))
MLP = quotient(PERCEPTRON)
MLP = MLP.replace(recipe=MLP.recipe.replace(weight_decay=1e-3))
DIVIDERS = ("ModifiedRealNPU", "NRU", "NMRU")
REAL, NRU, NMRU = (divider(unit, start=3) for unit in DIVIDERS)

PRODUCT: dict[Name, Case] = {
    ("NMU", "multiply", "10 folds"): NMU,
    ("SNMU", "multiply", "10 folds"): SNMU,
    ("sNMU batch", "multiply", "10 folds"): SNMU_BATCH,
}
TABLE = {"DIV (solved)": DIV, "MLP": MLP, "ModifiedRealNPU": REAL, "NRU": NRU, "NMRU": clipped(NMRU)}
FREE = {"DIV (solved)": DIV, "ModifiedRealNPU": REAL, "NRU": NRU, "NMRU": NMRU}
CLIPPED = {"ModifiedRealNPU": clipped(REAL), "NRU": clipped(NRU), "NMRU": clipped(NMRU)}
DIVISION: dict[Name, Case] = {
    (unit, "divide", where): case
    for where, named in (
        ("10 folds, 5 d.p.", TABLE),
        ("no grad-norm clip", FREE),
        ("grad-norm clip 1", CLIPPED),
    )
    for unit, case in named.items()
}

SMALL = TwoDigits("multiply", source="drawn", samples=5, exact="rounded")
SMOKE = tuple(
    lasting(reading(layer, SMALL, batch=16), 10)
    for layer in (Layer("Fixed", options=(("operation", "multiply"),)), Layer("NMU"))
)

EXPERIMENTS = (
    Experiment(
        "mnist/product",
        "Does a unit behind a reader of two digits learn to multiply? (thesis 4.6.1.1, Figs 4.10, 4.11, F.1, F.2, F.5)",
        (MUL, FC, NMU, SNMU, SNMU_BATCH),
        tuple(range(10)),
        tied(claims("MNIST isolated product"), PRODUCT),
    ),
    Experiment(
        "mnist/division",
        "Does a unit behind a reader of two digits learn to divide? (thesis 5.10, Tables 5.5 and G.1, Fig. 5.17)",
        tuple(dict.fromkeys(DIVISION.values())),
        tuple(range(10)),
        tied(claims("MNIST isolated division"), DIVISION),
    ),
    Experiment(
        "mnist/division-starts",
        "Does it learn to divide from any start? Where it begins as b/a, the reader can learn 9/digit instead.",
        tuple(divider(unit, start=-1) for unit in DIVIDERS),
        tuple(range(10)),
    ),
    Experiment(
        "mnist/smoke",
        "Do digits drawn in code and multiplied train on any machine, within a minute?",
        SMOKE,
        (0,),
    ),
)
