"""Commands on other machines: other encodings, a full or closed output, no compiler, no modules of Unix."""

import ast
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nalm import operating_system
from nalm.cli.output import plain
from nalm.results import checkpoints
from nalm.results.store import Store

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
QUICK = [
    "--only",
    "unit=NMU",
    "--only",
    "range=1:2",
    "--seeds",
    "1",
    "--steps",
    "20",
    "--workers",
    "1",
]
ascii_path = pytest.mark.skipif(
    not str(ROOT).isascii(), reason="Python itself does not start from such a path in a locale without UTF-8"
)


def nalm(*arguments, stdout=subprocess.PIPE, code="from nalm.cli import main; main()", **environment):
    """A command in a process of its own, whose streams are buffered as usual."""
    known = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={k: v for k, v in (known | environment).items() if v is not None},
        check=False,
    )


def notices(done):
    """The lines on standard error that are about neither progress nor the schedule of a short training."""
    lines = done.stderr.decode().splitlines()
    return [line for line in lines if "runs finished" not in line and not line.startswith("Schedules")]


def trained_modes(folder):
    with Store(folder) as store:
        return {outcome.mode for outcome in store.outcomes()}


# -- encodings ------------------------------------------------------------------------------------


def _text_calls(path):
    """Calls that open a file as text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = ast.unparse(node.func).rpartition(".")[0]
        known = {k.arg for k in node.keywords}
        strings = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        modes = [s for s in strings if set(s) <= set("rwxabt+")]
        binary = any("b" in mode for mode in modes) or (owner == "gzip" and not any("t" in m for m in modes))
        opens = name == "open" and owner not in {"os", "safetensors", "Image", "webbrowser"} and not binary
        if (opens or name in {"read_text", "write_text"}) and "encoding" not in known:
            yield f"{path.relative_to(ROOT)}:{node.lineno}"


@pytest.mark.parametrize("folder", ["nalm", "benchmarks", "scripts", "examples", "srbench"])
def test_every_text_file_is_opened_as_utf_8(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    assert [call for path in paths for call in _text_calls(path)] == []


@ascii_path
@pytest.mark.parametrize(
    ("command", "locale", "encoding"),
    [
        (["units", "--markdown"], {"LC_ALL": "C"}, "ascii"),
        pytest.param(
            ["units", "--markdown"],
            {"PYTHONIOENCODING": "iso-8859-1"},
            "iso-8859-1",
            marks=pytest.mark.slow,
        ),
        pytest.param(["units"], {"PYTHONIOENCODING": "ascii"}, "ascii", marks=pytest.mark.slow),
    ],
)
def test_a_terminal_without_utf_8_gets_what_it_can_show(command, locale, encoding):
    done = nalm(*command, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", **locale)
    assert done.returncode == 0 and not done.stderr
    assert b"?" not in done.stdout  # there is a substitute for every character of ours
    full = nalm(*command, PYTHONUTF8="1").stdout.decode()
    assert len(done.stdout.decode(encoding)) == len(full) > len(full.encode("ascii", "ignore"))


@ascii_path
def test_pages_are_written_as_utf_8_under_any_locale(tmp_path):
    rows = "".join(f"{i},{3 * i}\n" for i in range(1, 30))
    (tmp_path / "data.csv").write_text(f"größe,y\n{rows}", encoding="utf-8")
    arguments = [tmp_path / "data.csv", "--target", "y", "--html", tmp_path / "page.html"]
    done = nalm("fit", *arguments, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0, done.stderr
    assert "größe" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_substitute_is_as_wide_as_what_it_stands_for():
    text = "".join(map(chr, range(32, 0x3000)))
    assert plain(text).isascii() and len(plain(text)) == len(text)


# -- a full or closed output ----------------------------------------------------------------------

COMMANDS = [["--version"], ["list", "--json"]]  # printed by typer, and by us
MORE = [["--help"], ["list"], ["units"], ["show", "quick"]]
ONE_NOW = [*COMMANDS, *(pytest.param(command, marks=pytest.mark.slow) for command in MORE)]


@pytest.mark.parametrize("unbuffered", [None, "1"])
@pytest.mark.parametrize("command", ONE_NOW, ids=str)
def test_a_full_output_is_a_sentence(command, unbuffered):
    with open("/dev/full", "wb") as full:
        done = nalm(*command, stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "nalm: The output could not be written (No space left on device): send it to another place with > FILE."
    ]


PLAIN_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@ascii_path
@pytest.mark.parametrize("command", [pytest.param("report", marks=pytest.mark.slow), "export"])
def test_a_full_output_is_a_sentence_for_results_too_in_a_locale_without_utf_8(command, tmp_path):
    stored = ["--out", tmp_path / "out"]
    assert nalm("run", "quick", *QUICK, "--no-compile", *stored, "--json").returncode == 0
    options = (
        stored if command == "export" else ["--from", tmp_path / "out", "--single", tmp_path / "page.html"]
    )
    with open("/dev/full", "wb") as full:
        done = nalm(command, *options, stdout=full, **PLAIN_LOCALE)
    assert done.returncode == 1
    assert done.stderr.decode("ascii").splitlines() == [
        "nalm: The output could not be written (No space left on device): send it to another place with > FILE."
    ]
    if command == "report":
        assert (tmp_path / "page.html").read_text(encoding="utf-8").endswith("</html>")


@pytest.mark.parametrize("command", ONE_NOW, ids=str)
def test_a_reader_that_goes_away_ends_a_command_silently(command):
    reader, writer = os.pipe()
    os.close(reader)
    done = nalm(*command, stdout=writer)
    os.close(writer)
    assert done.returncode == 1 and not done.stderr


def test_a_closed_output_is_a_sentence_and_no_file_takes_its_number(tmp_path):
    code = "import os; os.close(1); import sys; sys.stdout = None; from nalm.cli import main; main()"
    done = nalm("run", "quick", *QUICK, "--no-compile", "--out", tmp_path / "out", code=code)
    assert done.returncode == 1 and b"Bad file descriptor" in done.stderr and b"Traceback" not in done.stderr
    assert b'"runs": 1' in nalm("status", "--out", tmp_path / "out", "--json").stdout


# -- what a machine may lack ----------------------------------------------------------------------


def test_without_a_compiler_a_run_says_so_once_and_trains(tmp_path):
    done = nalm("run", "quick", *QUICK, "--out", tmp_path, "--json", PATH=str(tmp_path), CXX=None)
    assert done.returncode == 0
    assert notices(done) == [
        "There is no C++ compiler called g++ here: training runs uncompiled, which is slower; install one, or name "
        "yours in CXX."
    ]


@pytest.mark.slow  # compiles in two processes
def test_a_compiler_that_fails_is_reported_once_per_run_and_not_once_per_worker(tmp_path):
    bad = tmp_path / "bad-compiler"
    bad.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    bad.chmod(0o755)
    several = [
        "--only",
        "unit=NMU",
        "--only",
        "unit=NACMul",
        "--seeds",
        "1",
        "--steps",
        "20",
        "--workers",
        "2",
    ]
    compiled = {"CXX": str(bad), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "PYTHONWARNINGS": None}
    done = nalm("run", "quick", *several, "--out", tmp_path / "out", "--json", **compiled)
    assert done.returncode == 0, done.stderr.decode()
    (sentence,) = notices(done)
    assert sentence.startswith("This population runs uncompiled and slower: ") and "bad-compiler" in sentence


@pytest.mark.slow  # compiles with an empty cache
def test_a_cache_folder_that_cannot_be_written_is_replaced_by_the_default_one(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    wrong = {
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "file" / "cache"),
        "TMPDIR": str(tmp_path / "temporary"),
    }
    done = nalm("run", "quick", *QUICK, "--out", tmp_path / "out", "--json", **wrong)
    assert done.returncode == 0, done.stderr.decode()
    (sentence,) = notices(done)
    assert sentence.startswith(
        f"The folder {tmp_path / 'file' / 'cache'} for compiled programs cannot be written"
    )
    (cache,) = (tmp_path / "temporary").iterdir()
    assert cache.name.startswith("torchinductor_") and str(cache) in sentence and any(cache.iterdir())
    assert trained_modes(tmp_path / "out") == {"compiled"}


@pytest.mark.slow  # compiles with an empty cache
def test_without_any_cache_folder_a_run_compiles_in_a_temporary_one_and_removes_it(tmp_path):
    code = "import getpass; getpass.getuser = lambda: 'me'; from nalm.cli import main; main()"
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / "torchinductor_me").write_text("in the way", encoding="utf-8")
    gone = dict.fromkeys(("TORCHINDUCTOR_CACHE_DIR", "HOME")) | {"TMPDIR": str(tmp_path / "temporary")}
    done = nalm("run", "quick", *QUICK, "--out", tmp_path / "out", "--json", code=code, **gone)
    assert done.returncode == 0, done.stderr.decode()
    (sentence,) = notices(done)
    assert "every run compiles its programs again, which is slower" in sentence
    assert trained_modes(tmp_path / "out") == {"compiled"}
    assert [path.name for path in (tmp_path / "temporary").iterdir()] == ["torchinductor_me"]


READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@pytest.mark.slow  # compiles with an empty cache
def test_a_run_from_a_read_only_checkout_without_a_home_trains(tmp_path):
    """As in a container: the source cannot be written, the user has no name and no home."""
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("only root can make a mount read-only")
    shutil.copytree(
        ROOT / "nalm", tmp_path / "checkout" / "nalm", ignore=shutil.ignore_patterns("__pycache__")
    )
    command = [unshare, "-m", "sh", "-c", READ_ONLY, str(tmp_path / "checkout"), sys.executable, "-m", "nalm"]
    gone = ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "TORCHINDUCTOR_CACHE_DIR")
    known = {name: value for name, value in os.environ.items() if name not in gone}
    environment = known | {"PYTHONPATH": str(tmp_path / "checkout"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*command, "run", "quick", *QUICK, "--out", str(tmp_path / "out"), "--json"],
        cwd=tmp_path / "checkout",
        env=environment,
        capture_output=True,
        check=False,
    )
    if b"mount" in done.stderr and done.returncode in (1, 32):
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 0, done.stderr.decode()
    assert not notices(done)
    assert trained_modes(tmp_path / "out") == {"compiled"}
    assert not list((tmp_path / "checkout").rglob("__pycache__"))


def test_the_laboratory_needs_no_module_of_unix(tmp_path):
    code = "import sys; sys.modules.update(dict.fromkeys(('fcntl', 'resource', 'pwd', 'grp', 'termios')));"
    code += "import nalm.cli, warnings; warnings.simplefilter('ignore'); nalm.cli.main()"
    done = nalm("run", "quick", *QUICK, "--no-compile", "--out", tmp_path, "--json", code=code)
    assert done.returncode == 0, done.stderr.decode()
    assert b'"alive": true' not in nalm("status", "--out", tmp_path, "--json", code=code).stdout
    assert nalm("export", "--out", tmp_path, code=code).stdout.count(b"\n") == 2


def test_without_a_home_a_run_trains(tmp_path):
    code = "import os, pwd\ndef nobody(*_): raise KeyError('uid')\npwd.getpwuid = nobody\n"
    code += "from nalm.cli import main; main()"
    gone = dict.fromkeys(("HOME", "USER", "LOGNAME", "LNAME", "USERNAME"))
    arguments = ["run", "quick", *QUICK, "--no-compile", "--out", tmp_path, "--json"]
    done = nalm(*arguments, code=code, **gone)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away here")
def test_only_cores_that_may_be_used_are_counted():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code += "from nalm import operating_system; print(operating_system.cores())"
    assert nalm(code=code).stdout.split() == [b"1"]
    assert operating_system.cores() >= 1


@pytest.mark.parametrize("mask", [0o077, 0o000, 0o027])
def test_checkpoints_have_the_rights_that_new_files_have(mask, tmp_path):
    before = os.umask(mask)
    try:
        path = checkpoints.save_checkpoint(tmp_path, [("a", 0)], {"at": np.zeros(3)})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
