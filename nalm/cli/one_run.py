"""Runs of a results folder, for `nalm show`: its cases, the runs of a case, or one run in full."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalm.cli import screen
from nalm.cli.app import print_json

if TYPE_CHECKING:
    from nalm.config import Case
    from nalm.results.runs import Outcome
    from nalm.results.store import Store


def show(folder: Path, case: str, seed: int, as_json: bool) -> None:
    """Show the cases of a folder, the runs of a case (by the first letters of its key), or one run."""
    from nalm.cli.tables import one_run as tables
    from nalm.errors import NALMError
    from nalm.results.store import Store

    with Store(folder) as store:
        outcomes = store.outcomes()
        if not case:
            if as_json:
                print_json([_plain(o) for o in outcomes])
                return
            screen.show(tables.cases(outcomes, _names(store)))
            return
        runs = [o for o in outcomes if o.case.hash.startswith(case)]
        keys = {o.case.key for o in runs}
        if len(keys) != 1:
            why = (
                f"{len(keys)} cases begin with it: give more letters"
                if keys
                else "`nalm show FOLDER` lists them"
            )
            raise NALMError(f"{folder} has no single case {case!r}: {why}.")
        if seed >= 0:
            runs = [o for o in runs if o.seed == seed]
            if not runs:
                raise NALMError(f"{folder} has no finished run of case {case} with seed {seed}.")
        if as_json:
            print_json([_plain(o) for o in runs])
            return
        if seed < 0:
            screen.show(tables.runs(runs))
            return
        for part in tables.one(runs[0], store.arrays(runs[0].case.hash, seed), _names(store)[runs[0].case]):
            screen.show(part)


def _names(store: "Store") -> "dict[Case, str]":
    from nalm.experiments.names import names

    found: dict[Case, str] = {}
    for name in store.experiments():
        found = names(name, store.cases(name)).labels | found
    return {case: case.name for case in store.cases() if case not in found} | found


def _plain(o: "Outcome") -> dict[str, Any]:
    from nalm.operating_system import json_number
    from nalm.report.sections.failures import outcome

    values = {n: v for n, v in vars(o).items() if n not in ("case", "measures")}
    plain = {n: json_number(v) if isinstance(v, float) else v for n, v in values.items()}
    return {"case": o.case.hash, "name": o.case.name, **plain, "ended": outcome(o)}
