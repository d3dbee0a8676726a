"""The certificate of a law that was found elsewhere, such as by training: under the kind of noise that is likelier."""

from collections.abc import Sequence

import numpy as np

from nalm.discover.certificate import Certificate, domain_of
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.law import Law
from nalm.discover.law.expression import Node, evaluate, numbers
from nalm.discover.problem import Problem
from nalm.discover.selection.answer import NAMED
from nalm.discover.selection.doubts import doubt, rows_to_test
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rivals import Neighbourhood
from nalm.discover.selection.rounding import rounded
from nalm.discover.selection.rows import Observations
from nalm.discover.selection.separation import next_measurement
from nalm.discover.selection.words import looks_like_noise


def certify_given(node: Node, problem: Problem, names: Sequence[str]) -> Certificate:
    """Test a law, as it is, under noise: ``consistent``, ``undecided`` or ``none``.

    The noise is taken to be additive, or relative to the law where that makes the rows likelier, as in a search.
    Forms near the law that explain the rows as well leave it undecided; the certificate names them.
    """
    fixed = np.zeros(len(numbers(node)), bool)
    kinds = [Fitted(node, fixed, rows, "given") for rows in Observations.of(problem).kinds()]
    law = min(kinds, key=lambda fitted: fitted.misfit)
    words, verdict = doubt(law, problem), Verdict.NONE
    others: list[Fitted] = []
    if words is None:
        words, verdict = looks_like_noise(law.rows, law.scatter), Verdict.CONSISTENT
        if others := Neighbourhood(lambda form: True, lambda: None).rivals(law):
            words, verdict = f"{words}; other forms explain them as well", Verdict.UNDECIDED
    texts = dict.fromkeys(str(Law(rounded(other).node, tuple(names))) for other in others[:NAMED])
    off = float(np.sqrt(np.mean((problem.held_y - evaluate(node, problem.held_x)) ** 2)))
    off /= float(np.std(problem.held_y)) or 1.0
    return Certificate(
        verdict,
        f"{words}.",
        rows_to_test(node, problem),
        off,
        float(problem.noise or off),
        problem.precision,
        problem.noise,
        domain_of(node, problem, names),
        tuple(texts),
        next_measurement(law, others[0], names, next(iter(texts))) if others else "",
    )
