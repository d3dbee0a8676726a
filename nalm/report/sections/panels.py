"""Success, solved-at and sparsity error of every case: figures, curves of runs, and their table."""

from collections import Counter
from typing import Any

from nalm import stats
from nalm.config.labels import unit_of
from nalm.formulas.truth import right
from nalm.report import figures
from nalm.report.figures import OPERATIONS, interval
from nalm.report.study import Study
from nalm.results.summary import Summary

FORMULAS = 5  # of a case, the commonest


def panels(study: Study, looks: dict[str, tuple[str, str]], most: int) -> list[dict[str, Any]]:
    """Return a block for each operation and number of inputs; curves of at most ``most`` runs of a case are shown."""
    return [
        {
            "operation": operation,
            "sign": OPERATIONS.get(operation, operation),
            "inputs": inputs,
            "figure": figures.panels(group, study.labels, study.places, looks),
            "cells": [_cell(s, study) for s in group],
            "curves": any(figures.kept(study, s.case.key, most) for s in group),
            "paths": any(_has_paths(study, s.case.key, most) for s in group),
        }
        for (operation, inputs), group in study.groups().items()
    ]


def _has_paths(study: Study, key: str, most: int) -> bool:
    """Return whether trajectories of weights are there for a case."""
    return any("[" in name for seed in figures.kept(study, key, most) for name in study.curves[key, seed])


def _cell(s: Summary, study: Study) -> dict[str, Any]:
    runs = study.runs[s.case.key]
    if s.case.task.used == s.case.inputs:  # the operands are the same for every seed
        learnt = Counter(o.formula for o in runs)
        correct = [found for text, n in learnt.items() for found in [right(s.case, 0, text)] * n]
    else:
        correct = [right(o.case, o.seed, o.formula) for o in runs]
    return {
        "case": s.case.key,
        "unit": study.labels[s.case],
        "model": unit_of(s.case),
        "range": study.places[s.case],
        "success": interval(s.success),
        "solved_at": interval(s.solved_at),
        "median": interval(s.median),
        "sparsity": interval(s.sparsity),
        "right": interval(stats.success_rate(correct)),
        "formulas": [[formula or "(no formula)", count] for formula, count in s.formulas[:FORMULAS]],
        "diverged": s.diverged,
    }
