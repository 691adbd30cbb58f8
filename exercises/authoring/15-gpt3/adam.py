"""Exercise 15, question adam: Stretch: an optimiser in pieces."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes


def sharded_adam(weights, gradients, states, t, rate, betas, eps):
    """Plain Adam on the whole vector, and then cut."""
    m, v = (np.concatenate(parts) for parts in zip(*states, strict=True))
    g = gradients.mean(axis=0)
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
    R = len(states)
    after = weights - rate * m_hat / (np.sqrt(v_hat) + eps)
    return after, list(zip(np.array_split(m, R), np.array_split(v, R), strict=True))


BETAS = (0.8, 0.95)


def draw_state(rng, P, R):
    m, v = rng.normal(size=P), rng.uniform(0.1, 2, size=P)
    return list(zip(np.array_split(m, R), np.array_split(v, R), strict=True))


def draw_adam(rng, t, P=None, R=None, eps=0.05, betas=BETAS):
    drawn_P, drawn_R = sorted(draw_sizes(rng, 2), reverse=True)
    P, R = P or drawn_P, R or drawn_R
    return rng.normal(size=P), rng.normal(size=(R, P)), draw_state(rng, P, R), t, 0.1, betas, eps


def later_steps(rng):
    return [
        draw_adam(rng, 3),
        draw_adam(rng, 2, R=1),
        draw_adam(rng, 5, P=13, R=4),
        draw_adam(rng, 12),
        draw_adam(rng, 1001, betas=(0.999, 0.9999)),
    ]


def first_steps(rng):
    """From moments of zero, which the correction takes out; tiny gradients, where ε counts; empty pieces."""
    cases = []
    for scale in (1.0, 1e-3, 1e4):
        weights, gradients, states, *rest = draw_adam(rng, 1)
        states = [(np.zeros_like(m), np.zeros_like(v)) for m, v in states]
        cases.append((weights, scale * gradients, states, *rest))
    return [*cases, draw_adam(rng, 4, P=3, R=5)]


def adam_slip(found, P, sizes):
    if not isinstance(found, list | tuple) or len(found) != 2:
        return "The result should be a pair: the new weights and the list of the new states."
    weights, states = found
    if not isinstance(weights, np.ndarray) or weights.shape != (P,):
        return f"The new weights should be an array of shape {(P,)}."
    if not isinstance(states, list | tuple) or len(states) != len(sizes):
        return f"The new states should be a list of {len(sizes)} pairs."
    for worker, (pair, size) in enumerate(zip(states, sizes, strict=True)):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            return f"The state of GPU {worker} should be a pair (m, v)."
        if any(not isinstance(part, np.ndarray) or part.shape != (size,) for part in pair):
            return f"GPU {worker} owns {size} weights, so its m and v should have the shape {(size,)}."
    return None


def several_steps(ask, rng):
    """Five steps in a row, each from what the learner's own step returned."""
    weights, _, states, *_ = draw_adam(rng, 1, P=11, R=4)
    states = [(0 * m, 0 * v) for m, v in states]
    plain, plain_states = weights, states
    for t in range(1, 6):
        gradients = rng.normal(size=(4, 11))
        found = ask(weights, gradients, states, t, 0.1, BETAS, 1e-6)
        if slip := adam_slip(found, 11, [3, 3, 3, 2]):
            return slip
        weights, states = found
        plain, plain_states = sharded_adam(plain, gradients, plain_states, t, 0.1, BETAS, 1e-6)
        if not close(weights, plain, 1e-8):
            return f"After {t} of five steps your weights are {np.abs(weights - plain).max():.2g} off plain Adam's."
    return None


