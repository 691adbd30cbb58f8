"""BERT: counts, padding and segments, both directions of sight, gaps and their targets, learning, errors."""

import pytest
import torch
from clearformer.attention import padding_mask
from clearformer.models.bert import BERT, BERTConfig
from inline_snapshot import snapshot

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import count, n_block, on_meta, overfit, random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

V, POSITIONS, D, H, M, HIDDEN, B, N = 37, 11, 24, 4, 2, 44, 3, 7
CONFIG = BERTConfig(V, POSITIONS, D, H, M, HIDDEN, n_segments=3)


def bert(dtype=torch.float64, device="cpu"):
    return random_module(BERT(CONFIG), dtype, device).eval()


def token_ids(high=V):
    return torch.randint(0, high, (B, N))


def formula(c):
    hidden = 4 * c.d_model if c.d_ff is None else c.d_ff
    embeddings = (c.n_vocab + c.n_positions + c.n_segments) * c.d_model + 2 * c.d_model
    head = c.d_model**2 + 3 * c.d_model + c.n_vocab
    return embeddings + c.n_layers * n_block(c.d_model, hidden) + head


@pytest.mark.parametrize(
    ("name", "published"), [("bert-base-uncased", 109_514_298), ("bert-large-uncased", 335_174_458)]
)
def test_a_preset_has_the_published_number_of_parameters(name, published):
    config = BERTConfig.preset(name)
    assert count(on_meta(lambda: BERT(config))) == formula(config) == published


def test_the_number_of_parameters_is_that_of_the_formula():
    assert count(BERT(CONFIG)) == formula(CONFIG)


def test_every_token_sees_every_other():
    model, ids = bert(), token_ids()
    for n in (0, N - 1):
        edited = ids.clone()
        edited[:, n] = (ids[:, n] + 1) % V
        assert (model(edited) - model(ids)).abs().amin(-1).min() > 0


@pytest.mark.parametrize("device", DEVICES)
def test_padding_changes_nothing_for_real_tokens(device):
    model, ids = bert(device=device), token_ids(V - 1).to(device)
    alone = model(ids)
    longer = torch.cat((ids, torch.full((B, 3), V - 1, device=device)), dim=1)
    assert_close(model(longer, padding_mask(longer, V - 1))[:, :N], alone)
    assert not torch.allclose(model(longer)[:, :N], alone)


def test_segments_are_0_unless_given_and_count():
    model, ids = bert(), token_ids()
    assert torch.equal(model(ids), model(ids, segments=torch.zeros_like(ids)))
    assert not torch.allclose(model(ids), model(ids, segments=torch.full_like(ids, 2)))


def test_logits_come_from_the_hidden_states_and_the_tied_embedding():
    model, ids = bert(), token_ids()
    x = torch.nn.functional.gelu(model.transform(model.encode(ids)))
    assert_close(model(ids), model.transform_norm(x) @ model.tokens.weight.T + model.head.bias)


@pytest.mark.slow
def test_it_fills_gaps_it_has_learned():
    model = BERT(CONFIG)
    ids = torch.arange(B * N).reshape(B, N) + 4
    gaps = torch.zeros_like(ids, dtype=torch.bool)
    gaps[:, 2::3] = True

    def loss(model):
        return torch.nn.functional.cross_entropy(model(ids.masked_fill(gaps, 3))[gaps], ids[gaps])

    before, after = overfit(model, loss)
    assert before > 3 and after < 0.1


def test_bad_input_is_named():
    ids = torch.zeros(B, N, dtype=torch.long)
    assert refusal(ValueError, bert(), ids + V) == snapshot(
        "BERT: id 37 is outside the vocabulary, expected 0 to 36. Use the tokeniser the model was made for; hide padding with a mask, not with a special id."
    )
    assert refusal(ValueError, bert(), ids.repeat(1, 2)) == snapshot(
        "BERT: 14 tokens, but the model has n_positions=11. Keep the last 11, or build the model with more positions."
    )
    assert refusal(ValueError, bert(), ids, segments=ids + 3) == snapshot(
        "BERT segments: id 3 is outside the kinds of sentence, expected 0 to 2. Number the sentences from 0 on, or build the model with more n_segments."
    )
    assert refusal(ValueError, BERTConfig.preset, "bert-tiny") == snapshot(
        "BERTConfig.preset: there is no 'bert-tiny'. Choose one of bert-base-uncased, bert-large-uncased."
    )


def test_without_kinds_of_sentence_there_is_no_weight_for_them_and_none_are_taken():
    model = random_module(BERT(BERTConfig(V, POSITIONS, D, H, M, HIDDEN, n_segments=0)))
    assert count(model) == count(BERT(CONFIG)) - 3 * D and model(token_ids()).shape == (B, N, V)
    assert refusal(ValueError, model, token_ids(), None, torch.zeros(B, N).long()) == snapshot(
        "BERT: segments, but the model was built with n_segments=0. Leave them out."
    )


def test_positions_begin_behind_the_padding_which_is_not_counted():
    """Catches padding that takes a position from the words behind it, and a word at a position that is left out."""
    config = BERTConfig(V, POSITIONS, D, H, M, HIDDEN, padding=2)
    model, plain = random_module(BERT(config)), BERT(BERTConfig(V, POSITIONS, D, H, M, HIDDEN)).double()
    plain.load_state_dict(model.state_dict())
    ids = torch.randint(3, V, (B, N))
    plain.positions.weight.data = model.positions.weight.data.roll(-3, 0)
    assert_close(model(ids), plain(ids))
    front = torch.cat((torch.full((B, 1), 2), ids), 1)
    assert_close(model(front, padding_mask(front, 2))[:, 1:], model(ids))
    assert config.longest == POSITIONS - 3
    assert refusal(ValueError, BERTConfig, V, 3, D, H, M, padding=2) == snapshot(
        "BERTConfig: padding=2 with n_positions=3, expected at least 4 positions: the first 3 are left out."
    )
