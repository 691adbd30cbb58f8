"""Closer look at how many bits a weight needs: what is rounded, and what a smaller file gains in time."""

import copy

import numpy as np
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
BY_32, HADAMARD, RANDOM = "activations, by 32", "activations, turned by Hadamard", "activations, turned at random"


@experiment(
    PAGE,
    contenders={
        RIGHT: "nothing is rounded",
        WEIGHTS: "all matrices, one scale for 32 weights",
        ROWS: "all matrices, one scale for each row",
        ACTIVATIONS: "the inputs of all linear layers, one scale for each token",
        CACHE: "keys and values, one scale for each head and token",
        BY_32: "the inputs, one scale for 32 numbers",
        HADAMARD: "the inputs times Hadamard's matrix, one scale for each token",
        RANDOM: "the inputs times a random orthogonal matrix, one scale for each token",
    },
    cases=("8 bits", "4 bits"),
    budget="no training; twelve windows of 128 tokens, which the seed draws from the ends of the novels",
    measured="bits per character, less is better",
    cells=("setup", "few-bits", "round-on-the-way", "turns"),
    times=(1,),
)
def what_is_rounded(page, run):
    austen, letters = once(page, "austen", lambda: load_language_model(course_file("models/austen")))
    model, b = copy.deepcopy(austen), int(run.case[0])
    ways = {WEIGHTS: lambda: page.in_few_bits(b, 32), ACTIVATIONS: lambda: page.rounded_inputs(b)}
    ways |= {
        ROWS: lambda: page.in_few_bits(b, None),
        CACHE: lambda: page.rounded_cache(b),
        BY_32: lambda: page.rounded_inputs(b, group=32),
        HADAMARD: lambda: page.rounded_inputs(b, turn=page.hadamard),
        RANDOM: lambda: page.rounded_inputs(b, turn=page.random_turn),
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

claim(
    what_is_rounded,
    "At four bits a turn takes most of the loss away, and a random one does about as well as Hadamard's. So does one "
    "scale for 32 numbers, without any turn.",
    about=(ACTIVATIONS, HADAMARD, RANDOM, BY_32),
    cell="turns-cost",
    holds=lambda bits: all(
        max(ways) - right < (as_they_are - right) / 2 and max(ways) - min(ways) < 0.01
        for right, as_they_are, *ways in zip(
            *(bits[who, "4 bits", 1] for who in (RIGHT, ACTIVATIONS, HADAMARD, RANDOM, BY_32)), strict=True
        )
    ),
    note="On each of three sets of windows. One scale for 32 numbers costs half a bit more a number.",
)

F16, Q8_0, Q4_0, ROUNDED = "F16", "Q8_0", "Q4_0", "whole numbers from -7 to 7"


@experiment(
    PAGE,
    contenders={
        FULL: "nothing is rounded",
        F16: "all matrices as 16-bit floats",
        Q8_0: "all matrices in blocks of Q8_0",
        Q4_0: "all matrices in blocks of Q4_0",
        ROUNDED: "all matrices, one float scale for 32 weights",
    },
    budget="no training; twelve windows of 128 tokens, which the seed draws from the ends of the novels",
    measured="bits per character of the model as it is read back from bytes, less is better",
    cells=("setup", "few-bits", "write-q8", "write-q4"),
    times=(1,),
)
def kinds_in_a_file(page, run):
    from gguf import GGMLQuantizationType as Kind  # may be lacking where the claims are only compared
    from gguf import dequantize

    austen, letters = once(page, "austen", lambda: load_language_model(course_file("models/austen")))
    for name in ("q8_0", "q4_0"):
        getattr(page, name).__globals__["np"] = np
    ways = {Q8_0: page.q8_0, Q4_0: page.q4_0, F16: lambda W: W.half().numpy()}
    model = copy.deepcopy(austen)
    with torch.no_grad():
        for weight in model.parameters() if run.contender != FULL else ():
            if weight.dim() == 2:
                if run.contender == ROUNDED:
                    weight.copy_(page.rounded(weight, 4, 32))
                else:
                    kind = Kind[run.contender]
                    weight.copy_(torch.tensor(dequantize(ways[run.contender](weight.detach()), kind)))
        return bits_per_character(model, letters, run.seed)


claim(
    kinds_in_a_file,
    "The sixteen values of Q4_0 and the fifteen of `rounded` cost about the same, a hundredth of a bit or so. Q8_0 "
    "costs nothing that shows, in little more than half of F16's bytes.",
    about=(FULL, Q8_0, Q4_0, ROUNDED),
    cell="files",
    holds=lambda bits: all(
        abs(q8 - full) < 0.003 < max(q4, rounded) - full < 0.015 and abs(q4 - rounded) < 0.01
        for full, q8, q4, rounded in zip(*(bits[who, "", 1] for who in (FULL, Q8_0, Q4_0, ROUNDED)), strict=True)
    ),
    note="On each of three sets of windows. Sizes are those that the cell prints.",
)
