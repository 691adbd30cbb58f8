"""Exercise 12, question model: a model for somebody else's file."""

import torch
import torch.nn.functional as F
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, gradients_everywhere, parameter_count, rows_independent
from torch import nn

from . import parts
from .parts import heads_of, turned


def draw_args(
    rng, rows=2, tokens=6, n_vocab=37, d_model=24, n_heads=3, n_layers=2, scale=1.0, embedding=1.0, **options
):
    sizes = {"n_vocab": n_vocab, "d_model": d_model, "n_heads": n_heads, "n_layers": n_layers}
    w = {"tokens.weight": embedding * rng.normal(size=(n_vocab, d_model))}
    for i in range(n_layers):
        shapes = {"qkv": (3, 1), "out": (1, 1), "up": (4, 1), "down": (1, 4)}
        for name, (out, into) in shapes.items():
            spread = scale if name == "qkv" else 1.0
            shape = out * d_model, into * d_model
            w[f"blocks.{i}.{name}.weight"] = spread * rng.normal(size=shape) / shape[1] ** 0.5
            w[f"blocks.{i}.{name}.bias"] = 0.3 * rng.normal(size=shape[0])
    for name in ("norm", *(f"blocks.{i}.norm_{place}" for i in range(n_layers) for place in (1, 2))):
        w[f"{name}.weight"], w[f"{name}.bias"] = rng.uniform(0.5, 1.5, d_model), 0.3 * rng.normal(size=d_model)
    return module_call(sizes, (rng.integers(n_vocab, size=(rows, tokens)),), weights=w, **options)


def scores(rng):
    """Also in train() mode, with vectors so short that ε shows in the last norm, and texts of several lengths."""
    given = {"rows": 3, "training": True}, {"tokens": 1}, {"n_layers": 1, "tokens": 11}
    more = {"d_model": 20, "n_heads": 5, "n_vocab": 29}, {"n_layers": 0, "embedding": 0.004}
    (bent,) = draw_args(rng, n_layers=1)  # where the exact GELU and the tanh formula are some per cent apart
    bent["weights"]["blocks.0.up.bias"][:] = -2.3
    bent["weights"]["blocks.0.down.weight"] *= 1e3
    (several,) = draw_args(rng, n_layers=1)
    ids = several["calls"][0][0]
    several["calls"] = [(ids[:, :tokens].copy(),) for tokens in (4, 6, 1)]
    return [*(draw_args(rng, **one) for one in (*given, *more)), (several,), (bent,)]


def sharp_cases(rng):
    """Queries and keys so large that a softmax of the wrong axis or scale, or a late mask, is far off.

    In one layer, since the next would make rounding errors as large. At last the scores of later tokens are above
    20,000, and a mask that takes less off them does not hide them.
    """
    (ahead,) = draw_args(rng, tokens=3, n_layers=1)
    bias = ahead["weights"]["blocks.0.qkv.bias"].reshape(3, 3, 2, 4)  # query, key and value; heads; halves
    bias[0, :, 0, 0], bias[1, :, 1, 0] = 300.0, -300.0
    settings = {"tokens": 9}, {"n_heads": 1, "tokens": 7}
    return [*(draw_args(rng, scale=4.0, n_layers=1, **one) for one in settings), (ahead,)]


def one_block(rng):
    return draw_args(rng, n_layers=1)


def gradients(rng):
    return [draw_args(rng, gives="gradients", n_layers=1)]


def count(n_vocab, d_model, n_heads, n_layers):
    D = d_model
    return n_vocab * D + n_layers * (12 * D**2 + 13 * D) + 2 * D


