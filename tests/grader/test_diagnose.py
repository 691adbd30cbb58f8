"""How a result is compared with many known mistakes."""

from clearcheck import WrongSolutions, equals, transcript

from .test_authoring import result_of


def test_arguments_are_packed_once_for_all_mistakes(monkeypatch):
    """Would catch a catalogue whose every entry costs another packing of the same arguments, in every call."""
    wrong, packed = WrongSolutions(), []
    for n in range(9):
        wrong("q", says=f"You add {n}.")(renamed(f"adds_{n}", lambda x, n=n: x + n))
    monkeypatch.setattr(transcript, "pack", lambda args, pack=transcript.pack: packed.append(args) or pack(args))
    check = equals("values", 2, lambda rng: [(rng.normal(),)], lambda x: x - 1)
    result = result_of(lambda x: x + 7, check, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.says == "You add 7."
    assert len(packed) == 1


def renamed(name, function):
    function.__name__ = name
    return function
