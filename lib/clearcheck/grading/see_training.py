"""What a training loop did shows its mistake, where the numbers of its model cannot: they are drawn at random."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from clearcheck.grading.diagnose import Diagnosis
from clearcheck.grading.question import Question
from clearcheck.grading.replies import Call

ENOUGH = 10  # losses, to speak of their course
HARDLY, FAR = 0.9, 0.5  # of the loss in the beginning
STEADY = 0.5  # of the mean fall: so fast falls a loss that has not come near its end
STILL = 0.005  # how far a weight goes that hardly moves


@dataclass(frozen=True)
class Training:
    """One call of a loop: the steps that it was allowed, those that it took, and their losses."""

    allowed: int
    taken: int
    optimizers: int
    moved: float
    losses: Sequence[float]

    @property
    def course(self) -> tuple[float, float]:
        """The loss in the beginning and at the end, as the mean of a tenth of all."""
        few = max(1, len(self.losses) // 10)
        return float(np.mean(self.losses[:few])), float(np.mean(self.losses[-few:]))

    @property
    def still_falls(self) -> bool:
        """Whether the loss has fallen in each tenth of the steps, and in the last one about as fast as in all."""
        tenths = np.array([part.mean() for part in np.array_split(np.asarray(self.losses), 10)])
        falls = -np.diff(tenths)
        return bool((falls > 0).all() and falls[-1] > STEADY * falls.mean())


def see_training(question: Question, calls: list[Call], every: list[Call], unlearned: bool) -> Diagnosis | None:
    """What the steps of all calls of a question show, else the losses of a check whose model has not learned enough."""
    trainings = [*_trainings(every)]
    found = next(_slips_of_steps(trainings), None)
    if found is None and unlearned:
        found = next((told for training in _trainings(calls) for told in _slips_of_losses(training)), None)
    return Diagnosis(*found, question.section, seen=True) if found else None


def _trainings(calls: list[Call]) -> Iterator[Training]:
    for call in calls:
        if call.reply["kind"] == "value":
            (plan,) = call.args
            allowed = plan["arguments"][-1]
            if type(allowed) is int:
                value = call.value
                yield Training(allowed, *(value[name] for name in ("steps", "optimizers", "moved", "losses")))


def _slips_of_steps(trainings: list[Training]) -> Iterator[tuple[str, str]]:
    over = [one for one in trainings if one.taken > one.allowed]
    if over:
        if len({one.allowed for one in trainings}) > 1 and len({one.taken for one in trainings}) == 1:
            yield "fixed_steps", "Your loop takes the same number of steps, whatever number it is given."
        elif all(one.taken == one.allowed + 1 for one in over):
            yield "one_step_more", "Your loop takes one step more than it may: look at where it begins and ends."
        else:
            yield (
                "steps_as_rounds",
                "Your loop takes several steps for each one that it may: every call of `step()` counts, of each batch "
                "and of each optimiser, and not every round.",
            )
    elif any(one.taken == one.optimizers > 1 for one in trainings):
        yield "forgetful", "Your optimiser is made anew in every step, and remembers nothing of the steps before."


def _slips_of_losses(training: Training) -> Iterator[tuple[str, str]]:
    if len(training.losses) < ENOUGH or training.taken < ENOUGH:
        return
    began, ended = training.course
    told = f"from {began:.2g} to {ended:.2g}"
    if not np.isfinite(ended):
        yield (
            "loss_not_finite",
            "Your loss does not stay finite: the learning rate is too large, or something overflows.",
        )
    elif not training.moved:
        yield "no_weight_moves", "Your weights stay where they are: no gradient reaches them, or it is 0 at every step."
    elif training.moved < STILL:
        yield (
            "weights_hardly_move",
            f"Your weights hardly move, the farthest by {training.moved:.1g}: the learning rate is far too small.",
        )
    elif training.still_falls:
        yield (
            "loss_still_falls",
            f"Your loss still falls at the last step as it did before, {told}: your model is learning, and too slowly. "
            "Try a larger learning rate.",
        )
    else:
        yield from _slips_of_course(began, ended, told)


def _slips_of_course(began: float, ended: float, told: str) -> Iterator[tuple[str, str]]:
    """From the loss in the beginning and at the end alone."""
    if ended > began > 0:
        yield (
            "loss_grows",
            f"Your loss grows, {told}: the steps go uphill, or the learning rate is too large.",
        )
    elif ended > HARDLY * began > 0:
        yield (
            "loss_stays",
            f"Your loss hardly falls, {told}: either what your model reads does not tell it what it is asked for, or "
            "the learning rate does not suit.",
        )
    elif ended > FAR * began > 0:
        yield (
            "loss_stops",
            f"Your loss falls, {told}, and no further: the learning rate may be too large, or what your model reads "
            "does not tell it all that it is asked for.",
        )
    elif ended < FAR * began:
        yield (
            "learns_something_else",
            f"Your loss falls, {told}, and still your model fails on new examples: it learns something else than is "
            "asked, or learns its examples by heart. Compare what it reads and is asked for with the task.",
        )
