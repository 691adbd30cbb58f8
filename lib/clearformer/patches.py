"""Images to patches and back, in torch: a batch of images becomes a batch of token sequences."""

from jaxtyping import Float
from torch import Tensor

from clearformer.checks import check_whole
from clearformer.shapes import shaped


@shaped
def patchify(images: Float[Tensor, "B C rows columns"], size: int) -> Float[Tensor, "B N P"]:
    """Cut every image into squares of ``size`` × ``size`` pixels, one row of the result per patch.

    The order is that of ``clearformer.reference.tokens.patches``, and of the weights of ``torch.nn.Conv2d``.

    Source: turner-v2, figure 2; Dosovitskiy et al. 2021.
    Raises: ValueError if ``size`` does not divide both sides of the images.
    """
    size = check_whole("patchify", "size", size)
    B, C, rows, columns = images.shape
    if rows % size or columns % size:
        raise ValueError(
            f"patchify: size={size} does not divide images of {rows} × {columns} pixels. "
            "Choose a divisor of both sides, or crop the images."
        )
    cells = images.reshape(B, C, rows // size, size, columns // size, size)
    return cells.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)


@shaped
def unpatchify(patches: Float[Tensor, "B N P"], size: int, rows: int) -> Float[Tensor, "B C height width"]:
    """Put patches back into images; the inverse of ``patchify``. ``rows`` is the number of patches from top to bottom.

    Source: turner-v2, figure 2, read backwards.
    Raises: ValueError if the patches do not fill ``rows`` rows, or do not hold whole channels.
    """
    size = check_whole("unpatchify", "size", size)
    rows = check_whole("unpatchify", "rows", rows)
    B, N, P = patches.shape
    if N % rows or P % (size * size):
        raise ValueError(
            f"unpatchify: {N} patches of {P} numbers do not fill {rows} rows of patches of {size} × {size} pixels. "
            "Pass the size that patchify was given and the number of patch rows it made."
        )
    cells = patches.reshape(B, rows, N // rows, P // size**2, size, size)
    return cells.permute(0, 3, 1, 4, 2, 5).reshape(B, P // size**2, rows * size, -1)
