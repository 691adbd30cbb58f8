"""Exercise 06, question museum: Stretch: rotary attention that generates."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import Mask, in_cases_of, with_battery

from .museum_inputs import (
    ROUNDED,
    ROUNDED_LARGE,
    attend_at_positions,
    draw_far_scores,
    everything_later,
    large_products,
    last_value_changed,
    ones_stay_ones,
    same_positions,
    scores_of_rotary,
    with_a_cache,
)
from .museum_mistakes import MISTAKES

QUESTION = Question(
    id="museum",
    title="Stretch: rotary attention that generates",
    name="rotary_attention",
    minutes=30,
    difficulty=3,
    leans_on=("rotary",),
    checks=with_battery(
        equals("whole sentences", 4, same_positions, attend_at_positions, atol=ROUNDED),
        equals("with a cache", 5, with_a_cache, attend_at_positions, atol=ROUNDED),
        equals("large scores", 3, large_products, attend_at_positions, atol=ROUNDED_LARGE),
        holds("everything later", 3, everything_later),
        holds("ones stay ones", 3, ones_stay_ones),
        mask=Mask("with a cache", draw_far_scores, last_value_changed),
        more={"boundary": in_cases_of("whole sentences")},
    ),
    hints=(
        "Some experiments are upset by two slips, others by a single one. Begin with one of these, repair its "
        "slip, and run all four again.",
        "Write down what a weight may depend on, and what an output may depend on besides the weights. Which "
        "of the three tables q, k and v have to know where they stand?",
        "Ask of every line: does it use a position, or the number of a row? The two agree in training, when the "
        "whole sentence comes at once.",
    ),
    section="start-anywhere-leave-gaps",
    inputs=Inputs(
        lambda q, k, v, *positions: {"N": q.shape[-2], "K": q.shape[-1], "V": v.shape[-1]},
        scores_of_rotary,
        only_distinct="the width of a head is even",
    ),
    how="tensors",
    forbids=("torch.nn.functional.scaled_dot_product_attention",),
)

right, wrong = answers_to(QUESTION)


@right
def head_by_head(q, k, v, q_positions, k_positions):
    def turn(x, positions):
        half = x.shape[-1] // 2
        angles = torch.outer(positions, 10000.0 ** (-torch.arange(half) / half))
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)

    scores = turn(q, q_positions) @ turn(k, k_positions).transpose(-1, -2) / q.shape[-1] ** 0.5
    hidden = k_positions[None, :] > q_positions[:, None]
    scores = torch.where(hidden, -1e30, scores)
    return (scores.softmax(dim=-1) * ~hidden) @ v


@right
def query_by_query(q, k, v, q_positions, k_positions):
    half = q.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half) / half)

    def complex_at(x, positions):
        angles = positions.unsqueeze(1) * rates
        return torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)

    asked, offered = complex_at(q, q_positions), complex_at(k, k_positions)
    rows = []
    for n, place in enumerate(q_positions.tolist()):
        seen = [s for s, position in enumerate(k_positions.tolist()) if position <= place]
        scores = (asked[..., n, None, :] * offered[..., seen, :].conj()).sum(-1).real / (2 * half) ** 0.5
        rows.append((scores.softmax(-1).unsqueeze(-1) * v[..., seen, :]).sum(-2))
    return torch.stack(rows, dim=-2)


@right
def turned_by_the_difference(q, k, v, q_positions, k_positions):
    """Only the keys are turned, once for every pair, by the position of the key less that of the query."""
    half = q.shape[-1] // 2
    angles = (k_positions - q_positions[:, None])[..., None] * 10000.0 ** (-torch.arange(half) / half)
    a, b = k[..., None, :, :half], k[..., None, :, half:]
    near = torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], dim=-1)
    scores = torch.einsum("...nk,...nsk->...ns", q, near) / q.shape[-1] ** 0.5
    seen = k_positions <= q_positions[:, None]
    blind = ~seen.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(seen | blind), -torch.inf)
    return torch.where(blind, 0.0, torch.softmax(scores, dim=-1)) @ v


@right
def as_often_written(q, k, v, q_positions, k_positions):
    def turn(x, positions):
        a, b = torch.chunk(x, 2, dim=-1)
        angles = positions[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
    seen = k_positions <= q_positions[:, None]
    C = C.masked_fill(~seen, -1e30)
    E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
    return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@wrong(
    "Neither queries nor keys are turned: apart from the mask nothing knows where it stands.",
    section="rotary-positions",
)
def nothing_turned(q, k, v, q_positions, k_positions):
    C = q @ k.mT / q.shape[-1] ** 0.5
    seen = k_positions <= q_positions[:, None]
    C = C.masked_fill(~seen, -1e30)
    E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
    return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)


wrong.edits(MISTAKES)
