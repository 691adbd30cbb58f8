"""Exercise 19, question clip: several steps on the same attempts, token by token, and where the loss stops pulling."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import tensors_call
from clearcheck.author.torch_checks import equal_in_float32


def clip_reference(new, old, worth, mask, low, high):
    ratio = (new[mask] - old[mask]).exp()
    a = worth[:, None].expand(new.shape)[mask]
    return -torch.minimum(ratio * a, ratio.clip(1 - low, 1 + high) * a).sum() / len(a)


def draw_args(rng, attempts=5, tokens=7, spread=0.4, low=0.2, high=0.3):
    """Answers of different lengths, in which some tokens were not written by the model."""
    old = -rng.uniform(1, 9, size=(attempts, tokens))
    new = old + spread * rng.normal(size=old.shape)
    mask = (rng.random(old.shape) < 0.7) & (np.arange(tokens) < rng.integers(1, tokens + 1, size=(attempts, 1)))
    mask[0, 0] = mask[-1, : tokens - 1] = True
    return new, old, rng.normal(size=attempts), mask, low, high


def near_cases(rng):
    return [
        draw_args(rng),
        draw_args(rng, 3, 11, 0.1),
        draw_args(rng, 4, 9, 0.2, 0.1, 0.25),
        draw_args(rng, 1, 5),
        draw_args(rng, 3, 1),
    ]


def far_cases(rng):
    """Ratios far and just beyond on both sides, for both signs: each is cut off on one side only."""
    worth = np.array([1.5, -0.5])
    old = -rng.uniform(1, 9, size=(2, 5))
    gone = np.log(np.array([[4.0, 1.4, 1.1, 0.7, 0.2]] * 2))
    whole = np.ones((2, 5), dtype=bool)
    return [(old + gone, old, worth, whole, 0.2, 0.3), draw_args(rng, 13, 5, 2.0), draw_args(rng, 9, 4, 3.0)]


def with_anything_hidden(rng, *sizes):
    """What the mask hides is a thousand nats apart, so that e to the difference is infinite or 0."""
    new, old, worth, mask, low, high = draw_args(rng, *sizes)
    mask[:, -1] = False
    worth[0] = -1.0  # the minimum keeps a ratio that is infinite
    far = 1000 * rng.choice([-1.0, 1.0], size=new.shape)
    far[0] = 1000
    return np.where(mask, new, old + far), old, worth, mask, low, high


def hidden_cases(rng):
    return [with_anything_hidden(rng), with_anything_hidden(rng, 3, 8)]


def square(rng):
    return [draw_args(rng, 7, 7)]


MIXED = float(torch.randn((), generator=torch.Generator().manual_seed(0)))  # what comes back is so many times the slope


def slopes(ask, rng):
    """By the new log-probabilities: minus ratio times advantage over the number of tokens, 0 where it is cut off."""
    for args in (draw_args(rng), draw_args(rng, 3, 11, 1.5), with_anything_hidden(rng)):
        new, old, worth, mask, low, high = args
        came = ask(*tensors_call(*args, gives="gradients")).get("gradient of argument 1")
        if not isinstance(came, np.ndarray):
            return "No gradient reaches `new`: look for detach(), item() or no_grad()."
        if np.isnan(came).any():
            return "Some of your gradients are nan: what the mask hides went through an exponential."
        if came[~mask].any():
            return "A token that the mask hides gets a gradient; neither it nor what stands there should count."
        ratio, a = np.exp(np.where(mask, new - old, 0)), worth[:, None]
        came = came / MIXED
        pulls = mask & np.where(a > 0, ratio < 1 + high, ratio > 1 - low)
        expected = np.where(pulls, -ratio * a / mask.sum(), 0)
        if not equal_in_float32(came, expected):
            place = np.unravel_index(np.abs(came - expected).argmax(), came.shape)
            told = f"its ratio is {ratio[place]:.3f}, its advantage {a[place[0], 0]:.3f}"
            return (
                f"At token {place[1]} of attempt {place[0]} ({told}, limits {1 - low:.2f} and {1 + high:.2f}) the "
                f"gradient is {expected[place]:.5f}; yours is {came[place]:.5f}."
            )
    return None


QUESTION = Question(
    id="clip",
    title="Several steps on the same attempts, in PyTorch",
    name="policy_loss",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("ratios near 1", 3, near_cases, clip_reference),
        equals("ratios far from 1", 3, far_cases, clip_reference),
        equals("what the mask hides", 1, hidden_cases, clip_reference),
        equals("as many attempts as tokens", 1, square, clip_reference),
        holds("slopes", 3, slopes),
        off={
            "boundary": "at a limit itself both parts are equal, and the loss has a kink",
            "mask": "what it hides are no scores of a softmax; a check of its own puts anything there",
            "gradients": "old and worth are constants, which an answer may detach or not; the slopes ask for the rest",
        },
    ),
    hints=(
        "The ratio is e to the difference of the two log-probabilities, token by token. How must `worth` stand, so "
        "that every token meets the advantage of its own attempt?",
        "Draw min(ρ · a, ρ′ · a) against ρ, once for a = 1 and once for a = −1: each is cut off on one side alone. "
        "Then ask by what the sum is divided: by how many tokens?",
        "Leave out what the mask hides *before* the exponential, with `[mask]` or with a difference of 0. Infinity "
        "times 0 is no number, in the loss and in its gradient.",
    ),
    section="several-steps-on-the-same-attempts",
    inputs=Inputs(axes("BN", "BN", "B", "BN"), alike=("as many attempts as tokens",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def tokens_picked(new, old, worth, mask, low, high):
    a = worth[:, None].expand_as(new)[mask]
    ratio = (new - old)[mask].exp()
    plain, cut = ratio * a, ratio.clamp(1 - low, 1 + high) * a
    return -torch.minimum(plain, cut).mean()


@right
def under_the_mask(new, old, worth, mask, low, high):
    gone = torch.where(mask, new - old, 0.0)
    ratio, a = gone.exp(), worth.unsqueeze(1)
    kept = torch.where(a > 0, ratio.clamp(max=1 + high), ratio.clamp(min=1 - low)) * a
    return -(kept * mask).sum() / mask.sum()


@right
def attempt_by_attempt(new, old, worth, mask, low, high):
    total = torch.zeros(())
    for i, a in enumerate(worth.tolist()):
        ratio = torch.exp(new[i, mask[i]] - old[i, mask[i]])
        limit = 1 + high if a > 0 else 1 - low
        too_far = a * (ratio - limit) > 0
        total = total + a * torch.where(too_far, limit, ratio).sum()
    return -total / mask.sum()


wrong.edits("""
# tokens_picked
## upside_down: Your ratio is old over new.
- ratio = (new - old)[mask].exp()
+ ratio = (old - new)[mask].exp()
## no_exponential: You take the difference of the log-probabilities for the ratio.
+ ratio = 1 + (new - old)[mask]
## divided_logarithms: You divide the log-probabilities; the ratio is that of the probabilities.
+ ratio = (new / old)[mask]
## one_ratio_per_attempt: You take one ratio for a whole attempt, that of its probabilities; each token has its own.
+ ratio = torch.where(mask, new - old, 0.0).sum(1, keepdim=True).exp().expand_as(new)[mask]
## mean_ratio_per_attempt: You take one ratio for a whole attempt, with a root of its length; each token has its own.
+ gone = torch.where(mask, new - old, 0.0).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
+ ratio = gone.exp().expand_as(new)[mask]
## ratio_detached: Your ratio is detached, and no gradient reaches the policy.
+ ratio = (new - old)[mask].exp().detach()
## advantages_along_the_tokens: You lay the advantages along the tokens; each attempt has one for all of its tokens.
- a = worth[:, None].expand_as(new)[mask]
+ a = worth.repeat(new.numel())[: new.numel()].view_as(new)[mask]
## mean_advantage: You give all tokens the mean of the advantages; each has that of its attempt.
+ a = worth.mean()
## sides_exchanged: You cut off at 1 − high and 1 + low; it is the other way round.
- plain, cut = ratio * a, ratio.clamp(1 - low, 1 + high) * a
+ plain, cut = ratio * a, ratio.clamp(1 - high, 1 + low) * a
## low_on_both_sides: You cut off at 1 + low above; the limit there is 1 + high.
+ plain, cut = ratio * a, ratio.clamp(1 - low, 1 + low) * a
## product_clipped: You cut off the product with the advantage; the ratio is cut off.
+ plain, cut = ratio * a, (ratio * a).clamp(1 - low, 1 + high)
## clipped_everywhere: You always take the part that is cut off; a token of a bad attempt that became likelier must
still be pushed down.
- return -torch.minimum(plain, cut).mean()
+ return -cut.mean()
## never_clipped: You never cut off.
+ return -plain.mean()
## maximum: You take the larger of the two, or put the minus before the minimum, which comes to the same.
+ return -torch.maximum(plain, cut).mean()
## sign: Your loss has the wrong sign: it falls where the advantages are lost.
+ return torch.minimum(plain, cut).mean()
## summed: Your loss is a sum; it is the mean over the tokens that count.
+ return -torch.minimum(plain, cut).sum()
## a_number: You return a number of Python, through which no gradient flows.
+ return -torch.minimum(plain, cut).mean().item()

