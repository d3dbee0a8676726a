"""Every example runs, and so do the README's Python blocks."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import nalm
from nalm.claims import verdicts
from nalm.experiments import EXPERIMENTS
from nalm.results import files as shipped
from nalm.results import source

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def python(*arguments: str) -> str:
    return subprocess.check_output(
        [sys.executable, *arguments], cwd=ROOT, text=True, stderr=subprocess.STDOUT
    )


@pytest.mark.system
def test_the_animated_weights_end_in_the_corner_of_the_formula(tmp_path):
    python("examples/snapping.py", str(tmp_path / "weights.svg"))
    text = (tmp_path / "weights.svg").read_text("utf-8")
    across, up = (re.findall(rf'"{name}" values="[^"]*;([\d.]+)"', text) for name in ("cx", "cy"))
    assert (set(across), set(up), len(across)) == ({"300.0"}, {"40.0"}, 10)


@pytest.mark.system
def test_the_demo_finds_the_formula_and_extrapolates():
    output = python(
        "-c", "import sys; sys.path.insert(0, 'examples'); import multiply; multiply.main(runs=8)"
    )
    assert "formula found: a*b  (8 of 8 runs)" in output
    error = float(re.search(r"trained on \[1, 2\): (\S+)", output).group(1))
    assert error < 1e-12


@pytest.mark.slow
def test_the_logic_example_learns_rules_that_hold_for_long_lists():
    output = python("examples/logic.py")
    assert "from four rows: (a & ~b) | (b & ~a)" in output
    assert "100 of 100 lists right" in output


@pytest.mark.parametrize("index", range(len(BLOCKS)))
@pytest.mark.system
def test_a_block_of_the_readme_prints_what_it_says(index):
    expected = [line.split("# ->")[1].strip() for line in BLOCKS[index].splitlines() if "# ->" in line]
    assert expected, "a README block shows what it prints behind '# ->'"
    output = python("-c", BLOCKS[index])
    for line in expected:
        assert line in output, output


def test_the_numbers_in_the_readme_are_those_of_the_shipped_results():
    said = re.search(
        r"Of the (\d+) numbers published about chapter 3, (\d+) agree with ours \(([\d,]+) runs"
        r"[^;]*\) and (\d+) differ;",
        README,
    )
    counted = source.tallies(ROOT / "results")
    words, runs = [], 0
    for name, path in shipped.experiments(ROOT / "results").items():
        if name.startswith("thesis/ch3/"):
            outcomes = shipped.read(path)
            runs += len(outcomes)
            words += [v.verdict for v in verdicts(EXPERIMENTS[name], outcomes, {}, counted.get(name, ()))]
    expected = [len(words), words.count("agrees"), runs, words.count("differs")]
    assert [int(n.replace(",", "")) for n in said.groups()] == expected


def test_the_totals_in_the_readme_are_those_of_the_page_of_coverage():
    said = re.search(
        r"Of ([\d,]+) comparisons with published numbers ([\d,]+) agree, (\d+) differ, of (\d+) one cannot "
        r"tell, and ([\d,]+) have\s+not been run",
        README,
    )
    page = (ROOT / "docs" / "coverage.md").read_text("utf-8")
    (total,) = re.findall(r"^\| \*\*all\*\* \|(.*)\|$", page, re.M)
    assert list(said.groups()) == [n.strip() for n in total.split("|")][1:6]


def test_the_numbers_about_discovery_are_those_of_the_shipped_trials():
    words = r"Of ([\d,]+) problems from the cells\s+in which the papers report failures, ([\d,]+) are "
    more = r"certified and right; of ([\d,]+) targets that are no such law, ([\d,]+) were certified"
    said = re.search(words + more, README)
    totals = json.loads((ROOT / "results" / "beyond" / "ladder.json").read_text("utf-8"))["totals"]

    def total(suite, name):
        return sum(row[name] for row in totals if row["suite"] == suite)

    expected = [
        total("cells", "problems"),
        total("cells", "right"),
        total("outside", "problems"),
        total("outside", "certified"),
    ]
    assert [int(n.replace(",", "")) for n in said.groups()] == expected


def test_the_numbers_about_the_contest_are_those_of_the_shipped_one():
    words = (
        r"Of (\d+) physical laws put aside unseen before any tuning, (\d+) are found exactly; of (\d+) laws "
    )
    more = r"certified as exact in that contest\s+(\d+) are wrong; where gplearn .* takes (\d+) times as long"
    said = [int(n) for n in re.search(words + more, README).groups()]
    about = json.loads((ROOT / "results" / "beyond" / "laws.json").read_text("utf-8"))
    ours = [row for row in about["totals"] if row["rival"] == "nalm"]
    (blind,) = [r for r in ours if (r["part"], r["variant"]) == ("blind", "plain")]
    certified = [sum(r[name] for r in ours) for name in ("certified", "false_exact")]
    assert said == [blind["problems"], blind["exact"], *certified, round(about["speed"][0]["median"])]


def test_the_numbers_about_the_feynman_laws_are_those_of_the_shipped_trials():
    def totals(name):
        return json.loads((ROOT / "results" / "beyond" / f"{name}.json").read_text("utf-8"))["totals"]

    words = r"Of the (\d+) laws of the Feynman database (\d+) are found and called exact, (\d+)\s+wrongly; "
    words += r"with 1% noise the form of (\d+) is found, with 10% that of (\d+)"
    whole = {row["noise"]: row for row in totals("feynman")}
    clean = [whole[0.0][name] for name in ("laws", "exact", "false_exact")]
    assert [int(n) for n in re.search(words, README).groups()] == [
        *clean,
        whole[0.01]["right"],
        whole[0.1]["right"],
    ]
    words = r"On (\d+) of them, with\s+0, 1 and 10% noise and a minute of a core each, "
    words += (
        r"nalm finds (\d+), (\d+) and (\d+), Operon (\d+), (\d+) and (\d+), gplearn (\d+), (\d+) and (\d+)"
    )
    contest = totals("feynman-contest")
    assert [(row["method"], row["noise"]) for row in contest] == [
        (method, noise) for method in ("nalm", "operon", "gplearn") for noise in (0.0, 0.01, 0.1)
    ]
    said = [int(n) for n in re.search(words, README).groups()]
    assert said == [contest[0]["laws"], *(row["right"] for row in contest)]
    words = r"On (\d+) noisy tables of the algebraic ones with 30 to 1,000 rows and ten seconds each, "
    words += r"nalm finds (\d+) laws, Operon (\d+) and\s+gplearn (\d+); "
    words += r"of (\d+) that are called consistent (\d+) are right or named"
    ours = [row for row in totals("noisy") if not row["outliers"]]
    rivals = {
        method: sum(row["right"] for row in totals("noisy-rivals") if row["method"] == method)
        for method in ("operon", "gplearn")
    }
    counts = [sum(row[name] for row in ours) for name in ("laws", "right", "consistent", "consistent_right")]
    said = [int(n) for n in re.search(words, README).groups()]
    assert said == [*counts[:2], rivals["operon"], rivals["gplearn"], *counts[2:]]


@pytest.mark.system
def test_the_law_behind_a_table_is_found_and_certified():
    output = python("examples/discover.py")
    assert "y = (a + d)/(f - 2*i)" in output
    assert "exact" in output


@pytest.mark.system
def test_a_trajectory_becomes_equations():
    output = python(
        "-c", "import sys; sys.path.insert(0, 'examples'); import epidemic; epidemic.main(restarts=1)"
    )
    assert "dI/dt = 0.06*sqrt(I)*sqrt(S) - 0.05*I" in output
    assert "exact: simulated" in output


@pytest.mark.slow
def test_a_noisy_trajectory_becomes_equations_with_intervals():
    output = python("examples/epidemic.py")
    assert "dI/dt = 0.06*sqrt(I)*sqrt(S) - 0.05*I" in output
    assert "95% interval" in output


def test_the_example_of_mixed_digits_finds_a_mixture_and_trains_by_both_targets(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module("mixed_digits")
    reader = torch.nn.Linear(10, 10, bias=False)
    mixed = 20 * torch.eye(10)
    mixed[[3, 5], 4], mixed[4, 4], mixed[1, 0], mixed[0, 0] = 20, 0, 20, 0  # 4 as 3 and 5, and 0 as 1 alone
    reader.weight.data = mixed
    found = example.mixtures(reader, torch.eye(10), torch.arange(10))
    assert set(found) == {4} and example.words(found).startswith("4 = 0.50 x 3 + 0.50 x 5")
    assert example.words({}) == "none"
    x, y = torch.rand(40, 784, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 10
    alone, sure = (example.trained(x, y, 0, weight, steps=4) for weight in (0.0, 1.0))
    again = example.trained(x, y, 0, 1.0, steps=4)
    assert torch.equal(sure[0].weight, again[0].weight) and not torch.equal(sure[0].weight, alone[0].weight)


def test_the_example_of_directions_names_quotients_and_counts_the_ends_of_starts(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module("quotient_directions")
    for name in example.UNITS:
        unit = getattr(nalm, name).solved("divide")
        assert example.exponents(unit) == (1, -1) and example.reached(unit) == "a/b"
        turned = {"NMRU": (0.0, 1.0, 1.0, 0.0)}.get(name, (-1.0, 1.0))
        assert example.reached(example.begun(name, 0, turned)) == "b/a"
        assert example.reached(example.begun(name, 0)) == "neither"
    x = torch.rand(40, 784, generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(example, "images", lambda data: (x, torch.arange(40) % 10))
    counts = example.main(2, ("NMRU",), steps=4)
    assert sum(counts.values()) == 4 and {end for _, _, end in counts} == {"neither"}
    assert counts["NMRU from (0.75, 0.25, 0.25, 0.75)", "(+, -)", "neither"] == 2
    assert capsys.readouterr().out.count("reads") == 4


@pytest.mark.parametrize("start", [(0.3, -0.3), (-0.3, 0.3)])
def test_the_signs_of_a_start_decide_which_way_round_a_quotient_is_learnt(start, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module("quotient_directions")
    x, y = torch.eye(784)[:9].repeat(4, 1), torch.arange(1, 10).repeat(4)
    unit = example.begun("NRU", 0, start)
    read = example.readings(example.trained(unit, x, y, 0, steps=600), x, y)
    assert [e > 0 for e in example.exponents(unit)] == [e > 0 for e in start]
    low, *_, high = read if start[0] > 0 else reversed(read)
    assert low < 2 and high > 5
