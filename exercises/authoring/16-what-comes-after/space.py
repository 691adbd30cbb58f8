"""Exercise 16, question space: a state space and its kernel."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import close, draw_sizes

from .shared import part_right, parts_slip


def space_reference(x, a, b, c, h0):
    """The recurrence, one number of state at a time."""
    N, (D, R) = len(x), a.shape
    kernel, y, last = np.zeros((D, N)), np.zeros((N, D)), np.zeros((D, R))
    for d, r in np.ndindex(D, R):
        h, once = h0[d, r], b[d, r]
        for n in range(N):
            h = a[d, r] * h + b[d, r] * x[n, d]
            y[n, d] += c[d, r] * h
            kernel[d, n] += c[d, r] * once
            once *= a[d, r]
        last[d, r] = h
    return kernel, y, last


def draw_space(rng, start=True, n_tokens=None, factor=1.0, sizes=None):
    """Factors of both signs, and one of them 0."""
    N, D, R = sizes or draw_sizes(rng, 3)
    N = n_tokens or N
    a = rng.uniform(0.3, 0.98, size=(D, R)) * rng.choice([-1, 1], size=(D, R), p=[0.3, 0.7])
    a[1, 2] = 0.0
    b, c = rng.normal(size=(2, D, R))
    return factor * rng.normal(size=(N, D)), a, b, c, start * rng.normal(size=(D, R))


def from_a_state(rng):
    return [draw_space(rng), draw_space(rng, factor=1e4), draw_space(rng, n_tokens=1), draw_space(rng, sizes=(5, 5, 5))]


def several_spaces(rng):
    return [draw_space(rng), draw_space(rng, start=False), draw_space(rng, n_tokens=1)]


def from_zeros(rng):
    return [draw_space(rng, False), draw_space(rng, False, n_tokens=1)]


def space_shapes(x, a, *rest):
    return (len(a), len(x)), x.shape, a.shape


def handed_on(ask, rng):
    x, a, b, c, h0 = draw_space(rng, n_tokens=11)
    whole = ask(x, a, b, c, h0)
    if slip := parts_slip(whole, *space_shapes(x, a)):
        return slip
    for cut in (1, 4):
        first = ask(x[:cut], a, b, c, h0)
        if slip := parts_slip(first, *space_shapes(x[:cut], a)):
            return slip
        rest = ask(x[cut:], a, b, c, first[2])
        if slip := parts_slip(rest, *space_shapes(x[cut:], a)):
            return slip
        if not close(np.concatenate([first[1], rest[1]]), whole[1]):
            return f"Cut after token {cut}, with the state handed on, your outputs are not those of the whole text."
        if not close(rest[2], whole[2]):
            return f"Cut after token {cut}, with the state handed on, your last state is not that of the whole text."
    if not close(first[0], whole[0][:, :cut]):
        return "The kernel of a shorter text is the beginning of the kernel of a longer one; yours is not."
    return None


QUESTION = Question(
    id="space",
    title="A state space and its kernel",
    name="state_and_kernel",
    minutes=12,
    difficulty=2,
    checks=(
        equals("from zeros", 4, from_zeros, space_reference),
        equals("from a state", 4, from_a_state, space_reference),
        holds("the kernel alone", 3, part_right(0, several_spaces, space_reference, space_shapes)),
        holds("handed on", 5, handed_on),
    ),
    hints=(
        "Outputs and last state come from a loop over the tokens. For the kernel ask what a single 1 at the "
        "start of a long row of zeros leaves behind.",
        "The token itself, 0 steps back, has not faded at all. The state that you are given has faded once "
        "already when the first output is read.",
        "Each of the R numbers of a state has a power of its own factor; the sum over them comes last. And a "
        "factor may be 0 or negative, so leave logarithms out.",
    ),
    section="a-state-instead-of-a-cache",
    inputs=Inputs(axes("ND", "DR", "DR", "DR", "DR"), alike=("from a state",)),
)

right, wrong = answers_to(QUESTION)


@right
def loop_over_tokens(x, a, b, c, h0):
    power, columns = np.ones(a.shape), []
    h, rows = h0.copy(), []
    for token in x:
        columns.append(np.sum(c * power * b, axis=1))
        power = power * a
        h = a * h + token[:, np.newaxis] * b
        rows.append(np.einsum("dr,dr->d", c, h))
    return np.array(columns).T, np.array(rows), h


@right
def by_the_kernel(x, a, b, c, h0):
    N = len(x)
    powers = a[:, :, None] ** np.arange(N + 1)
    w = np.einsum("dr,dr,drn->dn", c, b, powers[:, :, :N])
    y = np.stack([np.convolve(w[d], x[:, d])[:N] for d in range(len(a))], axis=1)
    y = y + np.einsum("dr,drn,dr->nd", c, powers[:, :, 1:], h0)
    last = powers[:, :, N] * h0 + b * np.einsum("drn,nd->dr", powers[:, :, N - 1 :: -1][:, :, :N], x)
    return w, y, last


@right
def with_an_impulse(x, a, b, c, h0):
    def states(tokens, start):
        found = [start]
        for token in tokens:
            found.append(found[-1] * a + (b.T * token).T)
        return np.array(found[1:])

    impulse = np.zeros(x.shape)
    impulse[0] = 1
    answer = states(impulse, np.zeros(a.shape))
    real = states(x, h0)
    return (answer * c).sum(axis=2).T, (real * c).sum(axis=2), real[-1]


@right
def as_often_written(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    h, y = h0, np.zeros(x.shape)
    for n in range(N):
        h = a * h + b * x[n][:, None]
        y[n] = (c * h).sum(axis=1)
    return kernel, y, h


@wrong("What is left of the given state is missing from the state that you return.")
def start_lost_at_the_end(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    y = np.stack([(c * h0 * a ** (n + 1)).sum(axis=1) for n in range(N)])
    for n in range(N):
        y[n] += sum(kernel[:, j] * x[n - j] for j in range(n + 1))
    return kernel, y, sum(a ** (N - 1 - n) * b * x[n][:, None] for n in range(N))


@wrong("Your first output is read from the given state, and every token comes one place too late.")
def given_state_first(x, a, b, c, h0):
    N = len(x)
    kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
    states = [h0]
    for n in range(N - 1):
        states.append(a * states[-1] + b * x[n][:, None])
    return kernel, np.stack([(c * h).sum(axis=1) for h in states]), states[-1]


wrong.edits("""
# as_often_written
## start_ignored: You begin with zeros, whatever the state before the first token is.
- h, y = h0, np.zeros(x.shape)
+ h, y = np.zeros(h0.shape), np.zeros(x.shape)
## start_never_fades: The state that you are given never fades in your outputs.
- h, y = h0, np.zeros(x.shape)
+ h, y = np.zeros(h0.shape), np.zeros(x.shape)
- y[n] = (c * h).sum(axis=1)
+ y[n] = (c * (h + h0)).sum(axis=1)
## start_fades_late: The state that you are given fades one step too late in your outputs.
- h, y = h0, np.zeros(x.shape)
+ h, y = np.zeros(h0.shape), np.zeros(x.shape)
-     y[n] = (c * h).sum(axis=1)
- return kernel, y, h
+     y[n] = (c * (h + a**n * h0)).sum(axis=1)
+ return kernel, y, h + a**N * h0
## read_before_write_in_the_state: You read the state before the token is written into it.
  for n in range(N):