# under_the_mask
## mask_forgotten: You forget the mask: tokens that the model did not write count as well.
- gone = torch.where(mask, new - old, 0.0)
+ gone = new - old
- return -(kept * mask).sum() / mask.sum()
+ return -kept.mean()
## hidden_as_unchanged: Tokens that the mask hides count in your loss with a ratio of 1.
- return -(kept * mask).sum() / mask.sum()
+ return -kept.mean()
## divided_by_all_tokens: You divide by the number of all tokens; divide by that of the tokens that count.
+ return -(kept * mask).sum() / mask.numel()
## divided_by_attempts: You divide by the number of attempts; divide by that of the tokens that count.
+ return -(kept * mask).sum() / len(worth)
## mean_per_attempt: You take the mean of each attempt first, so that a token of a long attempt counts for less.
+ return -((kept * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()
## mean_per_written_attempt: You take the mean of each attempt first, of those with a token that counts; all tokens
together have one mean.
+ means = (kept * mask).sum(1) / mask.sum(1).clamp(min=1)
+ return -means.sum() / mask.any(1).sum()
## mask_upside_down: Your mask is upside down: what it hides counts.
- gone = torch.where(mask, new - old, 0.0)
+ gone = torch.where(mask, 0.0, new - old)
- return -(kept * mask).sum() / mask.sum()
+ return -(kept * ~mask).sum() / (~mask).sum()
## masked_too_late: You take the exponential first and multiply by the mask afterwards: infinity times 0 is no number.
- gone = torch.where(mask, new - old, 0.0)
+ gone = new - old
## gradient_masked_too_late: Your loss leaves out what the mask hides, but its gradient goes through an exponential that
is infinite, and becomes nan.
- gone = torch.where(mask, new - old, 0.0)
+ gone = new - old
- return -(kept * mask).sum() / mask.sum()
+ return -torch.where(mask, kept, 0.0).sum() / mask.sum()
""")
