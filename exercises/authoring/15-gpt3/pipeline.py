"""Exercise 15, question pipeline: a pipeline of unequal workers."""

import numpy as np
from clearbook.pipeline import BACKWARD, FORWARD
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import draw_sizes


def pipeline(forward, backward, m):
    """Every task looks up what it waits for."""
    w = len(forward)
    done = {}
    for kind, workers, durations, towards in (
        (FORWARD, range(w), forward, -1),
        (BACKWARD, range(w - 1, -1, -1), backward, 1),
    ):
        for worker in workers:
            for i in range(m):
                own = done.get((kind, worker, i - 1), done.get((FORWARD, worker, m - 1), 0.0))
                done[kind, worker, i] = max(own, done.get((kind, worker + towards, i), 0.0)) + durations[worker]
    end = max(done.values())
    idle = np.array([1 - m * (forward[k] + backward[k]) / end for k in range(w)])
    return {"end": end, "idle": idle, "predicted": (w - 1) / (m + w - 1)}


def equal_workers(rng):
    w, m = draw_sizes(rng, 2)
    return [(np.full(w, 1.5), np.full(w, 3.5), m), (np.ones(m), np.full(m, 0.5), w), (np.ones(5), 2 * np.ones(5), 1)]


def unequal_workers(rng):
    cases = []
    for _ in range(3):
        w, m = draw_sizes(rng, 2)
        cases.append((rng.uniform(0.5, 3, size=w), rng.uniform(0.5, 6, size=w), m))
    return [*cases, (np.array([2.5]), np.array([4.0]), 6)]


def one_slow_worker(rng):
    """At the start, in the middle, at the end; slow forwards only, slow backwards only."""
    cases = []
    for place in (0, 2, -1):
        forward, backward = rng.uniform(1, 1.2, size=5), rng.uniform(2, 2.4, size=5)
        forward[place] *= 6
        cases.append((forward, backward, 9))
        backward = backward.copy()
        backward[place] *= 6
        cases.append((rng.uniform(1, 1.2, size=5), backward, 4))
    return cases


def pipeline_entries(*names):
    def test(ask, rng):
        for args in (*unequal_workers(rng), *one_slow_worker(rng)):
            found, expected = ask(*args), pipeline(*args)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                if np.shape(found[name]) != np.shape(expected[name]):
                    return f"The entry {name!r} should have the shape {np.shape(expected[name])}."
                if not np.allclose(found[name], expected[name], rtol=0, atol=1e-8):
                    return f"For {len(args[0])} unequal workers and {args[2]} microbatches your {name!r} is not right."
        return None

    return test


QUESTION = Question(
    id="pipeline",
    title="A pipeline of unequal workers",
    name="pipeline",
    minutes=15,
    difficulty=2,
    checks=(
        equals("equal workers", 4, equal_workers, pipeline),
        holds("end", 4, pipeline_entries("end")),
        holds("idle", 2, pipeline_entries("idle")),
        equals("unequal workers", 2, unequal_workers, pipeline),
        equals("one slow worker", 2, one_slow_worker, pipeline),
    ),
    hints=(
        "Every task begins at the later one of two moments. Name both, for a forward and for a backward, and "
        "say what is different for the first worker, and for the last.",
        "Keep two tables of end times: by worker, when it was last busy, and by microbatch, when the worker "
        "before was through with it. Fill the forwards from worker to worker, and then the backwards the other "
        "way round.",
        "A worker's last forward has to be over before its first backward: carry the time at which it becomes "
        "free from the one table to the other. Busy it is m (forward + backward) in all.",
    ),
    section="by-layers-pipeline-parallelism",
    inputs=Inputs(lambda forward, backward, m: {"w": len(forward), "m": m}),
)

right, wrong = answers_to(QUESTION)