QUESTION = Question(
    id="model",
    title="A model for somebody else's file",
    name="AustenGPT",
    minutes=45,
    difficulty=3,
    checks=with_battery(
        equals("scores", 7, scores, parts.AustenGPT),
        equals("large scores", 3, sharp_cases, parts.AustenGPT),
        equals("gradients", 2, gradients, parts.AustenGPT),
        holds("looking back", 3, causal(draw_args)),
        holds("rows apart", 1, rows_independent(draw_args)),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("one matrix, two uses", 3, parameter_count(draw_args, count)),
        mask=later_tokens("looking back", one_block, scores="blocks.0.qkv.weight"),
    ),
    hints=(
        "Write one block as a module of its own, with six layers under the six names, and then the model: an "
        "embedding, a list of blocks, a norm. Where does GPT-2 have its norms?",
        "`self.qkv(x).chunk(3, dim=-1)` gives queries, keys and values. Cut each into heads, B × H × N × K, and only "
        "then turn queries and keys. What happens to the values?",
        "The head has no parameters: the scores are products with the rows of `tokens.weight`, `F.linear(x, W)`. With "
        "nearly right scores look at the scale, √K, and at the two norms of a block.",
    ),
    section="one-matrix-two-uses-weight-tying",
    seconds=20.0,
    how="module",
    forbids=(
        "torch.nn.MultiheadAttention",
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerDecoderLayer",
    ),
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
)

right, wrong = answers_to(QUESTION)


@right
class AsOftenWritten(nn.Module):
    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.n_heads, self.tokens, self.blocks = n_heads, nn.Embedding(n_vocab, d_model), nn.ModuleList()
        for _ in range(n_layers):
            block = nn.ModuleDict({"norm_1": nn.LayerNorm(d_model), "norm_2": nn.LayerNorm(d_model)})
            block["qkv"], block["out"] = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
            block["up"], block["down"] = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
            self.blocks.append(block)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            z = block["norm_1"](x)
            q, k, v = (heads_of(part, self.n_heads) for part in block["qkv"](z).chunk(3, dim=-1))
            q, k = turned(q), turned(k)
            table = q @ k.mT / q.shape[-1] ** 0.5
            later = torch.ones_like(table, dtype=torch.bool).triu(1)
            table = table.masked_fill(later, -torch.inf)
            y = (table.softmax(-1) @ v).transpose(1, 2).flatten(2)
            x = x + block["out"](y)
            x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
        return self.norm(x) @ self.tokens.weight.T


@right
class WithAHead(nn.Module):
    """A head that shares its weight, and the fused attention."""

    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.n_heads = n_heads
        self.head, self.tokens = nn.Linear(d_model, n_vocab, bias=False), nn.Embedding(n_vocab, d_model)
        self.tokens.weight = self.head.weight
        sizes = {"qkv": (1, 3), "out": (1, 1), "up": (1, 4), "down": (4, 1)}
        layers = [{n: nn.Linear(a * d_model, b * d_model) for n, (a, b) in sizes.items()} for _ in range(n_layers)]
        norms = [{f"norm_{place}": nn.LayerNorm(d_model) for place in (1, 2)} for _ in range(n_layers)]
        self.blocks = nn.ModuleList(nn.ModuleDict(one | two) for one, two in zip(layers, norms, strict=True))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            q, k, v = block["qkv"](block["norm_1"](x)).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
            x = x + block["out"](y.transpose(1, 2).reshape(x.shape))
            x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
        return self.head(self.norm(x))


@right
class HeadByHead(nn.Module):
    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()

        class Part(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
                self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
                self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)

            def forward(self, x):
                parts = self.qkv(self.norm_1(x)).split(d_model, dim=2)
                past = torch.ones(x.shape[1], x.shape[1]).tril() == 1
                found = []
                for q, k, v in zip(*(part.chunk(n_heads, dim=2) for part in parts), strict=True):
                    q, k = turned(q[:, None])[:, 0], turned(k[:, None])[:, 0]
                    scores = torch.einsum("bnk,bsk->bns", q, k) / k.shape[2] ** 0.5
                    found.append(scores.where(past, -torch.inf).softmax(dim=2) @ v)
                x = x + self.out(torch.cat(found, dim=2))
                return x + self.down(F.gelu(self.up(self.norm_2(x))))

        self.tokens, self.norm = nn.Embedding(n_vocab, d_model), nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList(Part() for _ in range(n_layers))

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


