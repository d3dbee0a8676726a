"""Madsen 2020: Neural arithmetic units. Two layers find two overlapping sums among 100 inputs and multiply them.

Andreas Madsen, Alexander Rosenberg Johansen, ICLR 2020, arXiv:2001.05016.

The default number of seeds is small because a run takes 5 million steps. The published number is `--seeds 100`, in the
sweeps 50 or 25.
"""

from collections.abc import Iterable, Mapping

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Range, Recipe, Threshold, mirrored
from nalm.experiments.published import Name, claims, once, tied

FEW = tuple(range(10))  # of 100
FEWER = tuple(range(5))  # of 25 or 50, in the sweeps
HUNDRED = tuple(range(100))
OPERATIONS = ("add", "subtract", "multiply", "divide", "sqrt", "square")

TRAIN, TEST = Range(1, 2), Range(2, 6)
PLAIN = Recipe(steps=5_000_000)


def sparse(weight: float, start: float = 1e6, end: float = 2e6) -> Recipe:
    """Add a penalty on the weights of both layers to the plain recipe; it grows between two steps."""
    return PLAIN.replace(penalties=(("weight", Ramp(weight, start, end)),))


PRODUCT, SUM = sparse(10), sparse(0.01, 5e3, 5e4)

MODELS: dict[str, tuple[str, str, Recipe]] = {  # by the unit that gives the model its name
    "NMU": ("NAU", "NMU", PRODUCT),
    "NAU": ("NAU", "NAU", SUM),
    "NACMul": ("NAC", "NACMul", PLAIN),
    "NACMulSigmoid": ("NAC", "NACMulSigmoid", PLAIN),
    "NACMulClamped": ("NAU", "NACMulClamped", PRODUCT),  # the paper's table has NAC first, its script NAU
    "NAC": ("NAC", "NAC", PLAIN),
    "NALU": ("NALU", "NALU", PLAIN),
    "GatedNAUNMU": ("GatedNAUNMU", "GatedNAUNMU", PRODUCT),
    "Linear": ("Linear", "Linear", PLAIN),
}
PRODUCTS = ("NACMul", "NACMulSigmoid", "NACMulClamped", "NALU", "NMU")
MORE = (*PRODUCTS, "GatedNAUNMU")


def task(
    model: tuple[Layer, ...],
    recipe: Recipe,
    operation: str = "multiply",
    train: Range = TRAIN,
    test: Range = TEST,
) -> Case:
    """Make a case: an operation on two sums of 25 of 100 inputs, which share 12."""
    threshold = Threshold("sums", widened=True)  # a subset one larger, as behind the published thresholds
    return Case(
        model,
        Arithmetic(operation, train, test, inputs=100, subset=25, overlap=12, threshold=threshold),
        recipe,
    )


def two(name: str, operation: str = "multiply", hidden: int = 2) -> Case:
    """Make the case of one of the models on the default task."""
    first, second, recipe = MODELS[name]
    return task((Layer(first, hidden), Layer(second)), recipe, operation)


def resized(case: Case, inputs: int = 100, subset: float = 0.25, overlap: float = 0.5) -> Case:
    """Change the sizes of a task; they are rounded down to whole inputs as in the published code."""
    size = int(subset * inputs)
    return case.replace(inputs=inputs, subset=size, overlap=int(overlap * size))


def lasting(case: Case) -> Case:
    """Set the number of steps, which grows with the number of inputs."""
    millions = 5 if case.inputs <= 100 else 10 if case.inputs <= 200 else 15
    return case.replace(recipe=case.recipe.replace(steps=millions * 1_000_000))


def perceptron(activation: str, operation: str) -> Case:
    """Make the case of a perceptron with two hidden units."""
    options = (("hidden", (2,)), ("activation", activation))
    return task((Layer("MLP", options=options),), PLAIN, operation)


