"""The entries of the battery on PyTorch: both modes, any seed, gradients, and tensors that are slices."""

from clearcheck.author.battery_cases import Case, CaseEntry, Source
from clearcheck.author.torch_arguments import tensors_call
from clearcheck.grading.replies import same_value


def _plain(plan: dict) -> bool:
    """Whether a plan asks for the output of one call with given weights."""
    return plan["gives"] == "output" and plan["weights"] is not None and len(plan["calls"]) == 1


def _other_mode(source: Source, args: Case) -> list[Case]:
    """The same in the other mode and with another seed, where the reference makes no difference between them."""
    (plan,) = args
    if not _plain(plan):
        return []
    others = [({**plan, "training": mode, "seed": plan["seed"] + 1},) for mode in (True, False)]
    results = [source.result(case) for case in (args, *others)]
    if any(result is None or not same_value(result, results[0]) for result in results):
        return []
    return others


def _gradients(source: Source, args: Case) -> list[Case]:
    """What comes back to each parameter and each input, in both modes; to each argument of a function."""
    if source.how == "tensors":
        cases = [tensors_call(*args, gives="gradients")]
    else:
        (plan,) = args
        cases = [({**plan, "gives": "gradients", "training": mode},) for mode in (True, False) if _plain(plan)]
    return [case for case in cases if source.answers(case)]


def _slices(source: Source, args: Case) -> list[Case]:
    """The same numbers as a slice of longer tensors, whose entries do not follow one another in memory."""
    if source.how == "tensors":
        return [tensors_call(*args, sliced=True)]
    (plan,) = args
    return [({**plan, "sliced": True, "training": False},)] if _plain(plan) else []


TORCH = (
    CaseEntry(
        "modes and seeds",
        ("module",),
        "a function has no modes, and called again it is asked for the same numbers",
        "the task has something that is drawn in train() mode",
        "In train() and in eval() mode, and with whatever seed, the same should come out: nothing here is drawn.",
        _other_mode,
    ),
    CaseEntry(
        "gradients",
        ("tensors", "module"),
        "arrays have no gradients, and those of a loop show in what it learns",
        "the reference passes no gradient on to something",
        "Gradients should flow through your answer to everything that the result depends on, and to nothing else "
        "(look for detach, item, .data and no_grad).",
        _gradients,
    ),
    CaseEntry(
        "slices",
        ("tensors", "module"),
        "NumPy's reshape takes slices, too",
        "its calls are not asked for one by one",
        "A tensor may be a slice of a longer one, whose entries do not follow one another in memory: where `view` "
        "joins two axes, write `reshape`.",
        _slices,
    ),
)