def only_its_own(ask, rng):
    """A worker's piece depends on nothing that belongs to another."""
    weights, gradients, states, *rest = draw_adam(rng, 2, P=9, R=4)
    sizes = [3, 2, 2, 2]
    found = ask(weights, gradients, states, *rest)
    if slip := adam_slip(found, 9, sizes):
        return slip
    elsewhere = gradients.copy()
    elsewhere[:, 3:5] += rng.normal(size=(4, 2))  # the weights of worker 1
    other = [(m + 1.0, v + 1.0) if worker == 1 else (m, v) for worker, (m, v) in enumerate(states)]
    again = ask(weights, elsewhere, other, *rest)
    if slip := adam_slip(again, 9, sizes):
        return slip
    keep = np.r_[0:3, 5:9]
    if not close(again[0][keep], found[0][keep]):
        return "GPU 1 gets other gradients and moments, and weights of other GPUs change in yours."
    if close(again[0][3:5], found[0][3:5]):
        return "GPU 1 gets other gradients and moments, but its weights stay in yours."
    swapped = ask(weights, gradients[::-1].copy(), states, *rest)
    if slip := adam_slip(swapped, 9, sizes):
        return slip
    if not close(swapped[0], found[0], 1e-8):
        return "It must not matter which GPU brings which gradient: all of them are averaged."
    return None


QUESTION = Question(
    id="adam",
    title="Stretch: an optimiser in pieces",
    name="sharded_adam",
    minutes=20,
    difficulty=3,
    checks=with_battery(
        equals("a later step", 4, later_steps, sharded_adam),
        equals("a first step, tiny and huge gradients", 3, first_steps, sharded_adam),
        holds("five steps", 4, several_steps),
        holds("only its own", 3, only_its_own),
        off=dict.fromkeys(("one of each", "odd sizes"), "a GPU has as many moments as weights"),
    ),
    hints=(
        "Cut the weights, and the columns of `gradients`, as the states are cut. What does GPU r need from "
        "the gradients of the others?",
        "Do everything for one piece in a loop over the GPUs: average, m, v, the two corrections, the step. "
        "Which of them know t?",
        "The states keep m and v *before* the correction; m̂ and v̂ are used for the step alone. ε is added to the root.",
    ),
    section="the-states-once-instead-of-everywhere",
    inputs=Inputs(axes("P", "RP")),
)

right, wrong = answers_to(QUESTION)


@right
def piece_by_piece(weights, gradients, states, t, rate, betas, eps):
    b_1, b_2 = betas
    R, new, kept = len(states), [], []
    ends = np.cumsum([len(m) for m, _ in states])
    for r in range(R):
        own = slice(ends[r] - len(states[r][0]), ends[r])
        g = np.mean(gradients[:, own], axis=0)
        m = b_1 * states[r][0] + (1 - b_1) * g
        v = b_2 * states[r][1] + (1 - b_2) * g * g
        kept.append((m, v))
        new.append(weights[own] - rate * (m / (1 - b_1**t)) / (np.sqrt(v / (1 - b_2**t)) + eps))
    return np.concatenate(new), kept


@right
def number_by_number(weights, gradients, states, t, rate, betas, eps):
    R, after, at = len(states), np.array(weights), 0
    new_states = []
    for m, v in states:
        m_new, v_new = np.empty_like(m), np.empty_like(v)
        for k in range(len(m)):
            g = sum(gradients[r, at] for r in range(R)) / R
            m_new[k] = betas[0] * m[k] + (1 - betas[0]) * g
            v_new[k] = betas[1] * v[k] + (1 - betas[1]) * g**2
            m_hat, v_hat = m_new[k] / (1 - betas[0] ** t), v_new[k] / (1 - betas[1] ** t)
            after[at] = weights[at] - rate * m_hat / (v_hat**0.5 + eps)
            at += 1
        new_states.append((m_new, v_new))
    return after, new_states


@right
def average_first(weights, gradients, states, t, rate, betas, eps):
    def update(w, g, state):
        m = state[0] + (1 - betas[0]) * (g - state[0])
        v = state[1] + (1 - betas[1]) * (g**2 - state[1])
        root = np.sqrt(v) / np.sqrt(1 - betas[1] ** t)
        return w - rate / (1 - betas[0] ** t) * m / (root + eps), (m, v)

    R = len(states)
    average = np.array_split(np.full(R, 1 / R) @ gradients, R)
    done = [update(*each) for each in zip(np.array_split(weights, R), average, states, strict=True)]
    return np.concatenate([w for w, _ in done]), [state for _, state in done]


