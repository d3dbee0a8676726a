"""Trials on NIST's problems: certified values with the form given, and the form on the front without it."""

from pathlib import Path

import pytest

from benchmarks import nist
from nalm.errors import NALMError

DATA = str(Path(__file__).parents[1] / "discover" / "nist.json")


def test_a_given_form_has_the_certified_parameters_and_deviations():
    trial = nist.one(nist.Job("form", "Misra1a", 5.0, DATA))
    assert trial.parameters < nist.PARAMETERS and trial.deviations < nist.DEVIATIONS
    (row,) = nist.totals([trial])
    assert row["parameters"] == row["deviations"] == 1 and row["listed"] is None


def test_mistakes_about_problems_are_sentences():
    with pytest.raises(NALMError, match="name it with --data"):
        nist.jobs(nist.Options())
    with pytest.raises(NALMError, match="no problem 'Misra9'"):
        nist.jobs(nist.Options(data=DATA, names="Misra9"))
