"""Small cases of every layout of images, drawn in code, that several tests train."""

from nalm.config import Case, Colour, ImageSequence, Layer, Ramp, Recipe, Threshold, TwoDigits, grid

BATCH = (("noise_range", "batch"),)
COLOUR = Colour("multiply", source="drawn", samples=4, folds=3, validation=0.15, exact="rounded")
PRODUCT = ImageSequence("multiply", grid(1, 10), source="drawn", length=2, lengths=(1, 2, 20))
SUM = ImageSequence("add", source="drawn", length=10, lengths=(1, 10, 200))


def case(layer, task, penalties=(), **changes):
    pressed = tuple((name, Ramp(1)) for name in penalties)
    task = task.replace(threshold=Threshold("fixed", value=0.1), **changes)
    return Case((layer,), task, Recipe(steps=1, batch=16, penalties=pressed))


CASES = {
    "pair": case(Layer("NMU"), TwoDigits("multiply", source="drawn", samples=4), penalties=("weight",)),
    "colour": case(Layer("SNMU", options=BATCH), COLOUR, penalties=("weight",)),
    "product": case(Layer("SNMU", options=BATCH), PRODUCT, penalties=("weight", "inputs")),
    "lstm": case(Layer("LSTM", 2), PRODUCT, inputs=3),
    "sum": case(Layer("NAU"), SUM, penalties=("weight", "inputs")),
    "count": case(Layer("NAU", 10), SUM, operation="count", inputs=20, penalties=("weight",)),
}
