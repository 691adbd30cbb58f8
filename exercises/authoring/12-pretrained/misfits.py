"""Exercise 12, question misfits: all misfits at once."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes


def draw_shapes(rng, n_blocks=2):
    D, V, F = draw_sizes(rng, 3)
    shapes = {"tokens": (V, D), "norm.weight": (D,), "head": (V, D)}
    for i in range(n_blocks):
        shapes |= {f"blocks.{i}.q": (D, D), f"blocks.{i}.up": (F, D), f"blocks.{i}.down": (D, F), f"blocks.{i}.b": (F,)}
    shapes = {str(name): shapes[name] for name in rng.permutation(list(shapes))}
    return shapes, {name: rng.normal(size=shape) for name, shape in shapes.items()}


def shuffle_names(rng, tensors):
    return {str(name): tensors[name] for name in rng.permutation(list(tensors))}


def missing_and_unexpected(rng):
    cases = []
    for n_lost, n_more in ((2, 0), (0, 2), (3, 3)):
        shapes, tensors = draw_shapes(rng)
        for name in rng.permutation(list(shapes))[:n_lost]:
            del tensors[str(name)]
        for number in rng.permutation(9)[:n_more]:
            tensors[f"blocks.{2 + number}.q"] = rng.normal(size=shapes["blocks.0.q"])
        cases.append((shapes, shuffle_names(rng, tensors), {}))
    shapes, tensors = draw_shapes(rng)
    tensors |= {name: rng.normal(size=2) for name in ("blocks.10.q", "blocks.2.q", "Norm.weight")}
    del tensors["blocks.0.q"]
    shapes |= {"Scale": (3,), "blocks.10.scale": (3,), "blocks.9.scale": (3,)}
    return [*cases, (shapes, shuffle_names(rng, tensors), {})]  # `sorted` puts 10 before 2, and capitals first


def other_shapes(rng):
    cases = []
    for kind in ("transposed", "one row more", "one column more", "other axes", "axis behind", "one column", "flat"):
        shapes, tensors = draw_shapes(rng)
        names = rng.permutation([name for name, shape in shapes.items() if len(set(shape)) == 2])[:3]
        for name in map(str, names):
            found = tensors[name]
            tensors[name] = {
                "transposed": found.T.copy(),
                "one row more": np.vstack([found, found[:1]]),
                "one column more": np.hstack([found, found[:, :1]]),
                "other axes": found[None],
                "axis behind": found[..., None],
                "one column": found[:, 0].copy(),
                "flat": found.ravel(),
            }[kind]
        if kind == "one row more":
            del tensors["norm.weight"]
            tensors["norm.gamma"] = rng.normal(size=shapes["norm.weight"])
        cases.append((shapes, shuffle_names(rng, tensors), {}))
    return cases


def tied_cases(rng):
    """A weight under its second name only, under both and equal, and under both and not equal in various ways."""
    cases = []
    for kind in (
        "second",
        "second in front",
        "equal",
        "both other",
        "one entry",
        "a hair",
        "transposed",
        "neither",
        "second misshapen",
        "first misshapen",
    ):
        shapes, tensors = draw_shapes(rng, 1)
        shapes.pop("head")
        head, ties = tensors.pop("head"), {"head": "tokens", "norm.gamma": "norm.weight"}
        if kind == "equal":
            head = tensors["tokens"].copy()
        if kind == "one entry":
            head = tensors["tokens"].copy()
            head[-1, -1] += 0.5
        if kind == "a hair":
            head = tensors["tokens"] * (1 + 1e-9)
        if kind == "first misshapen":
            tensors["tokens"] = head.T.copy()
        if kind == "transposed":
            head = tensors["tokens"].T.copy()
        if kind.startswith("second"):
            head = tensors.pop("tokens").T.copy() if kind == "second misshapen" else tensors.pop("tokens")
        if kind == "neither":
            del tensors["tokens"]
        else:
            tensors["head"] = head
        if kind in ("second", "one entry"):
            tensors["norm.gamma"] = tensors.pop("norm.weight")
        more = {"decoder": "tokens"}  # a second name that comes may be the last one or not
        ties = more | ties if kind in ("second", "second misshapen") else ties | more
        cases.append((shapes, shuffle_names(rng, tensors), ties))
    return [*cases, *copies(rng)]


def copies(rng):
    """Second copies of several kinds, equal ones and others, with the names of a file in the wrong order."""
    cases, ties = [], {"head": "tokens", "decoder": "tokens", "norm.gamma": "norm.weight"}
    for kind in ("moved", "less", "stretched", "zeros", "no first", "misshapen", "no number", "single"):
        shapes, tensors = draw_shapes(rng, 1)
        del shapes["head"], tensors["head"]
        tensors |= {
            name: np.round(4 * tensors[name]) / 4 for name in ("tokens", "norm.weight")
        }  # so that sums are exact
        tokens, gamma = tensors["tokens"], tensors["norm.weight"]
        if kind == "stretched":  # a single row, which NumPy would repeat
            tokens = tensors["tokens"] = tokens[:1].copy()
            tensors["head"] = np.repeat(tokens, shapes["tokens"][0], axis=0)
        elif kind == "zeros":
            tokens[0] = 0.0
            tensors |= {"head": np.where(tokens == 0, -0.0, tokens), "norm.gamma": gamma.copy()}
        elif kind == "no number":  # NaN is not equal to itself, says `np.array_equal`
            tokens[0, 0] = np.nan
            tensors |= {"head": tokens.copy(), "norm.gamma": gamma.copy()}
        elif kind == "single":  # the same numbers in another precision are equal
            tensors |= {"head": tokens.astype(np.float32), "norm.gamma": gamma.copy()}
        elif kind == "misshapen":
            tensors |= {"head": tokens.T.copy(), "norm.gamma": gamma[:-1].copy(), "tokens": tokens[:-1].copy()}
        else:
            other, moved = tokens.copy(), tokens[::-1].copy()
            other[-1, -1] -= 0.5
            tensors |= {"norm.gamma": gamma[::-1].copy() if kind == "moved" else gamma - 0.5}
            tensors |= {"head": moved, "decoder": moved.copy() if kind == "moved" else other}
        if kind == "less":
            tensors["head"] = other.copy()
        if kind == "no first":
            del tensors["tokens"]
        cases.append((shapes, {name: tensors[name] for name in sorted(tensors)[::-1]}, ties))
    return cases


def misfits(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    seconds = {first: [second for second in ties if ties[second] == first] for first in shapes}
    for name in shapes:
        if not any(known in tensors for known in (name, *seconds[name])):
            found["missing"].append(name)
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif name in ties and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


def everything_at_once(rng):
    shapes, tensors = draw_shapes(rng)
    del tensors["blocks.1.q"], shapes["head"]
    tensors |= {"blocks.0.down": tensors["blocks.0.down"].T.copy(), "blocks.0.bias": rng.normal(size=3)}
    tensors["blocks.1.b"] = tensors["blocks.1.b"][:-1].copy()
    complete = draw_shapes(rng)
    ties = {"head": "tokens"}
    return [(shapes, shuffle_names(rng, tensors), ties), (*complete, {}), ({}, {}, {}), (complete[0], {}, {})]


QUESTION = Question(
    id="misfits",
    title="All misfits at once",
    name="misfits",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("missing and unexpected", 3, missing_and_unexpected, misfits),
        equals("other shapes", 3, other_shapes, misfits),
        equals("second names", 4, tied_cases, misfits),
        equals("everything at once, and nothing", 2, everything_at_once, misfits),
        off={"ties": "names are put in order, and no two are equal"},
    ),
    hints=(
        "Go through the names twice: once through those that the model has, once through those that came. "
        "Which of the four lists can be filled in which pass?",
        "A tensor under a second name counts as the weight of the first name: it has to have that shape, and "
        "with it the weight is not missing.",
        "For each tensor that came ask in this order: is it known at all, has it the shape, and only then, "
        "does it equal the one under its first name, if that came too?",
    ),
    section="a-table-for-each-model",
    inputs=Inputs(no_sizes="dicts of shapes and of arrays, of different sizes"),
)

right, wrong = answers_to(QUESTION)


@right
def two_loops(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    for name in sorted(shapes):
        names = [name] + [second for second, first in ties.items() if first == name]
        if all(known not in tensors for known in names):
            found["missing"].append(name)
    for name in sorted(tensors):
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif tuple(tensors[name].shape) != tuple(shapes[first]):
            found["misshapen"].append(name)
        elif name in ties and first in tensors:
            same = tensors[first].shape == tensors[name].shape and (tensors[first] == tensors[name]).all()
            if not same:
                found["unequal"].append(name)
    return found


@right
def with_sets(shapes, tensors, ties):
    wanted = dict(shapes) | {second: shapes[first] for second, first in ties.items() if first in shapes}
    came = set(tensors) & set(wanted)
    misshapen = {name for name in came if tensors[name].shape != wanted[name]}
    both = {second for second in ties if second in came - misshapen and ties[second] in tensors}
    return {
        "missing": sorted(set(shapes) - {ties.get(name, name) for name in came}),
        "unexpected": sorted(set(tensors) - set(wanted)),
        "misshapen": sorted(misshapen),
        "unequal": sorted(s for s in both if not np.array_equal(tensors[s], tensors[ties[s]])),
    }


@right
def one_by_one(shapes, tensors, ties):
    left = {name: tensors[name] for name in tensors}
    missing, misshapen, unequal = [], [], []
    for name, shape in shapes.items():
        given = [left.pop(name)] if name in left else []
        if given and given[0].shape != shape:
            misshapen.append(name)
        some = bool(given)
        for second in [second for second in ties if ties[second] == name and second in left]:
            other, some = left.pop(second), True
            if other.shape != shape:
                misshapen.append(second)
            elif given and (other.shape != given[0].shape or np.any(other != given[0])):
                unequal.append(second)
        if not some:
            missing.append(name)
    result = {"missing": missing, "unexpected": list(left), "misshapen": misshapen, "unequal": unequal}
    return {kind: sorted(names) for kind, names in result.items()}


@right
def as_often_written(shapes, tensors, ties):
    found = {"missing": [], "unexpected": [], "misshapen": [], "unequal": []}
    came = {ties.get(name, name) for name in tensors}
    found["missing"] = [name for name in shapes if name not in came]
    for name, array in tensors.items():
        first = ties.get(name, name)
        if first not in shapes:
            found["unexpected"].append(name)
        elif array.shape != shapes[first]:
            found["misshapen"].append(name)
        elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
            found["unequal"].append(name)
    return {kind: sorted(names) for kind, names in found.items()}


wrong.edits("""
# as_often_written
## close_is_equal: Copies that differ a little pass as equal; every entry has to be the same.
- elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
+ elif first in tensors and (array.shape != tensors[first].shape or not np.allclose(array, tensors[first])):
## first_misshapen_excuses: Where the tensor under the first name is misshapen you do not compare; list the second as
unequal, too.
+ elif first != name and first in tensors and array.shape == tensors[first].shape and (array != tensors[first]).any():
## first_misfit_only: You stop at the first misfit of each kind; all of them belong in the lists.
- return {kind: sorted(names) for kind, names in found.items()}
+ return {kind: sorted(names)[:1] for kind, names in found.items()}
## sizes_compared: You compare how many numbers a tensor has; a transposed one has as many.
- elif array.shape != shapes[first]:
+ elif array.size != int(np.prod(shapes[first])):
## sizes_of_axes_sorted: You let a tensor pass with the sizes of the weight in any order; the order has to match, too.
+ elif sorted(array.shape) != sorted(shapes[first]):
## axes_counted: You compare the number of axes, and not how long they are.
+ elif array.ndim != len(shapes[first]):
## first_axis_compared: You compare the length of the first axis only.
+ elif len(array) != shapes[first][0]:
## shape_as_a_list: A list is compared with a tuple, and the two are never equal.
+ elif list(array.shape) != shapes[first]:
## not_sorted: The lists are in the order in which the names come; they should be sorted.
- return {kind: sorted(names) for kind, names in found.items()}
+ return found
## second_name_does_not_count [one-matrix-two-uses]: You report a weight as missing that came under its second name.
- came = {ties.get(name, name) for name in tensors}
+ came = set(tensors)
## one_second_name [one-matrix-two-uses]: Of a weight's second names you check only one; any of them will do.
+ seconds = {first: second for second, first in ties.items()}
+ came = set(tensors) | {first for first, second in seconds.items() if second in tensors}
## second_names_unexpected [one-matrix-two-uses]: You report a second name as unexpected.
- if first not in shapes:
+ if name not in shapes:
## second_names_taken_for_granted [one-matrix-two-uses]: You pass over tensors under second names; check their shapes
and entries, too.
  first = ties.get(name, name)
