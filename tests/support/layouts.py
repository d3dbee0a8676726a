"""Small cases of every layout of images, drawn in code, that several tests train."""

from nalm.config import Case, Digits, Layer, Ramp, Recipe, Threshold, grid

BATCH = (("noise_range", "batch"),)
COLOUR = Digits("colour", "drawn", samples=4, folds=3, validation=0.15, exact="rounded")
PRODUCT = Digits("sequence", "drawn", length=2, lengths=(1, 2, 20), chosen="validation")
SUM = Digits("sequence", "drawn", length=10, lengths=(1, 10, 200), chosen="validation")


def case(layer, operation, digits, inputs=2, penalties=()):
    first = 1 if operation == "multiply" and digits is PRODUCT else 0
    pressed = tuple((name, Ramp(1)) for name in penalties)
    recipe = Recipe(steps=1, batch=16, penalties=pressed)
    digits_from = grid(first, 10)
    return Case(
        *((layer,), operation, digits_from, digits_from, recipe),
        inputs=inputs,
        threshold=Threshold("fixed", value=0.1),
        digits=digits,
    )


CASES = {
    "pair": case(Layer("NMU"), "multiply", Digits(source="drawn", samples=4), penalties=("weight",)),
    "colour": case(Layer("SNMU", options=BATCH), "multiply", COLOUR, penalties=("weight",)),
    "product": case(Layer("SNMU", options=BATCH), "multiply", PRODUCT, penalties=("weight", "inputs")),
    "lstm": case(Layer("LSTM", 2), "multiply", PRODUCT, inputs=3),
    "sum": case(Layer("NAU"), "add", SUM, penalties=("weight", "inputs")),
    "count": case(Layer("NAU", 10), "count", SUM, inputs=20, penalties=("weight",)),
}
