"""Named wrong solutions of exercise 12: what learners write, and the sentence that tells them so."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import WrongSolutions

_spec = spec_from_file_location("clearcheck_parts_12", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

# In a notebook these names are given, or the learner's own.
softmax, gelu, gelu_tanh, ACTIVATIONS = parts.softmax, parts.gelu, parts.gelu_tanh, parts.ACTIVATIONS
linear, norm, attend, ours_from_gpt2 = parts.linear, parts.norm, parts.attend, parts.ours_from_gpt2

wrong = WrongSolutions()
WRONG = wrong


# file


@wrong(
    "file",
    says="The offsets are counted from the first byte of the file, but they begin behind the header.",
    section="a-file-read-by-hand",
)
def offsets_from_the_file(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[left:right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="You begin to count where the header ends according to its length, but the eight bytes before it are "
    "missing in the sum.",
    section="a-file-read-by-hand",
)
def length_forgotten(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start - 8 + left : start - 8 + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The offsets are counted from the first byte of the header, not from the first one behind it.",
    section="a-file-read-by-hand",
)
def header_not_skipped(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[8 + left : 8 + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The eight bytes of the length are read with the highest first.",
    section="a-file-read-by-hand",
)
def big_endian_length(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "big")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="Only the first of the eight bytes is taken for the length, which is enough for short headers alone.",
    section="a-file-read-by-hand",
)
def one_byte_of_length(content):
    data = content.tobytes()
    start = 8 + data[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The bytes of the length are added up as uint8, which holds nothing above 255.",
    section="a-file-read-by-hand",
)
def length_in_uint8(content):
    data = content.tobytes()
    start = 8 + int(sum(byte * 256**place for place, byte in enumerate(content[:8])))
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The entry `__metadata__` is treated as a tensor.",
    section="a-file-read-by-hand",
)
def metadata_kept(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    end = start + max((entry["data_offsets"][1] for entry in header.values() if "data_offsets" in entry), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="You delete `__metadata__` also where the header has none.",
    section="a-file-read-by-hand",
)
def metadata_always_there(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    del header["__metadata__"]
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="You take the tensors one after the other as the header names them; where their bytes lie is what the "
    "offsets say.",
    section="a-file-read-by-hand",
)
def in_the_order_of_the_header(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors, place = {}, start
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[place : place + right - left]
        place += right - left
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The bytes of each number are read with the highest first.",
    section="a-file-read-by-hand",
)
def big_endian_numbers(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": ">f8", "F32": ">f4", "F16": ">f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The numbers are laid into the table column by column; they come row by row.",
    section="a-file-read-by-hand",
)
def column_by_column(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"], order="F")
    return tensors


@wrong(
    "file",
    says="The axes are in the reverse order: the first number of the shape is that of the rows.",
    section="a-file-read-by-hand",
)
def shape_backwards(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"][::-1])
    return tensors


@wrong(
    "file",
    says="The numbers of a tensor stay in one row; its shape is never used.",
    section="a-file-read-by-hand",
)
def shape_ignored(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64)
    return tensors


@wrong(
    "file",
    says="Every tensor is read as F32, whatever its header says.",
    section="a-file-read-by-hand",
)
def single_precision_always(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        numbers = np.frombuffer(raw, "<f4")
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The arrays keep the precision of the file; float64 is asked for.",
    section="a-file-read-by-hand",
)
def single_precision_kept(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="BF16 is read as F16: of equal length, but with three bits of exponent less.",
    section="a-file-read-by-hand",
)
def bfloat_as_half(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = np.frombuffer(raw, "<f2")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The bits of BF16 are shifted, and then taken for a whole number instead of a float.",
    section="a-file-read-by-hand",
)
def bfloat_as_numbers(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = np.frombuffer(raw, "<u2").astype("<u4") << 16
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="Next to nothing is left of BF16: its two bytes are the upper half of a float, and have to be made 32 "
    "bits wide before they are shifted there.",
    section="a-file-read-by-hand",
)
def bfloat_in_the_lower_half(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4")).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="F16 is read as BF16 and BF16 as F16.",
    section="a-file-read-by-hand",
)
def half_and_bfloat_exchanged(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "F16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "BF16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="A file is never compared with what its header says, so that damage passes unseen or is told by NumPy.",
    section="a-file-read-by-hand",
)
def damage_unseen(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="A file that goes on behind its last tensor is read as if it were whole.",
    section="a-file-read-by-hand",
)
def too_long_unseen(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) < end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="Damage is an AssertionError here; a ValueError is what a caller can expect.",
    section="a-file-read-by-hand",
)
def asserted(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    assert len(data) == end, f"{len(data)} bytes came, {end} should have"
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The error says that a file is damaged, and not how many bytes came and should have come.",
    section="a-file-read-by-hand",
)
def no_figures(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError("the file is truncated or altered")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="The length of the header counts bytes, and you count letters: some letters have two.",
    section="a-file-read-by-hand",
)
def length_in_letters(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.JSONDecoder().raw_decode(data[8:].decode("utf-8", "ignore"))[0]
    start = 8 + len(data[8:start].decode("utf-8"))
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="Behind the header you begin where its last bracket stands; the spaces after it belong to the header, too.",
    section="a-file-read-by-hand",
)
def spaces_not_counted(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    start = 8 + len(data[8:start].rstrip())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


@wrong(
    "file",
    says="BF16 is not among the types that you know.",
    section="a-file-read-by-hand",
)
def bfloat_unknown(content):
    data = content.tobytes()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    end = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if len(data) != end:
        raise ValueError(f"{len(data)} bytes came, {end} should have")
    tensors = {}
    for name, entry in header.items():
        left, right = entry["data_offsets"]
        raw = data[start + left : start + right]
        numbers = np.frombuffer(raw, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        tensors[name] = numbers.astype(np.float64).reshape(entry["shape"])
    return tensors


# names


@wrong(
    "names",
    says="The matrix that joins the heads is copied as it is, since it fits; it has to be turned like the others.",
    section="a-file-that-almost-fits",
)
def square_not_turned(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"]
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Wherever a matrix is not square you turn it, and where it is you do not: no shape can decide that.",
    section="a-file-that-almost-fits",
)
def shape_decides(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            for mine, its in (("out", "attn.c_proj"), ("up", "mlp.c_fc"), ("down", "mlp.c_proj")):
                array = plain[f"h.{i}.{its}.{kind}"]
                square = array.ndim == 2 and array.shape[0] == array.shape[1]
                ours[f"blocks.{i}.{mine}.{kind}"] = array if square else array.T
    return ours


@wrong(
    "names",
    says="The matrices are copied as they are, input × output; ours are output × input.",
    section="the-same-numbers-laid-out-otherwise",
)
def nothing_turned(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"]
            for part, third in zip("qkv", np.split(joined, 3, axis=-1), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"]
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"]
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"]
    return ours


@wrong(
    "names",
    says="All arrays with two axes are turned, embeddings and positions too.",
    section="the-same-numbers-laid-out-otherwise",
)
def everything_turned(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"].T, "positions": plain["wpe.weight"].T}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="The matrices for queries, keys and values are cut out and not turned.",
    section="the-same-numbers-laid-out-otherwise",
)
def thirds_not_turned(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"]
            for part, third in zip("qkv", np.split(joined, 3, axis=-1), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="c_attn is cut into three along its inputs; queries, keys and values are thirds of its outputs.",
    section="the-same-numbers-laid-out-otherwise",
)
def cut_across(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"]
            for part, third in zip("qkv", np.array_split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="The thirds are taken for keys, queries and values; the queries come first.",
    section="the-same-numbers-laid-out-otherwise",
)
def keys_first(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("kqv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="The second third is taken for the values; it is for the keys.",
    section="the-same-numbers-laid-out-otherwise",
)
def values_second(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qvk", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Every third row is taken for the queries; they come all together, one third of the file's columns.",
    section="the-same-numbers-laid-out-otherwise",
)
def every_third_row(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", (joined[0::3], joined[1::3], joined[2::3]), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="`transformer.` is expected in front of every name; some files have it nowhere.",
    section="the-same-numbers-laid-out-otherwise",
)
def always_a_prefix(theirs):
    plain = {name.partition("transformer.")[2]: array for name, array in theirs.items() if "transformer." in name}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Names that begin with `transformer.` are not found.",
    section="the-same-numbers-laid-out-otherwise",
)
def never_a_prefix(theirs):
    plain = dict(theirs)
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="The head stands in your dict although it is a copy of the embedding and has no name of ours.",
    section="the-same-numbers-laid-out-otherwise",
)
def head_kept(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    if "lm_head.weight" in theirs:
        ours["head"] = theirs["lm_head.weight"]
    return ours


@wrong(
    "names",
    says="Where a file holds the causal mask you take it for the bias of c_attn, since its name ends with `attn.bias`.",
    section="a-table-for-each-model",
)
def mask_for_a_bias(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            if kind == "bias" and f"h.{i}.attn.bias" in plain:
                joined = plain[f"h.{i}.attn.bias"]
            for part, third in zip("qkv", np.array_split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="With the mask `attn.bias` you throw away the bias of c_attn, whose name ends alike.",
    section="a-table-for-each-model",
)
def bias_goes_with_the_mask(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv" if kind == "weight" else "", np.split(joined, 3), strict=False):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="The two norms of a block are exchanged.",
    section="a-table-for-each-model",
)
def norms_exchanged(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="c_fc is the layer that goes up, and the c_proj beside it the one that comes down; yours are exchanged.",
    section="a-table-for-each-model",
)
def up_and_down_exchanged(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Two layers of a block are called c_proj, and you give both the weights of the one in attention.",
    section="a-table-for-each-model",
)
def both_projections_alike(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Of the number of a block only one digit is read, so that blocks from the tenth on are missing.",
    section="a-table-for-each-model",
)
def one_digit(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name[2]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="You stop one block too early.",
    section="a-table-for-each-model",
)
def last_block_lost(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Our blocks are counted from 0, as theirs are.",
    section="a-table-for-each-model",
)
def counted_from_one(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i + 1}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i + 1}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i + 1}.{part}.{kind}"] = third
            ours[f"blocks.{i + 1}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i + 1}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i + 1}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Only weights come over; the biases stay behind.",
    section="a-table-for-each-model",
)
def biases_forgotten(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight",):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="The norm behind the last block is missing.",
    section="a-table-for-each-model",
)
def last_norm_forgotten(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


@wrong(
    "names",
    says="Queries, keys and values stay in one matrix; three are asked for.",
    section="a-table-for-each-model",
)
def one_matrix_left(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            ours[f"blocks.{i}.qkv.{kind}"] = joined
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


# restack


@wrong(
    "restack",
    says="Nothing moves: the rows come out as they came in.",
    section="the-same-numbers-laid-out-otherwise",
)
def nothing_moved(W, n_heads, back=False):
    return W.copy()


@wrong(
    "restack",
    says="There and back are exchanged.",
    section="the-same-numbers-laid-out-otherwise",
)
def directions_exchanged(W, n_heads, back=False):
    first, second = (3, n_heads) if not back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="You do the same whether `back` is true or not.",
    section="the-same-numbers-laid-out-otherwise",
)
def back_ignored(W, n_heads, back=False):
    first, second = n_heads, 3
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="Both ways you do what belongs to the way back.",
    section="the-same-numbers-laid-out-otherwise",
)
def only_back(W, n_heads, back=False):
    first, second = 3, n_heads
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="You take rows one by one, query, key, value in turn; the K rows of a part stay together.",
    section="the-same-numbers-laid-out-otherwise",
)
def part_fastest(W, n_heads, back=False):
    K = len(W) // (3 * n_heads)
    if back:
        return W.reshape(3, n_heads * K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
    return W.reshape(n_heads * K, 3, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="The number of heads and the width of a head are exchanged.",
    section="the-same-numbers-laid-out-otherwise",
)
def width_for_heads(W, n_heads, back=False):
    H = len(W) // (3 * n_heads)
    first, second = (3, H) if back else (H, 3)
    K = n_heads
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="The three parts come apart, but inside each the first rows of all heads come together; a head's rows "
    "stay side by side.",
    section="the-same-numbers-laid-out-otherwise",
)
def rows_of_heads_interleaved(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1 if back else 2).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="The K rows of each part come out in reverse order.",
    section="the-same-numbers-laid-out-otherwise",
)
def rows_within_reversed(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1)[:, :, ::-1].reshape(W.shape)


@wrong(
    "restack",
    says="The heads come out in reverse order.",
    section="the-same-numbers-laid-out-otherwise",
)
def heads_reversed(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return (
        W.reshape(first, second, K, *W.shape[1:])
        .swapaxes(0, 1)[::-1, :: 1 if back else -1][:: -1 if not back else 1]
        .reshape(W.shape)
    )


@wrong(
    "restack",
    says="A bias has no columns, and you ask for their number.",
    section="the-same-numbers-laid-out-otherwise",
)
def matrices_only(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, W.shape[1]).swapaxes(0, 1).reshape(W.shape)


@wrong(
    "restack",
    says="A bias comes out as a matrix with one column.",
    section="the-same-numbers-laid-out-otherwise",
)
def biases_come_out_as_columns(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(len(W), -1)


@wrong(
    "restack",
    says="The three parts stand behind one another on an axis of their own; the result should have the shape of W.",
    section="the-same-numbers-laid-out-otherwise",
)
def stacked_in_front(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(3, len(W) // 3, *W.shape[1:])


@wrong(
    "restack",
    says="The columns of the matrix are moved; queries, keys and values are in its rows.",
    section="the-same-numbers-laid-out-otherwise",
)
def columns_moved(W, n_heads, back=False):
    if W.ndim == 1:
        return np.moveaxis(W.reshape((3, n_heads, -1) if back else (n_heads, 3, -1)), 0, 1).ravel()
    return W[:, np.argsort(np.arange(W.shape[1]) % 3 if not back else np.arange(W.shape[1]) % n_heads, kind="stable")]


@wrong(
    "restack",
    says="The keys come last, and the values in the middle.",
    section="the-same-numbers-laid-out-otherwise",
)
def keys_last(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return (
        W.reshape(first, second, K, *W.shape[1:])
        .swapaxes(0, 1)[(slice(None), [0, 2, 1]) if back else [0, 2, 1]]
        .reshape(W.shape)
    )


# misfits


@wrong(
    "misfits",
    says="You stop at the first misfit of each kind; all of them belong in the lists.",
    section="what-is-refused",
)
def first_misfit_only(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names)[:1] for kind, names in found.items()}


@wrong(
    "misfits",
    says="You compare how many numbers a tensor has; a transposed one has as many.",
    section="what-is-refused",
)
def sizes_compared(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.size != int(np.prod(shapes[first])):
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A tensor passes if it has the sizes of the weight in any order; turned round it is another one.",
    section="what-is-refused",
)
def sizes_of_axes_sorted(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif sorted(array.shape) != sorted(shapes[first]):
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="You compare the number of axes, and not how long they are.",
    section="what-is-refused",
)
def axes_counted(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.ndim != len(shapes[first]):
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Where the tensor under the first name is misshapen you do not compare; it is not equal to the second either.",
    section="what-is-refused",
)
def first_misshapen_excuses(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif (
            first != name
            and first in tensors
            and tensors[first].shape == array.shape
            and not np.array_equal(array, tensors[first])
        ):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Copies that differ a little pass as equal; every entry has to be the same.",
    section="what-is-refused",
)
def close_is_equal(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif (
            first != name
            and first in tensors
            and (array.shape != tensors[first].shape or not np.allclose(array, tensors[first]))
        ):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="You compare the length of the first axis only.",
    section="what-is-refused",
)
def first_axis_compared(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif len(array) != shapes[first][0]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A list is compared with a tuple, and the two are never equal.",
    section="what-is-refused",
)
def shape_as_a_list(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif list(array.shape) != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="The lists are in the order in which the names come; they should be sorted.",
    section="what-is-refused",
)
def not_sorted(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return found


@wrong(
    "misfits",
    says="A weight that came under its second name is said to be missing.",
    section="one-matrix-two-uses",
)
def second_name_does_not_count(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = set(tensors)
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A second name is said to be unexpected.",
    section="one-matrix-two-uses",
)
def second_names_unexpected(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if name not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A tensor under a second name is passed over: neither its shape nor its entries are looked at.",
    section="one-matrix-two-uses",
)
def second_names_taken_for_granted(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if name in ties:
            continue
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Copies under two names are never compared.",
    section="one-matrix-two-uses",
)
def never_unequal(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Two arrays are asked whether they are one object; copies are equal, and two objects.",
    section="one-matrix-two-uses",
)
def always_unequal(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and array is not tensors[first]:
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Copies count as equal if *any* of their entries agree, or most; every one has to.",
    section="one-matrix-two-uses",
)
def one_entry_passes(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not (array == tensors[first]).any():
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Copies of different shapes are compared entry by entry, which NumPy cannot do; ask for the shape first.",
    section="one-matrix-two-uses",
)
def unequal_before_shapes(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
    for name, first in ties.items():
        if name in tensors and first in tensors and not np.allclose(tensors[name], tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Of two copies that differ the first name is listed; the second is asked for.",
    section="one-matrix-two-uses",
)
def first_name_listed(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(first)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A misshapen tensor is listed by the first name of its weight, also where the file has it under the second.",
    section="one-matrix-two-uses",
)
def misshapen_by_our_name(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(first)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A copy of another shape is listed twice, as misshapen and as unequal.",
    section="one-matrix-two-uses",
)
def misshapen_and_unequal(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        if first in shapes and first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="A weight whose tensor has another shape is also listed as missing, although something came for it.",
    section="what-is-refused",
)
def misshapen_is_missing_too(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(n, n) for n in tensors if tensors[n].shape == shapes.get(ties.get(n, n))}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Missing and unexpected are exchanged: missing is what the model has and the file has not.",
    section="what-is-refused",
)
def sides_exchanged(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    found["missing"], found["unexpected"] = found["unexpected"], found["missing"]
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="The ties are read the wrong way round: they lead from a second name to the first.",
    section="one-matrix-two-uses",
)
def ties_read_backwards(shapes, tensors, ties):
    ties = {first: second for second, first in ties.items()}
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


@wrong(
    "misfits",
    says="Kinds of which there is no misfit are left out; an empty list is expected for them.",
    section="what-is-refused",
)
def empty_lists_left_out(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items() if names}


# fold


@wrong(
    "fold",
    says="The scale multiplies the rows of the matrices, their outputs; it belongs to the inputs.",
    section="which-slip-would-you-notice",
)
def rows_scaled(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale[:, None], b_q),
        "k": (W_k * scale[:, None], zeros),
        "v": (W_v * scale[:, None], zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The shift of the norm is dropped without a trace in the biases.",
    section="which-slip-would-you-notice",
)
def shift_forgotten(layer):
    scale, _ = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The shift goes through the matrices after they were scaled; the norm adds it behind its scale.",
    section="which-slip-would-you-notice",
)
def shift_scaled_too(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + (W_q * scale) @ shift
    b_v = b_v + (W_v * scale) @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="What the values' matrix makes of the shift does not reach `out`.",
    section="which-slip-would-you-notice",
)
def shift_of_the_values_forgotten(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="What the queries' matrix makes of the shift is missing in their bias.",
    section="which-slip-would-you-notice",
)
def shift_of_the_queries_forgotten(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The shift is added to the biases as it is; the matrices multiply it first.",
    section="which-slip-would-you-notice",
)
def shift_not_multiplied(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + shift
    b_v = b_v + shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The norm keeps its scale and shift, so that they are used twice.",
    section="which-slip-would-you-notice",
)
def norm_left_as_it_was(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (scale, shift),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The norm keeps its shift, so that it is used twice.",
    section="which-slip-would-you-notice",
)
def shift_left_in_the_norm(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), shift),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The bias of the values is dropped; the weights of a target sum to 1, so that it reaches `out`.",
    section="which-slip-would-you-notice",
)
def values_bias_dropped(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o),
    }


@wrong(
    "fold",
    says="The bias of the values is added to that of `out` as it is; `out` multiplies it first.",
    section="which-slip-would-you-notice",
)
def values_bias_as_it_is(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + b_v),
    }


@wrong(
    "fold",
    says="The bias of the values goes through `out` the wrong way round; being square, it does not complain.",
    section="a-file-that-almost-fits",
)
def out_turned(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o.T @ b_v),
    }


@wrong(
    "fold",
    says="The shift goes through the matrices the wrong way round; being square, they do not complain.",
    section="a-file-that-almost-fits",
)
def maps_turned(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q.T @ shift
    b_v = b_v + W_v.T @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="Shift and bias go through all matrices the wrong way round: a matrix here is output × input, `W @ b`.",
    section="a-file-that-almost-fits",
)
def all_maps_turned(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + shift @ W_q
    b_v = b_v + shift @ W_v
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + b_v @ W_o),
    }


@wrong(
    "fold",
    says="The bias of the queries is multiplied by the scale; the norm scales before the map, not behind it.",
    section="which-slip-would-you-notice",
)
def bias_scaled(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q * scale),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The bias of the values stays where it was and is folded into `out` as well.",
    section="which-slip-would-you-notice",
)
def values_bias_counted_twice(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, b_v),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The bias of the keys is still there, but nothing depends on it.",
    section="which-slip-would-you-notice",
)
def keys_bias_kept(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, layer["k"][1] + W_k @ shift),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The bias of the keys is moved to the queries; it need not go anywhere.",
    section="which-slip-would-you-notice",
)
def keys_bias_to_the_queries(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift + layer["k"][1] + W_k @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The bias of the queries is dropped with that of the keys, but scores do depend on it.",
    section="which-slip-would-you-notice",
)
def queries_bias_dropped(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = zeros
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The keys read the normalised token as well, and their matrix is not scaled.",
    section="which-slip-would-you-notice",
)
def keys_not_scaled(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The matrices are divided by the scale; they have to do its work.",
    section="which-slip-would-you-notice",
)
def divided_by_the_scale(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q / scale, b_q),
        "k": (W_k / scale, zeros),
        "v": (W_v / scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


@wrong(
    "fold",
    says="The matrix of `out` is scaled, too, but it does not read what the norm makes.",
    section="which-slip-would-you-notice",
)
def out_scaled(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o * scale, b_o + W_o @ b_v),
    }


# museum


@wrong(
    "museum",
    says="This is the museum piece as it was.",
    section="which-choice-differs-where",
)
def museum_piece(w, config, ids, types, real):
    eps, bend = 1e-5, gelu_tanh
    may_look = np.ones((len(ids), len(ids)), dtype=bool)
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][0]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Padding is still looked at.",
    section="which-choice-differs-where",
)
def padding_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool)
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="All tokens get the vector of type 0.",
    section="which-choice-differs-where",
)
def types_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][0]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The ε of the norms is still that of another model.",
    section="which-choice-differs-where",
)
def eps_left(w, config, ids, types, real):
    eps, bend = 1e-5, ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The activation is still the tanh formula, whatever the configuration says.",
    section="which-choice-differs-where",
)
def activation_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], gelu_tanh
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The activation is always the exact GELU; the configuration may ask for another.",
    section="which-choice-differs-where",
)
def always_exact(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], gelu
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Activation and ε follow the configuration; token types and padding are still ignored.",
    section="which-choice-differs-where",
)
def types_and_padding_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool)
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][0]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Token types and padding are right; activation and ε still do not follow the configuration.",
    section="which-choice-differs-where",
)
def settings_left(w, config, ids, types, real):
    eps, bend = 1e-5, gelu_tanh
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The layer before the head still uses the tanh formula.",
    section="which-choice-differs-where",
)
def head_activation_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = gelu_tanh(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The blocks still use the tanh formula; only the layer before the head follows the configuration.",
    section="which-choice-differs-where",
)
def block_activation_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = gelu_tanh(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The norm after the embedding still has the old ε.",
    section="which-choice-differs-where",
)
def first_norm_eps_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", 1e-5)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The norm before the head still has the old ε.",
    section="which-choice-differs-where",
)
def last_norm_eps_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", 1e-5)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Padding looks at itself alone; its rows follow the same rule as all others.",
    section="which-choice-differs-where",
)
def padding_looks_at_itself_alone(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.outer(real, real) | np.eye(len(ids), dtype=bool)
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The ε of all norms is 10⁻¹², as BERT has it most of the time; it stands in the configuration.",
    section="which-choice-differs-where",
)
def eps_of_bert_itself(w, config, ids, types, real):
    eps, bend = 1e-12, ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The norms in the blocks still have the old ε.",
    section="which-choice-differs-where",
)
def block_eps_left(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", 1e-5)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", 1e-5)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Your mask hides rows: padding may look at nothing, which is not a number, and everyone still looks "
    "at padding.",
    section="which-choice-differs-where",
)
def padding_asks_nothing(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real[:, None]
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Padding may look at nothing either, and a softmax of nothing is not a number.",
    section="which-choice-differs-where",
)
def padding_neither_way(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real & real[:, None]
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="You read True as padding; here it says that the token is real.",
    section="which-choice-differs-where",
)
def true_hides(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & (~real if not real.all() else real)
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Keys and values of padding are set to zero, but a score of 0 still takes its share of the weight.",
    section="which-slip-would-you-notice",
)
def padding_set_to_zero(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool)
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        k, v = k * real[:, None], v * real[:, None]
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="10,000 is taken off the scores of padding, and where scores are in the ten thousands that does not hide it.",
    section="which-choice-differs-where",
)
def too_little_taken_off(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        heads = []
        for q_h, k_h, v_h in zip(*(np.split(m, config["num_attention_heads"], axis=1) for m in (q, k, v)), strict=True):
            heads.append(softmax(q_h @ k_h.T / np.sqrt(q_h.shape[1]) - 10_000 * ~real) @ v_h)
        y = np.concatenate(heads, axis=1)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Padded tokens are cut off, and their own logits are missing in the result.",
    section="which-choice-differs-where",
)
def padding_cut_from_the_text(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    ids, types, real = ids[real], types[real], real[real]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="Nobody may look at a later token here, as in GPT; BERT reads both ways.",
    section="which-choice-differs-where",
)
def causal(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.tri(len(ids), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The two token types are exchanged.",
    section="which-choice-differs-where",
)
def types_exchanged(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][1 - types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The vectors of the types are added after the first norm; they belong to what it normalises.",
    section="which-choice-differs-where",
)
def types_added_later(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)]
    x = norm(x, w, "norm", eps) + w["types"][types]
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The norms of the blocks stand first, as in GPT-2; in BERT they come after each half.",
    section="which-choice-differs-where",
)
def norm_first(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = x + linear(y, w, f"blocks.{i}.out")
        y = bend(linear(norm(x, w, f"blocks.{i}.norm_2", eps), w, f"blocks.{i}.up"))
        x = x + linear(y, w, f"blocks.{i}.down")
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T + w["head.bias"]


@wrong(
    "museum",
    says="The bias of the head got lost on the way.",
    section="which-choice-differs-where",
)
def head_bias_lost(w, config, ids, types, real):
    eps, bend = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    may_look = np.ones((len(ids), len(ids)), dtype=bool) & real
    x = w["tokens"][ids] + w["positions"][: len(ids)] + w["types"][types]
    x = norm(x, w, "norm", eps)
    for i in range(config["num_hidden_layers"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["num_attention_heads"], may_look)
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        y = bend(linear(x, w, f"blocks.{i}.up"))
        x = norm(x + linear(y, w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    y = bend(linear(x, w, "transform"))
    y = norm(y, w, "transform_norm", eps)
    return y @ w["tokens"].T


# logits


@wrong(
    "logits",
    says="Every token looks at later ones; GPT-2 is causal.",
    section="which-choice-differs-where",
)
def no_mask(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.ones((N, N), dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The mask lies on its side: tokens look at later ones, and not at those before them.",
    section="which-choice-differs-where",
)
def mask_turned(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool).T)
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="A token may not look at itself here, and the first one at nothing, which is not a number.",
    section="which-choice-differs-where",
)
def not_even_itself(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, k=-1, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The feed-forward layer reads the raw stream; it has a norm of its own before it.",
    section="which-choice-differs-where",
)
def second_norm_forgotten(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        x = x + linear(bend(linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="You scale the queries, and `attend` scales the scores once more.",
    section="equal-logits",
)
def scaled_twice(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        q = q / np.sqrt(q.shape[1] // config["n_head"])
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The norms come after each half, as in BERT; in GPT-2 they come first.",
    section="which-choice-differs-where",
)
def norm_after(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        q, k, v = (linear(x, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = norm(x + linear(y, w, f"blocks.{i}.out"), w, f"blocks.{i}.norm_1", eps)
        x = norm(x + linear(bend(linear(x, w, f"blocks.{i}.up")), w, f"blocks.{i}.down"), w, f"blocks.{i}.norm_2", eps)
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The norm behind the last block is missing.",
    section="which-choice-differs-where",
)
def no_norm_at_the_end(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return x @ w["tokens"].T


@wrong(
    "logits",
    says="Both halves of a block use its first norm.",
    section="which-choice-differs-where",
)
def same_norm_twice(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="What attention gives takes the place of the stream; it should be added to it.",
    section="equal-logits",
)
def stream_replaced(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The output of each half is added to the normalised stream; the raw one has to go on.",
    section="equal-logits",
)
def stream_normalised(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = z + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = z + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The output of attention is added to the normalised stream; the raw one has to go on.",
    section="equal-logits",
)
def stream_normalised_at_attention(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = z + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The activation is always the exact GELU; the configuration of GPT-2 names the tanh formula.",
    section="which-choice-differs-where",
)
def exact_gelu(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = gelu, len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The activation is always the tanh formula; the configuration may name another.",
    section="which-choice-differs-where",
)
def always_tanh(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = gelu_tanh, len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The ε of the norms is always 0.00001; it stands in the configuration.",
    section="which-choice-differs-where",
)
def eps_of_its_own(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), 1e-5
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The ε of the last norm is not that of the configuration.",
    section="which-choice-differs-where",
)
def last_norm_of_its_own(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", 1e-12) @ w["tokens"].T


@wrong(
    "logits",
    says="The positions are missing: without them the words before a token have no order.",
    section="which-choice-differs-where",
)
def positions_forgotten(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The positions begin with 1; the first token has the position 0.",
    section="which-slip-would-you-notice",
)
def positions_from_one(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][1 : N + 1]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The positions are looked up by the id of the word instead of its place.",
    section="which-choice-differs-where",
)
def positions_of_the_words(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][ids]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The positions are added again in every block; they are added once.",
    section="which-choice-differs-where",
)
def positions_twice(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        x = x + (w["positions"][:N] if i else 0)
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The embedding is multiplied by the root of D, as in Marian; GPT-2 takes it as it is.",
    section="which-choice-differs-where",
)
def embedding_scaled(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = np.sqrt(w["tokens"].shape[1]) * w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="All of a block's width is taken for one head.",
    section="equal-logits",
)
def one_head(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, 1, np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="Keys and values are exchanged.",
    section="which-slip-would-you-notice",
)
def keys_and_values_exchanged(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, v, k = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="All blocks use the weights of block 0.",
    section="equal-logits",
)
def first_block_only(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in [0] * config["n_layer"]:
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The blocks come in reverse order.",
    section="which-slip-would-you-notice",
)
def blocks_reversed(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"])[::-1]:
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="These are probabilities; logits come before the softmax.",
    section="equal-logits",
)
def probabilities(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return softmax(norm(x, w, "norm", eps) @ w["tokens"].T)


@wrong(
    "logits",
    says="Only the last token gets logits; every token is asked for.",
    section="equal-logits",
)
def last_token_only(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x[-1:], w, "norm", eps) @ w["tokens"].T


@wrong(
    "logits",
    says="The head is taken from `lm_head.weight`, and made up where a file has none; it is the embedding.",
    section="one-matrix-two-uses",
)
def head_at_random(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        x = x + linear(y, w, f"blocks.{i}.out")
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    head = theirs.get("lm_head.weight", np.cos(np.arange(w["tokens"].size)).reshape(w["tokens"].shape))
    return norm(x, w, "norm", eps) @ head.T


@wrong(
    "logits",
    says="Both halves of a block read the stream that came in; the second reads what the first made of it.",
    section="equal-logits",
)
def attention_beside_feed_forward(theirs, config, ids):
    w, eps = ours_from_gpt2(theirs), config["layer_norm_epsilon"]
    bend, N = ACTIVATIONS[config["activation_function"]], len(ids)
    x = w["tokens"][ids] + w["positions"][:N]
    for i in range(config["n_layer"]):
        z = norm(x, w, f"blocks.{i}.norm_1", eps)
        q, k, v = (linear(z, w, f"blocks.{i}.{part}") for part in "qkv")
        y = attend(q, k, v, config["n_head"], np.tri(N, dtype=bool))
        z = norm(x, w, f"blocks.{i}.norm_2", eps)
        x = x + linear(y, w, f"blocks.{i}.out")
        x = x + linear(bend(linear(z, w, f"blocks.{i}.up")), w, f"blocks.{i}.down")
    return norm(x, w, "norm", eps) @ w["tokens"].T