+ if name in ties:
+     continue
## never_unequal [one-matrix-two-uses]: You never compare copies under two names.
- elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
-     found["unequal"].append(name)
## always_unequal [one-matrix-two-uses]: You ask whether two arrays are one object; copies are two, and yet equal.
- elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
+ elif first != name and first in tensors and array is not tensors[first]:
## one_entry_passes [one-matrix-two-uses]: You pass copies as equal if *some* of their entries agree; every one has to.
+ elif first != name and first in tensors and not (array == tensors[first]).any():
## unequal_before_shapes [one-matrix-two-uses]: You compare copies of different shapes entry by entry, which NumPy
cannot do; check the shapes first.
-     elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
+ for name, first in ties.items():
+     if name in tensors and first in tensors and not np.allclose(tensors[name], tensors[first]):
## first_name_listed [one-matrix-two-uses]: Of two copies that differ you list the first name; list the second.
- found["unequal"].append(name)
+ found["unequal"].append(first)
## sums_compared [one-matrix-two-uses]: You compare sums; the same numbers in other places have the same sum.
- elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
+ elif first != name and first in tensors and not np.isclose(array.sum(), tensors[first].sum()):
## sign_of_the_difference [one-matrix-two-uses]: You ask whether the largest difference is above 0; an entry that is
smaller differs, too.
+ elif first != name and first in tensors and np.max(array - tensors[first]) > 0:
## stretched_to_fit [one-matrix-two-uses]: NumPy repeats a single row until it fits, and then finds every entry equal; a
tensor of another shape is not equal.
+ elif first != name and first in tensors and not (array == tensors[first]).all():
## bytes_compared [one-matrix-two-uses]: You compare bytes; 0.0 and −0.0 are equal and have different ones.
+ elif first != name and first in tensors and array.tobytes() != tensors[first].tobytes():
## whatever_came_first [one-matrix-two-uses]: You compare with whatever came first for a weight; compare with the tensor
under the first name, and with none where that is missing.
+ elif not np.array_equal(array, next(other for n, other in tensors.items() if ties.get(n, n) == first)):
## common_axes_compared: You compare axis by axis as far as both shapes go; an extra axis makes it another shape.
- elif array.shape != shapes[first]:
+ elif any(one != other for one, other in zip(array.shape, shapes[first], strict=False)):
## second_names_listed_last: Your lists have the first names in front; sort each list as a whole.
- return {kind: sorted(names) for kind, names in found.items()}
+ return {kind: sorted(names, key=lambda name: (name in ties, name)) for kind, names in found.items()}
## numbers_in_names: You sort by the numbers in the names; `sorted` goes letter by letter, and 10 comes before 2.
+ for names in found.values():
+     names.sort(key=lambda name: [part.zfill(9) if part.isdigit() else part for part in name.split(".")])
+ return found
## misshapen_by_our_name [one-matrix-two-uses]: You list a misshapen tensor by the first name of its weight, even where
the file has it under the second.
- found["misshapen"].append(name)
+ found["misshapen"].append(first)
## misshapen_and_unequal [one-matrix-two-uses]: You list a copy of another shape as unequal too; misshapen is enough.
- elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
+ if first in shapes and first != name and first in tensors and not np.array_equal(array, tensors[first]):
## misshapen_is_missing_too: You list a weight as missing if its tensor has another shape; something came all the same.
- came = {ties.get(name, name) for name in tensors}
+ came = {ties.get(n, n) for n in tensors if tensors[n].shape == shapes.get(ties.get(n, n))}
## misshapen_has_not_come [one-matrix-two-uses]: You list a weight as missing that came misshapen under a second name;
something came for it all the same.
+ came = {ties.get(n, n) for n in tensors if n not in ties or tensors[n].shape == shapes.get(ties[n])}
## sides_exchanged: You swap missing and unexpected: missing is what the model has and the file lacks.
          found["unequal"].append(name)
