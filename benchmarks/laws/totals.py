"""Trials in a few numbers: per suite, part, variant and rival; and how much faster the ladder is."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.laws.judge import Trial, noise_of


def totals(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Count per suite, part of the laws, variant and rival."""
    groups: dict[tuple[str, str, str, str], list[Trial]] = {}
    for o in trials:
        groups.setdefault((o.suite, o.part, o.variant, o.rival), []).append(o)
    return [
        {
            "suite": suite,
            "part": part,
            "variant": variant,
            "rival": rival,
            "problems": len(group),
            "exact": sum(o.exact for o in group),
            "near": sum(o.near for o in group),
            "certified": sum(o.verdict == "exact" for o in group),
            "consistent": sum(o.verdict == "consistent" for o in group),
            "false_exact": sum(o.false_exact for o in group),
            "false_consistent": sum(o.false_consistent for o in group),
            "unfinished": sum(o.ended != "done" for o in group),
            "seconds": middle(o.seconds for o in group),
            "seconds_exact": middle(o.seconds for o in group if o.exact),
            "error": middle(o.error for o in group),
        }
        for (suite, part, variant, rival), group in groups.items()
    ]


def middle(values: Iterable[float]) -> float | None:
    """Return the median, or None if it is not finite."""
    found = list(values)
    value = float(np.median(found)) if found else np.inf
    return float(f"{value:.4g}") if np.isfinite(value) else None


def speed(trials: Sequence[Trial], ours: str = "nalm", theirs: str = "gplearn") -> list[dict[str, Any]]:
    """Divide a rival's seconds by ours on the noise-free problems that both solve: median and quartiles."""
    seconds = {o.key: o.seconds for o in trials if o.exact and noise_of(o.variant) == 0}
    ratios: dict[str, list[float]] = {}
    for key, mine in seconds.items():
        other = (*key[:-1], theirs)
        if key[-1] == ours and other in seconds:
            for suite in ("all", key[0]):
                ratios.setdefault(suite, []).append(seconds[other] / max(mine, 1e-6))
    return [
        {
            "suite": suite,
            "rival": theirs,
            "problems": len(found),
            **{
                name: float(f"{np.percentile(found, q):.4g}")
                for name, q in (("low", 25), ("median", 50), ("high", 75))
            },
        }
        for suite, found in ratios.items()
    ]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Format the totals for a terminal: exact fits without noise, near fits with noise, and the problems."""
    rivals = list(dict.fromkeys(r["rival"] for r in rows))
    found: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for r in rows:
        found.setdefault((r["suite"], r["part"], r["variant"]), {})[r["rival"]] = r
    wide = [max(len(name), 7) for name in rivals]
    lines = []
    for title, noisy, counted in (
        ("exact, no noise", False, "exact"),
        (f"near ({'error < 5 x noise'})", True, "near"),
    ):
        shown = {key: row for key, row in found.items() if (noise_of(key[2]) > 0) == noisy}
        if shown:
            head = " ".join(f"{name:>{w}s}" for name, w in zip(rivals, wide, strict=True))
            lines += [f"{title:24s} {head}"]
        for key, row in shown.items():
            cells = [
                f"{row[name][counted]}/{row[name]['problems']}" if name in row else "-" for name in rivals
            ]
            body = " ".join(f"{cell:>{w}s}" for cell, w in zip(cells, wide, strict=True))
            lines.append(f"{' '.join(filter(None, key)):24s} {body}")
    return "\n".join(lines)


def summary(trials: Sequence[Trial]) -> list[str]:
    """Describe certificates and speed in sentences."""
    certified = [o for o in trials if o.verdict == "exact"]
    consistent = [o for o in trials if o.verdict == "consistent"]
    lines = [
        f"{len(certified)} certificates exact, {sum(o.false_exact for o in certified)} of them false; "
        f"{len(consistent)} consistent, {sum(o.false_consistent for o in consistent)} of them far off outside the data."
    ]
    for s in speed(trials):
        if s["suite"] == "all":
            lines.append(
                f"On the {s['problems']} noise-free problems both solve, nalm is {s['median']:.3g} times faster than "
                f"{s['rival']} (quartiles {s['low']:.3g} and {s['high']:.3g})."
            )
    return lines
