"""The lecture's "Dimensions?" boxes without end: a question with fresh sizes for every seed, its answer computed."""

import random
from dataclasses import dataclass
from numbers import Integral, Real

import torch

from clearbook.drills.kinds import KINDS


@dataclass(frozen=True, repr=False)
class Drill:
    """A question and its sizes; for every name that it asks for the answer, and the formula in the sizes' letters."""

    kind: str
    seed: int
    question: str
    sizes: dict[str, int]
    answers: dict[str, tuple[int, ...] | int]
    formulas: dict[str, str]

    def check(self, **given) -> "Verdict":
        """A line for every name given: right, or what is wrong with it, but not the answer; and what is still open.

        Raises: ValueError for a name that the question does not ask for.
        """
        if unknown := sorted(given.keys() - self.answers.keys()):
            raise ValueError(f"check: {', '.join(unknown)} is not asked for. Give some of {', '.join(self.answers)}.")
        lines = [f"{name}: {self._judge(name, answer)}" for name, answer in given.items()]
        waiting = [name for name in self.answers if name not in given]
        return Verdict("\n".join([*lines, f"not yet given: {', '.join(waiting)}"] if waiting else lines))

    def _judge(self, name, given):
        right = self.answers[name]
        if isinstance(right, tuple):
            return _judge_shape(given, right)
        if not isinstance(given, Real):
            return f"a number is wanted, not {given!r}."
        for formula, hint in KINDS[self.kind].slips.get(name, {}).items():
            if given == eval(formula, dict(self.sizes)):
                return f"not right; {hint}"
        return "right." if given == right else f"too {'large' if float(given) > right else 'small'}."

    def _repr_markdown_(self) -> str:
        rows = [
            f"- `{n}`: **{_format_answer(a)}**, from `{_format_formula(self.formulas[n])}`"
            for n, a in self.answers.items()
        ]
        answer = "\n".join(rows)
        return f'{self.question}\n\n<details class="drill"><summary>Answer</summary>\n\n{answer}\n\n</details>'

    def __repr__(self) -> str:
        return self.question.replace("`", "")


class Verdict(str):
    """Text that a notebook shows without quotation marks."""

    __repr__ = str.__str__


def drill(kind: str, seed: int = 0) -> Drill:
    """One question of a kind (the keys of ``KINDS``). The same seed gives the same sizes, and all sizes differ.

    Raises: ValueError for a kind that does not exist.
    """
    if kind not in KINDS:
        raise ValueError(f"drill: kind={kind!r} does not exist. Choose from {', '.join(KINDS)}.")
    build, ranges, derived, question, formulas, _ = KINDS[kind]
    rng = random.Random(f"{kind} {seed}")
    sizes: dict[str, int] = {}
    while len(set(sizes.values())) < len(ranges) + len(derived):
        sizes = {letter: rng.choice(values) for letter, values in ranges.items()}
        for letter, formula in derived.items():
            sizes[letter] = eval(formula, dict(sizes))
    with torch.device("meta"), torch.no_grad():  # shapes without numbers, so that nothing is too large
        built = build(**sizes)
    answers = {name: value if isinstance(value, int) else tuple(value.shape) for name, value in built.items()}
    return Drill(kind, seed, question.format(**sizes), sizes, answers, formulas)


def _judge_shape(given, right):
    if not isinstance(given, tuple | list) or not all(isinstance(size, Integral) for size in given):
        return f"a shape is wanted, whole numbers such as (2, 3), not {given!r}."
    if len(given) != len(right):
        return f"too {'many' if len(given) > len(right) else 'few'} axes."
    wrong = [str(axis) for axis, pair in enumerate(zip(given, right, strict=True)) if pair[0] != pair[1]]
    if wrong and sorted(given) == sorted(right):
        return "the right sizes in the wrong order."
    return f"not right in axis {' and '.join(wrong)}, counting from 0." if wrong else "right."


def _format_answer(answer):
    return f"{answer:,}" if isinstance(answer, int) else str(answer)


def _format_formula(formula):
    return formula.replace(" * ", "·").replace(" // ", "/")
