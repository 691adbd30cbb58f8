"""Weights of 4 bits: every number and exponent by hand and as another library has them, and a gpt-oss made of them."""

import pytest
import torch
from clearformer.pretrained import from_tensors
from clearformer.pretrained.mxfp4 import dequantise

from tests.clearformer.decoders import CASES, theirs_of

MXFP4 = {"quantization_config": {"quant_method": "mxfp4"}}


def test_every_pair_of_numbers_and_every_exponent_is_right():
    """By hand: sign, two bits of exponent around 1, one bit of fraction, without infinities."""
    found = dequantise(torch.arange(256, dtype=torch.uint8).view(8, 32), torch.arange(120, 128, dtype=torch.uint8))
    for byte in range(256):
        block, place = divmod(byte, 32)
        for half, bits in enumerate((byte % 16, byte // 16)):
            sign, exponent, fraction = (-1) ** (bits // 8), bits // 2 % 4, bits % 2
            number = sign * (fraction / 2 if exponent == 0 else (1 + fraction / 2) * 2 ** (exponent - 1))
            assert found.view(8, 64)[block, 2 * place + half].item() == number * 2.0 ** (block - 7)


def test_it_is_computed_where_the_bytes_are():
    """Catches a table that is made on another device: a GPU would refuse it, as the device without numbers does."""
    there = dequantise(*(torch.zeros(2, 3, *axes, dtype=torch.uint8, device="meta") for axes in ((16,), ())))
    assert (there.device.type, there.shape) == ("meta", (2, 96))


def test_it_is_what_transformers_makes_of_them():
    from transformers.integrations import mxfp4  # takes seconds

    blocks = torch.randint(256, (3, 6, 4, 16), dtype=torch.uint8)
    scales = torch.randint(100, 150, (3, 6, 4), dtype=torch.uint8)
    expected = mxfp4._convert_moe_packed_tensors(blocks, scales)
    assert torch.equal(dequantise(blocks, scales).transpose(1, 2), expected)


@torch.no_grad()
def test_a_gpt_oss_of_four_bits_is_that_of_its_unpacked_weights():
    case = next(case for case in CASES if case.kind == "gpt_oss")
    case = case._replace(options=case.options | {"intermediate_size": 32})  # of which a block has 32
    theirs = theirs_of(case, torch.bfloat16)
    tensors = dict(theirs.state_dict())
    for name in [name for name in tensors if name.endswith(("gate_up_proj", "down_proj"))]:
        E, columns, rows = tensors[name].shape
        blocks = torch.randint(256, (E, rows, columns // 32, 16), dtype=torch.uint8)
        scales = torch.randint(123, 127, (E, rows, columns // 32), dtype=torch.uint8)
        theirs.get_parameter(name).copy_(dequantise(blocks, scales).transpose(1, 2))
        del tensors[name]
        tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
    options = theirs.config.to_dict() | MXFP4
    ours, plain = from_tensors(options, tensors), from_tensors(theirs.config.to_dict(), theirs.state_dict())
    assert all(torch.equal(ours.state_dict()[name], weight) for name, weight in plain.state_dict().items())
    name = next(name for name in tensors if name.endswith("_scales"))
    with pytest.raises(ValueError, match="its scales are none, expected"):
        from_tensors(options, {key: tensor for key, tensor in tensors.items() if key != name})
    with pytest.raises(ValueError, match=r"its scales are torch\.uint8 of shape .*Take an intact copy"):
        from_tensors(options, tensors | {name: tensors[name][:1]})
