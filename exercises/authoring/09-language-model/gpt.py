"""Exercise 09, question gpt: a GPT of your own blocks."""

from itertools import product

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal as looks_back
from clearcheck.author.torch_checks import dropout_acts, gradients_everywhere, parameter_count
from torch import nn

from . import parts
from .brought_modules import Block
from .parts import causal
from .shared import BRINGS, NO_LAYERS_OF_TORCH, block, norm

RATE = 0.4  # of dropout
LAST = {"attention.out": "attention", "feed_forward.down": "the feed-forward layer"}  # of the parts of a block
TABLES = "tokens.weight", "positions.weight"


def draw_args(
    rng, rows=2, tokens=5, n_vocab=13, n_positions=11, d_model=12, n_heads=3, n_layers=2, dropout=0.0, **options
):
    sizes = {"n_vocab": n_vocab, "n_positions": n_positions, "d_model": d_model}
    sizes |= {"n_heads": n_heads, "n_layers": n_layers} | ({} if dropout is None else {"dropout": dropout})
    weights = {"tokens.weight": rng.normal(size=(n_vocab, d_model))}
    weights |= {"positions.weight": rng.normal(size=(n_positions, d_model))}
    for layer in range(n_layers):
        weights |= block(rng, f"blocks.{layer}.", d_model)
    weights |= norm(rng, "norm", d_model) | {"head.weight": rng.normal(size=(n_vocab, d_model)) / d_model**0.5}
    return module_call(sizes, (rng.integers(n_vocab, size=(rows, tokens)),), weights=weights, **options)


def many_blocks(rng):
    return draw_args(rng, n_layers=5, d_model=8, n_heads=2)


def one_block(rng):
    return draw_args(rng, n_layers=1)


def every_place(rng):
    return draw_args(rng, tokens=11)


def outputs(rng):
    given = {}, {"tokens": 1}, {"tokens": 11, "rows": 3}, {"n_layers": 1, "d_model": 14, "n_heads": 2, "rows": 1}
    by_default = {"dropout": None, "training": True}  # without dropout train() changes nothing
    (several,) = draw_args(rng)
    ids = several["calls"][0][0]
    several["calls"] = [(ids[:, :tokens].copy(),) for tokens in (3, 5, 1)]
    given = *given, {"tokens": 6, "rows": 6}, {"n_layers": 3, "rows": 4, **by_default}
    return [*(draw_args(rng, **one) for one in given), (several,), draw_args(rng, gives="changed"), nearly_alike(rng)]


def gradients(rng):
    return [draw_args(rng, gives="gradients")]


def zero_blocks(plan, alone=None):
    """The call with two blocks that add nothing, but for one part of one: the last layers of all others are 0."""
    silent = (f"blocks.{i}.{last}" for i in (0, 1) for last in LAST if (i, last) != alone)
    names = (f"{layer}.{kind}" for layer in silent for kind in ("weight", "bias"))
    return {**plan, "weights": plan["weights"] | {name: 0 * plan["weights"][name] for name in names}}


def nearly_alike(rng):
    """Numbers so close to each other that the ε of the last norm counts."""
    plan = zero_blocks(draw_args(rng)[0])
    return ({**plan, "weights": plan["weights"] | {t: 4e-3 * plan["weights"][t] for t in TABLES}},)


def dropped_in_the_blocks(ask, rng):
    """Blocks that add nothing leave nothing to drop; each part that adds something does."""
    (plan,) = draw_args(rng, rows=6, dropout=RATE)
    if told := dropout_acts(lambda rng: (plan,))(ask, rng):
        return told

    def in_both_modes(alone=None):
        return (ask({**zero_blocks(plan, alone), "training": training}) for training in (False, True))

    nothing, moving = in_both_modes()
    if np.abs(nothing - moving).max() > 1e-4:
        return "With blocks that add nothing, train() mode changes the logits: something is dropped outside them."
    for i, last in product((0, 1), LAST):
        still, moving = in_both_modes((i, last))
        if np.abs(still - nothing).max() < 1e-6:
            told = f"With weights of 0 in all other parts {LAST[last]} of blocks[{i}] adds nothing, either"
            return f"{told}: is each a Block of its own, and used?"
        if np.abs(still - moving).max() <= 1e-4:
            return f"With dropout={RATE} in train() mode nothing is dropped of what {LAST[last]} of blocks[{i}] adds."
    return None


def its_places_count(ask, rng):
    (plan,) = draw_args(rng)
    same = np.full((1, 5), 7)
    came = ask({**plan, "calls": [(same,)]})
    if isinstance(came, tuple | list):
        return "Your module gave a pair; one tensor, the logits, is expected."
    came = np.asarray(came)
    if came.shape != (1, 5, 13):
        return f"For 1 × 5 ids and 13 tokens the logits should have the shape (1, 5, 13); yours have {came.shape}."
    if np.abs(came[0, 1:] - came[0, :-1]).max(axis=1).min() < 1e-4:
        return "Five times the same token gave the same logits side by side: the positions are not known."
    return None