+     y[n] = (c * h).sum(axis=1)
- y[n] = (c * h).sum(axis=1)
## state_before_last: The state that you return is the one before the last token.
  for n in range(N):
+     before = h
- return kernel, y, h
+ return kernel, y, before
## fades_with_the_token: What a token brings in fades at once in your recurrence; only the old state does.
- h = a * h + b * x[n][:, None]
+ h = a * (h + b * x[n][:, None])
## never_fades: Your state never fades.
- h = a * h + b * x[n][:, None]
+ h = h + b * x[n][:, None]
## no_b: Your state takes the tokens in whole, without `b`.
- h = a * h + b * x[n][:, None]
+ h = a * h + x[n][:, None]
## b_on_the_state: You multiply the old state by `b` as well.
- h = a * h + b * x[n][:, None]
+ h = b * (a * h + x[n][:, None])
## leaky_average: You let a token in with 1 − a; here it is `b`, and need not sum to 1 with a.
- h = a * h + b * x[n][:, None]
+ h = a * h + (1 - a) * x[n][:, None]
## mean_of_states: Your outputs are a mean over the R numbers of a state; they are a sum.
- y[n] = (c * h).sum(axis=1)
+ y[n] = (c * h).mean(axis=1)
## no_c: Your outputs sum the states without the weights `c`.
- y[n] = (c * h).sum(axis=1)
+ y[n] = h.sum(axis=1)
## kernel_one_power_late: Your kernel begins with the first power of a; a token that is 0 steps back has not faded.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * b * a ** (j + 1)).sum(axis=1) for j in range(N)], axis=1)
## kernel_turned_round: Your kernel is the wrong way round: its first column is for the token itself.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N - 1, -1, -1)], axis=1)
## kernel_without_b: Your kernel leaves out `b`.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * a**j).sum(axis=1) for j in range(N)], axis=1)
## kernel_without_c: Your kernel leaves out `c`.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(b * a**j).sum(axis=1) for j in range(N)], axis=1)
## kernel_of_means: Your kernel is a mean over the R numbers of a state; it is a sum.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * b * a**j).mean(axis=1) for j in range(N)], axis=1)
## kernel_of_sums: You sum a, b and c over the R numbers before you multiply; each product has its own power.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([c.sum(axis=1) * b.sum(axis=1) * a.sum(axis=1) ** j for j in range(N)], axis=1)
## kernel_times_j: You multiply by a j times over as a · j; it is a power.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * b * a * j).sum(axis=1) for j in range(N)], axis=1)
## kernel_by_logarithms: You take powers by logarithms, and a factor that is 0 or negative has none.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * b * np.exp(j * np.log(a))).sum(axis=1) for j in range(N)], axis=1)
## kernel_of_sizes: You take powers of the size of a and lose its sign.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * b * np.abs(a) ** j).sum(axis=1) for j in range(N)], axis=1)
## powers_of_all: You take the power of the whole product, b and c included; only a fades again and again.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([((c * b * a) ** j).sum(axis=1) for j in range(N)], axis=1)
## kernel_with_start: Your kernel contains the state that was given; it belongs to the outputs only.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * (b + h0) * a**j).sum(axis=1) for j in range(N)], axis=1)
## kernel_transposed: Your kernel is N×D; asked is D×N.
- return kernel, y, h
+ return kernel.T, y, h
## outputs_first: Your results are in another order: first the kernel, then the outputs, then the last state.
- return kernel, y, h
+ return y, kernel, h
## outputs_from_kernel_alone: Your outputs are the convolution alone, so that the given state is missing from them.
      y[n] = (c * h).sum(axis=1)
+ y = np.stack([np.convolve(kernel[d], x[:, d])[:N] for d in range(len(a))], axis=1)
## round_and_round: Your convolution goes round in a circle: the last tokens leak into the first outputs.
- return kernel, y, h
+ spectra = np.fft.rfft(kernel, axis=1) * np.fft.rfft(x.T, axis=1)
+ start = [(c * a ** (n + 1) * h0).sum(axis=1) for n in range(N)]
+ return kernel, np.fft.irfft(spectra, N, axis=1).T + np.array(start), h
## centred: Your convolution is centred: each output reads tokens that come later.
- return kernel, y, h
+ start = [(c * a ** (n + 1) * h0).sum(axis=1) for n in range(N)]
+ y = np.stack([np.convolve(kernel[d], x[:, d], "same") for d in range(len(a))], axis=1)
+ return kernel, y + np.array(start), h
## impulse_from_the_state: Your kernel is the answer to a single 1 from the given state; it should be the answer from
zeros.
- kernel = np.stack([(c * b * a**j).sum(axis=1) for j in range(N)], axis=1)
+ kernel = np.stack([(c * (b * a**j + h0 * a ** (j + 1))).sum(axis=1) for j in range(N)], axis=1)
""")
