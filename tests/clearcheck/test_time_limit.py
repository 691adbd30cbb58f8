"""The limit of one call, from inside: when it stops the code, and that it stops nothing else."""

import contextlib
import threading
import time

import pytest
from clearcheck.worker import system, time_limit
from clearcheck.worker.parent import _well_formed
from clearcheck.worker.time_limit import TimeLimit, run_limited, wait_for_reply


def spin():
    while True:
        pass


def sleep_a_minute():
    time.sleep(60)


def in_another_thread(action):
    """What it raised or gave."""
    found = []

    def run():
        try:
            found.append(action())
        except TimeLimit as late:
            found.append(late)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def in_this_thread(action):
    try:
        return action()
    except TimeLimit as late:
        return late


@pytest.mark.parametrize("where", [in_this_thread, in_another_thread])
def test_a_loop_without_an_end_is_stopped_in_any_thread(where):
    """Would catch a notebook whose cells run in threads, or a system without timers, where nothing stops a loop."""
    assert where(lambda: run_limited(spin, 0.1, 100)).waited == 0.0
    assert where(lambda: run_limited(lambda: 5, 60, 10)) == 5
    by_the_clock = where(lambda: run_limited(lambda: [time.sleep(0.05) for _ in range(1200)], 0.3, 2))
    assert by_the_clock.waited % 0.6 == 0  # once, or more often where the machine is so slow that this is work


def test_a_sleep_is_stopped_by_the_clock():
    with pytest.raises(TimeLimit) as late:
        run_limited(sleep_a_minute, 10, 0.01)
    assert late.value.waited == 0.1


@pytest.mark.parametrize(("share", "waited"), [(0.0, 4.0), (0.01, 4.0), (0.03, 4.0 * time_limit.PATIENCE), (0.1, 0.0)])
def test_the_clock_soon_stops_code_that_waits_alone(monkeypatch, share, waited):
    """Would catch a loop on a busy machine that is said to sleep. It may compute for 1 s, or take 4 s if it waits."""
    now, alarms = 0.0, []

    @contextlib.contextmanager
    def timers(computing, clock, alarm):
        alarms.append(alarm)
        yield

    def action():
        nonlocal now
        while True:
            now += 4.0
            for by_the_clock in [False] * (now * share >= 1) + [True]:
                alarms[0](by_the_clock)

    monkeypatch.setattr(system, "timers", timers)
    monkeypatch.setattr(time_limit.time, "thread_time", lambda: now * share)
    with pytest.raises(TimeLimit) as late:
        run_limited(action, 1, 4)
    assert late.value.waited == waited


def test_an_alarm_that_comes_late_is_not_heard(monkeypatch):
    """Would catch a call that was in time and is called late, since the alarm rang while the clock was put away."""

    @contextlib.contextmanager
    def timers(computing, clock, alarm):
        yield
        alarm(by_the_clock=True)

    monkeypatch.setattr(system, "timers", timers)
    assert run_limited(lambda: 5, 1, 1) == 5


def test_an_exception_from_the_watching_thread_never_comes_after_the_call():
    """Would catch TimeLimit in the grader's own code: here each call ends just when its time is over."""

    def calls():
        n_late = 0
        for _ in range(300):
            try:
                run_limited(int, 0.0, 1)
            except TimeLimit:
                n_late += 1
            for _ in range(time_limit.ENOUGH):  # where one would arrive that was on its way
                pass
        return n_late

    assert isinstance(in_another_thread(calls), int)


class OtherProcess:
    """Another process, which computes for a share of the time, and gives no reply."""

    def __init__(self, monkeypatch, share):
        self.now, self.share = 0.0, share
        monkeypatch.setattr(time_limit.time, "monotonic", lambda: self.now)

    def has_arrived(self, seconds):
        self.now += seconds
        return False

    def computed_seconds(self):
        return None if self.share is None else self.now * self.share


@pytest.mark.parametrize(
    ("share", "ended_after", "waited"),
    [(1.0, 10, 0.0), (0.5, 20, 0.0), (0.04, 250, 0.0), (0.01, 100, 100), (0.0, 100, 100), (None, 100, 100)],
)
def test_who_waits_for_a_reply_counts_what_the_other_computes(monkeypatch, share, ended_after, waited):
    """Would catch ending a process that has got no processor, and waiting for the clock where one computes for ever."""
    other = OtherProcess(monkeypatch, share)
    assert wait_for_reply(other.has_arrived, other.computed_seconds, 10, 100) == waited
    assert other.now == pytest.approx(ended_after, abs=0.2)


@pytest.mark.parametrize(
    "forged",
    [{"computed": float("nan")}, {"computed": -1.0}, {"computed": "0"}, {"waited": float("inf")}, {"at": "1"}],
)
def test_a_forged_time_is_refused(forged):
    """Catches a sum of the times that is no number, so that a notebook has no limit, and a text in a line's place."""
    reply = {"kind": "time", "line": "x", "computed": 0.5, "waited": 0.0, "at": 3}
    assert _well_formed(reply) and not _well_formed({**reply, **forged})


@pytest.mark.parametrize(("clock", "left"), [(100, 250), (100, 50)])
def test_nobody_waits_for_longer_than_is_left(monkeypatch, clock, left):
    """Would catch a notebook that has more than its time, since each of its calls computes now and then."""
    other = OtherProcess(monkeypatch, 0.03)
    assert wait_for_reply(other.has_arrived, other.computed_seconds, 10, clock, left) == left
    assert other.now == pytest.approx(left)


def test_a_reply_that_comes_is_waited_for():
    assert wait_for_reply(lambda seconds: True, lambda: 0.0, 10, 100) is None
