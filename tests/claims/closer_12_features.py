"""Closer look at a dictionary of features: how many directions a small model keeps, by how rare its features are."""

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-features.ipynb"
ALWAYS, OFTEN, RARELY = "always there", "there once in five times", "there once in twenty times"
ZERO = {ALWAYS: 0, OFTEN: 0.8, RARELY: 0.95}
N_STEPS = 1500


@experiment(
    PAGE,
    contenders={who: f"each feature is 0 in {zero:.0%} of the examples" for who, zero in ZERO.items()},
    budget=f"{N_STEPS} steps of 256 examples",
    measured="features of five that get a direction longer than a half, in two numbers",
    cells=("setup", "toy"),
)
def directions_kept(page, run):
    W = page.squeezed(ZERO[run.contender], run.seed, run.times * N_STEPS)
    return (W.norm(dim=0) > 0.5).sum().item()


claim(
    directions_kept,
    "If all features are there all the time, it keeps two of the five, at right angles, and drops the rest: those that "
    "count most get a number each.",
    about=(ALWAYS, OFTEN),
    cell="toy",
    holds=lambda kept: (
        all(n == 2 for times in (1, 4) for n in kept[ALWAYS, "", times])
        and all(n > 2 for times in (1, 4) for n in kept[OFTEN, "", times])
    ),
    note="With four times the steps as well. In between it keeps four or five, by the seed.",
)

claim(
    directions_kept,
    "And if a feature comes once in twenty times, all five get a direction, the corners of a pentagon.",
    about=(RARELY, ALWAYS),
    cell="toy",
    holds=lambda kept: (
        all(n == 5 for times in (1, 4) for n in kept[RARELY, "", times])
        and all(n < 5 for times in (1, 4) for n in kept[ALWAYS, "", times])
    ),
    note="From each of three starts, and with four times the steps as well.",
)