DEFAULT: dict[Name, Case] = {
    (name, operation, ""): two(name, operation) for name in MODELS for operation in OPERATIONS
} | {
    (name, operation, ""): perceptron(name.lower(), operation)
    for name in ("ReLU", "ReLU6")
    for operation in OPERATIONS
}
SIMPLE: dict[Name, Case] = {
    (name, "multiply", ""): Case(
        two(name).model,
        Arithmetic("multiply", TRAIN, TEST, inputs=4, threshold=Threshold("sums"), operands=((0, 4), (0, 2))),
        MODELS[name][2].replace(steps=200_000),
    )
    for name in ("NACMul", "NALU", "NMU")
}
HIDDEN: dict[Name, Case] = {
    (name, "multiply", f"hidden size={hidden}"): two(name, hidden=hidden)
    for name in PRODUCTS
    for hidden in range(2, 11)
}
INPUTS: dict[Name, Case] = {
    (name, "multiply", f"input size={inputs}"): lasting(resized(two(name), inputs))
    for name in MORE
    for inputs in (4, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300)
}
OVERLAP: dict[Name, Case] = {
    (name, "multiply", f"overlap ratio={overlap}"): resized(two(name), overlap=overlap)
    for name in MORE
    for overlap in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
}
SUBSET: dict[Name, Case] = {
    (name, "multiply", f"subset ratio={subset}"): resized(two(name), subset=subset)
    for name in MORE
    for subset in (0.05, 0.1, 0.25, 0.5)
}
RANGES = (
    (Range(-2, -1), Range(-6, -2)),
    (Range(-2, 2), mirrored(-6, -2, 2, 6)),
    (Range(0, 1), Range(1, 5)),
    (Range(0.1, 0.2), Range(0.2, 2)),
    (Range(1, 2), Range(2, 6)),
    (Range(1.1, 1.2), Range(1.2, 6)),
    (Range(10, 20), Range(20, 40)),
)
RANGE: dict[Name, Case] = {
    (name, "multiply", f"interpolation range=U[{train.low:g},{train.high:g}]"): two(name).replace(
        train=train, test=test
    )
    for name in PRODUCTS
    for train, test in RANGES
}
WEIGHTS = (0, 0.01, 0.1, 1, 10, 100)
REGULARISATION: dict[Name, Case] = {
    ("NAU", operation, f"lambda_hat={weight:g}"): two("NAU", operation).replace(
        recipe=sparse(weight, 5e3, 5e4)
    )
    for operation in ("add", "subtract")
    for weight in WEIGHTS
} | {
    ("NMU", "multiply", f"lambda_hat={weight:g}"): two("NMU").replace(recipe=sparse(weight))
    for weight in WEIGHTS
}
GATES = {
    "NALU": ("NAC", "NALU", PLAIN),
    "NALUSeparate": ("NAC", "NALUSeparate", PLAIN),
    "GatedNAUNMU": ("NAU", "GatedNAUNMU", PRODUCT),
}
GATING: dict[Name, Case] = {
    (name, operation, ""): task((Layer(first, 2), Layer(second)), recipe, operation)
    for name, (first, second, recipe) in GATES.items()
    for operation in ("add", "multiply")
}
FREE = (("bounds", "penalty"),)  # not clamped after a step, only where it is used; and no penalty on it
PARTS = {
    "NMU": ((), PRODUCT),
    "NMU, no R_bias": ((), PLAIN),
    "NMU, no W-clamp": (FREE, PRODUCT),
    "NMU, no R_bias, no W-clamp": (FREE, PLAIN),
}
ABLATION: dict[Name, Case] = {
    (name, "multiply", "ablation" if hidden == 2 else f"hidden size={hidden}"): task(
        (Layer("NAU", hidden, options), Layer("NMU", options=options)), recipe
    )
    for name, (options, recipe) in PARTS.items()
    for hidden in range(2, 11)
}
OPTIMISERS = {
    "Adam": PLAIN,
    "SGD": PLAIN.replace(optimiser="sgd"),
    "SGD-Nesterov": PLAIN.replace(
        optimiser="sgd", momentum=0.9
    ),  # the figure's name; the code has no Nesterov
}
LEARNING: dict[Name, Case] = {
    (name, operation, f"lr={lr:g};{optimiser}"): two(name, operation).replace(recipe=recipe.replace(lr=lr))
    for name in ("NAC", "NACMul", "NALU")
    for operation in ("add", "subtract", "multiply", "divide")
    for optimiser, recipe in OPTIMISERS.items()
    for lr in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
}
SUBSETS: dict[Name, Case] = {
    (name, "multiply", f"{subsets} subsets, hidden size={hidden}"): two(name, hidden=hidden).replace(
        subsets=subsets
    )
    for name in PRODUCTS
    for subsets in (2, 3, 4, 5)
    for hidden in (subsets, 2 * subsets)
}


def study(
    name: str, title: str, cases: Mapping[Name, Case], seeds: Iterable[int] = FEWER, published: str = ""
) -> Experiment:
    """Make an experiment with the claims of one published task that name its cases; several tables repeat some."""
    found = once(tied(claims(published), cases)) if published else ()
    return Experiment(f"madsen/{name}", title, tuple(dict.fromkeys(cases.values())), tuple(seeds), found)


SWEEP, FIGURE = "arithmetic dataset", "arithmetic dataset, learning rate x optimiser"
EXPERIMENTS = (
    study(
        "default",
        "Which two layers learn an operation on two sums among 100 inputs? (Table 2)",
        DEFAULT,
        FEW,
        "arithmetic dataset defaults",
    ),
    study(
        "simple",
        "Which two layers learn (a + b)(a + b + c + d) from four inputs? (Table 1)",
        SIMPLE,
        HUNDRED,
        "simple (x1+x2)*(x1+x2+x3+x4)",
    ),
    study("hidden-size", "What do more hidden units than the task needs change?", HIDDEN, published=SWEEP),
    study("input-size", "How many inputs can there be?", INPUTS, published=SWEEP),
    study("overlap", "Does it matter how many inputs the two sums share?", OVERLAP, published=SWEEP),
    study("subset", "Does it matter how many inputs a sum has?", SUBSET, published=SWEEP),
    study("subsets", "Can more than two sums be multiplied?", SUBSETS),
    study("range", "Which training ranges are learnt?", RANGE, published=SWEEP),
    study(
        "regularisation",
        "How much pressure on the weights is right?",
        REGULARISATION,
        published=SWEEP,
    ),
    study(
        "gating",
        "Does a gate find the right operation behind a layer of sums?",
        GATING,
        FEW,
        "gating experiment (NAC+/NAU first layer)",
    ),
    study(
        "ablation",
        "What do the NMU's pressure and clamp contribute?",
        ABLATION,
        published="NMU ablation",
    ),
    study("learning", "Which learning rate and optimiser?", LEARNING, published=FIGURE),
)