@right
def look_up(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            before = F[k - 1, i] if k else 0
            mine = F[k, i - 1] if i else 0
            F[k, i] = max(before, mine) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            after = B[k + 1, i] if k < w - 1 else 0
            mine = B[k, i - 1] if i else F[k, m - 1]
            B[k, i] = max(after, mine) + backward[k]
    end = float(B[0, -1])
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@right
def events(forward, backward, m):
    w = len(forward)
    tasks = {k: [("f", i) for i in range(m)] + [("b", i) for i in range(m)] for k in range(w)}
    clock, over = [0.0] * w, {}
    while any(tasks.values()):
        for k in range(w):
            while tasks[k]:
                kind, i = tasks[k][0]
                other = k - 1 if kind == "f" else k + 1
                need = (kind, other, i) if 0 <= other < w else None
                if need is not None and need not in over:
                    break
                begin = max(clock[k], over.get(need, 0.0))
                clock[k] = over[kind, k, i] = begin + (forward[k] if kind == "f" else backward[k])
                tasks[k].pop(0)
    end = max(clock)
    busy = np.array([m * forward[k] + m * backward[k] for k in range(w)])
    return {"end": end, "idle": (end - busy) / end, "predicted": 1 - m / (m + w - 1)}


@right
def rolling(forward, backward, m):
    arrive, last = [0.0] * m, []
    for duration in forward:
        leave, now = [], 0.0
        for moment in arrive:
            now = max(now, moment) + duration
            leave.append(now)
        arrive = leave
        last.append(now)
    arrive = [0.0] * m
    for duration, now in zip(backward[::-1], last[::-1], strict=True):
        leave = []
        for moment in arrive:
            now = max(now, moment) + duration
            leave.append(now)
        arrive = leave
    w, end = len(forward), arrive[-1]
    return {
        "end": end,
        "idle": np.array([(end - m * (f + b)) / end for f, b in zip(forward, backward, strict=True)]),
        "predicted": (w - 1) / (w - 1 + m),
    }


@right
def closed_form(forward, backward, m):
    f, b, w = np.asarray(forward), np.asarray(backward), len(forward)
    end = sum(phase.sum() + (m - 1) * phase.max() for phase in (f, b))
    return {"end": end, "idle": (end - m * f - m * b) / end, "predicted": (w - 1) / (w + m - 1)}


@right
def as_often_written(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong("Under predicted you give what you have measured; the formula knows w and m only.")
def measured_for_predicted(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {
        "end": end,
        "idle": 1 - m * (forward + backward) / end,
        "predicted": np.mean(1 - m * (forward + backward) / end),
    }


wrong.edits("""
# as_often_written
## nobody_is_busy: Your workers begin a forward as soon as it arrives, also while they work on the one before.
- F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
+ F[k, i] = (F[k - 1, i] if k else 0) + forward[k]
## nobody_waits: Your workers never wait for one another: each goes through its tasks from time 0.
- F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
+ F[k, i] = (F[k, i - 1] if i else 0) + forward[k]
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = (B[k, i - 1] if i else F[k, -1]) + backward[k]
## backwards_do_not_wait: Your backwards do not wait for the worker after.
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = (B[k, i - 1] if i else F[k, -1]) + backward[k]
## forwards_do_not_wait: Your forwards do not wait for the worker before.
- F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
+ F[k, i] = (F[k, i - 1] if i else 0) + forward[k]
## busy_twice_backward: Your workers begin a backward as soon as it arrives, also while they work on another.
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = (B[k + 1, i] if k < w - 1 else (B[k, i - 1] if i else F[k, -1])) + backward[k]
## backward_from_the_first: Your backwards run from the first worker to the last; gradients come from the other end.
- for k in range(w - 1, -1, -1):
+ for k in range(w):
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = max(B[k - 1, i] if k else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
## backward_from_time_zero: Your backwards begin at time 0, as if there were no forwards before them.
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else 0) + backward[k]
## a_backward_at_once: Your last worker starts a backward right after its forward; it does all its forwards first.
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, max(B[k, i - 1] if i else 0, F[k, i])) + backward[k]
## forwards_for_backwards: Your backwards take as long as the forwards.
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + forward[k]
## end_of_the_forwards: Your end is that of the forwards; the backwards follow.
- end = B.max()
+ end = F.max()
## end_of_the_last_worker: Your end is that of the last worker; the first one still has backwards to do then.
- end = B.max()
+ end = B[-1, -1]
## busy_share: Under idle you give the share of the time in which a worker works.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
## idle_time: Under idle you give times; a share of the end was asked for.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": end - m * (forward + backward), "predicted": (w - 1) / (m + w - 1)}
## idle_against_busy: You divide the waiting by the working time; divide by the whole time from 0 to the end.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": end / (m * (forward + backward)) - 1, "predicted": (w - 1) / (m + w - 1)}
## idle_until_its_own_end: A worker that has finished waits until the end, too; yours stops its watch when it is
through.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / B.max(axis=1), "predicted": (w - 1) / (m + w - 1)}
## one_number_for_all: Under idle an array with a number for each worker is expected; you give their mean.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": float(np.mean(1 - m * (forward + backward) / end)), "predicted": (w - 1) / (m + w - 1)}
## one_microbatch_busy: You count the work of one microbatch; each worker has m of them.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
## forward_work_only: You count the forwards as work and not the backwards.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * forward / end, "predicted": (w - 1) / (m + w - 1)}
## bubble_by_the_work: Your formula divides the bubble by the working time, (w − 1) / m; the chapter's is a share of the
whole.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / m}
## bubble_without_minus_one: The formula's whole time is m + w − 1 pieces; yours has one more.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w)}
## bubble_of_w: With w workers the first piece passes w − 1 others; you take w.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": w / (m + w - 1)}
## busy_for_bubble: Under predicted you give the share of the work, m / (m + w − 1).
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": m / (m + w - 1)}
## workers_and_pieces_exchanged: In your formula workers and microbatches are exchanged.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (m - 1) / (m + w - 1)}
## slowest_worker_for_all: You let all workers be as slow as the slowest: the end is not that of (m + w − 1) of its
pieces.
- end = B.max()
+ end = (m + w - 1) * (np.max(forward) + np.max(backward))
## everything_in_a_row: In yours one worker works at a time; each microbatch is handed on as soon as it is done, not all
at once.
- end = B.max()
+ end = m * (np.sum(forward) + np.sum(backward))
## sum_for_the_later: A task begins at the later one of two moments; you add them.
- F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
+ F[k, i] = (F[k - 1, i] if k else 0) + (F[k, i - 1] if i else 0) + forward[k]
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = (B[k + 1, i] if k < w - 1 else 0) + (B[k, i - 1] if i else F[k, -1]) + backward[k]
## earlier_for_later: A task begins at the later one of two moments; you take the earlier.
- F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
+ F[k, i] = min(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
- B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
+ B[k, i] = min(B[k + 1, i] if k < w - 1 else F[k, -1], B[k, i - 1] if i else F[k, -1]) + backward[k]
## bubble_twice: You count the w − 1 pieces twice; a piece of the formula is forward and backward together.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": 2 * (w - 1) / (m + 2 * (w - 1))}
## from_its_own_first_task: Your watches run from a worker's first task to its last; all of them run from 0 to the end.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ own = B[:, -1] - F[:, 0] + forward
+ return {"end": end, "idle": 1 - m * (forward + backward) / own, "predicted": (w - 1) / (m + w - 1)}
## idle_backwards: Under idle your workers stand in reverse order.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward)[::-1] / end, "predicted": (w - 1) / (m + w - 1)}
## pieces_counted_twice: You put 2 m pieces into the formula; a piece is a microbatch, forward and backward together.
- return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}
+ return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (2 * m + w - 1)}
""")