wrong.edits("""
# AsOftenWritten
## normed_stream_goes_on: The normed stream goes on past attention; the stream itself should, and only attention reads
it normed.
- x = x + block["out"](y)
+ x = z + block["out"](y)
## blind_to_itself: Your mask hides a token from itself as well; only what comes later is hidden.
- later = torch.ones_like(table, dtype=torch.bool).triu(1)
+ later = torch.ones_like(table, dtype=torch.bool).triu(0)
+ later[..., 0, 0] = False
## head_of_its_own: Your head has its own matrix; the file has one for both uses.
  self.norm = nn.LayerNorm(d_model)
+ self.head = nn.Linear(d_model, n_vocab, bias=False)
- return self.norm(x) @ self.tokens.weight.T
+ return self.head(self.norm(x))
## no_last_norm [which-slip-would-you-notice]: The norm behind the last block is made and never used.
- return self.norm(x) @ self.tokens.weight.T
+ return x @ self.tokens.weight.T
## no_rotary [which-slip-would-you-notice]: Queries and keys are not turned: the model does not know the order of what
it has read.
- q, k = turned(q), turned(k)
## values_turned: You turn the values, too; only queries and keys should be.
+ q, k, v = turned(q), turned(k), turned(v)
## turned_before_the_heads: You turn queries and keys before cutting them into heads; cut first, since the angles depend
on the width of a head.
- q, k, v = (heads_of(part, self.n_heads) for part in block["qkv"](z).chunk(3, dim=-1))
- q, k = turned(q), turned(k)
+ q, k, v = block["qkv"](z).chunk(3, dim=-1)
+ q, k, v = (heads_of(p, self.n_heads) for p in (turned(q[:, None])[:, 0], turned(k[:, None])[:, 0], v))
## keys_first [the-same-numbers-laid-out-otherwise]: The first third of `qkv` is taken for the keys; it is for the
queries.
- q, k, v = (heads_of(part, self.n_heads) for part in block["qkv"](z).chunk(3, dim=-1))
+ k, q, v = (heads_of(part, self.n_heads) for part in block["qkv"](z).chunk(3, dim=-1))
## values_second [the-same-numbers-laid-out-otherwise]: The second third of `qkv` is taken for the values; it is for the
keys.
+ q, v, k = (heads_of(part, self.n_heads) for part in block["qkv"](z).chunk(3, dim=-1))
## head_by_head [the-same-numbers-laid-out-otherwise]: `qkv` is cut first into heads and then into three; here all
queries come first, then all keys, then all values.
+ q, k, v = heads_of(block["qkv"](z), self.n_heads).chunk(3, dim=-1)
## scaled_by_the_width: You divide the scores by the root of the model's width; use the width of a head.
- table = q @ k.mT / q.shape[-1] ** 0.5
+ table = q @ k.mT / x.shape[-1] ** 0.5
## not_scaled: The scores are not divided by √K.
+ table = q @ k.mT
## no_mask: Your tokens look at later ones.
- table = table.masked_fill(later, -torch.inf)
## too_little_taken_off: You take a number off the scores of later tokens that is too small: it does not hide large
scores.
+ table = table - 1e4 * later
## finite_for_infinity: Your hidden scores are a finite number, and a score in sight can lie below it: take −∞.
- table = table.masked_fill(later, -torch.inf)
+ table = table.masked_fill(later, -1e4)
## remembered_in_eval: In eval() mode every text of the same shape gets the scores of the first one.
- return self.norm(x) @ self.tokens.weight.T
+ if self.training or getattr(self, "last", x[:, :0]).shape[:2] != ids.shape:
+     self.last = self.norm(x) @ self.tokens.weight.T
+ return self.last
## mask_turned: The mask lies on its side: a token looks at itself and at later ones.
- later = torch.ones_like(table, dtype=torch.bool).triu(1)
+ later = torch.ones_like(table, dtype=torch.bool).tril(-1)
## itself_masked: Your mask hides tokens from themselves; the first has nothing to look at.
+ later = torch.ones_like(table, dtype=torch.bool).triu(0)
## heads_joined_askew: You join the heads without moving their axis back behind the tokens.
- y = (table.softmax(-1) @ v).transpose(1, 2).flatten(2)
+ y = (table.softmax(-1) @ v).reshape(x.shape)
## weights_of_the_wrong_axis: Your softmax runs over the targets; run it over the sources.
+ y = (table.softmax(-2).nan_to_num() @ v).transpose(1, 2).flatten(2)
## no_residual: Attention's result replaces your stream; add it instead.
- x = x + block["out"](y)
+ x = block["out"](y)
## one_norm_for_both: Both halves of your blocks use the first norm.
- x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
+ x = x + block["down"](F.gelu(block["up"](block["norm_1"](x))))
## no_second_norm: Your feed-forward layer reads the stream unnormalised.
+ x = x + block["down"](F.gelu(block["up"](x)))
## tanh_formula [which-choice-differs-where]: You use the tanh formula of the GELU; here it is the exact one.
+ x = x + block["down"](F.gelu(block["up"](block["norm_2"](x)), approximate="tanh"))
## relu [which-slip-would-you-notice]: You use ReLU; this model has GELU.
+ x = x + block["down"](F.relu(block["up"](block["norm_2"](x))))
## norm_after [which-choice-differs-where]: The norms come after each half, as in BERT; here they come first.
- z = block["norm_1"](x)
+ z = x
- x = x + block["out"](y)
- x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
+ x = block["norm_1"](x + block["out"](y))
+ x = block["norm_2"](x + block["down"](F.gelu(block["up"](x))))
## normed_twice [which-choice-differs-where]: The sum behind attention is normed once more, as in BERT; here attention
reads a normed stream, and the stream goes on as it is.
- x = x + block["out"](y)
+ x = block["norm_1"](x + block["out"](y))
## other_epsilon: The ε of your last norm is not 0.00001, as PyTorch has it.
- self.norm = nn.LayerNorm(d_model)
+ self.norm = nn.LayerNorm(d_model, eps=1e-12)
## epsilon_of_a_millionth: The ε of your last norm is 0.000001; PyTorch has 0.00001.
+ self.norm = nn.LayerNorm(d_model, eps=1e-6)
## other_epsilon_in_the_blocks: The ε of your norms is not 0.00001, as PyTorch has it.
- block = nn.ModuleDict({"norm_1": nn.LayerNorm(d_model), "norm_2": nn.LayerNorm(d_model)})
+ block = nn.ModuleDict({f"norm_{place}": nn.LayerNorm(d_model, eps=1e-12) for place in (1, 2)})
- self.norm = nn.LayerNorm(d_model)
+ self.norm = nn.LayerNorm(d_model, eps=1e-12)
## probabilities: You return probabilities; scores are asked for, without a softmax.
- return self.norm(x) @ self.tokens.weight.T
+ return (self.norm(x) @ self.tokens.weight.T).softmax(-1)
## dropout_of_its_own: In train() mode your module drops something; no dropout is asked for.
- x = self.tokens(ids)
+ x = F.dropout(self.tokens(ids), 0.1, self.training)
## keys_not_turned: You turn the queries alone; a score knows the distance of two tokens only if both are turned.
- q, k = turned(q), turned(k)
+ q = turned(q)
## queries_not_turned: You turn the keys alone; a score knows the distance of two tokens only if queries turn as well.
+ k = turned(k)
## embedding_scaled: You multiply the embedding by √D, as Marian does; this model takes it as it is.
- x = self.tokens(ids)
+ x = self.tokens(ids) * self.tokens.embedding_dim**0.5
""")
