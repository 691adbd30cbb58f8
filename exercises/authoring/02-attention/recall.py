"""Exercise 02, question recall: a player that is told which card is asked for, and learns to look there."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import forgetful_slip, learns
from torch import nn

from .recall_games import ASKED_AGAIN, CARDS, NEW, STEPS, SUITS, draw_args, games

SECONDS = 20.0  # of one loop, on a slow machine too
FEW, CLOSE = 8, 1e-3
A_BAG, WHAT = "more than a bag", "share of right answers"
BAG, NEARLY_ALL = 0.6, 0.9  # a bag of cards wins less than two fifths of the games, and an MLP about half
FAR_APART = 0.25  # two shares of right answers, which no chance makes


def share_right(output, targets):
    if output.shape != (len(targets), SUITS):
        raise ValueError(f"outputs of shape {output.shape}; one row of {SUITS} scores for each game is asked for")
    return np.mean(output[:NEW].argmax(axis=1) == targets[:NEW, 0])


def sign_of(output, targets):
    """What the scores for changed games, for known ones and for near cards are a sign of."""
    new, backwards, another, known = np.split(output, [NEW, NEW + ASKED_AGAIN, NEW + 2 * ASKED_AGAIN])
    right, back = new.argmax(axis=1) == targets[:NEW, 0], targets[:NEW, 1]
    share, by_heart = np.mean(right), np.mean(known.argmax(axis=1) == targets[-NEW:, 0])
    if close(another, new[:ASKED_AGAIN], CLOSE):
        return "Asked for another card your player gives the same scores: the question does not reach them."
    if close(backwards, new[:ASKED_AGAIN], CLOSE):
        return "Where the cards are dealt backwards it gives the same scores: does it know where a card lies?"
    if share < BAG and np.mean(right[back == 1]) > np.mean(right[back > CARDS // 2]) + 2 * FAR_APART:
        return "It knows the card dealt last and guesses at the first: what it carries from card to card gets lost."
    if share < BAG and by_heart > share + FAR_APART:
        return (
            f"Of the games that it was trained on it wins {by_heart:.0%}, of new ones {share:.0%}: it has learned "
            "games by heart, and no rule for finding a card."
        )
    return ""


def wins(threshold):
    """A player that is right in so many new games; where it is not, what it does is told."""

    def test(ask, rng):
        signs = []

        def score(output, targets):
            share = share_right(output, targets)
            signs.append(sign_of(output, targets))
            return share

        learned = learns(draw_args, STEPS, score, threshold, WHAT, smaller=False, advice=lambda share: signs[-1])
        return learned(ask, rng)

    return test


def player_of_a_few_steps(ask, rng):
    """Not how good it is, but that it was trained, and takes a game alone as it takes it among others."""
    (seen, answers), (unseen, _) = games(rng, 3000), games(rng, 5)
    seed = int(rng.integers(1000))

    def scores(held_out):
        came = ask(*training_call(seen, answers, FEW, held_out=(held_out,), seed=seed))
        return came["output"], came

    alone, came = scores(unseen[:1])
    steps = came["steps"]
    if steps > FEW:
        return f"Your loop was given {FEW} steps and took {steps}: `steps` says how many are allowed."
    if not steps:
        return "Your loop took no step of an optimiser of PyTorch: the player has to be trained."
    if slip := forgetful_slip(came):
        return slip
    if ask.calls[-1].changed:
        return "Your code changed the games that it was given: compute into a new tensor."
    if slip := shape_slip(alone, (1, SUITS), "For one game the output of your player"):
        return slip
    if not np.isfinite(alone).all():
        return "For a single game your player's scores are nan or inf: it divides by what it takes over the batch."
    among, _ = scores(unseen)
    if not close(among[:1], alone, CLOSE) and close(scores(unseen[:1])[0], alone, CLOSE):
        return "Your player's scores for a game change with the games beside it in the batch."
    return None


QUESTION = Question(
    id="recall",
    title="Stretch: a player that looks where it is told",
    name="train_player",
    minutes=30,
    difficulty=3,
    checks=with_battery(
        holds(A_BAG, 4, wins(BAG)),
        holds("nearly all", 10, wins(NEARLY_ALL), drawn_as=A_BAG),
        holds("a few steps", 2, player_of_a_few_steps),
    ),
    hints=(
        "Begin with the chapter's player that looks. What does its query have to know here, and from which of the "
        "twenty-one tokens can it know it? What does a key have to know?",
        "There are 24 different ids and 21 positions. Give each id a vector and each position one, add the two, and "
        "let the last token ask.",
        "A step: draw some games at random, cross-entropy of the player's scores and *their* answers, gradients to "
        "zero, backward, step. Adam with its default learning rate and 64 games a step will do.",
    ),
    section="attention-plays-the-game",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a game", no_softmax="the scores are made inside"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def with_three_maps(games, answers, steps):
    class Seeker(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.ids, self.places = nn.Embedding(24, width), nn.Parameter(torch.randn(21, width))
            self.asks, self.offers, self.gives = (nn.Linear(width, width, bias=False) for _ in range(3))
            self.suits = nn.Linear(width, 4)

        def forward(self, games):
            x = self.ids(games) + self.places
            fits = self.asks(x[:, -1:]) @ self.offers(x).mT / x.shape[-1] ** 0.5
            found = fits.softmax(dim=-1) @ self.gives(x)
            return self.suits(found[:, 0])

    player = Seeker()
    adam = torch.optim.Adam(player.parameters(), lr=5e-3, fused=True)
    for _ in range(steps):
        some = torch.randint(len(games), (64,))
        gone = nn.functional.cross_entropy(player(games[some]), answers[some])
        adam.zero_grad()
        gone.backward()
        adam.step()
    return player


@right
def with_the_layer_of_torch(games, answers, steps):
    class Seeker(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.place = nn.Embedding(24, 32), nn.Embedding(21, 32)
            self.look, self.out = nn.MultiheadAttention(32, 1, batch_first=True), nn.Linear(32, 4)

        def forward(self, games):
            tokens = self.embed(games) + self.place(torch.arange(21))
            return self.out(self.look(tokens[:, -1:], tokens, tokens)[0].squeeze(1))

    player = Seeker()
    rule = torch.optim.AdamW(player.parameters())  # its defaults will do
    for _ in range(steps):
        batch = torch.randperm(len(games))[:96]
        rule.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(player(games[batch]), answers[batch]).backward()
        rule.step()
    return player


@right
def with_a_table_of_places(games, answers, steps):
    """The suit is the value and the position is the key: nothing else has to be learned."""

    class Seeker(nn.Module):
        def __init__(self):
            super().__init__()
            self.question, self.key = nn.Embedding(24, 16), nn.Parameter(torch.randn(20, 16))
            self.value = nn.Parameter(torch.zeros(24, 4))  # no suit is preferred at the start

        def forward(self, games):
            shares = torch.softmax(self.question(games[:, -1]) @ self.key.T / 4, dim=1)
            return (shares[:, :, None] * self.value[games[:, :20]]).sum(dim=1)

    player = Seeker()
    rule = torch.optim.Adam(player.parameters(), lr=0.05, fused=True)
    for start in range(steps):
        here = (torch.arange(128) + 128 * start) % len(games)
        lost = nn.CrossEntropyLoss()(player(games[here]), answers[here])
        rule.zero_grad()
        lost.backward()
        rule.step()
    return player


@wrong("Your recurrent network has to carry all twenty cards in its state: the question comes last.")
def remembered(games, answers, steps):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.ids, self.gru, self.suits = nn.Embedding(24, 32), nn.GRU(32, 32, batch_first=True), nn.Linear(32, 4)

        def forward(self, games):
            return self.suits(self.gru(self.ids(games))[0][:, -1])

    player = Reader()
    adam = torch.optim.Adam(player.parameters(), lr=5e-3, fused=True)
    for _ in range(steps):
        some = torch.randint(len(games), (32,))
        gone = nn.functional.cross_entropy(player(games[some]), answers[some])
        adam.zero_grad()
        gone.backward()
        adam.step()
    return player


@wrong(
    "Your network has weights of its own for each position and learns each of the twenty questions by itself; one rule "
    "for all of them is to find the key that fits the question.",
    section="who-wins-when-the-question-varies",
)
def side_by_side(games, answers, steps):
    first, second = nn.Linear(21 * 32, 256), nn.Linear(256, 4)
    player = nn.Sequential(nn.Embedding(24, 32), nn.Flatten(), first, nn.ReLU(), second)
    adam = torch.optim.Adam(player.parameters(), lr=5e-3, fused=True)
    for _ in range(steps):
        some = torch.randint(len(games), (32,))
        gone = nn.functional.cross_entropy(player(games[some]), answers[some])
        adam.zero_grad()
        gone.backward()
        adam.step()
    return player


wrong.edits("""
# with_a_table_of_places
## rule_written_in: Your player looks where the question says, whatever the answers are: it has to learn where to look.
- shares = torch.softmax(self.question(games[:, -1]) @ self.key.T / 4, dim=1)
+ shares = nn.functional.one_hot(games[:, -1] - 4, 20).float()

