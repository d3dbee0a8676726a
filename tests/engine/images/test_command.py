"""Image experiments from the command line."""

import numpy as np
from typer.testing import CliRunner

from nalm.cli import app
from nalm.errors import NALMError
from nalm.results.store import Store


def test_the_command_line_trains_and_says_accuracies(tmp_path):
    out = ["--out", str(tmp_path), "--device", "cpu", "--workers", "1"]
    words = ["run", "mnist/smoke", "--only", "unit=NMU", "--steps", "2", *out]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "Accuracy of outputs: mean over one fold" in done.output and "test %" in done.output
    with Store(tmp_path) as store:
        (o,) = store.outcomes("mnist/smoke")
    assert o.steps == 2 and np.isfinite(o.test)


def test_epochs_are_for_images_alone_and_one_word_says_how_long(tmp_path):
    invoke = CliRunner().invoke
    refused = invoke(app, ["run", "quick", "--epochs", "2", "--out", str(tmp_path)])
    assert isinstance(refused.exception, NALMError) and "has no epochs" in str(refused.exception)
    refused = invoke(app, ["run", "mnist/smoke", "--epochs", "2", "--steps", "2", "--out", str(tmp_path)])
    assert "exclude each other" in str(refused.exception)


def test_missing_files_are_told_before_anything_is_trained(tmp_path):
    words = ["run", "mnist/product", "--data", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, NALMError) and "does not exist" in str(done.exception)
    assert not (tmp_path / "out").exists()
