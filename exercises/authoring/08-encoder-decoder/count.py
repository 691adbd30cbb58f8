"""Exercise 08, question count: how many numbers are learned?."""

import torch
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes

from .parts import Transformer


def count_reference(n_source, n_target, n_layers, d_model, n_heads, d_ff):
    """The numbers in a model of these sizes, counted one by one."""
    with torch.device("meta"):  # shapes alone, however large
        model = Transformer(n_source, n_target, n_layers, d_model, n_heads, d_ff)
    return sum(parameter.numel() for parameter in model.parameters())


def sizes_of_models(rng, layers):
    cases = []
    for n_layers in layers:
        n_source, n_target, width, d_ff = draw_sizes(rng, 4, (10, 14, 17, 19, 22, 26))
        if (n_source > n_target) == bool(cases):  # the larger vocabulary is the source's once, then the target's
            n_source, n_target = n_target, n_source
        n_heads = int(rng.choice([2, 3, 5]))
        cases.append((n_source, n_target, n_layers, 2 * width * n_heads, n_heads, d_ff))
    return cases


def other_depths(rng):
    """Several layers, none, more numbers than 32 bits count, and more than a float counts one by one."""
    past_32_bits, past_floats = (50_021, 32_003, 2, 20_480, 16, 70_001), (50_021, 32_003, 2, 300_000_042, 3, 70_001)
    return [*sizes_of_models(rng, (2, 4, 3, 0)), past_32_bits, past_floats]


QUESTION = Question(
    id="count",
    title="How many numbers are learned?",
    name="count_parameters",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("one layer", 5, lambda rng: sizes_of_models(rng, (1, 1)), count_reference),
        equals("several layers", 3, other_depths, count_reference),
    ),
    hints=(
        "Go through your constructors line by line and write down the shape of every array.",
        "A block of the decoder has one attention and one norm more than one of the encoder. The sizes of the "
        "maps do not know into how many heads they are cut.",
        "The sinusoids are not learned. Each stack ends with a norm, and the head has a bias.",
    ),
    section="what-one-block-costs",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def part_by_part(V_source, V_target, M, D, H, F):
    attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * V_target + M * (2 * attention + 3 * norm + network) + norm
    head = (D + 1) * V_target
    return reader + writer + head


@right
def head_by_head(V_source, V_target, M, D, H, F):
    width = D // H
    one_attention = H * (3 * D * width + width * D) + 4 * D
    one_network = F * (D + 1) + D * (F + 1)
    blocks = M * (3 * one_attention + 2 * one_network + 5 * (D + D))
    return blocks + D * (V_source + V_target) + V_target * D + V_target + 4 * D


@right
def powers_of_the_width(V_source, V_target, M, D, H, F):
    words = V_source + 2 * V_target
    return 12 * M * D**2 + (words + 4 * M * F + 24 * M + 4) * D + 2 * M * F + V_target


wrong.edits("""
# part_by_part
## last_norms_in_each_layer: You count the norm at the end of a stack once for each layer; a stack has one.
- reader = D * V_source + M * (attention + 2 * norm + network) + norm
- writer = D * V_target + M * (2 * attention + 3 * norm + network) + norm
+ reader = D * V_source + M * (attention + 3 * norm + network)
+ writer = D * V_target + M * (2 * attention + 4 * norm + network)
## hidden_width_taken_for_granted: You take a hidden width for granted; it is an argument of its own.
- attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
+ attention, norm, network = 4 * D * (D + 1), 2 * D, 4 * D * D + 3 * D
## a_map_for_each_head: You count a full D × D map for every head; the heads share one.
- attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
+ attention, norm, network = 4 * H * D * (D + 1), 2 * D, 2 * D * F + F + D
## no_biases_in_attention: The biases of the four maps of attention are forgotten.
+ attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
## no_biases_at_all: You count matrices alone: all maps of attention, both of a feed-forward layer and the head have a
bias as well.
- attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
+ attention, norm, network = 4 * D * D, 2 * D, 2 * D * F
- head = (D + 1) * V_target
+ head = D * V_target
## no_norms_at_all: The norms are forgotten, those in the blocks and those at the end of the two stacks.
- attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
+ attention, norm, network = 4 * D * (D + 1), 0, 2 * D * F + F + D
## no_output_map: You count three maps in attention and forget the output map.
+ attention, norm, network = 3 * D * (D + 1), 2 * D, 2 * D * F + F + D
## network_without_biases: The biases of the feed-forward layer are forgotten.
+ attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F
## no_last_norms: The norms at the end of the two stacks are forgotten.
- reader = D * V_source + M * (attention + 2 * norm + network) + norm
- writer = D * V_target + M * (2 * attention + 3 * norm + network) + norm
+ reader = D * V_source + M * (attention + 2 * norm + network)
+ writer = D * V_target + M * (2 * attention + 3 * norm + network)
## two_norms_in_the_decoder: For each layer 2 D numbers are missing: the third norm of a decoder block, or the last
biases of two feed-forward layers.
- writer = D * V_target + M * (2 * attention + 3 * norm + network) + norm
+ writer = D * V_target + M * (2 * attention + 2 * norm + network) + norm
## one_attention_in_the_decoder: A block of the decoder has two attentions, and you count one.
+ writer = D * V_target + M * (attention + 3 * norm + network) + norm
## head_without_bias: The head has a bias for each word, and you leave it out.
- head = (D + 1) * V_target
+ head = D * V_target
## no_target_table: The table in which the target is looked up and the matrix of the head are two, and you count one.
- writer = D * V_target + M * (2 * attention + 3 * norm + network) + norm
+ writer = M * (2 * attention + 3 * norm + network) + norm
## positions_counted: You count 2 D numbers too many, as many as one more norm would have.
- return reader + writer + head
+ return reader + writer + head + 2 * D
## one_block_each: You count one block in each stack, not M.
- reader = D * V_source + M * (attention + 2 * norm + network) + norm
- writer = D * V_target + M * (2 * attention + 3 * norm + network) + norm
+ reader = D * V_source + (attention + 2 * norm + network) + norm
+ writer = D * V_target + (2 * attention + 3 * norm + network) + norm
## sum_of_the_chapter: The chapter's sum for a block holds for a hidden width of 4 D; here it is F.
- attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
+ attention, norm, network = 4 * D * (D + 1), 2 * D, 8 * D * D + 5 * D
## head_of_the_source: Your head scores the words of the source; those of the target are written.
- head = (D + 1) * V_target
+ head = (D + 1) * V_source
## norms_without_a_shift: You count one number a feature in each norm; it has a scale and a shift.
- attention, norm, network = 4 * D * (D + 1), 2 * D, 2 * D * F + F + D
+ attention, norm, network = 4 * D * (D + 1), D, 2 * D * F + F + D
## waves_counted [tokens-with-positions]: You count the waves of 512 positions; they are computed, not learned.
- return reader + writer + head
+ return reader + writer + head + 2 * 512 * D

# head_by_head
## float_on_the_way: A float is on your way, and past 2^53 it loses the last digits: divide whole numbers with //.
- width = D // H
- one_attention = H * (3 * D * width + width * D) + 4 * D
+ width = D / H
+ one_attention = H * (3 * D * width + width * D) + 4 * D
- return blocks + D * (V_source + V_target) + V_target * D + V_target + 4 * D
+ return int(blocks + D * (V_source + V_target) + V_target * D + V_target + 4 * D)
""")
