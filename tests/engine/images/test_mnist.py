"""MNIST's files: read, checked, and refused with one sentence when anything is wrong."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from nalm.engine.images import mnist
from nalm.errors import NALMError

SMALL = {"train-images-idx3-ubyte": (5, 28, 28), "train-labels-idx1-ubyte": (5,)}
SMALL |= {"t10k-images-idx3-ubyte": (2, 28, 28), "t10k-labels-idx1-ubyte": (2,)}


def idx(array):
    sizes = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with four small files, and their checksums in place of the published ones."""
    source, files = np.random.RandomState(1), {}
    for i, (name, shape) in enumerate(SMALL.items()):
        content = idx(source.randint(0, 10, shape).astype(np.uint8))
        files[name] = (shape, hashlib.sha256(content).hexdigest())
        if i % 2:
            (tmp_path / name).write_bytes(content)
        else:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
    monkeypatch.setattr(mnist, "FILES", files)
    return tmp_path


def refused(place):
    with pytest.raises(NALMError) as caught:
        mnist.load(place)
    assert str(caught.value).count("\n") == 0
    return str(caught.value)


def test_plain_and_compressed_files_are_read_alike(place):
    found = mnist.load(place)
    assert found.train.shape == (5, 28, 28) and found.test_digits.shape == (2,)
    assert found.train[0, 0, :3].tolist() == np.random.RandomState(1).randint(0, 10, 3).tolist()


def test_a_missing_file_is_named_with_where_it_belongs(place):
    (place / "t10k-labels-idx1-ubyte").unlink()
    said = refused(place)
    assert "has no t10k-labels-idx1-ubyte" in said and str(place) in said and "--data" in said


def test_a_file_that_was_cut_off_is_refused(place):
    path = place / "train-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    assert "12 bytes where 13 belong" in refused(place)


def test_a_compressed_file_that_was_cut_off_is_refused(place):
    path = place / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-20])
    assert "cannot be read" in refused(place)


def test_files_that_were_swapped_are_refused(place):
    (place / "train-labels-idx1-ubyte").write_bytes((place / "t10k-labels-idx1-ubyte").read_bytes())
    assert "holds an array of (2,), not of (5,)" in refused(place)


def test_labels_in_place_of_images_are_refused(place):
    content = (place / "train-labels-idx1-ubyte").read_bytes()
    (place / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(content))
    assert "begins with 0x00000801, not 0x00000803" in refused(place)


def test_one_changed_byte_is_noticed(place):
    path = place / "train-labels-idx1-ubyte"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    assert "SHA-256" in refused(place)


@pytest.mark.parametrize(
    ("place_of_the_byte", "words"),
    [(-8, "CRC check failed"), (-4, "Incorrect length"), (2, "compression method")],
)
def test_a_changed_byte_of_a_compressed_file_is_called_damage(place, place_of_the_byte, words):
    path = place / "train-images-idx3-ubyte.gz"
    content = bytearray(path.read_bytes())
    content[place_of_the_byte] ^= 1
    path.write_bytes(bytes(content))
    said = refused(place)
    assert (
        f"{path} is damaged (" in said and words in said and said.endswith("copy it again from its source.")
    )


def test_something_else_under_the_name_is_refused(place):
    (place / "train-labels-idx1-ubyte").write_bytes(b"x")
    assert "is no IDX file" in refused(place)
    (place / "train-images-idx3-ubyte.gz").write_bytes(b"not compressed")
    assert "is not compressed: rename it to train-images-idx3-ubyte" in refused(place)


def test_an_empty_file_and_a_compressed_one_without_its_ending_are_told_apart(place):
    path = place / "train-labels-idx1-ubyte"
    content = path.read_bytes()
    path.write_bytes(b"")
    assert "is empty: copy it again" in refused(place)
    path.write_bytes(gzip.compress(content))
    assert "is compressed: rename it to train-labels-idx1-ubyte.gz" in refused(place)


def test_a_file_in_place_of_the_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NALMError, match="which is a file: name one that holds train-images"):
        mnist.folder(tmp_path / "file")


def test_without_a_folder_the_error_says_what_to_put_where(monkeypatch, tmp_path):
    monkeypatch.delenv("NALM_DATA", raising=False)
    with pytest.raises(
        NALMError, match=r"put train-images-idx3-ubyte.*--data DIR or NALM_DATA=DIR.*downloaded"
    ):
        mnist.folder()
    with pytest.raises(NALMError, match=r"--data names the folder .*does not exist"):
        mnist.folder(tmp_path / "nowhere")
    monkeypatch.setenv("NALM_DATA", str(tmp_path / "other"))
    with pytest.raises(NALMError, match=r"NALM_DATA names the folder .*other, which does not exist"):
        mnist.folder()


def test_the_argument_comes_before_the_variable(monkeypatch, tmp_path):
    for name in ("said", "variable"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("NALM_DATA", str(tmp_path / "variable"))
    assert mnist.folder() == tmp_path / "variable"
    assert mnist.folder(tmp_path / "said") == tmp_path / "said"


def test_the_published_files_are_what_they_are():
    try:
        place: Path = mnist.folder()
    except NALMError as error:
        pytest.skip(str(error))
    found = mnist.load(place)
    assert found.train_digits[:5].tolist() == [5, 0, 4, 1, 9] and found.test_digits[:3].tolist() == [7, 2, 1]
    assert abs(found.train.mean() / 255 - 0.1307) < 1e-4 and abs(found.train.std() / 255 - 0.3081) < 1e-4


def test_drawn_digits_are_the_same_every_time_and_differ_from_one_another():
    one, two = mnist.drawn(3, 1), mnist.drawn(3, 1)
    assert (one.train == two.train).all() and one.train.dtype == np.uint8
    middle = np.stack([mnist.drawn(40, 1).train[d::10].mean(0) for d in range(10)])
    apart = np.abs(middle[:, None] - middle[None]).mean((-2, -1))
    assert (apart[~np.eye(10, dtype=bool)] > 3).all()
    assert (one.train[10] != one.train[0]).any()  # of the same digit
