"""Exercise 08, question model: the whole encoder–decoder."""

import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_checks import gradients_everywhere
from torch import nn

from . import parts
from .brought_modules import Block
from .model_inputs import (
    blind_to_the_future,
    decoded,
    draw_args,
    dropped_in_its_places,
    encoded,
    gradients,
    nothing_dropped,
    outputs,
    the_source_is_read_in_order,
)
from .parts import PAD, DecoderBlock, Embedding
from .shared import A_MODULE, BRINGS

QUESTION = Question(
    id="model",
    title="The whole transformer",
    name="Transformer",
    minutes=35,
    difficulty=3,
    leans_on=("cross", "decoder"),
    checks=with_battery(
        equals("outputs", 5, outputs, parts.Transformer),
        equals("encode", 3, encoded, parts.Transformer),
        equals("decode", 2, decoded, parts.Transformer),
        equals("gradients", 2, gradients, parts.Transformer),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        equals("without dropout", 1, nothing_dropped, parts.Transformer),
        holds("dropout", 2, dropped_in_its_places),
        holds("blind to the future", 2, blind_to_the_future),
        holds("the source is read", 2, the_source_is_read_in_order),
        off={
            "many tokens": "the embedding that is given has 512 positions, and the first comparison has 150 tokens",
            "mask": "scores are made and hidden in the attention of question cross, which tries a mask that is finite",
        },
    ),
    hints=(
        "Write down what happens to `source` until it is the memory, and then what happens to `target` until it is "
        "scores. Each list has three entries or four.",
        "`nn.ModuleList` holds the blocks, so that their parameters are found. The mask of the source is True where "
        "there is a word; which blocks have to hear of it?",
        "If the check of the source fails: does every block get the mask, of the shape B × 1 × 1 × S? If no gradient "
        "reaches a norm: each stack ends with its own. If PyTorch names Bool and Float: your Block hands its mask on "
        "by place, and here it is the third argument: write `mask=mask` there.",
    ),
    section="the-two-stacks",
    brings=BRINGS,
    **A_MODULE,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.embed_source = Embedding(n_source, d_model, dropout)
        self.embed_target = Embedding(n_target, d_model, dropout)
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for _ in range(n_layers):
            self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
            self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
        self.norm_source, self.norm_target = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_target)

    def encode(self, source):
        words = (source != PAD)[:, None, None, :]
        z = self.embed_source(source)
        for layer in self.encoder:
            z = layer(z, words)
        z = self.norm_source(z)
        return z, words

    def decode(self, target, memory, mask):
        y = self.embed_target(target)
        for layer in self.decoder:
            y = layer(y, memory, mask)
        y = self.norm_target(y)
        return self.head(y)

    def forward(self, source, target):
        z, words = self.encode(source)
        return self.decode(target, z, words)


