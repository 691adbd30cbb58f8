"""A folder of pictures as tensors: your own images in the form in which ``data.digits`` gives the digits."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

Labelled = tuple[Float[Tensor, "B C rows columns"], Int[Tensor, "B"], list[str]]


def image_folder(folder: str | Path, size: int, *, n_channels: int = 1) -> Labelled:
    """The pictures in the folders inside ``folder``, with values from 0 to 1, their labels, and the labels' names.

    The name of a folder is the label of the pictures in it. Each picture is cut to its central square and scaled to
    ``size`` × ``size`` pixels; what is transparent becomes white. Names are sorted, hidden files are passed over.

    Raises: FileNotFoundError if there is no such folder; ValueError for fewer than two labels, a label without a
    picture, a file that is no picture or whose pixels are fractions, or sizes that make no sense.
    """
    folder = Path(folder)
    if size < 1 or n_channels not in (1, 3):
        raise ValueError(
            f"image_folder: size={size} and n_channels={n_channels}, expected at least one pixel, and 1 channel for "
            "grey or 3 for colour."
        )
    if not folder.is_dir():
        raise FileNotFoundError(f"image_folder: there is no folder {str(folder)!r}. Check the name, and where you are.")
    labels = [inside for inside in _visible_files(folder) if inside.is_dir()]
    if len(labels) < 2:
        raise ValueError(
            f"image_folder: {str(folder)!r} holds {len(labels)} folders, expected at least two, one for each label: "
            "cats/1.png, cats/2.png, dogs/1.png. Sort the pictures into folders."
        )
    files = [_visible_files(label) for label in labels]
    empty = [label.name for label, found in zip(labels, files, strict=True) if not found]
    if empty:
        raise ValueError(f"image_folder: no picture in {', '.join(empty)}. Add some, or delete the folder.")
    images = torch.stack([_picture(path, size, n_channels) for found in files for path in found])
    numbers = [number for number, found in enumerate(files) for _ in found]
    return images, torch.tensor(numbers), [label.name for label in labels]


def _visible_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _picture(path: Path, size: int, n_channels: int) -> Tensor:
    """One picture upright, on white, square and scaled."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as file:
            picture = ImageOps.exif_transpose(file)
            if picture.mode.startswith("I"):  # grey in 16 bits, of which PIL would make all from 255 on white
                picture = Image.fromarray((np.asarray(picture) // 257).clip(0, 255).astype(np.uint8))
            mode, picture = picture.mode, picture.convert("RGBA")
    except (UnidentifiedImageError, OSError) as error:
        what = "is a folder" if path.is_dir() else "cannot be read as a picture"
        raise ValueError(f"image_folder: {str(path)!r} {what}. Convert it, or move it elsewhere.") from error
    if mode == "F":
        raise ValueError(f"image_folder: pixels of {str(path)!r} are fractions, expected whole numbers. Convert it.")
    paper = Image.new("RGBA", picture.size, "white")
    picture = Image.alpha_composite(paper, picture).convert("L" if n_channels == 1 else "RGB")
    values = np.asarray(ImageOps.fit(picture, (size, size), Image.Resampling.BOX), dtype=np.float32) / 255
    return torch.as_tensor(values).reshape(size, size, n_channels).permute(2, 0, 1)