+ found["missing"], found["unexpected"] = found["unexpected"], found["missing"]
## ties_read_backwards [one-matrix-two-uses]: The ties are read backwards: they lead from a second name to the first.
  def as_often_written(shapes, tensors, ties):
+     ties = {first: second for second, first in ties.items()}
## empty_lists_left_out: You leave out kinds without a misfit; an empty list is expected for them.
- return {kind: sorted(names) for kind, names in found.items()}
+ return {kind: sorted(names) for kind, names in found.items() if names}
## no_number_is_equal: NaN counts as equal to NaN for you; for `np.array_equal` it does not.
- elif first != name and first in tensors and not np.array_equal(array, tensors[first]):
+ elif first != name and first in tensors and not np.array_equal(array, tensors[first], equal_nan=True):
## precision_compared: You compare the dtypes of two copies; the same numbers in another precision are equal.
+ elif first != name and first in tensors and not (
+     np.array_equal(array, tensors[first]) and array.dtype == tensors[first].dtype
+ ):
## capitals_among_the_rest: You sort as if capitals were small letters; `sorted` puts all capitals first.
- return {kind: sorted(names) for kind, names in found.items()}
+ return {kind: sorted(names, key=str.lower) for kind, names in found.items()}
## second_names_in_any_shape [one-matrix-two-uses]: You check the shapes of first names alone; check the second, too.
- elif array.shape != shapes[first]:
+ elif name in ties and array.shape != shapes[first]:
+     pass
+ elif array.shape != shapes[first]:
""")
