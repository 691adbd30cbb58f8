"""Exercise 05, question lone-token: a stack and a lone token."""

from functools import reduce

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shapes_slip
from clearformer.reference import multihead

from .shared import IN_FLOAT32


def lone_token_map(stack):
    """In double precision, so that rounding is counted once."""
    D = len(stack[0][1])
    W, c = torch.eye(D, dtype=torch.float64), torch.zeros(D, dtype=torch.float64)
    for V, b in stack:
        through = torch.eye(D) + V.double().sum(dim=0)
        W, c = through @ W, through @ c + b
    return W.float(), c.float()


def draw_stack(rng, D, heads):
    return [(rng.normal(size=(H, D, D)) / np.sqrt(D * H), rng.normal(size=D)) for H in heads]


def shallow_stacks(rng):
    sizes = draw_sizes(rng, 3)
    return [(draw_stack(rng, D, heads),) for D, heads in zip((*sizes, 3), ([3], [2, 2], [3, 3, 3], [3]), strict=True)]


def deep_stacks(rng):
    D, E = draw_sizes(rng, 2)
    return [(draw_stack(rng, D, [2, 3, 1, 2]),), (draw_stack(rng, E, [1, 3, 2, 3, 2]),), (draw_stack(rng, 1, [2, 3]),)]


def matrix_alone(ask, rng):
    """W without c, so that it earns its points whatever the shift is."""
    D = draw_sizes(rng, 1)[0]
    stack = draw_stack(rng, D, [2, 3, 2])
    found = ask(stack)
    if slip := shapes_slip(found, ((D, D), (D,)), parts=(0,)):
        return slip
    W = reduce(lambda W, layer: W + layer[0].sum(axis=0) @ W, stack, np.eye(D))
    if not close(found[0], W, IN_FLOAT32 * max(1.0, np.abs(W).max())):
        return "Your W is not the matrix of this stack; c is not looked at here."
    return None


def equal_tokens(ask, rng):
    """The answer against live weights: multi-head attention on equal tokens."""
    D, K, N = draw_sizes(rng, 3)
    stack = draw_stack(rng, D, [2, 3, 2])
    found = ask(stack)
    if slip := shapes_slip(found, ((D, D), (D,))):
        return slip
    X = start = np.repeat(rng.normal(size=(D, 1)), N, axis=1)
    for V, b in stack:
        U_q, U_k = rng.normal(size=(2, len(V), K, D))
        X = X + multihead.multi_head(X, U_q, U_k, V)[0] + b[:, None]
    predicted = found[0] @ start + found[1][:, None]  # the reference has tokens in columns
    if not close(predicted, X, IN_FLOAT32 * max(1.0, np.abs(X).max())):
        gap = np.abs(predicted - X).max()
        return f"Through a real stack, {N} equal tokens come out {gap:.2g} away from what your W and c predict."
    return None


QUESTION = Question(
    id="lone-token",
    title="A stack and a lone token",
    name="lone_token_map",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        holds("matrix alone", 3, matrix_alone),
        equals("shallow stacks", 4, shallow_stacks, lone_token_map),
        equals("deep stacks", 2, deep_stacks, lone_token_map),
        holds("equal tokens", 3, equal_tokens),
    ),
    hints=(
        "Write out what one layer does to x, with the weight of a lone token put in. What is multiplied with x "
        "and what is added?",
        "Put the result of the first layer into the second and sort: what stands before x, and what does not "
        "contain x at all? Does the first shift come out of the second layer as it went in?",
        "Keep a matrix and a shift and update both layer by layer. In W x the matrix that x meets first stands nearest "
        "to it; a token in a row is multiplied by the transposes, from the right.",
    ),
    section="the-lamp-on-the-stairs",
    inputs=Inputs(no_sizes="all matrices of a stack are square, of one size"),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def layer_by_layer(layers):
    D = layers[0][1].numel()
    W, c = torch.eye(D), torch.zeros(D)
    for V, b in layers:
        step = torch.eye(D) + sum(V)
        W, c = step @ W, step @ c + b
    return W, c


