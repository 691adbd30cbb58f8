"""T5 beyond what all families are asked: its head, its gates, its cache, what it writes, and a body alone."""

import json

import pytest
import torch
from clearformer.generation import beam_search, generate
from clearformer.pretrained import from_pretrained, save_pretrained
from safetensors.torch import load_file

from tests.clearformer.decoders import as_it_is
from tests.clearformer.families import (
    B,
    S,
    V,
    outputs_of_both,
    rewrite,
    save_theirs,
    seen_tokens,
    set_options,
    theirs_of,
    token_ids,
    transformers,
)
from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close

KINDS = pytest.mark.parametrize("kind", ["t5", "mt5", "umt5"])
OWN_HEADS = [("t5", False), ("t5", True), ("mt5", False), ("mt5", True)]
GATES = pytest.mark.parametrize("network", ["relu", "gelu", "gated-gelu", "gated-silu"])


def padded():
    return token_ids(S).masked_fill(~seen_tokens(S), 0)


@GATES
@pytest.mark.parametrize("tied", [True, False])
@torch.no_grad()
def test_networks_and_heads_go_both_ways_with_every_weight_as_it_was(network, tied, tmp_path):
    """Catches the exact GELU in a gate, and a scale that is lost or doubled."""
    theirs = save_theirs("t5", tmp_path, torch.float64, feed_forward_proj=network, tie_word_embeddings=tied)
    ours = from_pretrained(tmp_path)
    mine, expected = outputs_of_both("t5", ours, theirs, torch.float64)
    assert_close(mine, expected)
    save_pretrained(ours, tmp_path / "again")
    options = json.loads((tmp_path / "again" / "config.json").read_text())
    assert (options["feed_forward_proj"], options["scale_decoder_outputs"]) == (network, tied)
    before, after = (load_file(folder / "model.safetensors") for folder in (tmp_path, tmp_path / "again"))
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    again = transformers.T5ForConditionalGeneration.from_pretrained(tmp_path / "again", dtype=torch.float64).eval()
    assert_close(outputs_of_both("t5", ours, again, torch.float64)[1], expected)


@pytest.mark.parametrize(("kind", "said"), OWN_HEADS)
@torch.no_grad()
def test_a_head_that_is_no_embedding_is_read_whatever_the_file_says(kind, said, tmp_path):
    """Published files say that it is not tied; those that a newer release wrote again say that it is."""
    theirs = save_theirs(kind, tmp_path, torch.float64, tie_word_embeddings=False)
    head = torch.randn(V, theirs.config.d_model, dtype=torch.float64)
    rewrite(tmp_path, lambda tensors: tensors | {"lm_head.weight": head})
    set_options(tmp_path, tie_word_embeddings=said, **{} if said else {"scale_decoder_outputs": ...})
    theirs.lm_head.weight = torch.nn.Parameter(head)
    ours = from_pretrained(tmp_path)
    assert not ours.config.tied
    assert_close(*outputs_of_both(kind, ours, theirs, torch.float64))
    save_pretrained(ours, tmp_path / "again")
    assert torch.equal(load_file(tmp_path / "again" / "model.safetensors")["lm_head.weight"], head)
    again = type(theirs).from_pretrained(tmp_path / "again", dtype=torch.float64).eval()
    assert_close(*outputs_of_both(kind, ours, again, torch.float64))


@KINDS
@torch.no_grad()
def test_chunks_with_a_cache_are_the_whole_and_what_is_written_is_theirs(kind, tmp_path):
    theirs = save_theirs(kind, tmp_path, torch.float64)
    ours, source, target = from_pretrained(tmp_path), padded(), token_ids(13)
    mask = ours.source_mask(source)
    memory, (cache, source_cache) = ours.encode(source, mask), ours.new_caches(B, 13, S)
    parts = [
        ours.decode(target[:, a:b], memory, mask, cache=cache, source_cache=source_cache)
        for a, b in ((0, 6), (6, 7), (7, 13))
    ]
    assert_close(torch.cat(parts, 1), ours.decode(target, memory, mask))
    with as_it_is(torch.float64):
        options = {"num_beams": 1, "do_sample": False, "max_new_tokens": 8, "eos_token_id": None}
        expected = theirs.generate(source, attention_mask=seen_tokens(S).long(), bad_words_ids=[[0]], **options)
    start = torch.zeros(B, 1, dtype=torch.long)
    assert torch.equal(generate(ours.conditioned_on(source), start, 8), expected)
    found = [beam_search(ours.conditioned_on(source), start, 8, 3, cached=cached)[0] for cached in (True, False)]
    assert torch.equal(*found) and (found[0][:, 1:] != 0).all()


@torch.no_grad()
def test_a_body_is_read_and_has_the_embedding_as_its_head_or_none(tmp_path):
    bare = random_module(transformers.T5Model(theirs_of("t5").config), torch.float32).eval()
    bare.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    expected = bare(token_ids(S), decoder_input_ids=token_ids()).last_hidden_state
    assert_close(ours.hidden_states(token_ids(), ours.encode(token_ids(S))), expected)
    assert ours.head.weight is ours.tokens.weight
    set_options(tmp_path, tie_word_embeddings=False)  # as older releases wrote it
    ours = from_pretrained(tmp_path)
    assert_close(ours.hidden_states(token_ids(), ours.encode(token_ids(S))), expected)
    with pytest.raises(ValueError, match="checkpoint was a T5Model"):
        ours(token_ids(S), token_ids())


@torch.no_grad()
def test_each_layer_of_umt5_has_distances_of_its_own(tmp_path):
    """Catches one table for all layers, which equal random tables would hide."""
    save_theirs("umt5", tmp_path, torch.float64)
    ours = from_pretrained(tmp_path)
    for blocks in (ours.encoder.blocks, ours.decoder.blocks):
        tables = [block.attention.relative.weight for block in blocks]
        assert len({id(table) for table in tables}) == len(blocks)
        assert not any(torch.equal(tables[0], other) for other in tables[1:])


@torch.no_grad()
def test_a_head_of_umt5_that_is_no_embedding_goes_both_ways(tmp_path):
    """As in the published files. Catches a scaled head, and embeddings that theirs draws anew (transformers 5.2)."""
    theirs = theirs_of("umt5", torch.float64, tie_word_embeddings=False)
    for stack in (theirs.encoder, theirs.decoder):
        stack.embed_tokens.weight.copy_(theirs.shared.weight)
    theirs.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    mine, expected = outputs_of_both("umt5", ours, theirs, torch.float64)
    assert_close(mine, expected)
    save_pretrained(ours, tmp_path / "again")
    before, after = (load_file(folder / "model.safetensors") for folder in (tmp_path, tmp_path / "again"))
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    again = type(theirs).from_pretrained(tmp_path / "again", dtype=torch.float64).eval()
    assert_close(outputs_of_both("umt5", ours, again, torch.float64)[1], expected)


def test_a_umt5_with_an_own_head_that_is_scaled_has_no_file(tmp_path):
    """Theirs scales by whether the head is tied, so such a model would come back with other logits."""
    save_theirs("umt5", tmp_path)
    rewrite(tmp_path, lambda tensors: tensors | {"lm_head.weight": tensors["shared.weight"] + 1})
    with pytest.raises(ValueError, match="UMT5ForConditionalGeneration has no option for head="):
        save_pretrained(from_pretrained(tmp_path), tmp_path / "again")
