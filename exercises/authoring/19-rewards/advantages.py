"""Exercise 19, question advantages: what a group says about its attempts, and which groups say nothing."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery


def advantages_reference(rewards):
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    teaches = np.ptp(rewards, axis=1) > 0
    spread = np.where(teaches, rewards.std(axis=1), 1.0)
    return np.where(teaches[:, None], centred / spread[:, None], 0.0), float(teaches.mean())


def draw_args(rng, problems=5, attempts=7):
    return (rng.integers(0, 4, size=(problems, attempts)) * rng.choice([0.5, 1.0, 2.0], size=(problems, 1)),)


def mixed_cases(rng):
    return [
        draw_args(rng),
        draw_args(rng, 3, 11),
        draw_args(rng, 4, 9),
        (np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]),),
    ]


def all_alike(rng):
    """Groups all right or all wrong, at 0.1, which floats cannot hold exactly, among others; one attempt alone."""
    (rewards,) = draw_args(rng, 7, 9)
    rewards[[0, 2, 5]] = [[0.1], [0.0], [1.0]]
    return [(rewards,), (np.full((3, 7), 0.1),), (rng.normal(size=(5, 1)),)]


def large_cases(rng):
    """Also one that is far better than its group, and rewards that differ by little, around 0 and around a billion."""
    best, little = 1.0 * np.eye(17)[:3], 1e-13 * rng.normal(size=(4, 9))
    billion = 2.0**30 + rng.integers(0, 4, size=(5, 8))
    return [(1e4 * rng.normal(size=(4, 7)),), (1e-4 * rng.normal(size=(5, 13)),), (best,), (little,), (billion,)]


def square(rng):
    return [draw_args(rng, 7, 7)]


def in_units_of_the_group(ask, rng):
    (rewards,) = draw_args(rng, 3, 8)
    rewards[:, 0], rewards[:, 1] = 0, 5
    came = [ask(rewards * scale + shift) for scale, shift in ((1, 0), (3, 0), (1, 20))]
    if any(not isinstance(one, tuple | list) or len(one) != 2 for one in came):
        return "A pair is expected: the advantages, and the share of groups that teach anything."
    one, scaled, shifted = (np.asarray(part[0]) for part in came)
    if one.shape != rewards.shape:
        return f"The advantages have the shape of the rewards, {rewards.shape}; yours {one.shape}."
    if np.abs(one - scaled).max() > 1e-9:
        return "With all rewards three times as large your advantages change. Is anything added to the spread?"
    if np.abs(one - shifted).max() > 1e-9:
        return "With 20 added to all rewards the advantages should stay as they are; yours change."
    return None


QUESTION = Question(
    id="advantages",
    title="What a group says",
    name="group_advantages",
    minutes=15,
    difficulty=1,
    checks=with_battery(
        equals("mixed groups", 4, mixed_cases, advantages_reference),
        equals("groups all alike", 3, all_alike, advantages_reference),
        equals("large and small rewards", 1, large_cases, advantages_reference, atol=1e-6),
        equals("as many problems as attempts", 1, square, advantages_reference),
        holds("units of the group", 2, in_units_of_the_group),
        more={"boundary": in_cases_of("groups all alike")},
    ),
    hints=(
        "Which axis are the attempts at one problem? Along it run the mean and the standard deviation.",
        "A group that is all alike has a spread of 0, or of a rounding error. How can you tell it without the spread?",
        "Compare the largest reward of a group with the smallest. Where they are equal, the advantages are 0.",
    ),
    section="what-a-group-says-grpo",
    inputs=Inputs(sizes=axes("PG"), alike=("as many problems as attempts",)),
)

right, wrong = answers_to(QUESTION)


@right
def whole_tables(rewards):
    mixed = rewards.max(axis=1) > rewards.min(axis=1)
    found = np.zeros(rewards.shape)
    some = rewards[mixed]
    found[mixed] = (some - some.mean(axis=1, keepdims=True)) / some.std(axis=1, keepdims=True)
    return found, float(mixed.mean())


@right
def group_by_group(rewards):
    found, n_mixed = [], 0
    for group in rewards:
        if len(set(group.tolist())) == 1:
            found.append(np.zeros(len(group)))
            continue
        n_mixed += 1
        centred = group - group.mean()
        found.append(centred / np.sqrt(np.mean(centred**2)))
    return np.array(found), n_mixed / len(rewards)


@right
def with_where(rewards):
    alike = (rewards == rewards[:, :1]).all(axis=1, keepdims=True)
    spread = np.where(alike, 1.0, rewards.std(axis=1, keepdims=True))
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    return centred / spread, 1 - float(alike.mean())


wrong.edits("""
# whole_tables
## alike_for_their_size: You call rewards equal that differ little for their size; only equal ones teach nothing.
- mixed = rewards.max(axis=1) > rewards.min(axis=1)
+ mixed = np.ptp(rewards, axis=1) > 1e-8 * abs(rewards).max(axis=1)
## difference_of_squares: Your spread is the mean of the squares less the square of the mean, which leaves no digits
where the rewards are large and near each other.
- found[mixed] = (some - some.mean(axis=1, keepdims=True)) / some.std(axis=1, keepdims=True)
+ spread = np.sqrt(abs((some**2).mean(axis=1, keepdims=True) - some.mean(axis=1, keepdims=True) ** 2)) + 1e-300
+ found[mixed] = (some - some.mean(axis=1, keepdims=True)) / spread
## over_problems: Your mean and spread run over the problems; compare attempts at the *same* problem.
+ found[mixed] = (some - some.mean(axis=0)) / (some.std(axis=0) + 1e-9)
## over_everything: Your mean and spread are of the whole batch, so any attempt at an easy problem looks good.
+ found[mixed] = (some - rewards.mean()) / (rewards.std() + 1e-9)
## spread_of_the_batch: Your spread is that of the whole batch; each group has its own.
+ found[mixed] = (some - some.mean(axis=1, keepdims=True)) / rewards.std()
## not_centred: The mean is not taken away: every reward above 0 pulls upwards.
+ found[mixed] = some / some.std(axis=1, keepdims=True)
## not_divided: You do not divide by the spread.
+ found[mixed] = some - some.mean(axis=1, keepdims=True)
## variance: You divide by the variance, the square of the spread.
+ found[mixed] = (some - some.mean(axis=1, keepdims=True)) / some.var(axis=1, keepdims=True)
## one_less: Your spread has G − 1 in the denominator; here it is G.
+ found[mixed] = (some - some.mean(axis=1, keepdims=True)) / some.std(axis=1, keepdims=True, ddof=1)
## median: You take the median away in place of the mean.
+ found[mixed] = (some - np.median(some, axis=1, keepdims=True)) / some.std(axis=1, keepdims=True)
## against_the_best: You compare each attempt with the best of its group, so none gets more than 0.
+ found[mixed] = (some - some.max(axis=1, keepdims=True)) / some.std(axis=1, keepdims=True)
## upside_down: The sign is wrong: the better attempts get negative advantages.
+ found[mixed] = (some.mean(axis=1, keepdims=True) - some) / some.std(axis=1, keepdims=True)
## groups_left_out: You leave out groups whose rewards are all equal; give each a row of zeros.
- return found, float(mixed.mean())
+ return found[mixed], float(mixed.mean())
## share_of_idle: Your share is that of the groups that teach nothing.
+ return found, 1 - float(mixed.mean())
## share_of_attempts: Your share counts attempts whose advantage is not 0; a group counts as a whole.
+ return found, float((found != 0).mean())
## counted: You give the number of groups that teach something, not their share.
+ return found, float(mixed.sum())
## any_right: Your share is that of the groups with a reward above 0; a group that is all right teaches nothing either.
+ return found, float((rewards > 0).any(axis=1).mean())
## spread_as_a_test: You take a group's rewards as equal if its spread is exactly 0; rounding may leave a little.
- mixed = rewards.max(axis=1) > rewards.min(axis=1)
+ mixed = rewards.std(axis=1) > 0
## added_as_in_the_chapter: You add a small number to the spread, as the chapter's program does; here nothing is added.
- found[mixed] = (some - some.mean(axis=1, keepdims=True)) / some.std(axis=1, keepdims=True)
+ found[mixed] = (some - some.mean(axis=1, keepdims=True)) / (some.std(axis=1, keepdims=True) + 1e-4)
## a_little_added: You add a small number to the spread; a group all alike is known by its rewards.
+ found[mixed] = (some - some.mean(axis=1, keepdims=True)) / (some.std(axis=1, keepdims=True) + 1e-8)
## only_the_advantages: The share is missing: a pair is asked for.
- return found, float(mixed.mean())
+ return found
## alike_by_a_millionth: You call a group all alike if its spread is below a small number; rewards may all be small.
- mixed = rewards.max(axis=1) > rewards.min(axis=1)
+ mixed = rewards.std(axis=1) > 1e-6

# with_where
## zero_by_zero: Where a group is all alike you divide 0 by 0; its advantages are 0.
- spread = np.where(alike, 1.0, rewards.std(axis=1, keepdims=True))
- centred = rewards - rewards.mean(axis=1, keepdims=True)
- return centred / spread, 1 - float(alike.mean())
+ centred, spread = rewards - rewards.mean(axis=1, keepdims=True), rewards.std(axis=1, keepdims=True)
+ with np.errstate(all="ignore"):
+     return centred / spread, float((spread > 0).mean())
## nan_replaced: You put 0 where 0 / 0 came out; a spread that is only a rounding error slips through.
+ centred, spread = rewards - rewards.mean(axis=1, keepdims=True), rewards.std(axis=1, keepdims=True)
+ with np.errstate(all="ignore"):
+     return np.nan_to_num(centred / spread), 1 - float(alike.mean())
""")
