"""Costs: the roofline, what is measured, and the ledger that holds both."""

from functools import partial

import pytest
import torch
from clearbook.costs import B200, H100, Ledger, Machine, counted_flops, peak_bytes, seconds_of


def test_the_slower_part_takes_the_time():
    machine = Machine(flops=10.0, bytes=2.0)
    assert machine.ridge == 5.0
    assert machine.seconds(30.0, 2.0) == 3.0 and machine.seconds(30.0, 8.0) == 4.0
    assert round(H100.ridge) == 295
    assert round(B200.ridge) == 281


def test_memory_and_operations_are_counted():
    assert peak_bytes(partial(torch.ones, 1000, 1000)) == 4_000_000
    assert counted_flops(partial(torch.mm, torch.ones(3, 5), torch.ones(5, 7))) == 2 * 3 * 5 * 7


def test_seconds_are_those_of_the_fastest_call():
    calls = []
    assert seconds_of(partial(calls.append, 1), most=5) >= 0
    assert len(calls) == 6


def test_the_ledger_prints_ratios_and_draws_them(capsys):
    ledger = Ledger()
    ledger.add("a step", 0.002, 0.003)
    ledger.add("a cache", 2.0**20, 2.0**20, "MiB")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].endswith("1.50") and "2.00 →     3.00 ms" in printed[0] and "1.00 MiB" in printed[1]
    labels = [label.get_text() for label in ledger.draw().get_yticklabels()]
    assert labels == ["a step", "a cache"]
    with pytest.raises(ValueError, match="'s'"):
        ledger.add("a step", 1.0, 1.0, "s")
