"""Question order: the places of the entries in ascending order, the first of two equal ones first."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals


def draw_keys(rng):
    return [(rng.permutation(keys),) for keys in ([-4, -4, -3, -1, 0, 2, 2, 2, 3, 7], [-6, -1, 1, 1, 5, 5, 8])]


def order(keys):
    return np.argsort(keys, kind="stable")


QUESTION = Question(
    id="order",
    title="Places in ascending order",
    name="order",
    minutes=5,
    difficulty=1,
    checks=(equals("values", 4, draw_keys, order),),
    hints=("np.argsort gives places, np.sort gives entries.", "Look up kind='stable'."),
    section="order",
    inputs=Inputs(axes("N")),
)

right, wrong = answers_to(QUESTION)


@right
def by_argsort(keys):
    return np.argsort(keys, kind="stable")


@right
def by_sorted(keys):
    return np.array(sorted(range(len(keys)), key=lambda place: keys[place]))


@right
def by_ranks(keys):
    places = np.arange(len(keys))
    equal_and_earlier = (keys[None, :] == keys[:, None]) & (places[None, :] < places[:, None])
    ranks = ((keys[None, :] < keys[:, None]) | equal_and_earlier).sum(axis=1)
    found = np.empty_like(places)
    found[ranks] = places
    return found


wrong.edits("""
# by_argsort
## descending: The largest entry comes first.
- return np.argsort(keys, kind="stable")
+ return np.argsort(-keys, kind="stable")
## turned_round: The ascending order is turned round, and with it the order of equal entries.
+ return np.argsort(keys, kind="stable")[::-1]
## entries: The entries are returned, not their places.
+ return np.sort(keys)
## ranks: The rank of each entry is returned, not the place of each rank.
+ return np.argsort(np.argsort(keys, kind="stable"))
## last_of_equals_first: Of equal entries the last comes first.
+ return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")
## counted_from_one: Places are counted from 1.
+ return np.argsort(keys, kind="stable") + 1
## without_signs: The entries are compared without their signs.
+ return np.argsort(np.abs(keys), kind="stable")
## sorted_before: The entries are sorted first, so that each is in its place already.
+ return np.argsort(np.sort(keys), kind="stable")
## largest_left_out: The place of the largest entry is missing.
+ return np.argsort(keys, kind="stable")[:-1]
""")
