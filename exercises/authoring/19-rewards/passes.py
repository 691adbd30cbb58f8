"""Exercise 19, question passes: what k attempts are worth, from n that were made."""

from math import comb

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery


def passes_reference(n, right, k):
    return np.array([1 - comb(n - int(c), k) / comb(n, k) for c in right])


def draw_args(rng, n=11, k=3, problems=5):
    return n, rng.integers(0, n + 1, size=problems), k


def few_attempts(rng):
    return [draw_args(rng), draw_args(rng, 9, 4, 7), draw_args(rng, 7, 1, 4), draw_args(rng, 5, 5, 6)]


def at_the_limits(rng):
    """None right, all right, so many right that k cannot miss them, all attempts taken."""
    return [
        (9, np.array([0, 9, 1, 8, 5, 6]), 4),
        (4, np.arange(5), 4),
        (1, np.array([0, 1]), 1),
        draw_args(rng, 13, 13),
        (40, np.array([19, 20, 21]), 15),  # nearly sure
    ]


def many_attempts(rng):
    return [(4000, rng.integers(0, 40, size=6), 100), (1500, rng.integers(0, 1501, size=5), 700)]


def by_listing(ask, rng):
    """The mean over all ways to take k of n attempts in turn, found by drawing them."""
    n, c, k = 8, int(rng.integers(2, 5)), 3
    marks = np.arange(n) < c
    ways = [(a, b, d) for a in range(n) for b in range(a) for d in range(b)]
    share = np.mean([marks[list(way)].any() for way in ways])
    came = np.asarray(ask(n, np.array([c, 0]), k))
    if came.shape != (2,):
        return f"For two problems two numbers are expected; yours have the shape {came.shape}."
    if abs(came[0] - share) > 1e-9:
        return f"Of {n} attempts {c} are right. Of all ways to take {k}, {share:.4f} have one; not {came[0]:.4f}."
    return None


QUESTION = Question(
    id="passes",
    title="What k attempts are worth",
    name="pass_at",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("few attempts", 4, few_attempts, passes_reference),
        equals("limits", 2, at_the_limits, passes_reference),
        equals("many attempts", 2, many_attempts, passes_reference),
        holds("all ways to take three", 2, by_listing),
    ),
    hints=(
        "In how many ways can k attempts be taken from n? In how many of them is none right?",
        "If fewer than k attempts are wrong, every choice has a right one.",
        "Take whole numbers of Python and divide at the end, or multiply k factors, (n − c − i) / (n − i): this is the "
        "chance that all k are wrong.",
    ),
    section="more-attempts",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def one_problem_at_a_time(n, right, k):
    results = []
    for c in right:
        all_wrong = 1.0
        for i in range(k):
            all_wrong *= max(n - c - i, 0) / (n - i)
        results.append(1 - all_wrong)
    return np.array(results)


@right
def as_a_product(n, right, k):
    i = np.arange(k)
    left = np.maximum(n - right[:, None] - i, 0)
    return 1 - (left / (n - i)).prod(axis=1)


@right
def whole_numbers(n, right, k):
    ways = comb(n, k)
    return np.array([(ways - comb(n - c, k)) / ways for c in right.tolist()])


wrong.edits("""
# one_problem_at_a_time
## put_back: You put each attempt back before taking the next: that is 1 − (1 − p)^k, too small on average.
- all_wrong *= max(n - c - i, 0) / (n - i)
+ all_wrong *= (n - c) / n
## numerator_stays: You do not reduce the wrong attempts by those already taken.
+ all_wrong *= max(n - c, 0) / (n - i)
## denominator_stays: You do not reduce n by the attempts already taken.
+ all_wrong *= max(n - c - i, 0) / n
## all_right: You give the chance that not all k are right; give that of at least one right.
+ all_wrong *= max(c - i, 0) / (n - i)
## none_right: You give the chance that none is right.
- results.append(1 - all_wrong)
+ results.append(all_wrong)
## one_attempt: You give the share of right attempts, which is the answer for k = 1 alone.
+ results.append(c / n)
## one_too_few: You take one attempt too few.
- for i in range(k):
+ for i in range(k - 1):
## one_too_many: You take one attempt too many.
+ for i in range(min(k + 1, n)):
## any_right: You call a problem solved if any of the n attempts is right, whatever k is.
- results.append(1 - all_wrong)
+ results.append(float(c > 0))
## multiplied_by_k: You take k times the share of right attempts, which can exceed 1.
+ results.append(k * c / n)
## cut_at_one: You cut k times the share of right attempts off at 1; right ones that come together count twice.
+ results.append(min(1.0, k * c / n))
## first_k: You assume that right attempts come last: a problem is solved if fewer than k are wrong.
+ results.append(float(n - c < k))
## averaged: You return one number, the mean; return one for each problem.
- return np.array(results)
+ return np.array([np.mean(results)])
## mean_first: You average the right attempts of all problems first.
- for c in right:
+ for c in 0 * right + np.mean(right):

## nearly_sure_is_sure: You round what is nearly 1 to 1.
- results.append(1 - all_wrong)
+ results.append(1.0 if all_wrong < 1e-6 else 1 - all_wrong)

# whole_numbers
## all_k_right: You give the chance that all k are right; give that of at least one right.
- return np.array([(ways - comb(n - c, k)) / ways for c in right.tolist()])
+ return np.array([comb(c, k) / ways for c in right.tolist()])
## exactly_one: You give the chance that exactly one is right; two or more are as good.
+ return np.array([c * comb(n - c, k - 1) / ways for c in right.tolist()])
## few_wrong_ones: With fewer than k wrong attempts you give 0; then k attempts always have a right one.
+ return np.array([(ways - comb(n - c, k)) / ways if n - c >= k else 0.0 for c in right.tolist()])
""")
