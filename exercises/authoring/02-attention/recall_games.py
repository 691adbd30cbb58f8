"""Games of recall: twenty cards are dealt, and then the suit of one of them is asked for."""

import numpy as np
from clearcheck.author.torch_arguments import training_call

SUITS, CARDS, STEPS = 4, 20, 400
NEW, ASKED_AGAIN = 600, 100  # games that nobody has seen, and how many of them are changed, to see what matters


def games(rng, n_games, places=tuple(range(CARDS))):
    """Twenty cards, and then the question; question 4 + i asks for the card at `places[i]`: its suit is the answer."""
    cards, asked = rng.integers(0, SUITS, size=(n_games, CARDS)), rng.integers(0, CARDS, size=(n_games, 1))
    answers = np.take_along_axis(cards, np.array(places)[asked], axis=1)
    return np.concatenate([cards, SUITS + asked], axis=1), answers[:, 0]


def draw_args(rng):
    """The questions ask for other places than they say, or a player could have the rule without learning it.

    After the new games come some of them dealt backwards, the same with another question, and games of the training;
    beside each answer stands how far back its card lies.
    """
    places = (np.arange(CARDS) + rng.integers(1, CARDS)) % CARDS
    (seen, answers), (unseen, targets) = games(rng, 3000, places), games(rng, NEW, places)
    few, known = unseen[:ASKED_AGAIN], slice(0, NEW)
    backwards, another = few.copy(), few.copy()
    backwards[:, :-1] = few[:, -2::-1]
    another[:, -1] = SUITS + (few[:, -1] - SUITS + CARDS // 2) % CARDS
    held_out = np.concatenate([unseen, backwards, another, seen[known]])
    back = CARDS - np.array(places)[unseen[:, -1] - SUITS]
    asked = np.concatenate([targets, targets[:ASKED_AGAIN], targets[:ASKED_AGAIN], answers[known]])
    beside = np.concatenate([back, np.zeros(len(held_out) - NEW, int)])
    call = training_call(seen, answers, STEPS, held_out=(held_out,), seed=int(rng.integers(1000)))
    return call, np.stack([asked, beside], axis=1)
