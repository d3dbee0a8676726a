"""The verdicts of a certificate, and what each means for a law and for a system of equations."""

from enum import StrEnum


class Verdict(StrEnum):
    """The first word of a certificate; it compares and is written to JSON as its text.

    >>> Verdict.EXACT == "exact", f"{Verdict('none')}"
    (True, 'none')
    """

    EXACT = "exact"
    PRINTED = "exact to the printed digits"
    CONSISTENT = "consistent"
    UNDECIDED = "undecided"
    NONE = "none"


LAW_MEANING = {
    Verdict.EXACT: "On every row the law differs from the data by no more than rounding, also on rows the search "
    "never saw, and a further term of natural size would have shown. Outside the ranges it was tested for "
    "it is an extrapolation.",
    Verdict.PRINTED: "On every row the law differs from y by no more than the rounding of the printed numbers, and a "
    "further term of natural size would have shown. More digits could show a smaller one.",
    Verdict.CONSISTENT: "What the law leaves looks like noise: no further term was found in it, and no form "
    "compared with it explains the rows as well. This is weaker than exact: a law of another kind may.",
    Verdict.UNDECIDED: "What the law leaves looks like noise, but other forms explain these rows as well; some are "
    "listed. Use it within these rows. Less noise, more rows or a wider range would tell the forms apart.",
    Verdict.NONE: "Nothing is proven: this is the best of the laws that were tried. Do not trust it beyond these rows.",
}

SYSTEM_MEANING = {
    Verdict.EXACT: "Every sample is met to six digits of the spread, also those of a forecast.",
    Verdict.CONSISTENT: "What is left looks like noise. Another system may fit as well, above all with few samples.",
    Verdict.NONE: "Nothing is proven: this is the best system that was found. Do not trust it beyond these samples.",
}
