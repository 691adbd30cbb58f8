"""Exercise 15, question days: from one measured step to utilisation, days and machines."""

import math

from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery

DAY = 24 * 60 * 60


def training_run(P, tokens, machines, peak, step_tokens, step_seconds, recomputed, deadline):
    possible = machines * peak * step_seconds
    mfu = 6 * P * step_tokens / possible
    per_machine = mfu * peak * DAY
    days = 6 * P * tokens / (machines * per_machine)
    return {
        "mfu": mfu,
        "hfu": mfu * 8 / 6 if recomputed else mfu,
        "days": days,
        "machine_hours": 24 * machines * days,
        "needed": math.ceil(6 * P * tokens / (per_machine * deadline)),
    }


def draw_args(rng, recomputed, deadline=9.3):
    P, tokens = float(rng.uniform(1, 90)) * 1e9, float(rng.uniform(1, 20)) * 1e11
    machines, peak = int(rng.integers(60, 900)), float(rng.uniform(1, 9)) * 1e14
    step_tokens = int(rng.integers(1, 8)) * 500_009
    seconds = 6 * P * step_tokens / (machines * peak * float(rng.uniform(0.2, 0.5)))
    return P, tokens, machines, peak, step_tokens, seconds, recomputed, deadline


def timed_runs(rng):
    """In one everything comes out even, so that nothing is left to round up; in the last one the forward pass is done
    twice, which the seconds of the step tell already.
    """
    even = 1.0, 172_800.0, 2, 4.0, 1, 1.0, False, 0.5
    return [draw_args(rng, False), draw_args(rng, False), draw_args(rng, False, 61.7), even, draw_args(rng, True)]


def recomputed_runs(rng):
    """In the last one nothing is done twice, and few operations are done at all."""
    return [draw_args(rng, True), draw_args(rng, True, 30.9), (1.0, 172_800.0, 2, 4.0, 1, 1.0, False, 0.5)]


def known_runs(rng):
    """GPT-3 on 1,024 A100 with the forward pass done twice, and due in four hours, which takes more GPUs than there
    are; one machine that is far too small; a run of one step.
    """
    selene = 8 * 175e9 * 3e6 / (1024 * 140e12)
    gpt3 = 175e9, 300e9, 1024, 312e12, 3_000_000, selene, True
    return [
        (*gpt3, rng.uniform(9, 12)),
        (*gpt3, rng.uniform(0.15, 0.17)),
        (7e9, 140e9, 1, 19.5e12, 4096, 27.3, False, 0.0991),
        (1.3e9, 524_288.0, 8, 989e12, 524_288, 1.9, False, 0.5),
    ]


