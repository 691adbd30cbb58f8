"""Each family of decoders in several tiny sizes: logits, padding, cache, greedy texts, and weights on their way back."""

import json

import pytest
import torch
from clearformer.generation import generate
from clearformer.pretrained import from_pretrained, save_pretrained
from clearformer.pretrained.folders import ARCHITECTURES
from safetensors.torch import load_file

from tests.clearformer.decoders import (
    CASES,
    N_PROMPT,
    WEIGHTS,
    as_it_is,
    difference,
    mended,
    prompts,
    theirs_of,
    transformers,
    uneven_chunks,
)
from tests.clearformer.models import random_module

LIMIT = {torch.float32: 1e-5, torch.float64: 1e-10}
EACH = pytest.mark.parametrize("case", CASES, ids=str)
ONE_OF_EACH = pytest.mark.parametrize("case", {case.kind: case for case in CASES}.values(), ids=str)


def both(case, dtype, folder):
    theirs = theirs_of(case, dtype)
    theirs.save_pretrained(folder)
    return from_pretrained(folder), theirs


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("dtype", LIMIT)
@torch.no_grad()
def test_logits_are_theirs_alone_padded_and_in_chunks(case, dtype, tmp_path):
    """Catches an option that is read wrongly, and one that meets padding or a cache otherwise than a whole text."""
    ours, theirs = both(case, dtype, tmp_path)
    ids = prompts()
    seen = torch.arange(N_PROMPT) >= torch.tensor([[0], [2], [7]])  # padding in front
    positions = (seen.cumsum(1) - 1).clamp(min=0)
    with as_it_is(dtype):
        expected = theirs(ids).logits
        padded = theirs(ids, attention_mask=seen.long(), position_ids=positions).logits
    assert expected.std() > 0.01 and difference(ours(ids), expected) < LIMIT[dtype]
    mine = ours(ids, seen[:, None, None], positions=positions)
    assert difference(mine[seen], padded[seen]) < LIMIT[dtype]
    cache = ours.new_cache(len(ids), N_PROMPT)
    chunks = [ours(ids[:, part], cache=cache) for part in uneven_chunks(N_PROMPT)]
    assert difference(torch.cat(chunks, 1), expected) < LIMIT[dtype]


@pytest.mark.slow
@EACH
@torch.no_grad()
def test_what_is_written_and_saved_is_theirs(case, tmp_path):
    """Catches a weight that comes back changed, and an option that is lost on the way to a folder."""
    ours, theirs = both(case, torch.float32, tmp_path)
    ids = prompts()[:, :12]
    expected = theirs.generate(ids, max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert torch.equal(generate(ours, ids, 8), expected)
    save_pretrained(ours, tmp_path / "again")
    assert json.loads((tmp_path / "again" / "config.json").read_text())["model_type"] == case.kind
    before, after = (load_file(folder / WEIGHTS) for folder in (tmp_path, tmp_path / "again"))
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    kind = getattr(transformers, ARCHITECTURES[case.kind].class_name)
    config = transformers.AutoConfig.from_pretrained(tmp_path / "again", attn_implementation="eager")
    again, report = kind.from_pretrained(tmp_path / "again", config=config, output_loading_info=True)
    assert not any(report[name] for name in ("unexpected_keys", "mismatched_keys", "missing_keys")), report
    assert difference(mended(again).eval()(ids).logits, theirs(ids).logits) < 1e-6


@pytest.mark.slow
@ONE_OF_EACH
@torch.no_grad()
def test_a_body_without_a_head_is_theirs(case, tmp_path):
    architecture = ARCHITECTURES[case.kind]
    theirs = theirs_of(case._replace(options=case.options | {"tie_word_embeddings": False}), torch.float32)
    bare = mended(random_module(getattr(transformers, architecture.bare)(theirs.config), torch.float32)).eval()
    bare.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    with pytest.raises(ValueError, match=f"checkpoint was a {architecture.bare}.* {architecture.class_name}"):
        ours(prompts())
    assert difference(ours.hidden_states(prompts()), bare(prompts()).last_hidden_state) < 1e-5
