"""The translator: counts, padding, causality, caches, writing with a fixed source, learning, errors."""

import math
import re
from dataclasses import replace
from inspect import unwrap as bare  # without the shape checks of the test run, which would come before ours

import pytest
import torch
from clearformer.encoder_decoder import EncoderDecoder
from clearformer.generation import beam_search
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig, translation_loss, translation_total
from clearformer.positions import sinusoidal
from inline_snapshot import snapshot

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import count, n_block, on_meta, overfit, random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

V, POSITIONS, D, H, M, HIDDEN, B, N, S, PAD = 37, 11, 24, 4, 2, 44, 3, 6, 8, 36
CONFIG = Seq2SeqConfig(V, POSITIONS, D, H, M, HIDDEN, n_decoder_layers=3, padding=PAD, start=1, end=2)


def translator(dtype=torch.float64, device="cpu", config=CONFIG):
    return random_module(Seq2Seq(config), dtype, device).eval()


def token_ids(n, device="cpu"):
    return torch.randint(3, PAD, (B, n)).to(device)


def formula(c):
    hidden = 4 * c.d_model if c.d_ff is None else c.d_ff
    decoder = (c.n_decoder_layers or c.n_layers) * n_block(c.d_model, hidden, cross=True)
    return c.n_vocab * (c.d_model + 1) + c.n_layers * n_block(c.d_model, hidden) + decoder


@pytest.mark.parametrize(("name", "published"), [("transformer-base", 65e6), ("opus-mt-en-de", 74e6)])
def test_a_preset_has_the_published_number_of_parameters(name, published):
    config = Seq2SeqConfig.preset(name)
    n = count(on_meta(lambda: Seq2Seq(config)))
    assert n == formula(config)
    assert abs(n / published - 1) < 0.04  # published in millions, and of a vocabulary of "about" so many words


def test_the_number_of_parameters_is_that_of_the_formula():
    assert count(Seq2Seq(CONFIG)) == formula(CONFIG)
    small = replace(CONFIG, n_decoder_layers=None, d_ff=None)
    assert count(Seq2Seq(small)) == formula(small)


def test_it_is_an_encoder_and_a_decoder_between_embedding_and_head():
    model, source, target = translator(), token_ids(S), token_ids(N)
    waves = sinusoidal(POSITIONS, D).double()
    x, y = (model.tokens(ids) * math.sqrt(D) + waves[: ids.shape[1]] for ids in (source, target))
    hidden = EncoderDecoder(model.encoder, model.decoder)(x, y)
    assert_close(model(source, target), hidden @ model.tokens.weight.T + model.head.bias)