def count(n_vocab, n_positions, d_model, n_heads, n_layers, dropout):
    return (2 * n_vocab + n_positions + 2) * d_model + n_layers * (12 * d_model**2 + 13 * d_model)


QUESTION = Question(
    id="gpt",
    title="A GPT of your own blocks",
    name="GPT",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, outputs, parts.GPT),
        equals("gradients", 1, gradients, parts.GPT),
        holds("every parameter", 1, gradients_everywhere(every_place)),
        holds("looking back", 2, looks_back(draw_args, many_blocks)),
        holds("places", 1, its_places_count),
        holds("dropout", 1, dropped_in_the_blocks),
        holds("parameters", 2, parameter_count(draw_args, count)),
        mask=later_tokens("looking back", one_block, scores="blocks.0.attention.query.weight"),
    ),
    hints=(
        "From ids to logits: what is looked up, what is added, what is gone through, what comes last?",
        "Row n of `positions` belongs to token n, whatever the batch: `torch.arange(N)` holds the positions.",
        "If *looking back* fails: does every block get the causal mask? Otherwise: is there a norm between the last "
        "block and the head, and has the head no bias?",
    ),
    section="from-vectors-to-probabilities",
    brings=BRINGS,
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=NO_LAYERS_OF_TORCH,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.tokens = nn.Embedding(n_vocab, d_model)
        self.positions = nn.Embedding(n_positions, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(Block(d_model, n_heads, 4 * d_model, dropout))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_vocab, bias=False)

    def forward(self, ids):
        x = self.tokens(ids)
        x = x + self.positions.weight[: ids.shape[1]]
        for layer in self.blocks:
            x = layer(x, causal(x))
        x = self.norm(x)
        return self.head(x)


@right
class Sequential(nn.Module):
    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.head = nn.Linear(d_model, n_vocab, False)
        self.positions, self.tokens = (nn.Embedding(n, d_model) for n in (n_positions, n_vocab))
        made = (Block(d_model, n_heads, d_model * 4, dropout) for _ in range(n_layers))
        self.blocks, self.norm = nn.Sequential(*made), nn.LayerNorm(d_model)

    def forward(self, ids):
        position = torch.arange(ids.shape[1], device=ids.device)
        x = self.tokens(ids) + self.positions(position.expand_as(ids))
        for number in range(len(self.blocks)):
            x = self.blocks[number](x, mask=position <= position[:, None])
        return self.head(self.norm(x))


@right
class TableOfPlaces(nn.Module):
    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.add_module("tokens", nn.Embedding(n_vocab, d_model))
        self.add_module("positions", nn.Embedding(n_positions, d_model))
        made = [Block(d_model, n_heads, 4 * d_model, dropout=dropout) for _ in range(n_layers)]
        self.blocks, self.norm = nn.ModuleList(made), nn.LayerNorm(d_model)
        self.head, self.n_heads = nn.Linear(d_model, n_vocab, bias=False), n_heads

    def attended(self, attention, x):
        """PyTorch's own attention, as in many a block that is brought."""
        mapped = attention.query(x), attention.key(x), attention.value(x)
        q, k, v = (rows.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for rows in mapped)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return attention.out(y.transpose(1, 2).flatten(2))

    def forward(self, ids):
        stream = nn.functional.embedding(ids, self.tokens.weight) + self.positions.weight.narrow(0, 0, ids.shape[1])
        for one in self.blocks:
            stream = stream + one.dropout(self.attended(one.attention, one.norm_1(stream)))
            stream = stream + one.dropout(one.feed_forward(one.norm_2(stream)))
        return self.norm(stream) @ self.head.weight.T


