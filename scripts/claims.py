"""Make the package's table of published numbers: python scripts/claims.py SPEC/published_results.csv

Names of units, operations and ranges become the library's own and percentages become fractions; every other
word and number is taken as it stands.
"""

import csv
import gzip
import io
import re
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "nalm" / "data" / "claims.csv.gz"
COLUMNS = [
    "source",
    "place",
    "task",
    "unit",
    "operation",
    "where",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "note",
]
OPERATIONS = {"sub": "subtract", "mul": "multiply", "div": "divide", "squared": "square", "root": "sqrt"}
UNITS = {
    "NAC+": "NAC",
    "NAC*": "NACMul",
    "NAC*_sigma": "NACMulSigmoid",
    "NAC*_NMU": "NACMulClamped",
    "NALU (shared)": "NALU",
    "NALU (separate)": "NALUSeparate",
    "G-NALU": "GNALU",
    "iNALU": "INALU",
    "Gated NAU/NMU": "GatedNAUNMU",
    "sNMU": "SNMU",
    "sNMU U[1,5]": "SNMU",
    "Real NPU": "RealNPU",
    "Real NPU (baseline)": "RealNPU",
    "Real NPU (modified)": "ModifiedRealNPU",
    "MulMCFC sign iNALU": "MulMCFCSignINALU",
    "MulMCFC sign RealNPU": "MulMCFCSignRealNPU",
    "NAC+ vs NALU": "NAC vs NALU",
    "NPU minus Real NPU": "NPU minus RealNPU",
}


def translated(row: dict[str, str]) -> dict[str, str]:
    """A row of the specification as a row of the package."""
    fraction = row["unit"] == "%" and row["metric"] in ("success_rate", "mean_success_rate")

    def number(text: str) -> str:
        return f"{float(text) / 100:.10g}" if fraction and text else text

    seeds = re.search(r"(\d+) seeds", f"{row['note']} {row['range_or_config']} {row['task']}")
    return {
        "source": row["source"],
        "place": row["artefact"],
        "task": row["task"],
        "unit": UNITS.get(row["module"], row["module"]),
        "operation": OPERATIONS.get(row["operation"], row["operation"]),
        "where": row["range_or_config"].removeprefix("range="),
        "metric": row["metric"],
        "value": number(row["value"]),
        "low": number(row["ci_low"]),
        "high": number(row["ci_high"]),
        "n": seeds.group(1) if seeds else "",
        "note": row["note"],
    }


def main(source: str) -> None:
    """Write the table."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    with open(source, encoding="utf-8", newline="") as file:
        rows = [translated(row) for row in csv.DictReader(file)]
    writer.writerows(rows)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    print(f"{len(rows)} claims in {TARGET.name}")


if __name__ == "__main__":
    main(sys.argv[1])