@right
class StackAfterStack(nn.Module):
    def __init__(self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "dropout": dropout}
        self.norm_source, self.embed_source = nn.LayerNorm(d_model), Embedding(n_source, d_model, dropout=dropout)
        self.norm_target, self.embed_target = nn.LayerNorm(d_model), Embedding(n_target, d_model, dropout=dropout)
        self.encoder = nn.Sequential(*[Block(**sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList(DecoderBlock(**sizes) for _ in range(n_layers))
        self.head, self.depth = nn.Linear(d_model, n_target), n_layers

    def encode(self, ids):
        seen, stream = ids.ne(PAD).unflatten(1, (1, 1, -1)), self.embed_source(ids)
        for number in range(self.depth):
            stream = self.encoder[number](stream, mask=seen)
        return self.norm_source(stream), seen

    def decode(self, ids, memory, mask=None):
        stream = self.embed_target(ids)
        for number in range(self.depth):
            stream = self.decoder[number](stream, memory, mask=mask)
        return self.head(self.norm_target(stream))

    def forward(self, source, ids):
        return self.decode(ids, *self.encode(source))


@right
class PlaceByPlace(nn.Module):
    def __init__(self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.head = nn.Linear(d_model, n_target)
        self.norm_target, self.norm_source = (nn.LayerNorm(d_model) for _ in range(2))
        self.embed_target, self.embed_source = (Embedding(n, d_model, dropout) for n in (n_target, n_source))
        sizes = n_layers * [(d_model, n_heads, d_ff, dropout)]
        self.encoder = nn.ModuleList([Block(*each) for each in sizes])
        self.decoder = nn.ModuleList([DecoderBlock(*each) for each in sizes])

    def encode(self, source):
        words, z = source[:, None, None].bool(), self.embed_source(source)
        for part in self.encoder:
            z = part(z, words)
        return self.norm_source(z), words

    def decode(self, target, z, words):
        found = []
        for n in range(1, target.shape[1] + 1):
            y = self.embed_target(target[:, :n])
            for part in self.decoder:
                y = part(y, z, words)
            found.append(self.head(self.norm_target(y[:, -1])))
        return torch.stack(found, dim=1)

    def forward(self, source, ids):
        return self.decode(ids, *self.encode(source))


wrong.edits("""
# Plain
## one_block_in_each_stack [blocks-on-blocks]: Each stack runs one and the same block again and again; every layer has
weights of its own.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(self.encoder[0] if len(self.encoder) else Block(d_model, n_heads, d_ff, dropout))
+ self.decoder.append(self.decoder[0] if len(self.decoder) else DecoderBlock(d_model, n_heads, d_ff, dropout))
## one_block_repeated: The encoder runs one and the same block again and again; each of its blocks has its own weights.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(self.encoder[0] if len(self.encoder) else Block(d_model, n_heads, d_ff, dropout))
## one_decoder_block_repeated [blocks-on-blocks]: Your decoder runs one and the same block again and again.
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.decoder.append(self.decoder[0] if len(self.decoder) else DecoderBlock(d_model, n_heads, d_ff, dropout))
## causal_encoder [encoder-and-decoder-together]: Your encoder is causal; it may read the whole source.
- z = layer(z, words)
+ z = layer(z, words & torch.ones(z.shape[1], z.shape[1], dtype=torch.bool).tril())
## padding_seen [the-two-stacks]: Nothing hears of the mask: padding is looked at, by the encoder and by the decoder.
- z = layer(z, words)
+ z = layer(z)
- y = layer(y, memory, mask)
+ y = layer(y, memory)
## encoder_sees_padding [the-two-stacks]: The blocks of your encoder never hear of the mask, and look at padding.
- z = layer(z, words)
+ z = layer(z)
## decoder_sees_padding [the-two-stacks]: The blocks of your decoder never hear of the mask, and look at padding.
- y = layer(y, memory, mask)
+ y = layer(y, memory)
## mask_the_other_way [common-mistakes]: Your mask is True where there is padding; True says that a token may look.
- words = (source != PAD)[:, None, None, :]
+ words = (source == PAD)[:, None, None, :]
## mask_of_the_target: You make the mask of `decode` from the target; what is hidden is padding of the source.
- y = self.embed_target(target)
+ y, mask = self.embed_target(target), (target != PAD)[:, None, None]
## memory_not_normed [blocks-on-blocks]: The norm at the top of the encoder is missing.
- z = self.norm_source(z)
+ pass
## no_last_norm [blocks-on-blocks]: The norm between the last block and the head is missing.
- y = self.norm_target(y)
## one_last_norm [blocks-on-blocks]: Both stacks end with the same norm.
+ y = self.norm_source(y)
## norm_in_each_block [blocks-on-blocks]: The last norm is applied after every block of the encoder.
      z = layer(z, words)
- z = self.norm_source(z)
+     z = self.norm_source(z)
## memory_normed_twice [blocks-on-blocks]: The memory is normalised in `encode` and once more in `decode`.
- y = self.embed_target(target)
+ y, memory = self.embed_target(target), self.norm_source(memory)
## memory_of_the_first_layer: The decoder looks at the embedded source; nothing of the encoder is used.
- z = self.norm_source(z)
- return z, words
+ return self.embed_source(source), words
## first_block_alone [blocks-on-blocks]: Only the first block of the decoder is used.
- for layer in self.decoder:
+ for layer in self.decoder[:1]:
## probabilities: You return probabilities; the softmax belongs to the loss.
- return self.head(y)
+ return self.head(y).softmax(-1)
## log_probabilities: You return the logarithms of probabilities; the softmax belongs to the loss.
+ return self.head(y).log_softmax(-1)
## softmax_in_training: In train() mode you return probabilities; the softmax belongs to the loss.
+ return self.head(y).softmax(-1) if self.training else self.head(y)
## no_head: You return the stream instead of a score for each word.
+ return y
## last_place_alone: You return scores for the last position alone; in training all positions are asked.
+ return self.head(y[:, -1:])
## batch_of_one_squeezed: You drop the axis of the batch where there is one sequence alone.
+ return self.head(y).squeeze(0)
## tied: The head is the table of the target words; here it has weights of its own.
+ return y @ self.embed_target.table.weight.T + self.head.bias
## shifted_inside [two-rows-one-position-apart]: You shift the target inside; it comes with the start token in front.
- y = self.embed_target(target)
+ y = self.embed_target(target.roll(1, dims=1))
## one_table_for_both: The target is looked up in the table of the source.
+ y = self.embed_source(target)
## no_places_in_the_target [tokens-with-positions]: You look the target up in the table alone; call the embedding, which
adds the positions.
+ y = self.embed_target.table(target)
## no_places_in_the_source [tokens-with-positions]: You look the source up in the table alone; call the embedding, which
adds the positions.
- z = self.embed_source(source)
+ z = self.embed_source.table(source)
## embedding_scaled: The embedding is multiplied by the square root of D, as in some models; here it is not.
+ z = self.embed_source(source) * self.head.in_features**0.5
## places_added_twice [tokens-with-positions]: You add positions to what the embedding gives; it has added them already.
+ z = self.embed_source(source) + self.embed_source.waves[: source.shape[1]]
## blocks_without_a_rate [the-blocks]: Your blocks never hear of `dropout`.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff))
## no_dropout_in_the_encoder [the-blocks]: The blocks of the encoder never hear of `dropout`.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff))
## no_dropout_in_the_decoder [the-blocks]: The blocks of the decoder never hear of `dropout`.
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff))
## always_a_tenth: The dropout of your blocks is 0.1, whatever `dropout` says.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff, 0.1))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, 0.1))
## embeddings_without_a_rate [tokens-with-positions]: Your embeddings never hear of `dropout`.
- self.embed_source = Embedding(n_source, d_model, dropout)
- self.embed_target = Embedding(n_target, d_model, dropout)
+ self.embed_source = Embedding(n_source, d_model)
+ self.embed_target = Embedding(n_target, d_model)
## a_tenth_unasked: Without the argument `dropout` a tenth is dropped; nothing should be.
- def __init__(self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0):
+ def __init__(self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.1):
## memory_dropped: Dropout acts on the memory as well; drop nothing outside embeddings and blocks.
- self.head = nn.Linear(d_model, n_target)
+ self.head, self.drop = nn.Linear(d_model, n_target), nn.Dropout(dropout)
- z = self.norm_source(z)
+ z = self.drop(self.norm_source(z))
## last_stream_dropped: Dropout acts on what the head reads; drop nothing outside embeddings and blocks.
- self.head = nn.Linear(d_model, n_target)
+ self.head, self.drop = nn.Linear(d_model, n_target), nn.Dropout(dropout)
- return self.head(y)
+ return self.head(self.drop(y))
## layer_beside_layer: A block of the decoder reads its partner in the encoder; all should read the memory.
- z = layer(z, words)
+ z = layer.gave = layer(z, words)
- y = layer(y, memory, mask)
+ y = layer(y, self.norm_source(self.encoder[list(self.decoder).index(layer)].gave), mask)
## memory_of_the_first_call: The memory of the first call is kept and looked at in the later ones, too.
- return z, words
+ self.kept = getattr(self, "kept", (z, words))
+ return self.kept
## memory_detached: The memory is detached: the encoder learns nothing.
+ return z.detach(), words
## memory_alone: Your `encode` gives the memory alone; the mask of the source goes with it.
- return z, words
+ return z
- z, words = self.encode(source)
+ z, words = self.encode(source), (source != PAD)[:, None, None]
## rows_of_a_mask [the-two-stacks]: Your mask has the shape B × S; spread over heads and targets it has B × 1 × 1 × S.
- return z, words
+ return z, words[:, 0, 0]
- z, words = self.encode(source)
- return self.decode(target, z, words)
+ z, words = self.encode(source)
+ return self.decode(target, z, words[:, None, None])
## small_epsilon: The ε of the norm at the end of a stack is not 0.00001.
- self.norm_source, self.norm_target = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
+ self.norm_source, self.norm_target = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)
## mask_as_it_comes [the-two-stacks]: Your blocks get a mask of the shape B × S; they need B × 1 × 1 × S.
- words = (source != PAD)[:, None, None, :]
+ words = source != PAD
## mask_without_the_heads [the-two-stacks]: Your mask has the shape B × 1 × S; it lacks an axis for the heads.
+ words = (source != PAD)[:, None, :]
## norm_in_each_block_and_after [blocks-on-blocks]: The norm of the memory stands behind each block of the encoder, too.
- z = layer(z, words)
+ z = self.norm_source(layer(z, words))
## decoder_looks_at_itself: Your decoder blocks get the target in place of the memory.
- y = layer(y, memory, mask)
+ y = layer(y, y, mask)
## blocks_side_by_side [blocks-on-blocks]: Each block of your decoder reads the embedded target; each should read what
the one below gives.
- for layer in self.decoder:
-     y = layer(y, memory, mask)
- y = self.norm_target(y)
+ for layer in self.decoder:
+     top = layer(y, memory, mask)
+ y = self.norm_target(top if len(self.decoder) else y)
## end_cut_off [two-rows-one-position-apart]: You cut the last token of the target off; `forward` gets the row that the
decoder reads, and scores each of its positions.
- return self.decode(target, z, words)
+ return self.decode(target[:, :-1], z, words)
## source_in_the_table_of_the_target: The source is looked up in the table of the target.
- z = self.embed_source(source)
+ z = self.embed_target(source)
## no_dropout_in_the_source [tokens-with-positions]: Your `embed_source` never hears of `dropout`.
- self.embed_source = Embedding(n_source, d_model, dropout)
+ self.embed_source = Embedding(n_source, d_model)
## no_dropout_in_the_target [tokens-with-positions]: Your `embed_target` never hears of `dropout`.
- self.embed_target = Embedding(n_target, d_model, dropout)
+ self.embed_target = Embedding(n_target, d_model)
## first_layer_alone_drops [the-blocks]: Only the first block of each stack hears of `dropout`; all of them should.
- self.encoder.append(Block(d_model, n_heads, d_ff, dropout))
- self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, dropout))
+ self.encoder.append(Block(d_model, n_heads, d_ff, 0.0 if len(self.encoder) else dropout))
+ self.decoder.append(DecoderBlock(d_model, n_heads, d_ff, 0.0 if len(self.decoder) else dropout))
## scores_dropped: Dropout acts on the scores as well; drop nothing outside embeddings and blocks.
- self.head = nn.Linear(d_model, n_target)
+ self.head, self.drop = nn.Linear(d_model, n_target), nn.Dropout(dropout)
- return self.head(y)
+ return self.drop(self.head(y))
""")
