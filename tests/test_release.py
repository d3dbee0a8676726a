"""The files of a release name the same version, and the paths that llms.txt lists exist."""

import re
import tomllib
from pathlib import Path

import nalm

ROOT = Path(__file__).parents[1]


def test_every_file_names_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    recipe = (ROOT / "recipe" / "meta.yaml").read_text("utf-8")
    assert re.search(r"^version: (.*)$", citation, re.M).group(1) == nalm.__version__
    assert re.search(r'set version = "(.*)"', recipe).group(1) == nalm.__version__


def test_the_number_of_units_is_right_wherever_it_is_said():
    for name in ("README.md", "CITATION.cff"):
        said = re.findall(r"(\d+) (?:published )?units", (ROOT / name).read_text("utf-8"))
        assert said and set(map(int, said)) == {len(nalm.UNITS)}


def test_what_the_readme_installs_is_enough_for_its_first_example():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (named,) = re.findall(r"pip install '\.\[(.*?)\]'", (ROOT / "README.md").read_text("utf-8"))
    installed = " ".join(package for extra in named.split(",") for package in extras[extra])
    assert "scikit-learn" in installed and "pandas" in installed


def test_pages_for_language_models_exist():
    pages = re.findall(r"\]\((.*?)\)", (ROOT / "llms.txt").read_text("utf-8"))
    assert len(pages) >= 8
    assert all((ROOT / page).is_file() for page in pages)


def test_the_draft_of_the_paper_cites_what_its_bibliography_holds():
    text = (ROOT / "paper" / "paper.md").read_text("utf-8")
    bibliography = (ROOT / "paper" / "paper.bib").read_text("utf-8")
    cited = set(re.findall(r"@([A-Z][A-Za-z]+\d{4}[a-c]?)", text))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", bibliography, re.M))
    assert 1_000 <= len(text.split()) <= 1_500
