"""The letters of chapters 3 to 7: what every model on them gets, and the table of counts that they are held against."""

from statistics import median

import torch
import torch.nn.functional as F
from clearbook.ladder import LETTERS, rows

BUDGET = "400 steps of 32 rows of 16 letters, AdamW, the rate from 0.01 down"
MEASURED = "nats a letter on pages that were not read, less is better; guessing costs 3.30"
MLP = "the model of the PyTorch page: the last 8 letters side by side, 16 numbers each, 128 hidden units"


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


def gain(loss, who, than, times):
    """By how much one contender loses less than another, in the median of the seeds."""
    return median(loss[than, "", times]) - median(loss[who, "", times])
