"""Chapter 3, self-attention: which head of a trained model has its pronouns look at names."""

import re

import torch
import torch.nn.functional as F

from tests.claims.chapter_03 import PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

SHOWN, AHEAD, ANY_OTHER, OTHER_WORDS = (
    "block 2, head 1",
    "block 3, head 1",
    "any other head",
    "block 2, head 1, other words",
)
NOVELS = (  # one for each seed
    "Emma",
    "Pride and Prejudice",
    "Persuasion",
    "Sense and Sensibility",
    "Mansfield Park",
    "Northanger Abbey",
)
PRONOUNS = (" she", " he", " her", " him", " his")
PASSAGES, TOKENS, FIRST = 200, 48, 8  # what stands before the first has few names to look at
HEADS = {SHOWN: 4, AHEAD: 8}  # of sixteen, four in each block


@experiment(
    PAGE,
    contenders={
        SHOWN: "the head that the page shows",
        AHEAD: "a head that the page does not speak of",
        ANY_OTHER: "the largest number of the other fourteen",
        OTHER_WORDS: "the head of the page, asked by whatever is neither a pronoun nor a name",
    },
    budget="200 passages from the second half of a novel, another one for each seed; nothing is trained",
    measured="how much weight pronouns give to names, in multiples of an even share",
    cells=("setup",),
    times=(1,),
    seeds=tuple(range(len(NOVELS))),
)
def names_looked_at(page, run):
    heads, other_words = once(page, run.seed, lambda: lifts(page, NOVELS[run.seed]))
    if run.contender in HEADS:
        return heads[HEADS[run.contender]]
    others = max(lift for head, lift in enumerate(heads) if head not in HEADS.values())
    return others if run.contender == ANY_OTHER else other_words


def lifts(page, title):
    """For each head how much more than an even share names get from pronouns, and from other words in the one shown."""
    model, tokenizer = page.load_language_model(page.course_file("models/austen"))
    novel = page.austen_novels()[title]
    ids = tokenizer.encode(novel[len(novel) // 2 :][:60_000])[: PASSAGES * TOKENS]
    passages = F.pad(torch.tensor(ids).view(PASSAGES, TOKENS), (1, 0), value=tokenizer.n_vocab)  # the start token
    words = [tokenizer.decode([i]) for i in range(tokenizer.n_vocab)]
    named = [bool(re.fullmatch(" [A-Z][a-z]{2,}", it)) and it.lower() not in words for it in words]
    names = torch.tensor([*named, False])[passages]
    pronouns = torch.tensor([*(it in PRONOUNS for it in words), False])[passages]
    late = torch.arange(TOKENS + 1) >= FIRST
    weights = torch.cat([*page.attention_weights(model, passages).values()], dim=1)  # B heads N N
    share = (weights @ names.float()[:, None, :, None]).squeeze(-1).transpose(0, 1)  # heads B N
    even = names.cumsum(dim=-1) / torch.arange(1, TOKENS + 2)

    def lift(asks):
        return (share[:, asks].sum(dim=-1) / even[asks].sum()).tolist()

    return lift(pronouns & late), lift(~pronouns & ~names & late)[HEADS[SHOWN]]


claim(
    names_looked_at,
    "In 200 passages of *Emma* pronouns give names more than four times an even share, and less in every other head. "
    "(In Austen's five other novels another head is ahead.)",
    about=(SHOWN, AHEAD, ANY_OTHER),
    cell="what-is-handed-over",
    holds=lambda lift: (
        lift[SHOWN, "", 1][0] > 4 > max(lift[AHEAD, "", 1][0], lift[ANY_OTHER, "", 1][0])
        and all(
            ahead > max(rest)
            for ahead, *rest in zip(*(lift[who, "", 1][1:] for who in (AHEAD, SHOWN, ANY_OTHER)), strict=True)
        )
    ),
    note="It is head 1 of block 3 each time. In *Mansfield Park* the head of the page hardly looks at names.",
    verdict="changed",
    before="In 200 passages of a novel pronouns give names more than four times what they would get if the weight were "
    "spread evenly, and less in every other head.",
)