wrong.edits("""
# Plain
## embedding_scaled: The embedding is multiplied by the square root of D, as in some models; here it is not.
- x = self.tokens(ids)
+ x = self.tokens(ids) * self.tokens.embedding_dim**0.5
## norm_over_the_text: Your last norm runs over all tokens of a text together; each token is normed by itself.
- x = self.norm(x)
+ spread = x.var(dim=(1, 2), keepdim=True, unbiased=False) + 1e-5
+ x = (x - x.mean(dim=(1, 2), keepdim=True)) / spread.sqrt()
+ x = x * self.norm.weight + self.norm.bias
## sees_the_future: The blocks have no mask: each position sees what it is asked for.
- x = layer(x, causal(x))
+ x = layer(x)
## no_places: No positions are added, so a token does not know where it is.
- x = x + self.positions.weight[: ids.shape[1]]
## places_from_the_end: Positions are counted from the end, so a new token renumbers the others.
+ x = x + self.positions.weight[: ids.shape[1]].flip(0)
## last_places: You take the last rows of the table of positions; a text begins at row 0.
+ x = x + self.positions.weight[-ids.shape[1] :]
## one_place_for_all: Every token gets the same position.
+ x = x + self.positions.weight[0]
## positions_multiplied: You multiply the embeddings by the positions; add them instead.
+ x = x * self.positions.weight[: ids.shape[1]]
## no_last_norm: The norm between the last block and the head is missing.
- x = self.norm(x)
## norm_in_front: The last norm stands in front of the blocks.
- for layer in self.blocks:
+ x = self.norm(x)
+ for layer in self.blocks:
- x = self.norm(x)
## norm_after_each: The last norm is applied after every block.
      x = layer(x, causal(x))
- x = self.norm(x)
+     x = self.norm(x)
## one_block_for_all: One block is used again and again: they share their weights.
- x = layer(x, causal(x))
+ x = self.blocks[0](x, causal(x))
## blocks_not_registered: The blocks stand in a plain list, where PyTorch does not find their parameters.
- self.blocks = nn.ModuleList()
+ self.blocks = []
## probabilities_returned: You return probabilities; the loss takes logits, and would take the softmax again.
- return self.head(x)
+ return self.head(x).softmax(dim=-1)
## last_place_alone: Only the last position gives logits; in training every one is asked.
+ return self.head(x[:, -1:])
## bias_in_the_head: Your head has a bias; the logits are dot products alone.
- self.head = nn.Linear(d_model, n_vocab, bias=False)
+ self.head = nn.Linear(d_model, n_vocab)
## head_is_the_embedding: Your head is the embedding once more (tied); here it has a matrix of its own.
- self.head = nn.Linear(d_model, n_vocab, bias=False)
+ self.n_vocab = n_vocab
- return self.head(x)
+ return x @ self.tokens.weight.T
## narrow_hidden_layer: The hidden layer of your blocks does not have 4 D units.
- self.blocks.append(Block(d_model, n_heads, 4 * d_model, dropout))
+ self.blocks.append(Block(d_model, n_heads, 2 * d_model, dropout))
## dropout_lost: The dropout never reaches the blocks.
+ self.blocks.append(Block(d_model, n_heads, 4 * d_model))
## words_dropped: You drop numbers before the first block; nothing is dropped outside the blocks.
- self.head = nn.Linear(d_model, n_vocab, bias=False)
+ self.head, self.drop = nn.Linear(d_model, n_vocab, bias=False), nn.Dropout(dropout)
- x = x + self.positions.weight[: ids.shape[1]]
+ x = self.drop(x + self.positions.weight[: ids.shape[1]])
## last_stream_dropped: You drop numbers after the last norm; nothing is dropped outside the blocks.
- self.head = nn.Linear(d_model, n_vocab, bias=False)
+ self.head, self.drop = nn.Linear(d_model, n_vocab, bias=False), nn.Dropout(dropout)
- x = self.norm(x)
+ x = self.drop(self.norm(x))
## dropped_between_blocks: You drop numbers of the stream after each block; nothing is dropped outside the blocks.
- self.head = nn.Linear(d_model, n_vocab, bias=False)
+ self.head, self.drop = nn.Linear(d_model, n_vocab, bias=False), nn.Dropout(dropout)
- x = layer(x, causal(x))
+ x = self.drop(layer(x, causal(x)))
## first_block_alone: Your dropout reaches the first block alone; every block gets it.
- self.blocks.append(Block(d_model, n_heads, 4 * d_model, dropout))
+ self.blocks.append(Block(d_model, n_heads, 4 * d_model, 0.0 if self.blocks else dropout))
## one_object: All your blocks are one and the same object: build a new one for each layer.
+ again = self.blocks[0] if self.blocks else Block(d_model, n_heads, 4 * d_model, dropout)
+ self.blocks.append(again)
## small_epsilon: The ε of your last norm is not 0.00001.
- self.norm = nn.LayerNorm(d_model)
+ self.norm = nn.LayerNorm(d_model, eps=1e-6)
## dropout_by_default: Dropout acts where the caller asks for none: make its default 0.
- def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.0):
+ def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.1):
## as_long_as_the_first: The number of positions is that of the first call; use that of each call.
- x = x + self.positions.weight[: ids.shape[1]]
+ self.N = getattr(self, "N", ids.shape[1])
+ x = x + self.positions.weight[: self.N]

# TableOfPlaces
## attention_not_dropped: What attention adds is never dropped in your blocks; `dropout` is for both of their parts.
- stream = stream + one.dropout(self.attended(one.attention, one.norm_1(stream)))
+ stream = stream + self.attended(one.attention, one.norm_1(stream))
## feed_forward_not_dropped: What the feed-forward layer adds is never dropped in your blocks; `dropout` is for both of
their parts.
- stream = stream + one.dropout(one.feed_forward(one.norm_2(stream)))
+ stream = stream + one.feed_forward(one.norm_2(stream))
""")
