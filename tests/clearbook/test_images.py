"""A folder of pictures: labels, order, the central square, transparency, and errors that name the culprit."""

import numpy as np
import pytest
import torch
from clearbook.data.images import image_folder
from PIL import Image


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path)


@pytest.fixture
def pictures(tmp_path):
    save(tmp_path / "dogs" / "2.png", np.full((4, 4), 51))
    save(tmp_path / "dogs" / "1.png", np.full((4, 4), 255))
    save(tmp_path / "cats" / "1.png", np.zeros((4, 4)))
    return tmp_path


def test_folders_are_labels_in_the_order_of_their_names(pictures):
    """Catches labels in the order of the file system, and pictures that lose their label."""
    images, labels, names = image_folder(pictures, 2)
    assert images.shape == (3, 1, 2, 2) and images.dtype == torch.float32
    assert names == ["cats", "dogs"] and labels.tolist() == [0, 1, 1]
    assert images[:, 0, 0, 0].tolist() == pytest.approx([0.0, 1.0, 0.2])


def test_the_central_square_is_kept_and_averaged(pictures):
    """Catches a picture that is squeezed instead of cut, and rows that change places with columns."""
    wide = np.zeros((4, 8))
    wide[:2, 2:4] = 255
    wide[:, :2] = wide[:, 6:] = 153  # outside of the square
    save(pictures / "cats" / "1.png", wide)
    (first, *_), *_ = image_folder(pictures, 2)
    assert first.tolist() == [[[1.0, 0.0], [0.0, 0.0]]]


def test_colours_become_channels(pictures):
    save(pictures / "cats" / "1.png", np.tile([255, 51, 0], (4, 4, 1)))
    images, *_ = image_folder(pictures, 4, n_channels=3)
    assert images.shape == (3, 3, 4, 4)
    assert images[0, :, 1, 2].tolist() == pytest.approx([1.0, 0.2, 0.0])
    assert images[1, :, 1, 2].tolist() == [1.0, 1.0, 1.0]


def test_what_is_transparent_is_white(pictures):
    save(pictures / "cats" / "1.png", np.zeros((4, 4, 4)))
    assert image_folder(pictures, 2)[0][0].min() == 1.0


def test_a_photograph_taken_sideways_is_turned(pictures):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show it a quarter turn clockwise
    pixels = np.zeros((4, 4), dtype=np.uint8)
    pixels[:2, :2] = 255  # top left in the file, top right upright
    Image.fromarray(pixels).save(pictures / "cats" / "1.png", exif=exif)
    assert image_folder(pictures, 2)[0][0].tolist() == [[[0.0, 1.0], [0.0, 0.0]]]


def test_grey_in_16_bits_is_scaled_and_fractions_are_refused(pictures):
    """Catches all from 255 on made white, and 0 to 1 made black."""
    Image.fromarray(np.full((4, 4), 257 * 102, dtype=np.uint16)).save(pictures / "cats" / "1.png")
    assert image_folder(pictures, 2)[0][0].unique().tolist() == pytest.approx([0.4])
    Image.fromarray(np.full((4, 4), 0.5, dtype=np.float32)).save(pictures / "cats" / "2.tiff")
    with pytest.raises(ValueError, match=r"pixels of '.*2\.tiff' are fractions"):
        image_folder(pictures, 2)


def test_hidden_files_are_passed_over(pictures):
    (pictures / ".cache").mkdir()
    (pictures / "cats" / ".DS_Store").write_text("no picture")
    (pictures / "readme.txt").write_text("no label")
    assert image_folder(pictures, 2)[2] == ["cats", "dogs"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder '.*nowhere'"):
        image_folder(tmp_path / "nowhere", 8)


def test_one_label_is_too_few(tmp_path):
    save(tmp_path / "cats" / "1.png", np.zeros((4, 4)))
    with pytest.raises(ValueError, match="holds 1 folders, expected at least two"):
        image_folder(tmp_path, 8)


def test_a_label_without_a_picture_is_named(pictures):
    (pictures / "birds").mkdir()
    with pytest.raises(ValueError, match="no picture in birds"):
        image_folder(pictures, 8)


def test_a_file_that_is_no_picture_is_named(pictures):
    (pictures / "cats" / "notes.txt").write_text("meow")
    with pytest.raises(ValueError, match=r"notes\.txt' cannot be read as a picture"):
        image_folder(pictures, 8)


def test_a_folder_in_the_place_of_a_picture_is_named(pictures):
    (pictures / "cats" / "old").mkdir()
    with pytest.raises(ValueError, match="old' is a folder"):
        image_folder(pictures, 8)


@pytest.mark.parametrize(("size", "n_channels", "shown"), [(0, 1, "size=0"), (8, 2, "n_channels=2")])
def test_sizes_that_make_no_sense_are_refused(pictures, size, n_channels, shown):
    with pytest.raises(ValueError, match=shown):
        image_folder(pictures, size, n_channels=n_channels)
