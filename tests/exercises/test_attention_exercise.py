"""The game of exercise 02: players that do not look lose it with four times the steps, too, and are told what they do.

That attention wins it with the defaults of Adam is shown by the proof, whose second right answer has these.
"""

import numpy as np
import pytest
import torch
from torch import nn

from tests.exercises.course_exercises import course_exercise, task_of

SLUG, TIMES, GAMES_A_STEP = "02-attention", 4, 64
RIVALS = {
    "MLP": lambda: nn.Sequential(
        nn.Embedding(24, 32), nn.Flatten(), nn.Linear(21 * 32, 256), nn.ReLU(), nn.Linear(256, 4)
    ),
    "GRU": lambda: Recurrent(),
    "fixed average": lambda: FixedAverage(),
}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.gru, self.head = nn.Embedding(24, 32), nn.GRU(32, 32, batch_first=True), nn.Linear(32, 4)

    def forward(self, games):
        return self.head(self.gru(self.embed(games))[0][:, -1])


class FixedAverage(nn.Module):
    """One learned weight for each place, the same in every game."""

    def __init__(self):
        super().__init__()
        self.embed, self.scores, self.head = nn.Embedding(24, 32), nn.Parameter(torch.zeros(21)), nn.Linear(32, 4)

    def forward(self, games):
        return self.head(self.scores.softmax(dim=0) @ self.embed(games))


def of_the_question(name):
    """A name of the module of the question."""
    return course_exercise(SLUG).right.of("recall")[0].function.__globals__[name]


def train(player, games, answers, steps, rate):
    adam = torch.optim.Adam(player.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        chosen = torch.randint(len(games), (GAMES_A_STEP,))
        adam.zero_grad()
        nn.functional.cross_entropy(player(games[chosen]), answers[chosen]).backward()
        adam.step()


def share_won(player, steps, rate, seed=0):
    """How many of the new games of the check a player wins after so many steps on the check's own games."""
    (plan,), targets = of_the_question("draw_args")(np.random.default_rng(seed))
    games, answers, _ = plan["arguments"]
    torch.manual_seed(seed)
    train(player, torch.tensor(games), torch.tensor(answers), steps, rate)
    with torch.no_grad():
        return of_the_question("share_right")(player(torch.tensor(plan["held_out"][0])).numpy(), targets)


@pytest.mark.slow
@pytest.mark.parametrize("name", RIVALS)
def test_a_rival_does_not_win_with_four_times_the_steps(name):
    """Catches a game that is won without looking: none comes near the share that the first of the two checks asks."""
    torch.manual_seed(1)
    assert share_won(RIVALS[name](), TIMES * of_the_question("STEPS"), rate=5e-3) < of_the_question("BAG")


def test_the_budget_is_the_one_of_the_task():
    """Catches a budget that was changed in the check alone."""
    steps, few = of_the_question("STEPS"), of_the_question("FEW")
    assert f"{steps}, or {few} where a check asks how the player behaves" in task_of(SLUG, "recall")


NEW, CHANGED = 600, 100


def scores(new, backwards, another, known):
    """Scores that name a suit for each game: the new ones, those dealt backwards, those asked anew, the known ones."""
    return np.eye(4)[np.concatenate([new, backwards, another, known])]


def test_what_a_player_does_is_told():
    """Catches a sign that fits no player, or one that fits another: each is made from the answers themselves."""
    sign_of, (_, targets) = of_the_question("sign_of"), of_the_question("draw_args")(np.random.default_rng(5))
    rng, (answers, back) = np.random.default_rng(5), targets.T
    new, known = answers[:NEW], answers[-NEW:]
    guess, other = rng.integers(4, size=NEW), (new[:CHANGED] + 1) % 4
    near = np.where(back[:NEW] < 4, new, guess)
    told = {
        "the question does not reach them": scores(guess, guess[:CHANGED] * 0, guess[:CHANGED], known),
        "does it know where a card lies?": scores(guess, guess[:CHANGED], other, known),
        "guesses at the first": scores(near, other, other, known),
        "learned games by heart": scores(guess, other, (guess[:CHANGED] + 1) % 4, known),
    }
    for sentence, output in told.items():
        assert sentence in sign_of(output, targets), sentence
    assert sign_of(scores(new, other, (new[:CHANGED] + 2) % 4, known), targets) == ""
