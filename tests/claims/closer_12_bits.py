"""Closer look at how many bits a weight needs: what is rounded, and what a smaller file gains in time."""

import copy

import torch
from clearbook.data.course_files import course_file
from clearbook.language_model import load_language_model
from torch import nn

from tests.claims.chapter_12_slips import RIGHT, bits_per_character
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-bits.ipynb"
FULL, INT8 = "float32", "int8"
WEIGHTS, ROWS, ACTIVATIONS, CACHE = "weights", "weights, by rows", "activations", "keys and values"


@experiment(
    PAGE,
    contenders={
        RIGHT: "nothing is rounded",
        WEIGHTS: "all matrices, one scale for 32 weights",
        ROWS: "all matrices, one scale for each row",
        ACTIVATIONS: "the inputs of all linear layers, one scale for each token",
        CACHE: "keys and values, one scale for each head and token",
    },
    cases=("8 bits", "4 bits"),
    budget="no training; twelve windows of 128 tokens, which the seed draws from the ends of the novels",
    measured="bits per character, less is better",
    cells=("setup", "few-bits", "round-on-the-way"),
    times=(1,),
)
def what_is_rounded(page, run):
    austen, letters = once(page, "austen", lambda: load_language_model(course_file("models/austen")))
    model, b = copy.deepcopy(austen), int(run.case[0])
    ways = {WEIGHTS: lambda: page.in_few_bits(b, 32), ACTIVATIONS: lambda: page.rounded_inputs(b)}
    ways |= {
        ROWS: lambda: page.in_few_bits(b, None),
        CACHE: lambda: page.rounded_cache(b),
        RIGHT: lambda: lambda model: None,
    }
    with torch.no_grad():
        ways[run.contender]()(model)
        return bits_per_character(model, letters, run.seed)


claim(
    what_is_rounded,
    "At eight bits nothing shows in any of the three. At four, activations are the hardest to round",
    about=(WEIGHTS, ACTIVATIONS, CACHE),
    cell="round-on-the-way-cost",
    holds=lambda bits: (
        all(
            abs(b - right) < 0.01
            for who in (WEIGHTS, ACTIVATIONS, CACHE)
            for b, right in zip(bits[who, "8 bits", 1], bits[RIGHT, "8 bits", 1], strict=True)
        )
        and min(bits[ACTIVATIONS, "4 bits", 1]) > 0
        and all(
            a > max(rest)
            for a, *rest in zip(*(bits[who, "4 bits", 1] for who in (ACTIVATIONS, WEIGHTS, CACHE)), strict=True)
        )
    ),
    note="On each of three sets of windows.",
)


@experiment(
    PAGE,
    contenders={FULL: "nn.Linear", INT8: "PyTorch's dynamic quantisation of weights and activations"},
    cases=("1 token", "128 tokens"),
    budget="the shortest of twenty tries on one core",
    measured="milliseconds of CPU time for the matrices of a GPT-2, less is better",
    cells=("setup", "clock"),
    times=(1,),
)
def time_of_a_token(page, run):
    torch.set_num_threads(1)
    full = once(page, "matrices", page.matrices)
    layers = full
    if run.contender == INT8:
        layers = once(page, INT8, lambda: torch.ao.quantization.quantize_dynamic(full, {nn.Linear}, dtype=torch.qint8))
    return page.milliseconds(layers, torch.float32, int(run.case.split()[0]), tries=20)


claim(
    what_is_rounded,
    "That is not only because their scale serves more numbers: weights with one scale for a whole row lose less as "
    "well.",
    about=(ROWS, ACTIVATIONS),
    cell="round-on-the-way-cost",
    holds=lambda bits: all(
        right <= rows + 0.005 and 2 * (rows - right) < activations - right
        for right, rows, activations in zip(
            *(bits[who, "4 bits", 1] for who in (RIGHT, ROWS, ACTIVATIONS)), strict=True
        )
    ),
    note="On each of three sets of windows, in four bits. A row has as many weights as a token has numbers.",
)

claim(
    time_of_a_token,
    "For one token int8 is several times as fast as float32",
    about=(FULL, INT8),
    cell="time",
    holds=lambda taken: 2 * max(taken[INT8, "1 token", 1]) < min(taken[FULL, "1 token", 1]),
    note="The processor stands beside the stored run. Another one has other times.",
)
