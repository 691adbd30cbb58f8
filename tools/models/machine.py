"""The GPT of the page "The whole machine, in numbers": four numbers a token, two heads, one block, eight words.

.venv/bin/python -m tools.models.machine      trains it, and writes tools/play/the_whole_machine.json

It reads sentences such as "she reads her book". The third word goes with the first in three sentences of four, and
the fourth with the second as often: whoever wants to foretell them has to look one token back.
"""

import itertools
import json
from functools import partial

import torch
import torch.nn.functional as F
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from torch import Tensor

from tools import ROOT

FILE = ROOT / "tools" / "play" / "the_whole_machine.json"
WORDS = ("she", "he", "reads", "writes", "her", "his", "book", "letter")
PAIRS = ({"she": "her", "he": "his"}, {"reads": "book", "writes": "letter"})
OFTEN = 3  # times as often as the other word
SEED, STEPS, RATE, DECAY = 1, 1500, 0.02, 0.03
DIGITS = 2  # of a stored weight, so that the sums on the page can be checked by hand


def build() -> GPT:
    """The architecture, with its initial weights, in float64."""
    config = GPTConfig(n_vocab=len(WORDS), n_positions=3, d_model=4, n_heads=2, n_layers=1, d_ff=8, tied=False)
    return GPT(config, attention=partial(MultiHeadAttention, bias=False)).double()


def sentences() -> Tensor:
    """All sentences as ids, each as often as it occurs."""
    (people, things) = PAIRS
    rows = []
    for who, does, whose, what in itertools.product(people, things, people.values(), things.values()):
        times = (OFTEN if people[who] == whose else 1) * (OFTEN if things[does] == what else 1)
        rows += [[WORDS.index(word) for word in (who, does, whose, what)]] * times
    return torch.tensor(rows)


def loss(model: GPT, rows: Tensor) -> Tensor:
    """The mean cross-entropy of the second, third and fourth words, for each of the three."""
    logits = model(rows[:, :-1])
    return F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], reduction="none").mean(0)


def trained(seed: int = SEED) -> GPT:
    """All sentences in every step; the weights rounded at the end."""
    torch.manual_seed(seed)
    model, rows = build(), sentences()
    for weights in model.parameters():
        if weights.ndim == 2:
            torch.nn.init.normal_(weights, std=0.5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(model, rows).mean().backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(torch.round(weights, decimals=DIGITS))
    return model


def stored() -> GPT:
    """The model of the page, from its file."""
    model = build()
    model.load_state_dict({name: torch.tensor(w, dtype=torch.float64) for name, w in read()["weights"].items()})
    return model


def read() -> dict:
    return json.loads(FILE.read_text(encoding="utf-8"))


def rounded(weights: Tensor) -> list:
    """As nested lists, without a zero that is negative."""
    return (torch.round(weights * 10**DIGITS) / 10**DIGITS + 0.0).tolist()


def main() -> None:
    model = trained()
    weights = {name: rounded(w) for name, w in model.state_dict().items()}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(w)}" for name, w in weights.items())
    FILE.write_text(f'{{\n "words": {json.dumps(WORDS)},\n "weights": {{\n{lines}\n }}\n}}\n', encoding="utf-8")
    print(f"losses of the second, third and fourth word: {loss(model, sentences()).tolist()}")


if __name__ == "__main__":
    main()
