"""The files of published numbers: every row is well formed, and a mistake in one is named by file and line."""

import re
from collections import Counter
from pathlib import Path

import pytest

import nalm
from nalm.claims.rules.base import published_runs
from nalm.claims.rules.spreads import MEAN
from nalm.config import Claim
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import COLUMNS, claims, median, numbers, once, papers, parse, reasons, tied

DATA = Path(nalm.__file__).parent / "data" / "claims"
REFERENCES = Path(nalm.__file__).parents[1] / "docs" / "references.md"
PAPERS = pytest.mark.parametrize("paper", papers())
SHARES = ("success_rate", "mean_success_rate", "success_rate_lower_bound", "success_rate_at_length")


def lines(*rows):
    """A file with its header."""
    return [",".join(COLUMNS), *rows]


def test_every_file_is_listed_as_a_paper_and_every_paper_has_a_file():
    assert {path.stem for path in DATA.glob("*.csv")} == {"papers", *papers()}


@PAPERS
def test_a_paper_is_cited_as_in_the_references(paper):
    found = papers()[paper]
    text = " ".join(REFERENCES.read_text("utf-8").split())
    entry = re.search(rf"### {found.key} (.*?)(?=### |$)", text, re.IGNORECASE).group(1)
    assert found.authors in entry and found.title.partition(" (")[0].lower() in entry.lower()
    assert found.year is None or str(found.year) in entry
    assert not found.link or found.link in entry
    assert found.cited_as and len({p.cited_as for p in papers().values()}) == len(papers())


@PAPERS
def test_every_number_of_a_paper_says_what_it_is_about_and_where_it_stands(paper):
    found = numbers(paper)
    rows = (DATA / f"{paper}.csv").read_text("utf-8").splitlines()[1:]
    assert len(found) == len(rows) > 0 and all(rows), "one line for each number, and no empty line"
    for claim in found:
        assert claim.source.startswith(papers()[paper].cited_as)
        assert claim.low is None or claim.high is None or claim.low <= claim.high, claim
        assert (claim.low is None) == (claim.high is None), claim
        assert claim.metric not in SHARES or 0 <= claim.value <= 1, claim
        assert claim.metric == claim.metric.strip(), claim
        assert not claim.where.startswith("length=") or claim.metric.endswith("_at_length"), claim


@PAPERS
def test_no_number_of_a_paper_is_listed_twice(paper):
    text = Counter((DATA / f"{paper}.csv").read_text("utf-8").splitlines())
    assert [line for line, count in text.items() if count > 1] == []


def test_a_task_has_the_numbers_of_all_papers_about_it():
    every = [claim for paper in papers() for claim in numbers(paper)]
    for task in {claim.task for claim in every}:
        own = [claim for claim in every if claim.task == task]
        assert list(claims(task)) == [claim for claim in own if not reasons()[claim.rows[0]]]
    assert claims("no such task") == ()


def test_a_row_with_a_reason_not_to_be_compared_is_no_claim():
    assert any(c.metric == "runtime" for c in numbers("mistry2023"))
    assert not any(c.metric == "runtime" for c in claims("sequential MNIST product"))


def test_numbers_that_are_repeated_are_one_claim_with_several_rows():
    exact = Claim("A", "success_rate", 0.3066, n=100, unit="NMU", rows=("a:1",))
    table = exact.replace(source="B", value=0.31, rows=("b:2",))
    other = exact.replace(value=0.35, rows=("c:3",))
    fewer = exact.replace(n=10, rows=("d:4",))
    assert [c.rows for c in once([exact, table, other, fewer])] == [("a:1", "b:2"), ("c:3",), ("d:4",)]


def test_a_claim_without_a_unit_is_tied_to_all_cases_of_its_task():
    one, two, three = EXPERIMENTS["madsen/simple"].cases
    cases = {("NMU", "multiply", ""): one, ("NALU", "multiply", ""): two, ("NALU", "add", ""): three}
    claim = Claim("A", "success_threshold_mse", 1.0, operation="multiply")
    assert [c.cases for c in tied([claim, claim.replace(unit="NMU"), claim.replace(unit="NAC")], cases)] == [
        (one.hash, two.hash),
        (one.hash,),
    ]