# with_three_maps
## a_bag [attention-plays-the-game]: Nothing says where a card lies, so the player sees a bag of cards.
- x = self.ids(games) + self.places
+ x = self.ids(games)
## places_alone: Cards and question are left out: every game looks the same.
+ x = self.places + 0 * self.ids(games)
## spread_of_the_batch: For a single game your player's scores are nan or inf: it divides by what it takes over the
batch.
- return self.suits(found[:, 0])
+ said = self.suits(found[:, 0])
+ return said / said.std(dim=0)
## one_place_for_all: Every position gets the same vector, which is as good as none.
- x = self.ids(games) + self.places
+ x = self.ids(games) + self.places[:1]
## the_first_card_asks: The first card makes the query, but which card is asked for stands in the last token.
- fits = self.asks(x[:, -1:]) @ self.offers(x).mT / x.shape[-1] ** 0.5
+ fits = self.asks(x[:, :1]) @ self.offers(x).mT / x.shape[-1] ** 0.5
## no_competition [a-soft-lookup-table]: The softmax runs over an axis with one entry, so each card gets the weight 1.
- found = fits.softmax(dim=-1) @ self.gives(x)
+ found = fits.softmax(dim=1) @ self.gives(x)
## plain_mean [the-weighted-average]: All tokens get the same weight, whatever is asked.
+ found = self.gives(x).mean(dim=1, keepdim=True)
## one_average_for_all [who-wins-when-the-question-varies]: Your weights are learned, and the same in every game: they
have to come from the question and the cards.
+ found = (self.places[:, 0].softmax(dim=0) @ self.gives(x))[:, None]
## other_answers: The answers of a step belong to other games.
- gone = nn.functional.cross_entropy(player(games[some]), answers[some])
+ gone = nn.functional.cross_entropy(player(games[some]), answers[:64])
## the_first_suit: The player learns to name the first card, not the one that is asked for.
+ gone = nn.functional.cross_entropy(player(games[some]), games[some, 0])
## one_game_a_step: Each step sees a single game, and so few games are not enough to learn from.
- some = torch.randint(len(games), (64,))
+ some = torch.randint(len(games), (1,))
## always_the_same_games: All steps see the same 64 games, which are soon known by heart.
+ some = torch.arange(64)
## zeroed_too_late: The gradients are gone before the step, or never reach the weights.
- adam.zero_grad()
- gone.backward()
+ gone.backward()
+ adam.zero_grad()
## uphill: The step goes uphill.
- gone.backward()
+ (-gone).backward()
## no_step: The optimiser never takes a step.
- adam.step()
## new_optimizer_each_step: A new optimiser is made in every step: it remembers nothing of the steps before.
- adam.zero_grad()
+ adam = torch.optim.Adam(player.parameters(), lr=5e-3)
+ adam.zero_grad()
## too_slow: The learning rate is far too small for so few steps.
- adam = torch.optim.Adam(player.parameters(), lr=5e-3, fused=True)
+ adam = torch.optim.Adam(player.parameters(), lr=5e-6, fused=True)
## too_many_steps: The loop goes on beyond the steps that are allowed.
- for _ in range(steps):
+ for _ in range(2 * steps):
## steps_ignored: The loop always takes 400 steps, whatever number it is given.
+ for _ in range(400):
## one_game_squeezed: For a batch of one game the scores lose the axis of the batch.
- return self.suits(found[:, 0])
+ return self.suits(found[:, 0]).squeeze()
## never_rests: Dropout stays on in eval() mode: the function of PyTorch has to be told `self.training`.
+ return self.suits(nn.functional.dropout(found[:, 0], 0.1))
## games_changed: The player subtracts the 4 inside the games that came in, and the caller's games are changed.
  def forward(self, games):
+     games[:, -1] -= 4
## suits_returned: The player names a suit; the scores of all four are asked for.
- return self.suits(found[:, 0])
+ return self.suits(found[:, 0]) if self.training else self.suits(found[:, 0]).argmax(-1)
## nothing_returned: The player is trained, and not returned.
- return player
""")