def test_waves_and_scale_are_data():
    source, target = token_ids(S), token_ids(N)
    base = translator()
    for changes in ({"interleaved": False}, {"scale": 1.0}):
        other = translator(config=replace(CONFIG, **changes))
        other.load_state_dict(base.state_dict())
        assert not torch.allclose(other(source, target), base(source, target))
    assert torch.equal(sinusoidal(5, D, interleaved=False)[:, D // 2 :], sinusoidal(5, D)[:, 1::2])


@pytest.mark.parametrize("device", DEVICES)
def test_padding_of_the_source_changes_nothing(device):
    model, source, target = translator(device=device), token_ids(S, device), token_ids(N, device)
    expected = model(source, target)
    longer = torch.cat((source, torch.full((B, 3), PAD, device=device)), dim=1)
    assert_close(model(longer, target), expected)
    seen = torch.ones_like(longer, dtype=torch.bool)[:, None, None]
    assert not torch.allclose(model(longer, target, seen), expected)
    unaware = translator(device=device, config=replace(CONFIG, padding=None))
    unaware.load_state_dict(model.state_dict())
    assert not torch.allclose(unaware(longer, target), expected)


def test_editing_the_future_of_the_target_changes_nothing_before_it():
    model, source, target = translator(), token_ids(S), token_ids(N)
    edited = target.clone()
    edited[:, 3:] = (edited[:, 3:] + 1) % PAD
    y, z = model(source, target), model(source, edited)
    assert torch.equal(y[:, :3], z[:, :3]) and not torch.allclose(y[:, 3:], z[:, 3:])
    other = model(source.flip(0), target)
    assert ((other - y).abs().amax(-1)[0] > 0).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("chunks", [[1] * N, [2, 1, 3], [N]])
def test_decoding_in_steps_gives_the_same(chunks, device):
    model, target = translator(device=device), token_ids(N, device)
    source = token_ids(S, device)
    source[1, 5:] = PAD
    mask = model.source_mask(source)
    memory = model.encode(source, mask)
    cache, source_cache = model.new_caches(B, N, S)
    with torch.no_grad():
        steps = [
            model.decode(part, memory, mask, cache=cache, source_cache=source_cache)
            for part in target.split(chunks, dim=1)
        ]
    assert_close(torch.cat(steps, dim=1), model(source, target))


@torch.no_grad()
def test_given_a_source_it_is_a_writer_of_targets():
    model, source, target = translator(), token_ids(S), token_ids(N)
    source[2, 4:] = PAD
    writer, expected = model.conditioned_on(source), model(source, target)
    logits = writer.head(writer.hidden_states(target))
    assert (logits[..., PAD] == -math.inf).all() and (expected[..., PAD] > -math.inf).all()
    assert_close(logits[..., :PAD], expected[..., :PAD])
    cache = writer.new_cache(B, N)
    for n in range(N):
        step = writer.head(writer.hidden_states(target[:, n : n + 1], cache=cache))
        assert_close(step[:, 0, :PAD], expected[:, n, :PAD])
    twice = writer.head(writer.hidden_states(target.repeat_interleave(2, 0)))
    assert_close(twice[1::2, :, :PAD], expected[..., :PAD])
    with pytest.raises(ValueError, match="2 targets for 3 sources"):
        writer.hidden_states(target[:2])


def test_the_loss_skips_the_start_and_the_padding():
    model, source, target = translator(), token_ids(S), token_ids(N)
    target[0, 4:], target[2, 5:] = PAD, PAD
    log_p = model(source, target).log_softmax(-1)
    terms = [-log_p[b, n - 1, target[b, n]] for b in range(B) for n in range(1, N) if target[b, n] != PAD]
    assert_close(translation_loss(model, source, target), torch.stack(terms).mean())
    assert_close(translation_loss(model, source.int(), target.int()), torch.stack(terms).mean())
    smooth = [0.9 * term for term in terms]
    smooth += [-0.1 * log_p[b, n - 1].mean() for b in range(B) for n in range(1, N) if target[b, n] != PAD]
    assert_close(translation_loss(model, source, target, smoothing=0.1), torch.stack(smooth).sum() / len(terms))


def test_the_total_is_the_sum_and_targets_of_padding_alone_have_no_mean():
    model, source, target = translator(), token_ids(S), token_ids(N)
    target[0, 4:], target[2, 5:] = PAD, PAD
    total, count = translation_total(model, source, target)
    assert count == (target[:, 1:] != PAD).sum() and total.dim() == 0
    assert_close(total / count, translation_loss(model, source, target))
    target[:, 1:] = PAD
    assert translation_total(model, source, target)[1] == 0
    with pytest.raises(ValueError, match="the targets are padding alone"):
        translation_loss(model, source, target)


@torch.no_grad()
def test_beams_copy_their_source_once(monkeypatch):
    """Catches a copy of the memory for every beam at every token, though its keys and values are in the cache."""
    model, source = translator(), token_ids(S)
    sources = []
    forward = model.decoder.forward

    def forward_noting_source(y, mask=None, *, source, **options):
        sources.append(source.untyped_storage().size())
        return forward(y, mask, source=source, **options)

    monkeypatch.setattr(model.decoder, "forward", forward_noting_source)
    start = torch.full((B, 1), 1)
    beams, _ = beam_search(model.conditioned_on(source), start, 4, 3)
    assert sources[0] == 3 * sources[1] and len(set(sources[1:])) == 1
    again, _ = beam_search(model.conditioned_on(source), start, 4, 3, cached=False)
    assert beams.equal(again)


@pytest.mark.slow
def test_it_learns_to_turn_a_sequence_around():
    model, source = Seq2Seq(CONFIG), token_ids(5)
    target = torch.cat((torch.full((B, 1), 1), source.flip(1)), dim=1)
    before, after = overfit(model, lambda m: translation_loss(m, source, target), n_steps=80)
    assert before > 2 and after < 0.1
    assert torch.equal(model(source, target[:, :-1]).argmax(-1), source.flip(1))


@pytest.mark.parametrize("shape", [(S, S), (B, S, S), (B, H, 1, S), (B, 1, S, S), (B, 1, 1, S - 1)])
def test_a_source_mask_of_another_shape_is_refused(shape):
    """Catches (batch, sources) where both are equal, which would count as (targets, sources)."""
    source, mask = torch.randint(3, PAD, (shape[0], S)), torch.ones(shape, dtype=torch.bool)
    with pytest.raises(
        ValueError, match=rf"mask of shape {re.escape(str(shape))}.*\(B, 1, 1, S\): mask\[:, None, None\]"
    ):
        bare(Seq2Seq.encode)(translator(), source, mask)


def test_bad_input_is_named():
    model, source, target = translator(), token_ids(S), token_ids(N)
    assert refusal(ValueError, model, torch.full_like(source, V), target) == snapshot(
        "Seq2Seq source: id 37 is outside the vocabulary, expected 0 to 36. Use the tokeniser the model was made for; hide padding with a mask, not with a special id."
    )
    assert refusal(ValueError, model, source, target.repeat(1, 2)) == snapshot(
        "Seq2Seq target: 12 tokens, but the model has n_positions=11. Keep the last 11, or build the model with more positions."
    )
    cache, source_cache = model.new_caches(B, N, S)
    with torch.no_grad():
        memory = model.encode(source)
        model.decode(target, memory, cache=cache, source_cache=source_cache)
        with pytest.raises(ValueError, match="Seq2Seq target: 12 tokens"):
            model.decode(target, memory, cache=cache, source_cache=source_cache)
        with pytest.raises(ValueError, match="the capacity is 6"):
            model.decode(target[:, :1], memory, cache=cache, source_cache=source_cache)
    assert refusal(ValueError, translation_loss, model, source, target[:, :1]) == snapshot(
        "translation_loss: target of shape (3, 1), expected a start token and more."
    )
    assert refusal(ValueError, Seq2SeqConfig.preset, "opus") == snapshot(
        "Seq2SeqConfig.preset: there is no 'opus'. Choose one of transformer-base, opus-mt-en-de."
    )
