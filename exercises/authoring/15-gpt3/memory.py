"""Exercise 15, question memory: what one worker keeps."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def bytes_kept(P, R, precision, cut):
    sizes = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}
    weight, gradient, copy, moment = sizes[precision]
    most = max(P // R + (worker < P % R) for worker in range(R))
    return {
        "weights": weight * (most if cut == "all" else P),
        "gradients": gradient * (most if cut in ("gradients", "all") else P),
        "copy": copy * (P if cut == "nothing" else most),
        "moments": 2 * moment * (P if cut == "nothing" else most),
    }


PRECISIONS, CUTS = ("32 bits", "mixed", "16 bits"), ("nothing", "moments", "gradients", "all")


def whole_states(rng):
    return [(int(rng.integers(1000, 9000)), int(rng.integers(2, 9)), precision, "nothing") for precision in PRECISIONS]


def cut_states(rng):
    """P is never a multiple of R."""
    cases = []
    for cut in CUTS[1:]:
        for precision in PRECISIONS:
            R = int(rng.integers(3, 9))
            cases.append((R * int(rng.integers(100, 900)) + int(rng.integers(1, R)), R, precision, cut))
    return cases


def even_and_odd_shares(rng):
    """Shares that come out even, one worker, more workers than parameters, models beyond 2³², and beyond a float."""
    R = int(rng.integers(3, 9))
    P = R * int(rng.integers(100, 900))
    shares = (P, R, "mixed"), (P, 1, "mixed"), (3, 7, "32 bits"), (174_604_259_328, 1000, "mixed")
    odd = 2**55 + 8 * int(rng.integers(1, 99)) + 5  # floats of this size are multiples of 8
    shares = *shares, (3 * odd - 1, 3, "mixed")
    return [(*share, "all") for share in shares]


QUESTION = Question(
    id="memory",
    title="What one GPU keeps",
    name="bytes_kept",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("nothing cut", 4, whole_states, bytes_kept),
        equals("cut", 5, cut_states, bytes_kept),
        equals("even shares and extreme ones", 3, even_and_odd_shares, bytes_kept),
        more={"boundary": in_cases_of("even shares and extreme ones")},
    ),
    hints=(
        "Make a small table first: for each precision the bytes of a weight, a gradient, a copy and a moment. "
        "Then ask of each of the four, how many of them a GPU keeps.",
        "AdamW has two moments for every weight. `cut` is a ladder: each step divides more, and what the "
        "steps before it divided stays divided.",
        "The GPU with the most has P / R numbers, rounded *up*. Round the number of weights and multiply by "
        "the bytes afterwards, not the other way round.",
    ),
    section="what-has-to-be-in-memory",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def a_ladder(P, R, precision, cut):
    most = -(-P // R)
    held = {"weights": P, "gradients": P, "copy": P, "moments": 2 * P}
    if cut != "nothing":
        held.update(copy=most, moments=2 * most)
    if cut in ("gradients", "all"):
        held["gradients"] = most
    if cut == "all":
        held["weights"] = most
    size = {"32 bits": 4, "mixed": 2, "16 bits": 2}[precision]
    wide = 4 if precision == "mixed" else size
    sizes = {"weights": size, "gradients": size, "copy": 4 * (precision == "mixed"), "moments": wide}
    return {kind: sizes[kind] * number for kind, number in held.items()}


@right
def branches(P, R, precision, cut):
    n = P // R + (P % R > 0)
    if precision == "32 bits":
        w, g, c, m = 4, 4, 0, 8
    elif precision == "mixed":
        w, g, c, m = 2, 2, 4, 8
    else:
        w, g, c, m = 2, 2, 0, 4
    if cut == "nothing":
        return {"weights": w * P, "gradients": g * P, "copy": c * P, "moments": m * P}
    if cut == "moments":
        return {"weights": w * P, "gradients": g * P, "copy": c * n, "moments": m * n}
    if cut == "gradients":
        return {"weights": w * P, "gradients": g * n, "copy": c * n, "moments": m * n}
    return {"weights": w * n, "gradients": g * n, "copy": c * n, "moments": m * n}


@right
def who_is_cut(P, R, precision, cut):
    divided = {
        "nothing": set(),
        "moments": {"copy", "moments"},
        "gradients": {"copy", "moments", "gradients"},
        "all": {"copy", "moments", "gradients", "weights"},
    }[cut]
    each = np.array([4, 4, 0, 8]) if precision == "32 bits" else np.array([2, 2, 0, 4])
    if precision == "mixed":
        each = np.array([2, 2, 4, 8])
    names = ("weights", "gradients", "copy", "moments")
    return {name: int(b) * ((P - 1) // R + 1 if name in divided else P) for name, b in zip(names, each, strict=True)}


@right
def as_often_written(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@right
def kind_by_kind(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 8), "mixed": (2, 2, 4, 8), "16 bits": (2, 2, 0, 4)}[precision]
    level = ("nothing", "moments", "gradients", "all").index(cut)
    held = [-(-P // R) if level > after else P for after in (2, 1, 0, 0)]
    names = ("weights", "gradients", "copy", "moments")
    return {name: b * n for name, b, n in zip(names, size, held, strict=True)}


wrong.edits("""
# kind_by_kind
## one_kind_at_a_time [the-states-once-instead-of-everywhere]: Each setting of `cut` also divides what the settings
before it divide; yours divides one kind only.
- held = [-(-P // R) if level > after else P for after in (2, 1, 0, 0)]
+ held = [-(-P // R) if level == after + 1 else P for after in (2, 1, 0, 0)]
## everything_cut_always [the-states-once-instead-of-everywhere]: You cut everything, whatever the argument says.
+ held = 4 * [-(-P // R)]
## nothing_cut_ever [the-states-once-instead-of-everywhere]: You cut nothing, whatever the argument says.
+ held = 4 * [P]
## bytes_divided [the-states-once-instead-of-everywhere]: You round the bytes up, and not the number of weights: a share
can end inside a number.
- held = [-(-P // R) if level > after else P for after in (2, 1, 0, 0)]
+ parts = [R if level > after else 1 for after in (2, 1, 0, 0)]
- return {name: b * n for name, b, n in zip(names, size, held, strict=True)}
+ return {name: -(-b * P // n) for name, b, n in zip(names, size, parts, strict=True)}
## all_workers_together [the-states-once-instead-of-everywhere]: You add up what all GPUs keep; one was asked for.
- held = [-(-P // R) if level > after else P for after in (2, 1, 0, 0)]
+ held = [P if level > after else R * P for after in (2, 1, 0, 0)]

# as_often_written
## one_moment: AdamW keeps two moments for every weight; you count one.
- "moments": 2 * size[3] * (most if level > 0 else P),
+ "moments": size[3] * (most if level > 0 else P),
## rounded_down [the-states-once-instead-of-everywhere]: You round the share down; the GPU with the most has one
number more where it does not come out even.
- level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
+ level, most = ("nothing", "moments", "gradients", "all").index(cut), P // R
## rounded_through_a_float: P / R is a float, which holds 53 bits: for a larger share only whole numbers are exact.
+ level, most = ("nothing", "moments", "gradients", "all").index(cut), int(np.ceil(P / R))
## rounded_to_the_nearest [the-states-once-instead-of-everywhere]: You round the share to the nearest number; round it
up for the GPU with the most.
+ level, most = ("nothing", "moments", "gradients", "all").index(cut), round(P / R)
## one_too_many [the-states-once-instead-of-everywhere]: Where R divides P, yours has a number too many.
+ level, most = ("nothing", "moments", "gradients", "all").index(cut), P // R + 1
## not_whole [the-states-once-instead-of-everywhere]: Your share is not whole; nobody keeps a fraction of a weight.
+ level, most = ("nothing", "moments", "gradients", "all").index(cut), P / R
## copy_not_cut [the-states-once-instead-of-everywhere]: You never cut the copy; it belongs to the optimiser, and is cut
with the moments.
- "copy": size[2] * (most if level > 0 else P),
+ "copy": size[2] * P,
## gradients_with_the_moments [the-states-once-instead-of-everywhere]: You cut gradients with the moments: too early.
- "gradients": size[1] * (most if level > 1 else P),
+ "gradients": size[1] * (most if level > 0 else P),
## weights_with_the_gradients [the-states-once-instead-of-everywhere]: You cut weights with the gradients: too early.
- "weights": size[0] * (most if level > 2 else P),
+ "weights": size[0] * (most if level > 1 else P),
## weights_never_cut [the-states-once-instead-of-everywhere]: With everything cut the weights are cut; yours stay whole.
+ "weights": size[0] * P,
## copy_of_wide_weights: You copy 4-byte weights without need.
- size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
+ size = {"32 bits": (4, 4, 4, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
## copy_in_sixteen: With everything in 2 bytes, drop your copy.
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 4, 2)}[precision]
## mixed_without_a_copy: Mixed precision keeps a copy of the weights in 4 bytes, which is missing.
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 0, 4), "16 bits": (2, 2, 0, 2)}[precision]
## mixed_copy_in_two: Your copy has 2 bytes a weight; it is there because 2 are too few.
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 2, 4), "16 bits": (2, 2, 0, 2)}[precision]
## mixed_moments_in_two: Your mixed moments have 2 bytes; they need 4.
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 2), "16 bits": (2, 2, 0, 2)}[precision]
## mixed_gradients_in_four: Your mixed gradients have 4 bytes; they take 2.
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 4, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
## sixteen_with_wide_moments: With all else in 2 bytes your moments have 4; use 2.
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 4)}[precision]
## bits_for_bytes: You count in bits; a byte has eight of them.
+ size = {"32 bits": (32, 32, 0, 32), "mixed": (16, 16, 32, 32), "16 bits": (16, 16, 0, 16)}[precision]
## moments_cut_one_by_one [the-states-once-instead-of-everywhere]: You divide all moments as one heap; the two of a
weight stay together, so round before you double.
- "moments": 2 * size[3] * (most if level > 0 else P),
+ "moments": size[3] * (-(-2 * P // R) if level > 0 else 2 * P),
## copy_and_weights_exchanged: In mixed precision weights have 2 bytes and their copy 4; yours the other way round.
- size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
+ size = {"32 bits": (4, 4, 0, 4), "mixed": (4, 2, 2, 4), "16 bits": (2, 2, 0, 2)}[precision]
## copy_cut_with_the_weights [the-states-once-instead-of-everywhere]: Your copy is cut as late as the weights; it
belongs to the optimiser, and is cut with the moments.
- "copy": size[2] * (most if level > 0 else P),
+ "copy": size[2] * (most if level > 2 else P),
## gradients_instead_of_moments [the-states-once-instead-of-everywhere]: Where gradients are cut your moments are whole.
- "copy": size[2] * (most if level > 0 else P),
- "moments": 2 * size[3] * (most if level > 0 else P),
+ "copy": size[2] * (most if level in (1, 3) else P),
+ "moments": 2 * size[3] * (most if level in (1, 3) else P),
## copy_among_the_moments [the-states-once-instead-of-everywhere]: You count the copy as a moment; it has its own entry.
+ "copy": 0,
+ "moments": (size[2] + 2 * size[3]) * (most if level > 0 else P),
## copy_with_the_gradients [the-states-once-instead-of-everywhere]: Your copy is cut together with the gradients; it
belongs to the optimiser, and is cut with the moments.
- "copy": size[2] * (most if level > 0 else P),
+ "copy": size[2] * (most if level > 1 else P),
## sixteen_like_mixed [the-states-once-instead-of-everywhere]: With everything in 2 bytes there is no copy, and the
moments have 2 bytes; you take the sizes of mixed.
  level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
+ size = (2, 2, 4, 4) if precision == "16 bits" else size
""")