def test_published_points_are_summed_up_with_their_rows():
    points = [
        Claim("A", "mse", value, where=f"run {value}", rows=(f"a:{value:g}",)) for value in (1.0, 2.0, 9.0)
    ]
    found = median(points, "median_mse")
    assert (found.value, found.low, found.high, found.n) == (2.0, 1.0, 3.0, 3)
    assert (found.rows, found.points, found.where) == ((), ("a:1", "a:2", "a:9"), "")


def test_claims_are_selected_by_operation_place_and_unit():
    task = "single-module, 2 inputs"
    assert {c.where for c in claims(task, "multiply", ("Sec 3.3.2",), ("NMU",))} == {"U[1,2)"}
    assert {c.unit for c in claims(task, units=(" vs ",))} == {"NAC vs NALU"}
    drawn = [c for c in claims(task, "multiply") if (c.unit, c.where, c.n) == ("NMU", "U[-1.2,-1.1)", 25)]
    assert 0.68 in {c.value for c in drawn}


def test_names_of_units_are_those_of_the_library():
    units = {claim.unit for paper in papers() for claim in numbers(paper)}
    assert {"NAC", "NACMul", "GNALU", "INALU", "ModifiedRealNPU"} <= units
    assert not units & {"NAC+", "NAC*", "G-NALU", "iNALU", "Real NPU"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("t,NMU,multiply,,success_rate,high,,,25,Table 1,,,", "line 2 has 'high' in the column value"),
        ("t,NMU,multiply,,success_rate,nan,,,25,Table 1,,,", "line 2 has 'nan' in the column value"),
        ("t,NMU,multiply,,success_rate,0.5,x,,25,Table 1,,,", "line 2 has 'x' in the column low"),
        ("t,NMU,multiply,,success_rate,0.5,,,2.5,Table 1,,,", "line 2 has '2.5' in the column runs"),
        ("t,NMU,multiply,,success_rate,0.5,,,0,Table 1,,,", "line 2 has '0' in the column runs"),
        ("t,NMU,multiply,,success_rate,0.5,,,25,,,,", "line 2 has nothing in the column place"),
        ("t,NMU,multiply,U[1,2),success_rate,0.5,,,25,Table 1,,,", "text that holds a comma in quotes"),
        ("t,NMU,multiply", "line 2 has not 13 cells"),
    ],
)
def test_a_mistake_in_a_row_is_named_by_file_line_and_column(row, message):
    with pytest.raises(NALMError, match=re.escape(message)) as error:
        parse(lines(row), papers()["heim2020"])
    assert str(error.value).startswith("heim2020.csv, line 2")


def test_a_file_with_other_columns_is_refused_with_the_right_ones():
    with pytest.raises(NALMError, match=r"heim2020\.csv needs the columns task,unit,operation"):
        parse(["task,value", "t,1"], papers()["heim2020"])


def test_a_new_row_becomes_a_claim():
    row = 't,NMU,multiply,"U[1,2)",success_rate,0.5,0.4,0.6,25,Table 1,a note,,'
    (claim,) = parse(lines(row), papers()["mistry2023"])
    assert (claim.unit, claim.operation, claim.where, claim.metric) == (
        *("NMU", "multiply", "U[1,2)", "success_rate"),
    )
    assert (claim.value, claim.low, claim.high, claim.n) == (0.5, 0.4, 0.6, 25)
    assert (claim.source, claim.place, claim.note) == ("Mistry 2023", "Table 1", "a note")


def test_claims_of_experiments_come_from_the_files():
    known = {c.source for paper in papers() for c in numbers(paper)}
    assert {c.source for e in EXPERIMENTS.values() for c in e.claims} <= known


def test_no_published_number_is_judged_twice():
    """Table A2 of Heim 2020 was there as medians and as means; the NMU on sequences under two experiments."""
    simple = EXPERIMENTS["heim/simple"].claims
    assert len(simple) == 24 == len({(c.unit, c.operation, c.metric) for c in simple})
    assert all(MEAN in c.note and published_runs(c) == 20 for c in simple)
    by_length = [c for name, e in EXPERIMENTS.items() if name.startswith("mnist/sequence") for c in e.claims]
    assert len(by_length) == len(set(by_length)) and EXPERIMENTS["mnist/sequence-losses"].claims == ()
