"""Every example runs, and so do the README's Python blocks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def python(*arguments: str) -> str:
    return subprocess.check_output(
        [sys.executable, *arguments], cwd=ROOT, text=True, stderr=subprocess.STDOUT
    )


def test_the_demo_finds_the_formula_and_extrapolates():
    output = python(
        "-c", "import sys; sys.path.insert(0, 'examples'); import multiply; multiply.main(runs=8)"
    )
    assert "formula found: a*b  (8 of 8 runs)" in output
    error = float(re.search(r"trained on \[1, 2\): (\S+)", output).group(1))
    assert error < 1e-12


@pytest.mark.parametrize("index", range(len(BLOCKS)))
def test_a_block_of_the_readme_prints_what_it_says(index):
    expected = [line.split("# ->")[1].strip() for line in BLOCKS[index].splitlines() if "# ->" in line]
    assert expected, "a README block shows what it prints behind '# ->'"
    output = python("-c", BLOCKS[index])
    for line in expected:
        assert line in output, output


def test_the_law_behind_a_table_is_found_and_certified():
    output = python("examples/discover.py")
    assert "y = (a + d)/(f - 2*i)" in output
    assert "exact" in output
