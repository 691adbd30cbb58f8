"""What may cross between the learner's process and the grader."""

import numpy as np
import pytest
from clearcheck.grading.replies import same_value
from clearcheck.worker.limits import MAX_BYTES
from clearcheck.worker.values import GivenFunction, UnsupportedValue, canonical, pack, unpack


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2.5,
        float("inf"),
        "Grüße",
        (1, [2.0, None], {"a": np.arange(6).reshape(2, 3)}),
        np.float32(1.5),
        np.zeros((0, 3), np.int8),
        np.arange(15.0).reshape(3, 5).T,
        np.arange(7, dtype=">f8"),
    ],
)
def test_plain_values_cross_unchanged(value):
    """Would catch a lost dtype, order, sign or nesting."""
    assert same_value(
        canonical(value), value if not isinstance(value, np.ndarray) else value.astype(value.dtype.newbyteorder("="))
    )


def test_a_given_function_crosses_by_its_name_and_no_other_function_does():
    """Would catch a function that is lost on the way, and a name with which any function of NumPy could be called."""
    came = canonical((GivenFunction("cos"), np.cos))
    assert came[0] == GivenFunction("cos") and repr(came[0]) == "np.cos"
    assert came[0](np.zeros(3)).tolist() == [1, 1, 1]
    assert isinstance(came[1], UnsupportedValue)
    with pytest.raises(ValueError, match="can be given"):
        GivenFunction("load")
    with pytest.raises(ValueError, match="malformed"):
        unpack(pack(GivenFunction("cos")).replace(b'"cos"', b'"any"'))


def test_crossing_arrays_are_fresh_and_writable():
    """Would catch a learner's in-place change reaching the grader's own array."""
    array = np.arange(5.0)
    came = canonical(array)
    came[0] = 9
    assert array[0] == 0


class AlwaysEqual:
    def __eq__(self, other):
        return True


class LyingFloat(float):
    def __eq__(self, other):
        return True

    def __float__(self):
        return 7.0


class ArrayWithCode(np.ndarray):
    def __array__(self, *args, **kwargs):
        raise RuntimeError("code of the learner ran")


def endless_list() -> list:
    circle: list = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (AlwaysEqual(), "an object of type AlwaysEqual"),
        ((i for i in range(3)), "an object of type generator"),
        (np.array([object()]), "an array of dtype object"),
        (np.array([b"a"]), "an array of dtype |S1"),
        (2**80, "a whole number of more than 63 bits"),
        ({1: 2}, "a dict with a key that is no text"),
        (np.zeros(MAX_BYTES // 8 + 1), "more than 16 MB"),
        (endless_list(), "a container with too many or too deeply nested entries"),
    ],
)
def test_foreign_values_cross_as_their_name(value, named):
    """Would catch an object with code of its own arriving in a comparison."""
    assert canonical(value) == UnsupportedValue(named)
    assert canonical(canonical(value)) == UnsupportedValue(named)


def test_subclasses_lose_their_methods():
    """Would catch a subclass that answers comparisons itself."""
    assert type(canonical(LyingFloat(2.5))) is float
    assert canonical(LyingFloat(2.5)) == 2.5
    came = canonical(np.arange(5.0).view(ArrayWithCode))
    assert type(came) is np.ndarray
    assert came[3] == 3.0


@pytest.mark.parametrize("names", [["b", "a"], [], [["a"], ["b"]]])
def test_an_array_of_texts_crosses_as_a_list(names):
    """Would catch names refused for coming out of np.unique or np.setdiff1d."""
    assert canonical(np.array(names, dtype=str)) == names


def test_a_tensor_crosses_as_an_array():
    """Would catch a torch answer being refused for its type alone."""
    torch = pytest.importorskip("torch")
    came = canonical(torch.arange(3, dtype=torch.float64, requires_grad=True))
    assert same_value(came, np.arange(3.0))
    assert canonical(torch.zeros(3, dtype=torch.bfloat16)) == UnsupportedValue("a torch tensor of torch.bfloat16")
    np.testing.assert_array_equal(canonical(torch.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()), [[0, 2], [0, 0]])


def header(text: str) -> bytes:
    return len(text).to_bytes(8, "big") + text.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage that is long enough",
        header('["array", "object", [1], 8]') + bytes(8),
        header('["array", "float64", [-1], 8]') + bytes(8),
        header('["array", "float64", [1000000000], 8]') + bytes(8),
        header('["array", "float64", [2], 8]') + bytes(8),
        header('["bool", "yes"]'),
        header('["pickle", "x"]'),
        header('{"a": 1}'),
        header("[" * 5000),
        pack((1, 2))[:-3],
        header(21 * '["list", [' + '["int", "1"]' + 21 * "]]"),
    ],
)
def test_malformed_bytes_are_refused(data):
    """Would catch forged bytes being taken for a value, or ending the grader."""
    with pytest.raises(ValueError, match="malformed"):
        unpack(data)
