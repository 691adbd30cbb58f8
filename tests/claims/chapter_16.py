"""Chapter 16, today's decoder: the switches to the end, longer texts, low rank, selection, and experts that collapse."""

from functools import partial

from clearbook.data.course_files import find_kept_files

from tests.claims.registry import experiment

find_kept_files()

PAGE = "chapters/16-todays-decoder.ipynb"
SETUP = ("setup", "setup-models")
TRAINING = (*SETUP, "todays-attention", "switches", "switches-data", "switches-model", "switches-training")
SWITCHES = {
    "GPT-2": "LayerNorm, a learned table of positions, GELU, keys and values for each head",
    "+ rotary": "the same, with rotary positions",
    "+ RMSNorm": "and RMSNorm",
    "+ SwiGLU": "and a gated feed-forward layer, as many weights",
    "+ GQA": "and two heads of keys and values for four of queries, as many weights",
    "+ QK-norm": "and norms of queries and keys",
    "+ sinks": "and a learned sink for each head",
    "+ gate": "and a gate on what the heads give, as many weights",
}


@experiment(
    PAGE,
    contenders=SWITCHES,
    budget="240 steps of 12 rows of 24 letters, AdamW, a rate that falls from 0.01 to zero",
    measured="bits per character on numbers that were not read, less is better",
    cells=TRAINING,
)
def switches(page, run):
    return page.bits_after_training(partial(page.model_with, run.contender), run.seed, 240 * run.times)


