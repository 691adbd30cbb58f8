"""The script for a GPU, at small sizes on a processor: every row is there, and its bound is that of chapter 14."""

import pytest
import torch
from clearbook.costs import Machine

from benchmarks import on_gpu

SMALL = on_gpu.Sizes(64, 2**12, (1, 3), (16, 32), (1, 2), n_past=8, n_layers=1, n_heads=4, n_groups=2)


def test_every_size_is_measured_and_saved(monkeypatch, capsys):
    """Catches a size that is left out, and a row without a time."""
    monkeypatch.setattr(on_gpu, "ROUNDS", 1)
    found = on_gpu.measured("cpu", SMALL, torch.float32)
    sizes = [(row["what"], row["n"]) for row in found["rows"]]
    attention = [(f"attention, {way}", n) for n in SMALL.lengths for way in ("explicit", "fused")]
    assert sizes == [("Linear", 1), ("Linear", 3), *attention, ("decode", 1), ("decode", 2)]
    assert all(row["measured"] > 0 < row["predicted"] for row in found["rows"])
    assert capsys.readouterr().out.count("→") == len(sizes)


def test_a_step_is_matrices_plus_attention(monkeypatch):
    """Catches one bound for both together, and weights that are fetched for each text."""
    monkeypatch.setattr(on_gpu, "seconds_of", lambda call, device: 1.0)
    D, G, K, N = 64, 2, 16, 9
    P = 2 * D * D + 2 * D * G * K + 8 * D * D
    for machine in (Machine(1e9, 1e3), Machine(1e3, 1e9)):
        rows = list(on_gpu.decode(machine, "cpu", SMALL, torch.bfloat16))
        for row in rows:
            matrices = max(2 * row.n * P / machine.flops, 2 * P / machine.bytes)
            attention = row.n * max(4 * D * N / machine.flops, 2 * 2 * G * K * N / machine.bytes)
            assert row.predicted == pytest.approx(matrices + attention)


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    """Catches a traceback, or results of a processor that are saved as those of a GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert on_gpu.main([]) == 2
    assert "PyTorch sees no GPU" in capsys.readouterr().err
