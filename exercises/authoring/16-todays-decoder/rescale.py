"""Exercise 16, question rescale: rotary positions for longer texts."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close

from .result_parts import parts_slip


def rescale_reference(x, positions, squeeze, stretch):
    """Pair by pair."""
    K = x.shape[1]
    turned = np.zeros(x.shape)
    for i in range(K // 2):
        speed = (10000.0 * stretch ** (K / (K - 2))) ** (-2 * i / K) / squeeze
        for n, place in enumerate(positions):
            c, s = np.cos(place * speed), np.sin(place * speed)
            one, other = x[n, i], x[n, i + K // 2]
            turned[n, i], turned[n, i + K // 2] = c * one - s * other, s * one + c * other
    return turned, 2 * np.pi / speed


def draw_args(rng, squeeze=1.0, stretch=1.0, N=5, K=8, furthest=300, factor=1.0):
    positions = rng.choice(np.arange(1, furthest), N, replace=False)
    return factor * rng.normal(size=(N, K)), positions, squeeze, stretch


def plain_cases(rng):
    return [
        draw_args(rng),
        draw_args(rng, N=7, K=12),
        draw_args(rng, N=11, K=4, factor=1e4),
        draw_args(rng, N=1, K=6),
        draw_args(rng, N=3, K=26),
    ]


def interpolated_cases(rng):
    far = draw_args(rng, 16.0, N=9, K=10, furthest=90_000)
    return [draw_args(rng, 4.0), draw_args(rng, 2.5, N=7, K=12), draw_args(rng, 7.0, N=3, K=4, furthest=3000), far]


def stretched_cases(rng):
    return [
        draw_args(rng, 1.0, 4.0),
        draw_args(rng, 1.0, 2.5, N=7, K=12),
        draw_args(rng, 1.0, 7.0, N=3, K=4, furthest=3000),
    ]


def combined_cases(rng):
    ways = (
        (2.0, 3.0, 9, 10),
        (1.5, 8.0, 5, 14),
        (2.0, 2.0, 8, 8),
        (3.0, 2.0, 1, 6),
        (0.4, 0.7, 7, 16),
        (1.5, 2.0, 3, 22),
    )
    return [draw_args(rng, *way) for way in ways]


def shapes(x, positions, squeeze, stretch):
    return x.shape, ()


def only_the_distance_counts(ask, rng):
    x, positions, *rest = draw_args(rng, 2.0, 3.0, N=6, K=10)
    one, other = ask(x, positions, *rest), ask(x, positions - 170, *rest)
    for came in (one, other):
        if slip := parts_slip(came, *shapes(x, positions, *rest)):
            return slip
    if not close(one[0] @ one[0].T, other[0] @ other[0].T, 1e-8):
        return "All positions were moved by −170, and the products between your turned tokens change."
    return None


QUESTION = Question(
    id="rescale",
    title="Rotary positions for longer texts",
    name="rotate",
    minutes=12,
    difficulty=1,
    checks=with_battery(
        equals("as trained", 3, plain_cases, rescale_reference, parts=(0,)),
        equals("squeezed positions", 2, interpolated_cases, rescale_reference, parts=(0,)),
        equals("a larger base", 3, stretched_cases, rescale_reference, parts=(0,)),
        equals("the slowest pair", 3, combined_cases, rescale_reference, parts=(1,)),
        equals("both at once", 2, combined_cases, rescale_reference),
        holds("only the distance counts", 1, only_the_distance_counts),
        off={"odd sizes": "the task has an even number of features"},
    ),
    hints=(
        "First the K/2 speeds, radians a token; then a table of N angles for each of them; then the turn.",
        "Where does squeeze act, on the position or on the base? And stretch? One of them slows all pairs alike.",
        "A pair that turns by w radians a token needs 2π / w tokens for a full turn. Which pair is the slowest, and "
        "how fast is it after both changes?",
    ),
    section="longer-than-it-was-trained",
    inputs=Inputs(axes("NK", "N"), alike=("the slowest pair", "both at once")),
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(x, positions, squeeze, stretch):
    K = x.shape[1]
    base = 10000 * stretch ** (K / (K - 2))
    speed = base ** (-np.arange(0, K, 2) / K)
    angle = positions[:, None] / squeeze * speed
    cos, sin = np.cos(angle), np.sin(angle)
    one, other = x[:, : K // 2], x[:, K // 2 :]
    turned = np.hstack([one * cos - other * sin, other * cos + one * sin])
    return turned, 2 * np.pi * squeeze / speed[-1]


@right
def complex_numbers(x, positions, squeeze, stretch):
    half = x.shape[1] // 2
    base = 1e4 * stretch ** (half / (half - 1))
    speed = 1 / base ** (np.arange(half) / half) / squeeze
    z = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * np.outer(positions, speed))
    return np.concatenate([z.real, z.imag], axis=1), float(2 * np.pi / speed.min())


@right
def pair_by_pair(x, positions, squeeze, stretch):
    y, K = np.array(x), x.shape[1]
    for i in range(K // 2):
        w = 10000 ** (-2 * i / K) * stretch ** (-2 * i / (K - 2)) / squeeze
        turn = np.stack([np.cos(w * positions), np.sin(w * positions)])
        y[:, i] = x[:, i] * turn[0] - x[:, i + K // 2] * turn[1]
        y[:, i + K // 2] = x[:, i] * turn[1] + x[:, i + K // 2] * turn[0]
    return y, 2 * np.pi * squeeze * stretch * 10000 ** (1 - 2 / K)


wrong.edits("""
# as_often_written
## only_longer_texts: You use `squeeze` only where it is more than 1; a position is divided by it, whatever it is.
- angle = positions[:, None] / squeeze * speed
+ angle = positions[:, None] / max(squeeze, 1) * speed
## squeezed_the_wrong_way: You multiply the positions by `squeeze`; a longer text has to fit into the trained range.
+ angle = positions[:, None] * squeeze * speed
## never_squeezed: `squeeze` does not reach your angles.
+ angle = positions[:, None] * speed
## squeezed_to_whole_places: You round the squeezed positions down to whole numbers; keep their fractions.
+ angle = positions[:, None] // squeeze * speed
## squeezed_in_the_base: You put `squeeze` into the base, where it slows the slow pairs most; it should slow all alike.
- base = 10000 * stretch ** (K / (K - 2))
+ base = 10000 * squeeze * stretch ** (K / (K - 2))
- angle = positions[:, None] / squeeze * speed
+ angle = positions[:, None] * speed
- return turned, 2 * np.pi * squeeze / speed[-1]
+ return turned, 2 * np.pi / speed[-1]
## base_without_power: You multiply the base by `stretch` itself; it should be `stretch` to the power K / (K − 2).
- base = 10000 * stretch ** (K / (K - 2))
+ base = 10000 * stretch
## power_upside_down: The power of `stretch` is upside down.
+ base = 10000 * stretch ** ((K - 2) / K)
## smaller_base: You make the base smaller, so that the slow pairs turn faster.
+ base = 10000 / stretch ** (K / (K - 2))
## never_stretched: `stretch` does not reach your base.
+ base = 10000
## all_pairs_stretched: You slow all pairs down by `stretch`; that is what `squeeze` does. The fast pairs should stay.
- base = 10000 * stretch ** (K / (K - 2))
- speed = base ** (-np.arange(0, K, 2) / K)
+ speed = 10000 ** (-np.arange(0, K, 2) / K) / stretch
## speeds_too_close: The exponent of pair i is −2i / K; yours is −i / K.
- speed = base ** (-np.arange(0, K, 2) / K)
+ speed = base ** (-np.arange(K // 2) / K)
## from_the_second: Your speeds begin with pair 1; pair 0 turns by one radian a token.
+ speed = base ** (-np.arange(2, K + 2, 2) / K)
## neighbours_paired: You pair neighbouring features; here feature i belongs to feature i + K/2.
- one, other = x[:, : K // 2], x[:, K // 2 :]
- turned = np.hstack([one * cos - other * sin, other * cos + one * sin])
+ one, other = x[:, ::2], x[:, 1::2]
+ turned = np.stack([one * cos - other * sin, other * cos + one * sin], axis=2).reshape(x.shape)
## turned_back: You turn the other way round.
- turned = np.hstack([one * cos - other * sin, other * cos + one * sin])
+ turned = np.hstack([one * cos + other * sin, other * cos - one * sin])
## no_turn: Both signs are plus, so lengths change; a turn has one minus.
+ turned = np.hstack([one * cos + other * sin, other * cos + one * sin])
## halves_swapped: Your two halves stand in the wrong order.
+ turned = np.hstack([other * cos + one * sin, one * cos - other * sin])
## counted_places: You turn token n by its row; its position is `positions[n]`.
- angle = positions[:, None] / squeeze * speed
+ angle = np.arange(len(x))[:, None] / squeeze * speed
## slowest_not_squeezed: Your slowest pair ignores `squeeze`.
- return turned, 2 * np.pi * squeeze / speed[-1]
+ return turned, 2 * np.pi / speed[-1]
## squeezed_too_soon: You divide your number by `squeeze`: a slower pair needs more tokens for a turn, not fewer.
+ return turned, 2 * np.pi / squeeze / speed[-1]
## fastest_pair: Your number belongs to the fastest pair.
+ return turned, 2 * np.pi * squeeze / speed[0]
## half_a_turn: You use π, not 2π.
+ return turned, np.pi * squeeze / speed[-1]
## the_base_itself: The slowest pair is not as slow as the base: its exponent is −(K − 2) / K.
+ return turned, 2 * np.pi * squeeze * base
## a_speed: Your number is radians a token; give the tokens for a full turn.
+ return turned, speed[-1] / squeeze
## rounded: You round your number; it need not be a whole one.
+ return turned, round(2 * np.pi * squeeze / speed[-1])
## turned_in_place: You write into the array that came in.
+ x[:] = turned
+ return x, 2 * np.pi * squeeze / speed[-1]
## new_numbers_used: You make the second half of the features with the new numbers of the first; both need the old ones.
- turned = np.hstack([one * cos - other * sin, other * cos + one * sin])
+ one = one * cos - other * sin
+ turned = np.hstack([one, other * cos + one * sin])
## base_in_the_power: You raise 10000 to the power along with `stretch`; only `stretch` has the power.
- base = 10000 * stretch ** (K / (K - 2))
+ base = (10000 * stretch) ** (K / (K - 2))

# complex_numbers
## faster_when_squeezed: You multiply the speeds by `squeeze`; a longer text has to fit into the trained range, so all
pairs turn more slowly.
- speed = 1 / base ** (np.arange(half) / half) / squeeze
+ speed = 1 / base ** (np.arange(half) / half) * squeeze
""")
