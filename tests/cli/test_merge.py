"""The command merge names the folders whose saved networks it does not merge."""

from made import case, runs
from typer.testing import CliRunner

from nalm.cli import app
from nalm.config import Experiment
from nalm.results.store import NAME, Store


def made(folder, name, seeds):
    with Store(folder, create=True) as store:
        store.begin(f"nalm run {name}", "2.13.0")
        store.register(Experiment(name, name, (case(),), seeds))
        store.save(runs(seeds=seeds))
    return folder


def keep_networks(folder):
    (folder / "networks").mkdir()
    (folder / "networks" / "0123456789abcdef-0.safetensors").write_bytes(b"")


def said(*words):
    done = CliRunner().invoke(app, ["merge", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_saved_networks_are_not_merged_and_the_folders_to_continue_in_are_named(tmp_path):
    a, b, c = (made(tmp_path / name, name, (2 * i, 2 * i + 1)) for i, name in enumerate("abc"))
    keep_networks(a)
    keep_networks(c)
    first, second = said(a, b, c / NAME, "-o", tmp_path / "all" / "all.db")
    assert "6 runs" in first
    assert second.startswith(
        f"The saved networks of {a} and {c} are not merged: with more --epochs a run goes on"
    )
    assert second.endswith(f"with --out {a} or --out {c}.")


def test_nothing_is_said_of_networks_where_none_are_saved_or_they_lie_beside_the_merged_file(tmp_path):
    a, b = made(tmp_path / "a", "a", (0, 1)), made(tmp_path / "b", "b", (2, 3))
    (b / "networks").mkdir()  # empty
    assert len(said(a, b, "-o", tmp_path / "one.db")) == 1
    keep_networks(a)
    assert len(said(a, b, "-o", a / "two.db")) == 1
