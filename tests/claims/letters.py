"""Models for the letters of chapters 3 to 7, besides those that the pages build: the rivals of every rung."""

import torch
import torch.nn.functional as F
from clearbook.ladder import LETTERS, rows
from torch import nn

BUDGET = "400 steps of 32 rows of 16 letters, AdamW, the rate from 0.01 down"
MEASURED = "nats a letter on pages that were not read, less is better; guessing costs 3.30"
MLP = "the model of the PyTorch page: the last 8 letters side by side, 16 numbers each, 128 hidden units"


class LastLetters(nn.Module):
    """The MLP of the PyTorch page at every place of a row; before its beginning stand spaces."""

    def __init__(self, n_back=8, d_model=16, n_hidden=128):
        super().__init__()
        self.n_back, self.embedding = n_back, nn.Embedding(len(LETTERS), d_model)
        self.up, self.down = nn.Linear(n_back * d_model, n_hidden), nn.Linear(n_hidden, len(LETTERS))

    def forward(self, ids):
        windows = F.pad(ids, (self.n_back - 1, 0)).unfold(1, self.n_back, 1)  # B N n_back
        return self.down(torch.relu(self.up(self.embedding(windows).flatten(2))))


def counted(n_back):
    """What a table loses, on the same rows, that holds how often each letter came after the last ``n_back``."""
    seen, unseen = rows()
    places = len(LETTERS) ** torch.arange(n_back)
    groups = (seen[:-1].unfold(0, n_back, 1) * places).sum(dim=-1)
    counts = torch.bincount(groups * len(LETTERS) + seen[n_back:], minlength=len(LETTERS) ** (n_back + 1))
    chances = (counts.view(-1, len(LETTERS)) + 0.1).log()  # nothing is impossible
    chances = chances - chances.logsumexp(dim=-1, keepdim=True)
    read = (F.pad(unseen[:, :-1], (n_back - 1, 0)).unfold(1, n_back, 1) * places).sum(dim=-1)
    return -chances[read, unseen[:, 1:]].mean()
