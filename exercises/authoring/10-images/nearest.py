"""Exercise 10, question nearest: the baseline."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.author.cases import draw_sizes


def nearest_reference(seen, labels, new):
    """Picture by picture."""
    return np.array([labels[np.argmin([((one - other) ** 2).sum() for other in seen])] for one in new])


def pictures(rng, sizes=None, scale=1.0, shift=0.0):
    B, M, rows, columns = sizes or (*draw_sizes(rng, 2, (11, 13, 17)), *draw_sizes(rng, 2, (2, 3, 5)))
    lengths = 1 + 3 * rng.random(size=(B, 1, 1))  # some pictures are brighter: a dot product would choose those
    seen = scale * (lengths * rng.normal(size=(B, rows, columns)) + shift)
    return seen, rng.integers(10, 90_000, size=B), scale * (rng.normal(size=(M, rows, columns)) + shift)


def ordinary_pictures(rng):
    return [pictures(rng), pictures(rng, shift=2.0), pictures(rng, scale=1e4), pictures(rng, scale=1e-3)]


def special_pictures(rng):
    """One picture known, one new, one pixel, equal sizes, pictures that are negatives of each other, many pixels, and
    pictures that lie far from 0, and so near each other: once so far that their squares have no digits for it.
    """
    cases = [pictures(rng, sizes) for sizes in ((1, 3, 2, 5), (7, 1, 2, 3), (7, 5, 1, 1), (3, 3, 3, 3))]
    _, _, new = pictures(rng, (4, 3, 3, 2))
    far = [pictures(rng, shift=1e4), pictures(rng, (17, 13, 9, 11), shift=1e8)]
    return [*cases, (np.concatenate([-new, 1.5 * new]), np.arange(20, 26), new), pictures(rng, (17, 13, 9, 11)), *far]


def the_pictures_themselves(ask, rng):
    half, _, _ = pictures(rng)
    half = np.round(1000 * half)  # whole numbers with the mean 0: products are exact, centred or not
    seen = np.concatenate([half, -half])
    labels = np.arange(10, 10 + len(seen))
    came = np.asarray(ask(seen, labels, seen))
    if came.shape != labels.shape:
        return f"There are {len(labels)} new pictures, so {len(labels)} labels; you gave the shape {came.shape}."
    if not np.array_equal(came, labels):
        return "Asked for the pictures that it knows, it should give their own labels; yours gives others."
    twice = np.concatenate([seen, seen])
    others = labels + np.where(labels % 2, 100, -100)  # the later label is now the larger one, now the smaller
    came = np.asarray(ask(twice, np.concatenate([labels, others]), seen))
    if came.shape != labels.shape:
        return f"There are {len(seen)} new pictures and {len(twice)} known ones; you gave the shape {came.shape}."
    if not np.array_equal(came, labels):
        return "Of two pictures that are equally near the first one decides; yours takes another."
    return None


def equally_near(rng):
    """Many copies of a picture and of its negative in any order: more than a sort that is not stable leaves alone."""
    cases = []
    for _ in range(4):
        picture, signs = np.round(1000 * pictures(rng)[0][:1]), rng.permutation(np.repeat([1.0, -1.0], 150))
        new = np.concatenate([picture, -picture, 0 * picture])
        cases.append((signs[:, None, None] * picture, rng.permutation(1000)[:300], new))
    return cases


QUESTION = Question(
    id="nearest",
    title="The baseline",
    name="nearest_labels",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 4, ordinary_pictures, nearest_reference),
        equals("small and equal sizes", 2, special_pictures, nearest_reference),
        holds("pictures that are known", 2, the_pictures_themselves),
        more={"ties": more_cases("values", equally_near)},
    ),
    hints=(
        "A picture is a point with rows · columns coordinates. Which known point is nearest to the new one?",
        "The table of squared distances is new × known: the sum over the pixels of the squared differences. "
        "An axis of length 1 in each of the two arrays makes the table.",
        "argmin along the known ones gives a number of a picture, not yet its label.",
    ),
    section="the-competition",
    inputs=Inputs(
        lambda seen, labels, new: {"B": len(seen), "M": len(new), "rows": seen.shape[1], "columns": seen.shape[2]},
        alike=("small and equal sizes",),
        no_softmax="distances are compared, nothing is shared out",
    ),
)

right, wrong = answers_to(QUESTION)


@right
def all_pairs(seen, labels, new):
    apart = new[:, None] - seen[None]
    distances = (apart**2).sum(axis=(2, 3))
    return labels[distances.argmin(axis=1)]


@right
def one_by_one(seen, labels, new):
    found = []
    for picture in new:
        distances = [np.linalg.norm(picture - known) for known in seen]
        found.append(labels[int(np.argmin(distances))])
    return np.array(found)


@right
def by_products(seen, labels, new):
    a, b = seen.reshape(len(seen), -1), new.reshape(len(new), -1)
    middle = a.mean(axis=0)
    a, b = a - middle, b - middle
    table = (a**2).sum(axis=1) - 2 * b @ a.T
    return labels[table.argmin(axis=1)]


wrong.edits("""
# all_pairs
## farthest: You take the picture that is farthest away.
- return labels[distances.argmin(axis=1)]
+ return labels[distances.argmax(axis=1)]
## numbers_for_labels: You return the number of the nearest picture; its label is asked for.
+ return distances.argmin(axis=1)
## over_the_new_ones: Your argmin runs over the new pictures; each of these needs an answer: let it run over the known
ones.
+ return labels[distances.argmin(axis=0) % len(labels)]
## signed_sum: You add up differences with their signs, so that a brighter pixel makes up for a darker one.
- distances = (apart**2).sum(axis=(2, 3))
+ distances = np.abs(apart.sum(axis=(2, 3)))
## not_squared: You add up the differences as they are; square each of them first, or a darker pixel makes up for a
brighter one.
+ distances = apart.sum(axis=(2, 3))
## not_squared_from_seen: You add up the differences as they are, seen less new; square each of them first.
+ distances = -apart.sum(axis=(2, 3))
## absolute: You add up absolute differences; the squared ones are asked for.
+ distances = np.abs(apart).sum(axis=(2, 3))
## largest_pixel: You compare the pixel that differs most; all should count.
+ distances = np.abs(apart).max(axis=(2, 3))
## first_row_alone: You compare the first row of each picture alone.
+ distances = (apart[:, :, 0] ** 2).sum(axis=2)
## largest_product: The largest dot product is not the smallest distance: a bright picture has large products with all
others.
- return labels[distances.argmin(axis=1)]
+ return labels[np.einsum("mrc,brc->mb", new, seen).argmax(axis=1)]
## by_angle: You compare directions, and a brighter copy of a picture has the same one.
+ lengths = np.sqrt((seen**2).sum(axis=(1, 2)))
+ return labels[(np.einsum("mrc,brc->mb", new, seen) / lengths).argmax(axis=1)]
## last_of_equals: Of pictures that are equally near you take the last one; the first one is asked for.
+ return labels[::-1][distances[:, ::-1].argmin(axis=1)]
## smallest_of_equals: Of pictures that are equally near you take the smallest label; the first picture decides.
+ return np.array([labels[row == row.min()].min() for row in distances])
## sort_not_stable: Of many pictures that are equally near your sort may put any in front: argmin takes the first one.
+ return labels[np.argsort(distances, axis=1)[:, 0]]
## few_pixels: You compare the first forty pixels alone.
+ return labels[(apart.reshape(len(new), len(seen), -1)[:, :, :40] ** 2).sum(axis=2).argmin(axis=1)]
## rounded: You round the distances, and those of faint pictures become equal.
+ return labels[distances.round(3).argmin(axis=1)]
## squares_expanded: Far from 0 the three terms of the expanded square leave no digits for what differs: subtract first.
- distances = (apart**2).sum(axis=(2, 3))
+ distances = (new**2).sum(axis=(1, 2))[:, None] - 2 * np.einsum("mij,bij->mb", new, seen)
+ distances += (seen**2).sum(axis=(1, 2))
# by_products
## in_single_precision: Far from 0 your products leave no digits for what differs: subtract first, or keep 64 bits.
- a, b = a - middle, b - middle
+ a, b = (array.astype(np.float32) for array in (a, b))
""")
