"""Question merge: two ascending arrays become one."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds


def draw_pairs(rng):
    return [tuple(np.sort(rng.integers(-9, 9, size=n)) for n in sizes) for sizes in ((6, 9), (8, 5))]


def merged(a, b):
    return np.sort(np.concatenate([a, b]))


def the_order_of_the_arrays_does_not_matter(ask, rng):
    a, b = (np.sort(rng.normal(size=n)) for n in (4, 7))
    return None if np.array_equal(ask(a, b), ask(b, a)) else "merged(a, b) and merged(b, a) must be the same."


QUESTION = Question(
    id="merge",
    title="Two ascending arrays become one",
    name="merged",
    minutes=15,
    difficulty=2,
    checks=(
        equals("values", 4, draw_pairs, merged),
        holds("either order", 2, the_order_of_the_arrays_does_not_matter),
    ),
    hints=("Which of the two first entries is smaller?", "Do not forget what is left of the longer array."),
    section="merge",
    inputs=Inputs(axes("N", "M")),
)

right, wrong = answers_to(QUESTION)


@right
def by_sorting(a, b):
    return np.sort(np.concatenate([a, b]))


@right
def by_places(a, b):
    return np.insert(a, np.searchsorted(a, b), b)


@right
def by_walking(a, b):
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            found.append(a[i])
            i += 1
        else:
            found.append(b[j])
            j += 1
    return np.array([*found, *a[i:], *b[j:]])


wrong.edits("""
# by_sorting
## one_behind_the_other: The arrays are joined, and not sorted.
- return np.sort(np.concatenate([a, b]))
+ return np.concatenate([a, b])
## descending: The largest entry comes first.
+ return np.sort(np.concatenate([a, b]))[::-1]
## without_repetitions: Entries that occur twice are returned once.
+ return np.unique(np.concatenate([a, b]))
## first_alone: The second array is left out.
+ return np.sort(a)
## second_alone: The first array is left out.
+ return np.sort(b)
## first_twice: The first array comes twice, the second not at all.
+ return np.sort(np.concatenate([a, a]))
## without_signs: The entries are compared without their signs.
+ return np.array(sorted([*a, *b], key=abs))

# by_walking
## rest_of_first_lost: What is left of the first array is lost.
- return np.array([*found, *a[i:], *b[j:]])
+ return np.array([*found, *b[j:]])
## rest_of_both_lost: What is left when one of the arrays has ended is lost.
+ return np.array(found)
""")
