"""nalm compare FOLDER published: the claims of every experiment in the folder, sequences of images included."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made import runs
from typer.testing import CliRunner

from nalm.claims.compare import compare_results
from nalm.cli import app
from nalm.experiments import EXPERIMENTS
from nalm.results import source
from nalm.results.files import ship
from nalm.results.store import Store

SEQUENCES, NUMBERS = EXPERIMENTS["mnist/sequence-product"], EXPERIMENTS["thesis/ch3/mul"]
REFERENCE, NMU, *_ = SEQUENCES.cases
STEPS = np.array([0, 1_935, 3_870])


def sequence_runs(case, errors):
    """Runs whose error at the second of three evaluations is that of the list, times the length."""
    n = len(errors)
    made = runs([case] * n, range(n), [1.0] * n)
    records = [{f"test.{k}.error": np.array([90.0, e, 95.0]) * k for k in case.task.lengths} for e in errors]
    for record in records:
        record |= {f"test.{k}.right": np.array([0.0, 0.5, 0.25]) for k in case.task.lengths}
    curve = [np.array([90.0, 1.0, 2.0])] * n
    changes = {"steps": [STEPS] * n, "validation": curve, "test": curve, "records": records}
    return replace(made, thresholds=[case.threshold.value] * n, **changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with a run on numbers and, of sequences, two references and three runs of which all are solved."""
    folder = tmp_path_factory.mktemp("runs")
    number = next(case for case in NUMBERS.cases if case.model[0].unit == "NMU")
    with Store(folder, create=True) as store:
        store.begin("nalm run mnist/sequence-product", "2.9")
        store.register(SEQUENCES.replace(cases=(REFERENCE, NMU), seeds=(0, 1, 2)))
        store.register(NUMBERS.replace(cases=(number,), seeds=(0,)))
        store.save(sequence_runs(REFERENCE, [1.0, 3.0]))
        store.save(sequence_runs(NMU, [4.8, 1.0, 2.0]))
        store.save(runs([number], (0,), [1e-12]))
    return folder


@pytest.fixture(scope="module")
def files(folder, tmp_path_factory):
    """The same as shipped tables."""
    files = tmp_path_factory.mktemp("files")
    with Store(folder) as store:
        for name in store.experiments():
            ship(store, name, files)
    return files


@pytest.mark.parametrize("kind", ["folder", "files"])
def test_sequences_are_compared_beside_other_experiments(kind, request):
    found = compare_results(request.getfixturevalue(kind), source.outcomes(request.getfixturevalue(kind)))
    assert found.keys() == {SEQUENCES.name, NUMBERS.name}
    verdicts = found[SEQUENCES.name]
    assert {v.claim for v in verdicts} == set(SEQUENCES.claims)
    mine = [v for v in verdicts if v.claim.cases == (NMU.hash,)]
    rates = {v.claim.where: v for v in mine if v.claim.metric == "success_rate_at_length"}
    assert (
        rates["length=2"].verdict == "cannot tell" and rates["length=2"].ours.n == 3
    )  # 10 of 10, ours 3 of 3
    assert rates["length=2"].corrected == 1 and "too few published runs" in rates["length=2"].reason
    steps = {v.verdict for v in mine if v.claim.metric == "solved_at_mean_at_length"}
    assert "differs" in steps and steps <= {"differs", "cannot tell"}  # ours are 1,935
    others = {v.why for v in verdicts if v.claim.cases != (NMU.hash,)}
    assert others == {"no runs of ours: nalm run mnist/sequence-product"}


def test_claims_that_differ_come_first(folder):
    order = [v.verdict for v in compare_results(folder, source.outcomes(folder))[SEQUENCES.name]]
    assert (
        order == sorted(order, key=["differs", "agrees", "cannot tell", "not run"].index)
        and "differs" in order
    )


def test_the_command_lists_the_lengths_of_sequences(folder):
    said = CliRunner().invoke(app, ["compare", str(folder), "published", "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    rows = [row for row in found["numbers"] if row["experiment"] == SEQUENCES.name]
    assert len(rows) == len(SEQUENCES.claims)
    (rate,) = [
        r for r in rows if r["metric"] == "success_rate_at_length" and r["where"] == "length=2" and r["ours"]
    ]
    assert (rate["verdict"], rate["runs_needed"], rate["p_holm"]) == ("cannot tell", None, 1)
    assert found["totals"]["Madsen 2020"]["cannot tell"] > 0 and "left out" in found["totals"]["Mistry 2023"]
    text = CliRunner().invoke(app, ["compare", str(folder), "published"], env={"COLUMNS": "80"}).stdout
    assert "Nothing is published" not in text and "published numbers differ from ours" in text
