"""Networks of images in training: the same whatever happens around them, gone on with exactly, and stored."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from nalm.cli import app
from nalm.config import Experiment, Layer, TwoDigits, grid
from nalm.engine import Run
from nalm.engine.images import ImageTrainer
from nalm.engine.images.data import held_out
from nalm.errors import NALMError
from nalm.experiments.mnist.two_digits import BATCH, clipped, lasting, pressed, reading
from nalm.lab.executors.base import Job, Settings, attempt, state_of, write_checkpoints
from nalm.lab.run import run
from nalm.results import checkpoints
from nalm.results.networks import load_network, load_networks, save_networks
from nalm.results.store import Store

CPU = torch.device("cpu")
TINY = TwoDigits(  # of three digits: 12 steps an epoch
    "multiply", grid(7, 10), source="drawn", samples=8, folds=3, exact="rounded"
)


def case(layer=None, epochs=2, task=TINY):
    found = reading(layer or Layer("NMU"), task, 4)
    return lasting(pressed(found, 1, "weight", start=0, end=1), epochs)


def trained(*runs, training=None):
    training = training or ImageTrainer([Run(c, seed, i) for i, (c, seed) in enumerate(runs)], CPU)
    while not training.finished:
        training.advance()
    return training


def weights(training, i=0):
    return {n: p.clone() for n, p in training.members[i].member.params.items()}


def same(one, two):
    return all(torch.equal(one[n], two[n]) for n in one)


def save(training, folder):
    state = {name: t.numpy() for name, t in training.state().items()}
    save_networks(folder, [(m.run.case.trunk.hash, m.run.seed) for m in training.members], state)


def resume(training, folder):
    networks = [(m.run.case.trunk.hash, m.run.seed) for m in training.members]
    training.restore({n: torch.from_numpy(a.copy()) for n, a in load_networks(folder, networks).items()})


@pytest.fixture(scope="module")
def whole():
    """Two seeds side by side, two epochs."""
    return trained((case(), 0), (case(), 1))


def test_a_run_does_not_depend_on_its_neighbours_or_on_torchs_generator(whole):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    alone = trained((case(), 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert same(weights(alone), weights(whole, 1)) and not same(weights(alone), weights(whole, 0))
    assert alone.members[0].means == whole.members[1].means


def test_an_interrupted_run_ends_in_the_same_weights(whole, tmp_path):
    begun = ImageTrainer([Run(case(), 0, 0)], CPU)
    for _ in range(3):
        begun.advance()
    assert 0 < begun.at < case().recipe.steps and begun.at % case().epoch  # in the middle of an epoch
    save(begun, tmp_path)
    other = ImageTrainer([Run(case(), 0, 0)], CPU)
    resume(other, tmp_path)
    assert other.at == begun.at
    finished = trained(training=other)
    assert same(weights(finished), weights(whole)) and finished.members[0].means == whole.members[0].means
    assert [len(w) for w in finished.members[0].weights] == [1, 1, 1]


def test_more_epochs_go_on_from_fewer(whole, tmp_path):
    short, long = (Experiment("tiny", "A tiny one", (case(epochs=n),), (0,)) for n in (1, 2))
    run([short], tmp_path, device="cpu", workers=1)
    run([long], tmp_path, device="cpu", workers=1)
    with Store(tmp_path) as store:
        outcomes = store.outcomes("tiny")
        events = [(kind, at) for *_, kind, _, _, at in store.events() if kind in ("started", "resumed")]
        arrays = store.arrays(case().hash, 0)
    epoch = case().epoch
    assert [o.steps for o in outcomes] == [epoch, 2 * epoch] and events == [
        ("started", 0),
        ("resumed", epoch),
    ]
    assert arrays["steps"].tolist() == [0, epoch, 2 * epoch]
    kept = load_network(tmp_path, case().trunk.hash, 0)
    assert all((kept[f"params.{n}"] == p.numpy()).all() for n, p in weights(whole).items())
    (file,) = (tmp_path / checkpoints.NETWORKS).iterdir()
    assert file.stat().st_size < 16 * 2**20


def test_fewer_epochs_than_there_are_start_again_and_leave_the_longer_one(whole, tmp_path):
    save(whole, tmp_path)
    short = ImageTrainer([Run(case(epochs=1), 0, 0)], CPU)
    resume(short, tmp_path)
    assert short.at == 0
    save(short, tmp_path)
    assert load_network(tmp_path, case().trunk.hash, 0)["at"] == 2 * case().epoch


def test_a_damaged_network_is_refused_with_its_name(tmp_path, whole):
    save(whole, tmp_path)
    path = sorted((tmp_path / checkpoints.NETWORKS).iterdir())[0]
    seed = int(path.stem.split("-")[1])
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    fresh = ImageTrainer([Run(case(), seed, 0)], CPU)
    with pytest.raises(NALMError, match=f"{path.name} is damaged"):
        resume(fresh, tmp_path)
    other = path.with_name(path.name.replace(f"-{seed}.", "-7."))
    other.write_bytes(content)
    with pytest.raises(NALMError, match="delete it, and its run starts again"):
        resume(ImageTrainer([Run(case(), 7, 0)], CPU), tmp_path)


def test_one_changed_byte_of_a_network_is_noticed(tmp_path, whole):
    save(whole, tmp_path)
    path = sorted((tmp_path / checkpoints.NETWORKS).iterdir())[0]
    content = bytearray(path.read_bytes())
    content[-5_000] ^= 1
    path.write_bytes(bytes(content))
    seed = int(path.stem.split("-")[1])
    with pytest.raises(NALMError, match=f"{path.name} is damaged .its checksum does not match its numbers"):
        load_network(tmp_path, case().trunk.hash, seed)


def test_a_network_with_parts_missing_or_made_up_is_refused_with_its_name(whole):
    state = whole.state()
    damage = {
        "seconds": None,
        "steps": torch.zeros(2, 2),
        "at": torch.tensor(-5.0),
        "sparsity": torch.zeros(7),
        "slots.1.reader.conv1.bias": torch.zeros(3),
        "params.reader.fc2.bias": None,
        "means.test.error": torch.zeros(1),
    }
    for name, value in damage.items():
        odd = {n: t for n, t in state.items() if n != f"0.{name}"} | (
            {} if value is None else {f"0.{name}": value}
        )
        training = ImageTrainer([Run(case(), 0, 0)], CPU)
        with pytest.raises(
            NALMError, match=r"networks/\w+-0.safetensors .* is damaged .* its run starts again"
        ):
            training.restore(odd)


@pytest.mark.system
def test_the_end_of_a_shorter_training_is_no_evaluation_of_a_longer_one():
    def rare(epochs):
        return case(epochs=epochs, task=TINY.replace(every=2))

    short, whole = trained((rare(3), 0)), trained((rare(4), 0))
    epoch = case().epoch
    assert short.members[0].steps == [0, 2 * epoch, 3 * epoch]
    longer = ImageTrainer([Run(rare(4), 0, 0)], CPU)
    longer.restore(short.state())
    trained(training=longer)
    assert longer.members[0].steps == whole.members[0].steps == [0, 2 * epoch, 4 * epoch]
    assert longer.members[0].means == whole.members[0].means and same(weights(longer), weights(whole))


def test_a_worker_without_a_folder_sends_its_networks(whole, tmp_path, monkeypatch):
    away, folder = tmp_path / "away", tmp_path / "results"
    away.mkdir()
    monkeypatch.chdir(away)
    job = Job((Run(case(epochs=1), 0, 0), Run(case(epochs=1), 1, 1)))
    messages = list(write_checkpoints(attempt(job, Settings(Path(), "cpu", save_every=0.0)), folder))
    assert messages[-1].kind == "finished" and "checkpoint" in [m.kind for m in messages]
    assert list(away.iterdir()) == [] and all(m.state is None for m in messages)
    longer = Job((Run(case(), 0, 0), Run(case(), 1, 1)))
    state = state_of(longer, folder)
    told = list(write_checkpoints(attempt(longer, Settings(Path(), "cpu"), state), folder))
    assert (told[0].kind, told[0].at) == ("resumed", case().epoch)
    for seed in (0, 1):
        found = load_network(folder, case().trunk.hash, seed)
        assert all((found[f"params.{n}"] == p.numpy()).all() for n, p in weights(whole, seed).items())


def test_results_hold_curves_paths_and_confusions(whole):
    runs = whole.results()
    (first, second) = runs.lines()
    assert (first.steps, first.formula, first.mode) == (2 * case().epoch, runs.formulas[0], "eager")
    assert first.test == 1 - runs.records[0]["test.output.rounded"][-1] and first.best_step == first.steps
    assert runs.trajectories[0]["0.weight"].shape == (3, 1, 2) and second.seed == 1
    confusion = runs.records[0]["test.confusion"]
    assert confusion.shape == (2, 10, 10) and confusion.sum() == 2 * 3 * 8  # three pairs are held out
    held = held_out(9, 3, 0)
    for image, digits in zip(confusion, (held // 3, held % 3), strict=True):
        assert image.sum(-1)[7:].tolist() == (8 * np.bincount(digits, minlength=3)).tolist()


def test_a_clipped_gradient_and_noise_train_too():
    both = [ImageTrainer([Run(c, 0, 0)], CPU) for c in (clipped(case(BATCH)), case(BATCH))]
    for training in both:
        training.members[0].advance()
    assert not same(*map(weights, both))
    assert all(p.isfinite().all() for training in both for p in weights(training).values())


def test_what_the_loop_does_not_do_is_refused():
    recipe = case().recipe.replace(clip_value=1.0, schedule="cosine")
    with pytest.raises(NALMError, match="without clip_value or schedule"):
        ImageTrainer([Run(case().replace(recipe=recipe), 0, 0)], CPU)


def test_the_epoch_with_the_most_right_training_outputs_is_judged():
    training = trained((case(epochs=1, task=TINY.replace(chosen="train")), 0))
    (one,) = training.members
    one.steps = list(range(20))
    # of the last ten the third is best
    right = [0.0, 0.99] + [0.5] * 8 + [0.1, 0.2, 0.9, 0.3, 0.9] + [0.2] * 5
    one.means = [{"seen.output.rounded": r, "test.output.rounded": r / 2} for r in right]
    one.sparsity = [0.0] * 20
    mark = one.mark()
    assert mark.best_step == 12 and mark.test == 1 - 0.45 and mark.solved_at is None


def test_a_run_that_was_stopped_stands_where_it_stands(tmp_path):
    def stop(state):
        if (tmp_path / checkpoints.NETWORKS).exists():
            raise KeyboardInterrupt

    asked = Experiment("tiny", "A tiny one", (case(),), (0,))
    with pytest.raises(KeyboardInterrupt):
        run([asked], tmp_path, device="cpu", workers=1, save_every=0.0, show=stop)
    said = CliRunner().invoke(app, ["status", "--out", str(tmp_path)]).output
    assert f"NMU multiply [7,10)/1, seed 0, is at step 8 of {2 * case().epoch}." in " ".join(said.split())
    assert "no run is unfinished" not in said
    run([asked], tmp_path, device="cpu", workers=1)
    said = CliRunner().invoke(app, ["status", "--out", str(tmp_path)]).output
    assert "No process is running here and no run is unfinished." in said


def test_what_is_stored_is_shown_without_the_images(tmp_path, monkeypatch, whole):
    stored = case(task=TINY.replace(source="mnist"))
    asked = Experiment("tiny", "A tiny one", (stored,), (0, 1))
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run tiny", torch.__version__)
        store.register(asked)
        store.save(dataclasses.replace(whole.results(), cases=[stored] * 2))
    monkeypatch.setenv("NALM_DATA", str(tmp_path / "nowhere"))
    assert run([asked], tmp_path, device="cpu").finished == 2
    with pytest.raises(NALMError, match="does not exist"):
        run([asked.replace(seeds=(0, 1, 2))], tmp_path, device="cpu")


@pytest.mark.parametrize(
    ("asked", "words"),
    [({"workers": -3}, "workers must be 1 or more.*got -3"), ({"save_every": -1.0}, "0 or more seconds")],
)
def test_numbers_that_make_no_sense_are_refused(asked, words, tmp_path):
    with pytest.raises(NALMError, match=words):
        run([Experiment("tiny", "A tiny one", (case(),), (0,))], tmp_path / "out", device="cpu", **asked)
    assert not (tmp_path / "out").exists()


def test_results_travel_as_files(tmp_path, whole):
    experiment = Experiment("tiny", "A tiny one", (case(),), (0, 1))
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run tiny", torch.__version__)
        store.register(experiment)
        store.save(whole.results())
    done = CliRunner().invoke(app, ["export", "--out", str(tmp_path), "--to", str(tmp_path / "files")])
    assert done.exit_code == 0, done.output
    about = json.loads((tmp_path / "files" / "tiny.json").read_text("utf-8"))
    assert about["cases"][0]["digits"]["source"] == "drawn"
