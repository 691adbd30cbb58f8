"""Exercise 19, question attempts: how many it takes, or that no number is enough."""

from bisect import bisect_left

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.grading.describe import describe_arguments


def attempts_reference(p, share):
    possible, p = float((p > 0).mean()), p[p > 0]
    everything = len(p) and (p == 1).all()
    if share > possible + 1e-12 or (share > possible - 1e-12 and not everything):
        return -1

    def enough(n):
        return possible * float((1 - (1 - p) ** n).mean()) >= share

    most = 1
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=1, key=enough)


def draw_args(rng, share=0.8, problems=7, low=0.1):
    return rng.uniform(low, 0.9, size=problems), share


def within_reach(rng):
    return [
        draw_args(rng),
        draw_args(rng, 0.3),
        draw_args(rng, 0.95, 5),
        (np.array([0.5]), 0.875),
        (np.array([0.5]), 0.8750001),
    ]


def some_never(rng):
    """Problems that no attempt solves: below, at and beyond what is left; and one that two attempts solve but for what
    a float can hold.
    """
    p = rng.uniform(0.2, 0.8, size=5)
    p[[1, 3]] = 0
    nearly = np.array([1.0, 1 - 2.0**-30, 0.0, 1.0])
    return [(p, 0.55), (p, 0.6), (p, 0.75), (np.zeros(3), 0.2), (np.array([1.0, 0, 0, 1]), 0.5), (nearly, 0.75)]


def sure_at_once(rng):
    return [(np.ones(4), 1.0), (rng.uniform(0.4, 0.9, size=5), 0.005), (np.array([1.0, 0.5, 1.0]), 1.0)]


def rare_cases(rng):
    """Up to about as many attempts as the task names, so that who stops before is found out."""
    rare = np.array([2.0**-12]), np.array([2.0**-13]), np.array([2.0**-15])
    alone = [(p, share) for p, share in zip(rare, (0.5, 0.9, 0.95), strict=True)]
    return [draw_args(rng, 0.9, 5, 0.004), (np.array([0.001, 0.3]), 0.8), *alone]


def exactly_the_share(rng):
    """Solved on average are as many as asked for, or hardly fewer."""
    return [(np.array([0.5]), share) for share in (0.875, 0.8750001)] + [(np.array([1.0, 0.0]), 0.5)]


def the_smallest(draw):
    """The number for each case; of another one it is told on which side it lies."""

    def test(ask, rng):
        cases = draw(rng)
        for args, came in zip(cases, [ask(*args) for args in cases], strict=True):
            if not isinstance(came, int | np.integer) or isinstance(came, bool):
                return f"A whole number is expected; yours is a {type(came).__name__}."
            expected = attempts_reference(*args)
            if came != expected:
                side = "this is too small" if came < expected else "this is too large"
                told = "there is a number" if came == -1 else "no number is enough" if expected == -1 else side
                return f"For {describe_arguments(args)} your function returned {came}; {told}."
        return None

    return test


def one_more_never_hurts(ask, rng):
    """A larger share needs at least as many attempts."""
    p, _ = draw_args(rng)
    came = [ask(p, share) for share in (0.2, 0.5, 0.8, 0.97)]
    if any(not isinstance(one, int | np.integer) or isinstance(one, bool) for one in came):
        return "A whole number is expected."
    if came != sorted(came):
        return f"For shares of 0.2, 0.5, 0.8 and 0.97 you need {came} attempts: a larger share cannot need fewer."
    return None


QUESTION = Question(
    id="attempts",
    title="Stretch: how many attempts?",
    name="attempts_needed",
    minutes=20,
    difficulty=3,
    checks=with_battery(
        holds("within reach", 4, the_smallest(within_reach)),
        holds("at once", 1, the_smallest(sure_at_once)),
        equals("rarely right", 1, rare_cases, attempts_reference),
        holds("larger shares", 2, one_more_never_hurts),
        holds("some are never solved", 4, the_smallest(some_never)),
        more={"boundary": more_cases("rarely right", exactly_the_share)},
    ),
    hints=(
        "Write down what n attempts solve on average, problem by problem. Does it grow with n? Towards what?",
        "A problem with p = 0 is never solved, so the average stays below the share of the others. Is that value ever "
        "reached?",
        "It is reached only if all the others have p = 1. Decide first whether it can be had, then count.",
    ),
    section="more-attempts",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def counting_up(p, share):
    ever = np.mean(p > 0)
    sure = np.mean(p == 1) == ever
    if share > ever or (share == ever and not sure):
        return -1
    n = 1
    while np.mean(1 - (1 - p) ** n) < share:
        n += 1
    return n


@right
def by_what_is_left(p, share):
    left, n = 1.0 - p, 1
    never = np.mean(p == 0)
    if never > 1 - share or (never == 1 - share and ((p > 0) & (p < 1)).any()):
        return -1
    unsolved = left.copy()
    while 1 - unsolved.mean() < share:
        unsolved *= left
        n += 1
    return n


@right
def doubling_and_halving(p, share):
    def solved(n):
        return np.mean(1 - (1 - p) ** n)

    limit = np.mean(p > 0)
    if share > limit or (share == limit and solved(1) < limit):
        return -1
    high = 1
    while solved(high) < share:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if solved(middle) >= share else (middle, high)
    return high


wrong.edits("""
# counting_up
## given_up_early: You give up after a thousand attempts; where one is seldom right, far more are needed.
- while np.mean(1 - (1 - p) ** n) < share:
+ if np.mean(1 - (1 - p) ** 1000) < share:
+     return -1
+ while np.mean(1 - (1 - p) ** n) < share:
## reached_is_not_enough: You go on where the share is reached exactly; then it is enough.
+ while np.mean(1 - (1 - p) ** n) <= share and n < 100_000:
## mean_first [common-mistakes]: The mean of the p goes into the formula, which promises too much: average last.
- while np.mean(1 - (1 - p) ** n) < share:
+ while 1 - (1 - np.mean(p)) ** n < share:
## hardest_alone: You ask how long the hardest problem takes; the average over all is asked for.
+ while np.min(1 - (1 - p[p > 0]) ** n) < share:
## easiest_alone: You ask how long the easiest problem takes; the average over all is asked for.
+ while np.max(1 - (1 - p) ** n) < share:
## never_left_out: Your average leaves out problems that are never solved.
+ while np.mean(1 - (1 - p[p > 0]) ** n) < share:
## median: You take the median of the problems; the average is asked for.
+ while np.median(1 - (1 - p[p > 0]) ** n) < share:
## expected_number: n times p counts right attempts, even several at one problem.
+ while np.mean(n * p) < share:
## one_too_few: Your number is one too small.
- return n
+ return n - 1
## one_too_many: Your number is one too large.
+ return n + 1
## zero_for_never: Where no number is enough return −1, not 0.
- return -1
+ return 0
## reached_by_rounding: In floats the mean is rounded to the share; in truth it is only approached. Decide by the limit.
- if share > ever or (share == ever and not sure):
+ if share > ever:
## limit_never_reached: You refuse a share equal to what can be reached, even where it is reached at once.
+ if share >= ever:
## all_or_nothing: One problem that is never solved makes you give up at once.
+ if (p == 0).any() or (share == ever and not sure):
## given_up: You give up after some number of attempts; where one is seldom right, far more are needed.
  n += 1
+ if n > 10_000:
+     return -1
## twenty_thousand_at_most: You try no more than twenty thousand attempts; the task names a hundred thousand.
  n += 1
+ if n > 20_000:
+     return -1
## starts_at_two: You never try the first attempt alone.
- n = 1
+ n = 2
""")
