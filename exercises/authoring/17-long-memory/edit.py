"""Exercise 17, question edit: one fact of a state exchanged, and no other."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip


def edit_reference(S, keys, place, value):
    """The smallest change for which one key finds the value and all others what they found."""
    found = keys @ S.T
    change = np.zeros(found.shape)
    change[place] = value - found[place]
    return S + change.T @ np.linalg.pinv(keys).T


def draw_args(rng, n, K, V, alike=0.0, long=False):
    keys = rng.normal(size=(n, K)) + alike * rng.normal(size=K)
    keys = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    if long:
        keys = keys * rng.uniform(0.5, 3.0, size=(n, 1))
    return rng.normal(size=(V, K)), keys, int(rng.integers(n)), rng.normal(size=V)


def few_facts(rng):
    return [draw_args(rng, 4, 9, 5), draw_args(rng, 3, 7, 11), draw_args(rng, 1, 5, 3), draw_args(rng, 5, 13, 4)]


def keys_alike(rng):
    """Keys that nearly point the same way, and as many keys as there are dimensions."""
    return [draw_args(rng, 4, 9, 5, alike=2.0), draw_args(rng, 7, 7, 3), draw_args(rng, 5, 11, 4, alike=1.0)]


def keys_of_any_length(rng):
    return [draw_args(rng, 4, 9, 5, long=True), draw_args(rng, 3, 8, 7, alike=1.0, long=True)]


def one_fact_and_no_other(ask, rng):
    S, keys, place, value = draw_args(rng, 5, 11, 3, alike=1.0)
    came = ask(S, keys, place, value)
    if slip := shape_slip(came, S.shape, "The result"):
        return slip
    if not close(came @ keys[place], value):
        return "The key that was to get a new value finds another one in your state."
    others = np.delete(keys, place, axis=0)
    if not close(others @ came.T, others @ S.T):
        return "The key that was to be changed finds its new value, but other keys find something else than before."
    aside = np.linalg.svd(keys)[2][len(keys)]
    if not close(came @ aside, S @ aside):
        return "In a direction at right angles to all keys your state has changed; leave it as it was."
    return None


QUESTION = Question(
    id="edit",
    title="Exchange one fact, and no other",
    name="edit",
    minutes=18,
    difficulty=2,
    checks=with_battery(
        equals("few facts", 4, few_facts, edit_reference, atol=1e-7),
        equals("keys alike", 4, keys_alike, edit_reference, atol=1e-7),
        equals("keys of any length", 3, keys_of_any_length, edit_reference, atol=1e-7),
        holds("one and no other", 4, one_fact_and_no_other),
        off={"one of each": "several keys of a single number are not linearly independent"},
    ),
    hints=(
        "The delta rule with β = 1 sets what one key finds. What does its update u kᵀ do to another key? When does it "
        "leave the other one alone?",
        "You may write along another direction than the key: S + u wᵀ. The other keys find what they found if w stands "
        "at right angles to each of them.",
        "Take from the key what the other keys can make together (`np.linalg.lstsq`, or a QR decomposition); what "
        "remains is w. Then choose u so that the key itself finds the new value: the key finds u (w · k).",
    ),
    section="a-state-that-can-overwrite-the-delta-rule",
    inputs=Inputs(axes("VK", "nK", "V"), alike=("keys alike",)),
)

right, wrong = answers_to(QUESTION)


@right
def along_what_remains(S, keys, place, value):
    others, key = np.delete(keys, place, axis=0), keys[place]
    w = key - others.T @ np.linalg.lstsq(others.T, key, rcond=None)[0] if len(others) else key
    return S + np.outer(value - S @ key, w) / (w @ key)


@right
def by_decomposition(S, keys, place, value):
    order = [i for i in range(len(keys)) if i != place] + [place]
    basis = np.linalg.qr(keys[order].T)[0]
    w = basis[:, -1]
    return S + np.outer(value - S @ keys[place], w / (w @ keys[place]))


@right
def by_the_inverse(S, keys, place, value):
    duals = np.linalg.pinv(keys)
    return S + np.outer(value - S @ keys[place], duals[:, place])


@right
def with_all_answers(S, keys, place, value):
    wanted = keys @ S.T
    wanted[place] = value
    change = np.linalg.solve(keys @ keys.T, wanted - keys @ S.T)
    return S + change.T @ keys


wrong.edits("""
# along_what_remains
## delta_rule: You write along the key, as the delta rule does: keys that are not at right angles to it find something
else.
- w = key - others.T @ np.linalg.lstsq(others.T, key, rcond=None)[0] if len(others) else key
+ w = key
## sum: You add the new value to what the key finds; take away what it found first.
- return S + np.outer(value - S @ key, w) / (w @ key)
+ return S + np.outer(value, w) / (w @ key)
## only_cleared: You clear the key and write nothing in its place.
+ return S - np.outer(S @ key, w) / (w @ key)
## not_divided: What the key finds is the new value times w · k: divide by it.
+ return S + np.outer(value - S @ key, w)
## divided_by_the_key: You divide by the squared length of the key; divide by w · k.
+ return S + np.outer(value - S @ key, w) / (key @ key)
## divided_by_the_length: You divide by the length of w, and not by w · k.
+ return S + np.outer(value - S @ key, w) / np.linalg.norm(w)
## taken_from_what_remains: What you take away is what w finds, not what the key finds.
+ return S + np.outer(value - S @ w, w) / (w @ key)
## nothing_else_left: Your state holds the new fact alone; all others are gone.
+ return np.outer(value, w) / (w @ key)
## by_one_after_another: You take the parts along the other keys away one by one from the key as it was; keys that are
not at right angles to each other share some of it.
- w = key - others.T @ np.linalg.lstsq(others.T, key, rcond=None)[0] if len(others) else key
+ w = key - sum((o * (o @ key) / (o @ o) for o in others), np.zeros(len(key)))
## from_one_other: You take away what one other key has in common with this one; there are several.
+ w = key - (others[0] * (others[0] @ key) / (others[0] @ others[0]) if len(others) else 0)
## the_first_key: You exchange the fact of the first key, whatever `place` says.
- others, key = np.delete(keys, place, axis=0), keys[place]
+ others, key = keys[1:], keys[0]
## the_last_key: You count the place from the end.
+ others, key = np.delete(keys, len(keys) - 1 - place, axis=0), keys[len(keys) - 1 - place]

# with_all_answers
## written_anew: You write a new state from the answers of the keys; what lies beside the keys is lost.
- change = np.linalg.solve(keys @ keys.T, wanted - keys @ S.T)
- return S + change.T @ keys
+ return np.linalg.solve(keys @ keys.T, wanted).T @ keys
## values_by_keys: Your new answers go through the keys themselves, not through their inverse.
- change = np.linalg.solve(keys @ keys.T, wanted - keys @ S.T)
- return S + change.T @ keys
+ return S + (wanted - keys @ S.T).T @ keys
""")