QUESTION = Question(
    id="days",
    title="One step measured: days and GPUs",
    name="training_run",
    minutes=12,
    difficulty=1,
    checks=with_battery(
        equals("model utilisation", 3, timed_runs, training_run, parts=("mfu",), atol=1e-12),
        equals("hardware utilisation", 2, recomputed_runs, training_run, parts=("hfu",), atol=1e-12),
        equals("days", 2, timed_runs, training_run, parts=("days",)),
        equals("machine-hours", 1, timed_runs, training_run, parts=("machine_hours",)),
        equals("machines needed", 2, timed_runs, training_run, parts=("needed",)),
        equals("all five, known runs", 2, known_runs, training_run),
        more={"boundary": in_cases_of("machines needed")},
    ),
    hints=(
        "Operations of the model in one step: six for each parameter and token. Operations that were possible: "
        "GPUs times peak times seconds.",
        "How many steps does the run have, and how long is each? Which of the five numbers change if the forward pass "
        "is done twice?",
        "One GPU does mfu · peak useful operations a second. How many seconds does the deadline leave it, and how "
        "many such GPUs are enough?",
    ),
    section="from-operations-to-days",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def step_by_step(P, tokens, machines, peak, step_tokens, step_seconds, recomputed, deadline):
    useful = 6 * P * step_tokens
    done = useful + (2 * P * step_tokens if recomputed else 0)
    possible = machines * peak * step_seconds
    seconds = tokens / step_tokens * step_seconds
    days = seconds / 86400
    return {
        "mfu": useful / possible,
        "hfu": done / possible,
        "days": days,
        "machine_hours": machines * seconds / 3600,
        "needed": math.ceil(machines * days / deadline),
    }


@right
def from_rates(P, tokens, machines, peak, step_tokens, step_seconds, recomputed, deadline):
    speed = step_tokens / step_seconds  # tokens a second, all machines
    hours = tokens / speed / 3600
    rate = 6 * P * speed / machines
    found = {"mfu": rate / peak, "hfu": rate * (4 / 3 if recomputed else 1) / peak, "days": hours / 24}
    found["machine_hours"] = hours * machines
    found["needed"] = int(-(-found["machine_hours"] // (24 * deadline)))
    return found


@right
def counting_up(P, tokens, machines, peak, step_tokens, step_seconds, recomputed, deadline):
    mfu = 6 * P * step_tokens / (machines * peak * step_seconds)
    total = 6 * P * tokens
    days = total / (machines * peak * mfu) / 86400
    enough = max(1, math.floor(total / (peak * mfu * deadline * 86400)))
    while enough * peak * mfu * deadline * 86400 < total:
        enough += 1
    hfu = mfu / 6 * 8 if recomputed else mfu
    return dict(mfu=mfu, hfu=hfu, days=days, machine_hours=days * 24 * machines, needed=enough)


wrong.edits("""
# step_by_step
## one_more_than_whole: You cut the digits off and add a GPU; where the number is whole, that is one too many.
- "needed": math.ceil(machines * days / deadline),
+ "needed": int(machines * days / deadline) + 1,
## two_a_parameter [what-a-token-costs]: You count two operations a parameter and token; training needs six.
- useful = 6 * P * step_tokens
+ useful = 2 * P * step_tokens
## second_pass_is_useful [from-operations-to-days]: Your MFU counts the second forward pass; the model needs six a
parameter and token, however often something is done.
- useful = 6 * P * step_tokens
- done = useful + (2 * P * step_tokens if recomputed else 0)
+ useful = (8 if recomputed else 6) * P * step_tokens
+ done = useful
## always_twice: Your HFU counts a second forward pass although `recomputed` is False.
- done = useful + (2 * P * step_tokens if recomputed else 0)
+ done = useful + 2 * P * step_tokens
## hardware_like_model: Your HFU leaves out the second forward pass.
+ done = useful
## twice_everything: The second forward pass adds a third to a step's operations; you count the whole step twice.
+ done = useful + (useful if recomputed else 0)
## hardware_less_than_model: Your HFU is below the MFU; the GPU does more operations than the model needs.
+ done = useful * (6 / 8 if recomputed else 1)
## one_machine_possible: What was possible is the peak of all GPUs; you take that of one.
- possible = machines * peak * step_seconds
+ possible = peak * step_seconds
## step_tokens_of_each: `step_tokens` are those of all GPUs together; you give each as many.
- possible = machines * peak * step_seconds
- seconds = tokens / step_tokens * step_seconds
+ possible = peak * step_seconds
+ seconds = tokens / (step_tokens * machines) * step_seconds
## a_second_possible: The step took `step_seconds`; you divide by what was possible in one second.
- possible = machines * peak * step_seconds
+ possible = machines * peak
## whole_run: Your MFU has the operations of the whole run over the seconds of one step.
- useful = 6 * P * step_tokens
- done = useful + (2 * P * step_tokens if recomputed else 0)
+ useful = 6 * P * tokens
+ done = useful + (2 * P * tokens if recomputed else 0)
## days_at_peak [common-mistakes]: Your days are those at the peak; nobody reaches it.
- days = seconds / 86400
+ days = 6 * P * tokens / (machines * peak) / 86400
## days_of_one_machine: Your days are those of one GPU; the step was done by all of them.
+ days = seconds * machines / 86400
## hours_for_days: Under days you give hours.
+ days = seconds / 3600
## twice_as_slow: The second forward pass is in the seconds of the step already; you count its time once more.
- seconds = tokens / step_tokens * step_seconds
+ seconds = tokens / step_tokens * step_seconds * (8 / 6 if recomputed else 1)
## days_by_hardware: Your days divide the model's operations by HFU; it counts those done twice.
+ seconds = 6 * P * tokens / (machines * peak * (done / possible))
## whole_steps: You round the run to whole steps; take it as long as its tokens need.
+ seconds = math.ceil(tokens / step_tokens) * step_seconds
## rounded_before_the_machines: You round up before you multiply by the GPUs; round their number, at the end.
- "needed": math.ceil(machines * days / deadline),
+ "needed": machines * math.ceil(days / deadline),
## never_fewer: Where the deadline leaves time, fewer GPUs than the run has are enough; yours are never fewer.
+ "needed": max(machines, math.ceil(machines * days / deadline)),
## hours_of_the_clock: GPU-hours are the hours of all GPUs together; you give those of the clock.
- "machine_hours": machines * seconds / 3600,
+ "machine_hours": seconds / 3600,
## machine_days: Under GPU-hours you give GPU-days.
+ "machine_hours": machines * days,
## rounded_down: With the GPUs you give, the deadline passes before the run ends; round up.
- "needed": math.ceil(machines * days / deadline),
+ "needed": math.floor(machines * days / deadline),
## one_too_many: You add a GPU to a number that is rounded up already.
+ "needed": math.ceil(machines * days / deadline) + 1,
## a_fraction_of_a_machine: Your needed is a fraction; round it up.
+ "needed": machines * days / deadline,
## more_machines: You give how many GPUs have to be added; all of them are asked for.
+ "needed": max(0, math.ceil(machines * days / deadline) - machines),
## needed_at_peak: Your GPUs would have to reach their peak to be enough.
+ "needed": math.ceil(6 * P * tokens / (peak * deadline * 86400)),
## deadline_upside_down: A longer deadline needs fewer GPUs, and in yours it needs more.
+ "needed": math.ceil(machines * deadline / days),
## rounded_to_the_nearest: You round to the nearest GPU; where that is down, the run is late.
+ "needed": round(machines * days / deadline),
## everything_at_peak [common-mistakes]: Days, GPU-hours and GPUs are yours at the peak; nobody reaches it.
- seconds = tokens / step_tokens * step_seconds
+ seconds = 6 * P * tokens / (machines * peak)
## rounded_down_to_a_float: Your `//` rounds down, and of floats makes a float; a whole number, rounded up, is due.
- "needed": math.ceil(machines * days / deadline),
+ "needed": machines * days // deadline,
""")
