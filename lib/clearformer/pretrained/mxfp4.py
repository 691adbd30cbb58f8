"""Weights of 4 bits: blocks of 32 numbers with one exponent for all, as gpt-oss is published, unpacked to bfloat16."""

import torch
from torch import Tensor

BLOCKS, SCALES = "_blocks", "_scales"
MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # of the lower three bits; the fourth is the sign
BIAS = 127  # of the exponents


def unpacked(options: dict, theirs: dict[str, Tensor]) -> tuple[dict, dict[str, Tensor]]:
    """With one weight for each pair of blocks and scales, where ``config.json`` says that there are such.

    Raises: ValueError for blocks without scales, or scales that do not fit.
    """
    quantised = options.get("quantization_config")
    if not isinstance(quantised, dict) or quantised.get("quant_method") != "mxfp4":
        return options, theirs
    names = [name.removesuffix(BLOCKS) for name in theirs if name.endswith(BLOCKS)]
    weights = {name: tensor for name, tensor in theirs.items() if not name.endswith((BLOCKS, SCALES))}
    for name in names:
        weights[name] = _weight(name, theirs[name + BLOCKS], theirs.get(name + SCALES))
    return {key: value for key, value in options.items() if key != "quantization_config"}, weights


def _weight(name: str, blocks: Tensor, scales: Tensor | None) -> Tensor:
    if (
        scales is None
        or {blocks.dtype, scales.dtype} != {torch.uint8}
        or blocks.ndim != 4
        or (blocks.shape[:-1] != scales.shape)
    ):
        came = "none" if scales is None else f"{scales.dtype} of shape {tuple(scales.shape)}"
        raise ValueError(
            f"from_pretrained: {name}{BLOCKS} is {blocks.dtype} of shape {tuple(blocks.shape)}, its scales are {came}, "
            "expected bytes of four axes, and a scale for each block. Take an intact copy."
        )
    return dequantise(blocks, scales).transpose(1, 2).contiguous()  # E rows columns -> E columns rows


def dequantise(blocks: Tensor, scales: Tensor) -> Tensor:
    r"""The numbers of bytes of shape (..., blocks, bytes), two in each, the one in the lower bits first.

    .. math:: w = (-1)^s \, m \, 2^{e - 127}

    with a sign and one of eight magnitudes m in four bits, and the exponent e of the block, a byte in ``scales``.

    Source: Rouhani et al. 2023 (OCP Microscaling Formats 1.0), sections 5.2 and 5.3.3.
    """
    table = torch.tensor([sign * m for sign in (1.0, -1.0) for m in MAGNITUDES], device=blocks.device)
    numbers = table[torch.stack((blocks & 15, blocks >> 4), -1).flatten(-2).int()]
    exponents = scales.int()[..., None] - BIAS
    return torch.ldexp(numbers, exponents).flatten(-2).to(torch.bfloat16)
