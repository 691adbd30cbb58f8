"""Two thousand damaged configurations: each builds a model, or is refused in one sentence of ours."""

import json
import math
import random
import re

import pytest
import torch
from clearformer.pretrained.convert import build_model, read_config
from clearformer.pretrained.folders import ARCHITECTURES, architecture_of

from tests.clearformer.decoders import CASES
from tests.clearformer.families import CONFIGS

N_MUTATIONS = 2000
PLAIN = [{"model_type": case.kind} | case.options for case in CASES]
PLAIN += [{"model_type": kind} | options for kind, options in CONFIGS.items()]
WRONG = [None, True, False, 0, -1, 1, 2, 3, 7, 64, -(2**31), 2**31, 2**70, 10**400, 0.0, -0.5, 0.3, 2.5, 1e-300, 1e300]
WRONG += [math.nan, math.inf, "", "text", "32", "silu", "yarn", [], [1], [None], ["full_attention"], [1.0] * 4, {}]
WRONG += [{"a": 1}, {"rope_type": "yarn"}, {"rope_type": "dynamic", "factor": 2.0}, {"rope_type": ["llama3"]}]
NAMES = ["rope_scaling", "rope_parameters", "rope_theta", "partial_rotary_factor", "head_dim", "layer_types"]
NAMES += ["sliding_window", "quantization_config", "num_key_value_heads", "id2label", "torch_dtype", "hidden_act"]


def places(options: dict) -> list[tuple[dict, str]]:
    """Every option, also those within objects."""
    own = [(options, name) for name in options]
    return own + [place for value in options.values() if isinstance(value, dict) for place in places(value)]


def mutated(generator: random.Random) -> dict:
    """A configuration with one to three options that are gone, new, or of another kind or size."""
    options = json.loads(json.dumps(generator.choice(PLAIN)))
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        holder, name = generator.choice(places(options) + [(options, name) for name in NAMES])
        if generator.random() < 0.15:
            holder.pop(name, None)
        else:
            holder[name] = json.loads(json.dumps(generator.choice(WRONG)))
    return options


def outcome(options: dict) -> str:
    try:
        architecture = architecture_of(options)
        with torch.device("meta"):
            build_model(architecture, read_config(architecture, options))
    except (ValueError, TypeError) as error:
        return str(error)
    return "built"


def test_every_family_is_damaged():
    """Catches a new family that these damages never meet."""
    assert {options["model_type"] for options in PLAIN} == {*ARCHITECTURES}


@pytest.mark.slow
def test_a_damaged_configuration_builds_or_is_refused_in_a_sentence():
    """Catches an error of Python's or torch's own, for whatever stands in a config.json."""
    generator = random.Random(47)
    told = [(options, outcome(options)) for options in (mutated(generator) for _ in range(N_MUTATIONS))]
    raw = [(o, said) for o, said in told if said != "built" and not re.match(r"[A-Za-z]\w+: \S.*\S", said, re.S)]
    assert not raw, raw[:3]
    n_built = sum(said == "built" for _, said in told)
    assert N_MUTATIONS / 10 < n_built < N_MUTATIONS * 9 / 10


def test_what_is_whole_builds():
    """Catches a test above that refuses everything."""
    assert [outcome(options) for options in PLAIN if outcome(options) != "built"] == []