@right
def with_a_feature_of_ones(layers):
    """Matrix and shift as one matrix on a token that is one number longer."""
    D = len(layers[0][1])
    whole = torch.eye(D + 1)
    for V, b in layers:
        step = torch.eye(D + 1)
        step[:D, :D] += torch.einsum("hij->ij", V)
        step[:D, D] = b
        whole = step @ whole
    return whole[:D, :D], whole[:D, D]


@right
def by_probing(layers):
    """Send the zero vector and the unit vectors through the stack, as rows."""

    def through(x):
        for V, b in layers:
            x = x + sum(x @ head.T for head in V) + b
        return x

    D = len(layers[0][1])
    c = through(torch.zeros(D))
    return torch.stack([through(unit) - c for unit in torch.eye(D)], dim=1), c


@wrong("You multiply matrices entry by entry; layers one after the other need the matrix product.")
def entry_by_entry(layers):
    D = len(layers[0][1])
    W, c = torch.ones(D, D), torch.zeros(D)
    for V, b in layers:
        step = torch.eye(D) + V.sum(dim=0)
        W, c = step * W, step @ c + b
    return W, c


@wrong("You return the matrix alone: with biases the stack is a matrix and a shift.")
def matrix_without_its_shift(layers):
    D = len(layers[0][1])
    W = torch.eye(D)
    for V, _ in layers:
        W = (torch.eye(D) + V.sum(dim=0)) @ W
    return W


wrong.edits("""
# layer_by_layer
## order_reversed: Your product runs the wrong way round: the first layer has to meet the token first.
- step = torch.eye(D) + sum(V)
- W, c = step @ W, step @ c + b
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = W @ step, step @ c + b
## no_residual: The residual connection is missing: your layers throw the token away and keep only what attention gives.
- step = torch.eye(D) + sum(V)
+ step = V.sum(dim=0)
## residual_in_every_head: You add the token once for every head, but a layer has one residual connection.
+ step = sum(torch.eye(D) + V_h for V_h in V)
## heads_averaged: You average the heads where they are to be added.
+ step = torch.eye(D) + V.mean(dim=0)
## heads_in_a_row: You send the token through the heads one after the other, but they stand side by side.
- step = torch.eye(D) + sum(V)
- W, c = step @ W, step @ c + b
+ for V_h in V:
+     W, c = W + V_h @ W, c + V_h @ c
+ c = c + b
## layers_side_by_side: You add up the layers as if each saw the first token; a later one sees what the earlier gave.
+ W, c = W + V.sum(dim=0), c + b
## shifts_only_added: Your shifts are only added up, but a later layer also transforms the shifts of the earlier ones.
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = step @ W, c + b
## last_shift_alone: You keep the shift of the last layer alone.
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = step @ W, 1.0 * b
## shift_through_its_own_layer: You send each shift through its own layer, but it is added behind that layer's matrices.
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = step @ W, step @ (c + b)
## shift_without_residual: You leave the shift of the earlier layers out of the residual connection, but it is part of
the token and passes along too.
+ step = V.sum(dim=0)
+ W, c = W + step @ W, step @ c + b
## turned_matrix: Your W is transposed: as in `nn.Linear`, the token is multiplied by the transpose of W, from the
right.
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = W @ step.T, step @ c + b
## no_shift: Your shift is 0, although every layer has a bias.
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = step @ W, 0 * b
## first_head_alone: You use the first head of each layer alone.
- step = torch.eye(D) + sum(V)
+ step = torch.eye(D) + V[0]
## one_residual_for_the_stack: You carry the token past the whole stack once, but every layer has its own residual
connection.
-     step = torch.eye(D) + sum(V)
-     W, c = step @ W, step @ c + b
+     step = V.sum(dim=0)
+     W, c = (step @ W, step @ c + b)
+ W = W + torch.eye(D)
## bias_in_every_head: You add the bias once for every head, but a layer has one.
- step = torch.eye(D) + sum(V)
- W, c = step @ W, step @ c + b
+ step = torch.eye(D) + V.sum(dim=0)
+ W, c = step @ W, step @ c + len(V) * b
""")
