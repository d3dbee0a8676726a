"""Make the package's summary of the shipped results: python scripts/summary.py [RESULTS]"""

import gzip
import json
import sys
from pathlib import Path

from nalm.config import Case
from nalm.results import files as shipped
from nalm.results import tally_files
from nalm.results.summary import summarise

ROOT = Path(__file__).parent.parent
LEFT_OUT = ("formulas",)  # half of the size, and no suggestion needs them
READ = "CodedUnit"  # its operands are read from codes
TARGET = ROOT / "nalm" / "data" / "summary.json.gz"


def plain(case: Case) -> bool:
    """Return whether a case asks for one number from numbers; no unit is suggested for images or several measures."""
    several = case.task.images or case.task.grids or case.task.counts
    return not several and case.model[0].unit != READ


def summary(results: Path) -> bytes:
    """Summarise every plain case of every shipped experiment in a few numbers, as compressed JSON."""
    rows = []
    for name, path in shipped.experiments(results).items():
        origin = shipped.about(path)
        beside = path.with_suffix(shipped.TALLY)
        counted = [t for t in tally_files.read(beside) if plain(t.case)] if beside.is_file() else []
        for s in summarise([o for o in shipped.read(path) if plain(o.case)], counted):
            recipe = json.loads(s.case.recipe.json())
            told = {key: value for key, value in s.plain().items() if key not in LEFT_OUT}
            rows.append({"experiment": name, **told, "recipe": recipe, "device": origin["device"]})
    return gzip.compress(json.dumps(rows, separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)


if __name__ == "__main__":
    TARGET.write_bytes(summary(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results"))
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")