@right
def as_often_written(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


wrong.edits("""
# as_often_written
## states_written_over: You write into the states of the caller.
- m = betas[0] * m + (1 - betas[0]) * g
- v = betas[1] * v + (1 - betas[1]) * g**2
+ m[:] = betas[0] * m + (1 - betas[0]) * g
+ v[:] = betas[1] * v + (1 - betas[1]) * g**2
## counted_from_zero: You take one from t; the first step has t = 1, so yours divides by 0 there.
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
+ m_hat, v_hat = m / (1 - betas[0] ** (t - 1)), v / (1 - betas[1] ** (t - 1))
## gradients_summed: You sum the GPUs' gradients; the shares are equal, and their mean is asked for.
- g = rows.mean(axis=0)
+ g = rows.sum(axis=0)
## its_own_gradient: Each GPU uses its own gradient; the others' gradients for its piece are lost.
- for own, rows, (m, v) in cuts:
-     g = rows.mean(axis=0)
+ for r, (own, rows, (m, v)) in enumerate(cuts):
+     g = rows[r]
## the_first_gradient: You use only the first GPU's gradient.
- g = rows.mean(axis=0)
+ g = rows[0]
## squares_averaged: You average the squares of the GPUs' gradients; it is the square of the average that v needs.
- v = betas[1] * v + (1 - betas[1]) * g**2
+ v = betas[1] * v + (1 - betas[1]) * (rows**2).mean(axis=0)
## no_correction: The two corrections are missing, so that the first steps come out too small or too large.
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
+ m_hat, v_hat = m, v
## only_m_corrected: The correction of v is missing.
+ m_hat, v_hat = m / (1 - betas[0] ** t), v
## only_v_corrected: The correction of m is missing.
+ m_hat, v_hat = m, v / (1 - betas[1] ** t)
## correction_of_the_first_step: Your corrections are those of the first step, whatever t is.
+ m_hat, v_hat = m / (1 - betas[0]), v / (1 - betas[1])
## one_step_late: Your corrections run a step ahead: the first step has t = 1.
+ m_hat, v_hat = m / (1 - betas[0] ** (t + 1)), v / (1 - betas[1] ** (t + 1))
## correction_multiplied: You multiply by 1 − βᵗ; divide by it.
+ m_hat, v_hat = m * (1 - betas[0] ** t), v * (1 - betas[1] ** t)
## correction_kept: You keep the corrected moments, which are then corrected again in the next step.
- kept.append((m, v))
+ kept.append((m_hat, v_hat))
## old_states_returned: Your states are those from before the step.
- R, pieces, kept = len(states), [], []
+ R, pieces, kept = len(states), [], list(states)
- kept.append((m, v))
## betas_exchanged: The two β are exchanged.
- m = betas[0] * m + (1 - betas[0]) * g
- v = betas[1] * v + (1 - betas[1]) * g**2
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
+ m = betas[1] * m + (1 - betas[1]) * g
+ v = betas[0] * v + (1 - betas[0]) * g**2
+ m_hat, v_hat = m / (1 - betas[2 - 1] ** t), v / (1 - betas[0] ** t)
## mixture_upside_down: You mix with β and 1 − β exchanged: the moments forget nearly everything.
- m = betas[0] * m + (1 - betas[0]) * g
- v = betas[1] * v + (1 - betas[1]) * g**2
+ m = (1 - betas[0]) * m + betas[0] * g
+ v = (1 - betas[1]) * v + betas[1] * g**2
## eps_under_the_root: Your ε stands under the root; add it to the root.
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ pieces.append(own - rate * m_hat / (np.sqrt(v_hat + eps)))
## no_eps_at_all: There is no ε in your step.
+ pieces.append(own - rate * m_hat / np.maximum(np.sqrt(v_hat), 1e-300))
## no_root: You divide by v̂; divide by its root.
+ pieces.append(own - rate * m_hat / (v_hat + eps))
## gradient_for_momentum: Your step goes along the gradient; go along m̂.
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ v_hat = v / (1 - betas[1] ** t)
+ pieces.append(own - rate * g / (np.sqrt(v_hat) + eps))
## gradient_not_squared: Your v needs the gradient squared.
- v = betas[1] * v + (1 - betas[1]) * g**2
+ v = betas[1] * v + (1 - betas[1]) * np.abs(g)
## old_moments_used: Your step uses the moments from before this gradient.
  g = rows.mean(axis=0)
+ m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
## up_the_gradient: You add the step; subtract it.
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ pieces.append(own + rate * m_hat / (np.sqrt(v_hat) + eps))
## one_worker_updates: Only the first GPU updates its weights.
- for own, rows, (m, v) in cuts:
+ for r, (own, rows, (m, v)) in enumerate(cuts):
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps) if r == 0 else own)
## each_its_own_rate: You divide the rate by the number of GPUs; the average has done that.
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ pieces.append(own - rate / R * m_hat / (np.sqrt(v_hat) + eps))
## pieces_turned_round: You put the pieces together in the wrong order.
- return np.concatenate(pieces), kept
+ return np.concatenate(pieces[::-1]), kept
## whole_moments_everywhere: Every GPU keeps the moments of all weights; it should keep those of its own piece.
+ whole = tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))
+ return np.concatenate(pieces), [whole] * R
## states_joined: You return one pair for all; the states stay in pieces, a pair for each GPU.
+ return np.concatenate(pieces), [tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))]
## pieces_not_joined: Your weights are still in pieces; everyone needs the whole vector again.
+ return pieces, kept
## average_over_weights: You average over the weights of a piece, so that all of them get one gradient.
- g = rows.mean(axis=0)
+ g = np.full(len(own), rows.mean() if len(own) else 0.0)
## correction_outside_the_root: You divide √v by 1 − β₂ᵗ; divide v, and take the root afterwards.
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ m_hat = m / (1 - betas[0] ** t)
+ pieces.append(own - rate * m_hat / (np.sqrt(v) / (1 - betas[1] ** t) + eps))
## square_of_the_momentum: Your v takes the square of m; square the gradient instead.
- v = betas[1] * v + (1 - betas[1]) * g**2
+ v = betas[1] * v + (1 - betas[1]) * m**2
## eps_not_corrected: You put both corrections into the rate, so that ε is corrected as well; add it to the root of v̂.
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ m_hat = m / (1 - betas[0] ** t)
+ pieces.append(own - rate * np.sqrt(1 - betas[1] ** t) * m_hat / (np.sqrt(v) + eps))
## gradients_cut_by_workers: You cut `gradients` by its rows, the GPUs; a piece needs some columns of all of them.
- cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
+ cuts = zip(np.array_split(weights, R), np.array_split(gradients, R), states, strict=True)
## first_entries_for_everyone: All GPUs take the first entries of the average; each needs those of its own weights.
- cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
- for own, rows, (m, v) in cuts:
-     g = rows.mean(axis=0)
+ for own, (m, v) in zip(np.array_split(weights, R), states, strict=True):
+     g = gradients.mean(axis=0)[: len(own)]
## eps_outside_the_fraction: You add ε to the fraction; add it to the root, in the denominator.
- pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
+ pieces.append(own - (rate * m_hat / np.sqrt(v_hat) + eps))
## power_of_the_difference: You divide by (1 − β)ᵗ; it is 1 − βᵗ, the power of β alone.
- m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
+ m_hat, v_hat = m / (1 - betas[0]) ** t, v / (1 - betas[1]) ** t
## brackets_missing: Without brackets m / 1 − βᵗ is m, less βᵗ; divide by the whole difference.
+ m_hat, v_hat = m / 1 - betas[0] ** t, v / 1 - betas[1] ** t
## one_beta_for_both: You correct v with β₁; its own is β₂.
+ m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[0] ** t)
## gradient_added_whole: You add the whole gradient to β₁ m; m is a mean, and takes 1 − β₁ of it.
- m = betas[0] * m + (1 - betas[0]) * g
+ m = betas[0] * m + g
""")
